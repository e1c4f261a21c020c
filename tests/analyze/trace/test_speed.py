"""Phases, the work counted in them, and speeds, against hand counts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace import durations, phases, speed, tasks, work
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.traces.kinds import TaskStep, What
from scalegraph.traces.model import Definitions, Location, Metric, Region, State, Trace
from tests.traces.made import build, definitions, traces

ENTER, LEAVE = What.ENTER, What.LEAVE
CREATED, SWITCHED, ENDED = TaskStep.CREATED, TaskStep.SWITCHED_TO, TaskStep.ENDED


def two_phases(kind: str = "function") -> Trace:
    """Two locations: set-up 0..20 and 0..10, then solve 20..100 and 10..100, in main; flops at the end of each."""
    rows = []
    for who, cut in ((0, 20), (1, 10)):
        rows += [
            (0, who, ENTER, 0),
            (0, who, ENTER, 1),
            (cut, who, LEAVE, 1),
            (cut, who, ENTER, 2),
            (60, who, ENTER, 3),
            (70, who, LEAVE, 3),
            (100, who, LEAVE, 2),
            (100, who, LEAVE, 0),
        ]
    flops = [(20, 0, 0, 40.0, 40), (100, 0, 0, 800.0, 800), (10, 1, 0, 10.0, 10), (100, 1, 0, 450.0, 450)]
    return build(
        {"calls": rows, "counters": flops},
        Definitions(
            locations=[Location("p 0"), Location("p 1")],
            regions=[Region("main"), Region("set-up", "a.c", 5, kind), Region("solve", "a.c", 9, kind), Region("dot")],
            metrics=[Metric("flops", "", "next", True), Metric("load", "", "last")],
        ),
        ticks_per_second=100,
    )


def test_phases_are_found_where_the_program_forks_into_regions() -> None:
    trace = two_phases()
    found = phases.phases(CallTable(trace), trace, 0, 100)
    assert found.how == "calls at depth 1"
    assert found.regions == (1, 2)
    assert np.column_stack([found.location, found.phase, found.begin, found.end]).tolist() == [
        [0, 0, 0, 20],
        [0, 1, 20, 100],
        [1, 0, 0, 10],
        [1, 1, 10, 100],
    ]


def test_phases_can_be_marked_parallel_at_a_depth_or_chosen() -> None:
    trace = two_phases("parallel")
    table = CallTable(trace)
    assert phases.phases(table, trace, 0, 100).how == "parallel regions"
    assert phases.phases(table, trace, 0, 100, by="depth").regions == (1, 2)
    assert phases.phases(table, trace, 0, 100, depth=0).regions == (0,)
    assert len(phases.phases(table, trace, 0, 100, by="phase")) == 0
    chosen = phases.phases(table, trace, 65, 80, [1], regions=[3, 2])
    assert (chosen.regions, chosen.begin.tolist(), chosen.end.tolist()) == ((2,), [65], [80])  # the outermost of both
    one = two_phases()
    one.definitions.regions[0] = Region("loop", kind="parallel")
    inside = phases.phases(CallTable(one), one, 0, 100)
    assert (inside.how, inside.regions) == ("calls in loop", (1, 2))
    assert phases.phases(CallTable(one), one, 0, 100, by="parallel").regions == (0,)
    assert phases.phases(CallTable(two_phases("phase")), two_phases("phase"), 0, 100).how.startswith(
        "the phases marked"
    )


def test_times_of_phases_and_the_rest_are_all_there_is() -> None:
    trace = two_phases()
    table = phases.phase_times(phases.phases(CallTable(trace), trace, 0, 50), trace, 0, 50, 2)
    assert table["name"].tolist() == ["set-up", "solve", "rest"]
    assert table["time_s"].tolist() == [0.3, 0.7, 0.0]
    assert table["share"].sum() == pytest.approx(1)
    assert table["imbalance"].tolist()[:2] == pytest.approx([20 / 15, 40 / 35])


def test_speed_is_work_over_time_and_unit_speed_is_for_all_locations() -> None:
    trace = two_phases()
    found = phases.phases(CallTable(trace), trace, 0, 100)
    made = speed.speeds(found, work.Counted(trace, 0), trace, 0, 100, range(2))
    assert made.work.tolist() == [40, 800, 10, 450]
    assert made.speed.tolist() == [200, 1000, 100, 500]
    assert (made.total, made.unit_speed) == (1300, 650)
    table = speed.by_phase(found, made, trace).set_index("name")
    assert table.loc["solve", ["work", "speed", "slowest", "fastest"]].tolist() == pytest.approx(
        [1250, 1250 / 1.7, 500, 1000]
    )
    assert table.loc["solve", "span_s"] == 0.9


def test_counters_between_two_values_rise_evenly() -> None:
    counted = work.Counted(two_phases(), 0)
    assert counted.at(0, np.array([0, 10, 20, 60, 100, 200])).tolist() == [0, 20, 40, 440, 840, 840]
    assert counted.locations == (0, 1)
    assert counted.totals(60, 100, [0, 1, 7]).tolist() == [400, 200, 0]


def test_counter_since_the_start_of_the_run_is_what_it_says() -> None:
    trace = build(
        {"counters": [(10, 0, 0, 100.0, 100), (20, 0, 0, 130.0, 130), (20, 0, 0, 150.0, 150)]}, begin=0, end=30
    )
    counted = work.Counted(trace, 0)
    assert counted.at(0, np.array([0, 5, 10, 15, 20, 30])).tolist() == [0, 50, 100, 125, 150, 150]
    with pytest.raises(ValueError, match="not a count"):
        work.Counted(trace, 1)


def test_work_is_what_was_counted_flops_before_ops() -> None:
    trace = two_phases()
    assert work.work_metric(trace) == "flops"
    trace.definitions.metrics[0] = replace(trace.definitions.metrics[0], name="PAPI_TOT_INS")
    assert work.work_metric(trace) == "PAPI_TOT_INS"
    trace.definitions.metrics[0] = replace(trace.definitions.metrics[0], name="cache misses")
    assert work.work_metric(trace) is None


def test_tasks_run_from_where_they_are_switched_to() -> None:
    rows = [
        (0, 0, 1, CREATED, 1),
        (5, 0, 2, CREATED, 1),
        (10, 1, 1, SWITCHED, -1),
        (20, 1, 2, SWITCHED, -1),
        (50, 1, 2, ENDED, 1),
        (50, 1, 1, SWITCHED, -1),
        (60, 1, 1, ENDED, 1),
    ]
    trace = build({"tasks": rows}, definitions(), ticks_per_second=100, end=100)
    found = tasks.task_stretches(trace, 0, 100)
    assert np.column_stack([found[name] for name in ("begin", "end", "task", "region")]).tolist() == [
        [10, 20, 1, 1],
        [20, 50, 2, 1],
        [50, 60, 1, 1],
    ]
    table = tasks.task_times(trace, 0, 100, range(2))
    assert table[["created", "ended", "ran"]].to_numpy().tolist() == [[2, 2, 2]]
    assert table.loc[0, ["time_s", "share", "least_s", "mean_s", "most_s", "imbalance"]].tolist() == [
        0.5,
        0.25,
        0.2,
        0.25,
        0.3,
        2.0,
    ]
    assert tasks.task_times(trace, 15, 55, range(2))["time_s"].tolist() == [0.4]


def test_what_a_thread_does_beside_tasks_is_no_task() -> None:
    rows = [(0, 0, 1, CREATED, 1), (10, 0, 1, SWITCHED, 1), (30, 0, 1, ENDED, 1), (30, 0, 0, SWITCHED, 0)]
    trace = build({"tasks": rows}, definitions(), ticks_per_second=100, end=100)
    (row,) = tasks.task_times(trace, 0, 100, range(1)).to_dict("records")
    assert (row["region"], row["ran"], row["time_s"]) == (1, 1, 0.2)


def test_states_and_shares_are_summed_over_any_interval() -> None:
    trace = build({"states": [(0, 10, 0, 0), (10, 90, 0, 1), (5, 80, 1, 0)]}, end=100)
    table = StateTable(trace, "states")
    assert table.by_location(8, 50).tolist() == [[2, 42], [40, 0]]
    assert table.by_region(8, 50)[:, -1].tolist() == [44, 40]
    shared = StateTable(build({"shares": [(0, 100, 0, 0, 1, 75), (0, 100, 0, 1, 2, 25), (100, 104, 0, 1, 2, 4)]}))
    for _ in range(2):  # the second time from the cache
        assert shared.by_location(0, 104)[:, 0].tolist() == [75, 29]
    assert shared.by_region(0, 104).tolist() == [[0, 75, 0, 0], [0, 0, 29, 0]]
    assert shared.by_location(50, 102, [0])[:, 0].tolist() == [37.5, 14.5]
    assert shared.by_region(50, 102, [1]).sum() == 0
    assert StateTable(build({"marks": [(1, 0, 0, 0)]})).by_location(0, 1).sum() == 0


def test_sums_that_are_kept_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(7)
    cuts = np.sort(generator.integers(0, 1000, 60))
    rows = [(int(a), int(b), n % 3, n % 2) for n, (a, b) in enumerate(pairwise(cuts))]
    trace = build({"states": rows}, definitions(3), begin=0, end=1000)
    plain = StateTable(trace, "states")
    monkeypatch.setattr("scalegraph.analyze.trace.occupation._BLOCK", 7)
    kept = StateTable(trace, "states")
    kept.by_location(0, 1000)
    for begin in range(0, 1000, 130):
        for end in range(begin, 1001, 170):
            np.testing.assert_allclose(kept.by_location(begin, end), plain.by_location(begin, end))


def test_durations_are_of_whole_calls_and_the_histogram_holds_each_once() -> None:
    trace = two_phases()
    found = durations.whole_calls(CallTable(trace), trace, 0, 75, most=2)
    assert sorted(found.ticks.tolist()) == [10, 10, 10, 20]
    assert (found.longest["end"] - found.longest["begin"]).tolist() == [20, 10]
    assert not len(durations.whole_calls(CallTable(trace), trace, 0, 75).longest["begin"])
    table = durations.histogram(np.array([0.0, 1.0, 2.0, 1000.0]), 3)
    assert table["calls"].tolist() == [1, 2, 0, 1]
    assert table["time_s"].sum() == 1003
    assert durations.histogram(np.array([5.0, 5.0]))["calls"].tolist() == [2]
    assert durations.histogram(np.empty(0)).empty


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(traces(), st.data())
def test_phases_never_overlap_and_stay_inside(trace: Trace, data: st.DataObject) -> None:
    ticks = st.integers(trace.meta.begin, trace.meta.end)
    begin, end = sorted((data.draw(ticks), data.draw(ticks)))
    by = data.draw(st.sampled_from(phases.CHOICES))
    found = phases.phases(CallTable(trace), trace, begin, end, by=by)
    assert ((found.begin >= begin) & (found.end <= end) & (found.end >= found.begin)).all()
    same = found.location[1:] == found.location[:-1]
    assert (found.begin[1:][same] >= found.end[:-1][same]).all()
    table = phases.phase_times(found, trace, begin, end, len(trace.definitions.locations))
    if end > begin:
        assert table["share"].sum() == pytest.approx(1)


def test_state_without_a_name_is_left_out() -> None:
    trace = build({"states": [(0, 10, 0, 5)]}, Definitions(locations=[Location("a")], states=[State("busy")]))
    assert StateTable(trace, "states").by_location(0, 10).sum() == 0
