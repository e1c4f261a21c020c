"""Formatting of numbers: three or four significant digits, SI prefixes, units."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable

PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P", 6: "E"}


def si(value: float | None, unit: str = "", digits: int = 3) -> str:
    """Return *value* with an SI prefix and *unit*: ``si(0.00123, "s") == "1.23 ms"``; an en dash if missing."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}∞ {unit}".rstrip()
    power = 0
    if value != 0:
        power = max(-5, math.floor(math.log10(abs(value)) / 3))  # the smallest float has no power of 1000 to divide by
        # rounding may carry into the next prefix: 999.9 with 3 digits is 1.00 k
        if float(f"{abs(value) / 1000.0**power:.{digits}g}") >= 1000:
            power += 1
        power = max(-4, min(0 if unit == "s" else 6, power))  # nobody counts in kiloseconds
    if unit == "" and power < 0:
        power = 0  # a bare number has no prefix that makes it smaller: 0.0005, not 500 µ
    return f"{significant(value / 1000.0**power, digits)} {PREFIXES[power]}{unit}".rstrip()


def significant(value: float, digits: int = 3) -> str:
    """Return *value* with *digits* significant digits, without an exponent between 1e-4 and 1e15."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    value = float(f"{value:.{digits}g}")  # rounding may carry: 0.9999 is 1.00
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if places > digits + 3 or places < -15:
        return f"{value:.{digits}g}"
    return f"{value:.{max(0, places)}f}"


def thousands(value: float, places: int = 0) -> str:
    """Return a number with *places* decimals and thin spaces between thousands."""
    text = f"{value:,}" if isinstance(value, int) and not places else f"{value:,.{places}f}"
    return text.replace(",", "\u202f")


def plain(value: object) -> str:
    """Return a parameter's value as text: strings and integers unchanged, others with six digits: ``107.8``."""
    if hasattr(value, "item"):
        value = value.item()  # a numpy scalar
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return si(value)
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = significant(value, max(6, math.floor(math.log10(abs(value))) + 2))
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def as_read(value: float) -> str:
    """Return the shortest text that parses back to exactly *value*: ``2`` for 2.0, ``0.1``, ``1e+16``."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def assigned(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names with values as text: ``n = 200, tolerance = 0.5``."""
    return ", ".join(f"{name} = {plain(value)}" for name, value in pairs)


def stacked(heading: str) -> str:
    """Return a column heading split into two lines if its unit names what shares refer to: ``(% of misses)``."""
    return heading.replace(" (% of ", "\n(% of ")


def narrow(heading: str, width: int = 12) -> str:
    """Return a column heading in lines of *width* characters if words allow, with the unit on its own lines."""
    text = heading.replace("\n", " ")
    if len(text) <= width:
        return text
    name, _, unit = text.partition(" (")
    parts = [name, *([f"({unit}"] if unit else [])]
    return "\n".join(line for part in parts for line in textwrap.wrap(part, width, break_long_words=False))


def counted(number: int, what: str) -> str:
    """Return a count with its noun: ``1 run``, ``2 runs``; *what* is the singular."""
    return f"{thousands(int(number))} {what if number == 1 else plural(what)}"


def plural(word: str) -> str:
    """Return the plural of a countable noun: processors, processes, memories."""
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}es" if word.endswith("s") else f"{word}s"


def seconds(value: float | None) -> str:
    """Return a duration as text: ``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if value is None or not math.isfinite(value):
        return "unknown"
    if value < 10:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
