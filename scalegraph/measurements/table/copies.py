"""Columns that repeat another one: the same name and the same numbers in every row, perhaps in another unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.measurements.mapping import SECONDS
from scalegraph.measurements.table import durations, suffixes
from scalegraph.measurements.table.layout import NUMBER

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_SAME = 1e-9  # relative


def left_out(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns; a measured one with the name and numbers of an earlier one is left out, not a repetition."""
    made: list[Column] = []
    for item in columns:
        if item.role == "metric" and item.repetition is None:
            earlier = [one for one in made if one.role == "metric" and one.name == item.name and one.repetition is None]
            mine = _seconds(item, rows)
            same = next((one for one in earlier if mine and _alike(mine, _seconds(one, rows))), None)
            if same is not None:
                why = f"the same numbers as column {same.index + 1}"
                item = replace(item, role="skip", confidence=0.9, why=why)
        made.append(item)
    return made


def _alike(one: Sequence[float], two: Sequence[float]) -> bool:
    return len(one) == len(two) > 1 and all(
        abs(a - b) <= _SAME * max(abs(a), abs(b)) for a, b in zip(one, two, strict=True)
    )


def _seconds(item: Column, rows: Sequence[Sequence[str]]) -> list[float]:
    """Return the numbers of a column, times in seconds; empty if a cell is none."""
    made = []
    for row in rows:
        cell = row[item.index].strip() if item.index < len(row) else ""
        spent = durations.seconds(cell) if item.kind == "duration" else None
        plain = suffixes.without(cell, item.suffix) if item.suffix else cell
        if spent is None and not NUMBER.fullmatch(plain):
            return []
        number = float(plain.lower().replace("d", "e")) if spent is None else spent
        made.append(number if spent is not None else number * SECONDS.get(item.unit.lower(), 1.0))
    return made
