"""Removes widgets for good, one per turn of the event loop."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from scalegraph.gui.base.turn_queue import turn_queue


def retire(widget: QWidget) -> None:
    """Hide *widget* and delete it in a later turn; its object name is free at once.

    It keeps its parent until then: on a change of parent Qt would compute fonts, colours and layouts for all its
    children.
    """
    widget.hide()
    widget.setObjectName("")
    turn_queue().add(widget, widget.deleteLater, heavy=True)
