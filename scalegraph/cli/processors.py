"""Parses lists of processor counts: ``1,2,4``, ``1-8``, ``1..64`` (doubling)."""

from __future__ import annotations

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.patterns import pattern

_NUMBER = pattern(r"\d{1,9}")
_RANGE = pattern(r"(\d{1,9})-(\d{1,9})")
_DOUBLING = pattern(r"(\d{1,9})\.\.(\d{1,9})")
_FORM = "expected counts as in 1,2,4 or 1-8 (every one) or 1..64 (doubling)"


def parse_processors(text: str, maximum: int, whose: str) -> list[int]:
    """Return the distinct processor counts in *text*, ascending.

    Raises `InputError` with a fault for every part that is not a count from 1 to *maximum*; *whose* names what sets the
    maximum (``machine 'ksr1'``).
    """
    found: set[int] = set()
    faults: list[Fault] = []
    for part in (piece.strip() for piece in text.split(",")):
        try:
            found.update(_part(part, maximum, whose))
        except ValueError as error:
            faults.append(Fault(str(error), key="-p"))
    if faults:
        raise InputError(faults)
    return sorted(found)


def _part(part: str, maximum: int, whose: str) -> list[int]:
    if _NUMBER.fullmatch(part):
        counts = (int(part), int(part))
    elif match := _RANGE.fullmatch(part) or _DOUBLING.fullmatch(part):
        counts = (int(match[1]), int(match[2]))
    else:
        raise ValueError(f"'{part}' is not a processor count; {_FORM}")
    for count in counts:
        if not 1 <= count <= maximum:
            raise ValueError(f"{count} processors: expected 1 to {maximum}, the limit of {whose}")
    low, high = counts
    if low > high:
        raise ValueError(f"'{part}' runs backwards; {_FORM}")
    if ".." not in part:
        return list(range(low, high + 1))
    doubled = [low]
    while doubled[-1] * 2 <= high:
        doubled.append(doubled[-1] * 2)
    return doubled
