"""All faults of a table at once: rows of another length, cells without a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements import names
from scalegraph.measurements.table import layout
from scalegraph.measurements.table.columns import Column
from scalegraph.measurements.table.rows import Rows

_MOST = 20
_AGAIN = "holds names of columns again, as of a second table: give each table a file of its own"
_NUMERIC = ("metric", "wide", "value", "repetition")


def all_of(rows: Rows, first: Sequence[Fault]) -> list[Fault]:
    """Return the faults *first*, with all others of single cells, by line; the first says how to leave out them all.

    Faults that are about no line are returned alone, as the others may follow from them.
    """
    if not all(fault.line and fault.file == rows.file for fault in first):
        return list(first)
    found = {(fault.line, fault.key): fault for fault in first}
    for column in rows.guess.columns:
        if column.role in _NUMERIC or (column.role == "parameter" and column.kind in ("number", "count")):
            for fault in _of_column(rows, column):
                found.setdefault((fault.line, fault.key), fault)
    found = _second_tables(rows, found)
    ordered = sorted(found.values(), key=lambda fault: (fault.line or 0, fault.key))
    lines = list(dict.fromkeys(fault.line for fault in ordered))
    again = any(fault.message == _AGAIN for fault in ordered)  # leaving its names out would mix two tables
    if len(lines) > 1 and len(ordered) <= _MOST and not again:
        marks = " ".join(f"--cell {line}=skip" for line in lines)
        message = f"{ordered[0].message}; {marks} leaves out all {len(lines)} rows with a fault"
        ordered[0] = replace(ordered[0], message=message)
    if len(ordered) > _MOST:
        last = ordered[_MOST - 1]
        more = f"{len(ordered) - _MOST + 1} more faults from here on"
        ordered = [*ordered[: _MOST - 1], replace(last, message=more)]
    return ordered


def _second_tables(rows: Rows, found: dict[tuple[int | None, str], Fault]) -> dict[tuple[int | None, str], Fault]:
    """Return the faults, with one for each line of names below the first rows in place of those of its cells."""
    again = set()
    lines = {int(line): row for row, line in enumerate(rows.lines)}
    for line, row in lines.items():
        if (line, "") not in found and any(key[0] == line for key in found):
            cells = [str(rows.texts(column.index)[row].as_py()) for column in rows.guess.columns]
            words = [cell for cell in cells if cell]
            if len(words) > 1 and not any(map(layout.is_number, words)) and any(map(_is_name, words)):
                again.add(line)
    kept = {key: fault for key, fault in found.items() if key[0] not in again}
    return kept | {(line, ""): Fault(_AGAIN, file=rows.file, line=line) for line in again}


def _is_name(cell: str) -> bool:
    short, unit = names.without_unit(cell)
    return names.counts_processors(short) or names.is_metric(short, unit) or names.plain(short) in names.SIZES


def _of_column(rows: Rows, column: Column) -> Sequence[Fault]:
    try:
        numbers, infinite = rows.numbers(column)
    except InputError as error:
        return error.faults
    if column.role != "parameter":
        return ()
    wrong = np.flatnonzero((np.isnan(numbers) | infinite) & rows.filled())
    return [without_number(rows, int(row), column, infinite=bool(infinite[row])) for row in wrong[:_MOST]]


def without_number(rows: Rows, row: int, column: Column, *, infinite: bool) -> Fault:
    """Return the fault of a row whose parameter *column* has no number."""
    size = " from 1e-150 to 1e150, or 0," if infinite else ""
    line = int(rows.lines[row])
    message = f"a number{size} was expected in every row, as it tells runs apart; --cell {line}=skip leaves its row out"
    return rows.fault(row, column, message)
