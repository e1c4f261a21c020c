"""Labels at the ends of curves and at annotations, placed after layout so that they cover nothing."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from scalegraph.figures.figure import Line, Mark, Plot
from scalegraph.figures.palette import colour, line_colour
from scalegraph.figures.render.text import measure, spread, text_of

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush
    from scalegraph.figures.render.plot import Scale

_SIZE = 7.0
_ASIDE = 9.0  # points between the axes and the names beside them
Box: TypeAlias = tuple[float, float, float, float]  # x0, y0, x1, y1 in points
_End: TypeAlias = tuple[Any, float, float, Line]  # label, x and y of the end, curve


def end_labels(brush: Brush, axes: Axes, plot: Plot, x: Scale, y: Scale) -> None:
    """Write the name of every curve at its right end; after layout, separate the names and connect them to the ends.

    A name is put right of the curve's last point if that covers nothing, otherwise beside the axes.
    """
    if len(plot.lines) < 2:
        return
    found: list[_End] = []
    aside = ScaledTranslation(_ASIDE / 72, 0.0, brush.sheet.dpi_scale_trans)
    for line in plot.lines:
        xs, ys = x.of(line.x), y.of(line.y)
        known = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
        if len(known) and line.name:
            end_x, end_y = float(xs[known[-1]]), float(ys[known[-1]])
            text = axes.text(
                1.0,
                end_y,
                text_of(line.name),
                transform=blended_transform_factory(axes.transAxes, axes.transData) + aside,
                parse_math=True,
                size=_SIZE,
                color=line_colour(line.role, brush.theme),
                va="center",
                clip_on=False,
            )
            found.append((text, end_x, end_y, line))
    brush.later.append(lambda: _arrange(brush, axes, plot, found, x, y))


def _arrange(brush: Brush, axes: Axes, plot: Plot, found: list[_End], x: Scale, y: Scale) -> None:
    pixel = 72 / brush.sheet.dpi
    extent = axes.get_window_extent()
    frame = (extent.x0 * pixel, extent.y0 * pixel, extent.x1 * pixel, extent.y1 * pixel)
    ink = _ink(axes, plot, x, y, pixel)
    taken: list[Box] = []
    beside: list[_End] = []
    for text, end_x, end_y, line in found:
        place = np.array(axes.transData.transform((end_x, end_y))) * pixel
        left, bottom = float(place[0]) + 7, float(place[1]) - _SIZE * 0.6
        box = (left, bottom, left + measure(line.name, _SIZE), bottom + _SIZE * 1.2)
        if box[2] < frame[2] and _cost(box, ink, taken, frame) == 0:
            taken.append(box)
            text.set_transform(axes.transData)
            text.set_x(float(axes.transData.inverted().transform((left / pixel, 0.0))[0]))
        else:
            beside.append((text, end_x, end_y, line))
    _apart(brush, axes, beside)


def _apart(brush: Brush, axes: Axes, found: list[_End]) -> None:
    pixel = 72 / brush.sheet.dpi
    extent = axes.get_window_extent()
    wanted = [float(axes.transData.transform((x, y))[1]) * pixel for _, x, y, _ in found]
    placed = spread(wanted, _SIZE * 1.2, extent.y0 * pixel, extent.y1 * pixel)
    label = extent.x1 * pixel + _ASIDE
    for (text, x, y, line), place in zip(found, placed, strict=True):
        end = np.array(axes.transData.transform((x, y))) * pixel
        text.set_y(float(axes.transData.inverted().transform((0.0, place / pixel))[1]))
        if abs(end[1] - place) > 2 or label - end[0] > 14:
            bends = np.array([[end[0] + 3, end[1]], [label - 1, place]]) / pixel
            at = axes.transData.inverted().transform(bends)
            axes.plot(
                at[:, 0],
                at[:, 1],
                color=line_colour(line.role, brush.theme),
                linewidth=0.5,
                alpha=0.6,
                clip_on=False,
                scalex=False,
                scaley=False,
                zorder=1.5,
            )


def place_marks(brush: Brush, axes: Axes, plot: Plot, x: Scale, y: Scale) -> None:
    """Draw the annotations of *plot*: rings, thin dashed lines, and labels where they cover no curve."""
    for mark in _all_marks(plot):
        shade = colour(mark.role, brush.theme)
        style: dict[str, Any] = {"color": shade, "linewidth": 0.8, "linestyle": (0, (3, 2)), "zorder": 1.8}
        if mark.x is not None and mark.y is None:
            axes.axvline(float(x.of([mark.x])[0]), **style)
        elif mark.y is not None and mark.x is None:
            axes.axhline(float(y.of([mark.y])[0]), **style)
        elif mark.x is not None and mark.y is not None:
            at = float(x.of([mark.x])[0]), float(y.of([mark.y])[0])
            axes.plot(*at, marker="o", markersize=7.5, markerfacecolor="none", markeredgecolor=shade, zorder=4)
            axes.vlines(at[0], axes.get_ylim()[0], at[1], **style)
    brush.later.append(lambda: _words(brush, axes, plot, x, y))


def _all_marks(plot: Plot) -> list[Mark]:
    """Return the annotations, including the lines that can be dragged on the screen."""
    dragged = [
        Mark(handle.text, y=handle.value, role=handle.role)
        if handle.axis == "y"
        else Mark(handle.text, x=handle.value, role=handle.role)
        for handle in plot.handles
        if handle.axis != "value"
    ]
    return [*plot.marks, *dragged]


def _words(brush: Brush, axes: Axes, plot: Plot, x: Scale, y: Scale) -> None:
    pixel = 72 / brush.sheet.dpi
    extent = axes.get_window_extent()
    frame = (extent.x0 * pixel, extent.y0 * pixel, extent.x1 * pixel, extent.y1 * pixel)
    ink = _ink(axes, plot, x, y, pixel)
    taken: list[Box] = _rings(axes, plot, x, y, pixel)
    for mark in _all_marks(plot):
        width, height = measure(mark.text, _SIZE) + 2, _SIZE * 1.25
        at = [
            float(x.of([mark.x])[0]) if mark.x is not None else float("nan"),
            float(y.of([mark.y])[0]) if mark.y is not None else float("nan"),
        ]
        low = axes.transData.inverted().transform((extent.x0, extent.y0))
        shown = [v if math.isfinite(v) else low[i] for i, v in enumerate(at)]
        place = np.array(axes.transData.transform(shown)) * pixel
        boxes = _candidates(place, frame, width, height, vertical=mark.y is None, level=mark.x is None)
        best = min(boxes, key=lambda box: _cost(box, ink, taken, frame))
        taken.append(best)
        data = axes.transData.inverted().transform((best[0] / pixel, (best[1] + best[3]) / 2 / pixel))
        axes.text(
            data[0],
            data[1],
            text_of(mark.text),
            parse_math=True,
            size=_SIZE,
            color=colour(mark.role, brush.theme),
            va="center",
            zorder=5,
            bbox={"facecolor": brush.paper, "edgecolor": "none", "pad": 0.6, "alpha": 0.75},
            clip_on=False,
        )


def _rings(axes: Axes, plot: Plot, x: Scale, y: Scale, pixel: float) -> list[Box]:
    places = [(mark.x, mark.y) for mark in plot.marks if mark.x is not None and mark.y is not None]
    if not places:
        return []
    at = np.column_stack([x.of([place[0] for place in places]), y.of([place[1] for place in places])])
    screen = np.asarray(axes.transData.transform(at)) * pixel
    return [(float(px) - 5, float(py) - 5, float(px) + 5, float(py) + 5) for px, py in screen]


def _candidates(
    place: np.ndarray[Any, Any], frame: Box, width: float, height: float, *, vertical: bool, level: bool
) -> list[Box]:
    """Return candidate boxes for an annotation's label, best first."""
    px, py = float(place[0]), float(place[1])
    corners: list[tuple[float, float]] = []
    if level:  # along a horizontal line
        for away in (2, 10):
            for share in (0.01, 0.06, 0.12, 0.25, 0.4, 0.6, 0.8, 1.0):
                left = frame[0] + share * (frame[2] - frame[0] - width - 4)
                corners += [(left, py + away), (left, py - height - away)]
    elif vertical:
        for share in (0.92, 0.75, 0.5, 0.25, 0.05):
            bottom = frame[1] + share * (frame[3] - frame[1] - height)
            corners += [(px + 4, bottom), (px - width - 4, bottom)]
    else:
        for away in (7, 16, 28):
            corners += [
                (px - width / 2, py + away),
                (px - width / 2, py - away - height),
                (px + away, py - height / 2),
                (px - width - away, py - height / 2),
                (px + away, py + away),
                (px - width - away, py + away),
                (px + away, py - height - away),
                (px - width - away, py - height - away),
            ]
    return [(left, bottom, left + width, bottom + height) for left, bottom in corners]


