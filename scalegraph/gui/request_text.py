"""What people type into the request panel, read into values and written back; every refusal is one sentence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

from scalegraph.base.run import Value

_BYTES: Final = {
    "": 1,
    "b": 1,
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
_QUANTITY: Final = re.compile(r"^\s*([0-9][0-9_ ]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*([A-Za-zµ]*)\s*$")
_LARGEST_RANGE: Final = 4096


def processors(text: str) -> tuple[int, ...]:
    """Read processor counts: ``1, 2, 4, 8`` or ``1-16`` or both; sorted, each once.

    Raises `ValueError` naming the word that is no count.
    """
    found: set[int] = set()
    for word in text.replace(",", " ").replace(";", " ").split():
        first, dash, last = word.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"'{word}' is not a processor count; whole numbers were expected, like 1, 2, 4, 8 or 1-16")
        low, high = int(first), int(last) if dash else int(first)
        if low < 1:
            raise ValueError(f"a processor count must be at least 1, got {word}")
        if high < low or high - low > _LARGEST_RANGE:
            raise ValueError(f"'{word}' is not a range; from small to large was expected, like 1-16")
        found.update(range(low, high + 1))
    if not found:
        raise ValueError("processor counts were expected, like 1, 2, 4, 8 or 1-16")
    return tuple(sorted(found))


def processors_text(counts: tuple[int, ...]) -> str:
    """Write processor counts as `processors` reads them."""
    return ", ".join(map(str, counts))


def number(text: str) -> Value:
    """Read ``12``, ``0.5`` or ``1e6`` (a whole number stays one); anything else is text as it stands."""
    word = text.strip()
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        return word
    return int(value) if value.is_integer() and abs(value) < 2**53 and "." not in word else value


def values(text: str) -> Value | tuple[Value, ...]:
    """Read a parameter: one value, or several with commas between them (a sweep). Raises `ValueError` if empty."""
    words = [word.strip() for word in text.split(",")]
    if not text.strip() or not all(words):
        raise ValueError("a value was expected, or several with commas between them")
    read = tuple(number(word) for word in words)
    return read[0] if len(read) == 1 else read


def values_text(value: Value | tuple[Value, ...]) -> str:
    """Write a parameter as `values` reads it."""
    items = value if isinstance(value, tuple) else (value,)
    return ", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in items)


def size(text: str) -> int:
    """Read bytes: ``64 KiB``, ``8 GB`` or a plain number. Raises `ValueError`."""
    return round(_quantity(text, _BYTES, "a size in bytes, like 500 MB or 8 GiB"))


def size_text(value: float) -> str:
    """Write bytes with the largest unit that leaves a short number."""
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        whole = value / _BYTES[unit.lower()]
        if whole >= 1 and float(f"{whole:.6g}") == whole:
            return f"{whole:g} {unit}"
    return f"{value:.12g}"


def duration(text: str) -> float:
    """Read seconds: ``0.5``, ``20 ms``, ``5 min``. Raises `ValueError`."""
    return _quantity(text, _SECONDS, "a time, like 0.5 s, 20 ms or 5 min")


def duration_text(value: float) -> str:
    """Write seconds as `duration` reads them."""
    for unit in ("h", "min", "s", "ms", "µs"):
        count = value / _SECONDS[unit]
        if count >= 1 and float(f"{count:.6g}") == count:
            return f"{count:g} {unit}"
    return f"{value:g} s"


def _quantity(text: str, units: Mapping[str, float], expected: str) -> float:
    match = _QUANTITY.match(text)
    if match is None or match[2].lower() not in units:
        raise ValueError(
            f"{expected} was expected, got '{text.strip()}'" if text.strip() else f"{expected} was expected"
        )
    return float(match[1].replace(" ", "").replace("_", "")) * units[match[2].lower()]


def real(text: str, what: str) -> float:
    """Read a number; *what* says in words what was expected. Raises `ValueError`."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{what} was expected, got '{text.strip()}'" if text.strip() else f"{what} was expected"
        ) from None


def whole(text: str, what: str) -> int:
    """Read a whole number; *what* says in words what was expected. Raises `ValueError`."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{what} was expected, got '{text.strip()}'" if text.strip() else f"{what} was expected"
        ) from None


def words(text: str) -> tuple[str, ...]:
    """Split a command line as a shell would. Raises `ValueError` about an open quotation."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("a quotation mark is not closed") from None


def words_text(items: tuple[str, ...]) -> str:
    """Write words as `words` reads them; braces of parameters need no quotation."""
    return " ".join(item if re.fullmatch(r"[\w{}./:=,+@%-]+", item) else shlex.quote(item) for item in items)
