"""Flame graphs: frames as boxes with names, the value axis below, and the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from scalegraph.base.units import si
from scalegraph.figures.flame_geometry import Geometry, change_share, change_text
from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import colour, diverging, legible_on
from scalegraph.figures.render.text import fitted, text_of

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_LEAST = 1 / 4000  # share of the width: anything narrower is invisible in print
_NAMED = 14.0  # minimum width in points for a name
_SIZE = 6.2
_STEPS = 129


def height_cm(flame: Flame) -> float:
    """Return a suitable height."""
    return min(24.0, 2.6 + 0.46 * Geometry(flame).levels)


def draw(brush: Brush, axes: Axes, flame: Flame) -> None:
    """Draw *flame* on *axes*; names are written once the layout is final."""
    geometry = Geometry(flame)
    low, high = geometry.extent
    rows, begin, end = geometry.shown(least=_LEAST)
    boxes, faces = [], []
    for index, left, right in zip(rows.tolist(), begin.tolist(), end.tolist(), strict=True):
        depth, frame = int(geometry.depth[index]), flame.frames[index]
        x0, x1 = low + left * (high - low), low + right * (high - low)
        boxes.append([(x0, depth), (x1, depth), (x1, depth + 1), (x0, depth + 1)])
        share = change_share(flame, frame.change)
        faces.append(diverging(share, brush.theme) if flame.change else colour(frame.role, brush.theme))
    axes.add_collection(PolyCollection(boxes, facecolors=faces, edgecolors=brush.paper, linewidths=0.4))
    axes.set_xlim(low, high)
    axes.set_ylim((geometry.levels, 0) if flame.icicle else (0, geometry.levels))
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(flame.value.label, color=brush.ink)
    axes.xaxis.set_major_formatter(lambda value, _place: si(value - low, flame.value.unit))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.tick_params(colors=brush.ink)
    axes.spines["bottom"].set_color(brush.ink)
    _legend(brush, axes, flame)

    def names() -> None:
        wide = axes.get_window_extent().width * 72 / brush.sheet.dpi  # points
        high_box = axes.get_window_extent().height * 72 / brush.sheet.dpi / geometry.levels
        size = min(_SIZE, high_box * 0.75)
        if size < 3.0:
            return
        for box, face, index in zip(boxes, faces, rows.tolist(), strict=True):
            room = (box[1][0] - box[0][0]) / (high - low) * wide - 3.0
            if room < _NAMED:
                continue
            text = fitted(flame.frames[index].name, size, room)
            axes.text(
                box[0][0] + 1.5 / wide * (high - low),
                box[0][1] + 0.5,
                text_of(text),
                size=size,
                va="center",
                color=legible_on(face),
                parse_math=True,
                clip_on=True,
            )

    brush.later.append(names)


def _legend(brush: Brush, axes: Axes, flame: Flame) -> None:
    if flame.change is not None:
        low, high = flame.change.limits or (-1.0, 1.0)
        shades = [diverging(2 * step / (_STEPS - 1) - 1, brush.theme) for step in range(_STEPS)]
        mapped = ScalarMappable(Normalize(low, high), ListedColormap(shades))
        bar = axes.figure.colorbar(mapped, ax=axes, orientation="vertical", fraction=0.03, pad=0.01, aspect=18)
        bar.set_ticks([low, 0.0, high])
        unit = flame.change.unit
        bar.set_ticklabels([change_text(value, unit) for value in (low, 0.0, high)])
        bar.set_label(flame.change.label, color=brush.ink, size=7)
        bar.ax.tick_params(colors=brush.ink, labelsize=6)
        bar.outline.set_visible(False)
        return
    if flame.legend:
        patches = [Patch(color=key.colour or colour(key.role, brush.theme), label=key.name) for key in flame.legend]
        legend = axes.legend(
            handles=patches,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=len(patches),
            handlelength=1.0,
            handleheight=0.8,
            columnspacing=1.0,
            borderaxespad=0.2,
        )
        for name in legend.get_texts():
            name.set_color(brush.ink)