def _ink(axes: Axes, plot: Plot, x: Scale, y: Scale, pixel: float) -> np.ndarray[Any, Any]:
    """Return points along all curves, in points on the sheet, shape (points, 2)."""
    parts = [np.empty((0, 2))]
    for line in plot.lines:
        at = np.column_stack([x.of(line.x), y.of(line.y)])
        at = at[np.isfinite(at).all(axis=1)]
        if len(at) < 1:
            continue
        screen = np.asarray(axes.transData.transform(at)) * pixel
        steps = np.linspace(0, 1, 24)[:, None]
        parts.append(screen)
        parts.extend(a + steps * (b - a) for a, b in pairwise(screen))
    return np.concatenate(parts)


def _cost(box: Box, ink: np.ndarray[Any, Any], taken: list[Box], frame: Box) -> float:
    inside = (ink[:, 0] > box[0] - 2) & (ink[:, 0] < box[2] + 2) & (ink[:, 1] > box[1] - 2) & (ink[:, 1] < box[3] + 2)
    outside = max(0.0, frame[0] - box[0]) + max(0.0, box[2] - frame[2])
    outside += max(0.0, frame[1] - box[1]) + max(0.0, box[3] - frame[3])
    overlap = sum(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken)
    return float(inside.sum()) + 20 * outside + 200 * overlap
