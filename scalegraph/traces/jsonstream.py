"""Reads JSON too large for memory: values are decoded one by one from a window of text."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from scalegraph.base.units import thousands
from scalegraph.traces.formats import Reading
from scalegraph.traces.text import blocks

_SPACE = " \t\r\n"
# times for which a double would lose nanoseconds: numbers are then decoded as `Decimal`
_LONG_TIME = re.compile(r'"ts"\s*:\s*-?\d{13,}\.\d')
_LARGEST = 32 << 20  # characters of one value; ScaleGraph's definitions are the largest


class JsonStream:
    """A window of text that moves through the file; *broken* after a fault that was only recorded."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._blocks = blocks(reading)
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._text, self._at, self._ended = "", 0, False
        self._decode, self._exact = json.JSONDecoder().raw_decode, False
        self.line, self._column, self._bytes = 1, 0, 0  # where the window begins; bytes decoded so far
        self.broken = False

    def _more(self) -> bool:
        """Append another block to the window; return whether there was one."""
        if self._ended:
            return False
        data = next(self._blocks, None)
        try:
            more = self._utf8.decode(data or b"", final=data is None)
        except UnicodeDecodeError as error:
            self._ended = self.broken = True
            self._reading.broken(f"byte {thousands(self._bytes + error.start)} of the text: UTF-8 was expected")
            return False
        self._bytes += len(data or b"")
        self.line, self._column = self._place(self._at)
        if not self._exact and _LONG_TIME.search(more):
            self._decode, self._exact = json.JSONDecoder(parse_float=_exactly).raw_decode, True
        self._text, self._at = self._text[self._at :] + more, 0
        self._ended = data is None
        return data is not None

    def _place(self, at: int) -> tuple[int, int]:
        """Return the line (from 1) and the character in it (from 0) of place *at* in the window."""
        before = self._text.rfind("\n", 0, at)
        column = at - before - 1 if before >= 0 else self._column + at
        return self.line + self._text.count("\n", 0, at), column

    def fail(self, message: str, at: int | None = None) -> None:
        """Report a fault at place *at* of the window, or at the current place.

        Raises `InputError`, unless readable parts are wanted.
        """
        if not self.broken:
            self.broken = True
            line, column = self._place(self._at if at is None else at)
            self._reading.broken(f"character {thousands(column + 1)}: {message}", line=line)

    def peek(self) -> str:
        """Return the next non-space character, or an empty string at the end."""
        while not self.broken:
            text, at = self._text, self._at
            length = len(text)
            while at < length and text[at] in _SPACE:
                at += 1
            self._at = at
            if at < length:
                return text[at]
            if not self._more():
                break
        return ""

    def take(self, character: str) -> None:
        """Step over *character*, which `peek` has returned."""
        self._at += len(character)

    def expect(self, character: str) -> bool:
        """Step over *character*, or report that it was expected."""
        if self.peek() == character:
            self.take(character)
            return True
        self.fail(f"'{character}' was expected")
        return False

    def value(self) -> Any:
        """Return the value that begins here; None if it is broken."""
        self.peek()
        while not self.broken:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                ahead = error.pos - self._at
                if len(self._text) - self._at > _LARGEST or not self._more():
                    self._no_json(error.msg, self._at + ahead)
                continue
            except RecursionError:
                self._no_json("nested too deeply", self._at)
                continue
            except ValueError:  # from `int`, which accepts only some thousand digits
                self._no_json("a number with too many digits", self._at)
                continue
            if end == len(self._text) and not isinstance(value, dict | list | str) and self._more():
                continue  # a number may go on
            self._at = end
            return value
        return None

    def _no_json(self, text: str, at: int) -> None:
        text = text.removesuffix(" at").removesuffix(" starting")
        self.fail(f"no JSON: {text[:1].lower()}{text[1:]}", at)

    def elements(self) -> Iterator[Any]:
        """Yield the elements of an array after its bracket, up to the closing one (not consumed) or the end."""
        while not self.broken:
            decode, text, at = self._decode, self._text, self._at
            try:  # common case: objects with commas and little space between them
                while True:
                    while text[at] in ", \n\r\t":
                        at += 1
                    if text[at] != "{":
                        break
                    value, end = decode(text, at)
                    at = end
                    yield value
            except (ValueError, IndexError, RecursionError):  # the fault is reported below
                pass
            self._at = at
            while self.peek() == ",":
                self.take(",")
            if self.peek() in {"]", ""}:
                return
            value = self.value()
            if not self.broken:
                yield value


def _exactly(text: str) -> float | Decimal:
    """Return the number in *text*, as a `Decimal` if it has more digits than a double holds."""
    return Decimal(text) if len(text) > 16 else float(text)
