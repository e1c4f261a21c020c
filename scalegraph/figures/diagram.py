"""Diagrams: shapes whose positions show order rather than values (thread graphs). The unit of both axes is a row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

Point: TypeAlias = tuple[float, float]  # to the right and downwards, in rows
_STEPS = 16  # per half ellipse
_HEAD = (0.42, 0.2)  # length and half width of an arrowhead, in rows


@dataclass(frozen=True)
class Shape:
    """A ``line`` through *points*, an ``arrow`` to the last of them, a ``dot`` at each, or an ``oval`` around all.

    An ``arc`` leaves the first point and returns to the second, bulging *bulge* rows to the left. *width* is in points
    on paper. *item* is the number of the item it belongs to, -1 for none. Later shapes are drawn in front.
    """

    kind: Literal["line", "arrow", "dot", "oval", "arc"]
    points: tuple[Point, ...]
    role: str = "ink"
    width: float = 1.2
    item: int = -1
    bulge: float = 0.0
    dashed: bool = False


@dataclass(frozen=True)
class Item:
    """A selectable part of a diagram: its *name*, written to the right of *at*, and its tooltip (*tip*).

    *key* selects like that of a `Row`. *room* is the width available for the name in rows, *weight* its priority if
    there is no room for all. *side*: where the name is; a name on the left ends there.
    """

    name: str
    at: Point
    tip: str = ""
    key: str = ""
    room: float = 12.0
    weight: float = 0.0
    side: Literal["right", "left", "above"] = "right"
    role: str = "ink"


@dataclass(frozen=True)
class DiagramKey:
    """The meaning of a colour of a diagram."""

    name: str
    role: str


@dataclass(frozen=True)
class Diagram:
    """Shapes and the items they belong to, in keyboard order; *size*: width and height.

    *title* is its name for screen readers. Its numbers are in the table beside it.
    """

    title: str
    shapes: tuple[Shape, ...]
    items: tuple[Item, ...]
    size: Point
    key: tuple[DiagramKey, ...] = ()


def outline(shape: Shape) -> tuple[Point, ...]:
    """Return the points of an ``arc`` or ``oval`` as a polyline, those of other shapes unchanged. Unit: rows."""
    if shape.kind == "arc":
        (x, top), (_, bottom) = shape.points
        middle, half = (top + bottom) / 2, (bottom - top) / 2
        turns = [math.pi * step / _STEPS for step in range(_STEPS + 1)]
        return tuple((x - shape.bulge * math.sin(turn), middle + half * math.cos(turn)) for turn in turns)
    if shape.kind == "oval":
        left, right = min(x for x, _ in shape.points) - 0.55, max(x for x, _ in shape.points) + 0.55
        top, bottom = min(y for _, y in shape.points) - 0.3, max(y for _, y in shape.points) + 0.3
        turns = [math.pi * step / _STEPS for step in range(2 * _STEPS + 1)]
        return tuple(
            (
                (left + right) / 2 + (right - left) / 2 * math.cos(turn),
                (top + bottom) / 2 + (bottom - top) / 2 * math.sin(turn),
            )
            for turn in turns
        )
    return shape.points


def head(points: tuple[Point, ...]) -> tuple[Point, Point, Point]:
    """Return the triangle at the end of an arrow through *points*, tip first. Unit: rows."""
    (x0, y0), (x1, y1) = points[-2], points[-1]
    away = math.hypot(x1 - x0, y1 - y0) or 1.0
    along, across = ((x1 - x0) / away, (y1 - y0) / away), (-(y1 - y0) / away, (x1 - x0) / away)
    length, half = _HEAD
    back = (x1 - length * along[0], y1 - length * along[1])
    left, right = ((back[0] + sign * half * across[0], back[1] + sign * half * across[1]) for sign in (1, -1))
    return (x1, y1), left, right


def away(shape: Shape, at: Point) -> float:
    """Return the distance of *at* from *shape*, in rows."""
    line = outline(shape)
    if shape.kind == "dot" or len(line) == 1:
        return min(math.hypot(x - at[0], y - at[1]) for x, y in line)
    return min(_from_piece(one, other, at) for one, other in pairwise(line))


def _from_piece(one: Point, other: Point, at: Point) -> float:
    (x0, y0), (x1, y1) = one, other
    length = (x1 - x0) ** 2 + (y1 - y0) ** 2
    share = ((at[0] - x0) * (x1 - x0) + (at[1] - y0) * (y1 - y0)) / length if length else 0.0
    share = min(1.0, max(0.0, share))
    return math.hypot(x0 + share * (x1 - x0) - at[0], y0 + share * (y1 - y0) - at[1])


@dataclass(frozen=True)
class Name:
    """A placed name: the number of its item, the text, its upper left corner and its size in pixels or points."""

    item: int
    text: str
    left: float
    top: float
    width: float
    height: float


def names(
    diagram: Diagram, scale: float, height: float, fitted: Callable[[str, float], tuple[str, float]]
) -> list[Name]:
    """Return the names that fit if a row is *scale* high and text *height*, in pixels or points.

    The heaviest are placed first. *fitted* shortens a text to the available width and returns it with its width.
    Positions are relative to the upper left corner of the diagram.
    """
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for number in sorted(range(len(diagram.items)), key=lambda i: -diagram.items[i].weight):
        item = diagram.items[number]
        text, width = fitted(item.name, item.room * scale)
        if not text:
            continue
        x, y = item.at[0] * scale, item.at[1] * scale
        left = x - width if item.side == "left" else x
        top = y - height if item.side == "above" else y - height / 2
        box = (left, top, left + width, top + 0.86 * height)
        if all(box[2] <= a or box[0] >= c or box[3] <= b or box[1] >= d for a, b, c, d in taken):
            taken.append(box)
            found.append(Name(number, text, left, top, width, height))
    return found
