"""Flame graphs and tables of callers, checked against other views of the same runs and against sums known by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph import views
from scalegraph.analyze.profile import region_tree
from scalegraph.base.errors import InputError
from scalegraph.base.run import Region, RunRecord
from scalegraph.figures import render
from scalegraph.figures.figure import Figure, Table
from scalegraph.figures.flame_geometry import WHOLE, Geometry
from scalegraph.figures.flames import Flame, Frame
from scalegraph.figures.palette import diverging
from scalegraph.request import Session
from scalegraph.request.imports.sets import opened
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views.flames import single_callers
from tests.analyze import synthetic
from tests.measurements import samples
from tests.views import studies, traces
from tests.views.test_trace_compare_profile import pair


@pytest.fixture(scope="module")
def full() -> StudyData:
    return studies.full()


def alone(data: StudyData) -> StudyData:
    return replace(data, others=())


def build(name: str, data: StudyData | TraceData, **options: Any) -> Figure:
    return views.get(name).build(data, **options)


def flame_of(figure: Figure) -> Flame:
    (panel,) = figure.panels
    assert isinstance(panel, Flame)
    return panel


def frames(figure: Figure) -> dict[str, Frame]:
    return {frame.name: frame for frame in flame_of(figure).frames}


def rows(figure: Figure) -> list[tuple[object, ...]]:
    (panel,) = figure.panels
    assert isinstance(panel, Table)
    return [row.values for row in panel.rows]


@pytest.mark.slow
def test_frames_have_the_times_and_shares_of_the_profile(full: StudyData) -> None:
    profile = build("profile", full, processors=64).panels[0]
    assert isinstance(profile, Table)
    by_key = {frame.key: frame for frame in flame_of(build("flame", full, processors=64)).frames}
    names = [column.name for column in profile.columns]
    for row in profile.rows:
        values = dict(zip(names, row.values, strict=True))
        frame = by_key[row.key]
        groups = sum(float(values[name] or 0) for name in ("busy", "stall", "idle", "primitives"))  # type: ignore[arg-type]
        assert frame.own == pytest.approx(groups)
        assert f"{100 * frame.value / 0.828224:.6g}" == f"{values['inclusive']:.6g}"


def test_frames_stand_side_by_side_on_their_parents(full: StudyData) -> None:
    geometry = Geometry(flame_of(build("flame", full)))
    for index, frame in enumerate(geometry.flame.frames):
        if frame.parent >= 0:
            below = geometry.flame.frames[frame.parent]
            assert frame.depth == below.depth + 1
            assert below.start - 1e-12 <= frame.start
            assert frame.start + frame.width <= below.start + below.width + 1e-12
        assert index > frame.parent


@pytest.mark.parametrize(
    ("metric", "title"), [("waiting", "idle time"), ("stall", "memory stall time"), ("visits", "visits")]
)
def test_the_width_is_what_was_asked_for(metric: str, title: str, full: StudyData) -> None:
    made = flame_of(build("flame", full, metric=metric))
    assert made.value.label == title
    run = next(run for run in full.runs if run.point.processors == 64 and run.point.parameters["balls"] == 1000)
    if metric == "visits":
        assert made.whole == sum(cost.counters.get("visits", 0) for cost in run.regions)
    else:
        group = {"waiting": run.idle_s, "stall": run.memory_stall_s}[metric]
        assert made.whole == pytest.approx(group)


def test_a_metric_that_is_none_is_explained(full: StudyData) -> None:
    with pytest.raises(InputError, match="did you mean 'stall'"):
        build("flame", full, metric="stal")
    with pytest.raises(InputError, match="does not add up"):
        build("flame", full, metric="busy_max")


@pytest.mark.slow
def test_a_simulated_run_says_that_it_knows_no_callers(full: StudyData) -> None:
    runnable = replace(full, manifest={**full.manifest, "request": {"program": {"name": "ge1"}}})
    for name in ("flame", "flame-difference"):
        assert any("--trace=regions" in note for note in build(name, runnable).remarks)
    assert any("--trace=regions" in note for note in build("callers", runnable).remarks)
    assert {row[0] for row in rows(build("callers", full, call_path="parallel"))} == {
        "contains it",
        "function",
        "is inside it",
    }


def test_every_selected_region_is_the_one_whose_neighbours_are_shown(full: StudyData) -> None:
    assert full.measured is not None
    for region in synthetic.REGIONS:
        number = [one.id for one, _ in region_tree(full.regions)].index(region.id)
        path = full.measured.paths[number]
        (panel,) = build("callers", full, call_path=path).panels
        assert isinstance(panel, Table)
        assert [row.key for row in panel.rows if row.values[0] == "function"] == [str(region.id)]


@pytest.mark.slow
def test_the_difference_of_two_counts_is_that_of_their_times(full: StudyData) -> None:
    one, many = (frames(build("flame", full, processors=n)) for n in (2, 32))
    made = frames(build("flame-difference", alone(full), processors=32, reference=2))
    for name, frame in made.items():
        assert frame.value == pytest.approx(many[name].value)
        assert frame.before == pytest.approx(one[name].value)
        assert frame.change == pytest.approx(many[name].value - one[name].value)
    relative = frames(build("flame-difference", alone(full), processors=32, reference=2, change="relative"))
    root, old = many["program"].value, one["program"].value
    for name, frame in relative.items():
        assert frame.change == pytest.approx(100 * (many[name].value / root - one[name].value / old))


@pytest.mark.slow
def test_without_a_wish_the_fewest_are_compared_with_the_most(full: StudyData) -> None:
    assert build("flame-difference", alone(full)).title.endswith("N = 1 to N = 64")
    assert build("flame-difference", full).title.endswith("balls = 1000, steps = 40)")
    with pytest.raises(InputError, match="both runs would be those on 8"):
        build("flame-difference", alone(full), processors=8, reference=8)
    with pytest.raises(InputError, match="no run on 7; run were 1, 2"):
        build("flame-difference", alone(full), reference=7)


@pytest.mark.slow
def test_two_studies_are_compared_on_the_most_processors_that_both_have() -> None:
    first = StudyData.from_runs(synthetic.fixed((1, 2, 4, 8)), regions=synthetic.REGIONS, manifest=studies.MANIFEST)
    second = StudyData.from_runs(synthetic.fixed((1, 4), barrier=6, machine="other"), regions=synthetic.REGIONS)
    figure = build("flame-difference", replace(first, others=(second,)))
    assert "N = 4" in figure.title or "model on KSR-1" in figure.title
    barrier = next(frame for frame in flame_of(figure).frames if frame.name.startswith("barrier"))
    a, b = (frames(build("flame", data, processors=4))[barrier.name].value for data in (second, first))
    assert (barrier.before, barrier.value) == (pytest.approx(a), pytest.approx(b))
    assert barrier.change > 0


@pytest.mark.slow
def test_what_only_the_first_has_can_be_shown_too() -> None:
    first = StudyData.from_runs(synthetic.fixed((4,)), regions=synthetic.REGIONS)
    fewer = tuple(region for region in synthetic.REGIONS if region.id != 4)
    gone = [
        run.model_copy(update={"regions": tuple(cost for cost in run.regions if cost.region != 4)})
        for run in synthetic.fixed((4,), machine="other")
    ]
    data = replace(StudyData.from_runs(gone, regions=fewer), others=(first,))
    second, both = (build("flame-difference", data, frames=frames) for frames in ("second", "both"))
    assert any("choose another frame width" in note for note in second.notes)
    assert frames(second)["barrier (line 22)"].width == 0
    assert frames(both)["barrier (line 22)"].width > 0


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "csv", "json", "md", "tex", "parquet", "folded"])
@pytest.mark.parametrize("name", ["flame", "flame-difference"])
def test_a_flame_graph_is_written_in_every_format(name: str, ending: str, full: StudyData) -> None:
    figure = build(name, full)
    assert ending in render.formats(figure)
    assert render.content(figure, ending) == render.content(figure, ending)


def test_folded_stacks_add_up_to_the_run_in_whole_nanoseconds(full: StudyData) -> None:
    figure = build("flame", full)
    lines = render.content(figure, "folded").decode().splitlines()
    assert all(line.rpartition(" ")[2].isdecimal() for line in lines)
    assert "program;main;parallel (line 10);barrier (line 22)" in {line.rpartition(" ")[0] for line in lines}
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == pytest.approx(flame_of(figure).whole * 1e9, abs=5)
    pairs = render.content(build("flame-difference", alone(full)), "folded").decode().splitlines()
    assert all(part.isdecimal() for line in pairs for part in line.rsplit(" ", 2)[1:])


def test_what_is_no_flame_graph_has_no_stacks(full: StudyData, tmp_path: Path) -> None:
    figure = build("time", full)
    assert "folded" not in render.formats(figure)
    with pytest.raises(InputError, match="only flame graphs have stacks"):
        render.save(figure, tmp_path / "x.folded")


def imported(tmp_path: Path) -> StudyData:
    (tmp_path / "set.txt").write_text(samples.TEXT)
    with opened([tmp_path / "set.txt"], said={"unit": "s"}) as study:
        return Session().study_data(study)


def test_measured_call_paths_are_frames_and_their_callers_are_known(tmp_path: Path) -> None:
    data = imported(tmp_path)
    made = frames(build("flame", data, processors=8))
    assert list(made) == ["main", "solve"]
    assert (made["main"].value, made["main"].own, made["solve"].value) == pytest.approx((12, 6.5, 5.5))
    assert rows(build("callers", data, processors=8, call_path="main->solve"))[0][:3] == (
        "calls it",
        "main",
        pytest.approx(5.5),
    )
    difference = frames(build("flame-difference", data))
    assert difference["solve"].change == pytest.approx(5.5 - 1.5)
    counted = build("flame", data, metric="flops", processors=2)
    assert flame_of(counted).whole == pytest.approx(1000)
    with pytest.raises(InputError, match="no metric 'flop'"):
        build("flame", data, metric="flop")


def test_a_trace_shows_the_call_stacks_that_it_has() -> None:
    made = frames(build("trace-flame", pair()))
    assert made["main"].value == pytest.approx(0.8)
    assert (made["solve"].parent, made["solve"].depth) == (list(made).index("main"), 1)
    assert made["old"].depth == 0
    table = build("trace-call-tree", pair()).panels[0]
    assert isinstance(table, Table)
    shares = {str(row.values[0]): row for row in table.rows}
    assert set(shares) == set(made)


def test_the_difference_of_two_traces_grows_with_the_processors_and_selects_what_is_in_view() -> None:
    data = pair()
    other = replace(data.others[0], others=(replace(data, others=()),))
    for subject, key in ((data, "0"), (other, "1")):
        made = frames(build("trace-flame-difference", subject, frames="both"))
        assert made["barrier"].change == pytest.approx(0.4)
        assert made["old"].change == pytest.approx(-0.2)
        assert made["main"].key == key


def test_callers_of_a_traced_region_add_up_to_it() -> None:
    made = rows(build("trace-callers", pair(), function="solve"))
    assert [(row[0], row[1]) for row in made] == [("calls it", "main"), ("function", "solve")]
    assert made[0][2] == made[1][2] == pytest.approx(0.6)
    assert [row[1] for row in rows(build("trace-callers", pair(), function="main"))] == [
        "(nothing above)",
        "main",
        "solve",
    ]


def test_a_trace_without_calls_says_how_to_get_them() -> None:
    made = traces.builder(1)
    traces.message(made, 0, 10, 0, 0)
    silent = traces.finish(made)
    for name in ("trace-flame", "trace-callers"):
        assert "--trace=regions" in build(name, silent).told
    assert "compares two traces" in build("trace-flame-difference", silent).empty


def test_zoom_search_and_keys_lead_to_the_frames_that_lie_there() -> None:
    geometry = Geometry(flame_of(build("trace-flame", pair())))
    names = [frame.name for frame in geometry.flame.frames]
    main, solve, old = (names.index(name) for name in ("main", "solve", "old"))
    rows_, begin, end = geometry.shown(main)
    assert dict(zip(rows_.tolist(), zip(begin, end, strict=True), strict=True))[main] == (0.0, 1.0)
    assert old not in rows_
    assert geometry.at(0.01, 1) == solve
    assert geometry.step(WHOLE, "in") == main
    assert geometry.step(main, "in") == solve
    assert geometry.step(solve, "out") == main
    assert geometry.step(main, "right") == old
    assert geometry.step(old, "right") == old
    found = geometry.found("S")
    assert np.flatnonzero(found).tolist() == [solve]
    assert geometry.found_value(geometry.found("")) == 0
    assert geometry.found_value(np.ones(len(names), bool)) == pytest.approx(1.0)


def test_the_colours_of_a_change_differ_at_the_ends_and_stand_still_in_the_middle() -> None:
    for theme in ("light", "dark", "print"):
        less, none, more = (diverging(share, theme) for share in (-1.0, 0.0, 1.0))  # type: ignore[arg-type]
        assert len({less, none, more}) == 3
        assert diverging(float("nan"), theme) == none  # type: ignore[arg-type]
        assert diverging(7.0, theme) == more  # type: ignore[arg-type]


PROGRAM_TEXT = """void once(int n);
int *handler = &taken;
void once(int n)
{
    /* often(n) */
    often(n);
}
void often(int n) { n++; }
void taken(int n) { often(n); }
int main(void)
{
    for (int i = 0; i < 9; i++)
        once(i);
    return 0;
}
"""


def a_region(number: int, kind: str, name: str, line: int, end: int, parent: int = 0) -> Region:
    return Region(id=number, kind=kind, name=name, file="a.c", line=line, end_line=end, parent=parent)


def test_a_function_that_one_region_calls_stands_on_it() -> None:
    regions = [
        a_region(1, "function", "function once", 3, 7),
        a_region(2, "function", "often", 8, 8),
        a_region(3, "function", "taken", 9, 9),
        a_region(4, "function", "main", 10, 15),
        a_region(5, "loop", "main:12", 12, 13, 4),
    ]
    made, called, apart = single_callers.placed(regions, {"a.c": PROGRAM_TEXT})
    assert {region.name: region.parent for region in made} == {
        "function once": 5,
        "often": 0,
        "taken": 0,
        "main": 0,
        "main:12": 4,
    }
    assert (called, apart) == ({1}, ["often", "taken"])
    bare = [region for region in regions if region.name != "main" and region.kind == "function"]
    assert single_callers.placed(bare, {"a.c": PROGRAM_TEXT})[0][0].parent == 0, "main is not a region of its own"
    also = PROGRAM_TEXT.replace("int n) { n++; }", "int n) { once(n); }")
    assert single_callers.placed(bare, {"a.c": also}) == (bare, frozenset(), ["often", "once", "taken"])
    broken = PROGRAM_TEXT + "}"
    assert "once" in single_callers.placed(regions, {"a.c": broken}).apart, "a declaration may be a call"
    macro = PROGRAM_TEXT.replace("int main", "#define AGAIN(n) once(n)\nint main")
    assert single_callers.placed(regions, {"a.c": macro})[0][0].parent == 0, "a macro may be used anywhere"
    assert single_callers.placed(regions, {"a.f90": ""})[0] == regions


CALLING_TEXT = """void sweep(void) {
    work();
}
void swap(void) {
}
int main(void) {
#pragma omp parallel
    {
        sweep();
        swap();
    }
    swap();
}
"""


def test_callers_and_differences_place_functions_on_their_callers(full: StudyData) -> None:
    places = {1: ("function", 6, 13), 2: ("parallel", 7, 11), 3: ("function", 1, 3), 4: ("function", 4, 5)}
    named = {3: "sweep", 4: "swap"}
    regions = [full.regions[0]]
    for region in full.regions[1:]:
        kind, line, end = places[region.id]
        parent = 1 if kind == "parallel" else 0
        more = {"kind": kind, "line": line, "end_line": end, "parent": parent}
        regions.append(region.model_copy(update={**more, "name": named.get(region.id, region.name)}))
    sources = (replace(full.sources[0], text=CALLING_TEXT),)
    data = replace(alone(full), regions=tuple(regions), sources=sources)

    def around(name: str) -> list[tuple[object, ...]]:
        return [row[:2] for row in rows(build("callers", data, call_path=name))]

    parallel = next(frame.name for frame in flame_of(build("flame", data)).frames if frame.name.startswith("parallel"))
    assert around("sweep") == [("calls it", parallel), ("function", "sweep")]
    assert around("swap") == [("contains it", "program"), ("function", "swap")], "called from two places"
    assert ("is called", "sweep") in around("parallel")
    assert "is called by parallel" in build("callers", data, call_path="sweep").sentence
    made = build("flame-difference", data)
    frame = frames(made)["sweep"]
    assert flame_of(made).frames[frame.parent].name == parallel
    for figure in (made, build("callers", data)):
        assert any("swap: called from several" in note for note in figure.notes)


def test_what_messages_cost_has_frames_without_a_trace() -> None:
    def sent(run: RunRecord) -> RunRecord:
        first, *rest = run.regions
        costs = {**first.categories, "prim_send": 1000, "idle_late_sender": 3000}
        return run.model_copy(update={"regions": (first.model_copy(update={"categories": costs}), *rest)})

    runs = synthetic.fixed()
    plain, data = (StudyData.from_runs(part, regions=synthetic.REGIONS) for part in (runs, map(sent, runs)))
    before, after = frames(build("flame", plain)), frames(build("flame", data))
    waiting = after["MPI: waiting for senders"]
    assert waiting.role == "idle"
    assert waiting.own == pytest.approx(3 * after["MPI: sending messages"].own)
    assert flame_of(build("flame", data)).whole > flame_of(build("flame", plain)).whole
    assert len(after) == len(before) + 2
