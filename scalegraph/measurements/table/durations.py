"""Durations as people and clocks write them: ``00:08:01``, ``8m1.5s``, ``1-02:03:04`` (Slurm), ``PT8M1.5S`` (ISO)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
_CLOCK = re.compile(
    r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d{1,3}):(?P<seconds>\d{1,2}(?:[.,]\d+)?)", re.ASCII
)
_SLURM = re.compile(r"(?P<days>\d+)-(?P<hours>\d{1,2})(?::(?P<minutes>\d{1,2}))?", re.ASCII)  # days-hours:minutes
_ISO = re.compile(
    rf"P(?:(?P<days>{_NUMBER})D)?(?:T(?:(?P<hours>{_NUMBER})H)?(?:(?P<minutes>{_NUMBER})M)?(?:(?P<seconds>{_NUMBER})S)?)?",
    re.ASCII,
)
_WORDS = re.compile(
    rf"(?:(?P<days>{_NUMBER})\s*d(?:ays?)?)?\s*(?:(?P<hours>{_NUMBER})\s*h(?:(?:ou)?rs?)?)?\s*"
    rf"(?:(?P<minutes>{_NUMBER})\s*m(?P<min>in(?:ute)?s?)?)?\s*"
    rf"(?:(?P<seconds>{_NUMBER})\s*s(?:ec(?:ond)?s?)?)?\s*(?:(?P<ms>{_NUMBER})\s*ms)?",
    re.ASCII,
)
_SHORT = re.compile(rf"(?P<value>{_NUMBER})\s*(?P<unit>us|\u00b5s|\u03bcs|ns)", re.ASCII)
_LONGEST = 60  # characters of a duration
_PARTS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "ms": 1e-3}


def seconds(text: str, *, minutes: bool = False) -> float | None:
    """Return the seconds of a duration, None for anything else, including plain numbers.

    Of two parts (``8:01``) the first are minutes, as written by ``time`` and Slurm; a single part needs a unit. ``8m``
    alone, which may be metres, is a duration only if it can only be *minutes*.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    if found := _SHORT.fullmatch(text):
        return _number(found["value"]) * (1e-9 if found["unit"] == "ns" else 1e-6)
    for pattern in (_CLOCK, _SLURM, _ISO, _WORDS):
        found = pattern.fullmatch(text)
        if found is None:
            continue
        parts = {name: _number(part) for name, part in found.groupdict().items() if part and name in _PARTS}
        if pattern is _CLOCK and not _fits(parts):
            return None
        if pattern is _WORDS and (not parts or (set(parts) == {"minutes"} and not found["min"] and not minutes)):
            return None
        return sum(_PARTS[name] * value for name, value in parts.items()) if parts else None
    return None


def _fits(parts: dict[str, float]) -> bool:
    """Whether the parts of a clock are below the next larger unit: ``00:75`` is not a time."""
    return parts["seconds"] < 60 and ("hours" not in parts or parts["minutes"] < 60)


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def are_all(cells: Sequence[str], *, timed: bool = False) -> bool:
    """Whether every one of *cells* is a duration; ``15m`` is one beside others, or if the column is *timed*."""
    if not cells:
        return False
    first = seconds(cells[0], minutes=True)
    if first is None:
        return False
    minutes = timed or any(seconds(cell) is not None for cell in cells)
    return all(seconds(cell, minutes=minutes) is not None for cell in cells)
