"""A `Field` as pyqtgraph items: heat map, labelled contour lines, runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from scalegraph.figures import contours
from scalegraph.figures.figure import Dot, Field, Handle, Plot
from scalegraph.gui.base.tints import ColourMapName, heat, ink, legible_on, tint
from scalegraph.gui.figures.legend_strip import LegendEntry, Shape
from scalegraph.gui.figures.plot.drawing import Drawing
from scalegraph.gui.figures.plot.places import best_place, everywhere
from scalegraph.gui.figures.plot.targets import Target, rich
from scalegraph.gui.figures.scales import Scale

_FINE = (240, 180)  # columns and rows of the interpolated picture
_DOT = 8.0
_PLACES = (0.5, *(0.5 + sign * 0.05 * step for step in range(1, 9) for sign in (1, -1)))  # of a label along its line
_AROUND_DOT = [(0.5 * _DOT * x, 0.5 * _DOT * y) for x, y in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))]
_SHAPES: dict[str, Shape] = {"simulated": "hollow", "measured": "filled", "imported": "diamond", "computed": "cross"}
_SYMBOLS = {"imported": "d", "computed": "+"}


@dataclass
class IsoLine:
    """One contour line: its curves in drawn coordinates and its value."""

    level: float
    curves: list[tuple[NDArray[np.float64], NDArray[np.float64]]]

    def away(self, place: QPointF, pixel: tuple[float, float]) -> float:
        """Return the distance to a drawn point in pixels of size *pixel*."""
        best = math.inf
        for xs, ys in self.curves:
            px, py = (xs - place.x()) / pixel[0], (ys - place.y()) / pixel[1]
            best = min(best, _to_curve(px, py))
        return best


def frame_of(field: Field) -> Plot:
    """Return axes and straight handles of *field* as a plot without curves."""
    return Plot(field.x, field.y, handles=field.handles)


class FieldDrawing(Drawing):
    """The items of one field. *held* has, by option, the values of contour lines being dragged."""

    def __init__(
        self,
        field: Field,
        box: pg.ViewBox,
        theme: str,
        pixel: float = 1.0,
        *,
        colours: ColourMapName = "viridis",
        held: dict[str, float] | None = None,
    ) -> None:
        super().__init__(frame_of(field), box, theme, pixel)
        self.field = field
        self._colours: ColourMapName = colours
        self.x, self.y = Scale(field.x, field.columns), Scale(field.y, field.rows)
        self.value = Scale(field.value, [value for row in field.values for value in row])
        (x0, x1), (y0, y1) = self.x.extent(), self.y.extent()
        margin_x, margin_y = 0.02 * (x1 - x0), 0.03 * (y1 - y0)  # keep markers at the edge whole
        self.home = QRectF(x0 - margin_x, y0 - margin_y, x1 - x0 + 2 * margin_x, y1 - y0 + 2 * margin_y)
        self.limits = _limits(field)
        self.isolines: list[tuple[IsoLine, Handle | None]] = []
        self._named: list[tuple[pg.TextItem, tuple[NDArray[np.float64], NDArray[np.float64]], Handle | None]] = []
        self._image()
        for level in field.levels:
            self._isoline(level, None)
        self._moving: dict[str, list[object]] = {}
        for handle in field.handles:
            if handle.axis == "value":
                self._isoline((held or {}).get(handle.option, handle.value), handle)
        self._dots()

    def ink(self) -> NDArray[np.float64]:
        """Return drawn points [K, 2] that labels should not cover."""
        places = [(self.x.at(dot.x), self.y.at(dot.y)) for dot in self.field.dots]
        return np.array(places, dtype=float).reshape(-1, 2)

    def origins(self) -> list[LegendEntry]:
        """Return legend entries for the markers."""
        found = {dot.origin for dot in self.field.dots}
        return [LegendEntry(name, ink(self.theme), shape) for name, shape in _SHAPES.items() if name in found]

    def share(self, value: float) -> float:
        """Return the fraction (0 to 1) of the colour scale at *value*."""
        low, high = self.limits
        place = float(contours.along(self.field.value, [value])[0])
        return (place - low) / (high - low) if high > low else 0.5

    def move(self, handle: Handle, value: float) -> None:
        """Draw the contour line of *handle* at *value*."""
        self._drop(handle.option)
        self.isolines = [pair for pair in self.isolines if pair[1] is not handle]
        self._isoline(value, handle)

    def renew(self, field: Field, held: dict[str, float]) -> None:
        """Show *field*, which differs only in its handles' values."""
        for option in list(self._moving):
            self._drop(option)
        self.isolines = [pair for pair in self.isolines if pair[1] is None]
        self.field, self.plot = field, frame_of(field)
        for handle in field.handles:
            if handle.axis == "value":
                self._isoline(held.get(handle.option, handle.value), handle)

    def _drop(self, option: str) -> None:
        self._named = [named for named in self._named if named[2] is None or named[2].option != option]
        for item in self._moving.pop(option, []):
            self._box.removeItem(item)
            self._items.remove(item)

    def _image(self) -> None:
        at_x, at_y, values = contours.resampled(self.field, *_FINE)
        places = contours.along(self.field.value, values.ravel()).reshape(values.shape)
        low, high = self.limits
        share = np.clip((places - low) / (high - low) if high > low else np.full(places.shape, 0.5), 0.0, 1.0)
        colours = np.array([heat(i / 255, self._colours).getRgb() for i in range(256)], dtype=np.ubyte)
        known = np.isfinite(share)
        picture = colours[np.where(known, share * 255, 0).astype(int)]
        picture[~known, 3] = 0
        image = pg.ImageItem(picture, axisOrder="row-major")
        half_x = 0.5 * (at_x[1] - at_x[0]) if len(at_x) > 1 else 0.5
        half_y = 0.5 * (at_y[1] - at_y[0]) if len(at_y) > 1 else 0.5
        width, height = at_x[-1] - at_x[0] + 2 * half_x, at_y[-1] - at_y[0] + 2 * half_y
        image.setRect(QRectF(at_x[0] - half_x, at_y[0] - half_y, width, height))
        self.add(image, -10)

    def _isoline(self, level: float, handle: Handle | None) -> None:
        curves = [(self.x.place(xs), self.y.place(ys)) for xs, ys in contours.lines(self.field, level)]
        curves = [(xs, ys) for xs, ys in curves if len(xs) > 1]
        self.isolines.append((IsoLine(level, curves), handle))
        behind = heat(self.share(level), self._colours)
        colour = legible_on(behind)
        mine: list[object] = []
        for xs, ys in curves:
            if handle is not None:  # a light edge makes it visible on every colour
                mine.append(self.add(pg.PlotCurveItem(xs, ys, pen=self.pen(QColor("#FFFFFF"), 5.0), antialias=True), 4))
                pen = self.pen(tint(handle.role, "light"), 2.6)
            else:
                colour.setAlphaF(0.8)
                pen = self.pen(colour, 1.1)
            mine.append(self.add(pg.PlotCurveItem(xs, ys, pen=pen, antialias=True), 4.5))
        if curves:
            mine.append(self._name(level, max(curves, key=lambda curve: len(curve[0])), handle, behind))
        if handle is not None:
            self._moving[handle.option] = mine

    def _name(
        self,
        level: float,
        curve: tuple[NDArray[np.float64], NDArray[np.float64]],
        handle: Handle | None,
        behind: QColor,
    ) -> object:
        words = self.value.short(level)
        if handle is not None:
            words = handle.text if level == handle.value and handle.text else f"{handle.option} = {words}"
            behind = QColor("#FFFFFF")
        name = pg.TextItem(words, color=tint(handle.role, "light") if handle is not None else legible_on(behind))
        behind = QColor(behind)
        behind.setAlphaF(0.9)
        name.fill = pg.mkBrush(behind)
        self._named.append((name, curve, handle))
        return self.add(name, 7 if handle is not None else 5)

    def settle(self) -> None:
        """Place the contour lines' labels for the visible range, off the runs.

        The label of a draggable line goes wherever there is room, the others onto their lines. A label that would cover
        runs or other labels is hidden, as the colour scale and tooltips have the value; the label of a line being moved
        is always shown.
        """
        width, height = self._box.width(), self._box.height()
        (x0, x1), (y0, y1) = self._box.viewRange()
        if width <= 0 or height <= 0 or x1 <= x0 or y1 <= y0:
            return
        scale, room = np.array((width / (x1 - x0), height / (y0 - y1))), (width, height)
        runs = (self.ink() - (x0, y1)) * scale
        spots = np.concatenate([runs + offset for offset in _AROUND_DOT])
        taken: list[QRectF] = []
        for name, (xs, ys), handle in sorted(self._named, key=lambda named: named[2] is None):
            size = name.boundingRect().width(), name.boundingRect().height()
            curve = (np.column_stack([xs, ys]) - (x0, y1)) * scale
            along = _along(curve[:, 0], curve[:, 1])
            on = np.column_stack([np.interp(_PLACES, along, curve[:, i]) for i in (0, 1)])
            middle = QPointF(float(on[0, 0]), float(on[0, 1]))
            found = best_place(on - (size[0] / 2, size[1] / 2), middle, size, room, taken, spots)
            if handle is not None and (found is None or found[1]):
                anywhere = best_place(everywhere(size, room), middle, size, room, taken, spots)
                found = anywhere if anywhere is not None else found
            moving = handle is not None and handle.text and name.toPlainText() != handle.text
            name.setVisible(found is not None and (bool(moving) or not found[1]))
            if found is not None and name.isVisible():
                taken.append(QRectF(found[0].x(), found[0].y(), *size))
                name.setAnchor((0, 0))
                name.setPos(*(np.array((found[0].x(), found[0].y())) / scale + (x0, y1)))

    def boxes(self) -> list[QRectF]:
        """Return the rectangles of visible labels in scene coordinates."""
        return [name.mapRectToScene(name.boundingRect()) for name, *_ in self._named if name.isVisible()]

    def _dots(self) -> None:
        for origin in dict.fromkeys(dot.origin for dot in self.field.dots):
            mine = [dot for dot in self.field.dots if dot.origin == origin]
            filled = origin in ("measured", "imported")
            self.add(
                pg.ScatterPlotItem(
                    [self.x.at(dot.x) for dot in mine],
                    [self.y.at(dot.y) for dot in mine],
                    symbol=_SYMBOLS.get(origin, "o"),
                    size=_DOT,
                    pen=self.pen(QColor("#101418"), 1.3),
                    brush=pg.mkBrush(QColor("#101418") if filled else QColor("#FFFFFF")),
                    antialias=True,
                ),
                6,
            )


