"""A moment of a trace: regions with callers, who waits since when and for whom, and the next change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph import views
from scalegraph.figures.figure import Figure, Table
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.kinds import What
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import State, Trace
from scalegraph.views.trace.timeline.moment import change
from tests.traces import made
from tests.views import traces
from tests.views.traces import SECOND


def moment(data: TraceData, at: float, **options: Any) -> Figure:
    return views.get("moment").build(data, at=at, **options)


def rows(figure: Figure, panel: int = 0) -> list[dict[str, Any]]:
    table = figure.panels[panel]
    assert isinstance(table, Table)
    names = [column.name for column in table.columns]
    return [dict(zip(names, row.values, strict=True)) for row in table.rows]


def test_a_moment_says_region_callers_and_who_waits_for_whom_since_when() -> None:
    built = traces.builder(2, ("main", "solve", "barrier"))
    for number in range(2):
        built.rows("calls").add(0, number, What.ENTER, 0)
    traces.calls(built, 0, (1000, 900_000, 1))
    traces.calls(built, 1, (1000, 400_000, 1), (400_000, 900_000, 2))
    traces.wait(built, 500_000, 900_000, 1, why=1, holder=0, region=2)
    figure = moment(traces.finish(built), 0.6)
    first, second = rows(figure)
    assert (first["region"], first["called from"], first["waits for"]) == ("solve (work.c:7)", "main", "")
    assert first["since"] == pytest.approx(0.001)
    assert second["region"] == "barrier (work.c:7)"
    assert (second["waits for"], second["for whom"], second["which is in"]) == ("barrier", "processor 0", "solve")
    assert (second["since"], second["for so long"]) == pytest.approx((0.5, 0.1))
    counts = {row["what"]: row["locations"] for row in rows(figure, 1)}
    assert counts == {"busy": 1, "waiting: barrier": 1}
    assert "2 processors: 1 busy, 1 waiting." in figure.sentence


def test_locations_and_regions_can_be_chosen_and_the_end_is_the_last_tick() -> None:
    data = traces.halves()
    assert [row["location"] for row in rows(moment(data, 0.7, region="barrier"))] == ["processor 1"]
    assert [row["location"] for row in rows(moment(data, 0.7, locations="0"))] == ["processor 0"]
    assert "No location is in" in moment(data, 0.2, region="barrier").empty
    assert [row["region"] for row in rows(moment(data, 5.0))] == ["solve (work.c:7)", "barrier (work.c:7)"]


def test_the_next_and_the_last_change_are_found() -> None:
    data = traces.halves()
    assert change(data, 0.1) == 0.5
    assert change(data, 0.1, "0") == 1.0
    assert change(data, 0.6, back=True) == 0.5
    assert change(data, 1.0) is None
    assert change(data, 0.0, back=True) is None


def test_states_change_too_where_there_are_no_calls() -> None:
    built = traces.builder(1)
    built.state("busy", lambda: State("busy", "busy_int"))
    for begin in (0, 300, 200):  # out of order, and overlapping
        built.rows("states").add(begin, begin + 150, 0, 0)
    data = traces.finish(built)
    found, at = [], 0.0
    while (there := change(data, at)) is not None and len(found) < 20:
        found.append(round(there * SECOND))
        at = there
    assert set(found) >= {150, 200, 300, 350, 450}
    assert found == sorted(found)
    (row,) = rows(moment(data, 400 / SECOND))
    assert (row["region"], row["since"]) == ("not recorded", pytest.approx(300 / SECOND))


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(made.traces(), st.floats(0, 1))
def test_a_step_forward_and_back_returns(trace: Trace, share: float) -> None:
    data = TraceData(trace, Timeline.open(trace), "any")
    at = data.seconds(data.ticks(share * data.length))
    there = change(data, at)
    if there is not None:
        assert there > at
        back = change(data, there, back=True)
        assert back is None or back <= at
        nearer = change(data, at, back=True)
        assert back is None or nearer is None or nearer <= back or back == pytest.approx(at)
    figure = moment(data, at)
    assert bool(figure.panels) != bool(figure.empty)
