"""The sheet on '?': all shortcuts of the window, listed from its actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QMargins, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import label
from scalegraph.gui.shell.command_palette import hint, words

_SHORT: Final = 14  # letters
_COLUMNS: Final = 3
_AROUND: Final = 20  # pixels of the window visible around the sheet
_SCROLLING: Final = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ShortcutSheet(QFrame):
    """Lists actions with keys in columns by menu; closed by any click or key that does not scroll."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = parent
        self.setProperty("role", "card")
        self.setAutoFillBackground(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Keyboard shortcuts")
        self._column = vertical(self, (24, 18, 24, 18))
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidgetResizable(True)
        self._area.viewport().setAutoFillBackground(False)
        self._column.addWidget(self._area)
        self.hide()

    def open(self, menus: Mapping[str, Sequence[QAction]]) -> None:
        """Show the shortcuts of *menus*, or hide the sheet if it is open."""
        if self.isVisible():
            self.hide()
            return
        owner, margins = self._owner, self._column.contentsMargins()
        room = owner.size().shrunkBy(margins + QMargins(_AROUND, _AROUND, _AROUND, _AROUND))
        for count in range(_COLUMNS, 0, -1):
            body = _body(menus, count)
            self._area.setWidget(body)  # deletes the previous one and styles the new one
            body.setAutoFillBackground(False)  # keeps the sheet's background visible
            for part in body.findChildren(QWidget):
                part.ensurePolished()
            wanted = body.sizeHint()
            if wanted.width() <= room.width():
                break
        bar = self._area.verticalScrollBar().sizeHint().width() if wanted.height() > room.height() else 0
        self._area.setFixedSize(QSize(wanted.width() + bar, wanted.height()).boundedTo(room))
        self.adjustSize()
        self.move((owner.width() - self.width()) // 2, max(_AROUND, (owner.height() - self.height()) // 2))
        self.show()
        self.raise_()
        self.setFocus()

    def event(self, event: QEvent) -> bool:
        """Qt: block the window's shortcuts while the sheet is open."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: close on any key, except keys that scroll a sheet larger than the window."""
        bar = self._area.verticalScrollBar()
        if event.key() in _SCROLLING and bar.maximum():
            QApplication.sendEvent(bar, event)
        else:
            self.hide()

    def mousePressEvent(self, _event: object) -> None:
        """Qt: close on a click."""
        self.hide()

    def focusOutEvent(self, _event: object) -> None:
        """Qt: close when the focus leaves."""
        self.hide()


def _keys(action: QAction) -> str:
    """Return an action's keys; with a second combination if both are short."""
    known = [keys.toString(QKeySequence.SequenceFormat.NativeText) for keys in action.shortcuts()] or [hint(action)]
    both = " or ".join(known[:2])
    return both if len(both) <= _SHORT else known[0]


def _body(menus: Mapping[str, Sequence[QAction]], count: int) -> QWidget:
    """Return the list of *menus* in *count* columns."""
    made = QWidget()
    outer = vertical(made)
    outer.addWidget(label("Keyboard shortcuts", "title"))
    row = QHBoxLayout()
    row.setSpacing(28)
    outer.addLayout(row)
    columns = [QGridLayout() for _ in range(count)]
    heights = [0] * count
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
