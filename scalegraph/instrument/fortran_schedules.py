"""Rewrite static worksharing loops of Fortran sources to get their iterations from the runtime, see `schedules`."""

from __future__ import annotations

import re
from typing import Final

from scalegraph.instrument.schedule_clause import STATIC, clause_at_run_time

FIXED_WIDTH: Final = 72
"""Default number of columns in fixed form."""

_FREE_LOOP = re.compile(r"^\s*!\$omp\s+(parallel\s*)?do\b", re.IGNORECASE)
_FIXED_LOOP = re.compile(r"^[!c*]\$omp[ 0]\s*(parallel\s*)?do\b", re.IGNORECASE)
_FIXED_MORE = re.compile(r"^[!c*]\$omp[^ 0]", re.IGNORECASE)
_CLAUSE = re.compile(r"\bschedule\s*\(((?:[^()]|\([^()]*\))*)\)", re.IGNORECASE)
_ORDERED = re.compile(r"\bordered\b", re.IGNORECASE)
_MARKER = re.compile(r"^#\s*(?:line\s+)?(\d+)")


def free_form(text: str) -> str:
    """Return the free-form source *text* with static loops that call the runtime; line numbers stay."""
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
    """Return a directive's line without its trailing comment."""
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
    """Return the fixed-form source *text* of *width* columns (0: no limit) with static loops that call the runtime.

    A line has no room for a longer clause: it gets a line of its own, and after the directive ``# N`` says which line
    of the source follows.
    """
    lines = text.split("\n")
    made: list[str] = []
    at, number = 0, 1  # number: line in the source, which earlier markers may have set
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
    """Return the new lines of a loop's directive; None if it can stay."""
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
