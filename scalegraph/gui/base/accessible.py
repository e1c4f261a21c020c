"""Tells screen readers the roles of widgets that Qt does not know: a plot is a chart, not a "client area"."""

from __future__ import annotations

from typing import Any, Final

from PySide6 import QtWidgets
from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

_PROPERTY: Final = "accessible role"
_installed: Final[list[str]] = []


def name_chart(widget: QWidget, name: str) -> None:
    """Present *widget* to screen readers as a chart called *name*."""
    widget.setAccessibleName(name)
    widget.setProperty(_PROPERTY, QAccessible.Role.Chart.name)


def install() -> None:
    """Register the factory through which `name_chart` sets roles; needs PySide 6.11, and does nothing on older ones."""
    if not _installed and hasattr(QtWidgets, "QAccessibleWidget") and hasattr(QAccessible, "installFactory"):
        _installed.append(_PROPERTY)
        QAccessible.installFactory(_interface)


def _interface(_key: str, thing: QObject) -> object:
    """Return an interface for a widget named by `name_chart`, None for others.

    The widget keeps it: Qt only borrows it, until the widget is deleted.
    """
    role = thing.property(_PROPERTY) if isinstance(thing, QWidget) else None
    if not role:
        return None
    widget: Any = thing
    widget.accessible_interface = QtWidgets.QAccessibleWidget(widget, QAccessible.Role[str(role)])
    made: object = widget.accessible_interface
    return made
