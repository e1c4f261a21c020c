"""A `Plot` as pyqtgraph items: curves, markers, intervals, bars and marks."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPen

from scalegraph.figures.figure import Bars, Line, Plot
from scalegraph.figures.palette import DASHES, series_turn
from scalegraph.gui.base.tints import ink, line_tint, paper, tint
from scalegraph.gui.figures.legend_strip import LegendEntry, Shape
from scalegraph.gui.figures.plot.labels import EndLabel
from scalegraph.gui.figures.plot.targets import stack
from scalegraph.gui.figures.scales import Scale

_SYMBOL = {"simulated": "o", "measured": "o", "imported": "d", "predicted": "o", "computed": "+"}
_MARKER = 7.5
_EDGED = 40  # bars up to which each piece has an edge; edges would hide thin bars
_INK = 24  # points per curve segment that names keep off
_BAR_SHARE = 0.72  # of the distance between two bars


def scales(plot: Plot) -> tuple[Scale, Scale]:
    """Return the scales of both axes, from all values drawn."""
    xs = [v for line in plot.lines for v in line.x]
    ys = [v for line in plot.lines for series in (line.y, line.low, line.high) for v in series]
    along, heights = (ys, xs) if plot.bars is not None and plot.bars.horizontal else (xs, ys)
    if plot.bars is not None:
        along.extend(plot.bars.x)
        tops = [0.0] * len(plot.bars.x)
        for base, _, i, height in stack(plot.bars):
            tops[i] = max(tops[i], base + height)
        heights.extend(tops)
        heights.append(0.0)
    xs.extend(mark.x for mark in plot.marks if mark.x is not None)
    ys.extend(mark.y for mark in plot.marks if mark.y is not None)
    xs.extend(handle.value for handle in plot.handles if handle.axis == "x")
    ys.extend(handle.value for handle in plot.handles if handle.axis == "y")
    return Scale(plot.x, xs), Scale(plot.y, ys)


def half_bar(bars: Bars | None, along: Scale) -> float:
    """Return half a bar's width in drawn coordinates, set by the narrowest gap."""
    if bars is None:
        return 0.0
    places = sorted({float(p) for p in along.place(bars.x) if math.isfinite(p)})
    gap = min((b - a for a, b in pairwise(places)), default=1.0)
    return 0.5 * _BAR_SHARE * gap


def home(plot: Plot, x: Scale, y: Scale, half: float) -> QRectF:
    """Return the drawn rectangle of everything, with a margin for markers at the edge."""
    (x0, x1), (y0, y1) = x.extent(), y.extent()
    if plot.bars is not None and plot.bars.horizontal:
        y0, y1 = y0 - 1.3 * half, y1 + 1.3 * half
        x1 += 0.06 * (x1 - x0)
    else:
        margin = max(1.3 * half, 0.035 * (x1 - x0))
        x0, x1 = x0 - margin, x1 + margin
        top, bottom = 0.06 * (y1 - y0), 0.06 * (y1 - y0)
        if y.axis.scale == "linear" and y0 == 0:
            bottom = 0.0 if plot.bars is not None and not plot.lines else 0.012 * (y1 - y0)
        if any(mark.x is not None for mark in plot.marks):
            top = 0.14 * (y1 - y0)  # room for the names
        y0, y1 = y0 - bottom, y1 + top
    return QRectF(x0, y0, x1 - x0, y1 - y0)


