"""Draggable lines of a plot, and their value for a pointer position or key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from scalegraph.figures.figure import Handle
from scalegraph.gui.base.tints import paper, tint
from scalegraph.gui.figures.plot.drawing import Drawing
from scalegraph.gui.figures.scales import Scale

REACH = 7.0  # pixels within which a line is grabbed
_STEPS = 50.0  # key presses from one end of an axis to the other
_FINE = 400.0  # positions along an axis that dragging distinguishes
_ASIDE = 18.0  # pixels from the grip to the picture's edge
_NICE = (1.0, 2.0, 5.0, 10.0)


@dataclass
class _Line:
    handle: Handle
    value: float
    line: pg.InfiniteLine
    grip: pg.ScatterPlotItem
    text: pg.TextItem


class HandleLines:
    """The handles of one drawing. *held* has, by option, the values of lines being moved."""

    def __init__(self, drawing: Drawing, box: pg.ViewBox, handles: Sequence[Handle], held: dict[str, float]) -> None:
        self._drawing, self._box = drawing, box
        self._lines: list[_Line] = []
        for handle in handles:
            if handle.axis in ("x", "y"):
                self._add(handle, held.get(handle.option, handle.value))
        self.settle()

    def _add(self, handle: Handle, value: float) -> None:
        drawing = self._drawing
        colour = tint(handle.role, drawing.theme)
        across = handle.axis == "y"
        line = pg.InfiniteLine(0.0, angle=0 if across else 90, pen=drawing.pen(colour, 2.0))
        grip = pg.ScatterPlotItem(
            [0.0], [0.0], symbol="s", size=11, pen=drawing.pen(paper(drawing.theme), 1.2), brush=pg.mkBrush(colour)
        )
        text = pg.TextItem("", color=colour if drawing.theme == "dark" else colour.darker(115))
        text.fill = pg.mkBrush(paper(drawing.theme, 0.85))
        drawing.add(line, 5.2)
        drawing.add(grip, 8.5)
        drawing.add(text, 8.2)
        self._lines.append(_Line(handle, value, line, grip, text))

    def settle(self) -> None:
        """Place lines, grips and labels for the current range and values."""
        width, height = self._box.width(), self._box.height()
        (x0, x1), (y0, y1) = self._box.viewRange()
        if width <= 0 or height <= 0:
            return
        for item in self._lines:
            across = item.handle.axis == "y"
            place = self._scale(item.handle).at(item.value)
            there = math.isfinite(place)
            for part in (item.line, item.grip, item.text):
                part.setVisible(there)
            if not there:
                continue
            item.line.setValue(place)
            aside = (x1 - x0) * _ASIDE / width if across else (y1 - y0) * _ASIDE / height
            grip = (x1 - aside, place) if across else (place, y1 - aside)
            item.grip.setData([grip[0]], [grip[1]])
            item.text.setText(self.words(item.handle, item.value))
            if across:  # above the line, or below if there is no room
                low = (y1 - place) / (y1 - y0) * height < 2.2 * item.text.boundingRect().height()
                item.text.setAnchor((1, 0 if low else 1))
                item.text.setPos(x1 - 1.6 * aside, place)
            else:
                left = (x1 - place) / (x1 - x0) * width < item.text.boundingRect().width() + 12
                item.text.setAnchor((1 if left else 0, 0))
                item.text.setPos(place, y1 - 1.6 * aside)

    def words(self, handle: Handle, value: float) -> str:
        """Return a line's label, with its current value if it is being moved."""
        if value == handle.value and handle.text:
            return handle.text
        return f"{handle.option} = {self._scale(handle).text(value)}"

    def _scale(self, handle: Handle) -> Scale:
        return self._drawing.x if handle.axis == "x" else self._drawing.y

    def at(self, place: QPointF, pixel: tuple[float, float]) -> Handle | None:
        """Return the handle at a drawn point; *pixel* is a pixel's size in drawn coordinates."""
        best, reach = None, REACH
        for item in self._lines:
            there = self._scale(item.handle).at(item.value)
            away = abs(there - place.y()) / pixel[1] if item.handle.axis == "y" else abs(there - place.x()) / pixel[0]
            if away <= reach:
                best, reach = item.handle, away
        return best

    def show(self, option: str, value: float) -> None:
        """Move the lines of *option* to *value* without waiting for a new picture."""
        for item in self._lines:
            if item.handle.option == option:
                item.value = value
        self.settle()

    def value_of(self, handle: Handle) -> float:
        """Return a handle's current value."""
        return next((item.value for item in self._lines if item.handle.option == handle.option), handle.value)

    def value_at(self, handle: Handle, place: QPointF) -> float:
        """Return the value of *handle* at a drawn point, rounded and within its limits."""
        scale = self._scale(handle)
        drawn = place.x() if handle.axis == "x" else place.y()
        low, high = scale.extent()
        drawn = min(max(drawn, low), high)
        value = scale.value(drawn)
        return clipped(handle, rounded(value, scale.value(high) - scale.value(low), scale.logarithmic))

    def stepped(self, handle: Handle, steps: int) -> float:
        """Return the value after *steps* key presses."""
        scale = self._scale(handle)
        low, high = scale.extent()
        return stepped(handle, self.value_of(handle), steps, scale.value(low), scale.value(high), scale.logarithmic)


def stepped(handle: Handle, value: float, steps: int, low: float, high: float, logarithmic: bool) -> float:
    """Return *value* moved by *steps* rounded steps of the range *low* to *high*, within the handle's limits."""
    if logarithmic and low > 0:
        return clipped(handle, float(f"{value * (high / low) ** (steps / _STEPS):.3g}"))
    step = nice((high - low) / _STEPS)
    return clipped(handle, round(round(value / step) * step + steps * step, 12))


def nice(raw: float) -> float:
    """Return the smallest round number (1, 2 or 5 times a power of ten) not below *raw*."""
    if not raw > 0:
        return 1.0
    size = 10.0 ** math.floor(math.log10(raw))
    return next(one * size for one in _NICE if one * size >= raw * (1 - 1e-9))


def rounded(value: float, span: float, logarithmic: bool) -> float:
    """Return *value* with as many digits as the pointer can resolve."""
    if logarithmic:
        return float(f"{value:.3g}")
    step = nice(abs(span) / _FINE)
    return round(round(value / step) * step, 12)


def clipped(handle: Handle, value: float) -> float:
    """Return *value* clipped to the limits of *handle*."""
    low, high = handle.limits or (-math.inf, math.inf)
    return min(max(value, low), high)


def cursor_of(handle: Handle) -> Qt.CursorShape:
    """Return the pointer's shape over a draggable line."""
    shapes = {"x": Qt.CursorShape.SizeHorCursor, "y": Qt.CursorShape.SizeVerCursor}
    return shapes.get(handle.axis, Qt.CursorShape.SizeAllCursor)
