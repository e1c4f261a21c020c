from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import pytest

from scalegraph import views
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.resources import resource_dir
from scalegraph.figures.figure import Field, Figure, Grid, Plot, Surface, Table
from scalegraph.figures.render.grid import footnotes
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.reader import readers
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from tests.views import studies


@pytest.fixture(scope="module")
def full() -> StudyData:
    return studies.full()


def printed(name: str) -> StudyData:
    """A published matrix as imported: a set without runs."""
    path = resource_dir("published") / f"{name}.csv"
    measured = readers()["published"].read(path, CancelToken(), lambda _: None)
    return replace(StudyData(pd.DataFrame()), imported=(measured, Mapping()), manifest={"title": measured.title})


@pytest.mark.slow
def test_unit_speed_rises_along_each_curve_and_crosses_the_line_where_the_table_says(full: StudyData) -> None:
    figure = views.get("isospeed-speed").build(full, speed=9e6)
    plot, table = figure.panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    (handle,) = plot.handles
    assert (handle.option, handle.axis, handle.value) == ("speed", "y", 9e6)
    times = {int(row.key): row.values[1] for row in table.rows}
    for mark in plot.marks:
        assert mark.y == 9e6
        assert mark.x in times.values()
    for line in plot.lines[1:]:
        below = [x for x, y in zip(line.x, line.y, strict=True) if y < 9e6]
        above = [x for x, y in zip(line.x, line.y, strict=True) if y >= 9e6]
        crossing = times[line.processors[0]]
        if below and above:
            assert isinstance(crossing, float)
            assert max(below) <= crossing <= min(above)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["isospeed-contour", "efficiency-contour"])
def test_a_map_has_its_runs_as_dots_and_the_held_value_as_a_line_to_drag(name: str, full: StudyData) -> None:
    figure = views.get(name).build(full)
    (field,) = figure.panels
    assert isinstance(field, Field)
    assert len(field.dots) > 20
    assert all(dot.tip and dot.processors for dot in field.dots)
    (handle,) = field.handles
    assert (handle.option, handle.axis) == ("speed" if name.startswith("isospeed") else "efficiency", "value")
    at = {(x, y): field.values[j][i] for i, x in enumerate(field.columns) for j, y in enumerate(field.rows)}
    for dot in field.dots:
        assert at[(dot.x, dot.y)] == pytest.approx(dot.value)
    assert "the work grows" in figure.sentence
    # what is held constant is stated, and a new value is applied
    option = handle.option
    moved = views.get(name).build(full, **{option: handle.value * 0.9})
    assert isinstance(moved.panels[0], Field)
    assert moved.panels[0].handles[0].value == pytest.approx(handle.value * 0.9)


@pytest.mark.slow
def test_dragging_the_efficiency_moves_every_view_that_holds_it(full: StudyData) -> None:
    for name in ("speedup", "efficiency-contour"):
        figure = views.get(name).build(full, efficiency=0.6)
        handles = [h for panel in figure.panels if isinstance(panel, Plot | Field) for h in panel.handles]
        assert [(h.option, h.value) for h in handles] == [("efficiency", 0.6)]
    made = matrices.matrix(full, "efficiency", target=0.6)
    assert made is not None
    surface = views.get("scalability-surface").build(full, efficiency=0.6).panels[0]
    assert isinstance(surface, Surface)
    for n, row in zip(surface.rows, surface.heights, strict=True):
        for n2, height in zip(surface.columns, row, strict=True):
            value = made.value(int(n), int(n2))
            assert (value is None and math.isnan(height)) or value == height


def test_a_surface_turns_without_changing_its_heights(full: StudyData) -> None:
    one, two = (views.get("scalability-surface").build(full, azimuth=azimuth).panels[0] for azimuth in (-52, 40))
    assert isinstance(one, Surface)
    assert isinstance(two, Surface)
    assert dataclasses.replace(two, azimuth=one.azimuth) == one


