"""Places names in a picture: inside, apart from other names, covering few points of curves."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF

OFF: Final = 3  # pixels between a name and a curve
RING: Final = 7.5  # pixels from a marked point to the ring around it
_HIDES: Final = 40.0  # cost of a covered curve point; next: per pixel of distance
_AWAY: Final = 0.1
_COVERS: Final = 1000.0  # of covering another name
_STEP: Final = (12.0, 3.0)  # pixels between positions tried if none beside the mark is free


def free_place(
    at: QPointF, size: tuple[float, float], room: tuple[float, float], taken: list[QRectF], ink: NDArray[np.float64]
) -> tuple[QPointF, bool]:
    """Return the upper left corner for a name of *size* near *at*, and whether it covers nothing there.

    The name stays inside *room*, off the rectangles *taken*, on as little *ink* [K, 2] as possible. All are in pixels
    of the picture. *at* of height 0 is a vertical line.
    """
    w, h = size
    upright = at.y() <= 0
    near = 4.0 if upright else RING + OFF + 1
    rows = range(6)
    if upright:
        candidates = [(x, 2 + row * h) for row in rows for x in (at.x() + near, at.x() - near - w)]
    else:
        candidates = [
            (x, at.y() + dy)
            for row in rows
            for dy in (-h - near - row * h, near + row * h)
            for x in (at.x() - w / 2, at.x() + near, at.x() - near - w, at.x() - w - 40, at.x() + 40)
        ]
    found = best_place(np.array(candidates), at, size, room, taken, ink)
    if found is None or found[1]:  # a low picture: try everywhere
        anywhere = best_place(everywhere(size, room), at, size, room, taken, ink)
        found = min((one for one in (found, anywhere) if one is not None), key=lambda one: one[1:], default=None)
    chosen = found[0] if found is not None else QPointF(*candidates[0])
    corner = QPointF(max(0.0, min(room[0] - w, chosen.x())), max(0.0, min(room[1] - h, chosen.y())))
    return corner, found is not None and not found[1]


def everywhere(size: tuple[float, float], room: tuple[float, float]) -> NDArray[np.float64]:
    """Return upper left corners [K, 2] for a name of *size* all over a picture of size *room*."""
    xs, ys = (np.arange(0.0, max(1.0, room[i] - size[i] + 1), _STEP[i]) for i in (0, 1))
    return np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)


def best_place(
    corners: NDArray[np.float64],
    at: QPointF,
    size: tuple[float, float],
    room: tuple[float, float],
    taken: list[QRectF],
    ink: NDArray[np.float64],
) -> tuple[QPointF, float, float] | None:
    """Return the best of *corners* [K, 2], its cost of covering (0: nothing) and its total; None if all are outside.

    Covering points of *ink* [M, 2] or rectangles *taken* has a cost, and so has the distance from *at*.
    """
    w, h = size
    kept = corners[((corners >= 0) & (corners <= (room[0] - w, room[1] - h))).all(axis=1)]
    if not len(kept):
        return None
    centres = kept + np.array((w / 2, h / 2))
    hides = _HIDES * _covered(kept - OFF, np.array((w + 2 * OFF, h + 2 * OFF)), ink)
    for other in taken:
        apart = np.abs(centres - (other.center().x(), other.center().y()))
        hides = hides + _COVERS * (apart < (w / 2 + other.width() / 2, h / 2 + other.height() / 2)).all(axis=1)
    cost = hides + _AWAY * np.hypot(centres[:, 0] - at.x(), centres[:, 1] - at.y())
    best = int(np.argmin(cost))
    return QPointF(float(kept[best, 0]), float(kept[best, 1])), float(hides[best]), float(cost[best])


def _covered(corners: NDArray[np.float64], size: NDArray[np.float64], ink: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the number of *ink* [M, 2] pixels in the rectangle of *size* at each of *corners* [K, 2].

    Uses a summed-area table over whole pixels, so thousands of positions cost no more than one.
    """
    low = np.floor(np.minimum(corners.min(axis=0), 0.0)).astype(np.intp)
    shape = np.ceil(corners.max(axis=0) + size).astype(np.intp) - low + 2
    placed = ink - low  # NaN is in no cell
    inside = placed[((placed >= 0) & (placed < shape - 1)).all(axis=1)].astype(np.intp)
    sums = np.zeros(shape, dtype=np.float64)
    np.add.at(sums, (inside[:, 0] + 1, inside[:, 1] + 1), 1.0)
    sums = sums.cumsum(axis=0).cumsum(axis=1)
    first = np.floor(corners).astype(np.intp) - low
    last = np.ceil(corners + size).astype(np.intp) - low
    x0, y0, x1, y1 = first[:, 0], first[:, 1], last[:, 0], last[:, 1]
    counted: NDArray[np.float64] = sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0]
    return counted
