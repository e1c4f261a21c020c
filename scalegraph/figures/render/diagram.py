"""Diagrams: lines, arrows, dots, ovals and arcs, with the names that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from scalegraph.figures.diagram import Diagram, Shape, head, names, outline
from scalegraph.figures.palette import colour, line_colour
from scalegraph.figures.render.text import fitted, measure, text_of

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_SIZE = 7.0
_LEAST = 4.0  # points: smaller names are illegible
_ROW_CM = 0.46
_HIGHEST = 24.0


def height_cm(diagram: Diagram, width: float) -> float:
    """Return a suitable height for a picture *width* cm wide."""
    wide, high = diagram.size
    return min(_HIGHEST, high * min(_ROW_CM, width / max(wide, 1.0)) + 1.0)


def draw(brush: Brush, axes: Axes, diagram: Diagram) -> None:
    """Draw *diagram* on *axes*; names are written once the layout is final."""
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box", anchor="NW")
    axes.set_xlim(0, diagram.size[0])
    axes.set_ylim(diagram.size[1], 0)
    for level, shape in enumerate(diagram.shapes):
        _draw(brush, axes, shape, 2 + level / max(1, len(diagram.shapes)))
    if diagram.key:
        handles = [
            Line2D([], [], color=colour(key.role, brush.theme), linewidth=3, label=key.name) for key in diagram.key
        ]
        legend = axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=len(handles),
            handlelength=1.0,
            columnspacing=1.0,
            borderaxespad=0.2,
        )
        for text in legend.get_texts():
            text.set_color(brush.ink)
    brush.later.append(lambda: _names(brush, axes, diagram))


def _draw(brush: Brush, axes: Axes, shape: Shape, level: float) -> None:
    shade = line_colour(shape.role, brush.theme)
    xs, ys = zip(*outline(shape), strict=True)
    if shape.kind == "dot":
        axes.plot(xs, ys, "o", color=shade, markersize=2.6 * shape.width, markeredgewidth=0, zorder=level + 1)
        return
    style = (0, (4, 3)) if shape.dashed else "-"
    axes.plot(xs, ys, color=shade, linewidth=shape.width, linestyle=style, solid_capstyle="butt", zorder=level)
    if shape.kind == "arrow":
        axes.fill(*zip(*head(shape.points), strict=True), color=shade, linewidth=0, zorder=level)


def _names(brush: Brush, axes: Axes, diagram: Diagram) -> None:
    box = axes.get_window_extent()
    scale = box.height * 72 / brush.sheet.dpi / diagram.size[1]  # points per row
    size = min(_SIZE, 0.72 * scale)
    if size < _LEAST:
        size = _LEAST

    def short(text: str, room: float) -> tuple[str, float]:
        kept = fitted(text, size, room)
        return kept, measure(kept, size)

    for name in names(diagram, scale, 1.3 * size, short):
        item = diagram.items[name.item]
        shade = brush.ink if item.role == "ink" else line_colour(item.role, brush.theme)
        axes.text(
            name.left / scale,
            (name.top + name.height / 2) / scale,
            text_of(name.text),
            size=size,
            color=shade,
            va="center",
            parse_math=True,
            zorder=9,
        )
