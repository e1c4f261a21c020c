"""The list below a trace's search field: results by kind, or the longest occurrences of one result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from scalegraph.base.units import si, thousands
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import button, label
from scalegraph.views.trace.places import Place

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.analyze.trace.find import Target
    from scalegraph.subjects.trace import TraceData

_ROLE: Final = Qt.ItemDataRole.UserRole
_OF_A_SORT: Final = 60  # listed per kind
_WIDTH: Final = 430
_ROWS: Final = 16
_HINT: Final = "Return: next   Shift+Return: previous"


class SearchList(QFrame):
    """A list that never takes the focus: the user keeps typing, and the field moves the selection and accepts it."""

    chosen = Signal()  # a target was clicked
    place_chosen = Signal(str, str)  # key of a place, and its description
    longest_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._owner = parent
        self.setProperty("role", "card")
        self.setAutoFillBackground(True)
        self.tree = QTreeWidget()
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(3)
        self.tree.setRootIsDecorated(False)
        self.tree.setIndentation(10)
        self.tree.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.tree.setAccessibleName("What was found")
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setMinimumSectionSize(10)
        for column, mode in enumerate(("Stretch", "ResizeToContents", "ResizeToContents")):
            header.setSectionResizeMode(column, getattr(QHeaderView.ResizeMode, mode))
        self.tree.itemClicked.connect(self._clicked)
        self.tree.currentItemChanged.connect(lambda *_: self._enable())
        self.hint = label(_HINT, "muted")
        self.longest = button("Longest", "List the longest occurrences (Ctrl+Return)", "flat")
        self.longest.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.longest.clicked.connect(self.longest_wanted)
        column_ = vertical(self, (8, 8, 8, 6))
        column_.addWidget(self.tree, 1)
        row = QHBoxLayout()
        row.addWidget(self.hint, 1)
        row.addWidget(self.longest)
        column_.addLayout(row)
        self.hide()

    def show_targets(self, targets: list[Target], field: QWidget) -> None:
        """Show *targets* by kind below *field* and select the first."""
        from scalegraph.analyze.trace.find import SORTS

        self.tree.clear()
        for sort in dict.fromkeys(target.sort for target in targets):
            some = [target for target in targets if target.sort == sort]
            self._heading(f"{SORTS[sort].plural.capitalize()} ({thousands(len(some))})")
            for target in some[:_OF_A_SORT]:
                times = "never" if not target.count else f"{thousands(target.count)} ×"
                self._entry([target.name, times, ""], target)
            if len(some) > _OF_A_SORT:
                self._heading(f"   and {thousands(len(some) - _OF_A_SORT)} more: type more of the name", bold=False)
        if not targets:
            self._heading("No match", bold=False)
        self.hint.setText(_HINT if targets else "Part of a name; * and ? are wildcards")
        self._open(field)

    def say_looking(self, target: Target) -> None:
        """Show that the longest occurrences are being searched for."""
        self.hint.setText(f"Searching for the longest: {target.name} …")

    def show_longest(self, target: Target, table: pd.DataFrame, data: TraceData, field: QWidget) -> None:
        """List the rows of `found.longest`; each is a place to go to."""
        self.tree.clear()
        self._heading(
            f"Longest: {target.name} ({thousands(len(table))} of {thousands(target.count)})"
            if len(table)
            else f"{target.name}: nothing with a duration"
        )
        second = data.trace.meta.ticks_per_second
        for number, row in enumerate(table.to_dict("records"), 1):
            begin, end, location = int(row["begin"]), int(row["end"]), int(row["location"])
            words = [
                si((end - begin) / second, "s", 5),
                data.location_name(location),
                f"at {si(float(data.seconds(begin)), 's', 5)}",
            ]
            place = Place(begin, end, location, int(row["region"])).key
            self._entry(words, (place, f"{number} longest of {thousands(target.count)}: {words[0]} on {words[1]}"))
        self.hint.setText("Return: go there   Escape: close")
        self._open(field)

    def target(self) -> Target | None:
        """Return the selected target, if it has occurrences."""
        held = self._held()
        return None if held is None or isinstance(held, tuple) else held

    def choose_place(self) -> bool:
        """Go to the selected place; return whether one is selected."""
        held = self._held()
        if isinstance(held, tuple):
            self.place_chosen.emit(*held)
        return isinstance(held, tuple)

    def move_by(self, step: int) -> None:
        """Select the next or previous entry."""
        entries = self._entries()
        if entries:
            now = self.tree.currentItem()
            at = next((place for place, item in enumerate(entries) if item is now), -1)
            self.tree.setCurrentItem(entries[(at + step) % len(entries)])

    def texts(self) -> list[str]:
        """Return the listed headings and entries, each with the text beside it."""
        items = [self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount())]
        return ["  ".join(filter(None, (item.text(n) for n in range(3)))) for item in items if item is not None]

    def _held(self) -> Target | tuple[str, str] | None:
        item = self.tree.currentItem()
        held: Target | tuple[str, str] | None = item.data(0, _ROLE) if item is not None else None
        return tuple(held) if isinstance(held, list) else held

    def _entries(self) -> list[QTreeWidgetItem]:
        items = [self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount())]
        return [item for item in items if item is not None and item.data(0, _ROLE) is not None]

    def _heading(self, text: str, *, bold: bool = True) -> None:
        item = QTreeWidgetItem([text])
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        font = self.tree.font()
        font.setBold(bold)
        item.setFont(0, font)
        self.tree.addTopLevelItem(item)
        item.setFirstColumnSpanned(True)

    def _entry(self, words: list[str], held: object) -> None:
        item = QTreeWidgetItem(["   " + words[0], *words[1:]])
        item.setData(0, _ROLE, held)
        item.setToolTip(0, words[0])
        for column in (1, 2):
            item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.tree.addTopLevelItem(item)

    def _clicked(self, item: QTreeWidgetItem, _column: int) -> None:
        if item.data(0, _ROLE) is not None and not self.choose_place():
            self.chosen.emit()

    def _enable(self) -> None:
        from scalegraph.analyze.trace.find import LASTING

        target = self.target()
        self.longest.setVisible(target is not None and target.sort in LASTING and target.count > 0)

    def _open(self, field: QWidget) -> None:
        entries = self._entries()
        if entries:
            self.tree.setCurrentItem(entries[0])
        self._enable()
        owner = self._owner
        rows = min(_ROWS, max(1, self.tree.topLevelItemCount()))
        line = max(self.tree.sizeHintForRow(0), self.fontMetrics().height() + 4)
        below = field.mapTo(owner, QPoint(0, field.height() + 2))
        height = min(rows * line + 64, max(120, owner.height() - below.y() - 30))
        width = min(_WIDTH, owner.width() - 20)
        self.setFixedSize(width, height)
        self.move(max(10, min(below.x(), owner.width() - width - 10)), below.y())
        self.show()
        self.raise_()
