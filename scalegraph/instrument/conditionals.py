"""Conditional groups (``#if`` ... ``#endif``) of a file, and the versions of it that a parser can read.

Which branch the compiler takes depends on flags and headers, so only the obvious conditions are decided here (``#if
0``, ``_OPENMP``, ``__cplusplus``). The file is read twice, once with every open condition true and once with every one
false; a probe is planted only if both readings that see a statement agree on its extent, and if its opening and closing
brace are in the same branch.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from scalegraph.instrument.lexer import Directive, Lexed, Token

Context = tuple[tuple[int, int], ...]
"""The conditionals around a byte: (group, branch) of each, outermost first."""
Reading = dict[int, int | None]
"""Branch chosen in every group; None reads none."""

_KNOWN = {"_OPENMP": True, "__GNUC__": True, "__clang__": False, "_MSC_VER": False}


@dataclass(frozen=True, slots=True)
class Condition:
    """A branch's condition: its value if known, otherwise whether it negates "defined" (or anything else)."""

    value: bool | None = None
    negated: bool = False

    def holds(self, assumed: bool) -> bool:
        """Return the value if every open condition is *assumed* true or false."""
        return self.value if self.value is not None else assumed != self.negated


@dataclass(slots=True)
class Group:
    """One ``#if`` ... ``#endif``: its branches and where it begins and ends."""

    start: int
    end: int = -1
    conditions: list[Condition] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # end of the directive that ends each branch

    def choose(self, assumed: bool) -> int | None:
        """Return the branch to read, None for none."""
        return next((i for i, condition in enumerate(self.conditions) if condition.holds(assumed)), None)


class Conditionals:
    """Conditional structure of a scanned file."""

    def __init__(self, lexed: Lexed, *, cplusplus: bool = False) -> None:
        self.groups: list[Group] = []
        known = {**_KNOWN, "__cplusplus": cplusplus}
        self._starts: list[int] = [0]
        self._contexts: list[Context] = [()]
        stack: list[tuple[int, int]] = []
        guards = _guards(lexed)
        for directive in lexed.directives:
            if directive.name in ("if", "ifdef", "ifndef"):
                self.groups.append(Group(directive.start, conditions=[_condition(directive, guards, known)]))
                stack.append((len(self.groups) - 1, 0))
            elif directive.name in ("elif", "elifdef", "elifndef", "else") and stack:
                number, branch = stack.pop()
                self.groups[number].turns.append(directive.end)
                self.groups[number].conditions.append(_condition(directive, guards, known))
                stack.append((number, branch + 1))
            elif directive.name == "endif" and stack:
                number, _ = stack.pop()
                self.groups[number].end = directive.end
                self.groups[number].turns.append(directive.end)
            else:
                continue
            self._starts.append(directive.end)
            self._contexts.append(tuple(stack))
        for group in self.groups:
            if group.end < 0:
                group.end = len(lexed.data)

    def context(self, offset: int) -> Context:
        """Return the branches around the byte at *offset*."""
        return self._contexts[bisect.bisect_right(self._starts, offset) - 1]

    def readings(self) -> list[Reading]:
        """Return one choice of branches, or two where they differ."""
        true, false = ({n: g.choose(assumed) for n, g in enumerate(self.groups)} for assumed in (True, False))
        return [true] if true == false else [true, false]

    def is_read(self, offset: int, reading: Reading) -> bool:
        """Return whether the byte at *offset* is part of *reading*."""
        return _is_read(self.context(offset), reading)


def _guards(lexed: Lexed) -> set[int]:
    """Return offsets of ``#ifndef NAME`` directly followed by ``#define NAME``: they are always read."""
    return {
        first.start
        for first, second in pairwise(lexed.directives)
        if first.name == "ifndef" and second.name == "define" and _words(first)[:1] == _words(second)[:1]
    }


def _words(directive: Directive) -> list[str]:
    return [token.text for token in directive.tokens if token.text not in "()"]


def _condition(directive: Directive, guards: set[int], known: Mapping[str, bool]) -> Condition:
    """Return what is known about the condition of a directive that begins a branch."""
    words = _words(directive)
    name = directive.name
    if name == "else" or directive.start in guards:
        return Condition(value=True)
    if not words:
        return Condition()
    negated = name in ("ifndef", "elifndef")
    if name in ("if", "elif"):
        if words[0] in ("0", "1") and len(words) == 1:
            return Condition(value=words[0] == "1")
        negated = words[0] == "!"
        if words[negated : negated + 1] != ["defined"] or len(words) != 2 + negated:
            return Condition(negated=negated and len(words) == 2)
    value = known.get(words[-1])
    return Condition(negated=negated) if value is None else Condition(value=value != negated)


def readable(lexed: Lexed, conditionals: Conditionals, reading: Reading) -> tuple[bytes, list[Token]]:
    """Return the text for the parser (same offsets and lines) and its tokens in *reading*."""
    text = bytearray(lexed.data)
    spans = [(d.start, d.end) for d in lexed.directives] + [(c.start, c.end) for c in lexed.comments]
    spans += [(at, at + 1) for at in lexed.splices]
    starts = conditionals._starts
    read = [_is_read(context, reading) for context in conditionals._contexts]
    spans += [(start, end) for start, end, here in zip(starts, [*starts[1:], len(text)], read, strict=True) if not here]
    for start, end in spans:
        text[start:end] = re.sub(rb"[^\r\n]", b" ", text[start:end])
    tokens = [token for token in lexed.tokens if read[bisect.bisect_right(starts, token.start) - 1]]
    return bytes(text), tokens


def _is_read(context: Context, reading: Reading) -> bool:
    return all(reading[group] == branch for group, branch in context)
