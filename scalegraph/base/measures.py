"""Numbers shown together on an axis or in a column: one SI prefix for all, so that they can be compared.

The window, pictures, reports and tables all format their numbers with this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from scalegraph.base.units import PREFIXES, si, significant, thousands

# units that take a prefix (12 ms, 3 MB); others follow a scaled number (12 thousand cycles)
SI_UNITS = frozenset({"s", "B", "Hz", "op", "flop", "op/s", "flop/s", "B/s", "J", "W"})
_WORDS = {"k": "thousand", "M": "million", "G": "billion", "T": "10¹²", "P": "10¹⁵", "E": "10¹⁸"}
_COUNT_FROM = 1e5  # numbers with a unit such as cycles are written out below this
_WRITTEN_OUT = 1e9  # numbers without a unit (counts, parameters) are written out below this
_MOST_DIGITS, _MOST_PLACES = 7, 4  # of a number in a column
_PLAIN_TICKS = (1e-4, 1e7)  # an axis beyond these has powers of ten
_THOUSANDS_FROM = 1e4  # ticks have thin spaces between thousands
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Measure:
    """The number format of an axis or column: divided by *divisor*, with *unit* in its heading."""

    divisor: float
    unit: str
    places: int
    each: str | None = None  # if the numbers cannot share a prefix, each has its own, with this unit

    def number(self, value: float | None) -> str:
        """Return *value* (in base units) formatted for the column; an en dash if missing."""
        if value is None or math.isnan(value):
            return "–"
        if math.isinf(value):
            return "-∞" if value < 0 else "∞"
        if self.each is not None:
            small = not self.each and not self.unit and abs(value) < _WRITTEN_OUT
            return exact(value) if small else si(value, self.each) if value else "0"
        if value == 0:
            return "0"
        scaled = value / self.divisor
        smallest = 10.0**-self.places
        if scaled != 0 and abs(scaled) < smallest / 2:
            return f"< {smallest:.{self.places}f}" if scaled > 0 else "≈ 0"
        return thousands(scaled, self.places)

    def heading(self, name: str) -> str:
        """Return *name* followed by the unit, unless the name already ends with it."""
        unit = self.unit
        if name and not unit.startswith("%"):  # units of shares name their whole, and are never shortened
            unit = re.sub(rf"(^| ){re.escape(name.lower())}$", "", unit)
        return f"{name} ({unit})" if unit else name


def measure(values: Iterable[float | int | None], unit: str) -> Measure:
    """Choose prefix and decimals for a column of *values* of *unit*.

    The largest number shows four significant digits or more, the smallest two, so that none is merely "small"; if no
    prefix allows that, each number has its own. Whole numbers without a unit (parameters and counts) are unchanged up
    to a billion. Shares (units that begin with %) have one decimal.
    """
    finite = [float(v) for v in values if v is not None and math.isfinite(v)]
    if unit.startswith("%"):
        return Measure(1.0, unit, 1)
    largest = max((abs(v) for v in finite), default=0.0)
    power = _power(largest, unit)
    divisor, shown = 1000.0**power, _unit(power, unit)
    if power == 0 and all(v == int(v) for v in finite):
        return Measure(divisor, shown, 0)
    digits = math.floor(math.log10(largest / divisor)) if largest else 0
    places = min(6, max(0, 3 - digits))
    least = min((abs(v) / divisor for v in finite if v), default=1.0)
    wanted = 1 - math.floor(math.log10(least))
    if wanted <= places:
        return Measure(divisor, shown, places)
    if wanted <= _MOST_PLACES and max(digits, 0) + 1 + wanted <= _MOST_DIGITS:
        return Measure(divisor, shown, wanted)
    return Measure(1.0, "" if unit in SI_UNITS else unit, 0, unit if unit in SI_UNITS else "")


def axis_measure(values: Iterable[float | None], unit: str, *, logarithmic: bool = False) -> Measure:
    """Choose one prefix for an axis: that of the largest of *values*, on logarithmic axes that of the middle."""
    sizes = [abs(v) for v in values if v is not None and math.isfinite(v) and v]
    typical = max(sizes, default=0.0)
    if logarithmic and sizes:
        typical = math.sqrt(min(sizes)) * math.sqrt(max(sizes))
    if unit.startswith("%") or (logarithmic and unit not in SI_UNITS):
        return Measure(1.0, unit, 1)
    power = _power(typical, unit)
    digits = math.floor(math.log10(typical / 1000.0**power)) if typical else 0
    return Measure(1000.0**power, _unit(power, unit), min(6, max(0, 3 - digits)))


def needs_powers(values: Iterable[float], scale: str = "log10") -> bool:
    """Return whether an axis writes all its ticks as powers of ten; *values* are the ticks in the axis's unit.

    Powers of two (*scale* ``log2``) read badly in that form (2.05·10³), so they are written out up to larger values.
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    return bool(sizes) and (
        max(sizes) > (_WRITTEN_OUT if scale == "log2" else _PLAIN_TICKS[1]) or min(sizes) < _PLAIN_TICKS[0]
    )


