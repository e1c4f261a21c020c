"""Restyles widgets after a change of palette: visible ones at once, the others bit by bit.

The application's style sheet names colours by palette role, so a change of theme never sets it again: Qt would restyle
every widget once for each of its ancestors, and most are hidden. Qt caches a widget's colours until the widget is
polished.
"""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from scalegraph.gui.base.turn_queue import turn_queue

_PORTION = 8  # widgets per job


class Restyler(QObject):
    """Polishes widgets; a new change of palette replaces one in progress."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[QWidget] = deque()

    def begin(self) -> int:
        """Restyle visible widgets at once and the rest later; return how many were restyled at once."""
        turn_queue().drop(self)
        known = [w for w in QApplication.allWidgets() if w.testAttribute(Qt.WidgetAttribute.WA_WState_Polished)]
        seen = [widget for widget in known if widget.isVisible()]
        self._waiting = deque(widget for widget in known if not widget.isVisible())
        for widget in seen:
            widget.style().polish(widget)
            widget.update()
        if self._waiting:
            turn_queue().add(self, self._portion)
        return len(seen)

    @property
    def waiting(self) -> int:
        """How many widgets still have the old colours."""
        return len(self._waiting)

    def _portion(self) -> None:
        """Restyle the widgets that have become visible, if any, otherwise the next few."""
        appeared = [widget for widget in self._waiting if isValid(widget) and widget.isVisible()]
        if appeared:
            self._waiting = deque(widget for widget in self._waiting if isValid(widget) and not widget.isVisible())
        portion = appeared or [self._waiting.popleft() for _ in range(min(_PORTION, len(self._waiting)))]
        for widget in portion:
            if isValid(widget):
                widget.style().polish(widget)
        if self._waiting:
            turn_queue().add(self, self._portion)
