"""A `Table` as a Qt tree model, with filtering that keeps the way to what was found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt

from scalegraph.base.measures import Measure, exact, measure
from scalegraph.base.units import stacked
from scalegraph.gui.plot_targets import rich
from scalegraph.views.figure import Column, Row, Table

Index = QModelIndex | QPersistentModelIndex
KEY_ROLE: Final = Qt.ItemDataRole.UserRole + 1
SORT_ROLE: Final = Qt.ItemDataRole.UserRole + 2
SHARE_ROLE: Final = Qt.ItemDataRole.UserRole + 3  # 0..1 of the column's largest, for the bar
BAR_ROLE: Final = Qt.ItemDataRole.UserRole + 4  # the palette's role of the bar


@dataclass
class _Node:
    row: Row | None
    parent: _Node | None
    place: int = 0
    children: list[_Node] = field(default_factory=list)


class TableModel(QAbstractItemModel):
    """Rows by depth as a tree; numbers of a column share one unit."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self._root = _Node(None, None)
        self._measures: list[Measure | None] = []
        self._largest: list[float] = []
        self._take(table)

    @property
    def table(self) -> Table:
        """What is shown."""
        return self._table

    def set_table(self, table: Table) -> None:
        """Show another table."""
        self.beginResetModel()
        self._take(table)
        self.endResetModel()

    def is_tree(self) -> bool:
        """Whether any row stands below another."""
        return any(node.children for node in self._root.children)

    def numeric(self, column: int) -> bool:
        """Whether *column* holds numbers."""
        return self._measures[column] is not None

    def _take(self, table: Table) -> None:
        self._table = table
        self._root = _Node(None, None)
        path = [self._root]
        for row in table.rows:
            del path[max(1, min(row.depth + 1, len(path))) :]
            node = _Node(row, path[-1], len(path[-1].children))
            path[-1].children.append(node)
            path.append(node)
        self._measures, self._largest = [], []
        for i, column in enumerate(table.columns):
            cells = [row.values[i] if i < len(row.values) else None for row in table.rows]
            numbers = [v for v in cells if isinstance(v, int | float)]
            texts = any(isinstance(v, str) for v in cells)
            self._measures.append(None if texts or not numbers else measure(numbers, column.unit))
            self._largest.append(max((abs(v) for v in numbers if math.isfinite(v)), default=0.0))

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a row below *parent*."""
        above = self._node(parent)
        if not (0 <= row < len(above.children) and 0 <= column < len(self._table.columns)):
            return QModelIndex()
        return self.createIndex(row, column, above.children[row])

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008
        """Return the index of the row above."""
        above = self._node(index).parent
        if above is None or above is self._root:
            return QModelIndex()
        return self.createIndex(above.place, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many rows stand below *parent*."""
        return 0 if parent.column() > 0 else len(self._node(parent).children)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns."""
        return len(self._table.columns)

    def texts(self, column: int) -> list[tuple[str, int]]:
        """Return what the cells of *column* show, each with the depth of its row."""
        rows = self._table.rows
        values = [row.values[column] if column < len(row.values) else None for row in rows]
        return [(self._text(column, value), row.depth) for value, row in zip(values, rows, strict=True)]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's name with its unit."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self._table.columns):
            return None
        column, how = self._table.columns[section], self._measures[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return stacked(how.heading(column.name) if how is not None else _plain_heading(column))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if how is not None else Qt.AlignmentFlag.AlignLeft
            return int(right | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a cell shows."""
        row = self._node(index).row
        if row is None or not index.isValid():
            return None
        i = index.column()
        value = row.values[i] if i < len(row.values) else None
        if role == KEY_ROLE:
            return row.key
        if role == SORT_ROLE:
            return _sortable(value)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(i, value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if self.numeric(i) else Qt.AlignmentFlag.AlignLeft
            return int(right | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row)
        if role == BAR_ROLE:
            return self._table.columns[i].bar_role
        if role == SHARE_ROLE and isinstance(value, int | float) and math.isfinite(value) and self._largest[i] > 0:
            return abs(value) / self._largest[i]
        return None

    def _text(self, column: int, value: float | str | None) -> str:
        how = self._measures[column]
        if isinstance(value, str):
            return value
        if how is None:
            return "" if value is None else exact(value)
        return how.number(value)

    def _tip(self, row: Row) -> str:
        lines = []
        for i, (column, value) in enumerate(zip(self._table.columns, row.values, strict=False)):
            if i == 0 and isinstance(value, str):
                continue
            lines.append(f"{column.name}: {value if isinstance(value, str) else exact(value, column.unit)}")
        if row.tip:
            lines.append(row.tip)
        return rich(str(row.values[0]) if row.values else "", "\n".join(lines))

    def _node(self, index: Index) -> _Node:
        node = index.internalPointer() if index.isValid() else None
        return node if isinstance(node, _Node) else self._root


class RowFilter(QSortFilterProxyModel):
    """Sorts by value (not by text) and keeps rows whose text has every word, with the rows above them."""

    def __init__(self, model: TableModel) -> None:
        super().__init__()
        self.setSourceModel(model)
        self.setSortRole(SORT_ROLE)
        self.setRecursiveFilteringEnabled(True)
        self._words: list[str] = []
        self._natural = True

    def sort_by(self, column: int, order: Qt.SortOrder) -> None:
        """Sort by *column*; -1 restores the order of the table (Qt leaves the rows as they are then)."""
        self._natural = column < 0
        self.sort(max(0, column), Qt.SortOrder.AscendingOrder if column < 0 else order)
        self.invalidate()

    def search(self, text: str) -> None:
        """Keep rows that have every word of *text*."""
        self._words = text.lower().split()
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:
        """Whether a row has every word in one of its columns."""
        model = self.sourceModel()
        texts = [str(model.index(source_row, column, source_parent).data()) for column in range(model.columnCount())]
        text = " ".join(texts).lower()
        return all(word in text for word in self._words)

    def lessThan(self, left: Index, right: Index) -> bool:
        """Compare by value; text after numbers, missing last."""
        if self._natural:
            return left.row() < right.row()
        a, b = left.data(SORT_ROLE), right.data(SORT_ROLE)
        return bool(a < b)


def _sortable(value: float | str | None) -> tuple[int, float, str]:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return (0, 0.0, "")
    if isinstance(value, str):
        return (1, 0.0, value.lower())
    return (1, float(value), "")


def _plain_heading(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name
