"""Sums by region and call path in an interval, against hand counts and a linear scan of the events."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace import profile
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.traces.kinds import What
from scalegraph.traces.model import MemoryPart, Trace
from tests.traces.made import build, definitions, traces

ENTER, LEAVE = What.ENTER, What.LEAVE


def in_parts(trace: Trace, size: int) -> Trace:
    """Return the same call events in parts of *size* rows."""
    columns = trace.columns("calls")
    pieces = [
        MemoryPart("calls", {name: values[at : at + size] for name, values in columns.items()})
        for at in range(0, len(columns["time"]), size)
    ]
    return Trace(trace.definitions, trace.meta, {**trace.parts, "calls": pieces})


def one_by_one(trace: Trace, begin: int, end: int) -> tuple[dict[tuple[tuple[int, ...], int], int], dict[object, int]]:
    """Return exclusive ticks and visits by (regions from outside in, location), event by event."""
    columns = trace.columns("calls")
    ticks: dict[tuple[tuple[int, ...], int], int] = defaultdict(int)
    visits: dict[object, int] = defaultdict(int)
    for who in range(len(trace.definitions.locations)):
        stack: list[int] = []
        last = trace.meta.begin
        rows = np.flatnonzero(columns["location"] == who)
        for row in rows:
            time = int(columns["time"][row])
            if stack:
                ticks[tuple(stack), who] += max(0, min(time, end) - max(last, begin))
            if columns["what"][row] == ENTER:
                stack.append(int(columns["region"][row]))
                if begin <= time < end or time == end == trace.meta.end:
                    visits[tuple(stack), who] += 1
            elif stack:
                stack.pop()
            last = time
        if stack:
            ticks[tuple(stack), who] += max(0, end - max(last, begin))
    return {key: value for key, value in ticks.items() if value}, {key: value for key, value in visits.items() if value}


def named(sums: profile.CallSums) -> tuple[dict[object, int], dict[object, int]]:
    paths = sums.paths
    names: list[tuple[int, ...]] = []
    for region, parent in zip(paths.region, paths.parent, strict=True):
        names.append((names[parent] if parent >= 0 else ()) + (int(region),))

    def cells(values: np.ndarray) -> dict[object, int]:
        return {
            (names[p], int(sums.locations[at])): int(values[p, at]) for p, at in zip(*values.nonzero(), strict=True)
        }

    return cells(sums.exclusive), cells(sums.visits)


def nested() -> Trace:
    """Location 0: main 0..100, in it solve 10..60, in that solve 20..30 and barrier 40..55. Location 1: solve 5..25."""
    rows = [
        (0, 0, ENTER, 0),
        (5, 1, ENTER, 1),
        (10, 0, ENTER, 1),
        (20, 0, ENTER, 1),
        (25, 1, LEAVE, 1),
        (30, 0, LEAVE, 1),
        (40, 0, ENTER, 2),
        (55, 0, LEAVE, 2),
        (60, 0, LEAVE, 1),
        (100, 0, LEAVE, 0),
    ]
    return build({"calls": rows}, definitions(), ticks_per_second=100)


def test_flat_profile_counts_a_region_that_calls_itself_once_in_inclusive() -> None:
    trace = nested()
    table = profile.flat(trace, profile.call_sums(CallTable(trace), trace, 0, 100)).set_index("name")
    assert table.loc["main", ["exclusive_s", "inclusive_s", "visits"]].tolist() == [0.5, 1.0, 1]
    assert table.loc["solve", ["exclusive_s", "inclusive_s", "visits"]].tolist() == [0.55, 0.7, 3]
    assert table.loc["barrier", ["exclusive_s", "inclusive_s", "visits"]].tolist() == [0.15, 0.15, 1]
    assert table.loc["solve", ["least_s", "mean_s", "most_s", "most_at"]].tolist() == [0.2, 0.275, 0.35, 0]
    assert table.loc["solve", "imbalance"] == pytest.approx(0.35 / 0.275)
    assert table["share"].sum() == pytest.approx(1.2 / 2)  # location 1 is outside every region for 0.8 of 1 s


def test_interval_cuts_calls_and_counts_visits_where_they_begin() -> None:
    trace = nested()
    table = profile.flat(trace, profile.call_sums(CallTable(trace), trace, 25, 45)).set_index("name")
    assert table.loc["solve", ["exclusive_s", "inclusive_s", "visits"]].tolist() == [0.15, 0.2, 0]
    assert table.loc["barrier", ["exclusive_s", "visits"]].tolist() == [0.05, 1]
    assert table.loc["main", "inclusive_s"] == 0.2


def test_tree_has_callers_before_what_they_call_and_the_most_expensive_first() -> None:
    trace = nested()
    table = profile.tree(trace, profile.call_sums(CallTable(trace), trace, 0, 100))
    assert list(zip(table["depth"], table["name"], table["inclusive_s"], strict=True)) == [
        (0, "main", 1.0),
        (1, "solve", 0.5),
        (2, "barrier", 0.15),
        (2, "solve", 0.1),
        (0, "solve", 0.2),
    ]


def test_locations_can_be_chosen() -> None:
    trace = nested()
    sums = profile.call_sums(CallTable(trace), trace, 0, 100, [1])
    assert sums.covered.tolist() == [20]
    assert profile.flat(trace, sums)["name"].tolist() == ["solve"]


def test_calls_that_are_never_left_end_with_the_run_and_lone_leaves_are_counted() -> None:
    trace = build({"calls": [(10, 0, LEAVE, 1), (20, 0, ENTER, 0), (50, 1, ENTER, 1), (60, 1, LEAVE, 1)]}, end=100)
    table = CallTable(trace)
    sums = profile.call_sums(table, trace, 0, 100)
    assert (table.lone, table.endless) == (1, 1)
    assert sums.covered.tolist() == [80, 10]


def test_trace_without_calls_has_an_empty_profile() -> None:
    trace = build({"marks": [(5, 0, 1, 0)]})
    sums = profile.call_sums(CallTable(trace), trace, 0, 5)
    assert profile.flat(trace, sums).empty
    assert profile.tree(trace, sums).empty


def test_numbers_that_are_not_defined_are_left_out() -> None:
    trace = build({"calls": [(0, 7, ENTER, 0), (1, 0, ENTER, 99), (4, 0, LEAVE, 99), (9, 7, LEAVE, 0)]})
    table = profile.flat(trace, profile.call_sums(CallTable(trace), trace, 0, 9))
    assert table.empty  # a region without a name gets no text
    assert profile.tree(trace, profile.call_sums(CallTable(trace), trace, 0, 9))["name"].tolist() == ["(no name)"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(traces(), st.integers(1, 5), st.data())
def test_any_interval_has_the_sums_of_going_through_the_events(trace: Trace, size: int, data: st.DataObject) -> None:
    cut = in_parts(trace, size)
    ticks = st.integers(trace.meta.begin, trace.meta.end)
    begin, middle, end = sorted((data.draw(ticks), data.draw(ticks), data.draw(ticks)))
    table = CallTable(cut)
    for one, other in ((begin, end), (trace.meta.begin, trace.meta.end)):
        if one < other:
            assert named(profile.call_sums(table, cut, one, other)) == one_by_one(trace, one, other)
    parts = [profile.call_sums(table, cut, *ends) for ends in ((begin, middle), (middle, end), (begin, end))]
    for name in ("inclusive", "exclusive"):
        first, second, whole = (getattr(part, name) for part in parts)
        np.testing.assert_array_equal(first + second, whole)
    np.testing.assert_array_equal(parts[2].exclusive.sum(axis=0), parts[2].covered)


def test_matching_again_what_is_not_kept_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = in_parts(nested(), 3)
    whole = named(profile.call_sums(CallTable(trace), trace, 7, 58))
    monkeypatch.setattr("scalegraph.analyze.trace.calls._KEPT", 0)
    assert named(profile.call_sums(CallTable(trace), trace, 7, 58)) == whole
