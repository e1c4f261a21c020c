"""The list of a trace's bookmarks: go to, rename, delete, export, import."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from shiboken6 import isValid

from scalegraph.base.errors import InputError
from scalegraph.base.units import si
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import button, label, mark
from scalegraph.gui.state.bookmark_store import ENDING, Bookmark
from scalegraph.gui.trace.handle import TraceHandle

_SIZE: Final = (440, 300)
_NAME: Final = 0


class BookmarkList(QDialog):
    """A list that stays open beside the views: a click on a row goes to it, a double click renames it."""

    jump_wanted = Signal(object)  # Bookmark

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Tool)
        self.setWindowTitle("Bookmarks")
        self.resize(*_SIZE)
        self._trace: TraceHandle | None = None
        self._filling = False
        self.tree = QTreeWidget()
        self.tree.setHeaderLabels(["name", "at", "length"])
        self.tree.setRootIsDecorated(False)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed
        )
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        self.tree.setAccessibleName("Bookmarks")
        self.tree.itemClicked.connect(lambda item, _column: self._go(item))
        self.tree.itemActivated.connect(lambda item, _column: self._go(item))
        self.tree.itemChanged.connect(self._renamed)
        self.tree.itemSelectionChanged.connect(self._enable)
        self.empty = label("No bookmarks yet. Press B to set one at the selected interval, or at the pointer.", "muted")
        self.empty.setWordWrap(True)
        self.said = label("", "muted", wrap=True)
        self.said.hide()
        self.rename = button("Rename", "Change the name (F2, or a double click on it)")
        self.rename.clicked.connect(self._edit)
        self.delete = button("Delete", "Delete the selected bookmarks (Del); undo restores them")
        self.delete.clicked.connect(self._delete)
        self.export = button("Export …", "Write all bookmarks to a file, for others or another machine")
        self.export.clicked.connect(self._export)
        self.load = button("Add from file …", "Add the bookmarks from a file")
        self.load.clicked.connect(self._load)
        row = QHBoxLayout()
        for widget in (self.rename, self.delete):
            row.addWidget(widget)
        row.addStretch(1)
        for widget in (self.export, self.load):
            row.addWidget(widget)
        column = vertical(self, (10, 10, 10, 10))
        column.addWidget(self.empty)
        column.addWidget(self.tree, 1)
        column.addWidget(self.said)
        column.addLayout(row)

    def show_trace(self, trace: TraceHandle | None) -> None:
        """List the bookmarks of *trace*; close the list if None."""
        before, self._trace = self._trace, trace
        if before is not None and before is not trace and isValid(before):
            before.bookmarks.changed.disconnect(self._fill)
        if trace is None:
            self.hide()
        elif trace is not before:
            trace.bookmarks.changed.connect(self._fill)
            self._fill()

    def open_below(self, corner: QPoint) -> None:
        """Open with the upper right corner at the given point, or raise the open list."""
        self._say("")
        if not self.isVisible():
            self.move(corner - QPoint(self.width(), -4))
        self.show()
        self.raise_()
        self.activateWindow()
        self.tree.setFocus()

    def chosen(self) -> list[Bookmark]:
        """Return the bookmarks of the selected rows."""
        return [self._of(item) for item in self.tree.selectedItems()]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Del deletes; Ctrl+Z and Ctrl+Shift+Z undo and redo as in the window."""
        trace = self._trace
        if event.matches(QKeySequence.StandardKey.Delete):
            self._delete()
        elif trace is not None and event.matches(QKeySequence.StandardKey.Undo):
            trace.filter.stack.undo()
        elif trace is not None and event.matches(QKeySequence.StandardKey.Redo):
            trace.filter.stack.redo()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    # rows

    def _of(self, item: QTreeWidgetItem) -> Bookmark:
        found = item.data(_NAME, Qt.ItemDataRole.UserRole)
        assert isinstance(found, Bookmark)
        return found

    def _fill(self) -> None:
        from scalegraph.figures.timelines import time_text

        trace = self._trace
        if trace is None or trace.data() is None:
            return
        marked = self.chosen()
        finest = max(1 / trace.marks.ticks_per_second, trace.window.length / 1e6)
        self._filling = True
        self.tree.clear()
        for one in trace.bookmarks.all:
            begin, length = trace.seconds(one.begin), trace.seconds(one.end) - trace.seconds(one.begin)
            item = QTreeWidgetItem([one.name, time_text(begin, finest), "" if one.moment else si(length, "s", 4)])
            item.setData(_NAME, Qt.ItemDataRole.UserRole, one)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self.tree.addTopLevelItem(item)
            item.setSelected(one in marked)
        self._filling = False
        self.empty.setVisible(not trace.bookmarks.all)
        self._enable()

    def _enable(self) -> None:
        there = bool(self.tree.selectedItems())
        self.rename.setEnabled(len(self.tree.selectedItems()) == 1)
        self.delete.setEnabled(there)
        self.export.setEnabled(self._trace is not None and bool(self._trace.bookmarks.all))

    # actions

    def _go(self, item: QTreeWidgetItem) -> None:
        self.jump_wanted.emit(self._of(item))

    def _edit(self) -> None:
        items = self.tree.selectedItems()
        if items:
            self.tree.editItem(items[0], _NAME)

    def _renamed(self, item: QTreeWidgetItem, column: int) -> None:
        if self._filling or self._trace is None:
            return
        one = self._of(item)
        if column == _NAME and item.text(_NAME).strip():
            self._trace.bookmarks.rename(one, item.text(_NAME))
        if one in self._trace.bookmarks.all:  # the new name was empty or unchanged
            self._fill()

    def _delete(self) -> None:
        if self._trace is not None and self.chosen():
            count = len(self.chosen())
            self._trace.bookmarks.remove(self.chosen())
            self._say(f"{count} deleted; Ctrl+Z brings {'it' if count == 1 else 'them'} back.")

    def _export(self) -> None:
        trace = self._trace
        if trace is None:
            return
        wanted = str(trace.path.with_name(trace.path.name + ENDING))
        path, _ = QFileDialog.getSaveFileName(self, "Export bookmarks", wanted, f"Bookmarks (*{ENDING} *.json)")
        if not path:
            return
        try:
            trace.bookmarks.export(Path(path))
        except OSError as error:
            self._say(f"{path} cannot be written: {error.strerror}.", fault=True)
        else:
            self._say(f"Written to {path}.")

    def _load(self) -> None:
        trace = self._trace
        if trace is None:
            return
        path, _ = QFileDialog.getOpenFileName(self, "Add bookmarks", str(trace.path.parent), "Bookmarks (*.json)")
        if not path:
            return
        try:
            came = trace.bookmarks.load(Path(path))
        except InputError as error:
            self._say(str(error), fault=True)
        except OSError as error:
            self._say(f"{path} cannot be read: {error.strerror}.", fault=True)
        else:
            self._say(f"{came} added." if came else "All of them were in the list already.")

    def _say(self, text: str, *, fault: bool = False) -> None:
        mark(self.said, "role", "fault" if fault else "muted")
        self.said.setText(text)
        self.said.setVisible(bool(text))
