"""How the numbers of columns beside each other compare: they fall, they differ, or they are the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from scalegraph.measurements.table.layout import NUMBER

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
    """Return the numbers of *group* in each row where all are plain numbers."""
    places = [column.index for column in group]
    return [
        [_float(row[index]) for index in places]
        for row in rows
        if len(row) > max(places) and all(NUMBER.fullmatch(row[index].strip()) for index in places)
    ]


def _float(cell: str) -> float:
    """Return a number, with D in its exponent as Fortran writes it."""
    return float(cell.replace("D", "E").replace("d", "e"))
