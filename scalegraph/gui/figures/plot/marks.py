"""Named marks of a plot (p_x, L_max, bounds), and the highlight of the selected number of processors."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF

from scalegraph.figures.figure import Mark
from scalegraph.gui.base.tints import ink, paper, tint
from scalegraph.gui.figures.plot.drawing import Drawing
from scalegraph.gui.figures.plot.places import RING, free_place
from scalegraph.gui.figures.plot.targets import Target

_LOW = 120  # pixels of height up to which a name that covers a curve is hidden
_AROUND = 10  # pixels of margin around a name


class MarkNames:
    """Keeps the names of marks inside the picture and apart from one another at any zoom."""

    def __init__(self, drawing: Drawing, box: pg.ViewBox) -> None:
        self._drawing = drawing
        self._box = box
        self._named: list[tuple[Mark, float | None, float | None, pg.TextItem]] = []
        for mark in drawing.plot.marks:
            self._add(mark)
        self.settle()

    def _add(self, mark: Mark) -> None:
        drawing = self._drawing
        colour = tint(mark.role, drawing.theme)
        x = drawing.x.at(mark.x) if mark.x is not None else None
        y = drawing.y.at(mark.y) if mark.y is not None else None
        if any(place is not None and not math.isfinite(place) for place in (x, y)) or (x is None and y is None):
            return
        dashed = drawing.pen(colour, 1.2, Qt.PenStyle.DashLine)
        if x is not None and y is not None:
            ring = pg.ScatterPlotItem(
                [x], [y], symbol="o", size=15, pen=drawing.pen(colour, 1.8), brush=pg.mkBrush(None), antialias=True
            )
            drawing.add(ring, 5)
        elif x is not None:
            drawing.add(pg.InfiniteLine(x, angle=90, pen=dashed), 2)
        else:
            drawing.add(pg.InfiniteLine(y, angle=0, pen=dashed), 2)
        if mark.text:
            text = pg.TextItem(mark.text, color=colour if drawing.theme == "dark" else colour.darker(115))
            text.fill = pg.mkBrush(paper(drawing.theme, 0.85))
            drawing.add(text, 8)
            self._named.append((mark, x, y, text))

    def settle(self) -> None:
        """Place every name for the current range."""
        width, height = self._box.width(), self._box.height()
        (x0, x1), (y0, y1) = self._box.viewRange()
        if width <= 0 or height <= 0 or x1 <= x0 or y1 <= y0:
            return
        taken: list[QRectF] = []
        ink = (self._drawing.ink() - (x0, y1)) * (width / (x1 - x0), height / (y0 - y1))
        ink = np.concatenate([ink, *(self._ring(x, y) for _, x, y, _ in self._named)])
        for mark, x, y, text in self._named:
            metrics = QFontMetricsF(text.textItem.font())
            name = metrics.elidedText(mark.text, Qt.TextElideMode.ElideRight, width - _AROUND)
            if name != text.toPlainText():
                text.setText(name)
            size = text.boundingRect().size()
            px = width * (((x - x0) / (x1 - x0)) if x is not None else 1.0)
            py = height * (1 - ((y - y0) / (y1 - y0))) if y is not None else 0.0
            corner, free = free_place(QPointF(px, py), (size.width(), size.height()), (width, height), taken, ink)
            # a low picture needs its curves more than the name, which the sentence above also has
            text.setVisible(-1 <= px <= width + 1 and -1 <= py <= height + 1 and (free or height > _LOW))
            if not text.isVisible():
                continue
            taken.append(QRectF(corner.x(), corner.y(), size.width(), size.height()))
            text.setAnchor((0, 0))
            text.setPos(x0 + corner.x() / width * (x1 - x0), y1 - corner.y() / height * (y1 - y0))

    def _ring(self, x: float | None, y: float | None) -> NDArray[np.float64]:
        """Return points [K, 2] of the ring around a marked point, in pixels of the picture; none for a line."""
        if x is None or y is None:
            return np.empty((0, 2))
        (x0, x1), (y0, y1) = self._box.viewRange()
        centre = (self._box.width() * (x - x0) / (x1 - x0), self._box.height() * (y1 - y) / (y1 - y0))
        turn = np.linspace(0.0, 2 * math.pi, 12, endpoint=False)
        points: NDArray[np.float64] = np.column_stack([np.cos(turn), np.sin(turn)]) * RING + centre
        return points

    def boxes(self) -> list[QRectF]:
        """Return the rectangles of visible names in scene coordinates."""
        return [text.mapRectToScene(text.boundingRect()) for *_, text in self._named if text.isVisible()]

    def texts(self) -> list[str]:
        """Return the names, for tests and accessibility."""
        return [mark.text for mark, *_ in self._named]


def _apart(points: list[Target], box: pg.ViewBox) -> list[Target]:
    """Return the points that are some pixels apart: overlapping rings would be a blot."""
    width, height = box.viewPixelSize()
    kept: list[Target] = []
    for point in points:
        if all(math.hypot((point.x - k.x) / width, (point.y - k.y) / height) > 7 for k in kept):
            kept.append(point)
    return kept


class Highlight:
    """Highlights the selected N: a band behind, a ring around its points, a frame around its bars."""

    def __init__(self, drawing: Drawing, box: pg.ViewBox, found: list[Target], processors: int | None) -> None:
        self._box = box
        self._items: list[pg.GraphicsObject] = []
        self._drawing = drawing
        mine = [target for target in found if processors is not None and target.processors == processors]
        if not mine:
            return
        bars = drawing.plot.bars
        along_y = bars is not None and bars.horizontal
        colour = ink(drawing.theme)
        centres = {target.y if along_y else target.x for target in mine}
        reach = drawing.half_bar * 1.22 if bars is not None else 0.012 * drawing.home.width()
        for centre in centres:
            band = pg.LinearRegionItem(
                (centre - reach, centre + reach),
                orientation="horizontal" if along_y else "vertical",
                brush=pg.mkBrush(ink(drawing.theme, 0.09)),
                pen=pg.mkPen(None),
                movable=False,
            )
            self._add(band, -5)
        points = _apart([target for target in mine if not target.is_bar], box)
        if points:
            rings = pg.ScatterPlotItem(
                [p.x for p in points],
                [p.y for p in points],
                symbol="o",
                size=13,
                pen=drawing.pen(colour, 1.6),
                brush=pg.mkBrush(None),
                antialias=True,
            )
            self._add(rings, 6)
        self._frame([target for target in mine if target.is_bar], colour)

    def _frame(self, pieces: list[Target], colour: QColor) -> None:
        if not pieces:
            return
        left = min(p.x - p.half_width for p in pieces)
        right = max(p.x + p.half_width for p in pieces)
        bottom = min(p.y - p.half_height for p in pieces)
        top = max(p.y + p.half_height for p in pieces)
        outline = pg.PlotCurveItem(
            [left, right, right, left, left], [bottom, bottom, top, top, bottom], pen=self._drawing.pen(colour, 1.8)
        )
        self._add(outline, 6)

    def _add(self, item: pg.GraphicsObject, level: float) -> None:
        item.setZValue(level)
        self._box.addItem(item, ignoreBounds=True)
        self._items.append(item)

    def clear(self) -> None:
        """Remove the highlight."""
        for item in self._items:
            self._box.removeItem(item)
        self._items.clear()
