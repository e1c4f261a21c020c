"""A `Table` as a Qt tree model, with sorting, and searching that keeps the ancestors of matches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt

from scalegraph.base.measures import exact
from scalegraph.base.units import narrow, stacked
from scalegraph.figures.columns import cell_text, column_heading, column_measures
from scalegraph.figures.figure import Row, Table
from scalegraph.gui.figures.plot.targets import rich

Index = QModelIndex | QPersistentModelIndex
KEY_ROLE: Final = Qt.ItemDataRole.UserRole + 1
SHARE_ROLE: Final = Qt.ItemDataRole.UserRole + 3  # 0..1 of the column's largest, for the bar
BAR_ROLE: Final = Qt.ItemDataRole.UserRole + 4  # the bar's palette role
FAULT_ROLE: Final = Qt.ItemDataRole.UserRole + 5  # what is wrong in a cell
_NATURAL: Final = (-1, Qt.SortOrder.AscendingOrder)  # the table's own order


class TableModel(QAbstractItemModel):
    """Rows as a tree by depth, sorted and filtered; the numbers of a column share a unit.

    A row's Qt id is its number from 1; 0 is the table itself. Sorting and searching are done here rather than by a Qt
    proxy model, which would ask for every cell.
    """

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._words: list[str] = []
        self._under: tuple[str, ...] = ()
        self._sort: tuple[int, Qt.SortOrder] = _NATURAL
        self._heading_letters = 0
        self.faults: Mapping[tuple[int, int], str] = {}  # by row of the table and column
        self._take(table)

    @property
    def table(self) -> Table:
        """The table shown."""
        return self._table

    def set_table(self, table: Table, under: Sequence[str] = ()) -> None:
        """Show another table; sorting and search stay if it has the column. *under* are lines below the headings."""
        self.beginResetModel()
        self._under = tuple(under)
        if self._sort[0] >= len(table.columns):
            self._sort = _NATURAL
        self._take(table)
        self.endResetModel()

    def is_tree(self) -> bool:
        """Return whether any row is below another."""
        return any(self._parents)

    def numeric(self, column: int) -> bool:
        """Return whether *column* holds numbers."""
        return self._numeric[column]

    @property
    def shown(self) -> int:
        """Number of rows shown: matches of the search and their ancestors."""
        return sum(map(len, self._shown))

    # rows and their order

    def sort_by(self, column: int, order: Qt.SortOrder) -> None:
        """Sort by *column*; -1 restores the table's order. Selected and open rows stay so."""
        if (column, order) == self._sort or max(column, self._sort[0]) < 0:
            return
        self.layoutAboutToBeChanged.emit()
        self._sort = (column, order)
        kept = self.persistentIndexList()
        self._order()
        moved = [self.createIndex(self._places[i.internalId()], i.column(), i.internalId()) for i in kept]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def search(self, text: str) -> None:
        """Show the rows that contain every word of *text*, and their ancestors."""
        words = text.lower().split()
        if words != self._words:
            self.beginResetModel()
            self._words = words
            self._choose()
            self.endResetModel()

    def find(self, key: str) -> QModelIndex:
        """Return the index of the first visible row with *key*; invalid if there is none."""
        number = next((n for n in self._keys.get(key, ()) if self._seen[n]), 0)
        return self.createIndex(self._places[number], 0, number) if number else QModelIndex()

    def _take(self, table: Table) -> None:
        self._table = table
        self._parents = _parents([row.depth for row in table.rows])
        self._below: list[list[int]] = [[] for _ in range(len(table.rows) + 1)]
        for number, above in enumerate(self._parents[1:], 1):
            self._below[above].append(number)
        self._keys: dict[str, list[int]] = {}
        for number, row in enumerate(table.rows, 1):
            self._keys.setdefault(row.key, []).append(number)
        self._texts: dict[int, list[str]] = {}  # by column already asked for
        self._measures = column_measures(table.columns, [self._cells(i) for i in range(len(table.columns))])
        self._numeric: list[bool] = []
        self._largest: list[float] = []
        for i in range(len(table.columns)):
            cells = self._cells(i)
            numbers = [v for v in cells if isinstance(v, int | float)]
            texts = any(isinstance(v, str) for v in cells)
            self._numeric.append(bool(numbers) and not texts)
            self._largest.append(max((abs(v) for v in numbers if math.isfinite(v)), default=0.0))
        self._choose()

    def _choose(self) -> None:
        """Find the matching rows and their ancestors."""
        self._seen = [not self._words] * len(self._parents)
        if self._words:
            columns = [self._column_texts(column) for column in range(len(self._table.columns))]
            for number, cells in enumerate(zip(*columns, strict=True), 1):
                text = " ".join(cells).lower()
                if all(word in text for word in self._words):
                    above = number
                    while above and not self._seen[above]:
                        self._seen[above] = True
                        above = self._parents[above]
        self._shown = [[number for number in below if self._seen[number]] for below in self._below]
        self._places = [0] * len(self._parents)
        self._order()

    def _order(self) -> None:
        """Sort the visible rows; the sort is stable."""
        column, order = self._sort
        values = [_sortable(value) for value in self._cells(column)] if column >= 0 else []
        for shown in self._shown:
            shown.sort()
            if column >= 0:
                shown.sort(key=lambda number: values[number - 1], reverse=order == Qt.SortOrder.DescendingOrder)
            for place, number in enumerate(shown):
                self._places[number] = place

    # Qt's interface

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a row below *parent*."""
        shown = self._shown_below(parent)
        if 0 <= row < len(shown) and 0 <= column < len(self._table.columns):
            return self.createIndex(row, column, shown[row])
        return QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        """Return the index of the parent row."""
        number = index.internalId()
        above = self._parents[number] if number < len(self._parents) else 0
        return self.createIndex(self._places[above], 0, above) if above else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of rows below *parent*."""
        return 0 if parent.column() > 0 else len(self._shown_below(parent))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """Return whether rows are below *parent*."""
        return parent.column() <= 0 and bool(self._shown_below(parent))

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return len(self._table.columns)

    def _shown_below(self, parent: Index) -> list[int]:
        number = parent.internalId()  # 0 for an invalid index
        return self._shown[number] if number < len(self._shown) else []

    def _cells(self, column: int) -> list[float | str | None]:
        return [row.values[column] if column < len(row.values) else None for row in self._table.rows]

    def _column_texts(self, column: int) -> list[str]:
        if column not in self._texts:
            self._texts[column] = [self._text(column, value) for value in self._cells(column)]
        return self._texts[column]

    def texts(self, column: int) -> list[tuple[str, int]]:
        """Return the texts of *column*, each with its row's depth."""
        rows = self._table.rows
        return [(text, row.depth) for text, row in zip(self._column_texts(column), rows, strict=True)]

    def narrow_headings(self, letters: int) -> None:
        """Break headings into lines of *letters* characters; 0: one line, plus one for the unit."""
        if letters != self._heading_letters:
            self._heading_letters = letters
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._table.columns) - 1)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's name and unit."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self._table.columns):
            return None
        column, how = self._table.columns[section], self._measures[section]
        if role == Qt.ItemDataRole.DisplayRole:
            heading = column_heading(how, column.name, column.unit)
            shown = narrow(heading, self._heading_letters) if self._heading_letters else stacked(heading)
            return f"{shown}\n{self._under[section]}" if section < len(self._under) else shown
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if self.numeric(section) else Qt.AlignmentFlag.AlignLeft
            return int(right | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's data."""
        number, i = index.internalId(), index.column()
        if not 0 < number <= len(self._table.rows):
            return None
        row = self._table.rows[number - 1]
        value = row.values[i] if i < len(row.values) else None
        if role == KEY_ROLE:
            return row.key
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(i, value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if self.numeric(i) else Qt.AlignmentFlag.AlignLeft
            return int(right | Qt.AlignmentFlag.AlignVCenter)
        fault = self.faults.get((number - 1, i), "")
        if role == FAULT_ROLE:
            return fault
        if role == Qt.ItemDataRole.ToolTipRole:
            return rich(str(value), fault) if fault else self._tip(row)
        if role == BAR_ROLE:
            return self._table.columns[i].bar_role
        if role == SHARE_ROLE and isinstance(value, int | float) and math.isfinite(value) and self._largest[i] > 0:
            return abs(value) / self._largest[i]
        return None

    def _text(self, column: int, value: float | str | None) -> str:
        return cell_text(self._measures[column], value)

    def _tip(self, row: Row) -> str:
        lines = []
        for i, (column, value) in enumerate(zip(self._table.columns, row.values, strict=False)):
            if i == 0 and isinstance(value, str):
                continue
            lines.append(f"{column.name}: {value if isinstance(value, str) else exact(value, column.unit)}")
        if row.tip:
            lines.append(row.tip)
        return rich(str(row.values[0]) if row.values else "", "\n".join(lines))


def _parents(depths: Sequence[int]) -> list[int]:
    """Return each row's parent (numbers from 1) by *depths*, 0 if it has none."""
    path, found = [0], [0]
    for number, depth in enumerate(depths, 1):
        del path[max(1, min(depth + 1, len(path))) :]
        found.append(path[-1])
        path.append(number)
    return found


def _sortable(value: float | str | None) -> tuple[int, float, str]:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return (0, 0.0, "")
    if isinstance(value, str):
        return (1, 0.0, value.lower())
    return (1, float(value), "")
