"""Rows that sum up others (``Total``, ``mean``) below the numbers of a column: they are not measurements."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.measurements.names import words as _words
from scalegraph.measurements.table.layout import is_missing, is_number

WORDS = _words(
    "total totals sum subtotal mean average avg median min minimum max maximum std stddev sd stdev variance gesamt "
    "summe mittel mittelwert durchschnitt somme moyenne suma media"
)


def is_word(cell: str) -> bool:
    """Whether *cell* is a word such as ``total``."""
    return cell.strip().rstrip(":").lower() in WORDS


def rows(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the rows with a word such as ``total`` in a column of numbers; *columns*: the cells of each.

    In a column of texts (hosts, say) the word counts only in rows without a number that all other rows have.
    """
    found: set[int] = set()
    for cells in columns:
        marked = {row for row, cell in enumerate(cells) if is_word(cell)}
        if not marked or len(marked) > len(cells) / 2:
            continue
        others = [cell for row, cell in enumerate(cells) if row not in marked and not is_missing(cell)]
        if others and all(map(is_number, others)):
            found |= marked
        else:
            found |= {row for row in marked if _lacks(columns, row, marked)}
    return sorted(found)


def _lacks(columns: Sequence[Sequence[str]], row: int, marked: set[int]) -> bool:
    """Whether a column of whole numbers is empty in *row*, but filled in every row that is not *marked*."""
    for cells in columns:
        others = [cell for at, cell in enumerate(cells) if at not in marked]
        if row < len(cells) and is_missing(cells[row]) and others and all(cell.isdecimal() for cell in others):
            return True
    return False
