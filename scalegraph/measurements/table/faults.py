"""All faults of a table at once: rows of another length, cells without a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.table.columns import Column
from scalegraph.measurements.table.rows import Rows

_MOST = 20
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
    ordered = sorted(found.values(), key=lambda fault: (fault.line or 0, fault.key))
    lines = list(dict.fromkeys(fault.line for fault in ordered))
    if len(lines) > 1 and len(ordered) <= _MOST:
        marks = " ".join(f"--cell {line}=skip" for line in lines)
        message = f"{ordered[0].message}; {marks} leaves out all {len(lines)} rows with a fault"
        ordered[0] = replace(ordered[0], message=message)
    if len(ordered) > _MOST:
        last = ordered[_MOST - 1]
        more = f"{len(ordered) - _MOST + 1} more faults from here on"
        ordered = [*ordered[: _MOST - 1], replace(last, message=more)]
    return ordered


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
