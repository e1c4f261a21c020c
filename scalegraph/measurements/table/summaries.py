"""Rows that sum up others (``Total``, ``mean``) below the numbers of a column: they are no measurements."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.measurements.names import words as _words
from scalegraph.measurements.table.layout import is_missing, is_number

_WORDS = _words(
    "total totals sum subtotal mean average avg median min minimum max maximum std stddev sd stdev variance gesamt "
    "summe mittel mittelwert durchschnitt somme moyenne suma media"
)


def rows(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the rows with a word such as ``total`` in a column of numbers; *columns*: the cells of each."""
    found: set[int] = set()
    for cells in columns:
        words = [row for row, cell in enumerate(cells) if cell.strip().rstrip(":").lower() in _WORDS]
        if not words or len(words) > len(cells) / 2:
            continue
        marked = set(words)
        others = [cell for row, cell in enumerate(cells) if row not in marked and not is_missing(cell)]
        if others and all(map(is_number, others)):
            found |= marked
    return sorted(found)
