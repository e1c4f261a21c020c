"""Converts text typed into the request panel into values and back; each error is one sentence."""

from __future__ import annotations

import json
import re
import shlex
from typing import Final

from scalegraph.base.amounts import duration, duration_text, size, size_text
from scalegraph.base.run import Value
from scalegraph.link import loops
from scalegraph.request.model.programs import written

__all__ = [
    "duration",
    "duration_text",
    "items",
    "number",
    "numbers",
    "processors",
    "processors_text",
    "real",
    "size",
    "size_text",
    "values",
    "values_text",
    "whole",
    "words",
    "words_text",
]

# Between commas: quoted text, or anything.
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_ITEM: Final = re.compile(rf"(?:^|(?<=,))(\s*{_QUOTED.pattern}\s*(?=,|$)|[^,]*)")
_LARGEST_RANGE: Final = 4096


def processors(text: str) -> tuple[int, ...]:
    """Return the processor counts in *text*, sorted and unique: ``1, 2, 4, 8``, ``1-16`` or both.

    Raises `ValueError` naming the word that is not a count.
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
            raise ValueError(f"'{word}' is not a range; the smaller number comes first, like 1-16")
        found.update(range(low, high + 1))
    if not found:
        raise ValueError("processor counts were expected, like 1, 2, 4, 8 or 1-16")
    return tuple(sorted(found))


def processors_text(counts: tuple[int, ...]) -> str:
    """Return processor counts as text that `processors` reads."""
    return ", ".join(map(str, counts))


def numbers(text: str, span: str, like: str) -> tuple[int, ...]:
    """Return the whole numbers in *text*, each once; raise `ValueError` with their range and an example."""
    words = text.replace(",", " ").split()
    for word in words:
        if not word.isdecimal():
            raise ValueError(f"'{word}' was given; expected whole numbers, {span}, like {like}")
    return tuple(dict.fromkeys(map(int, words)))


def number(text: str) -> Value:
    """Return *text* as a number (``12``, ``0.5``, ``1e6``; whole numbers as int), otherwise as text."""
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
    """Return a parameter's value, or several separated by commas (a sweep). Raises `ValueError` if empty.

    Double quotes mark text: ``"007"``, ``"a,b"``.
    """
    words = [word.strip() for word in _ITEM.findall(text)]
    if not text.strip() or not all(words):
        raise ValueError("expected a value, or several separated by commas")
    read = tuple(_quoted(word) if _QUOTED.fullmatch(word) else number(word) for word in words)
    return read[0] if len(read) == 1 else read


def _quoted(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        raise ValueError(f"{word} is not a quoted text; write a backslash twice") from None


def values_text(value: Value | tuple[Value, ...]) -> str:
    """Return a parameter as text that `values` reads."""
    items = value if isinstance(value, tuple) else (value,)
    return ", ".join(_item(item) for item in items)


def _item(value: Value) -> str:
    """Return *value* as typed; text that would be read as something else is quoted."""
    if not isinstance(value, str):
        return written(value)
    plain = _ITEM.findall(value) == [value] and value.strip() == value and not value.startswith('"')
    return value if plain and value and number(value) == value else json.dumps(value, ensure_ascii=False)


def real(text: str, what: str) -> float:
    """Return *text* as a number. Raises `ValueError`; *what* names the expected value."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{what} was expected, got '{text.strip()}'" if text.strip() else f"{what} was expected"
        ) from None


def whole(text: str, what: str) -> int:
    """Return *text* as a whole number. Raises `ValueError`; *what* names the expected value."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{what} was expected, got '{text.strip()}'" if text.strip() else f"{what} was expected"
        ) from None


def words(text: str) -> tuple[str, ...]:
    """Split a command line as a shell would. Raises `ValueError` if a quotation mark is not closed."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise ValueError("a quotation mark is not closed") from None


def words_text(items: tuple[str, ...]) -> str:
    """Join words as `words` reads them; braces around parameters are not quoted."""
    return " ".join(item if re.fullmatch(r"[\w{}./:=,+@%-]+", item) else shlex.quote(item) for item in items)


def items(typed: str, axis: str) -> list[str]:
    """Return a list's unique values; flags and schedules with parameters are separated by semicolons."""
    if axis == "schedule" and ";" not in typed:
        try:
            return list(loops.alternatives(typed)) if typed.strip() else []
        except ValueError:
            return [one.strip() for one in typed.split(",") if one.strip()]
    separator = ";" if axis in ("schedule", "cflags") else ","
    return list(dict.fromkeys(one.strip() for one in typed.split(separator) if one.strip()))
