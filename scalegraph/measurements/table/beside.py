"""What stands beside the columns of a wide table: its corner, the serial program, speedups of the same columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.measurements import names
from scalegraph.measurements.table.layout import is_number

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

_WHOLE = re.compile(r"\s*\d+(\.0+)?\s*")
_NUMBERED = re.compile(r"(?P<what>[A-Za-z][A-Za-z_ ]*?)[\s_(=-]*(?P<number>\d+)\)?")
_FOLLOWING = names.words("s e sp ep eff speedup speed_up efficiency parallel_efficiency")
_SERIAL = names.words("serial sequential seq ts t_s t_seq t_serial serial_time seq_time sequential_time time_seq")


def corner(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, str]:
    """Return what rows and columns stand for if the first title says it, as in ``sizes / threads``; else empty.

    So does ``threads`` above labels and beside 1, 2, 4, 8.
    """
    first = titles[0] if titles else ""
    down, _, across = (part.strip() for part in first.partition("\\"))
    if across:
        return down, across
    if len(titles) < 3 or not all(_WHOLE.fullmatch(one) for one in titles[1:]):
        return "", ""
    down, _, across = (part.strip() for part in first.partition("/"))
    if down and across and any(names.counts_processors(part) for part in (down, across)):
        return down, across
    labels = [row[0].strip() for row in rows if row]
    if names.counts_processors(first) and labels and all(text and not is_number(text) for text in labels):
        return "", first.strip()
    return "", ""


def wide(columns: list[Column], across: str) -> list[Column]:
    """Return the columns of a table that is wide over processors, with those that belong to them.

    A column called serial is the serial program, on 0 processors. Speedups and efficiencies of the same numbers of
    processors (``S2``, ``S4`` beside ``T1``, ``T2``, ``T4``) follow from the times, and are left out.
    """
    times = [item for item in columns if item.role == "wide"]
    if not times or not (names.counts_processors(across) or across == "processors"):
        return columns
    counts = {item.at for item in times}
    made = []
    for item in columns:
        numbered = _NUMBERED.fullmatch(item.name)
        serial = names.plain(item.name) in _SERIAL and item.kind in ("count", "number", "duration")
        if item.role == "wide":
            made.append(item)
        elif serial and item.unit in ("", times[0].unit) and 0 not in counts:
            why = "the serial program, beside columns of processors"
            unit, name = times[0].unit, times[0].name
            made.append(replace(item, name=name, unit=unit, role="wide", at=0, confidence=times[0].confidence, why=why))
        elif numbered and names.plain(numbered["what"]) in _FOLLOWING and int(numbered["number"]) in counts:
            made.append(replace(item, role="skip", confidence=0.8, why="follows from the times"))
        else:
            made.append(item)
    return made
