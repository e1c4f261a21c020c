"""Plots: curves, stacked bars, annotations, and labels that cover nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullFormatter, NullLocator

from scalegraph.base.measures import axis_measure, needs_powers, tick_text
from scalegraph.figures.axis_titles import drawn
from scalegraph.figures.bar_names import every, largest
from scalegraph.figures.figure import Axis, Bars, Line, Plot
from scalegraph.figures.palette import DASHES, colour, line_colour, series_turn
from scalegraph.figures.render.labels import end_labels, place_marks
from scalegraph.figures.render.text import fitted, measure, text_of

if TYPE_CHECKING:
    from scalegraph.figures.render.picture import Brush

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_AXES_SHARE = 0.8  # share of a picture's width taken by its axes
_NAME_ROOM = 130.0  # points for a category's name on a vertical axis


def draw(brush: Brush, axes: Axes, plot: Plot) -> None:
    """Draw *plot* on *axes*."""
    sideways = plot.bars is not None and plot.bars.horizontal
    x, y = Scale(plot.x, _values(plot, across=not sideways)), Scale(plot.y, _values(plot, across=sideways))
    (y if sideways else x).largest = largest(plot.bars)
    x.apply(axes, "x")
    y.apply(axes, "y")
    _furniture(brush, axes, x, y)
    if plot.bars is not None:
        _bars(brush, axes, plot.bars, y if not sideways else x)
        _legend(brush, axes, plot, sideways=sideways)
    for index, line in enumerate(plot.lines):
        _line(brush, axes, line, x, y, index)
    if not sideways:
        _limits(axes, plot, x, y)
    if plot.bars is None:
        end_labels(brush, axes, plot, x, y)
    if plot.marks or plot.handles:
        place_marks(brush, axes, plot, x, y)
    brush.later.append(lambda: x.thin(axes, "x"))
    brush.later.append(lambda: y.thin(axes, "y"))


class Scale:
    """An axis: its SI prefix, chosen from all *values*, its scale and ticks."""

    def __init__(self, axis: Axis, values: Sequence[float]) -> None:
        self.axis = axis
        self.largest = -1  # axis position of the largest bar
        self.upright = False  # whether names are vertical
        self._measure = axis_measure(values, axis.unit, logarithmic=axis.scale.startswith("log"))
        self.factor = 1 / self._measure.divisor
        self.data = np.array([value for value in values if math.isfinite(value)]) * self.factor

    @property
    def title(self) -> str:
        """Label and unit with its prefix."""
        return "" if self.axis.bare else drawn(self.axis, self._measure.heading(self.axis.label))

    def of(self, values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return *values* in the axis' prefixed unit; NaN where a logarithm is undefined."""
        scaled = np.asarray(values, dtype=float) * self.factor
        return np.where(scaled > 0, scaled, np.nan) if self.axis.scale.startswith("log") else scaled

    def apply(self, axes: Axes, which: str) -> None:
        """Set scale, ticks and title of the *which* axis of *axes*."""
        target = axes.xaxis if which == "x" else axes.yaxis
        (axes.set_xlabel if which == "x" else axes.set_ylabel)(text_of(self.title), parse_math=True)
        if self.axis.bare:
            target.set_major_locator(NullLocator())
            axes.spines["bottom" if which == "x" else "left"].set_visible(False)
            return
        if self.axis.scale == "category":
            names = [fitted(name, 7.0, _NAME_ROOM) for name in self.axis.categories]
            target.set_major_locator(FixedLocator(list(range(len(names)))))
            target.set_major_formatter(FixedFormatter(names))
            self.upright = which == "x" and not all(name.isdigit() for name in names) and _crowded(axes, names)
            if self.upright:
                axes.tick_params(axis="x", labelrotation=90)
            return
        if self.axis.scale.startswith("log"):
            (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=2 if self.axis.scale == "log2" else 10)
        ticks = self._ticks()
        if ticks:
            target.set_major_locator(FixedLocator(ticks))
            powers = needs_powers(self.data.tolist(), self.axis.scale)
            target.set_major_formatter(FixedFormatter([tick_text(tick, powers=powers) for tick in ticks]))
            target.set_minor_locator(NullLocator())
        elif self.axis.scale.startswith("log"):
            target.set_minor_formatter(NullFormatter())
        else:
            target.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))

    def _ticks(self) -> list[float]:
        if self.axis.ticks:
            return [tick * self.factor for tick in self.axis.ticks]
        shown = self.data[self.data > 0] if len(self.data) else self.data
        if not self.axis.scale.startswith("log") or not len(shown):
            return []
        low, high = float(shown.min()), float(shown.max())
        if self.axis.scale == "log2":
            return [2.0**p for p in range(math.floor(math.log2(low)) - 1, math.ceil(math.log2(high)) + 2)]
        decades = math.log10(high / low) if high > low else 0.0
        steps = (1,) if decades > 3.2 else (1, 2, 5) if decades > 0.5 else (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
        span = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        return [step * 10.0**power for power in span for step in steps]

    def thin(self, axes: Axes, which: str) -> None:
        """Drop tick labels that would overlap; the ticks stay."""
        if which == "y" and self.axis.scale == "category":
            return
        target = axes.xaxis if which == "x" else axes.yaxis
        formatter = target.get_major_formatter()
        if not isinstance(formatter, FixedFormatter):
            return
        values = list(target.get_major_locator()())
        names = list(formatter.seq)
        target.set_major_formatter(
            FixedFormatter(_thinned(axes, which, values, names, upright=self.upright, first=self.largest))
        )


def _crowded(axes: Axes, names: Sequence[str]) -> bool:
    """Whether *names* do not fit side by side, estimated before layout."""
    spec = axes.get_subplotspec()
    columns = spec.get_gridspec().ncols if spec is not None else 1
    room = axes.figure.bbox.width * 72 / axes.figure.dpi * _AXES_SHARE / columns
    return sum(measure(name, 7.0) + 4 for name in names) > room


def _thinned(
    axes: Axes, which: str, values: list[float], names: list[str], *, upright: bool = False, first: int = -1
) -> list[str]:
    pixel = 72 / axes.figure.dpi
    axis = 0 if which == "x" else 1
    points = [(value, 1.0) if axis == 0 else (1.0, value) for value in values]
    at = [float(place[axis]) * pixel for place in axes.transData.transform(points)] if points else []
    extent = axes.get_window_extent()
    low, high = (extent.x0, extent.x1) if axis == 0 else (extent.y0, extent.y1)
    taken: list[tuple[float, float]] = []
    kept = [""] * len(names)
    # ends first, then powers of two, then the rest: labels in between are dropped first
    order = sorted(
        range(len(names)), key=lambda i: (i != first, i not in (0, len(names) - 1), not _power_of_two(values[i]), i)
    )
    if len(names) > 0 and all(name.isdigit() for name in names) and values == list(range(len(values))):
        step = max(1, math.ceil(len(names) * (measure("0" * max(map(len, names)), 7.0) + 4) / ((high - low) * pixel)))
        kept_at = every(len(names), step, first)
        return [name if index in kept_at else "" for index, name in enumerate(names)]
    for index in order:
        half = (measure(names[index], 7.0) if axis == 0 and not upright else 7.0) / 2 + (0.5 if upright else 1.5)
        inside = low * pixel - 1 <= at[index] <= high * pixel + 1
        if inside and all(at[index] + half < a or at[index] - half > b for a, b in taken):
            kept[index] = names[index]
            taken.append((at[index] - half, at[index] + half))
    return kept


def _power_of_two(value: float) -> bool:
    return value > 0 and float(math.log2(value)).is_integer()


def _values(plot: Plot, *, across: bool) -> list[float]:
    """All numbers along the category axis (x, or y for horizontal bars) or along the value axis."""
    values: list[float] = []
    for line in plot.lines:
        values.extend(line.x if across else (*line.y, *line.low, *line.high))
    # a draggable line must be visible
    values.extend(handle.value for handle in plot.handles if handle.axis == ("x" if across else "y"))
    if plot.bars is not None:
        if across:
            values.extend(plot.bars.x)
        else:
            stacks = np.nansum([[max(h, 0.0) for h in heights] for _, _, heights in plot.bars.series], axis=0)
            values.extend(float(value) for value in np.atleast_1d(stacks))
    return values


def _furniture(brush: Brush, axes: Axes, x: Scale, y: Scale) -> None:
    for axis, scale in ((axes.xaxis, x), (axes.yaxis, y)):
        if scale.axis.scale != "category":
            axis.grid(visible=True, which="major", color=colour("grid", brush.theme), alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(colors=brush.ink, length=2.5, which="both")
    for spine in axes.spines.values():
        spine.set_color(brush.ink)
    axes.xaxis.label.set_color(brush.ink)
    axes.yaxis.label.set_color(brush.ink)


def _line(brush: Brush, axes: Axes, line: Line, x: Scale, y: Scale, index: int) -> None:
    shade = line_colour(line.role, brush.theme)
    xs, ys = x.of(line.x), y.of(line.y)
    thin = line.style == "thin"
    dashed = line.style == "dashed" or line.origin == "predicted" or (line.origin == "computed" and not thin)
    turn = series_turn(line.role)  # beyond seven series, dashes distinguish them too
    marker: str | None = _MARKERS[index % len(_MARKERS)] if line.markers else None
    filled = line.origin in ("measured", "imported")
    axes.plot(
        xs,
        ys,
        color=shade,
        linewidth=0.8 if thin else 1.4,
        linestyle=(0, DASHES[turn % len(DASHES)]) if dashed or turn else "-",
        marker=marker,
        markersize=3.6,
        markerfacecolor=shade if filled else brush.paper,
        markeredgecolor=shade,
        markeredgewidth=1.0,
        zorder=2 if thin else 3,
        clip_on=False,
    )
    if line.low and line.high:
        low, high = y.of(line.low), y.of(line.high)
        if (line.band or line.origin == "predicted") and len(xs) > 1:
            axes.fill_between(xs, low, high, color=shade, alpha=0.18, linewidth=0, zorder=1.5)
            return
        axes.vlines(xs, low, high, color=shade, linewidth=1.0, zorder=2.5)
        axes.scatter([*xs, *xs], [*low, *high], marker="_", s=18, color=shade, linewidths=0.9, zorder=2.5)


def _bars(brush: Brush, axes: Axes, bars: Bars, value: Scale) -> None:
    at = np.asarray(bars.x, dtype=float)
    up, down = np.zeros(len(at)), np.zeros(len(at))
    many = len(at) > 40
    for _, role, heights in bars.series:
        height = np.nan_to_num(np.asarray(heights, dtype=float) * value.factor)
        base = np.where(height >= 0, up, down)
        style: dict[str, Any] = {
            "color": colour(role, brush.theme),
            "edgecolor": brush.paper,
            "linewidth": 0.0 if many else 0.4,
        }
        if bars.horizontal:
            axes.barh(at, height, left=base, height=0.72, **style)
        else:
            axes.bar(at, height, bottom=base, width=1.0 if many else 0.74, **style)
        up, down = np.where(height >= 0, up + height, up), np.where(height < 0, down + height, down)
    if float(down.min(initial=0.0)) < 0:
        (axes.axvline if bars.horizontal else axes.axhline)(0, color=brush.ink, linewidth=0.6)


def _legend(brush: Brush, axes: Axes, plot: Plot, *, sideways: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    assert plot.bars is not None
    shown = [(name, role) for name, role, heights in plot.bars.series if np.nanmax(np.abs(heights), initial=0.0) > 0]
    handles: list[Any] = [Patch(color=colour(role, brush.theme), label=name) for name, role in shown]
    if not sideways:
        handles.reverse()  # in stacking order
    handles.extend(
        Line2D(
            [],
            [],
            color=line_colour(line.role, brush.theme),
            linewidth=0.8,
            marker="o",
            markersize=3,
            markerfacecolor=brush.paper,
            label=line.name,
        )
        for line in plot.lines
    )
    legend = axes.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        handlelength=1.1,
        handleheight=0.9,
        labelspacing=0.35,
        borderaxespad=0.3,
    )
    for text in legend.get_texts():
        text.set_color(brush.ink)


def _limits(axes: Axes, plot: Plot, x: Scale, y: Scale) -> None:
    for scale, which in ((x, "x"), (y, "y")):
        setter = axes.set_xlim if which == "x" else axes.set_ylim
        limits = scale.axis.limits
        if limits is not None:
            setter(limits[0] * scale.factor, limits[1] * scale.factor)
            continue
        data = scale.data
        if scale.axis.scale.startswith("log"):
            data = data[data > 0]
            if len(data):
                low, high = float(data.min()), float(data.max())
                pad = 1.12 if low == high else (high / low) ** (0.03 if which == "x" else 0.06)
                setter(low / pad, high * pad)
        elif scale.axis.scale == "category":
            setter(-0.6, len(scale.axis.categories) - 0.4)
        elif len(data):
            low, high = float(data.min()), float(data.max())
            if which == "y":
                low = min(0.0, low)
            if plot.bars is not None and which == "y":
                low = min(low, float(axes.dataLim.y0))
            pad = (high - low or abs(high) or 1.0) * (0.03 if which == "x" else 0.06)
            setter(low - (pad if low < 0 or which == "x" else 0.0), high + pad)
