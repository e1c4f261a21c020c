"""Views and quantities of laws and models, for known data and for too little data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Plot, Table
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric
from scalegraph.request.results import quantities
from scalegraph.subjects.study import StudyData
from tests.views import studies

COUNTS = (1, 2, 4, 8, 16, 32)


def measured(*, repetitions: int = 3, noise: float = 0.01, unknown: bool = False) -> StudyData:
    """A set of three call paths over N: one falls, one is constant, one grows as N."""
    random = np.random.default_rng(4)
    curves = [lambda n: 0.0 * n, lambda n: 8 / n, lambda n: 0.2 + 0 * n, lambda n: 0.01 * n]
    rows = [
        (point, path, 0, repetition, float(curve(float(n)) * (1 + noise * random.standard_normal())))
        for point, n in enumerate(COUNTS)
        for path, curve in enumerate(curves)
        for repetition in range(repetitions)
    ]
    values = pd.DataFrame(rows, columns=["point", "call_path", "metric", "repetition", "value"])
    paths = (
        CallPath("main"),
        CallPath("solve", 0),
        CallPath("read", 0),
        CallPath("exchange", 0),
        CallPath("unused", 0),
    )
    name = "x" if unknown else "p"
    made = MeasurementSet(
        (name,), pd.DataFrame({name: COUNTS}), paths, (Metric("time", "s", "time", "exclusive"),), values
    )
    meaning = Mapping(processors="" if unknown else "p", time="time", unit="s", total="main")
    return StudyData(pd.DataFrame(), imported=(made, meaning))


@pytest.fixture(scope="module")
def full() -> StudyData:
    return studies.full()


@pytest.mark.slow
def test_the_fit_reaches_beyond_the_data_and_says_so(full: StudyData) -> None:
    figure = views.get("fit").build(full)
    (plot,) = figure.panels
    assert isinstance(plot, Plot)
    runs, best = plot.lines[:2]
    assert best.origin == "predicted"
    assert best.x[-1] == pytest.approx(4 * runs.x[-1])
    assert len(best.low) == len(best.high) == len(best.x)
    assert "at N = 256" in figure.sentence


def test_a_law_can_be_chosen_and_speedup_shown(full: StudyData) -> None:
    figure = views.get("fit").build(full, law="amdahl", quantity="speedup", target=100)
    (plot,) = figure.panels
    assert isinstance(plot, Plot)
    assert plot.lines[1].name == "Amdahl's law"
    assert plot.lines[1].x[-1] == pytest.approx(100)
    assert plot.lines[0].y[0] == pytest.approx(1)


def test_a_law_of_the_other_scaling_says_that_it_cannot_be_fitted(full: StudyData) -> None:
    assert "Gustafson's law cannot be fitted" in views.get("fit").build(full, law="gustafson").empty


def test_the_table_of_laws_has_rivals_and_their_numbers(full: StudyData) -> None:
    laws, numbers = views.get("laws").build(full).panels
    assert isinstance(laws, Table)
    assert isinstance(numbers, Table)
    verdicts = [row.values[1] for row in laws.rows]
    assert verdicts[0] == "best"
    assert "contradicted" in verdicts
    assert {"usl.kappa", "amdahl.s"} <= {row.key for row in numbers.rows}


@pytest.mark.slow
def test_regions_are_in_the_order_of_what_dominates_at_the_target() -> None:
    data = measured()
    near, far = (views.get("region-models").build(data, target=n).panels[0] for n in (4, 1000))
    assert isinstance(near, Table)
    assert isinstance(far, Table)
    assert near.rows[0].values[0] == "main->solve"
    assert far.rows[0].values[0] == "main->exchange"
    assert far.rows[0].values[2] == "p"
    assert far.rows[0].key == "path:3"
    assert sum(float(str(row.values[4])) for row in far.rows if row.values[4] is not None) == pytest.approx(100)


@pytest.mark.slow
def test_a_set_without_processors_has_models_but_no_laws() -> None:
    data = measured(unknown=True)
    assert views.get("region-models").build(data).panels
    assert "set them when it is imported" in views.get("laws").build(data).empty
    table = quantities.compute(data, "models")
    assert next(iter(table["call_path"])) == "main->exchange"
    assert "at.x" in table.columns


@pytest.mark.slow
def test_one_call_path_is_shown_with_its_values_and_its_model() -> None:
    data = measured()
    for name in ("exchange", "main->exchange", "path:3"):
        figure = views.get("region-model").build(data, call_path=name)
        (plot,) = figure.panels
        assert isinstance(plot, Plot)
        assert plot.lines[0].x == COUNTS
        assert plot.lines[1].name == "p"
        assert figure.sentence.startswith("main->exchange: ")
    with pytest.raises(InputError, match=r"no call path 'exchang'.*exchange"):
        views.get("region-model").build(data, call_path="exchang")
    assert "no values of time" in views.get("region-model").build(data, call_path="main->unused").empty
    with pytest.raises(InputError, match="no parameter 'q'"):
        views.get("region-model").build(data, over="q")
    with pytest.raises(InputError, match="no metric 'tim'"):
        views.get("region-model").build(data, metric="tim")


@pytest.mark.slow
def test_a_back_test_shows_what_was_hidden(full: StudyData) -> None:
    plot, table = views.get("back-test").build(full, hide=2).panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    assert plot.lines[1].name == "runs hidden"
    assert plot.lines[1].processors == (48, 64)
    assert {row.values[0] for row in table.rows} == {48, 64}
    assert views.get("back-test").build(full, hide=8).empty


def test_the_serial_fraction_of_a_growing_overhead_is_said_to_grow(full: StudyData) -> None:
    figure = views.get("serial-fraction").build(full)
    assert "grows with N" in figure.sentence


@pytest.mark.slow
def test_weak_scaling_is_fitted_when_asked_for(full: StudyData) -> None:
    figure = views.get("laws").build(full, scaling="weak")
    table = figure.panels[0]
    assert isinstance(table, Table)
    assert {"gustafson", "ideal-weak"} <= {row.key for row in table.rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laws", "models", "karp-flatt", "isoefficiency", "back-test", "back-test-regions"])
def test_quantities_of_models_are_tables(name: str, full: StudyData) -> None:
    table = quantities.compute(full, name)
    assert len(table)
    assert quantities.compute(StudyData.from_runs([]), name).empty


@pytest.mark.slow
def test_models_of_call_paths_are_tested_on_the_largest_count() -> None:
    table = quantities.compute(measured(), "back-test-regions")
    assert set(table["at.p"]) == {32}
    exchange = table[table["call_path"] == "main->exchange"].iloc[0]
    assert abs(exchange["error"]) < 0.05
    assert exchange["inside"]


def test_fits_are_made_once_for_all_views(full: StudyData) -> None:
    views.get("laws").build(full)
    kept = dict(full.memo)
    views.get("fit").build(full)
    assert all(full.memo[key] is value for key, value in kept.items())
