from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.figures import contours, projection, render
from scalegraph.figures.figure import Axis, Dot, Field, Figure, Handle, Line, Plot, Surface
from scalegraph.figures.render import picture

N = (1.0, 2.0, 4.0, 8.0)
W = (1e3, 1e4, 1e5, 1e6)


def field() -> Field:
    """Values are log10 W - log2 N, so every contour line is straight in the axes' coordinates."""
    values = tuple(tuple(math.log10(w) - math.log2(n) for n in N) for w in W)
    return Field(
        Axis("processors N", scale="log2", ticks=N),
        Axis("work W", "op", "log10"),
        Axis("level"),
        N,
        W,
        values,
        levels=(2.0, 4.0),
        dots=(Dot(2.0, 1e4, 3.0, "a run", 2),),
        handles=(Handle("level", "value", 3.0, "held at 3"),),
    )


def surface(azimuth: float = -52.0) -> Surface:
    heights = tuple(tuple(n / n2 if n <= n2 else math.nan for n2 in N) for n in N)
    axis = Axis("N", scale="log2", ticks=N)
    return Surface(axis, axis, Axis("scale", limits=(0.0, 1.0)), N, N, heights, azimuth)


def test_an_iso_line_passes_where_the_value_is() -> None:
    ((xs, ys),) = contours.lines(field(), 3.0)
    assert np.log10(ys) - np.log2(xs) == pytest.approx(3.0)
    assert xs.min() == 1.0
    assert xs.max() == pytest.approx(8.0)


def test_between_nodes_the_value_is_linear_in_the_coordinates_of_the_axes() -> None:
    assert contours.at(field(), 3.0, 2e4) == pytest.approx(math.log10(2e4) - math.log2(3.0))
    assert math.isnan(contours.at(field(), 16.0, 2e4))
    assert math.isnan(contours.at(field(), 2.0, 10.0))


def test_next_to_an_unknown_node_nothing_is_known_but_at_the_nodes_themselves() -> None:
    made = field()
    gap = Field(made.x, made.y, made.value, N, W, ((math.nan, *made.values[0][1:]), *made.values[1:]))
    assert math.isnan(contours.at(gap, 1.5, 3e3))
    assert contours.at(gap, 2.0, 1e3) == pytest.approx(2.0)
    assert contours.at(gap, 1.0, 1e4) == pytest.approx(4.0)
    assert np.isnan(contours.resampled(gap)[2]).any()


@pytest.mark.slow
@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(3, 12))
def test_levels_are_few_round_and_inside(low: float, width: float, count: int) -> None:
    high = low + width
    found = contours.round_levels((low, high), count)
    assert all(low < level < high for level in found)
    assert list(found) == sorted(set(found))
    assert len(found) <= 2.6 * count + 2


def test_one_value_has_no_levels() -> None:
    assert contours.round_levels((2.0, 2.0)) == ()
    assert contours.round_levels((math.nan,)) == ()


@pytest.mark.slow
@settings(max_examples=40)
@given(st.floats(-180, 180), st.floats(5, 85))
def test_a_scene_lies_in_its_bounds_and_is_drawn_from_back_to_front(azimuth: float, elevation: float) -> None:
    made = projection.scene(surface(), azimuth, elevation)
    x0, y0, x1, y1 = made.bounds
    for patch in made.patches:
        assert all(x0 - 1e-9 <= x <= x1 + 1e-9 and y0 - 1e-9 <= y <= y1 + 1e-9 for x, y in patch.points)
        assert 0 <= patch.height <= 1
        assert 0 < patch.light <= 1
    near = [node.near for node in made.nodes]
    assert near == sorted(near)


def test_a_triangular_matrix_has_triangles_along_its_diagonal() -> None:
    made = projection.scene(surface())
    assert sorted(len(patch.points) for patch in made.patches) == [3, 3, 3, 4, 4, 4]
    assert len(made.nodes) == 10


def test_a_turn_of_the_view_keeps_heights_upright() -> None:
    for azimuth in (-120.0, -52.0, 10.0, 100.0):
        nodes = {(node.row, node.column): node for node in projection.scene(surface(azimuth)).nodes}
        flat = projection.scene(
            Surface(surface().x, surface().y, surface().z, N, N, tuple((0.0,) * 4 for _ in N), azimuth)
        )
        floor = {(node.row, node.column): node for node in flat.nodes}
        for place, node in nodes.items():
            assert node.x == pytest.approx(floor[place].x)
            assert node.y > floor[place].y


@pytest.mark.slow
@pytest.mark.parametrize("ending", render.FORMATS)
def test_fields_and_surfaces_go_into_every_format(ending: str) -> None:
    assert render.content(Figure("Title", "Sentence.", (field(), surface()), view="t"), ending, dpi=50)


@pytest.mark.slow
def test_the_same_field_gives_the_same_bytes() -> None:
    one, two = (render.content(Figure("t", panels=(field(),), view="t"), "png", dpi=50) for _ in range(2))
    assert one == two


def test_csv_of_a_field_has_its_runs_and_its_nodes_once() -> None:
    rows = list(csv.DictReader(io.StringIO(render.content(Figure("t", panels=(field(),), view="t"), "csv").decode())))
    assert len(rows) == 16
    assert rows[0] == {"processors N": "2", "work W (op)": "10000", "level": "3", "origin": "simulated"}
    assert {row["origin"] for row in rows[1:]} == {"computed"}


def test_csv_of_a_surface_leaves_gaps_out() -> None:
    rows = list(csv.reader(io.StringIO(render.content(Figure("t", panels=(surface(),), view="t"), "csv").decode())))
    assert rows[0] == ["N", "N", "scale"]
    assert len(rows) == 11


def test_json_of_a_field_has_no_number_that_json_lacks() -> None:
    made = surface()
    document = json.loads(render.content(Figure("t", panels=(made, field()), view="t"), "json"))
    assert [panel["kind"] for panel in document["panels"]] == ["surface", "field"]
    assert document["panels"][0]["heights"][1][0] is None
    assert document["panels"][1]["handles"][0]["option"] == "level"


@pytest.mark.slow
@pytest.mark.parametrize("panel", [field(), surface()], ids=["field", "surface"])
def test_words_of_fields_and_surfaces_are_inside_the_picture(panel: Field | Surface) -> None:
    with picture.composed(Figure("Title", "Sentence.", (panel,), view="t"), None, "print", 144) as sheet:
        sheet.draw_without_rendering()
        width, height = sheet.get_size_inches() * 144
        texts = [text for axes in sheet.axes for text in axes.texts] + [
            text for sub in sheet.subfigs for text in sub.texts
        ]
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        assert all(b.x0 >= -1 and b.y0 >= -1 and b.x1 <= width + 1 and b.y1 <= height + 1 for b in boxes)


@pytest.mark.slow
def test_a_line_to_drag_is_drawn_and_in_sight() -> None:
    line = Line("E", (1.0, 2.0), (0.9, 0.8), "efficiency")
    plot = Plot(Axis("N"), Axis("E"), (line,), handles=(Handle("efficiency", "y", 1.5, "held at 1.5"),))
    with picture.composed(Figure("t", panels=(plot,), view="t"), None, "print", 144) as sheet:
        (axes,) = sheet.axes
        assert "held at 1.5" in {text.get_text() for text in axes.texts}
        assert axes.get_ylim()[1] > 1.5
