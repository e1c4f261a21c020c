"""Pictures of traces: correct colours at known positions."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matplotlib import image as mpl_image

from scalegraph import views
from scalegraph.figures import palette, timelines
from scalegraph.figures.figure import (
    Area,
    AreaTrack,
    Arrows,
    Axis,
    Figure,
    Key,
    LaneTrack,
    Mark,
    PathLine,
    Polygon,
    Radar,
    Ticks,
    Timeline,
)
from scalegraph.figures.palette import Theme
from scalegraph.figures.render import content, picture
from tests.views import traces

KEYS = (Key("busy", "busy"), Key("idle", "idle"))


def track(codes: Any, shares: Any, covered: Any = None, **more: Any) -> LaneTrack:
    codes, shares = np.array(codes, np.int32), np.array(shares, np.float64)
    lanes, bins = codes.shape[:2]
    known = None if covered is None else np.array(covered, np.float64)
    names = tuple(f"processor {i}" for i in range(lanes))
    return LaneTrack(names, tuple(range(lanes)), np.linspace(0, 1, bins + 1), codes, shares, KEYS, known, **more)


def hexes(colours: Any) -> list[str]:
    return ["#" + bytes(one).hex().upper() for one in np.asarray(colours, np.uint8).reshape(-1, 3)]


def between(first: str, second: str, share: float) -> list[int]:
    return [round(a + (b - a) * share) for a, b in zip(timelines.rgb(first), timelines.rgb(second), strict=True)]


def pixels(figure: Figure, theme: Theme = "print", size: tuple[float, float] = (16.0, 6.0)) -> Any:
    png = content(figure, "png", size_cm=size, theme=theme, dpi=100, caption=False)
    return np.rint(mpl_image.imread(io.BytesIO(png))[..., :3] * 255).astype(np.uint8)


def share_of(image: Any, hexa: str) -> float:
    """Return the share of the picture with a colour, allowing for rounding."""
    near = np.abs(image.astype(int) - np.array(timelines.rgb(hexa))).max(axis=2) <= 2
    return float(near.mean())


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_a_bin_has_the_mean_of_its_colours_by_share(theme: Theme) -> None:
    busy, idle, behind = palette.colour("busy", theme), palette.colour("idle", theme), palette.paper(theme)
    made = timelines.mixed(
        track([[[0, -1], [0, 1], [1, -1], [-1, -1]]], [[[1, 0], [0.5, 0.5], [0.25, 0], [0, 0]]]), theme
    )
    assert hexes(made[0, [0, 3]]) == [busy.upper(), behind.upper()]
    assert np.abs(made[0, 1].astype(int) - between(busy, idle, 0.5)).max() <= 1
    assert np.abs(made[0, 2].astype(int) - between(behind, idle, 0.25)).max() <= 1


def test_what_is_known_but_not_named_is_grey_and_what_is_not_known_is_paper() -> None:
    made = timelines.mixed(track([[[0, -1]]], [[[0.5, 0]]], [[0.75]]), "print")[0, 0]
    busy, other = (np.array(timelines.rgb(palette.colour(role, "print"))) for role in ("busy", "other"))
    wanted = 0.5 * busy + 0.25 * other + 0.25 * 255
    assert np.abs(made - wanted).max() <= 1


def test_a_pixel_is_the_mean_of_all_bins_in_it_and_not_one_of_them() -> None:
    stripes = np.zeros((1, 1000, 3), np.uint8)
    stripes[:, ::2] = 200
    made = timelines.resampled(stripes, np.linspace(0, 1, 1001), 0, 1, 50)
    assert made.min() == made.max() == 100
    one = np.zeros((1, 1000, 3), np.uint8)
    one[0, 123] = 255
    shown = timelines.resampled(one, np.linspace(0, 1, 1001), 0, 1, 10)
    assert shown[0, :, 0].tolist() == [0, round(2.55), *[0] * 8]


def test_pixels_outside_of_the_bins_are_paper() -> None:
    made = timelines.resampled(np.zeros((1, 4, 3), np.uint8), np.linspace(0, 1, 5), -1, 3, 8)
    assert made[0, :, 0].tolist() == [255, 255, 0, 0, 255, 255, 255, 255]
    half = timelines.resampled(np.zeros((1, 4, 3), np.uint8), np.linspace(0, 1, 5), 0, 1.5, 2, (200, 200, 200))
    assert half[0, :, 0].tolist() == [0, 133]


def test_bins_of_any_width_count_by_their_time() -> None:
    colours = np.array([[[0, 0, 0], [100, 100, 100]]], np.uint8)
    assert timelines.resampled(colours, traces.array(0, 0.75, 1), 0, 1, 1)[0, 0, 0] == 25
    assert timelines.resampled(colours, traces.array(0, 0.75, 1), 0.5, 1, 2)[0, :, 0].tolist() == [0, 100]


def test_more_lanes_than_pixels_are_mixed_too() -> None:
    many = track([[[lane % 2, -1]] for lane in range(100)], [[[1, 0]] for _ in range(100)])
    image = timelines.picture(many, "print", 0, 1, (4, 10))
    wanted = between(palette.colour("busy", "print"), palette.colour("idle", "print"), 0.5)
    assert np.abs(image.astype(int) - wanted).max() <= 1


def test_lanes_stand_apart_where_there_is_room() -> None:
    image = timelines.picture(track([[[0, -1]], [[1, -1]]], [[[1, 0]], [[1, 0]]]), "print", 0, 1, (3, 40))
    column = hexes(image[:, 1])
    assert column[0] == column[19] == column[20] == column[39] == "#FFFFFF"
    assert column[10] == palette.colour("busy", "print").upper()
    assert column[30] == palette.colour("idle", "print").upper()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_the_picture_of_a_trace_has_the_colours_of_its_activities_in_their_shares(theme: Theme) -> None:
    figure = views.get("spacetime").build(traces.halves(), messages=False, barriers=False)
    image = pixels(figure, theme)
    busy, idle = (share_of(image, palette.colour(role, theme)) for role in ("busy", "idle"))
    assert busy > 0.2
    assert busy / idle == pytest.approx(3.0, rel=0.05)


@pytest.mark.slow
def test_a_lane_is_where_its_name_says() -> None:
    figure = views.get("spacetime").build(traces.halves(), messages=False, barriers=False)
    with picture.composed(figure, (16.0, 6.0), "print", 100) as sheet:
        axes = [axes for part in sheet.subfigs for axes in part.axes if len(axes.images)]
        (lanes,) = axes
        shown = [(label.get_text(), label.get_position()[1]) for label in lanes.get_yticklabels()]
        assert [text for text, _ in shown] == ["0", "1"]
        image = np.asarray(lanes.images[0].get_array())
        for text, y in shown:
            row = image[int(y / 2 * len(image))]
            ends = [hexes(row[at])[0] for at in (2, -3)]
            idle = "idle" if text == "1" else "busy"
            assert ends == [palette.colour("busy", "print"), palette.colour(idle, "print")]


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 4, 64, 1024])
def test_only_names_that_fit_are_written(lanes: int) -> None:
    figure = views.get("spacetime").build(traces.stripes(lanes))
    with picture.composed(figure, None, "print", 100) as sheet:
        (axes,) = (axes for part in sheet.subfigs for axes in part.axes if len(axes.images))
        boxes = sorted(
            (label.get_window_extent().y0, label.get_window_extent().y1)
            for label in axes.get_yticklabels()
            if label.get_text()
        )
        assert boxes
        assert all(first[1] <= second[0] + 1 for first, second in pairwise(boxes))
        assert len(boxes) >= min(lanes, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(views.registry("trace")))
def test_every_view_of_a_trace_is_drawn(name: str) -> None:
    data = traces.halves()
    others = (traces.halves(500_000),) if views.get(name).several else ()
    assert len(content(views.get(name).build(replace(data, others=others)), "png")) > 1000


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_timelines_are_drawn_as_vectors(ending: str) -> None:
    assert len(content(everything(), ending)) > 1000


@pytest.mark.slow
def test_nothing_of_a_picture_lies_outside_of_it() -> None:
    figure = views.get("spacetime").build(traces.stripes(5), colour="region")
    with picture.composed(figure, (10.0, 7.0), "print", 100) as sheet:
        width, height = sheet.canvas.get_width_height()
        for part in sheet.subfigs:
            for axes in part.axes:
                axis = (*axes.get_yticklabels(), *axes.get_xticklabels(), axes.xaxis.label) if axes.axison else ()
                for text in (*axes.texts, *axis):
                    if text.get_text() and text.get_visible():
                        box = text.get_window_extent()
                        assert box.x0 >= -1, text.get_text()
                        assert box.y0 >= -1, text.get_text()
                        assert box.x1 <= width + 1, text.get_text()
                        assert box.y1 <= height + 1, text.get_text()


def everything() -> Figure:
    """Return a figure with every kind of track and overlay."""
    lanes = track(
        [[[0, 1]] * 4, [[1, -1]] * 4, [[0, -1]] * 4],
        [[[0.5, 0.5]] * 4, [[1, 0]] * 4, [[1, 0]] * 4],
        overlays=(
            Arrows(
                "message",
                "message size",
                traces.array(0.1, 0.3),
                np.array([0, 1]),
                traces.array(0.2, 0.6),
                np.array([1, 3]),
                traces.array(64, 4096),
            ),
            Arrows("lock", "lock hand-overs", traces.array(0.4), np.array([2]), traces.array(0.5), np.array([0])),
            PathLine("critical path", traces.array(0, 0.5), traces.array(0.5, 1), np.array([0, 2])),
            Ticks("mark", "marks", traces.array(0.25, 0.75), np.array([-1, 1])),
        ),
    )
    areas = AreaTrack(
        "utilisation",
        Axis("processors"),
        np.linspace(0, 1, 5),
        (Area("busy", "busy", traces.array(1, 2, 3, 2)), Area("idle", "idle", traces.array(2, 1, 0, 1))),
    )
    band = AreaTrack(
        "misses",
        Axis("misses", "1/s"),
        np.linspace(0, 1, 5),
        (
            Area(
                "misses",
                "miss",
                traces.array(1e3, 2e3, np.nan, 1e3),
                traces.array(0, 1e3, np.nan, 0),
                traces.array(2e3, 3e3, np.nan, 2e3),
            ),
        ),
        kind="band",
        marks=(Mark("mean", y=1.5e3),),
    )
    return Figure("All", "Everything.", (Timeline(Axis("time", "s"), 0, 1, (lanes, areas, band), KEYS),), view="all")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_every_kind_of_track_and_overlay_is_drawn(theme: Theme) -> None:
    image = pixels(everything(), theme, (16.0, 12.0))
    for role in ("busy", "idle", "mark"):
        assert share_of(image, palette.colour(role, theme)) > 0.001, role


@pytest.mark.slow
def test_a_radar_is_a_polygon_with_the_names_of_its_spokes() -> None:
    radar = Radar(
        ("0", "1", "2", "3"),
        Axis("busy", "%", limits=(0, 100)),
        (Polygon("busy", "busy", (100, 50, 0, 100)), Polygon("peak", "mark", (100, float("nan"), 100, 100))),
    )
    assert timelines.polygon_points(radar, radar.polygons[0]).round(9).tolist() == [[0, 1], [0.5, 0], [0, 0], [-1, 0]]
    figure = Figure("Kiviat", "Who was busy.", (radar,), view="kiviat")
    assert share_of(pixels(figure, "print", (9.0, 8.0)), palette.colour("busy", "print")) > 0.001
    assert content(figure, "csv").decode().splitlines()[:2] == ["spoke,busy (%),peak (%)", "0,100,100"]


@pytest.mark.parametrize(
    ("begin", "end", "title", "texts"),
    [
        (0, 1, "time (s)", ("0.0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        (0, 0.003, "time (ms)", ("0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0")),
        (0.002, 0.0021, "time (ms)", ("2.00", "2.02", "2.04", "2.06", "2.08", "2.10")),
        (0, 4e-7, "time (ns)", ("0", "50", "100", "150", "200", "250", "300", "350", "400")),
        (-0.5, 0.5, "time (ms)", ("-400", "-200", "0", "200", "400")),
        (3600, 3610, "time (s)", ("3600", "3602", "3604", "3606", "3608", "3610")),
    ],
)
def test_times_have_round_ticks_in_a_unit_that_suits(
    begin: float, end: float, title: str, texts: tuple[str, ...]
) -> None:
    ticks = timelines.time_ticks(begin, end)
    assert ticks.title == title
    assert ticks.texts == texts
    assert all(begin - 1e-12 <= place <= end + 1e-12 for place in ticks.places)


def test_far_into_a_zoom_times_are_counted_from_a_round_time() -> None:
    ticks = timelines.time_ticks(12.345678, 12.345679)
    assert ticks.title.startswith("time (")
    assert " after 12.34567" in ticks.title
    assert len(set(ticks.texts)) == len(ticks.texts) >= 4
    assert max(map(len, ticks.texts)) <= 6
    assert ticks.places[0] == pytest.approx(12.345678, abs=2e-7)


def test_arrows_are_chosen_evenly_in_time_and_the_largest_among_them() -> None:
    x0 = np.linspace(0, 1, 1000, endpoint=False)
    size = np.ones(1000)
    size[::50] = 100
    lanes = np.zeros(1000, np.int32)
    arrows = Arrows("message", "size", x0, lanes, x0 + 0.01, lanes, size)
    keep = timelines.drawn(arrows, 100)
    assert keep.sum() == 100
    assert keep[::50].all()
    assert np.histogram(x0[keep], 10)[0].min() >= 8
    assert timelines.drawn(arrows, 1000).all()


def test_the_colours_of_names_differ_while_there_are_more() -> None:
    names = [f"region {i}" for i in range(30)]
    slots = palette.name_slots(names)
    assert len(set(slots.values())) == 30
    shades = {palette.colour(f"name:{slot}", "print") for slot in slots.values()}
    assert len(shades) == 30
    assert palette.name_slots(["region 0", "region 1"])["region 0"] == slots["region 0"]
