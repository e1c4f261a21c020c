"""A first column without a name: labels of the rows, their numbers, or the processors that they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.measurements import names
from scalegraph.measurements.table import values

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_WHOLE = 0.6  # share of the cells
_GAIN = 1.2  # of the times from the first row to the last, where the column may count processors


def first(columns: list[Column], rows: Sequence[Sequence[str]], *, wide: bool) -> list[Column]:
    """Return the columns, with a first one without a name as a parameter if it tells the rows apart.

    In a *wide* table that is a size or a name. In others it may count processors, if nothing else does: whole numbers,
    or the numbers of the rows from 1 on where what is measured falls along with them.
    """
    head = columns[0]
    if head.title or head.role != "skip" or head.kind not in ("count", "number", "text"):
        return columns
    cells = [row[0] for row in rows if row]
    if wide:
        numbers = head.kind != "text"
        if not numbers and (len(set(cells)) < 2 or are_repetitions(cells)):
            return columns
    elif not _are_counts(cells) or not _may_count(columns, cells, rows):
        return columns
    made = replace(head, name="", role="parameter", confidence=0.65, why="it tells the rows apart")
    return [made, *columns[1:]]


def _are_counts(cells: Sequence[str]) -> bool:
    """Whether cells are whole numbers, apart from a few that reading the table reports."""
    whole = sum(cell.isdecimal() for cell in cells)
    return whole > 1 and whole >= _WHOLE * len(cells)


def _may_count(columns: Sequence[Column], cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first column, with *cells*, may count processors."""
    others = [item for item in columns if item.role == "parameter"]
    counts = [int(cell) for cell in cells if cell.isdecimal()]
    if any(names.counts_processors(item.name) for item in others) or len(set(counts)) < 2 or min(counts) < 1:
        return False
    if columns[0].name != "row number":
        return True
    measured = [item for item in columns if item.role == "metric"]
    found = values.numbers(measured, rows) if measured else []
    return len(found) > 1 and all(one > _GAIN * last for one, last in zip(found[0], found[-1], strict=True))


def are_repetitions(found: Sequence[str]) -> bool:
    """Whether texts number the runs of one problem: ``run1``, ``trial 2``."""
    return all(names.plain(cell.strip().rstrip("0123456789").rstrip("_-# ")) in names.REPETITIONS for cell in found)
