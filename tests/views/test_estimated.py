"""Every view of a study with estimated runs says so, with the interval; curves have error bars."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from scalegraph import views
from scalegraph.analyze import metrics, remarks
from scalegraph.analyze.table import numbers
from scalegraph.base.run import RunRecord, Variant
from scalegraph.base.sampling import Sampled
from scalegraph.figures import render
from scalegraph.figures.figure import Figure, Line, Plot
from scalegraph.request.results import assertions
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic
from tests.views import studies

ERROR = 0.02


def estimate(run: RunRecord, error: float = ERROR, skipped: int = 88) -> RunRecord:
    """Return *run* as if it had been sampled: all its numbers have the same relative error."""
    if not run.ok or not run.time_cycles:
        return run
    cycles = {"time_cycles": run.time_cycles, **run.categories, **run.counters}
    sampled = Sampled(visits=100, skipped=skipped, intervals={name: error * n for name, n in cycles.items()})
    return run.model_copy(update={"sampled": sampled, "warnings": (sampled.remark(run.time_cycles),)})


def of(data: StudyData, *some: int) -> StudyData:
    """Return *data* with estimated runs: all, or those on *some* processor counts."""
    runs = [estimate(run) if not some or run.point.processors in some else run for run in data.runs]
    made = StudyData.from_runs(runs, manifest=data.manifest, sources=data.sources, regions=data.regions)
    table = made.table.assign(memory_bytes=data.table["memory_bytes"]) if "memory_bytes" in data.table else made.table
    return replace(data, table=table, runs=made.runs, variants=tuple(map(estimate, data.variants)))


def _without_rows(csv: str) -> bool:
    return csv.count("\n") == 1 and csv.endswith(",estimated\n")


@pytest.mark.slow
def test_every_view_says_that_numbers_are_estimated() -> None:
    full = studies.full()
    others = (of(full.others[0]),)
    subjects = {
        "all": replace(of(full), others=others),
        "some": of(full, 4, 8),
        "others": replace(full, others=others),
    }
    said = {
        "all": "Estimated: 88\u00a0% of phase visits were not simulated, time ± 2.0\u00a0% (95 %).",
        "some": "(N = 4, 8",
        "others": "Estimated: ",
    }
    seen = 0
    for name, data in subjects.items():
        for view in views.registry("study").values():
            figure = view.build(data)
            if not figure.panels or (name == "others" and not view.several):
                continue
            seen += 1
            assert said[name] in figure.estimated, (name, view.name)
            assert figure.remarks[0] == figure.estimated
            for ending in ("csv", "md", "json", "tex"):
                text = render.content(figure, ending).decode()
                assert "of phase visits were not simulated" in text or _without_rows(text), (view.name, ending)
            assert not [note for note in figure.notes if "were not simulated" in note], (name, view.name)
    assert seen > 100


def test_runs_simulated_in_full_are_not_marked() -> None:
    figure = views.get("speedup").build(StudyData.from_runs(synthetic.fixed((1, 2, 4))))
    assert figure.estimated == ""
    assert not any(line.low for line in lines(figure))
    assert "estimated" not in render.content(figure, "csv").decode()


def lines(figure: Figure) -> list[Line]:
    """Return the curves of *figure*."""
    return [line for panel in figure.panels if isinstance(panel, Plot) for line in panel.lines]


@pytest.mark.parametrize(
    ("view", "name"),
    [("time", "elapsed time"), ("speedup", "speedup"), ("speedup", "efficiency"), ("latency", "by accounting")],
)
def test_curves_of_estimates_have_error_bars(view: str, name: str) -> None:
    data = StudyData.from_runs([estimate(run) for run in synthetic.fixed((1, 2, 4, 8))])
    (line,) = [line for line in lines(views.get(view).build(data)) if line.name == name]
    assert len(line.low) == len(line.high) == 4
    for value, low, high in zip(line.y[1:], line.low[1:], line.high[1:], strict=True):
        assert low < value < high
    assert "(95 %)" in line.tips[2]


def test_relative_errors_of_a_speedup_add_in_quadrature() -> None:
    one, two = synthetic.fixed((1, 2))
    rows = metrics.scaling(StudyData.from_runs([estimate(one, 0.03), estimate(two, 0.04)]).table)
    speedup = numbers(rows, "speedup")
    assert numbers(rows, "speedup_low") == pytest.approx(speedup * [1, 0.95])
    assert numbers(rows, "speedup_high") == pytest.approx(speedup * [1, 1.05])
    assert numbers(rows, "efficiency_low") == pytest.approx(speedup * [1, 0.475])
    alone = metrics.scaling(StudyData.from_runs([estimate(one, 0.03), two]).table)
    assert numbers(alone, "speedup_low")[1] == pytest.approx(speedup[1] * 0.97)


def test_the_error_of_a_latency_is_at_most_that_of_the_time_and_of_the_busy_time() -> None:
    runs = [estimate(run, 0.01) for run in synthetic.fixed((1, 4))]
    rows = metrics.scaling(StudyData.from_runs(runs).table)
    width = (numbers(rows, "latency_s_high") - numbers(rows, "latency_s_low"))[1] / 2
    run = runs[1]
    assert run.clock_hz
    lost = sum(n for name, n in run.categories.items() if not name.startswith("busy"))
    own = 0.01 * min(lost, run.processor_cycles + sum(run.categories.values()) - lost) / run.clock_hz
    stall = 0.01 * sum(n for name, n in runs[0].categories.items() if name.startswith("stall")) / run.clock_hz
    assert width == pytest.approx(math.hypot(own, stall) / 4)


def test_a_repeated_run_keeps_the_extremes_as_its_interval() -> None:
    runs = [
        run.model_copy(update={"point": run.point.model_copy(update={"repetition": i})})
        for i in range(3)
        for run in synthetic.fixed((1, 2))
    ]
    rows = metrics.scaling(StudyData.from_runs(runs).table)
    assert numbers(rows, "speedup_low") == pytest.approx(numbers(rows, "speedup"))
    assert np.isfinite(numbers(rows, "efficiency_high")).all()


def test_a_difference_within_the_interval_is_told_apart() -> None:
    run = synthetic.fixed((4,))[0]
    nearly = run.model_copy(update={"time_s": run.time_s and run.time_s * 1.02})
    assert not run.indistinct(nearly)
    assert estimate(run, 0.03).indistinct(nearly)
    assert not estimate(run, 0.01).indistinct(nearly)
    assert estimate(run, 0.015).indistinct(estimate(nearly, 0.015))


def test_a_comparison_says_that_its_difference_is_within_the_interval() -> None:
    runs = synthetic.fixed((1, 2, 4))
    more = {1: 1.0, 2: 1.0, 4: 1.01}
    nearly = [run.model_copy(update={"time_s": (run.time_s or 0) * more[run.point.processors]}) for run in runs]
    other = replace(StudyData.from_runs(nearly), name="b")
    for error, said in ((0.05, True), (0.001, False)):
        data = StudyData.from_runs([estimate(run, error) for run in runs])
        figure = views.get("compare").build(replace(data, name="a", others=(other,)))
        assert ("within the interval of these estimates" in figure.sentence) == said
        assert "± of the difference (95 %)" in render.content(figure, "csv").decode().splitlines()[0]


def test_an_ideal_that_gains_less_than_the_interval_is_called_that() -> None:
    (run,) = synthetic.fixed((4,))
    ideal = studies.what_if(run, Variant(ideal=("network",)), 0.99)
    for error, said in ((0.05, True), (0.001, False)):
        figure = views.get("what-if").build(StudyData.from_runs([estimate(run, error), ideal]))
        assert ("within the interval of these estimates" in figure.sentence) == said


@pytest.mark.parametrize(("error", "doubtful"), [(0.05, True), (0.001, False), (0.0, False)])
def test_a_statement_that_the_interval_leaves_open_says_so(error: float, doubtful: bool) -> None:
    runs = [estimate(run, error) if error else run for run in synthetic.fixed((1, 4))]
    data = StudyData.from_runs(runs)
    efficiency = float(numbers(data.scaling, "efficiency")[1])
    (outcome,) = assertions.check(data, [f"E(4) > {efficiency * 0.99}"])
    assert outcome.passed
    assert ("within the interval" in outcome.said) == doubtful
    assert ("95 %" in outcome.said) == bool(error)


def test_a_tiny_interval_is_not_written_with_powers() -> None:
    one, two = synthetic.fixed((1, 2))
    assert remarks.estimated([estimate(one, 1e-7), estimate(two, 0.00058)]).endswith("± < 0.01 to 0.058\u00a0% (95 %)")