def tick_text(value: float, *, powers: bool = False) -> str:
    """Return the text of a tick, in one form for a whole axis: ``0.0005``, ``2 000``; with *powers* ``5·10⁻⁴``."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-∞" if value < 0 else "∞"
    if powers:
        factor, _, power = f"{value:.3e}".partition("e")
        raised = f"10{str(int(power)).translate(_RAISED)}"
        factor = factor.rstrip("0").rstrip(".")
        return raised if factor == "1" else f"{factor}·{raised}"
    if value == int(value):
        return thousands(int(value)) if abs(value) >= _THOUSANDS_FROM else str(int(value))
    text = significant(value, 4)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power(largest: float, unit: str) -> int:
    """Return the power of 1000 by which numbers up to *largest* of *unit* are divided."""
    if not largest:
        return 0
    power = max(-4, min(6, math.floor(math.log10(largest) / 3 + 1e-12)))
    if unit in SI_UNITS:
        return min(0, power) if unit == "s" else power  # nobody counts in kiloseconds
    return max(0, power) if largest >= (_COUNT_FROM if unit else _WRITTEN_OUT) else 0


def _unit(power: int, unit: str) -> str:
    if unit in SI_UNITS:
        return PREFIXES[power] + unit
    return " ".join(part for part in (_WORDS.get(PREFIXES[power], ""), unit) if part)


def percent(share: float | None, places: int | None = None) -> str:
    """Return a share (0 to 1) in percent; an en dash if unknown.

    In sentences it has two digits (``12 %``); with *places*, for a column or a number that is updated, a fixed number
    of decimals (``12.3 %``, ``< 0.1 %``).
    """
    if share is None or not math.isfinite(share):
        return "–"
    if places is not None:
        return f"{Measure(1.0, '%', places).number(100 * share)}\u00a0%"
    return f"{significant(100 * share, 2 if abs(share) < 0.9995 else 3)}\u00a0%"


def reach(error: float) -> str:
    """Return a relative half width of an interval in percent, in two digits: ``1.2 %``; ``< 0.01 %`` below that."""
    return "< 0.01\u00a0%" if 0 < error < 1e-4 else percent(error)


def exact(value: float | None, unit: str = "") -> str:
    """Return a single number with its unit, as in a tooltip."""
    if isinstance(value, int) or (value is not None and math.isfinite(value) and value == int(value) and unit == ""):
        return f"{thousands(int(value))} {unit}".rstrip()
    if value is None or unit in SI_UNITS:
        return si(value, unit, 4)
    if not math.isfinite(value):
        return si(value, unit)
    if abs(value) < _COUNT_FROM:
        return f"{significant(value, 4)} {unit}".rstrip()
    return f"{si(value, '', 4)} {unit}".rstrip()
