"""Ctrl+K: every action by a few of its letters."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from scalegraph.gui.widgets import label


def score(typed: str, name: str) -> float | None:
    """Return how well *name* fits what was *typed* (less is better), or ``None`` if its letters are not all there.

    Letters must come in order; those at the start of a word and those beside one another count for more.
    """
    wanted, text = typed.lower().replace(" ", ""), name.lower()
    if not wanted:
        return 0.0
    whole = text.find(typed.lower().strip())
    if whole >= 0:
        return whole / 100 - 100
    best = _walk(wanted, text)
    return None if best is None else best + len(text) / 100


def _walk(wanted: str, text: str) -> float | None:
    cost, at = 0.0, -1
    for letter in wanted:
        starts = [i for i in range(at + 1, len(text)) if text[i] == letter and (i == 0 or not text[i - 1].isalnum())]
        found = text.find(letter, at + 1)
        if found < 0:
            return None
        if found != at + 1:
            # jumping to the start of a word is cheaper than into its middle, if the rest is still there
            word = next((i for i in starts if _fits(wanted[wanted.index(letter) :], text[i:])), None)
            cost += 1.0 if word is not None else 3.0
            found = word if word is not None else found
        at = found
    return cost


def _fits(wanted: str, text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in wanted)


class CommandPalette(QFrame):
    """A list of actions over the window; Return triggers, Escape closes it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = parent
        self.setProperty("role", "card")
        self.setAutoFillBackground(True)
        self._actions: Sequence[QAction] = ()
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
        """Show *actions* that are enabled."""
        self._actions = [action for action in actions if action.isEnabled() and action.text()]
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
        """Return the commands listed now, best first."""
        return [item.text(0) for item in self._items()]

    def _items(self) -> list[QTreeWidgetItem]:
        found = (self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount()))
        return [item for item in found if item is not None]

    def trigger(self) -> None:
        """Do what is chosen and go away."""
        item = self.list.currentItem()
        self.leave()
        if item is not None:
            item.data(0, Qt.ItemDataRole.UserRole).trigger()

    def leave(self) -> None:
        """Go away and give the focus back."""
        self.hide()
        self._owner.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: arrows move in the list while typing; leaving the field closes."""
        if watched is self.entry and event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if watched is not self.entry or not isinstance(event, QKeyEvent):
            return False
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()  # the window's own Escape waits
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
        scored = [(score(typed, words(action)), index) for index, action in enumerate(self._actions)]
        for _cost, index in sorted((cost, index) for cost, index in scored if cost is not None):
            action = self._actions[index]
            item = QTreeWidgetItem([words(action), action.shortcut().toString() or hint(action)])
            item.setData(0, Qt.ItemDataRole.UserRole, action)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.list.addTopLevelItem(item)
        items = self._items()
        if items:
            self.list.setCurrentItem(items[0])
        self.list.setVisible(bool(items))
        self._none.setVisible(not items)


def words(action: QAction) -> str:
    """Return what an action is called in the palette: its menu words without the marks of the keyboard."""
    return action.text().partition("\t")[0].replace("&", "").rstrip("…")


def hint(action: QAction) -> str:
    """Return the keys that the views take for what an action does, empty if there are none."""
    return action.text().partition("\t")[2]
