"""Reads ``--mapping KEY=VALUE``, which says how a table of measurements is read and what its names mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.pairs import pairs

if TYPE_CHECKING:
    from scalegraph.measurements.mapping import Question
    from scalegraph.measurements.table import TableChoices


def _one_of(*choices: str) -> Callable[[str], str]:
    def taken(value: str) -> str:
        if value not in choices:
            raise ValueError(f"one of {', '.join(choices)} was expected")
        return value

    return taken


def _line(value: str) -> int:
    if not value.isdecimal():
        raise ValueError("the number of a line was expected, 0 for none")
    return int(value)


def _character(value: str) -> str:
    return character(value)


def _hertz(value: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ValueError("a clock rate in Hz was expected, as in 2.4e9")
    return found


# statement about measurements -> field of the answers, and its type
KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "processors": ("processors", str),
    "time": ("time", str),
    "unit": ("unit", str),
    "clock": ("clock_hz", _hertz),
    "total": ("total", str),
    "values": ("extent", _one_of("inclusive", "exclusive")),
    "summed": ("summed", lambda value: _one_of("yes", "no")(value) == "yes"),
    "scaling": ("scaling", _one_of("strong", "weak")),
    "sizes": ("sizes", str),
    "rate": ("rate", str),
}
# of how a table is read, as the options of `scalegraph import`
_TABLE: dict[str, Callable[[str], Any]] = {
    "decimal": _one_of(".", ","),
    "across": str,
    "header": _line,
    "names": lambda value: tuple(part.strip() for part in value.split(",")),
    "delimiter": _character,
    "comment": str,
    "encoding": str,
}
_PAIRS = {"as": "COLUMN=METRIC", "column": "NAME=ROLE", "cell": "LINE:COLUMN=none"}  # repeatable
ALL = (*KEYS, *_TABLE, *_PAIRS)
_CHARACTERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|"}


def parsed(words: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers on the meaning of names in *words*, and those on how a table is read.

    Raises `InputError` for every invalid word.
    """
    said: dict[str, Any] = {}
    table: dict[str, Any] = {}
    listed: dict[str, list[str]] = {}
    faults = []
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in ALL:
            faults.append(Fault(f"'{word}': expected KEY=VALUE, KEY one of {', '.join(ALL)}", key="--mapping"))
            continue
        try:
            if key in KEYS:
                field, taken = KEYS[key]
                said[field] = taken(value)
            elif key in _TABLE:
                table[key] = _TABLE[key](value)
            else:
                listed.setdefault(key, []).append(value)
        except ValueError as error:
            faults.append(Fault(f"'{word}': {error}", key="--mapping"))
    if faults:
        raise InputError(faults)
    found = {key: pairs(f"--mapping {key}", values, _PAIRS[key], last=True) for key, values in listed.items()}
    if "as" in found:
        said["columns"] = found.pop("as")
    return said, table | {f"{key}s": value for key, value in found.items()}


def choices(said: dict[str, Any]) -> TableChoices:
    """Return how a table is read, from the second part of `parsed`."""
    from scalegraph.measurements.table import TableChoices

    return TableChoices(**said)


def character(word: str) -> str:
    """Return a delimiter from its name, or the character itself; raise `ValueError` for anything else."""
    found = _CHARACTERS.get(word, word)
    if len(found) > 1:
        raise ValueError(f"'{found}' is not a single character")
    return found


def answer(question: Question) -> str:
    """Return the guess for *question* as an argument of ``--mapping``; "" if that has no key for it."""
    key, _, column = question.key.partition(".")
    if column:
        return f"column={column}={question.guess or '..'}"
    word = next((word for word, (field, _) in KEYS.items() if field == key), key)
    return f"{word}={question.guess or '..'}" if word in ALL else ""
