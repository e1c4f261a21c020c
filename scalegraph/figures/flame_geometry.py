"""Geometry of flame graphs for all renderers: frame positions when zoomed, hit testing, and keyboard moves."""

from __future__ import annotations

from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.flames import Flame

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Step: TypeAlias = Literal["out", "in", "left", "right"]
WHOLE: Final = -1  # no frame: the whole graph


class Geometry:
    """The frames of *flame* as arrays."""

    def __init__(self, flame: Flame) -> None:
        self.flame = flame
        frames = flame.frames
        self.start: Floats = np.array([frame.start for frame in frames], np.float64)
        self.width: Floats = np.array([frame.width for frame in frames], np.float64)
        self.depth: Ints = np.array([frame.depth for frame in frames], np.int64)
        self.parent: Ints = np.array([frame.parent for frame in frames], np.int64)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """First and last position on the value axis."""
        roots = self.parent < 0
        if not roots.any():
            return 0.0, 1.0
        low, high = float(self.start[roots].min()), float((self.start + self.width)[roots].max())
        return (low, high) if high > low else (low, low + 1.0)

    @property
    def levels(self) -> int:
        """Depth of the deepest stack."""
        shown = self.depth[self.width > 0]
        return int(shown.max()) + 1 if len(shown) else 1

    def span(self, zoom: int = WHOLE) -> tuple[float, float]:
        """Return the range of the value axis shown when the frame *zoom* fills the width."""
        if zoom == WHOLE or not 0 <= zoom < len(self.start) or self.width[zoom] <= 0:
            return self.extent
        return float(self.start[zoom]), float(self.start[zoom] + self.width[zoom])

    def shown(self, zoom: int = WHOLE, least: float = 0.0) -> tuple[Ints, Floats, Floats]:
        """Return the frames to draw, and where each begins and ends, as 0 .. 1 of the width.

        The ancestors of the zoomed frame fill the width; frames outside it, and those narrower than *least* (a share of
        the width), are left out.
        """
        low, high = self.span(zoom)
        left = (self.start - low) / (high - low)
        right = (self.start + self.width - low) / (high - low)
        eps = 1e-9
        inside = (self.width > 0) & (left < 1 - eps) & (right > eps)
        if zoom != WHOLE and 0 <= zoom < len(self.start):
            line = self.ancestors(zoom)
            inside &= (self.depth >= self.depth[zoom]) | np.isin(np.arange(len(self.start)), line)
        begin, end = np.clip(left, 0.0, 1.0), np.clip(right, 0.0, 1.0)
        rows = np.flatnonzero(inside & (end - begin >= least))
        return rows, begin[rows], end[rows]

    def ancestors(self, frame: int) -> list[int]:
        """Return the ancestors of *frame*, root first."""
        line: list[int] = []
        while 0 <= frame < len(self.parent) and (frame := int(self.parent[frame])) >= 0:
            line.append(frame)
        return line[::-1]

    def at(self, place: float, depth: int, zoom: int = WHOLE) -> int:
        """Return the frame at *place* (0 .. 1 of the width) and *depth*, `WHOLE` if there is none."""
        rows, begin, end = self.shown(zoom)
        hit = rows[(self.depth[rows] == depth) & (begin <= place) & (place < end)]
        return int(hit[0]) if len(hit) else WHOLE

    def found(self, text: str) -> NDArray[np.bool_]:
        """Return which frames have *text* in their name, ignoring case; none for an empty text."""
        wanted = text.strip().lower()
        if not wanted:
            return np.zeros(len(self.start), bool)
        names: dict[str, bool] = {}  # most frames share their name with others
        for frame in self.flame.frames:
            if frame.name not in names:
                names[frame.name] = wanted in frame.name.lower()
        return np.array([names[frame.name] for frame in self.flame.frames], bool)

    def found_value(self, found: NDArray[np.bool_]) -> float:
        """Return the total value of the frames *found*, counting nested ones once."""
        total, covered = 0.0, np.zeros(len(found), bool)
        order = np.argsort(self.depth, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(self.depth[order])) + 1):  # level by level, callers first
            below = (self.parent[rows] >= 0) & covered[self.parent[rows]]
            covered[rows] = found[rows] | below
            total += sum(self.flame.frames[row].value for row in rows[found[rows] & ~below])
        return total

    def step(self, frame: int, way: Step, zoom: int = WHOLE) -> int:
        """Return the visible frame next to *frame* in direction *way*: the caller, the widest callee, or a neighbour.

        With no frame selected, every direction leads to the widest root. Returns *frame* if there is none that way.
        """
        rows = self.shown(zoom)[0]
        if frame == WHOLE or frame not in rows:
            roots = rows[self.depth[rows] == self.depth[rows].min()] if len(rows) else rows
            return int(roots[self.width[roots].argmax()]) if len(roots) else WHOLE
        if way == "out":
            return int(self.parent[frame]) if self.parent[frame] >= 0 else frame
        if way == "in":
            below = rows[self.parent[rows] == frame]
            return int(below[self.width[below].argmax()]) if len(below) else frame
        level = rows[self.depth[rows] == self.depth[frame]]
        order = level[np.argsort(self.start[level], kind="stable")].tolist()
        place = order.index(frame) + (1 if way == "right" else -1)
        return int(order[place]) if 0 <= place < len(order) else frame

    def of_key(self, keys: tuple[str, ...]) -> Ints:
        """Return the frames whose key is in *keys*."""
        wanted = frozenset(keys)
        if not wanted:
            return np.zeros(0, np.int64)
        return np.array([i for i, frame in enumerate(self.flame.frames) if frame.key and frame.key in wanted], np.int64)


def change_text(change: float, unit: str) -> str:
    """Return a difference between frames with its sign: ``+12 %``, ``-3.40 ms``."""
    return f"{'+' * (change > 0)}{percent(change / 100) if unit == '%' else si(change, unit)}"


def change_share(flame: Flame, change: float) -> float:
    """Return the position of a change on the colour scale, -1 to 1; NaN for none."""
    limits = flame.change.limits if flame.change is not None else None
    return change / limits[1] if limits and limits[1] > 0 else float("nan")
