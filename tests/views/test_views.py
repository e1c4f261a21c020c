from __future__ import annotations

import dataclasses
import math
import subprocess
import sys

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure, Grid, Plot, Source, Table
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import View
from scalegraph.views.study.scalability import latency_sources
from tests.analyze import synthetic
from tests.views import studies

NAMES = list(views.registry())


@pytest.fixture(scope="module")
def full() -> StudyData:
    return studies.full()


def _plot(figure: Figure, index: int = 0) -> Plot:
    panel = figure.panels[index]
    assert isinstance(panel, Plot)
    return panel


def _grid(figure: Figure) -> Grid:
    (panel,) = figure.panels
    assert isinstance(panel, Grid)
    return panel


def test_the_views_of_the_first_step_are_there_and_describe_themselves() -> None:
    wanted = {"profile", "time", "speedup", "latency", "overheads", "latency-sources", "breakdown", "matrix"}
    wanted |= {"matrix-row", "source", "processors", "sequential", "runs", "lines"}
    assert wanted <= set(NAMES)
    for view in views.registry().values():
        assert view.title
        assert view.description.endswith(".")
        assert view.group
        assert all(option.description and option.title for option in view.options)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in studies.NEEDS_MORE])
def test_every_view_of_a_full_study_has_a_title_a_sentence_and_panels(name: str, full: StudyData) -> None:
    figure = views.get(name).build(full)
    assert figure.view == name
    assert figure.panels
    assert not figure.empty
    assert figure.title
    assert figure.sentence.endswith(".")
    assert all(figure.notes)


@pytest.mark.few(120)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", list(studies.few()))
def test_with_little_data_a_view_shows_it_or_says_what_is_missing(name: str, which: str) -> None:
    figure = views.get(name).build(studies.few()[which])
    assert bool(figure.panels) != bool(figure.empty)
    if figure.empty:
        assert figure.empty.endswith(".")
        assert "nan" not in figure.empty.lower()
    else:
        assert "nan" not in figure.sentence.lower()


@pytest.mark.few(25)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_building_a_view_changes_nothing(name: str) -> None:
    data = studies.full()
    before = data.table.copy(deep=True)
    views.get(name).build(data)
    assert data.table.equals(before)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_curves_have_as_many_tips_and_counts_as_points(name: str, full: StudyData) -> None:
    for panel in views.get(name).build(full).panels:
        for line in panel.lines if isinstance(panel, Plot) else ():
            assert len(line.x) == len(line.y)
            assert len(line.tips) in (0, len(line.x))
            assert len(line.processors) in (0, len(line.x))
        bars = panel.bars if isinstance(panel, Plot) else None
        if bars is not None:
            assert all(len(heights) == len(bars.x) for _, _, heights in bars.series)
            assert all(len(tips) == len(bars.x) for tips in bars.tips)


@pytest.mark.slow
def test_time_marks_the_fastest_count(full: StudyData) -> None:
    plot = _plot(views.get("time").build(full))
    fastest = min(zip(plot.lines[0].y, plot.lines[0].x, strict=True))[1]
    assert plot.marks[0].x == fastest
    assert plot.marks[0].text.startswith(f"fastest: {int(fastest)}")
    assert plot.x.ticks == (1, 2, 4, 8, 16, 24, 32, 48, 64)


@pytest.mark.slow
def test_the_size_option_chooses_the_problem(full: StudyData) -> None:
    figure = views.get("time").build(full, size="balls=256, steps=40")
    assert figure.sentence.startswith("balls = 256, steps = 40")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ("bals=256", "did you mean 'balls'"),
        ("256", "expected name=value, got '256'"),
        ("balls=77", "no problem with balls=77 ran on two or more"),
    ],
)
def test_a_size_that_does_not_exist_is_explained(size: str, words: str, full: StudyData) -> None:
    with pytest.raises(InputError, match=words):
        views.get("time").build(full, size=size)


@pytest.mark.slow
def test_repetitions_are_drawn_as_intervals() -> None:
    runs = [synthetic.run(n, repetition=r, jitter=1000 * r) for n in (1, 2, 4) for r in range(3)]
    line = _plot(views.get("time").build(StudyData.from_runs(runs))).lines[0]
    assert all(low < y < high for low, y, high in zip(line.low, line.y, line.high, strict=True))
    assert "median of 3" in line.tips[0]


@pytest.mark.slow
def test_latency_marks_l_max_only_when_the_minimum_is_inside() -> None:
    inside = StudyData.from_runs(synthetic.fixed(barrier=400))
    assert _plot(views.get("latency").build(inside)).marks[0].text.startswith("latency where fastest: ")
    rising = StudyData.from_runs(synthetic.fixed((1, 2, 4), balls=20_000))
    figure = views.get("latency").build(rising)
    assert _plot(figure).marks[0].text.startswith("latency on the most processors")
    assert "not the latency at its best" in figure.sentence


