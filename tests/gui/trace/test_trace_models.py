"""Parts of a trace's window that work without a window: time, layout, filter, cursors, places, options."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QUndoStack

from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Area, AreaTrack, Arrows, Axis, Key, LaneTrack, Timeline
from scalegraph.gui.base import opening
from scalegraph.gui.base.garbage import Collector
from scalegraph.gui.figures.timeline.layout import LEAST_AREA, Layout, group_runs, short_name
from scalegraph.gui.figures.timeline.paint import _by_room, value_text
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.figures.timeline.targets import hit
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_filter import Filter, TraceFilter
from scalegraph.gui.state.trace_marks import TraceMarks
from scalegraph.gui.trace.options import selected_trace_row, trace_row_keys
from scalegraph.gui.trace.pointing import point
from scalegraph.request.imports.kinds import kind_of
from scalegraph.subjects.trace import TraceData
from scalegraph.traces import reading
from scalegraph.traces.lod import Timeline as Detail
from scalegraph.views.trace.places import Place, place_of

SAMPLES = Path(__file__).parents[3] / "traces"


@pytest.fixture(autouse=True)
def _application(qapp: QCoreApplication) -> None:
    """Timers and signals need an application."""


def lanes(count: int = 3) -> Timeline:
    edges = np.linspace(0.0, 1.0, 5)
    codes = np.zeros((count, 4, 1), np.int32)
    shares = np.ones((count, 4, 1), np.float32)
    key = (Key("busy", "busy"),)
    names = tuple(f"rank {n}" for n in range(count))
    track = LaneTrack(names, tuple(range(count)), edges, codes, shares, key)
    area = AreaTrack("busy", Axis("busy"), edges, (Area("busy", "busy", np.array([1.0, 2.0, 3.0, 2.0])),))
    return Timeline(Axis("time", "s"), 0.0, 1.0, (track, area), key, (0.0, 1.0))


def test_zooming_keeps_the_moment_below_the_pointer_and_ends_at_the_run() -> None:
    window = TimeWindow(10.0, 1e-6)
    window.zoom(0.5, 2.0)
    assert window.shown == (1.0, 6.0)
    window.move(-1.0)
    assert window.shown == (0.0, 5.0)
    window.zoom(100.0)
    assert window.whole
    window.zoom(1e-30, 3.0)
    assert window.width == pytest.approx(1e-5)  # ten ticks


def test_back_returns_to_the_time_before_a_jump_and_forward_again() -> None:
    window = TimeWindow(10.0)
    window.show(1.0, 2.0)
    window.move(0.5)
    window.move(0.5)  # two moves without a rest are one step
    window.show(5.0, 6.0)
    window.back()
    assert window.shown == (2.0, 3.0)
    window.back()
    assert window.shown == (1.0, 2.0)
    window.back()
    assert window.whole
    assert not window.can_go_back
    window.forward()
    window.forward()
    window.forward()
    assert window.shown == (5.0, 6.0)


def test_lanes_and_times_have_their_places() -> None:
    layout = Layout(left=100, width=400, height=300)
    layout.place(lanes())
    assert layout.x(0.5) == 300
    assert layout.seconds(300) == 0.5
    band = layout.bands[0]
    assert layout.lane_at(layout.lane_y(band, 2)) == (band, 2)
    many = Layout(left=0, width=10, height=100)
    many.place(lanes(1000))
    assert many.bands[0].lane == 2  # never too thin to see: it scrolls instead
    assert many.most_scroll > 1900
    assert len(many.visible_lanes(many.bands[0])) <= 51


def test_pointing_says_location_time_and_shares() -> None:
    layout = Layout(left=100, width=400, height=300)
    layout.place(lanes())
    found = hit(layout, 150, layout.lane_y(layout.bands[0], 1))
    assert found is not None
    assert found.location == 1
    assert "rank 1" in found.tip
    assert "busy 100.0 %" in found.tip
    value = hit(layout, 260, layout.bands[1].top + 5)
    assert value is not None
    assert "busy 2" in value.tip
    name = hit(layout, 20, layout.lane_y(layout.bands[0], 2))
    assert name is not None
    assert (name.what, name.location) == ("name", 2)


def test_times_of_all_views_in_sight_begin_below_one_another(qtbot: Any) -> None:
    """The gutter is as wide as the longest visible name; a hidden view releases its room."""
    window = TimeWindow(1.0)
    edges = np.linspace(0.0, 1.0, 3)
    area = AreaTrack("busy", Axis("busy"), edges, (Area("busy", "busy", np.array([1.0, 2.0])),))
    track = lanes().tracks[0]
    assert isinstance(track, LaneTrack)
    long = replace(track, names=("a processor of a long name 0", "1", "2"))
    above = TimelinePanel(replace(lanes(), tracks=(long,)), window=window)
    below = TimelinePanel(replace(lanes(), tracks=(area,)), window=window)
    for panel in (above, below):
        qtbot.addWidget(panel)
        panel.resize(900, 300)
        panel.show()
    wide = above.canvas.places.left
    assert wide > 120
    assert (below.canvas.places.left, below.canvas.places.width) == (wide, above.canvas.places.width)
    above.hide()
    assert below.canvas.places.left < wide


def test_lanes_of_a_process_stand_together_and_keep_their_own_names() -> None:
    track = lanes().tracks[0]
    assert isinstance(track, LaneTrack)
    track = replace(track, names=("a main", "a io", "b"), groups=("a", "a", "b"))
    assert group_runs(track) == [(0, 2, "a"), (2, 3, "b")]
    assert group_runs(replace(track, groups=())) == []
    assert [short_name(track, lane) for lane in range(3)] == ["main", "io", "b"]


def test_two_traces_of_different_groups_stand_in_one_picture(qtbot: Any) -> None:
    tracks = [lanes(count).tracks[0] for count in (3, 1)]
    grouped = [
        replace(track, groups=groups)
        for track, groups in zip(tracks, (("a", "a", "b"), ("a",)), strict=True)
        if isinstance(track, LaneTrack)
    ]
    panel = TimelinePanel(replace(lanes(), tracks=tuple(grouped)), window=TimeWindow(1.0))
    qtbot.addWidget(panel)
    panel.resize(900, 300)
    panel.show()
    assert [band.track.height for band in panel.canvas.places.bands if isinstance(band.track, LaneTrack)] == [3, 1]


def test_the_key_of_messages_names_both_ends_of_their_scale(qtbot: Any) -> None:
    times = np.array([0.1, 0.2])
    sizes = Arrows(
        "message", "message size", times, np.array([0, 1]), times + 0.1, np.array([1, 0]), np.array([8.0, 65536.0])
    )
    track = lanes().tracks[0]
    assert isinstance(track, LaneTrack)
    track = replace(track, overlays=(sizes,))
    panel = TimelinePanel(replace(lanes(), tracks=(track,)))
    qtbot.addWidget(panel)
    assert panel.key_texts() == ["busy", "message size 8.00 B", "65.5 kB"]
    light = [entry.colour for entry in panel._legend.entries()]
    panel.set_theme("dark")
    dark = [entry.colour for entry in panel._legend.entries()]
    assert light[0] == dark[0]  # accounting categories look alike in all themes
    assert light[1] != dark[1]


def test_connectors_that_stand_close_are_faint() -> None:
    """Hundreds of connectors on a path are faint, so that the bars behind stay visible; a few are dark."""
    assert [round(dark, 2) for dark, some in _by_room(np.array([10.0, 200.0])) if len(some)] == [0.8]
    packed = {round(dark, 2): len(some) for dark, some in _by_room(np.arange(400) * 0.5) if len(some)}
    assert packed[0.3] > 380
    assert sum(packed.values()) == 400


def test_several_values_over_time_scroll_before_their_scales_run_together_but_one_never_does() -> None:
    edges = np.array([0.0, 1.0])
    area = Area("x", "busy", np.array([1.0]))
    tracks = tuple(AreaTrack(f"m{number}", Axis("x", "M/s"), edges, (area,)) for number in range(6))
    layout = Layout(height=120)
    layout.place(Timeline(Axis("time", "s"), 0.0, 1.0, tracks))
    assert min(band.height for band in layout.bands) >= LEAST_AREA
    assert layout.most_scroll > 0
    layout = Layout(height=50)
    layout.place(Timeline(Axis("time", "s"), 0.0, 1.0, tracks[:1]))
    assert layout.most_scroll == 0


def test_an_axis_never_has_two_prefixes_before_its_unit() -> None:
    assert value_text(0.5, "M/s") == "0.5 M/s"
    assert value_text(367.2, "M/s") == "367 M/s"
    assert value_text(0.0, "M/s") == "0 M/s"
    assert value_text(0.002, "s") == "2.00 ms"


@pytest.mark.slow
def test_garbage_is_collected_between_events_only(qtbot: Any) -> None:
    was = gc.isenabled()
    collector = Collector()
    try:
        assert not gc.isenabled()
        gc.collect()
        assert collector.collect() == -1
        kept = [[] for _ in range(gc.get_threshold()[0] + 100)]  # type: ignore[var-annotated]
        assert collector.collect() == 0
        assert len(kept) > 100
    finally:
        collector.end()
        assert gc.isenabled() == was


class Cycle:
    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def collector(qtbot: Any) -> Iterator[Collector]:
    made = Collector()
    yield made
    made.end()


def test_what_a_window_leaves_behind_is_collected_also_after_another_was_made(collector: Collector) -> None:
    collector.settle()  # the first window has loaded its modules
    left = weakref.ref(Cycle())
    collector.settle()  # another window has loaded its own
    gc.collect()
    assert left() is None


@pytest.mark.slow
def test_what_is_old_is_looked_at_again_only_when_nothing_happens(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cycle()
    left = weakref.ref(kept)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 999))  # overdue: does not wait for a pause
    assert collector.collect() == 2
    assert not [each for each in gc.get_objects() if each is kept]  # frozen: the next collection has less to do
    del kept
    for counts in ((0, 0, 999), (999, 0, 0)):  # the user is active
        monkeypatch.setattr(gc, "get_count", lambda counts=counts: counts)
        collector.collect()
        assert left() is not None
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 0))
    times = 0
    while left() is not None:
        assert collector.collect() in (-1, 2)
        times += 1
    assert times in (49, 50)  # its own timer may have counted once
    assert [collector.collect() for _ in range(60)] == [-1] * 60  # nothing left to collect


@pytest.mark.slow
def test_the_oldest_generation_waits_for_a_pause(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    most = gc.get_threshold()
    at_work, pause = (most[0] + 1, 0, most[2] + 1), (0, 0, most[2] + 1)
    monkeypatch.setattr(gc, "get_count", lambda: at_work)
    assert [collector.collect() for _ in range(20)] == [0] * 20
    monkeypatch.setattr(gc, "get_count", lambda: pause)
    times = 1
    while collector.collect() != 2:
        times += 1
        assert times < 10
    assert times in (4, 5)  # its own timer may have counted once


def test_filters_are_chips_and_can_be_undone() -> None:
    chosen = TraceFilter()
    chosen.set(region="solve")
    chosen.set(duration=2e-6)
    assert [text for _, text in chosen.current.chips()] == ["region solve", "2.00 µs or longer"]
    assert chosen.current.options() == {"region": "solve", "duration": 2e-6}
    assert isinstance(chosen.stack, QUndoStack)
    chosen.stack.undo()
    assert chosen.current == Filter(region="solve")
    chosen.clear()
    assert chosen.current.empty
    chosen.stack.undo()
    assert chosen.current == Filter(region="solve")


def test_two_cursors_tell_the_time_between_them_in_cycles() -> None:
    marks = TraceMarks(20e6, "cycles")
    marks.place(1e-3)
    assert marks.said().startswith("A 1.0000")
    marks.place(3e-3)
    assert "2.00000 ms" in marks.said()
    assert marks.said().endswith("40\u202f000 cycles")
    marks.place(5e-3)  # a third starts again
    assert list(marks.cursors) == ["A"]


def test_a_row_names_its_place() -> None:
    place = Place(10, 30, 2, 5)
    assert place_of(place.key) == place
    assert place_of(place.key + ":7") == place
    assert place_of("region:5") is None
    assert place_of("at:1:2:x:4") is None
    selection = Selection(study="t", interval=(10, 30), location=2, region=5)
    assert place.key in trace_row_keys(selection, "t")
    assert trace_row_keys(selection, "other") == ()
    assert selected_trace_row("region:5") == {"region": 5}
    assert selected_trace_row("location:3") == {"location": 3}
    assert selected_trace_row(place.key) == {}


@pytest.mark.parametrize("name", ["pipeline.sgtrace", "pipeline.json", "pipeline.prv", "calls.csv", "ring.trf"])
def test_traces_are_known_by_what_stands_in_them(name: str, tmp_path: Path) -> None:
    assert kind_of(SAMPLES / name) == "trace"
    assert f"*{Path(name).suffix}" in opening.open_filter()


def test_tables_and_json_of_measurements_are_none(tmp_path: Path) -> None:
    table = tmp_path / "times.csv"
    table.write_text("p,time\n1,2.0\n2,1.1\n")
    assert kind_of(table) == "measurements"
    lines = tmp_path / "times.json"
    lines.write_text('{"params": {"p": 4}, "value": 1.5}\n')
    assert kind_of(lines) == "measurements"
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="measurements or a trace"):
        kind_of(tmp_path / "empty")


def test_what_is_at_a_place_is_known_to_the_tick() -> None:
    trace: Any = reading.read(SAMPLES / "pipeline.sgtrace")
    with trace:
        data = TraceData(trace, Detail.open(trace), "pipeline")
        waits = trace.columns("waits")
        begin, end, location = (int(waits[name][0]) for name in ("begin", "end", "location"))
        middle = (begin + end) // 2
        found = point(data, location, middle, middle + 10)
        assert (found.begin, found.end) == (begin, end)
        assert found.region == int(waits["region"][0])
        words = found.words(data, middle, middle + 10)
        assert data.location_name(location) in words
        assert f"{end - begin} ticks" in words
