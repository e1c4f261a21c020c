"""A `Field` on the screen: heat map with contour lines and runs; a crosshair shows the value anywhere."""

from __future__ import annotations

import math

import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QAction, QMouseEvent
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from scalegraph.figures import contours
from scalegraph.figures.figure import Axis, Field, Handle, Plot
from scalegraph.gui.base import tips
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.tints import COLOUR_MAPS, ColourMapName, ink, offer_colours
from scalegraph.gui.figures.colour_bar import ColourBar
from scalegraph.gui.figures.field.drawing import FieldDrawing, alike, dot_targets, frame_of, words_at
from scalegraph.gui.figures.plot.drawing import Drawing
from scalegraph.gui.figures.plot.handles import REACH, clipped, rounded, stepped
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.plot.targets import Target

_BAR_TICKS = 7


class FieldPanel(PlotPanel):
    """Shows one `Field`; contour lines with handles are dragged like a plot's lines."""

    def __init__(self, field: Field, theme: str = "light", parent: QWidget | None = None) -> None:
        self._field = field
        self._colours: ColourMapName = "viridis"
        self._cross: list[pg.InfiniteLine] = []
        super().__init__(frame_of(field), theme, parent)
        self._scale_bar = _ClickBar()
        self._scale_bar.setToolTip("Click for other colours: viridis or cividis")
        self._scale_bar.clicked.connect(self.next_colours)
        self._row.addWidget(self._scale_bar)
        self._show_bar()

    # display

    @property
    def field(self) -> Field:
        """The field shown."""
        return self._field

    def set_field(self, field: Field) -> None:
        """Show *field*; zoom and colours are kept."""
        before, self._field = self._field, field
        straight = any(handle.axis != "value" for handle in field.handles)
        if not straight and alike(before, field) and self._fielded.field is before:
            held = {self._held.option: self._at} if self._held is not None else {}
            self._fielded.renew(field, held)  # a line is being dragged: keep the map
            self._settle()
            return
        self.set_plot(frame_of(field))
        self._show_bar()

    def next_colours(self) -> None:
        """Switch to the other colour map."""
        self.set_colours(COLOUR_MAPS[(COLOUR_MAPS.index(self._colours) + 1) % len(COLOUR_MAPS)])

    def set_colours(self, name: ColourMapName) -> None:
        """Use the colour map *name*."""
        self._colours = name
        self.set_plot(frame_of(self._field))
        self._show_bar()

    def iso_texts(self) -> list[str]:
        """Return the values of visible contour lines, for tests and accessibility."""
        return [self._fielded.value.short(line.level) for line, _ in self._fielded.isolines if line.curves]

    def _draw(self, _plot: Plot, /) -> tuple[Drawing, list[Target]]:
        held = {self._held.option: self._at} if self._held is not None else {}
        drawing = FieldDrawing(
            self._field, self._box, self._theme, self.devicePixelRatioF(), colours=self._colours, held=held
        )
        self._cross.clear()
        return drawing, dot_targets(self._field, drawing.x, drawing.y)

    @property
    def _fielded(self) -> FieldDrawing:
        assert isinstance(self._drawing, FieldDrawing)
        return self._drawing

    def _settle(self) -> None:
        super()._settle()
        if isinstance(self._drawing, FieldDrawing):
            self._drawing.settle()

    def _show_bar(self) -> None:
        drawing = self._fielded
        low, high = contours.back(self._field.value, drawing.limits)
        marks = drawing.value.ticks(*drawing.limits, _BAR_TICKS)
        ticks = [(drawing.share(drawing.value.value(tick.place)), tick.text) for tick in marks]
        self._scale_bar.show_scale(drawing.value.title, (float(low), float(high)), self._colours, ticks)
        label = self._field.value.label
        name_chart(self, f"{label} over {self._field.x.title} and {self._field.y.title}")

    def _clear(self) -> None:
        self._uncross()
        super()._clear()

    # pointer

    def _hover(self, at: QPointF) -> None:
        super()._hover(at)
        place = self._scene_place(at)
        self._uncross()
        if place is None:
            QToolTip.hideText()
            return
        if self._hovered is not None or self._pointed:
            return
        drawing = self._fielded
        for angle, where in ((90, place[0]), (0, place[1])):
            line = pg.InfiniteLine(where, angle=angle, pen=pg.mkPen(ink("light", 0.55)))
            self._box.addItem(line, ignoreBounds=True)
            self._cross.append(line)
        words = words_at(self._field, drawing.x, drawing.y, place)
        tips.show(self._canvas.mapToGlobal(at.toPoint()) + QPoint(2, 4), words, self._canvas)

    def _unhover(self) -> None:
        self._uncross()
        super()._unhover()

    def _uncross(self) -> None:
        for line in self._cross:
            self._box.removeItem(line)
        self._cross.clear()

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        fit = QAction("Reset zoom\tF", menu)
        fit.triggered.connect(self.fit)
        menu.addAction(fit)
        offer_colours(menu, self.set_colours)
        menu.addActions(self.actions())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    # dragging contour lines

    def place_of_handle(self, option: str) -> QPoint | None:
        """Return a point in the canvas where the line of *option* can be grabbed."""
        for line, handle in self._fielded.isolines:
            if handle is not None and handle.option == option and line.curves:
                xs, ys = max(line.curves, key=lambda curve: len(curve[0]))
                middle = int(0.6 * len(xs))
                scene = self._box.mapViewToScene(QPointF(float(xs[middle]), float(ys[middle])))
                return QPoint(self._canvas.mapFromScene(scene))
        return super().place_of_handle(option)

    def _handle_at(self, place: QPointF) -> Handle | None:
        width, height = self._box.viewPixelSize()
        for line, handle in self._fielded.isolines:
            if handle is not None and line.away(place, (width, height)) <= REACH:
                return handle
        return super()._handle_at(place)

    def _value_at(self, handle: Handle, place: QPointF) -> float:
        if handle.axis != "value":
            return super()._value_at(handle, place)
        drawing = self._fielded
        value = contours.at(self._field, drawing.x.value(place.x()), drawing.y.value(place.y()))
        if not math.isfinite(value):  # no value is known there
            return self._at
        low, high = contours.back(self._field.value, drawing.limits)
        return clipped(handle, rounded(value, float(high - low), _logarithmic(self._field.value)))

    def _stepped(self, handle: Handle, steps: int) -> float:
        if handle.axis != "value":
            return super()._stepped(handle, steps)
        now = self._at if self._held is handle else handle.value
        low, high = contours.back(self._field.value, self._fielded.limits)
        return stepped(handle, now, steps, float(low), float(high), _logarithmic(self._field.value))

    def _show_handle(self, option: str, value: float) -> None:
        super()._show_handle(option, value)
        for handle in self._field.handles:
            if handle.option == option and handle.axis == "value":
                self._fielded.move(handle, value)
        self._settle()


class _ClickBar(ColourBar):
    """A colour scale that switches colours on a click."""

    clicked = Signal()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def _logarithmic(axis: Axis) -> bool:
    return axis.scale in ("log2", "log10")