class Drawing:
    """The items of one plot in one theme. Adds itself to *box*; `clear` removes it."""

    def __init__(self, plot: Plot, box: pg.ViewBox, theme: str, pixel: float = 1.0) -> None:
        self.pixel = pixel  # device pixels per layout pixel: pen widths are in device pixels
        self.plot = plot
        self.x, self.y = scales(plot)
        self.theme = theme
        self._box = box
        self._items: list[Any] = []
        along = self.y if plot.bars is not None and plot.bars.horizontal else self.x
        self.half_bar = half_bar(plot.bars, along)
        self.home = home(plot, self.x, self.y, self.half_bar)
        if plot.bars is not None:
            self._bars(plot.bars)
        for line in plot.lines:
            self._line(line)

    def clear(self) -> None:
        """Remove every item."""
        for item in self._items:
            self._box.removeItem(item)
        self._items.clear()

    def pen(self, colour: QColor, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        """Return a pen of *width* layout pixels at any screen resolution."""
        made: QPen = pg.mkPen(colour, width=width * self.pixel, style=style)
        return made

    def add(self, item: Any, level: float = 0.0) -> Any:
        """Add *item* at *level* (higher is in front)."""
        item.setZValue(level)
        self._box.addItem(item, ignoreBounds=True)
        self._items.append(item)
        return item

    def _bars(self, bars: Bars) -> None:
        floor = 0.0 if not self._value_scale.logarithmic else self._value_scale.extent()[0]
        edge = self.pen(paper(self.theme), 1) if len(bars.x) <= _EDGED else pg.mkPen(None)
        for s, (_, role, _) in enumerate(bars.series):
            pieces = [(base, i, height) for base, number, i, height in stack(bars) if number == s]
            if not pieces:
                continue
            along_scale = self.y if bars.horizontal else self.x
            along = along_scale.place([bars.x[i] for _, i, _ in pieces])
            low = self._value_scale.place([base for base, _, _ in pieces])
            high = self._value_scale.place([base + height for base, _, height in pieces])
            low = np.where(np.isfinite(low), low, floor)
            brush = pg.mkBrush(tint(role, self.theme))
            size = 2 * self.half_bar
            if bars.horizontal:
                item = pg.BarGraphItem(x0=low, x1=high, y=along, height=size, pen=edge, brush=brush)
            else:
                item = pg.BarGraphItem(x=along, y0=low, y1=high, width=size, pen=edge, brush=brush)
            self.add(item, 1)

    @property
    def _value_scale(self) -> Scale:
        horizontal = self.plot.bars is not None and self.plot.bars.horizontal
        return self.x if horizontal else self.y

    def _line(self, line: Line) -> None:
        xs, ys = self.x.place(line.x), self.y.place(line.y)
        colour = line_tint(line.role, self.theme)
        self._interval(line, xs, colour)
        finite = np.isfinite(xs) & np.isfinite(ys)
        if not finite.any():
            return
        pen = _pen(line, colour, self.pixel)
        # a missing point interrupts the curve: nothing is known between its neighbours
        self.add(pg.PlotCurveItem(xs, ys, pen=pen, connect="finite", antialias=True, skipFiniteCheck=False), 3)
        lone = int(finite.sum()) == 1
        if line.markers or lone:
            self.add(_markers(line, xs[finite], ys[finite], colour, self), 4)

    def _interval(self, line: Line, xs: NDArray[np.float64], colour: QColor) -> None:
        if len(line.low) != len(line.x) or len(line.high) != len(line.x):
            return
        low, high = self.y.place(line.low), self.y.place(line.high)
        good = np.isfinite(xs) & np.isfinite(low) & np.isfinite(high)
        if not good.any():
            return
        if (line.band or line.origin == "predicted") and good.sum() > 1:
            fill = QColor(colour)
            fill.setAlphaF(0.18)
            edges = [pg.PlotCurveItem(xs[good], side[good], pen=pg.mkPen(None)) for side in (low, high)]
            for edge in edges:
                self.add(edge, 0.5)
            self.add(pg.FillBetweenItem(*edges, brush=pg.mkBrush(fill)), 0.5)
            return
        middle = self.y.place(line.y)[good]
        middle = np.where(np.isfinite(middle), middle, (low[good] + high[good]) / 2)
        beam = 0.012 * self.home.width()
        bars = pg.ErrorBarItem(
            x=xs[good], y=middle, top=high[good] - middle, bottom=middle - low[good], beam=beam, pen=self.pen(colour, 1)
        )
        self.add(bars, 2)

    def ink(self) -> NDArray[np.float64]:
        """Return drawn points [K, 2] along every curve, dense enough for a name on it to be detected."""
        steps = np.linspace(0.0, 1.0, _INK, endpoint=False)
        found = [np.empty((0, 2))]
        for line in self.plot.lines:
            points = np.column_stack([self.x.place(line.x), self.y.place(line.y)])
            first, last = points[:-1], points[1:]
            with np.errstate(invalid="ignore"):  # inf - inf
                found += [*(first + step * (last - first) for step in steps), points]
        every = np.concatenate(found)
        return every[np.isfinite(every).all(axis=1)]

    def end_labels(self) -> list[EndLabel]:
        """Return the labels on the right: curves at their last point, pieces of the last stack."""
        labels = []
        bars = self.plot.bars
        if bars is not None:
            if bars.horizontal:
                return []
            last = max(range(len(bars.x)), key=lambda i: bars.x[i], default=-1)
            pieces = {s: (base, height) for base, s, i, height in stack(bars) if i == last}
            drawn = {s for _, s, _, _ in stack(bars)}
            for s, (name, role, _) in enumerate(bars.series):
                if s not in drawn:
                    continue
                below = [base + height for number, (base, height) in pieces.items() if number < s]
                base, height = pieces.get(s, (max(below, default=0.0), 0.0))
                place = self.y.at(base + height / 2)
                labels.append(EndLabel(name, tint(role, self.theme), place))
        for line in self.plot.lines:
            xs, ys = self.x.place(line.x), self.y.place(line.y)
            good = np.flatnonzero(np.isfinite(xs) & np.isfinite(ys))
            if line.name and good.size:
                end = good[np.argmax(xs[good])]
                labels.append(EndLabel(line.name, line_tint(line.role, self.theme), float(ys[end])))
        return labels

    def legend(self) -> list[LegendEntry]:
        """Return a legend entry for everything with a name."""
        entries = []
        bars = self.plot.bars
        if bars is not None:
            drawn = {s for _, s, _, _ in stack(bars)}
            entries = [
                LegendEntry(name, tint(role, self.theme), "bar", float(np.nansum(np.abs(heights))))
                for s, (name, role, heights) in enumerate(bars.series)
                if s in drawn
            ]
        for line in self.plot.lines:
            shape: Shape = "dashed" if _is_dashed(line) else "line"
            if line.name and self._drawn(line):
                size = float(np.nanmax(np.abs(line.y), initial=0.0))
                entries.append(LegendEntry(line.name, line_tint(line.role, self.theme), shape, size))
        return entries

    def missing(self) -> list[LegendEntry]:
        """Return an entry for every curve without values, so that it is not silently missing."""
        return [
            LegendEntry(f"{line.name}: no values", tint("muted", self.theme), "line")
            for line in self.plot.lines
            if line.name and not self._drawn(line)
        ]

    def _drawn(self, line: Line) -> bool:
        return bool((np.isfinite(self.x.place(line.x)) & np.isfinite(self.y.place(line.y))).any())

    def origins(self) -> list[LegendEntry]:
        """Return legend entries for the markers in this plot: the origin of its numbers."""
        shapes: dict[str, Shape] = {
            "simulated": "hollow",
            "measured": "filled",
            "imported": "diamond",
            "predicted": "dashed",
            "computed": "cross",
        }
        found = {
            line.origin
            for line in self.plot.lines
            if self._drawn(line) and (line.markers or line.origin == "predicted")
        }
        return [LegendEntry(name, ink(self.theme), shape) for name, shape in shapes.items() if name in found]


def _is_dashed(line: Line) -> bool:
    """Return whether *line* is dashed: predictions, and series after the seventh."""
    return line.style == "dashed" or line.origin == "predicted" or series_turn(line.role) > 0


def _pen(line: Line, colour: QColor, pixel: float) -> QPen:
    width = 1.0 if line.style == "thin" else 2.0
    dashed = _is_dashed(line)
    pen: QPen = pg.mkPen(colour, width=width * pixel)
    if dashed:
        pen.setDashPattern(DASHES[series_turn(line.role) % len(DASHES)])
    pen.setCapStyle(Qt.PenCapStyle.RoundCap if not dashed else Qt.PenCapStyle.FlatCap)
    return pen


def _markers(
    line: Line, xs: NDArray[np.float64], ys: NDArray[np.float64], colour: QColor, drawing: Drawing
) -> pg.ScatterPlotItem:
    filled = line.origin in ("measured", "imported")
    return pg.ScatterPlotItem(
        xs,
        ys,
        symbol=_SYMBOL[line.origin],
        size=_MARKER if len(xs) <= 64 else 4,
        pen=drawing.pen(colour, 1.6),
        brush=pg.mkBrush(colour if filled else paper(drawing.theme)),
        antialias=True,
        pxMode=True,
    )
