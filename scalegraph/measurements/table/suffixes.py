"""Suffixes of numbers in cells: ``1.92x``, ``96 %``, ``3.2 GB/s``, ``4 threads``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from scalegraph.measurements import names, rates
from scalegraph.measurements.model import Metric
from scalegraph.measurements.table.layout import is_missing, is_number

_LONGEST = 40  # characters of such a cell
_CELL = re.compile(r"([+-]?[\d.,]*\d\.?(?:[eE][+-]?\d+)?)\s*([^\s\d.,+-].*)")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
HOURS = "hh:mm"  # the suffix of clock times whose two parts are hours and minutes, as the column's name says
_TWO_PARTS = re.compile(r"\d+:\d\d")
_HOURS_NAMED = re.compile(r"\bh{1,2}:m{1,2}\b(?!:)", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<k>[kK]?)")
_TIMES = frozenset({"x", "X", "\u00d7", "fold"})
_BYTES = re.compile(r"[KMGT]?i?B(?:ytes?)?", re.IGNORECASE)


def _parts(cell: str) -> tuple[str, str] | None:
    """Split a cell into number and suffix; return None for any other cell."""
    if len(cell) > _LONGEST or not (found := _CELL.fullmatch(cell.strip())) or not is_number(found[1]):
        return None
    return found[1], found[2].strip()


@lru_cache(maxsize=1024)
def _known(suffix: str) -> bool:
    return (
        suffix in _TIMES
        or suffix == "%"
        or bool(_BYTES.fullmatch(suffix))
        or names.counts_processors(suffix)
        or rates.per(Metric("", suffix)) is not None
    )


def _one(suffix: str) -> str:
    """Return a suffix normalised for comparison: `thread` and `threads` are the same."""
    return suffix[:-1] if names.counts_processors(suffix) and len(suffix) > 2 and suffix.endswith("s") else suffix


def of_all(cells: Sequence[str]) -> str:
    """Return the common suffix of all *cells* that are not missing, as in the last one; empty if they differ.

    Rates whose units differ by a factor (``900 MB/s``, ``1.2 GiB/s``) have a common one, too: see `without`.
    """
    found, mixed, grouped = "", False, False
    for cell in cells:
        if is_missing(cell):
            continue
        parts = _parts(cell)
        if parts is None or not _known(parts[1]):
            return ""
        grouped = grouped or bool(_GROUPED.fullmatch(parts[0]))  # 1,200: decimal comma or thousands
        if found and _one(parts[1]) != _one(found):
            if _factor(parts[1], found) is None:
                return ""
            mixed = True
        found = parts[1]
    return "" if mixed and grouped else found


@lru_cache(maxsize=1024)
def _factor(one: str, other: str) -> float | None:
    return rates.factor(one, other)


def of_hours(title: str, cells: Sequence[str]) -> str:
    """Return `HOURS` if a column is named ``walltime [hh:mm]`` and some of its cells have two parts, else empty."""
    named = _HOURS_NAMED.search(title) is not None
    return HOURS if named and any(_TWO_PARTS.fullmatch(cell.strip()) for cell in cells) else ""


def of_thousands(cells: Sequence[str]) -> str:
    """Return ``k = 1024`` or ``k = 1000``, where the counts beside numbers such as ``2k`` decide which it is.

    1024 beside powers of two up to 64 at least; 1000 beside round numbers from 100 on. Empty where neither, or both.
    """
    there = [_THOUSANDS.fullmatch(cell.strip()) for cell in cells if not is_missing(cell)]
    if not any(found and found["k"] for found in there) or not all(there):
        return ""
    plain = [int(found["number"]) for found in there if found and not found["k"] and found["number"].isdecimal()]
    twos = bool(plain) and max(plain) >= 64 and all(count and count & (count - 1) == 0 for count in plain)
    tens = any(count >= 100 and count % 50 == 0 for count in plain)
    return f"k = {1024 if twos else 1000}" if twos != tens else ""


def unclear_thousands(cells: Sequence[str]) -> str:
    """Return the first of *cells* such as ``2k`` if they may count in 1000 or in 1024; empty where they do not."""
    there = [cell.strip() for cell in cells if not is_missing(cell)]
    some = [cell for cell in there if (found := _THOUSANDS.fullmatch(cell)) and found["k"]]
    return some[0] if some and all(map(_THOUSANDS.fullmatch, there)) and not of_thousands(there) else ""


def are_mixed(cells: Sequence[str], suffix: str) -> bool:
    """Whether numbers in *cells* have other units than the *suffix* of their column."""
    there = [_parts(cell) for cell in cells if suffix and not is_missing(cell)]
    return any(parts is not None and _one(parts[1]) != _one(suffix) for parts in there)


def differ(cells: Sequence[str]) -> bool:
    """Whether *cells* are numbers with known but different suffixes: ``900 MB/s`` and ``1.2 GB/s``."""
    there = [_parts(cell) for cell in cells if not is_missing(cell)]
    return len(there) > 1 and all(parts is not None and _known(parts[1]) for parts in there)


def without(cell: str, suffix: str) -> str:
    """Return a cell without the *suffix* of its column; unchanged if it has another one.

    A rate in another unit is converted: ``900 MB/s`` in a column of GB/s is ``900e-3``. So is a count in thousands.
    """
    if suffix == HOURS:
        return f"{cell}:00" if _TWO_PARTS.fullmatch(cell.strip()) else cell
    if suffix.startswith("k = "):
        found = _THOUSANDS.fullmatch(cell.strip())
        return str(round(float(found["number"]) * int(suffix[4:]))) if found and found["k"] else cell
    parts = _parts(cell)
    if parts is None:
        return cell
    if _one(parts[1]) == _one(suffix):
        return parts[0]
    factor = _factor(parts[1], suffix)
    if factor is None:
        return cell
    power = math.log10(factor)
    number, _, said = parts[0].lower().partition("e")
    if power == round(power):
        return f"{number}e{round(power) + int(said or 0)}"
    made = repr(float(parts[0].replace(",", ".")) * factor)
    return made.replace(".", ",") if "," in number else made


def is_bytes(suffix: str) -> bool:
    """Whether a suffix means a number of bytes."""
    return bool(_BYTES.fullmatch(suffix))


def unit(suffix: str) -> str:
    """Return a suffix as a unit; empty for `x` and for counted things."""
    return (
        ""
        if suffix in _TIMES or suffix == HOURS or suffix.startswith("k = ") or names.counts_processors(suffix)
        else suffix
    )
