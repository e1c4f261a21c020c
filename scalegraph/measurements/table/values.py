"""How the numbers of columns beside each other compare: they fall, they differ, or they are the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from scalegraph.measurements.table.layout import COMMA_NUMBER, NUMBER

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column


def fall(group: Sequence[Column], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the numbers of every row fall from each column of *group* to the next, by a third at least in all."""
    found = numbers(group, rows)
    return bool(found) and all(
        each[-1] < each[0] / 1.5 and all(one > two for one, two in pairwise(each)) for each in found
    )


def differ(group: Sequence[Column], rows: Sequence[Sequence[str]], least: float = 1.5) -> bool:
    """Whether the numbers of every row differ by a factor of *least*, unlike those of repetitions."""
    found = numbers(group, rows)
    return bool(found) and all(max(each) > least * min(each) for each in found)


def numbers(group: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return the numbers of *group* in each row where all are plain numbers.

    The only comma of a number is read as the decimal one: these numbers are compared, not kept.
    """
    places = [column.index for column in group]
    return [
        [_float(row[index]) for index in places]
        for row in rows
        if len(row) > max(places) and all(_is_plain(row[index].strip()) for index in places)
    ]


def _is_plain(cell: str) -> bool:
    return bool(NUMBER.fullmatch(cell) or COMMA_NUMBER.fullmatch(cell))


def _float(cell: str) -> float:
    """Return a number, with D in its exponent as Fortran writes it."""
    return float(cell.replace(",", ".").replace("D", "E").replace("d", "e"))
