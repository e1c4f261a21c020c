"""Ctrl+K: finds actions by words, synonyms or a few letters, tolerating typos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget
from shiboken6 import isValid

from scalegraph.gui.base.widgets import label
from scalegraph.gui.commands.matching import score

CALLED: Final = "called"  # property of an action: its name in the palette, if the menu's is unclear there
FOUND_BY: Final = "found_by"  # property of an action: a list of synonyms


class CommandPalette(QFrame):
    """A list of actions over the window; Return triggers one, Escape closes the list."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = parent
        self.setProperty("role", "card")
        self.setAutoFillBackground(True)
        self._actions: Sequence[QAction] = ()
        self._before: QWidget | None = None  # had the focus when it was opened
        self.entry = QLineEdit()
        self.entry.setPlaceholderText("Type a command")
        self.entry.setAccessibleName("Command")
        self.list = QTreeWidget()
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.setAccessibleName("Commands")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._none = label("No match", "muted")
        column = QVBoxLayout(self)
        column.addWidget(self.entry)
        column.addWidget(self.list)
        column.addWidget(self._none)
        self.entry.textChanged.connect(self._fill)
        self.entry.installEventFilter(self)
        self.list.itemClicked.connect(lambda _item, _column: self.trigger())
        self.hide()

    def open(self, actions: Sequence[QAction]) -> None:
        """Show *actions*: the enabled ones; disabled ones, greyed, once something is typed."""
        self._actions = [action for action in actions if action.text()]
        if not self.isVisible():
            self._before = self._owner.focusWidget()
        self.entry.clear()
        self._fill("")
        owner = self._owner
        width = min(560, owner.width() - 40)
        self.setFixedSize(width, min(420, owner.height() - 80))
        self.move(QPoint((owner.width() - width) // 2, 60))
        self.show()
        self.raise_()
        self.entry.setFocus()

    def names(self) -> list[str]:
        """Return the enabled commands listed now, best match first."""
        return [item.text(0) for item in self._items() if item.data(0, Qt.ItemDataRole.UserRole).isEnabled()]

    def listed(self) -> list[str]:
        """Return all commands listed now, best match first."""
        return [item.text(0) for item in self._items()]

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount()))
        return [item for item in found if item is not None]

    def trigger(self) -> None:
        """Close the palette and trigger the selected command."""
        item = self.list.currentItem()
        self.leave()
        if item is not None:
            item.data(0, Qt.ItemDataRole.UserRole).trigger()

    def leave(self) -> None:
        """Close the palette and return the focus to where it was, so that a view's keys go on working."""
        self.hide()
        before, self._before = self._before, None
        usable = before is not None and isValid(before) and before is not self.entry and before.isVisible()
        (before if before is not None and usable else self._owner).setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: arrow keys move in the list while typing; leaving the field closes it."""
        if watched is self.entry and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if watched is not self.entry or not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # otherwise the window's Escape shortcut acts
            return True
        if event.type() != QEvent.Type.KeyPress:
            return False
        match event.key():
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                items = self._items()
                if items:
                    at = self.list.indexOfTopLevelItem(self.list.currentItem() or items[0])
                    self.list.setCurrentItem(items[(at + step) % len(items)])
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.trigger()
            case Qt.Key.Key_Escape:
                self.leave()
            case _:
                return False
        return True

    def _fill(self, typed: str) -> None:
        self.list.clear()
        scored = [
            (score(typed, words(action), action.property(FOUND_BY) or ()), index)
            for index, action in enumerate(self._actions)
        ]
        for _cost, index in sorted((cost, index) for cost, index in scored if cost is not None):
            action = self._actions[index]
            if not (action.isEnabled() or typed):
                continue
            item = QTreeWidgetItem([words(action), action.shortcut().toString() or hint(action)])
            item.setData(0, Qt.ItemDataRole.UserRole, action)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if not action.isEnabled():
                item.setForeground(0, self.palette().placeholderText())
                item.setToolTip(0, "Not possible now")
            self.list.addTopLevelItem(item)
        items = self._items()
        if items:
            self.list.setCurrentItem(items[0])
        self.list.setVisible(bool(items))
        self._none.setVisible(not items)


def words(action: QAction) -> str:
    """Return an action's name in the palette: its menu text without mnemonics."""
    called = action.property(CALLED) or action.text().partition("\t")[0].replace("&", "")
    return str(called).rstrip("…")


def hint(action: QAction) -> str:
    """Return the keys with which the views trigger an action, empty if none."""
    return action.text().partition("\t")[2]
