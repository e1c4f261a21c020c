"""Predicted times beside runs.

Lines with bands, errors only for points that were run, and reasons for missing times.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from scalegraph.figures.figure import Figure, Plot, Table
from scalegraph.predict.kept import Kept, KeptPoint
from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from tests.predict.test_derive import record

SAMPLES = [record(n, p) for n in (16, 32, 48) for p in (1, 2, 4)]


def point(n: int, processors: int, **more: float | str | None) -> KeptPoint:
    actual = record(n, processors).time_s
    assert actual is not None
    made = {"time_s": 1.1 * actual, "low_s": 0.9 * actual, "high_s": 1.3 * actual, "samples_s": actual / 20}
    return KeptPoint(processors=processors, parameters={"n": n}, **(made | more))  # type: ignore[arg-type]


def study(*points: KeptPoint, runs: bool = True) -> StudyData:
    """Return a study with samples, predicted *points*, and runs of those on 4 processors."""
    own = [record(int(one.parameters["n"]), one.processors) for one in points if one.processors == 4 and runs]
    data = StudyData.from_runs([*SAMPLES, *own])
    samples = tuple(run.point.key for run in SAMPLES)
    return replace(data, predictions=Kept(points=points, samples=samples))


def panels(figure: Figure) -> tuple[Plot, Table]:
    plot, table = figure.panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    return plot, table


def test_predicted_lines_have_bands_and_stand_beside_runs() -> None:
    data = study(point(96, 2), point(192, 2), point(96, 4), point(192, 4))
    figure = get("predicted").build(data)
    plot, table = panels(figure)
    predicted = {line.name: line for line in plot.lines if line.origin == "predicted"}
    assert set(predicted) == {"N = 2, predicted", "N = 4, predicted"}
    assert all(line.band and line.x == (96.0, 192.0) for line in predicted.values())
    run = {line.name: line for line in plot.lines if line.origin == "simulated"}
    assert run["N = 2, run"].x == (16.0, 32.0, 48.0)
    assert run["N = 4, run"].x == (16.0, 32.0, 48.0, 96.0, 192.0)
    assert "2 predicted points from 9 sample runs were run too" in figure.sentence
    assert "2 of 2 lie in their interval" in figure.sentence
    names = [column.name for column in table.columns]
    error = [row.values[names.index("error")] for row in table.rows]
    assert error == [None, None, pytest.approx(10), pytest.approx(10)]
    ratio = [row.values[names.index("prediction ratio")] for row in table.rows]
    assert ratio[2:] == [pytest.approx(20)] * 2


def test_one_size_on_several_processors_is_drawn_over_n() -> None:
    data = study(point(96, 2), point(96, 4), point(96, 8))
    plot, _ = panels(get("predicted").build(data))
    assert plot.x.scale == "log2"
    assert [line.x for line in plot.lines if line.origin == "predicted"] == [(2.0, 4.0, 8.0)]
    sizes, _ = panels(get("predicted").build(data, over="size"))
    assert sizes.x.label == "n"


def test_without_a_run_the_sentence_has_the_interval_and_there_are_no_errors() -> None:
    data = study(point(96, 4), runs=False)
    figure = get("predicted").build(data)
    assert figure.sentence.startswith("n = 96 on 4 processors is predicted to take")
    errors = get("prediction-errors").build(data)
    assert not errors.panels
    assert "None of the predicted points has been run" in errors.empty


def test_a_refused_point_has_its_reason_in_table_and_notes() -> None:
    refused = KeptPoint(processors=4, parameters={"n": 97}, refused="the number of barriers does not follow from n")
    figure = get("predicted").build(study(point(96, 2), refused, runs=False))
    assert "Not predicted (N = 4, n = 97): the number of barriers does not follow from n." in figure.notes
    _, table = panels(figure)
    assert [row.tip for row in table.rows if row.values[0] == 4] == [refused.refused]


def test_errors_are_signed_and_the_band_is_that_of_the_interval() -> None:
    figure = get("prediction-errors").build(study(point(96, 4), point(192, 4, time_s=None, refused="why")))
    errors, ratios = figure.panels
    assert isinstance(errors, Plot)
    assert isinstance(ratios, Plot)
    (line,) = errors.lines
    assert (line.y[0], line.low[0], line.high[0]) == (pytest.approx(10), pytest.approx(-10), pytest.approx(30))
    assert ratios.lines[0].y[0] == pytest.approx(20)


def test_a_run_that_came_later_is_what_a_prediction_is_compared_with() -> None:
    data = study(point(96, 4), runs=False)
    later = StudyData.from_runs([*data.runs, record(96, 4)])
    figure = get("predicted").build(replace(later, predictions=data.predictions))
    assert "1 predicted point from 9 sample runs was run too" in figure.sentence


def test_nothing_predicted_says_what_to_do() -> None:
    figure = get("predicted").build(StudyData.from_runs(SAMPLES))
    assert not figure.panels
    assert "Nothing has been predicted" in figure.empty
