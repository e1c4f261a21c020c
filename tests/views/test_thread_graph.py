"""The thread graph as a picture: positions of steps, texts of segments, and graph files as studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph.base.errors import InputError
from scalegraph.figures import render
from scalegraph.figures.diagram import Diagram, Item, Shape, away, head, names, outline
from scalegraph.figures.figure import Figure, Table
from scalegraph.predict.graph import parse
from scalegraph.predict.graph_times import expanded, growth, segments, step_times
from scalegraph.request import Session
from scalegraph.request.imports.graphs import is_graph
from scalegraph.request.imports.kinds import kind_of
from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from tests.predict.test_derive import REGIONS, record

GRAPH = """
title = "Rows"
parameters = ["n"]
[costs]
barrier = "1e-6 * k"
[[class]]
name = "main"
steps = [ { segment = "read", time = "1e-3", place = "rows.c:1" }, { cluster = "team" } ]
[[class]]
name = "team"
count = "N"
alike = true
steps = [
    { loop = "k", iterations = "n", steps = [
        { segment = "row", time = "1e-3 / N", place = "rows.c:3" },
        { barrier = "end" },
    ] },
    { critical = "sum", steps = [ { segment = "add", time = "1e-5" } ] },
    { part = "last" },
]
[[part]]
name = "last"
steps = [ { segment = "copy", time = "2e-5" } ]
"""
RING = """
[[class]]
name = "left"
steps = [ { segment = "make", time = "1" }, { send = "data", to = "0" }, { barrier = "all" } ]
[[class]]
name = "right"
steps = [ { receive = "data" }, { segment = "work", time = "1" }, { barrier = "all" } ]
"""


def opened(tmp_path: Path, text: str) -> StudyData:
    path = tmp_path / "rows.graph.toml"
    path.write_text(text)
    return Session().study_data(path)


def drawn(figure: Figure) -> Diagram:
    (panel,) = (panel for panel in figure.panels if isinstance(panel, Diagram))
    return panel


def item(diagram: Diagram, begin: str) -> tuple[int, Item]:
    return next((number, one) for number, one in enumerate(diagram.items) if one.name.startswith(begin))


def test_times_of_segments_and_what_does_not_scale() -> None:
    graph = expanded(parse(GRAPH))
    four, eight = (step_times(graph, {"n": 10}, n) for n in (4, 8))
    found = {one.step.name: one for one in segments(graph)}
    assert four.spent[found["row"].path] == pytest.approx(10 * 1e-3 / 4)
    assert eight.spent[found["add"].path] == pytest.approx(8e-5)
    assert four.cost["barrier", "end"] == pytest.approx(10 * 4e-6)
    assert four.share(found["read"].path) == pytest.approx(1e-3 / four.time_s)
    assert {name: growth(one, eight, four) for name, one in found.items()} == {
        "read": "serial",
        "row": "scales",
        "add": "grows",
        "copy": "stays",
    }
    assert growth(found["add"], eight, None) == "in turn"


def test_a_graph_file_is_a_study_with_its_places_and_the_text_beside_it(tmp_path: Path) -> None:
    (tmp_path / "rows.c").write_text("one\ntwo\nthree\n")
    data = opened(tmp_path, GRAPH)
    assert is_graph(tmp_path / "rows.graph.toml")
    assert kind_of(tmp_path / "rows.graph.toml") == "graph"
    assert [source.text for source in data.sources] == ["one\ntwo\nthree\n"]
    assert [(one.name, one.line) for one in data.regions if one.line] == [("read", 1), ("row", 3)]
    outside = opened(tmp_path, GRAPH.replace("rows.c", "../rows.c"))
    assert outside.sources == ()


@pytest.mark.slow
def test_a_section_is_called_critical_once(tmp_path: Path) -> None:
    text = GRAPH.replace('critical = "sum"', 'critical = "critical main:15"').replace(
        'barrier = "end"', 'barrier = "barrier"'
    )
    names = [one.name for one in drawn(get("thread-graph").build(opened(tmp_path, text), at="n=10, N=4")).items]
    assert "critical main:15: one at a time" in names
    assert "barrier" in names


@pytest.mark.slow
def test_the_picture_has_threads_ovals_arcs_and_what_does_not_scale_in_front(tmp_path: Path) -> None:
    figure = get("thread-graph").build(opened(tmp_path, GRAPH), at="n=10, N=4")
    diagram = drawn(figure)
    number, read = item(diagram, "read")
    assert (read.role, read.key, "rows.c:1" in read.tip) == ("mark", "1", True)
    assert next(shape.role for shape in diagram.shapes if shape.item == number) == "mark"
    assert item(diagram, "row")[1].role == "ink"
    kinds = [shape.kind for shape in diagram.shapes]
    assert (kinds.count("arc"), kinds.count("oval")) == (1, 2)
    assert item(diagram, "k × n")[1].tip == "iterations: n"
    assert item(diagram, "team × 4")[1].at[0] > item(diagram, "main")[1].at[0]
    rows = [one.at[1] for _, one in (item(diagram, name) for name in ("row", "barrier end", "critical sum", "copy"))]
    assert rows == sorted(rows)
    (table,) = (panel for panel in figure.panels if isinstance(panel, Table))
    assert table.rows[0].values[:2] == ("read", "main")
    assert "N = 4, n = 10" in figure.sentence
    assert "read" in figure.sentence
    assert render.numbers.csv(figure).splitlines()[0].startswith("segment,thread,time (s)")
    assert b"read" in render.content(figure, "svg")


def test_messages_are_arrows_and_barriers_of_several_classes_are_level(tmp_path: Path) -> None:
    diagram = drawn(get("thread-graph").build(opened(tmp_path, RING)))
    (arrow,) = (one for one in diagram.shapes if one.role == "communication")
    (begin, end) = arrow.points
    assert begin[0] < end[0]
    assert begin[1] < end[1]
    (oval,) = (shape for shape in diagram.shapes if shape.kind == "oval")
    (left, right) = oval.points
    assert left[1] == right[1]
    assert left[0] < right[0]


@pytest.mark.slow
def test_the_graph_is_derived_from_runs_and_says_counts_and_coefficients() -> None:
    data = StudyData.from_runs([record(n, p) for n in (8, 16, 24, 32, 64) for p in (4, 8)], regions=REGIONS)
    figure = get("thread-graph").build(data, at="n=80")
    diagram = drawn(figure)
    number, master = item(diagram, "master main:12")
    assert master.key == "4"
    assert "count F: 10 * n ** 2 cycles" in master.tip or "count F: 10*n**2 cycles" in master.tip
    assert "coefficients c_g:" in master.tip
    assert master.role == "mark"  # takes as long on 4 processors as on 8
    assert item(diagram, "for main:14")[1].role == "ink"
    assert any(shape.item == number and shape.role.startswith("count:") for shape in diagram.shapes)
    assert "N = 8, n = 80" in figure.title
    with pytest.raises(InputError, match="no parameter 'm'; known: n, N"):
        get("thread-graph").build(data, at="m=80")
    with pytest.raises(InputError, match="no samples at two sizes on 16; there are some on 4, 8"):
        get("thread-graph").build(data, processors=16)


def test_one_size_is_not_enough_and_the_way_on_is_offered() -> None:
    figure = get("thread-graph").build(StudyData.from_runs([record(16, 4)], regions=REGIONS))
    assert "two or more problem sizes" in figure.empty


def test_names_that_have_no_room_give_way_to_heavier_ones() -> None:
    items = tuple(
        Item(name, (0.0, row), weight=weight)
        for name, row, weight in (("light", 0.0, 0.1), ("heavy", 0.4, 0.9), ("below", 3.0, 0.0))
    )
    diagram = Diagram("t", (), items, (10.0, 4.0))
    placed = names(diagram, 10.0, 12.0, lambda text, _room: (text, 30.0))
    assert [name.text for name in placed] == ["heavy", "below"]


def test_shapes_have_outlines_and_distances() -> None:
    arc = Shape("arc", ((1.0, 0.0), (1.0, 4.0)), bulge=0.5)
    assert min(x for x, _ in outline(arc)) == pytest.approx(0.5)
    assert away(Shape("line", ((0.0, 0.0), (0.0, 4.0))), (3.0, 2.0)) == pytest.approx(3.0)
    assert away(Shape("dot", ((0.0, 0.0),)), (3.0, 4.0)) == pytest.approx(5.0)
    assert head(((0.0, 0.0), (2.0, 0.0)))[0] == (2.0, 0.0)
