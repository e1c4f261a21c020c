"""A part of a very large trace tells the same of its time as the whole trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.part import part_of, rows_in
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.errors import InputError
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import MemoryPart, Trace
from scalegraph.traces.reading import read
from scalegraph.views import get, trace_dependencies
from scalegraph.views.trace_common import window
from scalegraph.views.trace_data import TraceData

SAMPLE = Path(__file__).parents[3] / "traces" / "billiard-4.sgtrace"


@pytest.fixture
def trace() -> Trace:
    """A simulated run whose calls lie in parts, one after the other in time."""
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
    part = part_of(trace, CallTable(trace), begin, end)
    assert part.count("calls") < trace.count("calls") / 2
    told = []
    for one in (trace, part):
        waits = Waits.of(one)
        rows = waits.rows.take((waits.rows.begin >= begin) & (waits.rows.end <= end))
        path = [waits.stacks.region_of(waits.stacks.at(rows.location, rows.end, before=True)).tolist()]
        columns = (rows.begin, rows.end, rows.location, rows.holder, rows.released, rows.cause, rows.region)
        told.append(([column.tolist() for column in columns], path))
    assert told[0] == told[1]
    assert told[0][0][0]


def test_views_of_a_very_large_trace_ask_for_a_time_and_show_it(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, end = middle(trace)
    monkeypatch.setattr(trace_dependencies, "LARGE", rows_in(trace, begin, end))
    data = TraceData(trace, Timeline.open(trace), "large")
    for name in ("waits", "critical-path", "durations"):
        figure = get(name).build(data)
        assert "Choose a time of about" in figure.empty
        shown = get(name).build(data, begin=data.seconds(begin), end=data.seconds(end))
        assert shown.panels or "No call begins and ends" in shown.empty
    with pytest.raises(InputError, match="Choose a time"):
        trace_dependencies.wait_states_in(window(data))
    assert get("moment").build(data, at=data.seconds(begin)).panels


def test_the_path_of_a_part_is_that_of_the_whole_run(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, end = middle(trace)
    whole = TraceData(trace, Timeline.open(trace), "large")
    times = (whole.seconds(begin), whole.seconds(end))
    all_of_it = trace_dependencies.path_in(window(whole, *times))
    monkeypatch.setattr(trace_dependencies, "LARGE", rows_in(trace, begin, end))
    part = trace_dependencies.path_in(window(TraceData(trace, whole.timeline, "large"), *times))
    last = int(part.end[-1])
    assert abs(part.length - all_of_it.length) <= (end - begin) // 100
    assert last <= end
