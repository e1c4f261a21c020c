"""Views of traces, checked on hand-made traces with known content."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Arrows, Figure, LaneTrack, Ticks, Timeline
from scalegraph.figures.render import latex, numbers
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.kinds import NO_TIME, What
from scalegraph.traces.model import Metric, Region, State
from scalegraph.views.trace import tracks as trace_tracks
from tests.views import studies, traces


def spacetime(data: TraceData, **options: object) -> Figure:
    return views.get("spacetime").build(data, **options)  # type: ignore[arg-type]


def panel_of(figure: Figure) -> Timeline:
    (panel,) = figure.panels
    assert isinstance(panel, Timeline)
    return panel


def lanes_of(figure: Figure, index: int = 0) -> LaneTrack:
    track = panel_of(figure).tracks[index]
    assert isinstance(track, LaneTrack)
    return track


def seconds_by_key(track: LaneTrack, lane: int) -> dict[str, float]:
    found: dict[str, float] = {}
    widths = np.diff(track.edges)
    for b, width in enumerate(widths):
        for code, share in zip(track.codes[lane, b], track.shares[lane, b], strict=True):
            if code >= 0 and share > 0:
                name = track.key[code].name
                found[name] = found.get(name, 0.0) + float(share * width)
    return found


def test_views_of_traces_describe_themselves() -> None:
    registered = views.registry("trace")
    assert {"spacetime", "trace-compare"} <= set(registered)
    for view in registered.values():
        assert view.title
        assert view.group
        assert view.description.endswith(".")
        assert all(option.description and option.title for option in view.options)
        if view.window:
            assert {"begin", "end", "width"} <= {option.name for option in view.options}


@pytest.mark.slow
def test_a_view_of_traces_refuses_a_study_and_the_other_way_round() -> None:
    with pytest.raises(InputError, match="'spacetime' is a view of traces, not of a study"):
        views.get("spacetime").build(studies.full())
    with pytest.raises(InputError, match="'speedup' is a view of studies, not of a trace"):
        views.get("speedup").build(traces.halves())


@pytest.mark.parametrize("name", list(views.registry("trace")))
def test_every_view_of_a_trace_has_panels_or_says_what_is_missing(name: str) -> None:
    for data in (traces.halves(), traces.finish(traces.builder(0)), traces.finish(traces.builder(2), end=0)):
        figure = views.get(name).build(data)
        assert figure.view == name
        assert figure.title
        assert bool(figure.panels) != bool(figure.empty)
        assert (figure.sentence or figure.empty).endswith(".")


def test_spacetime_shows_how_long_every_location_did_what() -> None:
    figure = spacetime(traces.halves())
    track = lanes_of(figure)
    assert track.names == ("processor 0", "processor 1")
    assert seconds_by_key(track, 0) == pytest.approx({"busy": 1.0}, abs=0.005)
    assert seconds_by_key(track, 1) == pytest.approx({"busy": 0.5, "idle": 0.5}, abs=0.005)
    assert [key.name for key in panel_of(figure).key] == ["busy", "idle"]
    assert figure.sentence == (
        "2 processors, the whole run of 1.00 s: busy 75\u00a0%, idle 25\u00a0%; 1 message; 1 wait at barriers."
    )


def test_spacetime_draws_messages_from_sender_to_receiver_and_barriers_where_they_open() -> None:
    track = lanes_of(spacetime(traces.halves()))
    arrows = next(one for one in track.overlays if isinstance(one, Arrows))
    assert (arrows.x0.tolist(), arrows.lane0.tolist()) == ([0.25], [0])
    assert (arrows.x1.tolist(), arrows.lane1.tolist()) == ([0.5], [1])
    assert arrows.value is not None
    assert arrows.value.tolist() == [1024.0]
    assert "1\u202f024 bytes" in arrows.tips[0]
    ticks = next(one for one in track.overlays if isinstance(one, Ticks))
    assert (ticks.kind, ticks.x.tolist(), ticks.lane.tolist()) == ("barrier", [1.0], [1])
    assert lanes_of(spacetime(traces.halves(), messages="no", barriers="no")).overlays == ()


def test_a_lock_goes_from_who_held_it_when_it_was_released() -> None:
    made = traces.builder(3, ("work",))
    for number in range(3):
        traces.calls(made, number, (0, 1000, 0))
    traces.wait(made, 100, 400, 2, why=2, holder=0, released=350)
    traces.wait(made, 100, 600, 1, why=2, holder=2, released=NO_TIME)
    track = lanes_of(spacetime(traces.finish(made, 1000)))
    (arrows,) = (one for one in track.overlays if isinstance(one, Arrows))
    assert arrows.kind == "lock"
    order = np.argsort(arrows.x0)
    assert (arrows.x0[order] * traces.SECOND).round().tolist() == [350, 600]
    assert (arrows.lane0[order].tolist(), arrows.lane1[order].tolist()) == ([0, 2], [2, 1])
    assert arrows.value is None


def test_of_many_messages_the_note_says_how_many_are_drawn() -> None:
    made = traces.builder(4, ("work",))
    for number in range(4):
        traces.calls(made, number, (0, traces.SECOND, 0))
    for i in range(500):
        traces.message(made, i * 1000, i * 1000 + 500, i % 4, (i + 1) % 4, 1 << (i % 10))
    figure = spacetime(traces.finish(made), most="100")
    (arrows,) = (one for one in lanes_of(figure).overlays if isinstance(one, Arrows))
    assert (len(arrows.x0), arrows.total) == (100, 500)
    assert any(note.startswith("100 of 500 messages are drawn") for note in figure.notes)
    assert "500 messages" in figure.sentence
    # every part of the run has some
    assert np.histogram(arrows.x0, 10, (0, 0.5))[0].min() > 0


def test_colours_of_regions_are_those_of_their_names() -> None:
    made = traces.builder(1, ("solve", "MPI_Barrier", "other things"))
    traces.calls(made, 0, (0, 400, 0), (400, 600, 1), (600, 1000, 2))
    few = lanes_of(spacetime(traces.finish(made, 1000), colour="region"))
    roles = {key.name: key.role for key in few.key}
    again = traces.builder(1, ("other things", "solve"))
    traces.calls(again, 0, (0, 400, 0), (400, 1000, 1))
    more = {key.name: key.role for key in lanes_of(spacetime(traces.finish(again, 1000), colour="region")).key}
    assert roles["solve"] == more["solve"]
    assert roles["other things"] == more["other things"]
    assert roles["solve"] != roles["other things"]
    assert roles["MPI_Barrier"].startswith("idle")
    assert seconds_by_key(few, 0)["MPI_Barrier"] == pytest.approx(200 / traces.SECOND, rel=0.02)


def test_the_chosen_regions_alone_are_coloured() -> None:
    figure = spacetime(traces.halves(), region="barr")
    assert seconds_by_key(lanes_of(figure), 0) == {}
    assert seconds_by_key(lanes_of(figure), 1) == pytest.approx({"barrier": 0.5}, abs=0.005)
    assert "Only the time in the chosen regions is coloured, by region." in figure.notes


def test_speed_colours_the_bars_by_work_over_time() -> None:
    figure = spacetime(traces.counted(8e6, traces.SECOND, 2), colour="speed")
    track = lanes_of(figure)
    assert track.scale is not None
    assert track.scale.unit == "flop/s"
    assert track.scale.limits == pytest.approx((0.0, 4e6))
    assert set(track.codes.ravel().tolist()) == {31}
    without = spacetime(traces.halves(), colour="speed")
    assert any("counts no operations" in note for note in without.notes)


def test_a_part_of_the_run_and_of_the_locations_is_shown() -> None:
    figure = spacetime(traces.halves(), begin="0.5", end="0.75", locations="1")
    panel = panel_of(figure)
    assert (panel.begin, panel.end, panel.limits) == (0.5, 0.75, (0.0, 1.0))
    track = lanes_of(figure)
    assert track.locations == (1,)
    assert float(track.edges[0]) >= 0.5
    assert float(track.edges[-1]) <= 0.75
    assert seconds_by_key(track, 0)["idle"] == pytest.approx(0.25, abs=0.003)
    assert "1 processor, 250 ms from 500 ms of the run" in figure.sentence


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"begin": "0.5", "end": "0.25"}, "end: expected a time between begin"),
        ({"begin": "2"}, "expected a time between begin and the end of the run"),
        ({"locations": "0-7"}, "there is no location '0-7'; there are 0 to 1"),
        ({"locations": "proc"}, "there is no location 'proc'"),
        ({"region": "solver"}, "no region is called 'solver'; did you mean 'solve'"),
        ({"region": "x", "locations": "9"}, "no region is called 'x'"),
        ({"colour": "loud"}, "expected one of activity"),
    ],
)
def test_options_that_do_not_fit_are_told(options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        spacetime(traces.halves(), **options)


def test_locations_are_chosen_by_number_range_and_name() -> None:
    data = traces.stripes(12)
    assert trace_window.chosen_locations(data, "0-2, 7") == (0, 1, 2, 7)
    assert trace_window.chosen_locations(data, "processor 1*") == (1, 10, 11)
    assert trace_window.chosen_locations(data, "Processor 3,5") == (3, 5)
    assert trace_window.chosen_locations(data) == tuple(range(12))


def test_locations_without_events_are_left_out_and_counted() -> None:
    made = traces.builder(5, ("work",))
    traces.calls(made, 1, (0, 1000, 0))
    traces.calls(made, 3, (0, 1000, 0))
    figure = spacetime(traces.finish(made, 1000))
    assert lanes_of(figure).locations == (1, 3)
    assert "3 locations with nothing to draw are not shown unless named." in figure.notes
    assert lanes_of(spacetime(traces.finish(made, 1000), locations="0-4")).locations == (0, 1, 2, 3, 4)


def test_two_runs_stand_on_one_axis_with_the_ratio_of_times_and_psi() -> None:
    # the isospeed condition: 4 times the processors, 6 times the work in 1.5 times the time
    four, sixteen = traces.counted(4e6, traces.SECOND, 4), traces.counted(24e6, traces.SECOND * 3 // 2, 16)
    figure = views.get("trace-compare").build(replace(four, others=(sixteen,)))
    assert figure.sentence == (
        "The time of 4 processors over that of 16 is 1.00 s/1.50 s = 0.667; the unit speed is held (within 0\u00a0%),"
        " so the scalability from 4 to 16 is 0.667."
    )
    panel = panel_of(figure)
    assert (panel.begin, panel.end) == (0.0, 1.5)
    assert [track.height for track in panel.tracks if isinstance(track, LaneTrack)] == [4, 16]
    assert lanes_of(figure).edges[-1] == pytest.approx(1.0)
    assert lanes_of(figure).title == "on 4: N = 4, 1.00 s, unit speed 1.00 Mflop/s"


def test_a_ratio_of_times_is_not_called_psi_when_the_speed_is_not_held() -> None:
    four, eight = traces.counted(4e6, traces.SECOND, 4), traces.counted(4e6, traces.SECOND, 8)
    figure = views.get("trace-compare").build(replace(four, others=(eight,)))
    assert "differ by 50\u00a0%, so this ratio is not the scalability" in figure.sentence
    plain = traces.halves(), traces.halves(traces.SECOND // 2)
    said = views.get("trace-compare").build(replace(plain[0], others=(plain[1],))).sentence
    assert said == "The time of made over that of made is 1.00 s/500 ms = 2.00."


def test_runs_are_laid_on_one_another_by_share_or_at_a_region() -> None:
    one, two = traces.halves(), traces.halves(traces.SECOND // 2)
    relative = views.get("trace-compare").build(replace(one, others=(two,)), align="relative")
    panel = panel_of(relative)
    assert (panel.begin, panel.end, panel.x.unit) == (0.0, 100.0, "%")
    for index in (0, 1):
        arrows = next(o for o in lanes_of(relative, index).overlays if isinstance(o, Arrows))
        assert arrows.x0.tolist() == pytest.approx([25.0])
    at = views.get("trace-compare").build(replace(one, others=(two,)), align="region", region="barrier")
    assert panel_of(at).limits == pytest.approx((0, 1))
    assert lanes_of(at, 1).edges[[0, -1]].tolist() == pytest.approx([0.25, 0.75])
    part = views.get("trace-compare").build(replace(one, others=(two,)), align="relative", begin=25, end=50)
    assert (panel_of(part).begin, panel_of(part).end) == (25, 50)
    assert lanes_of(part, 1).edges[[0, -1]].tolist() == pytest.approx([25, 50])
    with pytest.raises(InputError, match="expected the region at which the traces are aligned"):
        views.get("trace-compare").build(replace(one, others=(two,)), align="region")


def test_one_trace_alone_is_asked_for_another() -> None:
    figure = views.get("trace-compare").build(traces.halves())
    assert figure.empty.endswith("one is open.")
    assert figure.ways
    assert not figure.panels


@pytest.mark.slow
def test_the_csv_of_a_timeline_adds_up_to_the_time_of_every_lane() -> None:
    text = numbers.csv(spacetime(traces.halves()))
    rows = list(csv.DictReader(io.StringIO(text)))
    sums: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["kind"] == "activity":
            length = float(row["to (s)"]) - float(row["from (s)"])
            look = (row["lane"], row["what"])
            sums[look] = sums.get(look, 0.0) + length * float(row["value"])
    assert sums == pytest.approx(
        {("processor 0", "busy"): 1.0, ("processor 1", "busy"): 0.5, ("processor 1", "idle"): 0.5}, abs=0.005
    )
    (message,) = (row for row in rows if row["kind"] == "message")
    assert (message["lane"], message["to lane"], message["from (s)"], message["to (s)"], message["value"]) == (
        "processor 0",
        "processor 1",
        "0.25",
        "0.5",
        "1024",
    )
    (tick,) = (row for row in rows if row["kind"] == "barrier")
    assert (tick["lane"], tick["from (s)"]) == ("processor 1", "1")


@pytest.mark.slow
def test_json_and_tex_of_a_timeline_hold_its_numbers() -> None:
    figure = spacetime(traces.halves())
    data = json.loads(numbers.as_json(figure))
    track = data["panels"][0]["tracks"][0]
    assert data["panels"][0]["kind"] == "timeline"
    assert len(track["edges"]) == len(track["codes"][0]) + 1
    assert track["overlays"][0]["value"] == [1024.0]
    tex = latex.latex(figure)
    assert r"lane & busy (s) & idle (s)\\" in tex
    assert "processor 1 & 0.5" in tex


def test_a_damaged_trace_says_so_below_every_picture() -> None:
    data = traces.halves()
    data.trace.meta.damage.append("a.prv:7: a record was expected")
    assert "Only a part could be read: a.prv:7: a record was expected." in spacetime(data).notes


def test_threads_of_the_same_name_are_told_apart_by_their_process() -> None:
    from scalegraph.traces.model import Group, Location

    made = traces.builder(0, ("work",))
    for rank in range(2):
        made.group(rank, lambda rank=rank: Group(f"MPI Rank {rank}"))
        made.location(rank, lambda rank=rank: Location("Master thread", "thread", rank))
        traces.calls(made, rank, (0, 1000, 0))
    assert lanes_of(spacetime(traces.finish(made, 1000))).names == ("MPI Rank 0", "MPI Rank 1")


def test_messages_to_locations_that_are_not_shown_leave_the_lanes_at_the_right_side() -> None:
    data = traces.stripes(6)
    window = trace_window.window(data, locations="2-3")
    found = trace_tracks._lanes(window, np.array([0, 2, 3, 5]))
    assert found.tolist() == [-1, 0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(views.registry("trace")))
@pytest.mark.parametrize("kind", ["messages", "counters", "waits", "open", "long"])
def test_odd_traces_are_shown_or_said_to_have_nothing_to_show(name: str, kind: str) -> None:
    def made() -> TraceData:
        odd = traces.builder(3, ("a", "b"))
        if kind == "messages":  # received before sent, sent to itself, unknown ends
            traces.message(odd, 100, 50, 0, 1, 10)
            traces.message(odd, 10, 900, 2, 2, 0)
            odd.rows("messages").add(NO_TIME, NO_TIME, 5, 6, -1, 1, 7, 0, -1)
            odd.rows("messages").add(5, 6, NO_TIME, NO_TIME, 0, -1, 7, 0, -1)
        elif kind == "counters":
            odd.metric("x", lambda: Metric("x"))
            odd.rows("counters").add(5, 0, 0, float("nan"), 0)
            odd.rows("counters").add(7, 0, 0, 1e300, 0)
        elif kind == "waits":  # for a missing location, backwards, for itself
            traces.wait(odd, 10, 500, 0, why=2, holder=7)
            traces.wait(odd, 500, 10, 1, why=1)
            traces.wait(odd, 5, 6, 2, why=2, holder=2, released=NO_TIME)
        elif kind == "open":
            odd.rows("calls").add(3, 0, What.ENTER, 0)
            odd.rows("calls").add(9, 1, What.LEAVE, 1)
        else:
            traces.calls(odd, 0, (0, 2**60, 0))
        return traces.finish(odd, 2**60 if kind == "long" else 1000)

    view = views.get(name)
    data = replace(made(), others=(made(),)) if view.several else made()
    for options in ({}, {"end": 0.0005, "locations": "0-1"}):
        try:
            figure = view.build(data, **options)  # type: ignore[arg-type]
        except InputError:  # a sentence
            continue
        numbers.as_json(figure)
        if figure.panels:
            numbers.csv(figure)


def test_what_is_not_known_of_the_time_is_said() -> None:
    made = traces.builder(5, ("work",))
    traces.calls(made, 1, (0, 1000, 0))
    traces.calls(made, 3, (0, 500, 0))
    whole = traces.finish(made, 1000)
    assert "not known" not in spacetime(whole).sentence
    assert "not known 60\u00a0%" in spacetime(whole, locations="0-4").sentence


def test_messages_without_an_end_are_told_apart_from_those_that_are_left_out() -> None:
    made = traces.builder(2, ("work",))
    traces.calls(made, 0, (0, 1000, 0))
    traces.message(made, 10, 20, 0, 1)
    traces.message(made, 30, int(NO_TIME), 0, 1)
    notes = spacetime(traces.finish(made, 1000)).notes
    assert "1 message of 2 lacks its sender or receiver and is not drawn." in notes
    assert not any("are drawn" in note for note in notes)


def test_libraries_are_no_program_text() -> None:
    """Score-P gives MPI as the file of MPI calls, in line 0."""
    made = traces.builder(1)
    made.region("MPI_Send", lambda: Region("MPI_Send", "MPI", 0))
    traces.calls(made, 0, (0, 1000, 0))
    figure = views.get("trace-source").build(traces.finish(made, 1000))
    assert "name no place" in figure.empty


def test_asynchronous_spans_that_no_lane_shows_are_counted() -> None:
    made = traces.builder(2, ("work",))
    traces.calls(made, 0, (0, 1000, 0))
    made.state("fetch", lambda: State("fetch"))
    made.rows("states").add(10, 500, 1, 0)
    made.meta.format = "chrome"
    notes = spacetime(traces.finish(made, 1000)).notes
    assert "1 asynchronous span of no thread is not drawn." in notes
