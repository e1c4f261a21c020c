"""Traces made for tests: a small one by hand, and arbitrary ones by hypothesis."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import KINDS, NO_TIME, Columns, LockStep, Operation, TaskStep, Wait, What
from scalegraph.traces.model import (
    Communicator,
    Definitions,
    Group,
    Location,
    Meta,
    Metric,
    Region,
    State,
    Trace,
)

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=6)


def definitions(locations: int = 2, names: tuple[str, ...] = ("main", "solve", "barrier")) -> Definitions:
    groups = [Group("rank 0"), Group("rank 1")]
    return Definitions(
        groups=groups,
        locations=[Location(f"thread {n}", "thread", n % 2, str(n)) for n in range(locations)],
        regions=[Region(name, "a.c", 3 * n, "function") for n, name in enumerate(names)],
        metrics=[Metric("cycles", "cycles", "sum", True, "c"), Metric("load", "", "last", False, "l")],
        states=[State("busy", "#00ff00", "1"), State("idle", "", "0")],
        communicators=[Communicator("world", tuple(range(locations)))],
    )


def build(rows: dict[str, list[tuple[Any, ...]]], defined: Definitions | None = None, **meta: Any) -> Trace:
    """Return a trace of *rows* by kind, each in the order of the kind's columns."""
    builder = Builder()
    builder.definitions = defined or definitions()
    builder.meta = Meta(**{"program": "made", "format": "made", **meta})
    for kind, some in rows.items():
        for row in some:
            builder.rows(kind).add(*row)
    return builder.finish(begin=meta.get("begin"), end=meta.get("end"))


