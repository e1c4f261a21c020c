"""Numbers on axes and in columns: one SI prefix for all that stand together, so that they can be compared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scalegraph.base.units import si, significant, thousands

# units that take a prefix themselves (12 ms, 3 MB); others follow a scaled number (12 k cycles)
_SI_UNITS = frozenset({"s", "B", "Hz", "op", "flop", "op/s", "flop/s", "B/s", "J", "W"})
_PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P", 6: "E"}
_COUNT_FROM = 1e5  # plain counts below this are written out


@dataclass(frozen=True)
class Measure:
    """How the numbers of one axis or column are written: divided by *divisor*, with *unit* in its head."""

    divisor: float
    unit: str
    places: int
    each: str | None = None  # numbers that cannot share a prefix: every one has its own, and this unit

    def number(self, value: float | None) -> str:
        """Return *value* (in base units) as the digits that stand in the column; missing is an en dash."""
        if value is None or math.isnan(value):
            return "–"
        if math.isinf(value):
            return "-∞" if value < 0 else "∞"
        if self.each is not None:
            return si(value, self.each) if value else "0"
        scaled = value / self.divisor
        smallest = 10.0**-self.places
        if scaled != 0 and abs(scaled) < smallest / 2:
            return f"< {smallest:.{self.places}f}" if scaled > 0 else "≈ 0"
        return thousands(scaled, self.places)

    def heading(self, name: str) -> str:
        """Return *name* with the unit behind it."""
        unit = self.unit.removesuffix(name.lower()).rstrip() if name else self.unit
        return f"{name} ({unit})" if unit else name


def measure(values: Iterable[float | int | None], unit: str) -> Measure:
    """Choose prefix and decimals for *values* of *unit* so that the largest shows four significant digits."""
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    largest = max((abs(v) for v in finite), default=0.0)
    whole = all(v == int(v) for v in finite)
    if unit.startswith("%"):
        return Measure(1.0, unit, 1)
    scaled = unit in _SI_UNITS or (largest >= _COUNT_FROM)
    power = _power(largest) if scaled else 0
    power = min(0, power) if unit == "s" else power
    if unit not in _SI_UNITS:
        power = max(0, power)
    divisor = 1000.0**power
    prefix = _PREFIXES[power]
    shown = prefix + unit if unit in _SI_UNITS else " ".join(part for part in (_WORDS.get(prefix, ""), unit) if part)
    if whole and power == 0:
        return Measure(divisor, shown, 0)
    digits = math.floor(math.log10(largest / divisor)) if largest else 0
    places = min(6, max(0, 3 - digits))
    there = [abs(v) for v in finite if v]
    lost = sum(v / divisor < 0.5 * 10.0**-places for v in there)
    if 8 * lost > len(there):
        # values over many decades: with one prefix for all, most would say "less than"
        return Measure(1.0, "" if unit in _SI_UNITS else unit, 0, unit if unit in _SI_UNITS else "")
    return Measure(divisor, shown, places)


_WORDS = {"k": "thousand", "M": "million", "G": "billion", "T": "10¹²", "P": "10¹⁵", "E": "10¹⁸"}


def _power(largest: float) -> int:
    return max(-4, min(6, math.floor(math.log10(largest) / 3 + 1e-12))) if largest else 0


def exact(value: float | None, unit: str = "") -> str:
    """Return one number on its own with its unit, as a tooltip says it."""
    if isinstance(value, int) or (value is not None and math.isfinite(value) and value == int(value) and unit == ""):
        return f"{thousands(int(value))} {unit}".rstrip()
    if value is None or unit in _SI_UNITS:
        return si(value, unit, 4)
    if not math.isfinite(value):
        return si(value, unit)
    if abs(value) < _COUNT_FROM:
        return f"{significant(value, 4)} {unit}".rstrip()
    return f"{si(value, '', 4)} {unit}".rstrip()
