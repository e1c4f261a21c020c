"""The sheet on '?': every shortcut of the window, made from its actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from scalegraph.gui.base.widgets import label
from scalegraph.gui.shell.command_palette import hint, words

_SHORT: Final = 14  # letters


class ShortcutSheet(QFrame):
    """Lists actions with their keys in columns by menu; any key or click closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = parent
        self.setProperty("role", "card")
        self.setAutoFillBackground(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Keyboard shortcuts")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(24, 18, 24, 18)
        self._body: QWidget | None = None
        self.hide()

    def open(self, menus: Mapping[str, Sequence[QAction]]) -> None:
        """Show the shortcuts of *menus*."""
        if self._body is not None:
            self._column.removeWidget(self._body)
            self._body.deleteLater()
        self._body = _body(menus)
        self._column.addWidget(self._body)
        self.adjustSize()
        owner = self._owner
        self.move((owner.width() - self.width()) // 2, max(20, (owner.height() - self.height()) // 2))
        self.show()
        self.raise_()
        self.setFocus()

    def event(self, event: QEvent) -> bool:
        """Qt: keep the window's shortcuts from acting while the sheet is open."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, _event: QKeyEvent) -> None:
        """Qt: any key closes."""
        self.hide()

    def mousePressEvent(self, _event: object) -> None:
        """Qt: a click closes."""
        self.hide()

    def focusOutEvent(self, _event: object) -> None:
        """Qt: going elsewhere closes."""
        self.hide()


def _keys(action: QAction) -> str:
    """Return the keys of an action; a second combination where both are short."""
    known = [keys.toString(QKeySequence.SequenceFormat.NativeText) for keys in action.shortcuts()] or [hint(action)]
    both = " or ".join(known[:2])
    return both if len(both) <= _SHORT else known[0]


def _body(menus: Mapping[str, Sequence[QAction]]) -> QWidget:
    made = QWidget()
    outer = QVBoxLayout(made)
    outer.setContentsMargins(0, 0, 0, 0)
    outer.addWidget(label("Keyboard shortcuts", "title"))
    row = QHBoxLayout()
    row.setSpacing(28)
    outer.addLayout(row)
    columns = [QGridLayout() for _ in range(3)]
    heights = [0, 0, 0]
    for title, actions in menus.items():
        keyed = [action for action in actions if hint(action) or not action.shortcut().isEmpty()]
        if not keyed:
            continue
        lowest = heights.index(min(heights))
        grid = columns[lowest]
        grid.addWidget(label(title, "heading"), grid.rowCount(), 0, 1, 2)
        for action in keyed:
            line = grid.rowCount()
            grid.addWidget(label(words(action)), line, 0)
            keys = _keys(action)
            grid.addWidget(label(keys, "muted"), line, 1, Qt.AlignmentFlag.AlignRight)
        heights[lowest] += len(keyed) + 2
    for grid in columns:
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(5)
        holder = QVBoxLayout()
        holder.addLayout(grid)
        holder.addStretch(1)
        row.addLayout(holder)
    return made