@pytest.mark.slow
def test_breakdown_bars_add_up_to_a_hundred_percent(full: StudyData) -> None:
    bars = _plot(views.get("breakdown").build(full)).bars
    assert bars is not None
    for index in range(len(bars.x)):
        assert sum(heights[index] for _, _, heights in bars.series) == pytest.approx(100)


@pytest.mark.parametrize("detail", ["sources", "causes"])
def test_latency_sources_add_up_to_l(detail: str, full: StudyData) -> None:
    plot = _plot(views.get("latency-sources").build(full, detail=detail))
    assert plot.bars is not None
    for index, total in enumerate(plot.lines[0].y):
        assert sum(heights[index] for _, _, heights in plot.bars.series) == pytest.approx(total)


def test_latency_sources_with_the_efficiency_held_use_the_nearest_runs(full: StudyData) -> None:
    figure = views.get("latency-sources").build(full, held="efficiency")
    assert figure.sentence.startswith("efficiency held at 0.7 (nearest runs): on ")


def test_the_matrix_shows_time_efficiency_and_memory_in_the_order_of_the_paper(full: StudyData) -> None:
    grid = _grid(views.get("matrix").build(full, time=0.0101))
    assert [name.split(" ")[0] for name in grid.value_names] == ["time", "efficiency", "memory"]
    assert grid.value_names[1] == "efficiency 0.7"
    for r, row in enumerate(grid.cells):
        for c, cell in enumerate(row):
            assert (cell is None) == (c < r)
            if cell is not None and None in cell.values:
                assert cell.reason
            if cell is not None and r == c:
                assert {value for value in cell.values if value is not None} <= {1.0}


def test_the_matrix_leaves_out_counts_of_other_series_and_says_so(full: StudyData) -> None:
    figure = views.get("matrix").build(full, bound="efficiency")
    assert _grid(figure).columns == ("2", "4", "8", "16", "32")
    assert any(note.startswith("Left out: N = 24, 48, 64, 128") for note in figure.notes)


def test_the_matrix_of_one_bound_has_one_value_a_cell(full: StudyData) -> None:
    grid = _grid(views.get("matrix").build(full, bound="efficiency", efficiency=0.7))
    assert grid.value_names == ("efficiency 0.7",)


def test_the_isospeed_matrix_includes_one_processor(full: StudyData) -> None:
    grid = _grid(views.get("matrix").build(full, metric="isospeed"))
    assert grid.columns[0] == "1"


def test_a_search_that_ended_without_success_is_the_reason_of_its_cells(full: StudyData) -> None:
    search = {"bound": "efficiency", "value": 0.99999, "processors": 32, "met": False, "sentence": "too large; gave up"}
    manifest = {"searches": [search], "request": {"bound": [{"kind": "efficiency", "value": 0.99999}]}}
    data = StudyData(full.table, full.runs, manifest)
    reasons = [cell.reason for row in _grid(views.get("matrix").build(data)).cells for cell in row if cell]
    assert any("too large, gave up" in reason for reason in reasons)


def test_a_search_that_saturates_is_the_answer_of_the_matrix(full: StudyData) -> None:
    flat = {"bound": "efficiency", "value": 0.99999, "met": False, "why": "flat", "sentence": "it hardly rises"}
    searches = [{**flat, "processors": 16, "got": 0.61}, {**flat, "processors": 32, "got": 0.42}]
    manifest = {"searches": searches, "request": {"bound": [{"kind": "efficiency", "value": 0.99999}]}}
    data = StudyData(full.table, full.runs, manifest)
    said = (
        "no size reaches it{} it saturates at 0.610 on 16 and 0.420 on 32 processors: a larger problem hardly raises"
        " it, because the loss grows with the work"
    )
    assert f"; on more {said.format(':')}" in views.get("matrix").build(data).sentence
    alone = views.get("matrix").build(data, processors="16,32").sentence
    assert alone.startswith(f"Efficiency held at 0.99999: {said.format(';')}")


def test_rows_of_the_matrix_start_at_one(full: StudyData) -> None:
    plot = _plot(views.get("matrix-row").build(full))
    assert len(plot.lines) >= 3
    for line in plot.lines:
        assert line.y[0] == 1.0
        assert f"N = {int(line.x[0])}" == line.name


def test_a_row_that_does_not_exist_names_those_that_do(full: StudyData) -> None:
    with pytest.raises(InputError, match="no row N = 3; rows are 2, 4, 8"):
        views.get("matrix-row").build(full, processors=3)


def test_the_profile_is_a_tree_with_loss_and_bars(full: StudyData) -> None:
    figure = views.get("profile").build(full, processors=16)
    table, bars = figure.panels
    assert isinstance(table, Table)
    assert isinstance(bars, Plot)
    assert [row.depth for row in table.rows] == [0, 1, 2, 3, 3]
    assert table.columns[1].name == "loss"
    assert table.rows[0].values[1] == pytest.approx(100)
    assert bars.bars is not None
    assert bars.bars.horizontal


def test_the_profile_of_the_sequential_run_has_no_loss(full: StudyData) -> None:
    table = views.get("profile").build(full, processors=1).panels[0]
    assert isinstance(table, Table)
    assert "loss" not in [column.name for column in table.columns]


