"""Views of the critical path and of wait states."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph import views
from scalegraph.figures.figure import Figure, LaneTrack, PathLine, Table, Timeline
from scalegraph.request.results import trace_quantities
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.kinds import Wait
from scalegraph.views.trace.places import place_of
from tests.views import traces

S = traces.SECOND


def imbalance(times: int = 1) -> TraceData:
    """Return two processors with barriers after 60 % of each round: in turn one of them arrives after 20 %."""
    made = traces.builder(2, ("solve:7", "barrier"))
    length = S // times
    for turn in range(times):
        early, late, start = turn % 2, 1 - turn % 2, turn * length
        came, gone = start + length // 5, start + length * 3 // 5
        traces.calls(made, early, (start, came, 0), (came, gone, 1), (gone, start + length, 0))
        traces.wait(made, came, gone, early, holder=late, why=Wait.BARRIER, region=1)
        traces.calls(made, late, (start, gone, 0))
        if turn < times - 1:
            traces.calls(made, late, (gone, start + length, 0))
    return traces.finish(made)


def build(name: str, data: TraceData, **options: object) -> Figure:
    return views.get(name).build(data, **options)  # type: ignore[arg-type]


def line_of(figure: Figure) -> PathLine:
    panel = figure.panels[0]
    assert isinstance(panel, Timeline)
    track = panel.tracks[0]
    assert isinstance(track, LaneTrack)
    (line,) = track.overlays
    assert isinstance(line, PathLine)
    return line


def table_of(figure: Figure, index: int) -> Table:
    panel = figure.panels[index]
    assert isinstance(panel, Table)
    return panel


def test_the_path_is_drawn_on_the_lanes_with_what_lies_on_it() -> None:
    figure = build("critical-path", imbalance())
    line = line_of(figure)
    np.testing.assert_allclose(line.x0, [0, 0.6])
    np.testing.assert_allclose(line.x1, [0.6, 1])
    assert line.lane.tolist() == [1, 0]
    assert figure.sentence == (
        "The critical path of 1.00 s goes over 2 processors with 1 hand-over; 100\u00a0% of it is in solve in line 7"
        " of work.c; were the work there spread evenly, the run would be up to 400 ms shorter."
    )
    rows = {str(row.values[0]): row.values for row in table_of(figure, 1).rows}
    assert rows["solve (work.c:7)"][1:3] == (1.0, 100.0)
    assert rows["barrier (work.c:7)"][1] == 0


def test_a_part_of_the_time_has_its_part_of_the_path() -> None:
    figure = build("critical-path", imbalance(), begin=0.5, end=0.7, show="locations")
    line = line_of(figure)
    np.testing.assert_allclose(line.x0, [0.5, 0.6])
    rows = [(row.values[0], row.values[1]) for row in table_of(figure, 1).rows]
    assert sorted(rows) == [("processor 0", pytest.approx(0.1)), ("processor 1", pytest.approx(0.1))]
    assert place_of(table_of(figure, 1).rows[0].key) is not None


@pytest.mark.slow
def test_a_path_of_very_many_pieces_is_drawn_by_stretches() -> None:
    figure = build("critical-path", imbalance(5000), width=100)
    line = line_of(figure)
    assert len(line.x0) <= 100
    assert (line.x0[1:] == line.x1[:-1]).all()
    assert any("pieces" in note for note in figure.notes)


@pytest.mark.slow
def test_activities_on_the_path_add_up_to_it() -> None:
    for show in ("regions", "activities", "locations"):
        table = table_of(build("critical-path", imbalance(), show=show), 1)
        assert sum(float(row.values[1] or 0) for row in table.rows) == pytest.approx(1.0)


@pytest.mark.slow
def test_waits_are_told_in_a_sentence_with_the_worst_first() -> None:
    figure = build("waits", imbalance())
    assert figure.sentence == (
        "20\u00a0% of processor time waits; 100\u00a0% of that in barrier in line 7 of work.c,"
        " most often for processor 1, which meanwhile is in solve in line 7 of work.c."
    )
    (row,) = table_of(figure, 1).rows
    place = place_of(row.key)
    assert place is not None
    assert (place.begin, place.end, place.location, place.region) == (S // 5, S * 3 // 5, 0, 1)
    assert (row.values[0], row.values[2]) == ("barrier", "processor 0")
    assert [table_of(figure, number).title for number in (0, 1)] == ["Sums", "Single waits"]
    told = any(column.name == "hand-over" for number in (0, 1) for column in table_of(figure, number).columns)
    assert any("hand-over" in note for note in figure.notes) == told, "a column that is not there is not explained"


def test_no_waits_are_an_answer() -> None:
    made = traces.builder(1, ("solve",))
    traces.calls(made, 0, (0, S, 0))
    assert "No location waits for another" in build("waits", traces.finish(made)).empty
    assert build("waits", imbalance(), begin=0.7).empty.startswith("No location waits in ")


@pytest.mark.slow
def test_quantities_hold_the_same_numbers() -> None:
    data = imbalance()
    table = trace_quantities.compute(data, "critical-path")
    assert table.set_index("name")["path_s"]["solve:7"] == 1.0
    pieces = trace_quantities.compute(data, "critical-path", {"show": "pieces"})
    assert pieces["location_name"].tolist() == ["processor 1", "processor 0"]
    assert trace_quantities.compute(data, "critical-path", {"show": "locations"})["path_s"].sum() == 1.0
    assert trace_quantities.compute(data, "critical-path", {"show": "states"}).empty
    (row,) = trace_quantities.compute(data, "waits").to_dict("records")
    assert (row["kind"], row["holder_name"], row["region_name"]) == ("barrier", "processor 1", "barrier")
    assert len(trace_quantities.compute(data, "waits", {"by": "wait", "most": 1})) == 1
