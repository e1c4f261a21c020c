"""Views of what-if runs: actual and ideal, the gap each closes, and virtual speedups."""

from __future__ import annotations

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.base.run import Variant
from scalegraph.figures.figure import Figure, Plot, Table
from scalegraph.subjects.study import StudyData
from tests.analyze import synthetic
from tests.views import studies


@pytest.fixture(scope="module")
def full() -> StudyData:
    return studies.full()


def table_of(figure: Figure) -> Table:
    return next(panel for panel in figure.panels if isinstance(panel, Table))


def plots_of(figure: Figure) -> list[Plot]:
    return [panel for panel in figure.panels if isinstance(panel, Plot)]


@pytest.mark.slow
def test_what_takes_most_away_stands_first(full: StudyData) -> None:
    table = table_of(views.get("what-if").build(full, processors=64))
    assert [row.values[0] for row in table.rows[:3]] == [
        "ideal machine",
        "processor.clock_mhz = 40",
        "model.c:10 x inf",
    ]
    assert [round(float(row.values[3] or 0), 6) for row in table.rows[:3]] == [50.0, 40.0, 25.0]
    assert table.rows[-1].values[0] == "inside lock m x inf"


def test_the_sentence_names_the_single_ideal_that_closes_most(full: StudyData) -> None:
    sentence = views.get("what-if").build(full).sentence
    assert "64 processors" in sentence
    assert "without contention it would take" in sentence
    assert "20 % less" in sentence
    assert "on an ideal machine" in sentence


def test_curves_stand_beside_the_actual_one_with_points_where_runs_are(full: StudyData) -> None:
    plot = plots_of(views.get("what-if").build(full, quantity="speedup"))[0]
    lines = {line.name: line for line in plot.lines}
    assert lines["no contention"].processors == (8, 64)
    assert {8, 64, 1} <= set(lines["actual"].processors)
    actual = dict(zip(lines["actual"].processors, lines["actual"].y, strict=True))
    assert lines["ideal machine"].y[1] == pytest.approx(2 * actual[64])


def test_the_time_of_a_processor_is_shown_for_each_with_the_actual_on_top(full: StudyData) -> None:
    bars = plots_of(views.get("what-if").build(full))[1]
    assert bars.y.categories[-1] == "actual"
    assert bars.bars is not None
    heights = [sum(series[2][i] for series in bars.bars.series) for i in range(len(bars.y.categories))]
    assert heights[bars.y.categories.index("ideal machine")] == pytest.approx(heights[-1] / 2)


def test_only_what_the_request_asks_for_is_shown_unless_all_is_wanted(full: StudyData) -> None:
    asked = {"what_if": [{"ideal": ["cache"]}]}
    data = StudyData.from_runs([*full.runs, *full.variants], manifest={**full.manifest, "request": asked})
    view = views.get("what-if")
    assert [row.values[0] for row in table_of(view.build(data)).rows] == ["infinite caches"]
    assert len(table_of(view.build(data, show="all")).rows) == 9


@pytest.mark.slow
def test_what_if_runs_are_in_no_other_view(full: StudyData) -> None:
    bare = StudyData(full.table, full.runs, full.manifest, full.sources, full.regions)
    for name in ("time", "speedup", "overheads", "runs", "matrix", "breakdown"):
        assert views.get(name).build(full) == views.get(name).build(bare)


@pytest.mark.slow
def test_curves_of_what_if_runs_stand_beside_the_actual_ones_where_they_are_wanted(full: StudyData) -> None:
    for name, count in (("time", 1), ("speedup", 2)):
        plain, more = (plots_of(views.get(name).build(full, size="balls=1000", what_if=on)) for on in (False, True))
        assert len(plain) == len(more) == count
        for before, after in zip(plain, more, strict=True):
            assert after.lines[: len(before.lines)] == before.lines
            added = {line.name: line for line in after.lines[len(before.lines) :]}
            assert added["no contention"].processors == (8, 64)
            assert all(line.style == "dashed" for line in added.values())


def test_from_runs_keeps_what_if_runs_apart() -> None:
    run = synthetic.run(4)
    other = studies.what_if(run, Variant(ideal=("cache",)), 0.5)
    data = StudyData.from_runs([run, other])
    assert (data.runs, data.variants, len(data.table)) == ((run,), (other,), 1)


def test_virtual_speedups_are_curves_over_what_is_taken_away(full: StudyData) -> None:
    figure = views.get("virtual-speedup").build(full, processors=64)
    lines = {line.name: line for line in plots_of(figure)[0].lines}
    line = lines["model.c:10"]
    assert line.x == (0.0, 50.0, 100.0)
    assert line.y == pytest.approx((line.y[0], 0.9 * line.y[0], 0.75 * line.y[0]))
    first = table_of(figure).rows[0]
    assert first.values[0] == "model.c:10"
    assert first.values[1] == pytest.approx(25.0)
    assert first.values[-1] == "int line_10; /* xxx */"
    assert "model.c:10 gains most" in figure.sentence


def test_virtual_speedups_of_several_sizes_say_which_is_which(full: StudyData) -> None:
    variant = Variant(speedup={"line:model.c:10": "2"})
    points = [(run, {"parameters": {"n": size}}) for size in (72, 104) for run in synthetic.fixed((1, 8))]
    runs = [run.model_copy(update={"point": run.point.model_copy(update=change)}) for run, change in points]
    variants = [
        run.model_copy(update={"point": run.point.model_copy(update={"variant": variant})})
        for run in runs
        if run.point.processors == 8
    ]
    figure = views.get("virtual-speedup").build(StudyData.from_runs([*runs, *variants]))
    names = {"model.c:10, n = 72", "model.c:10, n = 104"}
    assert {line.name for line in plots_of(figure)[0].lines} == names
    assert {row.values[0] for row in table_of(figure).rows} == names
    assert any(f"{name} gains most" in figure.sentence or "nothing" in figure.sentence for name in names)


def test_a_count_without_what_if_runs_is_refused_with_those_there_are(full: StudyData) -> None:
    for name in ("what-if", "virtual-speedup"):
        with pytest.raises(InputError, match="8, 64"):
            views.get(name).build(full, processors=4)


def test_without_runs_the_view_says_how_to_make_some() -> None:
    data = StudyData.from_runs(synthetic.fixed((1, 2, 4)), manifest={"request": {"program": {"name": "ge1"}}})
    figure = views.get("what-if").build(data)
    assert [way.text for way in figure.ways] == ["Open the What if panel"]
    assert "--what-if contention" in figure.told
    assert "What if this were faster" in views.get("virtual-speedup").build(data).empty
