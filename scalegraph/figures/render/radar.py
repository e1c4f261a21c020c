"""Radars (Kiviat diagrams): spokes, rings, polygons, names around the rim."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from scalegraph.figures import timelines
from scalegraph.figures.figure import Radar
from scalegraph.figures.palette import colour
from scalegraph.figures.render.text import fitted

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_SIZE = 7.0


def draw(brush: Brush, axes: Axes, radar: Radar) -> None:
    """Draw *radar* on *axes*."""
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(-1.75, 1.75)
    axes.set_ylim(-1.22, 1.22)
    count = len(radar.spokes)
    if not count:
        return
    places = timelines.spokes(count)
    low, high = timelines.radar_limits(radar)
    grid = colour("grid", brush.theme)
    turn = np.linspace(0, 2 * math.pi, 181)
    for share in (0.25, 0.5, 0.75, 1.0):
        axes.plot(np.sin(turn) * share, np.cos(turn) * share, color=grid, linewidth=0.5, alpha=0.5, zorder=1)
        text = timelines.axis_text(radar.value, low + share * (high - low)) if share < 1 else ""
        axes.text(0.01, share, text, size=5.6, color=brush.ink, alpha=0.7, va="bottom", ha="left", zorder=5)
    for x, y in places:
        axes.plot([0, x], [0, y], color=grid, linewidth=0.4, alpha=0.5, zorder=1)
    for polygon in radar.polygons:
        points = timelines.polygon_points(radar, polygon)
        shade = colour(polygon.role, brush.theme)
        axes.plot(*np.vstack([points, points[:1]]).T, color=shade, linewidth=1.2, zorder=3, label=polygon.name)
        if polygon.filled and np.isfinite(points).all():
            axes.fill(*points.T, color=shade, alpha=0.18, linewidth=0, zorder=2)
    for index in timelines.lane_labels(count, 2 * math.pi * 110.0, _SIZE * 1.6):
        x, y = places[index]
        side = "center" if abs(x) < 0.08 else "left" if x > 0 else "right"
        axes.text(
            x * 1.06,
            y * 1.06,
            fitted(radar.spokes[index], _SIZE, 90),
            size=_SIZE,
            color=brush.ink,
            ha=side,
            va="center" if abs(y) < 0.97 else "bottom" if y > 0 else "top",
            zorder=4,
        )
    if len(radar.polygons) > 1:
        legend = axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.0), handlelength=1.1, labelspacing=0.3)
        for name in legend.get_texts():
            name.set_color(brush.ink)
