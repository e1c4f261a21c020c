"""The scaling space: sizes that keep a quantity constant, in the plane of two parameters and over N (Fig. 4)."""

from __future__ import annotations

import pytest

from scalegraph.figures.figure import Plot
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from tests.analyze import synthetic
from tests.views import studies

pytestmark = pytest.mark.slow


def test_sizes_are_those_that_the_matrix_rests_on() -> None:
    data = studies.full()
    figure = get("scaling-space").build(data)
    over = figure.panels[-1]
    assert isinstance(over, Plot)
    (held,) = [line for line in over.lines if line.name == "efficiency held"]
    made = matrices.matrix(data, "efficiency")
    assert made is not None
    known = {n: anchor for n, anchor in made.anchors.items() if anchor.known}
    assert len(known) >= 3
    assert held.processors == held.x == tuple(known)
    by_key = {run.point.key: float(run.point.parameters["balls"]) for run in data.runs}
    expected = [sum(by_key[key] for key in anchor.keys) / len(anchor.keys) for anchor in known.values()]
    assert held.y == pytest.approx(expected)
    (fixed,) = [line for line in over.lines if line.name == "problem size fixed"]
    assert set(fixed.y) == {1000.0}
    assert "With the " in figure.sentence


def test_two_growing_parameters_make_a_plane() -> None:
    runs = [synthetic.run(n, 64 * n * n, 10 * n) for n in (1, 2, 4)] + [
        synthetic.run(1, 64 * n * n, 10 * n) for n in (2, 4)
    ]
    data = StudyData.from_runs(runs, manifest={"request": {"bound": [{"kind": "efficiency", "value": 0.5}]}})
    table = data.table.assign(memory_bytes=64 * data.table["processors"])
    figure = get("scaling-space").build(StudyData(table, data.runs, data.manifest))
    if figure.empty:
        pytest.fail(figure.empty)
    plane, _ = figure.panels
    assert isinstance(plane, Plot)
    assert {plane.x.label, plane.y.label} == {"balls", "steps"}
    swapped = get("scaling-space").build(StudyData(table, data.runs, data.manifest), x=plane.y.label)
    assert isinstance(swapped.panels[0], Plot)
    assert swapped.panels[0].x.label == plane.y.label


def test_one_size_has_no_scaling_space() -> None:
    figure = get("scaling-space").build(StudyData.from_runs(synthetic.fixed((1, 2, 4))))
    assert "a parameter grows" in figure.empty
