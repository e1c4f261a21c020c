"""Buttons for a figure's ways on: below the picture, or in its empty state."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from scalegraph.figures.way import Way
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import button, empty


class WayButtons(QWidget):
    """Buttons below a picture, or in the middle of *state*, the empty state."""

    wanted = Signal(object)  # the Way

    def __init__(self, state: QWidget) -> None:
        super().__init__()
        self._offered: tuple[tuple[Way, ...], bool] = ((), True)
        self._below = horizontal(self)
        self._inside = QWidget()
        self._middle = QHBoxLayout(self._inside)
        column = state.layout()
        assert isinstance(column, QVBoxLayout)
        column.insertWidget(column.count() - 1, self._inside, 0, Qt.AlignmentFlag.AlignHCenter)
        self.hide()
        self._inside.hide()

    def offer(self, ways: Sequence[Way], *, below: bool) -> None:
        """Show a button for each of *ways*, *below* the picture or in the empty state."""
        if self._offered == (tuple(ways), below):
            return
        self._offered = (tuple(ways), below)
        for row in (self._below, self._middle):
            empty(row)
        row = self._below if below else self._middle
        for way in ways:
            made = button(way.text, way.tip, "" if below else "primary")
            made.clicked.connect(lambda _checked=False, way=way: self.wanted.emit(way))
            row.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
        if below:
            row.addStretch(1)
        self.setVisible(below and bool(ways))
        self._inside.setVisible(not below and bool(ways))
