"""The option `duration`: views of a trace whose visits, waits and messages have known durations."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph import views
from scalegraph.base.cancel import Cancelled, CancelToken, working
from scalegraph.figures.figure import Arrows, Figure, LaneTrack, Table, Timeline
from scalegraph.request.results.trace_quantities import compute
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import lasting
from tests.views import traces


def several() -> TraceData:
    """Return main for 1 s with visits of 0.1, 0.2 and 0.001 s, waits of 0.1 and 0.01 s, messages of 0.2 and 0.001 s."""
    made = traces.builder(2, ("main", "long", "short"))
    for who in range(2):
        made.rows("calls").add(0, who, 1, 0)
        traces.calls(made, who, (100_000, 200_000, 1), (300_000, 500_000, 1), (600_000, 601_000, 2))
        made.rows("calls").add(1_000_000, who, 2, 0)
    traces.wait(made, 100_000, 200_000, 0, why=1, holder=1, region=1)
    traces.wait(made, 300_000, 310_000, 1, why=1, holder=0, region=1)
    traces.message(made, 0, 200_000, 0, 1)
    traces.message(made, 600_000, 601_000, 1, 0)
    return traces.finish(made)


def built(name: str, **options: object) -> Figure:
    return views.get(name).build(several(), **options)  # type: ignore[arg-type]


def table_of(figure: Figure) -> dict[str, tuple[object, ...]]:
    table = next(panel for panel in figure.panels if isinstance(panel, Table))
    return {str(row.values[0]): row.values[1:] for row in table.rows}


def test_short_visits_are_drawn_as_their_caller() -> None:
    (panel,) = built("spacetime", duration=0.15, width=100).panels
    assert isinstance(panel, Timeline)
    track = panel.tracks[0]
    assert isinstance(track, LaneTrack)
    names = {key.name: number for number, key in enumerate(track.key)}
    seconds = {
        name: float((np.diff(track.edges)[:, None] * np.where(track.codes[0] == code, track.shares[0], 0.0)).sum())
        for name, code in names.items()
    }
    assert seconds["main"] == pytest.approx(0.8, abs=0.01)
    assert seconds["long"] == pytest.approx(0.2, abs=0.01)
    assert seconds["short"] == 0
    arrows = [one for one in track.overlays if isinstance(one, Arrows)]
    assert [len(one.x0) for one in arrows] == [1]
    assert "shorter visits count to their caller" in " ".join(built("spacetime", duration=0.15).notes)


@pytest.mark.slow
def test_the_profile_counts_only_visits_that_last() -> None:
    rows = table_of(built("trace-profile", duration=0.05))
    assert set(rows) == {"main", "long"}
    assert rows["long"][0] == 4
    assert rows["main"][1] == pytest.approx(1.4)
    rows = table_of(built("trace-profile", duration=0.15))
    assert rows["long"][:2] == (2, pytest.approx(0.4))
    assert rows["main"][1] == pytest.approx(1.6)
    assert set(table_of(built("trace-call-tree", duration=0.15))) == {"main", "long"}
    part = table_of(built("trace-profile", duration=0.15, begin=0.4, end=0.6))
    assert part["long"][1] == pytest.approx(0.2)  # cut by the interval, but 0.2 s long in full


@pytest.mark.slow
def test_waits_messages_and_durations() -> None:
    figure = built("waits", duration=0.05)
    singles = [panel for panel in figure.panels if isinstance(panel, Table)][1]
    assert [row.values[2] for row in singles.rows] == ["processor 0"]
    assert built("messages", duration=0.1).sentence.startswith("1 message ")
    assert built("messages").sentence.startswith("2 messages ")
    assert built("durations", duration=0.15).sentence.startswith("4 calls")


@pytest.mark.parametrize("name", ["spacetime", "trace-profile", "trace-call-tree", "durations", "waits", "messages"])
def test_a_duration_that_nothing_has_is_said(name: str) -> None:
    assert "lasts 5.00 s or longer" in built(name, duration=5).empty


def test_durations_of_quantities() -> None:
    data = several()
    assert compute(data, "profile", {"duration": "0.15"})["visits"].tolist() == [2, 2]
    assert compute(data, "waits", {"duration": "0.05", "by": "wait"})["lost_s"].tolist() == [0.1]
    assert compute(data, "find", {"text": "long", "duration": "0.15"})["count"].tolist() == [2]


def test_what_is_filtered_can_be_stopped_and_is_made_again() -> None:
    data, token = several(), CancelToken()
    token.cancel()
    with working(token), pytest.raises(Cancelled):
        lasting(data, 0.15)
    assert lasting(data, 0.15).trace.count("messages") == 1
    assert lasting(data, 0.15) is lasting(data, 0.15)
    assert lasting(data, 0) is data
