"""Fields and surfaces: heat maps with labelled iso-lines and the runs on them, and shaded polygons."""

from __future__ import annotations

import colorsys
import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LogNorm, Normalize, to_hex, to_rgb

from scalegraph.figures import contours, projection
from scalegraph.figures.figure import Axis, Field, Surface
from scalegraph.figures.palette import colour
from scalegraph.figures.render.labels import Box
from scalegraph.figures.render.plot import Scale
from scalegraph.figures.render.text import measure, text_of

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_MAP = "viridis"
_SIZE = 6.5


def draw(brush: Brush, axes: Axes, field: Field) -> None:
    """Draw *field* on *axes*: colours, labelled iso-lines, and the runs as dots."""
    values = [value for row in field.values for value in row if math.isfinite(value)]
    x, y = Scale(field.x, field.columns), Scale(field.y, field.rows)
    shown = Scale(field.value, values)
    for scale, which in ((x, "x"), (y, "y")):
        scale.apply(axes, which)
        low, high = scale.axis.limits or (min(field.columns if which == "x" else field.rows), 0.0)
        if scale.axis.limits is None:
            high = max(field.columns if which == "x" else field.rows)
        (axes.set_xlim if which == "x" else axes.set_ylim)(low * scale.factor, high * scale.factor)
    axes.tick_params(colors=brush.ink, length=2.5, which="both")
    for spine in axes.spines.values():
        spine.set_color(brush.ink)
    axes.xaxis.label.set_color(brush.ink)
    axes.yaxis.label.set_color(brush.ink)
    axes.set_facecolor(brush.paper)
    norm = _norm(field.value, shown)
    at_x, at_y, fine = contours.resampled(field)
    axes.pcolormesh(
        contours.back(field.x, at_x) * x.factor,
        contours.back(field.y, at_y) * y.factor,
        np.ma.masked_invalid(fine) * shown.factor,
        cmap=_MAP,
        norm=norm,
        shading="nearest",
        rasterized=True,
        zorder=1,
    )
    _bar(brush, axes, norm, shown)
    for level in field.levels:
        _iso(axes, field, level, (x, y), width=0.7)
    for handle in field.handles:
        if handle.axis == "value":
            _iso(axes, field, handle.value, (x, y), width=1.8, shade=colour(handle.role, brush.theme))
    for dot in field.dots:
        filled = dot.origin in ("measured", "imported")
        axes.plot(
            dot.x * x.factor,
            dot.y * y.factor,
            marker="o",
            markersize=2.4,
            zorder=4,
            clip_on=False,
            markerfacecolor="#FFFFFF" if filled else "none",
            markeredgecolor="#FFFFFF",
            markeredgewidth=0.7,
        )
    brush.later.append(lambda: x.thin(axes, "x"))
    brush.later.append(lambda: y.thin(axes, "y"))
    brush.later.append(lambda: _name_lines(brush, axes, field, x, y, shown))


def _norm(axis: Axis, shown: Scale) -> Normalize:
    data = shown.data
    low, high = (float(data.min()), float(data.max())) if len(data) else (0.0, 1.0)
    if axis.limits is not None:
        low, high = (end * shown.factor for end in axis.limits)
    if axis.scale.startswith("log") and low > 0:
        return LogNorm(low, high, clip=True)
    return Normalize(low, high, clip=True)


def _bar(brush: Brush, axes: Axes, norm: Normalize, shown: Scale) -> None:
    bar = axes.figure.colorbar(
        mpl.cm.ScalarMappable(norm, mpl.colormaps[_MAP]), ax=axes, pad=0.02, fraction=0.05, aspect=30
    )
    bar.set_label(shown.title, color=brush.ink)
    bar.ax.tick_params(colors=brush.ink, length=2, which="both")
    bar.outline.set_visible(False)


def _iso(axes: Axes, field: Field, level: float, scales: tuple[Scale, Scale], *, width: float, shade: str = "") -> None:
    for xs, ys in contours.lines(field, level):
        if shade:  # a light rim makes it stand out on any colour
            axes.plot(xs * scales[0].factor, ys * scales[1].factor, color="#FFFFFF", linewidth=width + 1.2, zorder=2.4)
        axes.plot(
            xs * scales[0].factor,
            ys * scales[1].factor,
            color=shade or "#FFFFFF",
            linewidth=width,
            zorder=2.5,
            alpha=1.0 if shade else 0.85,
        )


