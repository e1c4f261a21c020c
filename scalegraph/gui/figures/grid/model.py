"""A `Grid` as a Qt table model, and its cells as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from scalegraph.base.measures import exact
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Cell, Grid
from scalegraph.gui.figures.plot.targets import rich

Index = QModelIndex | QPersistentModelIndex
CELL_ROLE: Final = Qt.ItemDataRole.UserRole + 1


def number(value: float | None) -> str:
    """Return a cell's value with three significant digits."""
    if value is None or value != value:
        return "–"
    return significant(value, 3) if abs(value) < 1e4 else si(value)


def missing(cell: Cell) -> bool:
    """Return whether a cell has no value."""
    return all(value is None or value != value for value in cell.values)


class GridModel(QAbstractTableModel):
    """Read-only. A ``None`` cell, outside of the matrix, cannot be selected or reached by keys."""

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self._grid = grid

    @property
    def grid(self) -> Grid:
        """The grid shown."""
        return self._grid

    def set_grid(self, grid: Grid) -> None:
        """Show another grid."""
        self.beginResetModel()
        self._grid = grid
        self.endResetModel()

    def cell(self, row: int, column: int) -> Cell | None:
        """Return a cell, or ``None`` outside of the matrix."""
        if 0 <= row < len(self._grid.rows) and 0 <= column < len(self._grid.columns):
            return self._grid.cells[row][column]
        return None

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self._grid.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self._grid.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt: cells of the matrix are enabled, others are not."""
        if self.cell(index.row(), index.column()) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return text, tooltip or the `Cell` itself."""
        cell = self.cell(index.row(), index.column())
        if cell is None:
            return None
        if role == CELL_ROLE:
            return cell
        if role == Qt.ItemDataRole.DisplayRole:
            return " / ".join(number(value) for value in cell.values)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tip(index.row(), index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.place(index.row(), index.column())}: {self.data(index)} {cell.reason}".rstrip()
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the name of a row or column."""
        names = self._grid.columns if orientation == Qt.Orientation.Horizontal else self._grid.rows
        if role == Qt.ItemDataRole.DisplayRole and section < len(names):
            return names[section]
        return None

    def place(self, row: int, column: int) -> str:
        """Return a cell's coordinates as text: ``N = 4, N' = 16``."""
        grid = self._grid
        return f"{grid.row_label} = {grid.rows[row]}, {grid.column_label} = {grid.columns[column]}"

    def tip(self, row: int, column: int) -> str:
        """Return a cell's tooltip: exact values and their origin, or why they are missing."""
        cell = self.cell(row, column)
        if cell is None:
            return ""
        if cell.tip:
            text = cell.tip
        else:
            pairs = zip(self._grid.value_names, cell.values, strict=False)
            text = "\n".join(f"{name}: {exact(v)}" for name, v in pairs)
        if cell.reason and cell.reason not in text:
            text += f"\nMissing: {cell.reason}"
        return rich(self.place(row, column), text, cell.origin)

    def processors(self, row: int, column: int) -> tuple[int, int]:
        """Return a cell's name in the selection: the N of row and column, or their indices if they have no N."""
        grid = self._grid
        return (
            grid.row_processors[row] if row < len(grid.row_processors) else row,
            grid.column_processors[column] if column < len(grid.column_processors) else column,
        )

    def where(self, cell: tuple[int, int] | None) -> tuple[int, int] | None:
        """Return row and column of the cell that `processors` names *cell*, or ``None``."""
        for row in range(self.rowCount()):
            for column in range(self.columnCount()):
                if cell is not None and self.processors(row, column) == tuple(cell):
                    return (row, column)
        return None


def reasons(grid: Grid) -> list[str]:
    """Return one line per reason for missing values, with its cells."""
    where: dict[str, list[str]] = {}
    for r, row in enumerate(grid.cells):
        for c, cell in enumerate(row):
            if cell is not None and cell.reason:
                where.setdefault(cell.reason, []).append(f"{grid.rows[r]}→{grid.columns[c]}")
    return [f"{_some(cells)}: {reason}" for reason, cells in where.items()]


def as_text(grid: Grid) -> str:
    """Return the matrix as tab-separated text for spreadsheets."""
    head = [f"{grid.row_label} \\ {grid.column_label}", *grid.columns]
    lines = ["\t".join(head)]
    for name, row in zip(grid.rows, grid.cells, strict=True):
        cells = ["" if cell is None else " / ".join(number(v) for v in cell.values) for cell in row]
        lines.append("\t".join([name, *cells]))
    return "\n".join(lines) + "\n"


def _some(cells: Sequence[str]) -> str:
    shown = ", ".join(cells[:12])
    return f"{shown} and {len(cells) - 12} more" if len(cells) > 12 else shown
