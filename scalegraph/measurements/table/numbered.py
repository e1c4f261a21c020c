"""Columns that number the rows of each point: iterations, steps and epochs are repetitions, or parts of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.measurements import names

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_TURNS = names.words("iteration iter it step timestep epoch cycle frame pass sweep round loop")
_WHY = "numbers the rows of each point ({0}): repetitions, or parts of one run that are problems of their own"
_UNSURE = 0.5


def turns(columns: list[Column], rows: Sequence[Sequence[str]]) -> list[Column]:
    """Return the columns; one that counts 0, 1, .. or 1, 2, .. at every point is likely the repetition, but unsure."""
    numbering = [item for item in columns if item.role == "repetition"]
    if len(numbering) > 1:  # `repetitions` is 5 in every row beside `repetition_index`
        same = [item for item in numbering if len({row[item.index] for row in rows if len(row) > item.index}) == 1]
        counts = same if len(same) < len(numbering) else []
        why = "how many repetitions there are"
        return [replace(item, role="skip", confidence=0.8, why=why) if item in counts else item for item in columns]
    if numbering:
        return columns
    keys = [item.index for item in columns if item.role in ("parameter", "call_path", "metric_name")]
    made = []
    for item in columns:
        if item.role == "parameter" and item.kind == "count" and names.plain(item.name) in _TURNS:
            others = [index for index in keys if index != item.index]
            whole = [row for row in rows if len(row) > max([item.index, *others])]
            if listed := _counting([row[item.index] for row in whole], [tuple(r[i] for i in others) for r in whole]):
                item = replace(item, role="repetition", confidence=_UNSURE, why=_WHY.format(listed))
        made.append(item)
    return made


def _counting(numbers: Sequence[str], points: Sequence[tuple[str, ...]]) -> str:
    """Return the *numbers* in words if they count from 0 or 1, each once at every one of several *points*."""
    if not all(cell.isascii() and cell.isdecimal() and len(cell) < 7 for cell in numbers):
        return ""
    each = Counter(zip(numbers, points, strict=True))
    known = sorted({int(cell) for cell in numbers})
    runs = len(set(points))
    counted = len(known) > 1 and known == list(range(known[0], known[0] + len(known))) and known[0] in (0, 1)
    if not counted or runs < 2 or len(each) != len(known) * runs or max(each.values()) > 1:
        return ""
    return ", ".join(map(str, known[:3])) + (", .." if len(known) > 3 else "")