def small() -> Trace:
    """Return a consistent trace with two locations and something of every kind."""
    enter, leave = What.ENTER, What.LEAVE
    return build(
        {
            "calls": [
                (0, 0, enter, 0),
                (10, 0, enter, 1),
                (20, 0, leave, 1),
                (90, 0, leave, 0),
                (5, 1, enter, 0),
                (80, 1, leave, 0),
            ],
            "waits": [(20, 30, 0, 1, Wait.BARRIER, 7, 2, 28), (82, 85, 0, -1, Wait.OTHER, 0, -1, NO_TIME)],
            "messages": [(11, 12, 13, 15, 0, 1, 1024, 5, 0)],
            "collectives": [(40, 50, 0, Operation.ALL_REDUCE, 0, -1, 8, 8), (45, 50, 1, 11, 0, -1, 8, 8)],
            "counters": [(10, 0, 0, 12.0, 12), (20, 0, 0, 30.0, 30), (20, 1, 1, 0.25, 0)],
            "states": [(0, 10, 0, 0), (10, 90, 0, 1), (5, 80, 1, 0)],
            "tasks": [(1, 0, 1, TaskStep.CREATED, 1), (6, 1, 1, TaskStep.SWITCHED_TO, 1), (9, 1, 1, TaskStep.ENDED, 1)],
            "locks": [(50, 1, 3, 1, LockStep.ACQUIRED), (60, 1, 3, 1, LockStep.RELEASED)],
            "marks": [(70, 1, 2, 99)],
            "shares": [(0, 20, 0, 0, 0, 15), (0, 20, 0, 1, 1, 5), (20, 90, 0, 1, -1, 70), (5, 80, 1, 0, 0, 75)],
        }
    )


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Return an arbitrary consistent trace: nested calls, messages in order, ticks of any size."""
    locations = draw(st.integers(1, 4))
    names = tuple(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)))
    defined = definitions(locations, names)
    ticks = st.integers(0, draw(st.sampled_from([20, 10**6, 2**50])))
    rows: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in KINDS}
    region = st.integers(0, len(names) - 1)
    for who in range(locations):
        rows["calls"] += draw(_calls(who, ticks, region))
        for time in sorted(draw(st.lists(ticks, max_size=3))):
            length = draw(ticks)
            released = draw(st.one_of(st.just(NO_TIME), st.integers(time, time + length)))
            rows["waits"].append(
                (
                    time,
                    time + length,
                    who,
                    draw(st.sampled_from([-1, (who + 1) % locations or -1])),
                    draw(st.sampled_from(list(Wait))),
                    draw(st.integers(-5, 2**40)),
                    draw(region),
                    released,
                )
            )
            exact = draw(st.integers(0, 2**62))
            rows["counters"].append((time, who, 0, float(exact), exact))
            rows["counters"].append((time, who, 1, draw(st.floats(allow_nan=False)), 0))
            rows["marks"].append((time, who, draw(region), draw(st.integers(-(2**62), 2**62))))
            rows["locks"].append((time, who, who, 1, LockStep.ACQUIRED))
            rows["tasks"].append((time, who, len(rows["tasks"]) + 1, TaskStep.CREATED, draw(region)))
        cuts = sorted(draw(st.lists(ticks, max_size=4)))
        rows["states"] += [(a, b, who, draw(st.integers(0, 1))) for a, b in pairwise(cuts)]
        rows["shares"] += [row for a, b in pairwise(cuts) for row in draw(_stretch(who, a, b, region))]
    for tag in range(draw(st.integers(0, 4))):
        times = sorted(draw(st.lists(ticks, min_size=4, max_size=4)))
        ends = draw(st.tuples(st.integers(0, locations - 1), st.integers(0, locations - 1)))
        rows["messages"].append((*times, *ends, draw(st.integers(0, 2**40)), tag, 0))
    for number in range(draw(st.integers(0, 2))):
        for who in range(locations):
            begin, end = sorted((draw(ticks), draw(ticks)))
            rows["collectives"].append((begin, end, who, draw(st.sampled_from(list(Operation))), 0, 0, number, 5))
    rows["collectives"].sort(key=lambda row: (row[2], row[0]))
    hertz = draw(st.sampled_from([10**9, 10**6, 20_000_000, 3_000_000_001]))
    return build(rows, defined, ticks_per_second=hertz)


@st.composite
def _calls(draw: st.DrawFn, who: int, ticks: st.SearchStrategy[int], region: st.SearchStrategy[int]) -> list[Any]:
    steps, stack = [], []
    for enter in draw(st.lists(st.booleans(), max_size=8)):
        if enter:
            stack.append(draw(region))
            steps.append((What.ENTER, stack[-1]))
        elif stack:
            steps.append((What.LEAVE, stack.pop()))
    steps += [(What.LEAVE, stack.pop()) for _ in range(len(stack))]
    times = sorted(draw(st.lists(ticks, min_size=len(steps), max_size=len(steps))))
    return [(time, who, what, number) for time, (what, number) in zip(times, steps, strict=True)]


@st.composite
def _stretch(draw: st.DrawFn, who: int, begin: int, end: int, region: st.SearchStrategy[int]) -> list[Any]:
    cuts = sorted(draw(st.lists(st.integers(begin, end), max_size=3)))
    return [(begin, end, who, draw(st.integers(0, 1)), draw(region), b - a) for a, b in pairwise([begin, *cuts, end])]


def ordered(trace: Trace, kind: str) -> Columns:
    """Return all rows of *kind* by location, each in order: the content of a trace, however it is stored."""
    columns = trace.columns(kind)
    who = columns[KINDS[kind].whose[0]]
    order = np.argsort(who, kind="stable")
    if kind == "messages":
        order = np.lexsort((columns["tag"], columns["sent"], who))
    if kind == "counters":  # values of different metrics at the same moment have no order
        order = np.lexsort((columns["metric"], columns["time"], who))
    return {name: values[order] for name, values in columns.items()}


def assert_same(one: Trace, other: Trace, kinds: tuple[str, ...] = tuple(KINDS)) -> None:
    """Check that every event of *kinds* is in both, bit by bit."""
    for kind in kinds:
        assert one.count(kind) == other.count(kind), kind
        left, right = ordered(one, kind), ordered(other, kind)
        for name in left:
            np.testing.assert_array_equal(left[name], right[name], err_msg=f"{kind}.{name}")
