"""Takes widgets away for good, one in a turn of the event loop."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from scalegraph.gui.base.turn_queue import turn_queue


def retire(widget: QWidget) -> None:
    """Hide *widget* and delete it in a turn of its own; another may have its name from now on.

    It stays where it is in the tree of widgets until then: Qt would work out fonts, colours and layouts of all that is
    in it anew for a parent that it never gets.
    """
    widget.hide()
    widget.setObjectName("")
    turn_queue().add(widget, widget.deleteLater, heavy=True)
