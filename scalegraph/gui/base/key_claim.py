"""Lets a panel use keys that are also shortcuts of the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget


class KeyClaim(QObject):
    """While *widget* has the focus, the keys of *actions* call these instead of the window's shortcuts.

    Before Qt looks for a shortcut it offers the key to the focus widget and its parents.
    """

    def __init__(self, widget: QWidget, actions: Mapping[str, Callable[[], object]]) -> None:
        super().__init__(widget)
        self._actions = {QKeySequence(keys).toString(): action for keys, action in actions.items()}
        self._widgets = [widget, *widget.findChildren(QWidget)]
        for each in self._widgets:
            each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: accept and handle the keys."""
        if isinstance(event, QKeyEvent):
            action = self._actions.get(QKeySequence(event.keyCombination()).toString())
            if action is not None and event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if action is not None and event.type() == QEvent.Type.KeyPress:
                action()
                return True
        return super().eventFilter(watched, event)
