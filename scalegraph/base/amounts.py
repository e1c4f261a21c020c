"""Human-readable amounts, ``64 KiB``, ``20 ms``, ``2e6 cycles``: parsing and formatting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from scalegraph.base.patterns import pattern
from scalegraph.base.units import as_read

# A single letter is binary, as in other command line tools; with a B it is what it says.
_BYTES: Final = {
    "": 1,
    "b": 1,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_SECONDS: Final = {"": 1.0, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_QUANTITY: Final = pattern(r"^\s*([0-9][0-9_ ]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([A-Za-zµ]*)\s*$")
_CYCLES: Final = ("cycle", "cycles")


def size(text: str) -> int:
    """Parse bytes: ``64 KiB``, ``8 GB``, ``512M`` or a plain number. Raises `ValueError`."""
    return round(_quantity(text, _BYTES, "a size in bytes, like 500 MB or 8 GiB"))


def size_text(value: float) -> str:
    """Format bytes with the largest unit that gives a short number."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        whole = value / _BYTES[unit.lower()]
        if whole >= 1 and float(f"{whole:.6g}") == whole:
            return f"{whole:g} {unit}"
    return as_read(value)


def duration(text: str) -> float:
    """Parse seconds: ``0.5``, ``20 ms``, ``5 min``. Raises `ValueError`."""
    return _quantity(text, _SECONDS, "a time, like 0.5 s, 20 ms or 5 min")


def duration_text(value: float) -> str:
    """Format seconds in a form that `duration` parses."""
    for unit in ("h", "min", "s", "ms", "µs"):
        count = value / _SECONDS[unit]
        if count >= 1 and float(f"{count:.6g}") * _SECONDS[unit] == value:
            return f"{count:g} {unit}"
    return f"{as_read(value)} s"


def cycles(text: str, clock_hz: float) -> int:
    """Parse a time, in seconds or in cycles, and return it in cycles at *clock_hz*: ``20 ms``, ``2e6 cycles``.

    Raises `ValueError`.
    """
    match = _QUANTITY.match(text)
    if match is not None and match[2].lower() in _CYCLES:
        return round(_number(match))
    return round(_quantity(text, _SECONDS, "a time, like 0.5 s, 20 ms or 2e6 cycles") * clock_hz)


def _quantity(text: str, units: Mapping[str, float], expected: str) -> float:
    match = _QUANTITY.match(text)
    if match is None or match[2].lower() not in units:
        raise ValueError(
            f"{expected} was expected, got '{text.strip()}'" if text.strip() else f"{expected} was expected"
        )
    return _number(match) * units[match[2].lower()]


def _number(match: re.Match[str]) -> float:
    return float(match[1].replace(" ", "").replace("_", ""))