def test_a_count_that_was_not_run_is_named_with_those_that_were(full: StudyData) -> None:
    with pytest.raises(InputError, match="no run on 5; run were 1, 2, 4"):
        views.get("profile").build(full, processors=5)


def test_source_puts_the_inserted_text_beside_its_own_line(full: StudyData) -> None:
    (panel,) = views.get("source").build(full).panels
    assert isinstance(panel, Source)
    inserted = {line.number: line.inserted for line in panel.lines if line.inserted}
    assert list(inserted) == [10]
    assert "SCALEGRAPH_SCOPE(2)" in inserted[10]
    assert panel.lines[13].values[0] is not None
    assert panel.lines[12].region == 3


def test_source_of_an_unknown_file_names_the_near_one(full: StudyData) -> None:
    with pytest.raises(InputError, match=r"no source 'modle.c'; did you mean 'model.c'"):
        views.get("source").build(full, file="modle.c")


def test_runs_lists_failed_ones_with_their_message(full: StudyData) -> None:
    (table,) = views.get("runs").build(full).panels
    assert isinstance(table, Table)
    failed = [row for row in table.rows if str(row.values[-1]).startswith("deadlock")]
    assert len(failed) == 1
    assert failed[0].values[-1] == "deadlock: every processor waits for another"


@pytest.mark.slow
def test_sequential_series_can_be_chosen_by_what_grows(full: StudyData) -> None:
    assert views.get("sequential").build(full).sentence.startswith("From balls = 32 to 4096 on 1 processor")
    assert views.get("sequential").build(full, grow="steps").sentence.startswith("From steps = 10 to 80")
    with pytest.raises(InputError, match="no series in which ball grows"):
        views.get("sequential").build(full, grow="ball")


def test_unknown_options_and_bad_values_are_all_reported_at_once(full: StudyData) -> None:
    with pytest.raises(InputError) as caught:
        views.get("matrix").build(full, bond="time", efficiency="2", metric="latncy")
    text = str(caught.value)
    assert "has no option 'bond'; did you mean 'bound'" in text
    assert "efficiency: expected a number between 0.001 and 0.999, got '2'" in text
    assert "metric: expected one of latency, isospeed, isoefficiency, got 'latncy'; did you mean 'latency'" in text


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        (Option("n", "N", "int", minimum=1), "8", 8),
        (Option("e", "E", "float"), "0.5", 0.5),
        (Option("b", "B", "bool"), "yes", True),
        (Option("t", "T", "text", "x"), "", "x"),
        (Option("c", "C", "choice", "a", ("a", "b")), "b", "b"),
        (Option("c", "C", "choice", "a", ("a", "b"), aliases=(("old", "b"),)), "old", "b"),
    ],
)
def test_options_take_text_as_from_a_command_line(option: Option, value: str, wanted: object) -> None:
    assert option.parse(value) == wanted


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (Option("n", "N", "int", minimum=1), "8.5"),
        (Option("n", "N", "int", minimum=1), "0"),
        (Option("e", "E", "float", minimum=0, maximum=1), "nan"),
        (Option("b", "B", "bool"), "maybe"),
    ],
)
def test_options_refuse_what_does_not_fit(option: Option, value: str) -> None:
    with pytest.raises(InputError, match="expected"):
        option.parse(value)


def test_an_unknown_view_names_the_near_one() -> None:
    with pytest.raises(InputError, match="unknown view 'matrx'; did you mean 'matrix'"):
        views.get("matrx")


def test_views_are_frozen_data() -> None:
    view = next(iter(views.registry().values()))
    assert isinstance(view, View)
    with pytest.raises(dataclasses.FrozenInstanceError):
        view.name = "x"  # type: ignore[misc]


@pytest.mark.slow
def test_building_views_loads_neither_matplotlib_nor_qt() -> None:
    code = (
        "import sys; from scalegraph import views; views.registry();"
        "assert not {'matplotlib', 'PySide6', 'pyqtgraph'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_superlinear_runs_give_a_negative_latency_not_an_error() -> None:
    fast = synthetic.run(2, miss=0, barrier=0)
    slow = synthetic.run(1)
    assert slow.time_s is not None
    quick = fast.model_copy(update={"time_s": slow.time_s / 3, "memory_stall_s": 0.0})
    data = StudyData.from_runs([slow, quick])
    assert math.isclose(float(data.scaling["efficiency"].iloc[1]), 1.5)
    for name in NAMES:
        views.get(name).build(data)


@pytest.mark.slow
def test_latency_sources_with_a_bound_held_are_of_the_runs_that_the_matrix_takes() -> None:
    data = studies.full()
    made = matrices.matrix(data, "efficiency")
    assert made is not None
    measured = {anchor.keys[0] for anchor in made.anchors.values() if anchor.way == "measured"}
    figure = views.get("latency-sources").build(data, held="efficiency")
    held = latency_sources.rows_held(data, "efficiency", None)[0]
    assert held is not None
    assert figure.panels
    assert measured
    assert measured <= set(held["keys"])