@pytest.mark.slow
def test_predicted_cells_say_so_with_their_interval(full: StudyData) -> None:
    figure = views.get("matrix").build(full, bound="efficiency", way="best", processors="2,4,8,16,128")
    (grid,) = figure.panels
    assert isinstance(grid, Grid)
    last = grid.cells[0][-1]
    assert last is not None
    assert last.origin == "predicted"
    assert "(predicted by models, 95 % between" in last.tip
    assert "model of T(N, W)" in last.tip
    first = grid.cells[0][1]
    assert first is not None
    assert first.origin != "predicted"
    assert any("predicted by models at N = " in note for note in figure.notes)
    rows = views.get("matrix-row").build(full, way="predicted")
    assert isinstance(rows.panels[0], Plot)
    assert all(line.origin == "predicted" and line.low and line.high for line in rows.panels[0].lines)


@pytest.mark.slow
def test_a_picture_says_what_its_marks_mean_only_where_cells_differ(full: StudyData) -> None:
    mixed, runs = (
        views.get("matrix").build(full, bound="efficiency", way=way, processors=counts).panels[0]
        for way, counts in (("best", "2,4,8,16,128"), ("measured", "2,4"))
    )
    assert isinstance(mixed, Grid)
    assert isinstance(runs, Grid)
    assert "dashed frame: predicted" in footnotes(mixed)[0]
    assert not any("predicted" in note for note in footnotes(runs))


def test_the_average_says_each_efficiency_in_its_tips(full: StudyData) -> None:
    figure = views.get("average-scalability").build(full, efficiencies="0.4, 0.5")
    (grid,) = figure.panels
    assert isinstance(grid, Grid)
    cell = grid.cells[0][1]
    assert cell is not None
    single = [matrices.matrix(full, "efficiency", target=target) for target in (0.4, 0.5)]
    n, n2 = grid.row_processors[0], grid.column_processors[1]
    values = [made.value(n, n2) for made in single if made is not None]
    assert cell.values[0] == pytest.approx(sum(value or math.nan for value in values) / 2)
    assert "E = 0.4:" in cell.tip
    with pytest.raises(InputError, match="'x': an efficiency between 0 and 1 was expected"):
        views.get("average-scalability").build(full, efficiencies="0.4, x")


@pytest.mark.slow
def test_the_prediction_names_three_counts_and_draws_those_that_were_reached(full: StudyData) -> None:
    figure = views.get("miss-prediction").build(full)
    plot, table = figure.panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    assert [row.values[0] for row in table.rows] == ["of the runs", "optimistic", "pessimistic", "predicted"]
    assert plot.marks[0].text.startswith("latency where fastest (N =")
    assert {"computation", "synchronisation", "mean of both"} <= {line.name for line in plot.lines}


@pytest.mark.parametrize("name", ["matrix", "matrix-row", "scalability-surface"])
def test_a_printed_matrix_is_shown_with_its_source_and_its_contradictions(name: str) -> None:
    figure = views.get(name).build(printed("latency-metric-table-11"))
    assert figure.panels
    assert "Efficiency held at 0.25: from 2 to 32 processors scale 0.00900" in figure.sentence
    assert any("Table XI of X. Zhang" in note for note in figure.notes)
    assert any("(2, 4) = 0.9419 contradicts the others; 1.042 would fit" in note for note in figure.notes)


def test_cells_of_a_printed_matrix_are_imported_and_products_computed() -> None:
    (grid,) = views.get("matrix").build(printed("isospeed-table-3")).panels
    assert isinstance(grid, Grid)
    origins = {cell.origin for row in grid.cells for cell in row if cell is not None}
    assert origins == {"imported", "computed"}


