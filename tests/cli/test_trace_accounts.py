"""Simulated billiard and GE2: sums over the trace equal the accounts of the run, to the cycle."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from scalegraph import views
from scalegraph.base.run import RunRecord
from scalegraph.cli import main as entry
from scalegraph.figures.figure import LaneTrack, Timeline
from scalegraph.request import Session
from scalegraph.request.results import trace_quantities, trace_tables
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.store import Study
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.trace import TraceData
from scalegraph.traces.activities import ACTIVITIES

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
PROGRAMS = {"billiard": ("300", "60"), "ge2": ("40",)}


@pytest.fixture(scope="module", params=PROGRAMS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[TraceData, RunRecord]:
    """Return the trace of a run on four processors and its record."""
    place = tmp_path_factory.mktemp(request.param)
    study = place / "run.sgstudy"
    arguments = ["simulate", request.param, "-p", "4", "--no-reference", "--trace", "--trace-interval", "50us"]
    assert entry.run([*arguments, "-o", str(study), "--", *PROGRAMS[request.param]]) == 0
    (file,) = sorted((place / "run.traces").iterdir())
    with Study.open(study) as kept:
        (record,) = kept.runs()
    return Session().open_trace(file), record


@pytest.mark.slow
def test_profile_is_the_accounting_by_region(run: tuple[TraceData, RunRecord]) -> None:
    data, record = run
    table = trace_quantities.compute(data, "profile").set_index("region")
    second = data.trace.meta.ticks_per_second
    accounted = {cost.region: sum(cost.categories.values()) for cost in record.regions if cost.categories}
    assert {int(n): round(s * second) for n, s in table["exclusive_s"].items() if s} == {
        region: cycles for region, cycles in accounted.items() if cycles
    }
    accounts = trace_quantities.compute(data, "accounts")
    told = {(int(row.region), str(row.state)): row.ticks for row in accounts.itertuples()}
    assert told == {
        (cost.region, category): cycles
        for cost in record.regions
        for category, cycles in cost.categories.items()
        if cycles
    }


@pytest.mark.slow
def test_utilisation_and_gantt_are_the_accounting_by_processor(run: tuple[TraceData, RunRecord]) -> None:
    data, record = run
    chosen = trace_window.window(data)
    sums = interval_sums.activity_sums(chosen)
    assert sums is not None
    accounted = np.zeros_like(sums.ticks)
    for category, cycles in record.processor_categories.items():
        accounted[ACTIVITIES.index(CATEGORY_GROUPS[category])] += cycles
    np.testing.assert_array_equal(sums.ticks, accounted)
    np.testing.assert_array_equal(sums.ticks.sum(axis=0), sums.length)
    shown = data.timeline.totals("activity", chosen.begin, chosen.end, 500, list(chosen.locations))
    integral = np.asarray(shown.values, np.float64) @ np.diff(shown.edges)
    np.testing.assert_array_equal(integral.round(), accounted.sum(axis=1))


@pytest.mark.parametrize("width", [8, 300, 4000])
def test_the_bars_of_the_spacetime_diagram_are_the_accounting(run: tuple[TraceData, RunRecord], width: int) -> None:
    data, record = run
    (panel,) = views.get("spacetime").build(data, width=width).panels
    assert isinstance(panel, Timeline)
    (bars,) = panel.tracks
    assert isinstance(bars, LaneTrack)
    ticks = np.diff(bars.edges)[:, None] * bars.shares * data.trace.meta.ticks_per_second
    drawn = {
        (key.name, location): ticks[lane][bars.codes[lane] == code].sum()
        for code, key in enumerate(bars.key)
        for lane, location in enumerate(bars.locations)
    }
    words = {"busy": "busy", "memory_stall": "memory stall", "primitive": "primitives", "idle": "idle"}
    accounted: dict[tuple[str, int], int] = {}
    for category, cycles in record.processor_categories.items():
        for location, spent in enumerate(cycles):
            place = (words[CATEGORY_GROUPS[category]], location)
            accounted[place] = accounted.get(place, 0) + spent
    assert {place: round(spent) for place, spent in drawn.items() if spent > 0.5} == {
        place: spent for place, spent in accounted.items() if spent
    }


@pytest.mark.slow
def test_any_cut_of_the_run_adds_up_to_the_accounting(run: tuple[TraceData, RunRecord]) -> None:
    data, record = run
    cuts = [0.0, 0.2 * data.length, 0.35 * data.length, 0.9 * data.length, data.length]
    parts = [
        trace_tables.flat(trace_window.window(data, begin, end)).set_index("region") for begin, end in pairwise(cuts)
    ]
    whole = trace_quantities.compute(data, "profile").set_index("region")
    added = sum(part[["exclusive_s", "inclusive_s", "visits"]].reindex(whole.index, fill_value=0) for part in parts)
    np.testing.assert_allclose(added, whole[["exclusive_s", "inclusive_s", "visits"]], rtol=1e-12, atol=1e-12)
    assert whole["share"].sum() == pytest.approx(1)  # a simulated processor is always in a region
    assert record.time_s == pytest.approx(data.length)


def test_counters_of_the_trace_are_those_of_the_run(run: tuple[TraceData, RunRecord]) -> None:
    data, record = run
    table = trace_quantities.compute(data, "counters")
    for name in ("ops", "flops", "misses"):
        accounted = sum(cost.counters.get(name, 0) for cost in record.regions)
        assert table[name].sum() == accounted, name
    speeds = trace_quantities.compute(data, "speed", {"metric": "ops"})
    assert speeds["ops"].iloc[-1] == sum(cost.counters.get("ops", 0) for cost in record.regions)
