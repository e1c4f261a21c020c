"""A part of a very large trace gives the same results for its interval as the whole trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.critical_path import critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.interval import part_of, reach, rows_in
from scalegraph.analyze.trace.wait_states import by_place, wait_states, worst
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.analyze.trace.whole import on_path_by_times, times_of, waits_by_times
from scalegraph.figures.figure import Table
from scalegraph.subjects import trace_dependencies as trace_dependencies
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import window
from scalegraph.traces.kinds import KINDS, LockStep, TaskStep
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import MemoryPart, Trace
from scalegraph.traces.reading import read
from scalegraph.views import get
from tests.analyze.trace.made import calls
from tests.analyze.trace.made import trace as hand_made
from tests.analyze.trace.test_critical_path_models import Model, programs

SAMPLE = Path(__file__).parents[3] / "traces" / "billiard-4.sgtrace"


@pytest.fixture
def trace() -> Trace:
    """Return a simulated run whose calls are in several parts, in time order."""
    found = read(SAMPLE)
    columns = found.columns("calls")
    order = np.argsort(columns["time"], kind="stable")
    parts = {kind: list(some) for kind, some in found.parts.items()}
    parts["calls"] = [
        MemoryPart("calls", {name: values[some] for name, values in columns.items()})
        for some in np.array_split(order, 12)
    ]
    return Trace(found.definitions, found.meta, parts)


def middle(trace: Trace) -> tuple[int, int]:
    length = trace.meta.end - trace.meta.begin
    return trace.meta.begin + length * 4 // 10, trace.meta.begin + length * 5 // 10


def test_the_waits_of_a_part_are_those_of_the_whole(trace: Trace) -> None:
    begin, end = middle(trace)
    part, beyond = part_of(trace, CallTable(trace), begin, end)
    assert part.count("calls") < trace.count("calls") / 2
    told = []
    for one, more in ((trace, None), (part, beyond)):
        waits = Waits.of(one, more)
        rows = waits.rows.take((waits.rows.begin >= begin) & (waits.rows.end <= end))
        path = [waits.stacks.region_of(waits.stacks.at(rows.location, rows.end, before=True)).tolist()]
        columns = (rows.begin, rows.end, rows.location, rows.holder, rows.released, rows.cause, rows.region)
        told.append(([column.tolist() for column in columns], path))
    assert told[0] == told[1]
    assert told[0][0][0]


def shown(data: TraceData, name: str, **choices: float) -> list[list[str]]:
    """Return the cells of all tables of a view."""
    tables = [panel for panel in get(name).build(data, **choices).panels if isinstance(panel, Table)]
    return [
        [f"{cell:.9g}" if isinstance(cell, float) else str(cell) for cell in row.values]
        for table in tables
        for row in table.rows
    ]


@pytest.mark.slow
def test_views_of_a_very_large_trace_show_what_they_show_of_a_small_one(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, end = middle(trace)
    small, large = (TraceData(trace, Timeline.open(trace), "run") for _ in range(2))
    whole = {name: (shown(small, name), get(name).build(small).sentence) for name in ("waits", "critical-path")}
    monkeypatch.setattr(trace_dependencies, "LARGE", sum(trace.counts().values()) // 3)
    assert len(trace_dependencies._times(large)) > 4
    for name, (rows, sentence) in whole.items():
        assert shown(large, name) == rows, name
        assert get(name).build(large).sentence == sentence
    some = {"begin": small.seconds(begin), "end": small.seconds(end)}
    assert shown(large, "waits", **some)
    assert get("durations").build(large).panels  # scans the events part by part
    assert get("moment").build(large, at=large.seconds(begin)).panels


def test_the_path_of_a_part_is_that_of_the_whole_run(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, end = middle(trace)
    whole = TraceData(trace, Timeline.open(trace), "large")
    times = (whole.seconds(begin), whole.seconds(end))
    all_of_it = trace_dependencies.path_in(window(whole, *times))
    monkeypatch.setattr(trace_dependencies, "LARGE", rows_in(trace, *reach(trace, begin, end)))
    part = trace_dependencies.path_in(window(TraceData(trace, whole.timeline, "large"), *times))
    last = int(part.end[-1])
    assert abs(part.length - all_of_it.length) <= (end - begin) // 100
    assert last <= end


def in_parts(trace: Trace, pieces: int, *, by_location: bool) -> Trace:
    """Return *trace* in parts: in time order, or one location after the other, as archive readers produce them."""
    parts: dict[str, list[MemoryPart]] = {}
    for kind, spec in KINDS.items():
        columns = trace.columns(kind)
        keys = (columns[spec.begin], columns[spec.whose[0]])
        order = np.lexsort(keys if by_location else keys[::-1]) if kind != "calls" else np.arange(len(keys[0]))
        if kind == "calls" and not by_location:
            order = np.argsort(keys[0], kind="stable")
        parts[kind] = [
            MemoryPart(kind, {name: values[some] for name, values in columns.items()})
            for some in np.array_split(order, pieces)
            if len(some)
        ]
    return Trace(trace.definitions, trace.meta, parts)


def seen(trace: Trace, waits: Waits, begin: int, end: int) -> dict[tuple[int, int, int], tuple[int, int, int, int]]:
    """Return cause, holder, release and end of each wait's part in the interval, by location, begin and end."""
    rows = waits.rows
    found = {}
    for row in np.flatnonzero((rows.end > begin) & (rows.begin < end)).tolist():
        place = int(rows.location[row]), max(int(rows.begin[row]), begin), min(int(rows.end[row]), end)
        found[place] = int(rows.cause[row]), int(rows.holder[row]), int(rows.released[row]), int(rows.end[row])
    return found