@pytest.mark.slow
def test_work_without_operations_is_named_as_time(full: StudyData) -> None:
    runs = [
        run.model_copy(update={"source": "imported", "work_ops": None, "work_flops": None})
        for run in full.runs
        if run.ok
    ]
    data = StudyData.from_runs(runs)
    (field,) = views.get("efficiency-contour").build(data).panels
    assert isinstance(field, Field)
    assert (field.y.label, field.y.unit) == ("work W, as one-processor time", "s")
    assert all(low < high for low, high in pairwise(field.rows))
    figure: Figure = views.get("matrix").build(data, bound="efficiency")
    assert any("no operations were counted" in note for note in figure.notes)


@pytest.mark.slow
def test_generalized_speedup_over_n_is_unit_speed_over_the_sequential_speed(full: StudyData) -> None:
    figure = views.get("generalized-speedup").build(full)
    speedup, share = figure.panels
    assert isinstance(speedup, Plot)
    assert isinstance(share, Plot)
    rows = full.scaling
    speeds = {(int(r["processors"]), float(r["unit_speed"])) for r in rows.to_dict("records")}
    scale = {
        line.y[i] / line.x[i] / y
        for line, own in zip(speedup.lines, share.lines, strict=True)
        for i, y in enumerate(own.y)
        if line.role != "ideal"
    }
    assert all(value == pytest.approx(1) for value in scale)
    one = {(int(x), y) for line in share.lines if line.role != "ideal" for x, y in zip(line.x, line.y, strict=True)}
    factors = {min(abs(y * k - s) / s for m, s in speeds if m == n) for n, y in one for k in [_sequential(full)]}
    assert max(factors) < 1e-9


def _sequential(data: StudyData) -> float:
    """Half of it is the usual speed to hold constant (isospeed.txt III)."""
    held = matrices.held_at(data, "speed")
    assert held is not None
    return 2 * held[0]


@pytest.mark.slow
def test_a_generalized_speedup_of_the_same_problem_is_the_usual_one(full: StudyData) -> None:
    table = full.scaling.set_index(["processors", "label"])["speedup"]
    (plot, _) = views.get("generalized-speedup").build(full, sequential="same-size").panels
    assert isinstance(plot, Plot)
    known = [value for value in table if value == value]
    for line in plot.lines:
        if line.role != "ideal":
            assert all(min(abs(y - value) for value in known) < 1e-9 for y in line.y)


@pytest.mark.slow
def test_the_problem_ensemble_space_has_its_bounds_and_says_where_problems_fit(full: StudyData) -> None:
    (plot,) = views.get("problem-ensemble").build(full, efficiency=0.7).panels
    assert isinstance(plot, Plot)
    lines = {line.name: line for line in plot.lines}
    assert {"communication bound", "memory bound", "runs", "fits, and efficient"} <= set(lines)
    region = lines["fits, and efficient"]
    assert region.band
    least = dict(zip(lines["communication bound"].x, lines["communication bound"].y, strict=True))
    most = dict(zip(lines["memory bound"].x, lines["memory bound"].y, strict=True))
    for n, low, high in zip(region.x, region.low, region.high, strict=True):
        assert (low, high) == (least[n], most[n])
        assert low <= high
    tight = views.get("problem-ensemble").build(full, efficiency=0.7, limit=600.0, of="machine")
    assert "no problem" in tight.sentence.lower() or "beyond" in tight.sentence


@pytest.mark.slow
def test_fixed_size_and_fixed_speed_stand_side_by_side(full: StudyData) -> None:
    figure = views.get("size-and-speed").build(full, speed=9e6)
    size, speed = figure.panels
    assert isinstance(size, Plot)
    assert isinstance(speed, Plot)
    table = views.get("isospeed-speed").build(full, speed=9e6).panels[1]
    assert isinstance(table, Table)
    times = {int(row.key): row.values[1] for row in table.rows if row.values[1] is not None}
    line = speed.lines[0]
    assert line.processors
    assert all(times[n] == pytest.approx(y) for n, y in zip(line.processors, line.y, strict=True) if n in times)
    assert "scalability" in figure.sentence