def _name_lines(brush: Brush, axes: Axes, field: Field, x: Scale, y: Scale, shown: Scale) -> None:
    """Label every iso-line with its value, at the point farthest from the other labels."""
    pixel = 72 / brush.sheet.dpi
    extent = axes.get_window_extent()
    frame = (extent.x0 * pixel, extent.y0 * pixel, extent.x1 * pixel, extent.y1 * pixel)
    taken: list[Box] = []
    named = [
        (handle.value, handle.text, colour(handle.role, brush.theme))
        for handle in field.handles
        if handle.axis == "value"
    ]
    named += [(level, "", "#101010") for level in field.levels if level not in {value for value, _, _ in named}]
    for level, text, shade in named:
        words = text or contours.level_text(level * shown.factor)
        found = contours.lines(field, level)
        if not found:
            continue
        longest = max(found, key=lambda line: len(line[0]))
        screen = np.column_stack([longest[0] * x.factor, longest[1] * y.factor])
        points = np.asarray(axes.transData.transform(screen)) * pixel
        width, height = measure(words, _SIZE) + 3, _SIZE * 1.3
        box = _place(points, frame, width, height, taken)
        if box is None:
            continue
        taken.append(box)
        data = axes.transData.inverted().transform(((box[0] + box[2]) / 2 / pixel, (box[1] + box[3]) / 2 / pixel))
        axes.text(
            data[0],
            data[1],
            text_of(words),
            parse_math=True,
            size=_SIZE,
            color=shade,
            ha="center",
            va="center",
            zorder=5,
            bbox={"facecolor": "#FFFFFF", "edgecolor": "none", "pad": 0.7, "alpha": 0.85},
        )


def _place(points: np.ndarray[Any, Any], frame: Box, width: float, height: float, taken: list[Box]) -> Box | None:
    """Return a free box on the line inside *frame*, as near to the line's middle as possible; None if there is none."""
    steps = np.linspace(0, len(points) - 1, max(2, 8 * len(points)))
    at = np.column_stack([np.interp(steps, np.arange(len(points)), points[:, i]) for i in (0, 1)])
    order = np.argsort(np.abs(np.arange(len(at)) - 0.5 * len(at)), kind="stable")
    for px, py in at[order]:
        box = (px - width / 2, py - height / 2, px + width / 2, py + height / 2)
        inside = frame[0] + 1 < box[0] and box[2] < frame[2] - 1 and frame[1] + 1 < box[1] and box[3] < frame[3] - 1
        if inside and not any(box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3] for t in taken):
            return box
    return None


def draw_surface(brush: Brush, axes: Axes, surface: Surface) -> None:
    """Draw *surface* on *axes* as polygons from back to front, in a box with labelled axes."""
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box")
    made = projection.scene(surface)
    x0, y0, x1, y1 = made.bounds
    axes.set_xlim(x0 - 0.24, x1 + 0.24)
    axes.set_ylim(y0 - 0.22, y1 + 0.12)
    fine = [[stroke.start, stroke.end] for stroke in made.strokes if not stroke.edge]
    edges = [[stroke.start, stroke.end] for stroke in made.strokes if stroke.edge]
    axes.add_collection(LineCollection(fine, colors=colour("grid", brush.theme), linewidths=0.4, alpha=0.5, zorder=1))
    axes.add_collection(LineCollection(edges, colors=brush.ink, linewidths=0.6, zorder=1.1))
    shades = [lit(to_hex(mpl.colormaps[_MAP](patch.height)), patch.light) for patch in made.patches]
    axes.add_collection(
        PolyCollection(
            [patch.points for patch in made.patches],
            facecolors=shades,
            edgecolors=brush.paper,
            linewidths=0.5,
            zorder=2,
        )
    )
    for word in made.words:
        axes.text(
            word.x,
            word.y,
            text_of(word.text),
            parse_math=True,
            size=8.0 if word.title else 7.0,
            color=brush.ink,
            ha={-1: "right", 0: "center", 1: "left"}[word.side],
            va="center",
        )


def lit(shade: str, light: float) -> str:
    """Return the ``#rrggbb`` *shade* as it appears at brightness *light* (0 to 1)."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*to_rgb(shade))
    return str(to_hex(colorsys.hls_to_rgb(hue, lightness * light, saturation)))
