"""Tokens, comments and directives of a C source file, by byte offset.

The syntax tree (``syntax.py``) is built from text in which directives and comments are blanked, so only this scanner
knows about them: a grammar cannot, because a ``#pragma`` or an ``#if`` may be between any two tokens. Offsets are bytes
of the UTF-8 text; lines count from 1.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

_WORD: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$") | frozenset(range(0x80, 0x100))
_DIGIT: Final = frozenset(b"0123456789")
_WORD_REST: Final = _WORD | _DIGIT
_BLANK: Final = frozenset(b" \t\r\v\f")
_NEWLINE: Final = ord("\n")
_BACKSLASH: Final = ord("\\")
_STRING_PREFIXES: Final = frozenset((b"L", b"u", b"U", b"u8"))
_RAW_PREFIXES: Final = frozenset((b"R", b"LR", b"uR", b"UR", b"u8R"))

Kind = Literal["word", "number", "string", "punct"]


@dataclass(frozen=True, slots=True)
class Token:
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
        self.at = 0
        self.out = Lexed(data)

    def run(self) -> Lexed:
        data, out = self.data, self.out
        out._newlines = [i for i, byte in enumerate(data) if byte == _NEWLINE]
        line_is_fresh = True  # only blanks and comments so far on this logical line
        line_start = 0
        while self.at < len(data):
            byte = data[self.at]
            if byte == _NEWLINE:
                self.at += 1
                line_is_fresh, line_start = True, self.at
            elif self._skip_blank_or_comment():
                continue
            elif byte == ord("#") and line_is_fresh:
                self._directive(line_start)
                line_start = self.at
            else:
                line_is_fresh = False
                out.tokens.append(self._token())
        self._fold_pragma_operators()
        return out

    def _skip_blank_or_comment(self) -> bool:
        """Step over one blank, joined line end or comment; return False if a token begins here."""
        data, at = self.data, self.at
        byte = data[at]
        if byte in _BLANK:
            self.at = at + 1
            while self.at < len(data) and data[self.at] in _BLANK:
                self.at += 1
        elif byte == _BACKSLASH and (width := _splice(data, at)):
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

    def _token(self) -> Token:
        data, start = self.data, self.at
        byte = data[start]
        kind: Kind = "punct"
        end = start + 1
        if byte in _WORD:
            kind = "word"
            end = _run(data, end)
            if data[start:end] in _STRING_PREFIXES and data[end : end + 1] in (b'"', b"'"):
                kind, end = "string", _literal_end(data, end)
            elif self.cplusplus and data[start:end] in _RAW_PREFIXES and data[end : end + 1] == b'"':
                kind, end = "string", _raw_end(data, end)
        elif byte in _DIGIT:
            kind = "number"
            end = _number_end(data, end, b"." + b"'" * self.cplusplus)
        elif byte in b"\"'":
            kind, end = "string", _literal_end(data, start)
        self.at = end
        return Token(kind, start, end, data[start:end].decode("utf-8", "replace"))

    def _directive(self, line_start: int) -> None:
        data = self.data
        self.at += 1
        tokens: list[Token] = []
        while self.at < len(data) and data[self.at] != _NEWLINE:
            if not self._skip_blank_or_comment():
                tokens.append(self._token())
        self.at = min(self.at + 1, len(data))
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


def _run(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _WORD_REST:
        at += 1
    return at


def _number_end(data: bytes, at: int, inside: bytes) -> int:
    while at < len(data) and (
        data[at] in _WORD_REST or data[at] in inside or (data[at] in b"+-" and data[at - 1] in b"eEpP")
    ):
        at += 1
    return at


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
        elif byte == _NEWLINE:
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
