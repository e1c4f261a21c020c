"""Static worksharing loops that ask the runtime for their iterations: their schedule can be chosen at each run.

Compilers compile ``schedule(static)`` in place: no runtime sees such a loop. In the compiled copy of a source the
clause says ``monotonic:runtime``, or ``monotonic:dynamic`` with the chunk size where there is one. Both call functions
that nothing else calls once a modifier ``monotonic`` of the program itself is gone; `RENAMED` gives them names by which
the simulator's runtime knows a static loop. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scalegraph.instrument.lexer import Directive, Token, scan
from scalegraph.instrument.pragmas import construct
from scalegraph.runtime.languages import Language

RENAMED: Final = {
    f"GOMP_{name}": f"scalegraph_{name.replace('dynamic', 'static_chunk').replace('runtime', 'static')}"
    for name in (
        "loop_dynamic_start",
        "loop_runtime_start",
        "loop_ull_dynamic_start",
        "loop_ull_runtime_start",
        "parallel_loop_dynamic",
        "parallel_loop_runtime",
    )
}
"""Functions that static loops of a copy call, and their new names."""

_LEFT: Final = frozenset(("distribute", "taskloop", "declare", "cancel", "cancellation", "end"))
_FORTRAN_LOOP = re.compile(r"^\s*!\$omp\s+(parallel\s+)?do\b", re.IGNORECASE)
_FORTRAN_CLAUSE = re.compile(r"\bschedule\s*\(((?:[^()]|\([^()]*\))*)\)", re.IGNORECASE)
_NO_MODIFIER = re.compile(r"\b(non)?monotonic\s*[:,]\s*", re.IGNORECASE)


def at_run_time(text: str, language: Language, *, fixed: bool = False) -> str:
    """Return the source *text* with static loops that ask the runtime; *fixed*: Fortran of columns, which is left.

    Loops with ``ordered`` ask it anyway. Loops of ``distribute`` and loops whose directive is a ``_Pragma`` are left.
    """
    if language == "fortran":
        return text if fixed else _fortran(text)
    data = text.encode("utf-8", "surrogateescape")
    edits = [edit for d in scan(data, cplusplus=language == "c++").directives if (edit := _edit(d)) is not None]
    for start, end, clause in sorted(edits, reverse=True):
        data = data[:start] + clause.encode("utf-8", "surrogateescape") + data[end:]
    return data.decode("utf-8", "surrogateescape")


def _edit(directive: Directive) -> tuple[int, int, str] | None:
    """Return what to replace in the directive of a loop: first offset, the one behind the last, the new text."""
    made = construct(directive)
    words = {token.text for token in directive.tokens}
    if (
        made is None
        or directive.is_operator
        or "for" not in made.words
        or _LEFT & set(made.words)
        or "ordered" in words
    ):
        return None
    tokens = directive.tokens
    at = next((i for i, t in enumerate(tokens[:-1]) if t.text == "schedule" and tokens[i + 1].text == "("), None)
    if at is None:
        return tokens[-1].end, tokens[-1].end, " schedule(monotonic:runtime)"
    close = _closing(tokens, at + 1)
    if close is None:
        return None
    clause = _clause(" ".join(token.text for token in tokens[at + 2 : close]))
    return None if clause is None else (tokens[at].start, tokens[close].end, clause)


def _closing(tokens: Sequence[Token], at: int) -> int | None:
    depth = 0
    for i in range(at, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[i].text, 0)
        if depth == 0:
            return i
    return None


def _clause(inside: str) -> str | None:
    """Return the schedule clause for the copy, given the text between its parentheses; None: it may stay."""
    modified = ":" in inside.partition(",")[0] or "monotonic" in inside.lower()
    plain = _NO_MODIFIER.sub("", inside)
    simd = re.match(r"\s*simd\s*:\s*", plain, re.IGNORECASE)
    kind, _, chunk = plain[simd.end() if simd else 0 :].partition(",")
    extra = "simd, " if simd else ""
    if kind.strip().lower() not in ("static", "auto"):
        return f"schedule({plain})" if modified else None
    if chunk.strip():
        return f"schedule({extra}monotonic:dynamic, {chunk.strip()})"
    return f"schedule({extra}monotonic:runtime)"


def _fortran(text: str) -> str:
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not _FORTRAN_LOOP.match(lines[at]):
            at += 1
            continue
        last = at
        while last + 1 < len(lines) and _code(lines[last]).endswith("&"):
            last += 1
        if not any(re.search(r"\bordered\b", line, re.IGNORECASE) for line in lines[at : last + 1]):
            _edit_fortran(lines, at, last)
        at = last + 1
    return "\n".join(lines)


def _code(line: str) -> str:
    """Return a directive's line without the comment behind it."""
    head = line.index("!$") + 2
    return (line[:head] + line[head:].partition("!")[0]).rstrip()


def _edit_fortran(lines: list[str], first: int, last: int) -> None:
    for at in range(first, last + 1):
        match = _FORTRAN_CLAUSE.search(lines[at])
        if match is not None:
            clause = _clause(match[1])
            if clause is not None:
                lines[at] = lines[at][: match.start()] + clause + lines[at][match.end() :]
            return
    lines[last] = f"{_code(lines[last])} schedule(monotonic:runtime)"
