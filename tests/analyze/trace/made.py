"""Synthetic traces for tests of the critical path and the wait states."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from scalegraph.analyze.trace.critical_path import CriticalPath, Piece, critical_path
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.traces.kinds import KINDS, What
from scalegraph.traces.model import Communicator, Definitions, Group, Location, Region, State, Trace
from tests.traces.made import build

NAMES = ("main", "solve", "MPI_Recv", "MPI_Send", "omp barrier", "omp critical", "MPI_Bcast", "load", "step")


def trace(
    count: int, rows: dict[str, list[tuple[Any, ...]]], *, groups: bool = False, begin: int = 0, end: int = 100
) -> Trace:
    """Return a trace of *count* locations, each in its own group or (*groups*) all in one."""
    return build(
        {kind: rows.get(kind, []) for kind in KINDS},
        Definitions(
            groups=[Group(f"rank {n}") for n in range(count)],
            locations=[Location(f"p{n}", "thread", 0 if groups else n, str(n)) for n in range(count)],
            regions=[Region(name, "a.c", 10 * (n + 1)) for n, name in enumerate(NAMES)],
            states=[State("running"), State("idle")],
            communicators=[Communicator("world", tuple(range(count)))],
        ),
        begin=begin,
        end=end,
        ticks_per_second=1_000,
    )


def calls(who: int, *spans: tuple[int, int, str]) -> list[tuple[int, int, int, int]]:
    """Return enters and leaves of nested *spans* (begin, end, region), outer ones first."""
    steps: list[tuple[int, int, int]] = []
    stack: list[tuple[int, int]] = []
    for begin, end, name in spans:
        while stack and stack[-1][0] <= begin:
            steps.append((stack[-1][0], What.LEAVE, stack.pop()[1]))
        steps.append((begin, What.ENTER, NAMES.index(name)))
        stack.append((end, NAMES.index(name)))
    while stack:
        steps.append((stack[-1][0], What.LEAVE, stack.pop()[1]))
    return [(time, who, what, region) for time, what, region in steps]


def path_of(made: Trace) -> CriticalPath:
    """Return the critical path of *made*, after checking its invariants."""
    waits = Waits.of(made)
    path = critical_path(made, waits)
    check(made, waits, path)
    return path


def check(made: Trace, waits: Waits, path: CriticalPath) -> None:
    """Check that pieces are adjacent, cover the run, and are never on a location that waits for a known other."""
    assert path.begin[0] == made.meta.begin
    assert path.end[-1] == made.meta.end
    assert (path.begin[1:] == path.end[:-1]).all()
    assert path.length <= made.meta.end - made.meta.begin
    rows = waits.rows
    for one, other in pairwise(range(len(rows))):  # waits of a location do not overlap
        assert rows.location[one] < rows.location[other] or rows.end[one] <= rows.begin[other]
    busy = path.kind == Piece.COMPUTE
    for begin, end, who in zip(path.begin[busy], path.end[busy], path.location[busy], strict=True):
        mine = rows.location == who
        assert not (mine & (rows.begin < end) & (rows.end > begin)).any()


def told(path: CriticalPath) -> list[tuple[int, int, int, str]]:
    """Return the pieces as (begin, end, location, kind)."""
    kinds = [Piece(kind).name.lower() for kind in path.kind]
    return [(int(b), int(e), int(w), k) for b, e, w, k in zip(path.begin, path.end, path.location, kinds, strict=True)]


def ticks_at(path: CriticalPath) -> dict[int, int]:
    """Return the ticks of the path by location."""
    found = np.bincount(path.location, path.end - path.begin)
    return {who: int(ticks) for who, ticks in enumerate(found) if ticks}
