"""Views that sum up an interval, checked on traces with known content."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures import timelines
from scalegraph.figures.figure import AreaTrack, Figure, Grid, LaneTrack, Plot, Radar, Table, Timeline
from scalegraph.subjects import interval_sums
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import NO_TIME, TaskStep, Wait
from scalegraph.traces.lod import Timeline as Detail
from scalegraph.traces.model import Group, Location, Metric, Note, Trace
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.places import Place, place_of
from scalegraph.views.trace.timeline import phases as trace_phases
from scalegraph.views.trace.timeline.speed import speed_unit
from tests.traces import made
from tests.views import traces
from tests.views.traces import SECOND

SUMS = (
    "utilisation",
    "gantt",
    "speed",
    "counters",
    "trace-profile",
    "trace-call-tree",
    "task-summary",
    "kiviat",
    "communication-matrix",
    "messages",
    "durations",
    "trace-overview",
)


def built(name: str, data: TraceData, **options: Any) -> Figure:
    return views.get(name).build(data, **options)


def tables(figure: Figure) -> list[list[tuple[object, ...]]]:
    return [[row.values for row in panel.rows] for panel in figure.panels if isinstance(panel, Table)]


def only(figure: Figure, kind: type[Any]) -> Any:
    (panel,) = [panel for panel in figure.panels if isinstance(panel, kind)]
    return panel


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(made.traces(), st.data())
def test_every_view_of_any_trace_says_something_true(trace: Trace, data: st.DataObject) -> None:
    shown = TraceData(trace, Detail.open(trace), "any")
    ends = sorted((data.draw(st.floats(0, 1)), data.draw(st.floats(0, 1))))
    options = {}
    if shown.ticks(ends[0] * shown.length) < shown.ticks(ends[1] * shown.length):
        options = {"begin": ends[0] * shown.length, "end": ends[1] * shown.length}
    for name in SUMS:
        figure = built(name, shown, **(options if name != "trace-overview" else {}))
        assert bool(figure.empty) != bool(figure.panels)
        assert (figure.empty or figure.sentence).endswith(".")


@pytest.mark.parametrize("name", SUMS)
def test_trace_without_events_or_locations_says_so(name: str) -> None:
    data = traces.finish(traces.builder(0), 10)
    figure = built(name, data)
    assert figure.empty.endswith(".") or name == "trace-overview"


def test_utilisation_counts_who_is_busy_and_its_integral_is_the_busy_time() -> None:
    figure = built("utilisation", traces.halves())
    assert figure.sentence.startswith("On average 1.50 of 2 processors are busy (75\u00a0%)")
    track = only(figure, Timeline).tracks[0]
    assert isinstance(track, AreaTrack)
    widths = np.diff(track.edges)
    assert {area.name: float(area.values @ widths) for area in track.series} == pytest.approx(
        {"busy": 1.5, "idle": 0.5}
    )
    assert tables(figure) == [[("busy", 1.5, 75.0, 1.5), ("idle", 0.5, 25.0, 0.5)]]


def test_utilisation_of_an_interval_and_by_region() -> None:
    figure = built("utilisation", traces.halves(), begin=0.5, by="region")
    assert figure.notes[0] == "Shown: 500 ms to 1.00 s of the run."
    names = {area.name for area in only(figure, Timeline).tracks[0].series}
    assert names == {"solve", "barrier"}
    chosen = built("utilisation", traces.halves(), region="barrier")
    assert [area.name for area in only(chosen, Timeline).tracks[0].series] == ["barrier"]
    assert "no states" in built("utilisation", traces.halves(), by="state").empty


def test_gantt_bars_are_exact_shares_and_lanes_have_three_classes() -> None:
    figure = built("gantt", traces.halves(), end=0.75)
    bars = only(figure, Plot).bars
    assert {name: heights for name, _, heights in bars.series} == {
        "busy": (pytest.approx(100 * 2 / 3), 100.0),
        "idle": (pytest.approx(100 / 3), 0.0),
    }
    track = only(figure, Timeline).tracks[0]
    assert isinstance(track, LaneTrack)
    assert [key.name for key in track.key] == ["busy", "overhead", "idle", "other"]
    every = only(built("gantt", traces.halves(), detail="all"), Timeline).tracks[0]
    assert len(every.key) == 6


def test_profile_has_rows_that_lead_to_the_source() -> None:
    panel = built("trace-profile", traces.halves(), begin=0.25)
    rows = only(panel, Table).rows
    assert [(row.values[0], row.values[2], row.values[9], row.key) for row in rows] == [
        ("solve", 1.0, "work.c:7", "0"),
        ("barrier", 0.5, "work.c:7", "1"),
    ]
    assert "most of it on processor 0: 750.0 ms" in rows[0].tip
    assert "takes 67\u00a0% of the time of 2 processors" in panel.sentence
    assert len(only(built("trace-profile", traces.halves(), region="barr*"), Table).rows) == 1


def test_profile_of_a_time_without_calls_asks_for_a_longer_one() -> None:
    data = traces.builder(1, ("solve",))
    traces.calls(data, 0, (0, 10, 0))
    assert "Choose a longer time" in built("trace-profile", traces.finish(data), begin=0.5).empty


def test_calls_without_their_other_end_are_told() -> None:
    data = traces.builder(1, ("solve",))
    data.rows("calls").add(5, 0, 2, 0)
    data.rows("calls").add(10, 0, 1, 0)
    figure = built("trace-profile", traces.finish(data))
    assert {
        "1 leave has no enter and counts in no region.",
        "1 call is never left and lasts to the end of the run.",
    } <= set(figure.notes)


def nested() -> TraceData:
    data = traces.builder(1, ("main", "solve", "dot", "io"))
    for time, what, region in (
        (0, 1, 0),
        (10, 1, 1),
        (20, 1, 2),
        (30, 2, 2),
        (60, 2, 1),
        (60, 1, 3),
        (90, 2, 3),
        (100, 2, 0),
    ):
        data.rows("calls").add(time * SECOND // 100, 0, what, region)
    return traces.finish(data)


def test_call_tree_of_a_region_keeps_the_way_to_it_and_what_it_calls() -> None:
    rows = only(built("trace-call-tree", nested(), region="solve"), Table).rows
    assert [(row.depth, row.values[0]) for row in rows] == [(0, "main"), (1, "solve"), (2, "dot")]
    whole = built("trace-call-tree", nested())
    assert whole.sentence.startswith("Most time is spent in main → solve: 40")
    few = only(built("trace-call-tree", nested(), least=20), Table).rows
    assert [row.values[0] for row in few] == ["main", "solve", "io"]


def test_matrix_shows_bytes_and_says_who_talks_most() -> None:
    figure = built("communication-matrix", traces.halves())
    grid = only(figure, Grid)
    assert grid.cells[0][1].values == (1.024,)
    assert grid.value_names == ("size (kB)",)
    assert (grid.cells[1][0], grid.rows) == (None, ("0", "1"))
    assert "most goes from processor 0 to processor 1: 100" in figure.sentence
    mean = only(built("communication-matrix", traces.halves(), value="time"), Grid)
    assert mean.cells[0][1].values == (250.0,)
    assert mean.value_names == ("mean time (ms)",)


@pytest.mark.slow
def test_shared_memory_has_a_matrix_of_who_waited_for_whom() -> None:
    data = traces.builder(2, ("solve",))
    traces.wait(data, 0, 100, 1, holder=0, why=Wait.LOCK)
    traces.wait(data, 200, 500, 0, holder=1, why=Wait.BARRIER)
    shared = traces.finish(data)
    figure = built("communication-matrix", shared)
    assert "processor 0 waits longest for processor 1" in figure.sentence
    locks = only(built("communication-matrix", shared, of="lock"), Grid)
    assert (locks.cells[1][0].values, locks.cells[0][1]) == ((pytest.approx(100),), None)
    assert "shared memory. Choose waits" in built("communication-matrix", shared, of="messages").empty
    assert "shared memory. Waits take 400 µs, 75" in built("messages", shared).sentence
    assert "--trace=waits" in built("communication-matrix", nested()).told
    assert "--trace=waits" in built("messages", nested()).told


@pytest.mark.slow
def test_message_statistics_have_a_histogram_and_tables() -> None:
    data = traces.builder(3)
    for number in range(6):
        traces.message(data, number * 100, number * 100 + 50 * (1 + number), 0, 1 + number % 2, 100 << number)
    data.rows("messages").add(900, 900, NO_TIME, NO_TIME, 1, 2, 0, 4, -1)
    figure = built("messages", traces.finish(data), by="tag")
    assert figure.sentence.startswith("7 messages with 6.30 kB, 900 B each, take 175 µs on average and 300 µs at most.")
    histogram = next(panel for panel in figure.panels if isinstance(panel, Plot) and panel.bars)
    assert histogram.bars is not None
    assert sum(histogram.bars.series[0][2]) == 7
    (times,) = (line for panel in figure.panels if isinstance(panel, Plot) for line in panel.lines)
    assert times.origin == "simulated"  # processors are simulated; threads and processes of other tools are measured
    assert [row[0] for row in tables(figure)[0]] == ["0", "4"]


def test_kiviat_lays_traces_over_each_other() -> None:
    data = traces.halves()
    other = replace(traces.counted(100, SECOND, 4), name="good")
    figure = built("kiviat", replace(data, others=(other,)))
    radar = only(figure, Radar)
    assert radar.spokes == ("parallel efficiency", "load balance", "no common waiting", "not idle")
    assert radar.polygons[0].values == pytest.approx((0.75, 0.75, 1.0, 0.75))
    assert radar.polygons[1].values == pytest.approx((1.0, 1.0, 1.0, 1.0))
    assert "the weakest spoke is load balance with 75" in figure.sentence


def test_kiviat_has_a_spoke_for_each_processor_if_asked() -> None:
    figure = built("kiviat", traces.halves(), spokes="locations")
    radar = only(figure, Radar)
    assert (radar.spokes, radar.locations) == (("processor 0", "processor 1"), (0, 1))
    assert radar.polygons[1].values == (1.0, 0.5)
    many = traces.builder(129, ("solve",))
    for number in range(129):
        traces.calls(many, number, (0, 10, 0))
    assert "129 spokes are too many" in built("kiviat", traces.finish(many), spokes="locations").empty


@pytest.mark.slow
def test_clocks_of_two_runs_at_the_same_speed_give_psi() -> None:
    four, sixteen = traces.counted(4e6, SECOND, 4), traces.counted(4e6 * 4 / 0.862, round(SECOND / 0.862), 16)
    figure = built("speed", replace(four, others=(sixteen,)))
    assert "The clock reads 1.00 s on 4 processors; the average unit speed is 1.00 Mflop/s." in figure.sentence
    assert "ψ(4, 16) = T(4)/T(16) = 1.00 s / 1.16 s = 0.862." in figure.sentence
    assert len([panel for panel in figure.panels if isinstance(panel, Timeline)]) == 2
    back = built("speed", replace(sixteen, others=(four,)))
    assert "ψ(4, 16) = T(4)/T(16) = 1.00 s / 1.16 s = 0.862." in back.sentence
    slow = traces.counted(4e6, 2 * SECOND, 16)
    assert "that is not ψ, as the average unit speeds differ" in built("speed", replace(four, others=(slow,))).sentence
    # part of one run and all of another cannot be compared as two clocks
    part = built("speed", replace(four, others=(sixteen,)), end=0.5)
    assert "T(16)" not in part.sentence
    assert "Other traces: the whole of each." in part.notes


def test_speed_of_phases_is_their_work_over_their_time() -> None:
    data = traces.builder(1, ("set-up", "solve"))
    traces.calls(data, 0, (0, SECOND // 4, 0), (SECOND // 4, SECOND, 1))
    data.metric("ops", lambda: Metric("ops", "", "next"))
    data.rows("counters").add(SECOND // 4, 0, 0, 1e6, 0)
    data.rows("counters").add(SECOND, 0, 0, 9e6, 0)
    figure = built("speed", traces.finish(data))
    track = only(figure, Timeline).tracks[0]
    assert track.edges.tolist() == [0, 0.25, 1]
    assert track.scale.limits == (0, 12.0)
    assert tables(figure)[0][0] == ("set-up", 1, 0.25, 25.0, 0.25, 1e6, 4.0, 4.0, 4.0)
    assert tables(figure)[0][1][6] == pytest.approx(12)
    assert tables(figure)[0][-1][6] == pytest.approx(10)
    with pytest.raises(InputError, match="no metric 'opps' that counts; did you mean 'ops'"):
        built("speed", traces.finish(data), metric="opps")
    assert "--trace=counters" in built("speed", nested()).told


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50), st.integers(0, 30), st.floats(0, 9)), max_size=12),
    st.lists(st.integers(0, 80), min_size=2, max_size=9, unique=True),
)
def test_stretches_are_spread_over_bins_by_time(stretches: list[tuple[int, int, int, float]], cuts: list[int]) -> None:
    edges = np.array(sorted(cuts), np.int64)
    lane, begin, length, value = (np.array(part) for part in (zip(*stretches, strict=True) if stretches else ([],) * 4))
    sums, covered = trace_phases.spread(
        lane.astype(np.int64), begin.astype(np.int64), (begin + length).astype(np.int64), value.astype(float), 3, edges
    )
    for row in range(3):
        for bin_, (low, high) in enumerate(pairwise(edges)):
            parts = [(max(0, min(b + n, high) - max(b, low)), v) for w, b, n, v in stretches if w == row]
            assert covered[row, bin_] == sum(part for part, _ in parts)
            assert sums[row, bin_] == pytest.approx(sum(part * v for part, v in parts))


@pytest.mark.slow
def test_task_summary_has_phases_and_the_rest_of_several_traces() -> None:
    figure = built("task-summary", nested())
    assert [row[:2] + row[3:4] for row in tables(figure)[0]] == [
        ("solve", 1, pytest.approx(50)),
        ("io", 1, pytest.approx(30)),
        ("rest", None, pytest.approx(20)),
    ]
    assert figure.notes[1] == "Phases: calls at depth 1."
    both = built("task-summary", replace(nested(), others=(replace(nested(), name="again"),)))
    bars = only(both, Plot).bars
    assert [name for name, _, _ in bars.series] == ["solve", "io", "rest"]
    assert bars.series[0][2] == pytest.approx((50, 50))
    assert "Other traces: the whole of each." not in both.notes
    part = built(
        "task-summary", replace(nested(), others=(replace(nested(), name="again"),)), locations="0", begin=0.00001
    )
    assert "Other traces: the whole of each." in part.notes


def test_task_summary_of_explicit_tasks() -> None:
    data = traces.builder(2, ("task a",))
    for time, where, task, what in (
        (0, 0, 1, TaskStep.CREATED),
        (10, 1, 1, TaskStep.SWITCHED_TO),
        (60, 1, 1, TaskStep.ENDED),
    ):
        data.rows("tasks").add(time, where, task, what, 0)
    shown = traces.finish(data, 100)
    assert tables(built("task-summary", shown))[0][0][:4] == ("task a", 1, 50 / SECOND, 25.0)
    shown.trace.parts["tasks"][0].column("region")[:] = -1  # the trace does not say where it was created
    assert tables(built("task-summary", shown))[0][0][:4] == ("tasks", 1, 50 / SECOND, 25.0)
    assert "--trace=tasks" in built("task-summary", nested(), of="tasks").told


def test_counters_are_rates_and_exact_totals() -> None:
    figure = built("counters", traces.counted(4e6, SECOND, 4), end=0.5)
    track = only(figure, Timeline).tracks[0]
    assert (track.y.unit, track.kind) == ("Mflop/s", "band")
    assert track.series[0].values == pytest.approx(np.full(len(track.edges) - 1, 4.0))
    assert tables(figure) == [[("flops", "flop", 2e6, 4e6, 5e5, 5e5, 5e5, "processor 0")]]
    each = only(built("counters", traces.counted(4e6, SECOND, 4), each=True), Timeline).tracks[0]
    assert len(each.series) == 4
    with pytest.raises(InputError, match="no metric is called 'cycles'"):
        built("counters", traces.counted(1, SECOND, 1), metrics="cycles")
    assert "--trace=counters" in built("counters", nested()).told


def test_durations_are_of_whole_calls_and_name_the_longest() -> None:
    figure = built("durations", nested(), region="dot")
    assert figure.sentence == "1 call, half of them in 100 ms or less, the longest 100 ms."
    assert tables(figure)[0] == [("dot", 0.1, "processor 0", 0.2, 0.3)]
    assert place_of(only(figure, Table).rows[0].key) == Place(200_000, 300_000, 0, 2)
    assert "No call begins and ends" in built("durations", nested(), begin=0.3, end=0.5).empty


def test_overview_tells_the_clock_and_what_was_not_understood() -> None:
    data = traces.halves()
    figure = built("trace-overview", data)
    assert "the trace holds 8 events." in figure.sentence
    assert ("clock", "1\u202f000\u202f000 ticks a second, one tick is 1.00 µs") in tables(figure)[0]
    noted = traces.halves()
    noted.trace.meta.notes.append(Note("parameter events", 3))
    assert "1 kind of thing was not understood" in built("trace-overview", noted).sentence


def test_more_than_64_locations_are_grouped_in_the_matrix() -> None:
    data = traces.builder(100)
    for number in range(99):
        traces.message(data, number, number + 1, number, number + 1)
    grid = only(built("communication-matrix", traces.finish(data, 200)), Grid)
    assert len(grid.rows) == 50


def test_words_for_locations_follow_the_trace() -> None:
    trace = made.build({"marks": [(0, 0, 0, 0)]}, made.definitions(1))
    trace.definitions.locations[0] = Location("rank 0", "process")
    assert trace_sums.located(trace, 1) == "1 process"
    assert trace_sums.located(trace, 4) == "4 processes"


def test_threads_of_processes_are_told_apart_and_unknown_sizes_counted() -> None:
    data = traces.builder(2)
    traces.message(data, 0, 10, 0, 1, 0)
    shown = traces.finish(data)
    shown.trace.definitions.groups[:] = [Group("rank 0"), Group("rank 1")]
    shown.trace.definitions.locations[:] = [
        Location("Master thread", "thread", 0),
        Location("Master thread", "thread", 1),
    ]
    figure = built("communication-matrix", shown)
    assert only(figure, Grid).value_names == ("messages",)
    assert "most goes" not in figure.sentence
    assert tables(built("messages", shown))[0][0][:2] == ("rank 0", "rank 1")


@pytest.mark.slow
def test_the_matrix_leaves_out_most_that_are_silent_and_says_when_sizes_are_not_told() -> None:
    made = traces.builder(20, ("work",))
    for location in range(20):
        traces.calls(made, location, (0, 1000, 0))
    traces.message(made, 10, 20, 3, 17, size=0)
    figure = built("communication-matrix", traces.finish(made, 1000))
    (grid,) = figure.panels
    assert isinstance(grid, Grid)
    assert grid.rows == ("3", "17")
    assert "18 locations that neither send nor receive are left out." in figure.notes
    assert "the trace does not record their sizes" in figure.sentence
    assert "1 message of sizes that are not recorded" in built("messages", traces.finish(made, 1000)).sentence


def test_processes_of_one_name_have_their_number_and_lanes_their_process() -> None:
    made = Builder()
    made.meta.ticks_per_second = 1000
    for process in (70, 71):
        made.group(process, lambda: Group("Renderer", "process"))
        for thread in ("main", "io"):
            key = f"{process}:{thread}"
            made.location(key, lambda key=key, thread=thread, n=process - 70: Location(thread, "thread", n, key))
    data = traces.finish(made, 1000)
    assert data.location_name(0) == "Renderer 70 main"
    assert data.location_name(3) == "Renderer 71 io"
    assert data.lane_groups((0, 1, 3)) == ("Renderer 70", "Renderer 70", "Renderer 71")
    assert data.lane_groups((0, 3)) == ()  # one location each: a group would add nothing


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("flops", "flop/s"),
        ("PAPI_TOT_INS [Instr completed]", "instructions/s"),
        ("PAPI_FP_OPS", "flop/s"),
        ("cars", "cars/s"),
    ],
)
def test_a_speed_has_the_unit_of_what_is_counted(name: str, unit: str) -> None:
    assert speed_unit(name) == unit


def test_locations_that_are_only_numbers_say_what_they_are() -> None:
    made = Builder()
    for number in range(2):
        made.location(number, lambda number=number: Location(str(number), "thread"))
    assert traces.finish(made, 1000).location_name(1) == "thread 1"


def test_names_keep_what_tells_lanes_apart() -> None:
    assert timelines.lane_names(("processor 0", "processor 1")) == ("processor", ("0", "1"))
    assert timelines.lane_names(("THREAD 1.1.1", "THREAD 1.2.1")) == ("THREAD", ("1.1.1", "1.2.1"))
    assert timelines.lane_names(("a 1", "a")) == ("", ("a 1", "a"))
    assert timelines.lane_names(("main", "main")) == ("", ("main", "main"))


@pytest.mark.slow
def test_trace_without_locations_has_empty_quantities() -> None:
    from scalegraph.request.results import trace_quantities

    data = traces.finish(traces.builder(0), 10)
    for name in trace_quantities.TRACE_QUANTITIES:
        assert len(trace_quantities.compute(data, name)) <= 1


def test_views_in_threads_make_what_they_share_once() -> None:
    data, begun = traces.halves(), []

    def slow() -> int:
        begun.append(threading.get_ident())
        barrier.wait(timeout=20)
        return 7

    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(interval_sums.remembered, data, "shared", slow) for _ in range(4)]
        barrier.wait(timeout=20)
        assert [one.result() for one in found] == [7] * 4
    assert len(begun) == 1
    for number in range(20):
        assert interval_sums.remembered(data, f"interval {number}", lambda number=number: number) == number
    assert sum(name.startswith("interval ") for name in data.memo) == 6


def test_a_trace_of_a_part_of_a_run_is_not_called_the_whole_run() -> None:
    data = traces.halves()
    assert "the whole run of 1.00 s" in built("spacetime", data).sentence
    assert "Shown: the whole run." in built("utilisation", data).notes
    data.trace.meta.properties["time_cycles"] = str(4 * SECOND)
    assert "the traced 1.00 s of a run of 4.00 s" in built("spacetime", data).sentence
    assert "Shown: the traced 1.00 s of a run of 4.00 s." in built("utilisation", data).notes