def _along(xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each point of a curve its fraction of the curve's length."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(xs), np.diff(ys)))])
    return way / way[-1] if way[-1] > 0 else np.linspace(0.0, 1.0, len(xs))


def alike(one: Field, two: Field) -> bool:
    """Return whether two fields differ at most in their handles."""
    axes = (one.x, one.y, one.value) == (two.x, two.y, two.value)
    nodes = (one.columns, one.rows, one.levels) == (two.columns, two.rows, two.levels)
    places = [(dot.x, dot.y, dot.tip) for dot in one.dots] == [(dot.x, dot.y, dot.tip) for dot in two.dots]
    kinds = [(handle.option, handle.axis) for handle in one.handles] == [(h.option, h.axis) for h in two.handles]
    return axes and nodes and places and kinds and np.array_equal(one.values, two.values, equal_nan=True)


def dot_targets(field: Field, x: Scale, y: Scale) -> list[Target]:
    """Return a pointer target for every run of *field*."""
    found = []
    for dot in field.dots:
        place = (x.at(dot.x), y.at(dot.y))
        if all(math.isfinite(part) for part in place):
            tip = rich(_title(dot), dot.tip or _says(field, x, y, dot), dot.origin)
            found.append(Target(*place, tip, "ink", dot.processors))
    return found


def words_at(field: Field, x: Scale, y: Scale, place: tuple[float, float]) -> str:
    """Return the field's text at a drawn point: both coordinates and the value, interpolated between runs."""
    at_x, at_y = x.value(place[0]), y.value(place[1])
    value = contours.at(field, at_x, at_y)
    reported = Scale(field.value, [value]).text(value) if math.isfinite(value) else "not known here"
    lines = [f"{field.x.label}: {x.text(_digits(at_x))}", f"{field.y.label}: {y.text(_digits(at_y))}"]
    return rich(f"{field.value.label}: {reported}", "\n".join(lines))


def _digits(value: float) -> float:
    return float(f"{value:.3g}") if math.isfinite(value) else value


def _title(dot: Dot) -> str:
    return f"N = {dot.processors}" if dot.processors is not None else "run"


def _says(field: Field, x: Scale, y: Scale, dot: Dot) -> str:
    value = Scale(field.value, [dot.value]).text(dot.value) if math.isfinite(dot.value) else "not known"
    return f"{field.x.label}: {x.text(dot.x)}\n{field.y.label}: {y.text(dot.y)}\n{field.value.label}: {value}"


def _limits(field: Field) -> tuple[float, float]:
    if field.value.limits is not None:
        low, high = contours.along(field.value, field.value.limits)
        return float(low), float(high)
    known = contours.along(field.value, np.asarray(field.values, dtype=float).ravel())
    known = known[np.isfinite(known)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)


def _to_curve(px: NDArray[np.float64], py: NDArray[np.float64]) -> float:
    """Return the distance from the origin to a polyline."""
    dx, dy = np.diff(px), np.diff(py)
    length = dx * dx + dy * dy
    with np.errstate(all="ignore"):
        share = np.where(length > 0, np.clip(-(px[:-1] * dx + py[:-1] * dy) / length, 0.0, 1.0), 0.0)
    away = np.hypot(px[:-1] + share * dx, py[:-1] + share * dy)
    return float(away.min()) if away.size else math.inf
