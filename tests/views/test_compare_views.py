from __future__ import annotations

from dataclasses import replace

import pytest

from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from scalegraph.views.study.compare.studies import names
from tests.analyze import synthetic


def _data(name, runs):
    return replace(StudyData.from_runs(runs), name=name)


def _two():
    first = _data("before", synthetic.fixed(program="ge1"))
    second = _data("after", synthetic.fixed(program="ge2", barrier=6))
    return replace(first, others=(second,))


@pytest.mark.slow
def test_two_studies_stand_in_one_plot_and_one_table():
    figure = get("compare").build(_two(), quantity="efficiency")
    plot, table = figure.panels
    assert [line.name for line in plot.lines] == ["ge1", "ge2"]
    assert [column.name for column in table.columns] == ["N", "ge1", "ge2", "ge2 minus ge1", "ratio"]
    assert figure.sentence.startswith("On 64 processors ge2 has the better efficiency")


def test_one_study_alone_says_what_is_missing():
    figure = get("compare").build(_data("alone", synthetic.fixed()))
    assert "compares two or more studies" in figure.empty


@pytest.mark.slow
def test_matrices_are_subtracted_at_the_same_efficiency():
    first = _data("a", synthetic.grid(program="ge1"))
    second = _data("b", synthetic.grid(program="ge2", barrier=6))
    figure = get("compare-matrix").build(replace(first, others=(second,)), efficiency=0.5)
    (grid,) = figure.panels
    cell = next(cell for row in grid.cells for cell in row if cell is not None and None not in cell.values)
    assert cell.values[2] == cell.values[1] - cell.values[0]
    assert "Efficiency held at 0.5 in both" in figure.notes[0]


def test_studies_are_told_apart_by_what_differs():
    def one(file, program, machine):
        return _data(file, synthetic.fixed((1, 2), program=program, machine=machine))

    assert names([one("x", "ge1", "ksr1"), one("y", "ge2", "ksr1")]) == ["ge1", "ge2"]
    assert names([one("x", "ge1", "ksr1"), one("y", "ge1", "cerberus")]) == ["ge1 on ksr1", "ge1 on cerberus"]
    assert names([one("x", "ge1", "ksr1"), one("y", "ge1", "ksr1")]) == ["x: ge1", "y: ge1"]
    assert names([one("x", "ge1", "ksr1")] * 2) == ["x: ge1 (1)", "x: ge1 (2)"]


@pytest.mark.slow
def test_two_studies_are_compared_with_the_efficiency_held():
    """Figs. 12 to 14 of the latency-metric paper: miss latency over N at one efficiency, for two programs."""
    first = _data("a", synthetic.grid(program="ge1"))
    second = _data("b", synthetic.grid(program="ge2", barrier=6))
    both = replace(first, others=(second,))
    held = get("compare").build(both, quantity="efficiency", held="efficiency")
    plot, _ = held.panels
    assert [line.name for line in plot.lines] == ["ge1", "ge2"]
    for line in plot.lines:
        assert len(line.y) >= 3
        assert max(line.y) - min(line.y) < 0.15, "the runs nearest to one efficiency"
    fixed = get("compare").build(both, quantity="efficiency").panels[0].lines[0]
    assert max(fixed.y) - min(fixed.y) > 0.2
    for quantity in ("miss-latency", "data-movement"):
        figure = get("compare").build(both, quantity=quantity, held="efficiency")
        assert len(figure.panels[0].lines) == 2
        assert all("efficiency" in note for note in figure.notes[:2])


@pytest.mark.slow
def test_quantities_of_the_network_are_those_of_their_views():
    both = _two()
    for quantity, view in (("miss-latency", "miss-latency"), ("data-movement", "data-movement")):
        compared = get("compare").build(both, quantity=quantity).panels[0].lines[0]
        alone = get(view).build(replace(both, others=())).panels[0].lines[0]
        assert compared.x == alone.x
        assert compared.y == pytest.approx(alone.y, nan_ok=True)
