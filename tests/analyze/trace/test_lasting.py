"""Only what lasts: exact against going through the calls one by one, in parts of any size."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace.lasting import lasting
from scalegraph.traces.kinds import NO_TIME, What
from scalegraph.traces.model import Trace
from tests.analyze.trace.test_find import in_parts
from tests.traces.made import build, traces

Call = tuple[int, int, int, int]  # begin, end (-1: never), location, region


def calls_of(trace: Trace) -> Counter[Call]:
    """Every call, by a stack for each location."""
    found: Counter[Call] = Counter()
    stacks: dict[int, list[tuple[int, int]]] = {}
    columns = trace.columns("calls")
    for time, location, what, region in zip(*(columns[n].tolist() for n in columns), strict=True):
        stack = stacks.setdefault(location, [])
        if what == What.ENTER:
            stack.append((time, region))
        elif stack:
            begin, entered = stack.pop()
            found[begin, time, location, entered] += 1
    for location, stack in stacks.items():
        for begin, entered in stack:
            found[begin, -1, location, entered] += 1
    return found


@given(traces(), st.integers(1, 7), st.sampled_from([1, 3, 1000, 2**40]))
@settings(max_examples=80, deadline=None)
def test_what_is_left_is_what_lasts(trace: Trace, size: int, least: int) -> None:
    left = lasting(in_parts(trace, size), least)
    end = trace.meta.end
    expected = Counter(
        {call: n for call, n in calls_of(trace).items() if (end if call[1] < 0 else call[1]) - call[0] >= least}
    )
    assert calls_of(left) == expected
    for kind, (first, last) in {"waits": ("begin", "end"), "states": ("begin", "end")}.items():
        all_of, some = trace.columns(kind), left.columns(kind)
        keep = all_of[last] - all_of[first] >= least
        for name, values in all_of.items():
            assert np.array_equal(some[name], values[keep])
    assert left.count("shares") == trace.count("shares")
    assert left.count("marks") == trace.count("marks")


def test_calls_that_are_open_at_the_end_and_messages_without_an_end() -> None:
    enter, leave = What.ENTER, What.LEAVE
    trace = build(
        {
            "calls": [(0, 0, enter, 0), (10, 0, enter, 1), (12, 0, leave, 1), (95, 0, enter, 2), (3, 1, leave, 0)],
            "messages": [(1, 1, 2, 20, 0, 1, 8, 0, 0), (5, 5, 5, 6, 0, 1, 8, 1, 0),
                         (5, 5, NO_TIME, NO_TIME, 0, 1, 8, 2, 0)],
        },
        begin=0,
        end=100,
    )  # fmt: skip
    left = lasting(trace, 10)
    assert left.columns("calls")["time"].tolist() == [0]
    assert left.columns("messages")["tag"].tolist() == [0]
