"""Dialogs of saved arrangements: naming the current one, renaming and deleting saved ones."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLineEdit, QListWidget, QVBoxLayout, QWidget

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.commands.saved_arrangements import Arranged, SavedArrangements


class NameDialog(QDialog):
    """Asks for the name under which to save the current arrangement; warns if it replaces one."""

    def __init__(self, saved: SavedArrangements, ready_made: list[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._saved, self._ready_made = saved, ready_made
        self.setWindowTitle("Save arrangement")
        self.name = QLineEdit()
        self.name.setAccessibleName("Name")
        self.name.setPlaceholderText("Name")
        self._said = label("", "muted", wrap=True)
        kinds = QDialogButtonBox.StandardButton
        self._buttons = QDialogButtonBox(kinds.Save | kinds.Cancel)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(
            label("Save the open views, their options and places under a name, for any study or trace.", wrap=True)
        )
        column.addWidget(self.name)
        column.addWidget(self._said)
        column.addWidget(self._buttons)
        self.name.textChanged.connect(self._changed)
        self.setMinimumWidth(420)
        self._changed()

    def chosen(self) -> str:
        """Return the name."""
        return " ".join(self.name.text().split())

    def _changed(self, _text: str = "") -> None:
        name = self.chosen()
        taken = name in self._ready_made
        self._said.setText(
            "A ready-made arrangement has this name."
            if taken
            else "Replaces the saved arrangement of this name; Undo brings it back."
            if name in self._saved.names()
            else ""
        )
        self._buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(bool(name) and not taken)


class ManageDialog(QDialog):
    """Lists saved arrangements: rename in place, delete, undo."""

    def __init__(self, saved: SavedArrangements, parent: QWidget) -> None:
        super().__init__(parent)
        self._saved = saved
        self.setWindowTitle("Arrangements")
        self.list = QListWidget()
        self.list.setAccessibleName("Saved arrangements")
        self.rename = button("Rename")
        self.delete = button("Delete")
        self.undo = button("Undo")
        self._said = label("", "muted", wrap=True)
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self._said)
        column.addWidget(self.list, 1)
        row = QHBoxLayout()
        for each in (self.rename, self.delete, self.undo):
            row.addWidget(each)
        row.addStretch(1)
        row.addWidget(close)
        column.addLayout(row)
        self.rename.clicked.connect(self._edit)
        self.delete.clicked.connect(self._delete)
        self.undo.clicked.connect(saved.undo_stack.undo)
        self.list.itemChanged.connect(self._renamed)
        self.list.currentRowChanged.connect(self._enable)
        saved.changed.connect(tied(self, self._fill))
        self.resize(420, 320)
        self._fill(saved.state)

    def _fill(self, _state: Arranged) -> None:
        row = max(0, self.list.currentRow())
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems(self._saved.names())
        for number in range(self.list.count()):
            item = self.list.item(number)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setData(Qt.ItemDataRole.UserRole, item.text())
        self.list.blockSignals(False)
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        there = self.list.count() > 0
        self._said.setText(
            "Arrangements that you saved. Double-click a name to change it."
            if there
            else "No arrangement is saved. Place views as you like them, then choose View > Arrangements > Save as."
        )
        self._enable()

    def _enable(self, _row: int = 0) -> None:
        chosen = self.list.currentItem() is not None
        self.rename.setEnabled(chosen)
        self.delete.setEnabled(chosen)
        self.undo.setEnabled(self._saved.undo_stack.canUndo())

    def _edit(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.list.editItem(item)

    def _delete(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self._saved.delete(str(item.data(Qt.ItemDataRole.UserRole)))

    def _renamed(self, item: object) -> None:
        current = self.list.currentItem()
        assert current is item
        old, new = str(current.data(Qt.ItemDataRole.UserRole)), " ".join(current.text().split())
        if new and new != old:
            self._saved.rename(old, new)
        else:
            self._fill(self._saved.state)
