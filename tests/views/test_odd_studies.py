"""Any readable study, however odd: every view, quantity and matrix gives a result or a one-sentence error."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalegraph import views
from scalegraph.analyze.bounds import BOUNDS
from scalegraph.analyze.profile import region_losses
from scalegraph.base.errors import ScaleGraphError
from scalegraph.base.run import LineCost, Region, RegionCost, RunPoint, RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.request.results import quantities
from scalegraph.request.results.data import matrix
from scalegraph.subjects.study import SourceText, StudyData
from tests.analyze import synthetic

COUNTS = st.one_of(st.integers(0, 1000), st.sampled_from([0, 2**62]))
SECONDS = st.one_of(st.none(), st.floats(0, 1e3), st.sampled_from([0.0, 1e-18, 5e-324, -1.0, 1e19, 1.0]))
CATEGORIES = st.dictionaries(
    st.sampled_from(["busy_int", "busy_mem", "stall_local", "idle_barrier"]), COUNTS, max_size=3
)
VALUES = st.one_of(st.integers(-2, 4), st.sampled_from([10**30, 0.5, 1e300, "abc", "1", ""]))
REGION_COSTS = st.builds(
    RegionCost,
    region=st.integers(-1, 5),
    categories=CATEGORIES,
    counters=st.dictionaries(st.just("visits"), COUNTS),
    busy_max=COUNTS,
)
LINE_COSTS = st.builds(
    LineCost,
    file=st.sampled_from(["model.c", "other.c", ""]),
    line=st.integers(-1, 40),
    references=COUNTS,
    misses=COUNTS,
    busy=COUNTS,
    idle=COUNTS,
)
REGIONS = st.builds(
    Region,
    id=st.integers(0, 5),
    kind=st.sampled_from(["function", "loop", "odd"]),
    name=st.sampled_from(["a", ""]),
    file=st.sampled_from(["model.c", ""]),
    line=st.integers(-1, 30),
    end_line=st.integers(-1, 40),
    parent=st.one_of(st.none(), st.integers(0, 6)),
)
BOUND = {"request": {"bound": [{"kind": kind, "value": 0.5} for kind in ("efficiency", "time", "memory")]}}


@st.composite
def records(draw: st.DrawFn) -> RunRecord:
    count = draw(st.sampled_from([1, 1, 2, 2, 3, 8, 1024, 2**31]))
    point = RunPoint(
        processors=count,
        parameters=draw(st.dictionaries(st.sampled_from(["n", "steps", "", "a b"]), VALUES, max_size=2)),
        repetition=draw(st.integers(0, 2)),
    )
    per_processor = st.lists(COUNTS, min_size=count, max_size=count) if count < 4 else st.just([])
    names = ("time_s", "busy_s", "memory_stall_s", "idle_s", "primitive_s", "host_s")
    categories = draw(CATEGORIES)
    return RunRecord(
        source=draw(st.sampled_from(["simulated", "measured", "imported"])),
        program=draw(st.sampled_from(["p", "p", "other"])),
        machine="m",
        point=point,
        status=draw(st.sampled_from(["ok", "ok", "ok", "crashed"])),
        clock_hz=draw(st.sampled_from([None, 20e6, 1e-3, 1e19])),
        work_ops=draw(st.one_of(st.none(), COUNTS)),
        references=draw(st.one_of(st.none(), COUNTS)),
        misses=draw(st.one_of(st.none(), COUNTS)),
        categories=categories,
        counters=categories,
        processor_categories={"busy_int": draw(per_processor)} if count < 4 else {},
        regions=tuple(draw(st.lists(REGION_COSTS, max_size=2))),
        lines=tuple(draw(st.lists(LINE_COSTS, max_size=2))),
        **{name: draw(SECONDS) for name in names},
    )


def everything(data: StudyData) -> None:
    """Ask *data* for everything; a `ScaleGraphError` is an answer, any other error is a bug."""
    for view in views.registry().values():
        choices: list[dict[str, Any]] = [{option.name: c} for option in view.options for c in option.choices]
        for options in [{}, *choices]:
            with contextlib.suppress(ScaleGraphError):
                view.build(data, **options)
    for name in quantities.QUANTITIES:
        with contextlib.suppress(ScaleGraphError):
            quantities.compute(data, name).to_json(orient="records")
    for bound in BOUNDS:
        for metric in ("latency", "isospeed", "isoefficiency"):
            made = matrix(data, bound, metric=metric)
            if made is not None:
                json.dumps(made.to_json(), allow_nan=False)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(records(), max_size=10), st.lists(REGIONS, max_size=4), st.sampled_from([{}, BOUND]), st.booleans())
def test_no_readable_study_is_an_error_of_ours(
    runs: list[RunRecord], regions: list[Region], manifest: dict[str, Any], with_memory: bool
) -> None:
    unique = {run.point.key: run for run in runs}
    text = SourceText("model.c", synthetic.SOURCE)
    data = StudyData.from_runs(list(unique.values()), manifest=manifest, sources=(text,), regions=regions)
    if with_memory and len(data.table):
        table = data.table.assign(memory_bytes=data.table["processors"] * 0.5)
        data = StudyData(table, data.runs, data.manifest, data.sources, data.regions)
    everything(data)


@pytest.mark.slow
def test_a_time_next_to_nothing_is_no_error_of_ours() -> None:
    times = {1: 976.0, 2: 460.0, 3: 430.0, 1024: 5e-324}
    runs = [
        RunRecord(
            source="imported", program="p", machine="m", point=RunPoint(processors=n), status="ok", time_s=seconds
        )
        for n, seconds in times.items()
    ]
    everything(StudyData.from_runs(runs))


@pytest.mark.slow
def test_regions_that_enclose_each_other_are_shown_nonetheless() -> None:
    regions = [Region(id=1, kind="loop", name="a", parent=2), Region(id=2, kind="loop", name="b", parent=1)]
    run = synthetic.run(2).model_copy(update={"regions": (RegionCost(region=1, categories={"busy_int": 5}),)})
    figure = views.get("profile").build(StudyData.from_runs([run, synthetic.run(1)], regions=regions))
    assert figure.panels


def test_a_region_known_on_one_processor_only_counts_in_the_loss() -> None:
    run, one = synthetic.run(4), synthetic.run(1)
    odd = one.model_copy(update={"regions": (*one.regions, RegionCost(region=77, categories={"busy_int": 20_000}))})
    before = region_losses(run, one, synthetic.REGIONS)["loss_s"].sum()
    after = region_losses(run, odd, synthetic.REGIONS)["loss_s"].sum()
    assert before - after == pytest.approx(20_000 / synthetic.CLOCK)


@pytest.mark.slow
def test_of_measurements_an_empty_view_says_how_to_get_what_is_missing() -> None:
    runs = [synthetic.run(4), synthetic.run(8)]
    measured = replace(StudyData.from_runs(runs), imported=(StudyData.from_runs(runs).measured, Mapping()))
    figure = views.get("matrix").build(measured)
    assert "import all of it together" in figure.empty
    assert "import all of it together" not in views.get("matrix").build(StudyData.from_runs(runs)).empty
