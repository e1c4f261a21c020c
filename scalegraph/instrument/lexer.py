"""Tokens, comments and directives of a C source file, by byte offset.

The syntax tree (``syntax.py``) is built from text in which directives and comments are blanked, so only this scanner
knows about them: a grammar cannot, because a ``#pragma`` or an ``#if`` may be between any two tokens. Offsets are bytes
of the UTF-8 text; lines count from 1.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from scalegraph.base.patterns import pattern

Kind = Literal["word", "number", "string", "punct"]

_WORD: Final = rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*"
# What most tokens are: blanks, then a newline, a word, a number, or a byte that begins nothing longer.
_NUMBER: Final = rb"[0-9](?:(?<=[eEpP])[+-]|[A-Za-z0-9_$\x80-\xff%b])*"
_COMMON: Final = rb"[ \t\r\v\f]*(?:(\n)|(%b)|(%b)|([^ \t\r\v\f\\/\"'#]))?"
_IN_C: Final = pattern(_COMMON % (_WORD, _NUMBER % rb"."))
_IN_CPP: Final = pattern(_COMMON % (_WORD, _NUMBER % rb".'"))
_NEWLINE: Final = 1  # group of a newline
_KINDS: Final[tuple[Kind, ...]] = ("punct", "punct", "word", "number", "punct")  # by group
_BACKSLASH: Final = ord("\\")
_STRING_PREFIXES: Final = frozenset((b"L", b"u", b"U", b"u8"))
_RAW_PREFIXES: Final = frozenset((b"R", b"LR", b"uR", b"UR", b"u8R"))


class Token(NamedTuple):
    """One token; a punctuator is always a single byte (``&&`` is two tokens)."""

    kind: Kind
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment and its text, without delimiters."""

    start: int
    end: int
    text: str
    is_line: bool


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessing directive, or a ``_Pragma`` operator (then *is_operator*).

    *start* is the offset of its first byte on the line (of the line itself for a directive), *end* the offset after its
    newline. *tokens*: those after the ``#``, without comments.
    """

    name: str
    start: int
    end: int
    tokens: tuple[Token, ...]
    is_operator: bool = False


@dataclass(slots=True)
class Lexed:
    """Everything the scanner found."""

    data: bytes
    tokens: list[Token] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    splices: list[int] = field(default_factory=list)  # offsets of backslashes that join lines
    _newlines: list[int] = field(default_factory=list)

    def line(self, offset: int) -> int:
        """Return the line (from 1) of the byte at *offset*."""
        return bisect.bisect_left(self._newlines, offset) + 1

    def line_start(self, offset: int) -> int:
        """Return the offset of the first byte of the line with *offset*."""
        return self.data.rfind(b"\n", 0, offset) + 1


def scan(data: bytes, *, cplusplus: bool = False) -> Lexed:
    """Split *data*, the bytes of a C or C++ file, into tokens, comments and directives.

    Never fails: an unterminated string ends with its line, an unterminated comment with the file.
    """
    return _Scanner(data, cplusplus=cplusplus).run()


class _Scanner:
    def __init__(self, data: bytes, *, cplusplus: bool) -> None:
        self.data = data
        self.cplusplus = cplusplus
        self.common = _IN_CPP if cplusplus else _IN_C
        self.at = 0
        self.out = Lexed(data)

    def run(self) -> Lexed:
        data, out = self.data, self.out
        out._newlines = [found.start() for found in re.finditer(b"\n", data)]
        line_is_fresh = True  # only blanks and comments so far on this logical line
        line_start = 0
        while self.at < len(data):
            found = self.common.match(data, self.at)
            assert found is not None  # it may be empty
            self.at = found.end()
            if found.lastindex == _NEWLINE:
                line_is_fresh, line_start = True, self.at
            elif found.lastindex:
                line_is_fresh = False
                out.tokens.append(self._token(found))
            elif self.at == len(data) or self._skip_comment():
                continue
            elif data[self.at] == ord("#") and line_is_fresh:
                self._directive(line_start)
                line_start = self.at
            else:
                line_is_fresh = False
                out.tokens.append(self._rare())
        self._fold_pragma_operators()
        return out

    def _skip_comment(self) -> bool:
        """Step over one joined line end or comment; return False if a token begins here."""
        data, at = self.data, self.at
        if width := _splice(data, at):
            self.out.splices.append(at)
            self.at += width
        elif data.startswith(b"/*", at):
            close = data.find(b"*/", at + 2)
            self.at = len(data) if close < 0 else close + 2
            text = data[at + 2 : self.at if close < 0 else close].decode("utf-8", "replace")
            self.out.comments.append(Comment(at, self.at, text.strip(), is_line=False))
        elif data.startswith(b"//", at):
            self.at = _logical_line_end(data, at)
            text = data[at + 2 : self.at].decode("utf-8", "replace")
            self.out.comments.append(Comment(at, self.at, text.strip(), is_line=True))
        else:
            return False
        return True

    def _token(self, found: re.Match[bytes]) -> Token:
        """Return the token that was *found*; a word may be the prefix of a string."""
        data, group = self.data, found.lastindex or 0
        kind: Kind = _KINDS[group]
        start, end = found.span(group)
        if kind == "word" and data[end : end + 1] in (b'"', b"'"):
            if found[group] in _STRING_PREFIXES:
                kind, end = "string", _literal_end(data, end)
            elif self.cplusplus and found[group] in _RAW_PREFIXES and data[end : end + 1] == b'"':
                kind, end = "string", _raw_end(data, end)
            self.at = end
        return Token(kind, start, end, data[start:end].decode("utf-8", "replace"))

    def _rare(self) -> Token:
        """Return the token that begins here, a string or a single byte."""
        data, start = self.data, self.at
        is_string = data[start] in b"\"'"
        self.at = _literal_end(data, start) if is_string else start + 1
        return Token(
            "string" if is_string else "punct", start, self.at, data[start : self.at].decode("utf-8", "replace")
        )

    def _directive(self, line_start: int) -> None:
        data = self.data
        self.at += 1
        tokens: list[Token] = []
        while self.at < len(data):
            found = self.common.match(data, self.at)
            assert found is not None  # it may be empty
            self.at = found.end()
            if found.lastindex == _NEWLINE:
                break
            if found.lastindex:
                tokens.append(self._token(found))
            elif self.at < len(data) and not self._skip_comment():
                tokens.append(self._rare())
        name = tokens[0].text if tokens and tokens[0].kind == "word" else ""
        self.out.directives.append(Directive(name, line_start, self.at, tuple(tokens[1:])))

    def _fold_pragma_operators(self) -> None:
        """Turn ``_Pragma ( "text" )`` in the token stream into separate directives."""
        if b"_Pragma" not in self.data:
            return
        tokens, kept, at = self.out.tokens, [], 0
        while at < len(tokens):
            part = tokens[at : at + 4]
            if len(part) == 4 and [t.text for t in (part[0], part[1], part[3])] == ["_Pragma", "(", ")"]:
                inside = scan(_unquote(part[2].text).encode()).tokens
                operator = Directive("pragma", part[0].start, part[3].end, tuple(inside), is_operator=True)
                self.out.directives.append(operator)
                at += 4
            else:
                kept.append(tokens[at])
                at += 1
        self.out.tokens = kept
        self.out.directives.sort(key=lambda d: d.start)


def _unquote(literal: str) -> str:
    body = literal[literal.find('"') + 1 : -1]
    return body.replace('\\"', '"').replace("\\\\", "\\")


def _splice(data: bytes, at: int) -> int:
    """Return the width of a backslash and line end at *at*, 0 if there is none."""
    if data.startswith(b"\\\n", at):
        return 2
    return 3 if data.startswith(b"\\\r\n", at) else 0


def _logical_line_end(data: bytes, at: int) -> int:
    """Return the offset of the newline that ends the logical line at *at* (joined lines count as one)."""
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            return len(data)
        before = end - 1 if data[end - 1 : end] != b"\r" else end - 2
        if data[before : before + 1] != b"\\":
            return end
        at = end + 1


def _raw_end(data: bytes, at: int) -> int:
    """Return the offset after the C++ raw string literal whose quote is at *at*."""
    opening = data.find(b"(", at)
    close = data.find(b")" + data[at + 1 : opening] + b'"', opening) if opening >= 0 else -1
    return len(data) if close < 0 else close + opening - at + 1


def _literal_end(data: bytes, at: int) -> int:
    """Return the offset after the string or character literal whose quote is at *at*."""
    quote = data[at]
    at += 1
    while at < len(data):
        byte = data[at]
        if byte == _BACKSLASH:
            at += _splice(data, at) or 2
        elif byte == quote:
            return at + 1
        elif byte == ord("\n"):
            return at
        else:
            at += 1
    return len(data)


def balanced(tokens: Sequence[Token]) -> bool:
    """Return whether brackets of all three kinds pair up within *tokens*."""
    pairs = {")": "(", "]": "[", "}": "{"}
    open_: list[str] = []
    for token in tokens:
        if token.kind != "punct":
            continue
        if token.text in "([{":
            open_.append(token.text)
        elif token.text in pairs and (not open_ or open_.pop() != pairs[token.text]):
            return False
    return not open_
