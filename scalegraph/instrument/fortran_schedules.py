"""Static worksharing loops of Fortran sources that ask the runtime for their iterations, see `schedules`."""

from __future__ import annotations

import re
from typing import Final

from scalegraph.instrument.schedule_clause import STATIC, clause_at_run_time

FIXED_WIDTH: Final = 72
"""Columns of a line in fixed form unless the compiler is given another number."""

_FREE_LOOP = re.compile(r"^\s*!\$omp\s+(parallel\s*)?do\b", re.IGNORECASE)
_FIXED_LOOP = re.compile(r"^[!c*]\$omp[ 0]\s*(parallel\s*)?do\b", re.IGNORECASE)
_FIXED_MORE = re.compile(r"^[!c*]\$omp[^ 0]", re.IGNORECASE)
_CLAUSE = re.compile(r"\bschedule\s*\(((?:[^()]|\([^()]*\))*)\)", re.IGNORECASE)
_ORDERED = re.compile(r"\bordered\b", re.IGNORECASE)
_MARKER = re.compile(r"^#\s*(?:line\s+)?(\d+)")


def free_form(text: str) -> str:
    """Return the *text* of a source in free form with static loops that ask; lines keep their numbers."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not _FREE_LOOP.match(lines[at]):
            at += 1
            continue
        last = at
        while last + 1 < len(lines) and _code(lines[last]).endswith("&"):
            last += 1
        if not any(map(_ORDERED.search, lines[at : last + 1])):
            _edit(lines, at, last)
        at = last + 1
    return "\n".join(lines)


def _code(line: str) -> str:
    """Return a directive's line without the comment behind it."""
    head = line.index("!$") + 2
    return (line[:head] + line[head:].partition("!")[0]).rstrip()


def _edit(lines: list[str], first: int, last: int) -> None:
    for at in range(first, last + 1):
        match = _CLAUSE.search(lines[at])
        if match is not None:
            clause = clause_at_run_time(match[1])
            if clause is not None:
                lines[at] = lines[at][: match.start()] + clause + lines[at][match.end() :]
            return
    lines[last] = f"{_code(lines[last])} {STATIC}"


def fixed_form(text: str, width: int = FIXED_WIDTH) -> str:
    """Return the *text* of a source in fixed form of *width* columns (0: no end) with static loops that ask.

    A line has no room for a longer clause: it gets a line of its own, and behind the directive ``# N`` says which
    line of the source follows.
    """
    lines = text.split("\n")
    made: list[str] = []
    at, number = 0, 1  # number: of the line in the source, which markers before may have set
    while at < len(lines):
        if not _FIXED_LOOP.match(lines[at]):
            marker = _MARKER.match(lines[at])
            number = int(marker[1]) if marker else number + 1
            made.append(lines[at])
            at += 1
            continue
        last = at
        while last + 1 < len(lines) and _FIXED_MORE.match(lines[last + 1]):
            last += 1
        written = lines[at : last + 1]
        copy = _fixed_directive([line[: width or None] for line in written])
        number += len(written)
        made += written if copy is None else [*copy, f"# {number}"]
        at = last + 1
    return "\n".join(made)


def _fixed_directive(lines: list[str]) -> list[str] | None:
    """Return the lines of a loop's directive for the copy; None: it may stay as it is."""
    codes = [line[:6] + line[6:].partition("!")[0].rstrip() for line in lines]
    if any(map(_ORDERED.search, codes)):
        return None
    more = f"{lines[0][:5]}&"
    for at, code in enumerate(codes):
        match = _CLAUSE.search(code)
        if match is not None:
            clause = clause_at_run_time(match[1])
            if clause is None:
                return None
            rest = code[match.end() :]
            parts = [code[: match.start()], f"{more} {clause}", *([more + rest] if rest.strip() else [])]
            return [*codes[:at], *parts, *codes[at + 1 :]]
    return [*codes, f"{more} {STATIC}"]
