"""Documented single keys that work wherever the focus is, except where text or numbers are typed.

Qt's lists search their entries by typed letters; a key that is a command of the current view takes precedence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QComboBox, QWidget
from shiboken6 import isValid

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow

_STILL: Final = ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)


class SingleKeys(QObject):
    """Watches the focused list, button or combo box of *window* and offers single keys to the current view first."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._watched: QWidget | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._moved)

    def _moved(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None and isValid(self._watched):
            self._watched.removeEventFilter(self)
        searched = isinstance(new, QAbstractItemView | QAbstractButton) or (
            isinstance(new, QComboBox) and not new.isEditable()
        )
        mine = searched and new is not None and new.window() is self._window
        self._watched = new if mine else None
        if self._watched is not None:
            self._watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: let a view over time handle the key if it can."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or event.modifiers() & _STILL:
            return False
        in_list = isinstance(watched, QAbstractItemView)
        letter = event.text().isalpha() or event.key() in (Qt.Key.Key_Comma, Qt.Key.Key_Period)
        if not letter and not (in_list and event.key() == Qt.Key.Key_Space):
            return False
        area = self._window.study.area
        return area is not None and self._window.page == "study" and area.move_in_time(event)
