"""What stands behind the number in a cell: ``1.92x``, ``96 %``, ``3.2 GB/s``, ``4 threads``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from scalegraph.measurements import names, rates
from scalegraph.measurements.model import Metric
from scalegraph.measurements.table.layout import is_missing, is_number

_LONGEST = 40  # characters of such a cell
_CELL = re.compile(r"([+-]?[\d.,]*\d\.?(?:[eE][+-]?\d+)?)\s*([^\s\d.,+-].*)")
_TIMES = frozenset({"x", "X", "\u00d7", "fold"})
_BYTES = re.compile(r"[KMGT]?i?B(?:ytes?)?", re.IGNORECASE)


def _parts(cell: str) -> tuple[str, str] | None:
    """Return number and suffix of a cell, None of any other."""
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
    """Return a suffix as those of a column are compared: `thread` and `threads` are one."""
    return suffix[:-1] if names.counts_processors(suffix) and len(suffix) > 2 and suffix.endswith("s") else suffix


def of_all(cells: Sequence[str]) -> str:
    """Return the suffix of all *cells* that are not missing, as the last has it; empty where they differ."""
    found = ""
    for cell in cells:
        if is_missing(cell):
            continue
        parts = _parts(cell)
        if parts is None or (found and _one(parts[1]) != _one(found)) or not _known(parts[1]):
            return ""
        found = parts[1]
    return found


def differ(cells: Sequence[str]) -> bool:
    """Whether *cells* are numbers with known suffixes that are not all the same: ``900 MB/s`` and ``1.2 GB/s``."""
    there = [_parts(cell) for cell in cells if not is_missing(cell)]
    return len(there) > 1 and all(parts is not None and _known(parts[1]) for parts in there)


def without(cell: str, suffix: str) -> str:
    """Return a cell without the *suffix* of its column; as it is where it has another."""
    parts = _parts(cell)
    return parts[0] if parts is not None and _one(parts[1]) == _one(suffix) else cell


def is_bytes(suffix: str) -> bool:
    """Whether a suffix is a number of bytes."""
    return bool(_BYTES.fullmatch(suffix))


def unit(suffix: str) -> str:
    """Return the unit that a suffix is: none of `x` and of what is counted."""
    return "" if suffix in _TIMES or names.counts_processors(suffix) else suffix
