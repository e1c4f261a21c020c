"""Editors of the request panel; each shows a part of the form and reports edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from scalegraph.gui.base.combo import ElidedCombo
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import button, label, mark
from scalegraph.gui.request.form import Pairs


class Entry(QLineEdit):
    """A line of text that leaves undo and redo to the window, which has one history for the whole request."""

    def __init__(self, placeholder: str = "") -> None:
        super().__init__()
        self.setPlaceholderText(placeholder)

    def show_text(self, text: str) -> None:
        """Show *text*; if it is unchanged, the cursor stays."""
        if self.text() != text:
            blocked = self.blockSignals(True)
            self.setText(text)
            self.blockSignals(blocked)

    def event(self, event: QEvent) -> bool:
        """Qt: decline the editor's own undo and redo, so that the window's shortcuts get the keys."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and (event.matches(QKeySequence.StandardKey.Undo) or event.matches(QKeySequence.StandardKey.Redo))
        ):
            event.ignore()
            return True
        return super().event(event)


class Choice(ElidedCombo):
    """A combo box that ignores the mouse wheel, so that scrolling past does not change it."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.activated.connect(lambda _index: self.chosen.emit(self.currentData()))
        self.installEventFilter(_unless_focused(self))

    def offer(self, items: Sequence[tuple[str, str]]) -> None:
        """Offer *items* as (value, text); the current choice is kept if still offered."""
        if [(self.itemData(i), self.itemText(i)) for i in range(self.count())] == list(items):
            return
        before = self.currentData()
        self.clear()
        for value, words in items:
            self.addItem(words, value)
        self.show_value(before)

    def show_value(self, value: str | None) -> None:
        """Select *value*."""
        self.setCurrentIndex(self.findData(value))

    def show_heading(self, value: str) -> None:
        """Show the item *value* as a heading, which cannot be chosen."""
        index = self.findData(value)
        self.setItemData(index, 0, Qt.ItemDataRole.UserRole - 1)  # clears all of `Qt.ItemFlag`


class _Wheel(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def _unless_focused(widget: QWidget) -> QObject:
    return _Wheel(widget)


class PairsEditor(QWidget):
    """Names with values: rows that can be added and removed, or rows with fixed names.

    Calls *changed* with all pairs and the name of the edited row (``""`` after adding or removing one).
    """

    def __init__(
        self,
        what: str,
        changed: Callable[[Pairs, str], None],
        *,
        name_hint: str = "name",
        value_hint: str = "value",
        add: str = "",
    ) -> None:
        super().__init__()
        self._what, self._changed = what, changed
        self._hints = (name_hint, value_hint)
        self._rows: list[_Row] = []
        self._by_name: dict[str, tuple[str, str]] = {}
        self._fixed = False
        self._notes: Mapping[str, str] = {}
        self._known: tuple[str, ...] = ()
        column = vertical(self, spacing=4)
        self._grid = QGridLayout()
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        column.addLayout(self._grid)
        self._add = button(add or f"Add {what}", kind="link")
        self._add.clicked.connect(self.add_row)
        column.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)

    def set_names(self, *, fixed: bool, notes: Mapping[str, str] | None = None, known: Sequence[str] = ()) -> None:
        """Set whether names are fixed, the text behind each row, and the names offered for completion."""
        if (fixed, notes or {}, tuple(known)) != (self._fixed, self._notes, self._known):
            self._fixed, self._notes, self._known = fixed, notes or {}, tuple(known)
            pairs = self.pairs()
            self._build(pairs)
        self._add.setVisible(not fixed)

    def set_hints(self, hints: Mapping[str, tuple[str, str]]) -> None:
        """Set, by name, a sample value (shown as placeholder) and the meaning (tooltip)."""
        self._by_name = dict(hints)
        for row in self._rows:
            row.show_hint(*self.hint_of(row.name_text()))

    def hint_of(self, name: str) -> tuple[str, str]:
        """Return placeholder and tooltip for the value of *name*."""
        return self._by_name.get(name.strip(), (self._hints[1], ""))

    def pairs(self) -> Pairs:
        """Return the pairs typed."""
        return tuple((row.name_text(), row.value.text()) for row in self._rows)

    def show_pairs(self, pairs: Pairs) -> None:
        """Show *pairs*; rows are rebuilt only if their number or fixed names change."""
        same = len(pairs) == len(self._rows) and not (
            self._fixed and any(row.name_text() != name for row, (name, _v) in zip(self._rows, pairs, strict=True))
        )
        if not same:
            self._build(pairs)
        for row, (name, value) in zip(self._rows, pairs, strict=True):
            row.show(name, value)
            row.show_hint(*self.hint_of(name))

    def show_faults(self, faults: Mapping[str, str]) -> None:
        """Show the error messages of *faults* (by name) below their rows."""
        for row in self._rows:
            row.show_fault(faults.get(row.name_text().strip(), ""))

    def names(self) -> set[str]:
        """Return the names of the rows."""
        return {row.name_text().strip() for row in self._rows}

    def add_row(self) -> None:
        """Add an empty row and focus it."""
        self._changed((*self.pairs(), ("", "")), "")
        if self._rows:
            self._rows[-1].name.setFocus()

    def _remove(self, index: int) -> None:
        pairs = self.pairs()
        self._changed(pairs[:index] + pairs[index + 1 :], "")

    def _build(self, pairs: Pairs) -> None:
        for row in self._rows:
            row.discard(self._grid)
        for column, stretch in enumerate((0, 1, 1) if self._fixed else (3, 4, 0)):
            self._grid.setColumnStretch(column, stretch)
        self._rows = [
            _Row(self, index, name, self._fixed, self._notes.get(name, ""), self._hints, self._known)
            for index, (name, _value) in enumerate(pairs)
        ]
        for index, row in enumerate(self._rows):
            row.place(self._grid, 2 * index)
            row.show(*pairs[index])

    def typed(self, row: _Row) -> None:
        """Report an edit of *row*; called by the row."""
        self._changed(self.pairs(), f"{self._what}.{self._rows.index(row)}")

    def remove(self, row: _Row) -> None:
        """Remove *row*; called by the row."""
        self._remove(self._rows.index(row))


class _Row:
    """A name and its value; not a widget, so that the columns of all rows align."""

    def __init__(
        self,
        editor: PairsEditor,
        index: int,
        name: str,
        fixed: bool,
        note: str,
        hints: tuple[str, str],
        known: tuple[str, ...],
    ) -> None:
        what = editor.accessibleName() or "Row"
        self.name: QLabel | Entry = label(name) if fixed else Entry(hints[0])
        self.value = Entry(hints[1])
        self.after: QLabel | QPushButton = label(note, "muted", wrap=True) if fixed else button("Remove", kind="flat")
        self.fault = label("", "fault", wrap=True)
        self.fault.hide()
        self.value.setAccessibleName(f"{what} {name or index + 1}: value")
        self.value.textEdited.connect(lambda _text: editor.typed(self))
        if isinstance(self.name, Entry):
            self.name.setAccessibleName(f"{what} {index + 1}: name")
            self.name.textEdited.connect(lambda _text: editor.typed(self))
            if known:
                self._complete(self.name, known, editor)
        else:
            self.name.setMinimumWidth(130)
            self.name.setBuddy(self.value)
        if isinstance(self.after, QPushButton):
            self.after.setAccessibleName(f"Remove {what} {index + 1}")
            self.after.clicked.connect(lambda: editor.remove(self))

    def _complete(self, entry: Entry, known: tuple[str, ...], editor: PairsEditor) -> None:
        completer = QCompleter(list(known), entry)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.activated.connect(lambda _text: editor.typed(self))
        entry.setCompleter(completer)

    def name_text(self) -> str:
        return self.name.text()

    def show(self, name: str, value: str) -> None:
        if isinstance(self.name, Entry):
            self.name.show_text(name)
        self.value.show_text(value)

    def show_hint(self, placeholder: str, tip: str) -> None:
        self.value.setPlaceholderText(placeholder)
        self.value.setToolTip(tip)

    def show_fault(self, text: str) -> None:
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        mark(self.value, "fault", bool(text))
        self.value.setAccessibleDescription(text)

    def place(self, grid: QGridLayout, row: int) -> None:
        grid.addWidget(self.name, row, 0)
        grid.addWidget(self.value, row, 1)
        grid.addWidget(self.after, row, 2)
        grid.addWidget(self.fault, row + 1, 1, 1, 2)

    def discard(self, grid: QGridLayout) -> None:
        for widget in (self.name, self.value, self.after, self.fault):
            grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
