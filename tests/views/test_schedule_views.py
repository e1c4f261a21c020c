"""Views of loop schedules, for runs of a program whose loops need different ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.figures.figure import Figure, Grid, Plot, Table
from scalegraph.request import Request, Session
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.schedule_runs import by_loop, schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import get

pytestmark = pytest.mark.compiler

# A loop whose first fifth takes nearly all the time, and a loop of equal iterations that is best left alone.
SOURCE = """
#include <stdio.h>
static double part(int n)
{
    double sum = 0.0;
    for (int j = 1; j <= n; j++)
        sum += 1.0 / j;
    return sum;
}
int main(void)
{
    double sum = 0.0;
#pragma omp parallel reduction(+ : sum)
    for (int step = 0; step < 4; step++) {
#pragma omp for
        for (int i = 0; i < 200; i++)
            sum += part(i < 40 ? 400 : 4);
#pragma omp for
        for (int i = 0; i < 2048; i++)
            sum += i;
    }
    printf("%.6f\\n", sum);
    return 0;
}
"""
HEAVY, EVEN = "loops.c:15", "loops.c:18"


@pytest.fixture(scope="module")
def data(module_path: Path) -> StudyData:
    source = module_path / "loops.c"
    source.write_text(SOURCE)
    request = Request.model_validate(
        {
            "program": {"sources": [str(source)]},
            "machine": {"name": "ksr1"},
            "processors": [2, 8],
            "reference": False,
            "schedules": {"compare": ["dynamic,4", "EA,alpha=4", "EA,alpha=32", "FAC2"]},
        }
    )
    session = Session(workers=1)
    with session.submit(request, None) as study:
        assert all(run.ok for run in (*study.runs(), *study.variants()))
        return session.study_data(study)


def figure(data: StudyData, name: str, **options: int) -> Figure:
    return get(name).build(data, **options)


@pytest.mark.slow
def test_each_schedule_and_the_best_of_each_loop_are_run(data: StudyData) -> None:
    runs = schedule_runs(data)
    assert runs is not None
    assert runs.counts == (2, 8)
    assert {*runs.names} == {WRITTEN, "dynamic,4", "EA,alpha=4", "EA,alpha=32", "FAC2"}
    advice = runs.advice(8)
    assert advice is not None
    assert [loop.loop for loop in advice.loops] == [HEAVY, EVEN]
    assert advice.loops[0].best != WRITTEN
    assert advice.loops[1].best == WRITTEN
    assert advice.together == f"{HEAVY}={advice.loops[0].best}"
    assert advice.run is not None
    assert advice.fastest == advice.together  # no single schedule is as good for both loops
    assert advice.expected_s == pytest.approx(advice.run.time_s, rel=0.05)


@pytest.mark.slow
def test_the_advice_says_what_to_run_and_what_it_gains(data: StudyData) -> None:
    shown = figure(data, "schedule-advice")
    assert shown.sentence.startswith("On 8 processors the best schedule of each loop takes ")
    assert "waiting at barriers from " in shown.sentence
    assert "was expected from single-loop runs." in shown.sentence
    assert any(f"request: {HEAVY}=" in note for note in shown.notes)
    assert any(note.startswith("On 2 to 8 processors the gain is ") for note in shown.notes)


def test_times_over_n_have_a_curve_for_each_schedule(data: StudyData) -> None:
    shown = figure(data, "schedules", most=3)
    plot, table = shown.panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    assert len(plot.lines) in (3, 4)  # the program as written is always included
    assert "as written" in [line.name for line in plot.lines]
    assert len(table.rows) == 5
    assert not any(by_loop(row.tip) for row in table.rows)


def test_losses_are_the_time_that_is_not_computed(data: StudyData) -> None:
    _, table = figure(data, "schedule-losses", processors=8).panels
    assert isinstance(table, Table)
    busy = {
        run.point.variant.schedule: run.busy_s or 0.0
        for run in (*data.runs, *data.variants)
        if run.point.processors == 8
    }
    for row in table.rows:
        lost = [float(value) for value in row.values[2:6] if value is not None]
        assert float(row.values[1] or 0.0) == pytest.approx(busy[row.tip] / 8 + sum(lost), rel=1e-9)


def test_loops_by_schedule_show_which_loop_needs_which(data: StudyData) -> None:
    (grid,) = figure(data, "schedule-loops", processors=8).panels
    assert isinstance(grid, Grid)
    assert grid.columns == (HEAVY, EVEN)
    values = {
        name: [cell.values[0] for cell in row if cell is not None]
        for name, row in zip(grid.rows, grid.cells, strict=True)
    }
    assert values["as written"] == [1.0, 1.0]
    assert values["FAC2"][0] < 0.8  # type: ignore[operator]
    assert values["EA,alpha=4"][1] > 1.5  # type: ignore[operator]


def test_values_of_alpha_are_in_order(data: StudyData) -> None:
    plot, _ = figure(data, "schedule-parameters").panels
    assert isinstance(plot, Plot)
    assert plot.x.categories == ("4", "alpha=4", "alpha=32")
    assert [line.name for line in plot.lines] == ["EA", "dynamic"]
