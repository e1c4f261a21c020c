"""Omits empty rows and columns of large matrices from the picture, and says which."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scalegraph.figures.figure import Grid
from scalegraph.gui.figures.grid.model import missing

ROWS, COLUMNS = 10, 12  # a larger matrix is drawn as a picture; a smaller one shows its numbers, scrolling if necessary
_NAMED: Final = 6


def large(grid: Grid) -> bool:
    """Return whether *grid* is too large to be read as numbers."""
    return len(grid.rows) > ROWS or len(grid.columns) > COLUMNS


def folded(grid: Grid) -> tuple[Grid, str]:
    """Return *grid* without empty rows and columns if it is large, and a note of what was omitted."""
    has = [[cell is not None and not missing(cell) for cell in row] for row in grid.cells]
    rows = [i for i, row in enumerate(has) if any(row)]
    columns = [j for j in range(len(grid.columns)) if any(row[j] for row in has)]
    if not large(grid) or not rows or (len(rows) == len(grid.rows) and len(columns) == len(grid.columns)):
        return grid, ""
    without_rows = [name for i, name in enumerate(grid.rows) if i not in rows]
    without_columns = [name for j, name in enumerate(grid.columns) if j not in columns]
    said = [_said(without_rows, grid.row_label), _said(without_columns, grid.column_label)]
    made = replace(
        grid,
        rows=tuple(grid.rows[i] for i in rows),
        columns=tuple(grid.columns[j] for j in columns),
        cells=tuple(tuple(grid.cells[i][j] for j in columns) for i in rows),
        row_processors=tuple(n for i, n in enumerate(grid.row_processors) if i in rows),
        column_processors=tuple(n for j, n in enumerate(grid.column_processors) if j in columns),
    )
    return made, f"Left out, as all values are missing: {'; '.join(part for part in said if part)}"


def _said(names: list[str], label: str) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{label} = {', '.join(names[:_NAMED])}{more}"
