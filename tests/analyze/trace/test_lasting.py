"""Filter by duration, compared with a linear scan of the calls, in parts of any size."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace.duration_filter import lasting
from scalegraph.traces.kinds import NO_TIME, What
from scalegraph.traces.lod import Timeline, bin_cache
from scalegraph.traces.model import Trace
from tests.analyze.trace.test_find import in_parts
from tests.traces.lod_reference import bursty
from tests.traces.made import build, traces
from tests.traces.test_timeline import compare

pytestmark = pytest.mark.slow

Call = tuple[int, int, int, int]  # begin, end (-1: never), location, region


def calls_of(trace: Trace) -> Counter[Call]:
    """Return every call, using a stack per location."""
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
            "messages": [
                (1, 1, 2, 20, 0, 1, 8, 0, 0),
                (5, 5, 5, 6, 0, 1, 8, 1, 0),
                (5, 5, NO_TIME, NO_TIME, 0, 1, 8, 2, 0),
            ],
        },
        begin=0,
        end=100,
    )
    left = lasting(trace, 10)
    assert left.columns("calls")["time"].tolist() == [0]
    assert left.columns("messages")["tag"].tolist() == [0]


def same(one: Timeline, other: Timeline, begin: int, end: int, width: int) -> None:
    assert list(one.layers) == list(other.layers)
    for name in one.layers:
        for here, there in zip(
            vars(one.lanes(name, begin, end, width)).values(),
            vars(other.lanes(name, begin, end, width)).values(),
            strict=True,
        ):
            assert np.array_equal(here, there)
        assert np.array_equal(one.totals(name, begin, end, width).values, other.totals(name, begin, end, width).values)
    for kind in (Timeline.messages, Timeline.waits):
        found, wanted = kind(one, begin, end), kind(other, begin, end)
        assert found.total == wanted.total
        assert all(np.array_equal(found.columns[name], values) for name, values in wanted.columns.items())
    assert one.notes == other.notes


@given(traces(), st.sampled_from([1, 3, 1000, 2**40]), st.data())
@settings(max_examples=60, deadline=None)
def test_the_timeline_of_what_lasts_is_that_of_a_trace_without_the_rest(
    trace: Trace, least: int, data: st.DataObject
) -> None:
    left = lasting(trace, least)
    line = Timeline.open(trace).lasting(left, least)
    begin = data.draw(st.integers(line.begin, line.end - 1))
    same(line, Timeline.open(left), begin, data.draw(st.integers(begin + 1, line.end)), 40)


@pytest.mark.parametrize("kept", [1 << 27, 4000])
def test_bins_of_what_lasts_are_exact_wherever_and_in_whatever_order_they_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(bin_cache, "FEW", 20)
    monkeypatch.setattr(bin_cache, "_TOGETHER", 50)
    monkeypatch.setattr(bin_cache, "_BYTES", kept)
    trace = bursty(600, 3, 5, 1 << 16)
    left = lasting(trace, 90)
    assert 0 < left.count("calls") < trace.count("calls")
    line = Timeline.open(trace).lasting(left, 90)
    span = line.end - line.begin
    for part in (1, 2, 5, 2, 30, 1):
        compare(line, line.begin + span // 3 // part, line.begin + span // 3 // part + span // part, 300)


def test_what_lasts_is_looked_at_from_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bin_cache, "FEW", 0)
    monkeypatch.setattr(bin_cache, "_BYTES", 1_000_000)
    trace = bursty(600, 3, 5, 1 << 16)
    line = Timeline.open(trace).lasting(lasting(trace, 90), 90)
    layer, span = next(iter(line.layers)), line.end - line.begin
    often, places = sys.getswitchinterval(), [line.begin + span * part // 40 for part in range(40)]
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            seen = list(pool.map(lambda place: line.lanes(layer, place, place + span // 40, 300), 50 * places))
    finally:
        sys.setswitchinterval(often)
    for number, place in enumerate(50 * places):
        assert np.array_equal(seen[number].shares, seen[number % 40].shares), place