def idlers() -> Trace:
    """Return threads that are sometimes outside every region, hand over a lock, and run a task created by another."""
    lock, acquired, released = 3, LockStep.ACQUIRED, LockStep.RELEASED
    created, runs, ended = TaskStep.CREATED, TaskStep.SWITCHED_TO, TaskStep.ENDED
    return hand_made(
        3,
        {
            "calls": [
                *calls(0, (0, 100, "main"), (5, 12, "omp critical"), (30, 62, "omp critical")),
                *calls(1, (4, 20, "solve"), (40, 44, "solve"), (70, 99, "solve")),
                *calls(2, (2, 28, "main"), (10, 25, "omp critical"), (60, 100, "main"), (80, 85, "omp barrier")),
            ],
            "locks": [
                (6, 0, lock, 1, acquired),
                (11, 0, lock, 1, released),
                (13, 2, lock, 2, acquired),
                (24, 2, lock, 2, released),
                (33, 0, lock, 3, acquired),
                (60, 0, lock, 3, released),
            ],
            "tasks": [
                (3, 0, 1, created, 1),
                (40, 1, 1, runs, 1),
                (44, 1, 1, ended, 1),
                (50, 0, 2, created, 1),
                (70, 1, 2, runs, 1),
                (99, 1, 2, ended, 1),
            ],
        },
        groups=True,
    )


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.one_of(programs().map(Model.made), st.just(idlers())), st.booleans(), st.integers(1, 6), st.data())
def test_an_interval_of_any_run_has_the_waits_of_the_whole(
    made: Trace, by_location: bool, pieces: int, data: st.DataObject
) -> None:
    trace = in_parts(made, pieces, by_location=by_location)
    begin = data.draw(st.integers(0, trace.meta.end - 1))
    end = data.draw(st.integers(begin + 1, trace.meta.end))
    whole = Waits.of(trace)
    part, beyond = part_of(trace, CallTable(trace), begin, end)
    one, other = seen(trace, whole, begin, end), seen(part, Waits.of(part, beyond), begin, end)
    for place, (cause, holder, released, last) in one.items():
        if last <= beyond.end:
            assert other.pop(place)[:3] == (cause, holder, released)
        elif cause not in (Cause.START, Cause.LOCK) or place in other:  # what is decided later is unknown
            said = other.pop(place)
            assert said[0] in (cause, Cause.UNKNOWN)
            assert said[1] in (holder, -1)
    assert not other


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.one_of(programs().map(Model.made), st.just(idlers())), st.booleans(), st.integers(1, 6), st.integers(10, 200))
def test_waits_and_path_that_are_found_one_time_after_the_other_are_those_of_the_whole(
    made: Trace, by_location: bool, pieces: int, most: int
) -> None:
    trace = in_parts(made, pieces, by_location=by_location)
    whole = Waits.of(trace)
    times = times_of(trace, most)
    assert times[0][0] <= trace.meta.begin
    assert times[-1][1] == trace.meta.end
    assert [begin for begin, _ in times[1:]] == [end for _, end in times[:-1]]
    table = CallTable(trace)
    joined = waits_by_times(trace, table, times)
    for name in ("begin", "end", "location", "holder", "released", "cause", "region", "object", "jump", "told"):
        assert getattr(joined.rows, name).tolist() == getattr(whole.rows, name).tolist(), name
    assert (joined.since.tolist(), joined.until.tolist()) == (whole.since.tolist(), whole.until.tolist())
    one, other = wait_states(trace, whole), wait_states(trace, joined)
    for tabulate in (by_place, worst):
        told, found = (tabulate(trace, states).drop(columns="holder_region") for states in (one, other))
        pd.testing.assert_frame_equal(found, told)
    path = critical_path(trace, whole)
    again = critical_path(trace, joined)
    assert [path.begin.tolist(), path.location.tolist()] == [again.begin.tolist(), again.location.tolist()]
    expected, found = on_path(Contents(trace, whole), path), on_path_by_times(trace, table, times, joined, again)
    for name in ("regions", "states", "locations", "kinds"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize("by_location", [False, True])
def test_what_is_looked_at_is_counted_by_time_whatever_part_it_lies_in(*, by_location: bool) -> None:
    trace = in_parts(idlers(), 2, by_location=by_location)
    assert rows_in(trace, 0, 100) == sum(trace.counts().values())
    # calls 0 to 13 have six enters and leaves; locks three events, tasks one
    assert rows_in(trace, 0, 13) == 6 + 3 + 1
