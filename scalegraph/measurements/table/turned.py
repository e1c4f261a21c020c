"""Tables whose rows are what others have as columns: ``procs: 1 2 4`` above ``time [s]: 10 5.2 2.9``."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from scalegraph.measurements import names
from scalegraph.measurements.table import durations, layout

_MOST_ROWS = 60
_FEWEST = 2  # runs
_DELIMITERS = (",", ";", "\t", "|")


def as_table(lines: Sequence[str]) -> list[str] | None:
    """Return *lines* with rows and columns exchanged, as CSV; None if they are no such table.

    They are one if each begins with a name, all the rest are numbers, one name counts processors with whole numbers,
    and another is that of a time or of another measured value.
    """
    rows = [line for line in lines if line.strip() and not layout.is_comment(line)]
    if not 1 < len(rows) <= _MOST_ROWS:
        return None
    for cells in _ways(rows):
        if cells is not None and _is_turned(cells):
            return [_line(column) for column in zip(*cells, strict=True)]
    return None


def _ways(rows: Sequence[str]) -> Sequence[list[list[str]] | None]:
    """Return the rows as cells of one number, in each of the ways in which they may be divided."""
    found: list[list[list[str]] | None] = []
    for delimiter in _DELIMITERS:
        cells = [layout.cells(row.strip().strip("|") if delimiter == "|" else row, delimiter) for row in rows]
        found.append(cells if len({len(row) for row in cells}) == 1 else None)
    if all(":" in row or "=" in row for row in rows):
        parted = [row.replace("=", ":", 1).partition(":") if ":" not in row else row.partition(":") for row in rows]
        cells = [[name.strip(), *rest.replace(",", " ").split()] for name, _, rest in parted]
        found.append(cells if len({len(row) for row in cells}) == 1 else None)
    spaced = [row.split() for row in rows]
    found.append(spaced if len({len(row) for row in spaced}) == 1 else None)
    return found


def _is_turned(cells: Sequence[Sequence[str]]) -> bool:
    if len(cells[0]) <= _FEWEST or len({row[0] for row in cells}) < len(cells):
        return False
    counted = measured = False
    for name, *rest in cells:
        if not name or layout.is_number(name) or not all(map(_is_value, rest)):
            return False
        short, unit = names.without_unit(name)
        if names.counts_processors(short) and all(cell.isdecimal() for cell in rest):
            counted = True
        else:
            measured |= names.is_metric(short, unit)
    # `n,1,2,4` above `time,8,4,2` has a name for each column, too: there the first line is not one of processors
    return counted and measured


def _is_value(cell: str) -> bool:
    return layout.is_number(cell.rstrip("%x")) or layout.is_missing(cell) or durations.seconds(cell) is not None


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()
