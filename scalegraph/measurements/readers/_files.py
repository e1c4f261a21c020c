"""Shared parts of text and JSON readers: decoding, JSON with line and column, and checks that name the place."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.limits import LARGEST_JSON, LONGEST, LONGEST_JSON, check_lines
from scalegraph.measurements.reader import Progress


def read_bytes(path: Path) -> bytes:
    """Return the content of *path*; raise `InputError` if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error


def read_text(path: Path, *, lines: bool = True) -> str:
    """Return the text of *path*, which must be UTF-8; raise `InputError` with the line of the first invalid byte.

    A line too long for a run or record is refused (`limits`); without *lines* the file may be a whole JSON document on
    one line, with a larger limit.
    """
    if lines:
        check_lines(path, longest=LONGEST)
    else:
        expected = "JSON with line breaks, or of fewer runs, was expected"
        check_lines(path, longest=LONGEST_JSON, expected=expected)
        _check_size(path)
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = Fault(f"byte {error.start} is not UTF-8 text; expected text", file=str(path), line=line)
        raise InputError(fault) from error


def _check_size(path: Path) -> None:
    """Refuse a document of JSON that would take gigabytes of memory once parsed."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error
    if size > LARGEST_JSON:
        message = f"is JSON of {size >> 20} MiB; at most {LARGEST_JSON >> 20} MiB are read: divide it by its parameters"
        raise InputError(Fault(message, file=str(path)))


def first_line(head: bytes) -> str:
    """Return the first line of *head* that is neither empty nor a ``#`` comment, stripped."""
    for line in head.decode("utf-8-sig", "replace").splitlines():
        if line.strip() and not line.startswith("#"):
            return line.strip()
    return ""


def parse_json(text: str, file: str, line: int | None = None) -> Any:
    """Return the value of *text*. A name that occurs twice in an object is refused: one of the two would be lost.

    *line*: line number if the text is one line of a file.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = (error.lineno, error.colno) if line is None else (line, error.pos + 1)
        message = f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise InputError(Fault(message, file=file, line=place[0], column=place[1])) from error
    except _Twice as error:
        raise InputError(Fault(f"name '{error}' appears twice in one object", file=file, line=line)) from error
    except RecursionError as error:
        raise InputError(Fault("is nested too deeply", file=file, line=line)) from error
    except ValueError as error:  # a whole number with thousands of digits
        raise InputError(Fault("holds a number that is too long", file=file, line=line)) from error


class _Twice(Exception):  # noqa: N818 - carries a name out of the parser
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return result


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


class Checked:
    """Checks on parsed JSON; every fault names the file, the line if known, and the path in the JSON."""

    def __init__(self, file: str, line: int | None = None) -> None:
        self.file = file
        self.line = line

    def refuse(self, where: str, message: str) -> NoReturn:
        """Raise the fault."""
        raise InputError(Fault(message, file=self.file, line=self.line, key=where))

    def expected(self, where: str, what: str, found: object) -> NoReturn:
        """Raise the fault that *what* was expected and *found* was there."""
        self.refuse(where, f"expected {what}, found {describe(found)}")

    def mapping(self, value: object, where: str) -> dict[str, Any]:
        """Return *value* if it is an object."""
        return value if isinstance(value, dict) else self.expected(where, "an object", value)

    def sequence(self, value: object, where: str) -> list[Any]:
        """Return *value* if it is a list."""
        return value if isinstance(value, list) else self.expected(where, "a list", value)

    def text(self, value: object, where: str) -> str:
        """Return *value* if it is text."""
        return value if isinstance(value, str) else self.expected(where, "text", value)

    def member(self, value: dict[str, Any], name: str, where: str) -> Any:
        """Return member *name* of an object."""
        if name not in value:
            self.refuse(where, f"'{name}' is missing; expected it beside {', '.join(map(repr, list(value)[:5]))}")
        return value[name]

    def number(self, value: object, where: str) -> float:
        """Return *value* if it is a number; booleans are not."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.expected(where, "a number", value)
        try:
            return float(value)
        except OverflowError:
            self.expected(where, "a number that fits a double", value)

    def numbers(self, value: object, where: str) -> Sequence[float]:
        """Return *value* if it is a list of numbers, or a single number as a list."""
        if not isinstance(value, list):
            return [self.number(value, where)]
        if not value:
            self.refuse(where, "is an empty list; expected at least one number")
        if set(map(type, value)) == {float}:
            return value
        return [self.number(each, f"{where}[{index}]") for index, each in enumerate(value)]

    def coordinate(self, value: object, where: str) -> float | str:
        """Return *value* if it is a finite number or text."""
        if isinstance(value, str):
            return value
        return self.finite(value, where)

    def finite(self, value: object, where: str) -> float:
        """Return *value* if it is a finite number."""
        number = self.number(value, where)
        if not math.isfinite(number):
            self.expected(where, "a finite number", value)
        return number


def read_document(path: Path, cancel: CancelToken, progress: Progress) -> tuple[dict[str, Any], Checked]:
    """Return the JSON object in *path*, and the object that checks it; progress is then 0.5.

    Raises `InputError` if the file is not UTF-8 text, not JSON or not an object.
    """
    check = Checked(str(path))
    whole = check.mapping(parse_json(read_text(path, lines=False), str(path)), "")
    cancel.check()
    progress(0.5)
    return whole, check


def describe(value: object) -> str:
    """Return a description of a JSON value for display."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    text = f'"{value}"' if isinstance(value, str) else _digits(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _digits(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # thousands of digits
        return "a very long number"
