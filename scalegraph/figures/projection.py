"""Surfaces projected to polygons: an orthographic view from an azimuth and an elevation, for every renderer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from scalegraph.base.measures import SI_UNITS, Measure, axis_measure
from scalegraph.base.units import plain
from scalegraph.figures import contours
from scalegraph.figures.figure import Axis, Surface

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Point: TypeAlias = tuple[float, float]

_HIGH = 0.62  # height of the box relative to its length and width
_OUT = 0.075  # distance from the box to the tick labels
_LIGHT = np.array([0.35, -0.45, 0.82]) / math.sqrt(0.35**2 + 0.45**2 + 0.82**2)


@dataclass(frozen=True)
class Patch:
    """A piece of the surface: its corners in the plane, mean height (0 to 1 of the axis) and brightness (0 to 1)."""

    points: tuple[Point, ...]
    height: float
    light: float


@dataclass(frozen=True)
class Stroke:
    """A straight line of the box: an *edge*, or a thin grid line."""

    start: Point
    end: Point
    edge: bool = True


@dataclass(frozen=True)
class Word:
    """A label of the box, aligned away from it: to the right of *x* for 1, to the left for -1."""

    x: float
    y: float
    text: str
    side: int = 0  # 0 is centred
    title: bool = False


@dataclass(frozen=True)
class Node:
    """The position of a height in the plane, for tooltips: row, column, and nearness to the viewer."""

    x: float
    y: float
    row: int
    column: int
    near: float


@dataclass(frozen=True)
class Scene:
    """The scene, each kind from back to front. Lengths are in widths of the box; y points up."""

    strokes: tuple[Stroke, ...]
    patches: tuple[Patch, ...]
    words: tuple[Word, ...]
    nodes: tuple[Node, ...]
    bounds: tuple[float, float, float, float]  # x0, y0, x1, y1 of box and surface, without labels


class _Camera:
    """Directions in the plane and towards the viewer."""

    def __init__(self, azimuth: float, elevation: float) -> None:
        turn, lift = math.radians(azimuth), math.radians(min(89.0, max(1.0, elevation)))
        self.right = np.array([-math.sin(turn), math.cos(turn), 0.0])
        self.up = np.array([-math.cos(turn) * math.sin(lift), -math.sin(turn) * math.sin(lift), math.cos(lift)])
        self.viewer = np.array([math.cos(turn) * math.cos(lift), math.sin(turn) * math.cos(lift), math.sin(lift)])
        self.side_x = 0.5 if math.cos(turn) >= 0 else -0.5  # the walls facing the viewer
        self.side_y = 0.5 if math.sin(turn) >= 0 else -0.5

    def flat(self, place: Floats) -> Point:
        return float(place @ self.right), float(place @ self.up)

    def near(self, place: Floats) -> float:
        return float(place[:2] @ self.viewer[:2])


def scene(surface: Surface, azimuth: float | None = None, elevation: float | None = None) -> Scene:
    """Return *surface* seen from *azimuth* and *elevation* (degrees; by default its own).

    An unknown corner leaves a gap; a cell with three known corners becomes a triangle, so that a triangular matrix has
    a straight edge along its diagonal.
    """
    camera = _Camera(
        surface.azimuth if azimuth is None else azimuth, surface.elevation if elevation is None else elevation
    )
    x, y = _share(surface.x, surface.columns), _share(surface.y, surface.rows)
    heights = np.asarray(surface.heights, dtype=np.float64).reshape(len(y), len(x))
    low, high = _span(surface.z, heights)
    z = (contours.along(surface.z, heights.ravel()).reshape(heights.shape) - low) / (high - low)
    z = np.clip(z, 0.0, 1.0)
    places = np.stack(
        [np.broadcast_to(x - 0.5, z.shape), np.broadcast_to((y - 0.5)[:, None], z.shape), (z - 0.5) * _HIGH], axis=2
    )
    patches = sorted(_patches(places, z, camera), key=lambda item: item[0])
    nodes = sorted(
        (
            Node(*camera.flat(places[r, c]), r, c, camera.near(places[r, c]))
            for r, c in np.argwhere(np.isfinite(z)).tolist()
        ),
        key=lambda node: node.near,
    )
    strokes, words = _box(surface, camera, (low, high))
    corners = [camera.flat(np.array([a, b, c])) for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in _ENDS]
    xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
    bounds = (min(xs), min(ys), max(xs), max(ys))
    return Scene(tuple(strokes), tuple(patch for _, patch in patches), tuple(words), tuple(nodes), bounds)


_ENDS = (-0.5 * _HIGH, 0.5 * _HIGH)


def _patches(places: Floats, z: Floats, camera: _Camera) -> Iterator[tuple[float, Patch]]:
    for r in range(z.shape[0] - 1):
        for c in range(z.shape[1] - 1):
            corners = [(r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c)]
            known = [corner for corner in corners if np.isfinite(z[corner])]
            if len(known) < 3:
                continue
            points = [places[corner] for corner in known]
            normal = np.cross(points[1] - points[0], points[-1] - points[0])
            normal = normal / (np.linalg.norm(normal) or 1.0)
            light = 0.72 + 0.28 * abs(float(normal @ _LIGHT))
            height = float(np.mean([z[corner] for corner in known]))
            flat = tuple(camera.flat(point) for point in points)
            # a surface over a plane hides only what is behind it in the plane
            yield camera.near(np.mean(points, axis=0)), Patch(flat, height, light)


def _share(axis: Axis, values: tuple[float, ...]) -> Floats:
    """Return *values* as shares (0 to 1) of the axis."""
    at = contours.along(axis, values)
    low, high = (float(end) for end in contours.along(axis, axis.limits or (min(values), max(values))))
    return (at - low) / (high - low) if high > low else np.full(len(at), 0.5)


def _span(axis: Axis, values: Floats) -> tuple[float, float]:
    """Return the ends of the height axis, as coordinates."""
    known = values[np.isfinite(values)]
    ends = axis.limits or ((float(known.min()), float(known.max())) if len(known) else (0.0, 1.0))
    low, high = (float(end) for end in contours.along(axis, ends))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _ticks(axis: Axis, values: tuple[float, ...]) -> list[tuple[float, str]]:
    how = _measured(axis, values)
    if axis.ticks:
        return [(tick, _words(tick, axis, how)) for tick in axis.ticks]
    low, high = axis.limits or (min(values), max(values))
    if axis.scale.startswith("log"):
        return [(value, _words(value, axis, how)) for value in values]
    inner = contours.round_levels((low, high), 4)
    ends = [value for value in (low, high) if value == float(f"{value:.2g}")]
    return [(value, _words(value, axis, how)) for value in sorted({*inner, *ends})]


def _measured(axis: Axis, values: tuple[float, ...]) -> Measure:
    """Return the prefix shared by all ticks of *axis*; its title shows it."""
    return axis_measure(values, axis.unit, logarithmic=axis.scale.startswith("log"))


def _words(value: float, axis: Axis, how: Measure) -> str:
    if axis.scale == "category" and 0 <= round(value) < len(axis.categories):
        return axis.categories[round(value)]
    if axis.unit in SI_UNITS or how.divisor != 1.0:
        return plain(float(f"{value / how.divisor:.4g}"))
    return str(int(value)) if value == int(value) and abs(value) < 1e5 else contours.level_text(value)


def _known(surface: Surface) -> tuple[float, ...]:
    return tuple(value for row in surface.heights for value in row if math.isfinite(value)) or (0.0, 1.0)


def _box(surface: Surface, camera: _Camera, span: tuple[float, float]) -> tuple[list[Stroke], list[Word]]:
    """Return floor and back walls with their grid, and the labels along the front edges."""
    strokes: list[Stroke] = []
    words: list[Word] = []
    floor = _ENDS[0]
    near_x, near_y = camera.side_x, camera.side_y

    def stroke(a: tuple[float, float, float], b: tuple[float, float, float], *, edge: bool = True) -> None:
        strokes.append(Stroke(camera.flat(np.array(a)), camera.flat(np.array(b)), edge))

    x_ticks = list(zip(_ticks(surface.x, surface.columns), _tick_shares(surface.x, surface.columns), strict=True))
    y_ticks = list(zip(_ticks(surface.y, surface.rows), _tick_shares(surface.y, surface.rows), strict=True))
    known = _known(surface)
    for (_, text), share in x_ticks:
        at = share - 0.5
        stroke((at, -near_y, floor), (at, near_y, floor), edge=False)
        words.append(_word(camera, (at, near_y * (1 + 2 * _OUT), floor), text, (at, near_y, floor)))
    for (_, text), share in y_ticks:
        at = share - 0.5
        stroke((-near_x, at, floor), (near_x, at, floor), edge=False)
        words.append(_word(camera, (near_x * (1 + 2 * _OUT), at, floor), text, (near_x, at, floor)))
    # heights are labelled at the leftmost vertical edge
    left = min(((near_x, -near_y), (-near_x, near_y)), key=lambda edge: camera.flat(np.array([*edge, 0.0]))[0])
    for value, text in _ticks(surface.z, known):
        share = (float(contours.along(surface.z, [value])[0]) - span[0]) / (span[1] - span[0])
        if not -1e-9 <= share <= 1 + 1e-9:
            continue
        height = (share - 0.5) * _HIGH
        stroke((-near_x, -near_y, height), (near_x, -near_y, height), edge=False)
        stroke((-near_x, -near_y, height), (-near_x, near_y, height), edge=False)
        place = camera.flat(np.array([*left, height]))
        words.append(Word(place[0] - 0.03, place[1] + (0.02 if share < 0.02 else 0.0), text, -1))
    for a, b in (
        ((-near_x, -near_y, floor), (-near_x, -near_y, _ENDS[1])),
        ((near_x, -near_y, floor), (near_x, -near_y, _ENDS[1])),
        ((-near_x, near_y, floor), (-near_x, near_y, _ENDS[1])),
        ((-near_x, near_y, floor), (near_x, near_y, floor)),
        ((near_x, -near_y, floor), (near_x, near_y, floor)),
        ((-near_x, -near_y, _ENDS[1]), (near_x, -near_y, _ENDS[1])),
        ((-near_x, -near_y, _ENDS[1]), (-near_x, near_y, _ENDS[1])),
    ):
        stroke(a, b)
    words += _titles(surface, camera, left)
    return strokes, words


def _tick_shares(axis: Axis, values: tuple[float, ...]) -> list[float]:
    low, high = (float(end) for end in contours.along(axis, axis.limits or (min(values), max(values))))
    at = contours.along(axis, [tick for tick, _ in _ticks(axis, values)])
    return [float((one - low) / (high - low)) if high > low else 0.5 for one in at]


def _word(
    camera: _Camera,
    place: tuple[float, float, float],
    text: str,
    edge: tuple[float, float, float],
    *,
    title: bool = False,
) -> Word:
    at, start = camera.flat(np.array(place)), camera.flat(np.array(edge))
    away = at[0] - start[0]
    return Word(at[0], at[1], text, 0 if abs(away) < 0.02 else 1 if away > 0 else -1, title)


def _titles(surface: Surface, camera: _Camera, left: tuple[float, float]) -> list[Word]:
    floor, far = _ENDS[0], 1 + 6.5 * _OUT
    near_x, near_y = camera.side_x, camera.side_y
    top = camera.flat(np.array([*left, _ENDS[1]]))
    along = ((surface.x, surface.columns), (surface.y, surface.rows), (surface.z, _known(surface)))
    x, y, z = (_measured(axis, values).heading(axis.label) for axis, values in along)
    return [
        _word(
            camera,
            (0.0, near_y * far, floor),
            x,
            (0.0, near_y, floor),
            title=True,
        ),
        _word(
            camera,
            (near_x * far, 0.0, floor),
            y,
            (near_x, 0.0, floor),
            title=True,
        ),
        Word(top[0], top[1] + 0.07, z, 0, title=True),
    ]
