"""Cell texts of a column: the same on the screen, in pictures, reports, Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from scalegraph.base.measures import Measure, measure
from scalegraph.figures.figure import Column


def column_measure(values: Iterable[float | str | None], unit: str) -> Measure | None:
    """Return how to format the numbers among *values*, in *unit*; None without numbers."""
    numbers = [value for value in values if isinstance(value, int | float)]
    return measure(numbers, unit) if numbers else None


def column_measures(columns: Sequence[Column], cells: Sequence[Sequence[float | str | None]]) -> list[Measure | None]:
    """Return the number format of each of *columns*, whose values are *cells* (one sequence per column)."""
    found = []
    for column, own in zip(columns, cells, strict=True):
        like = [column.compared and one.compared and one.unit == column.unit for one in columns]
        shared = [value for there, some in zip(like, cells, strict=True) if there for value in some]
        found.append(column_measure(shared or own, column.unit))
    return found


def column_heading(how: Measure | None, name: str, unit: str) -> str:
    """Return the heading of a column in the format *how*; without numbers the *unit* stays as it is."""
    return (how or measure((), unit)).heading(name)


def cell_text(how: Measure | None, value: float | str | None) -> str:
    """Return the text of a cell: words are unchanged; a missing value is empty in a column of words."""
    if isinstance(value, str):
        return value
    return "" if how is None else how.number(value)


def known(value: object, scale: float = 1.0) -> float | None:
    """Return the number *value* times *scale*; None if it is missing, not a number or infinite."""
    number = math.nan if value is None else float(value) * scale  # type: ignore[arg-type]
    return number if math.isfinite(number) else None
