"""A `Plot` on the screen: axes, curves, bars and marks that respond to pointer and keys."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolTip, QWidget

from scalegraph.figures.bar_names import largest
from scalegraph.figures.figure import Handle, Plot
from scalegraph.gui.base import tips
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import ink, paper
from scalegraph.gui.figures.legend_strip import LegendStrip
from scalegraph.gui.figures.plot.axis import ValueAxis
from scalegraph.gui.figures.plot.box import ZoomBox
from scalegraph.gui.figures.plot.canvas import Canvas
from scalegraph.gui.figures.plot.drawing import Drawing
from scalegraph.gui.figures.plot.handles import HandleLines, cursor_of
from scalegraph.gui.figures.plot.labels import EndLabels, most_important
from scalegraph.gui.figures.plot.marks import Highlight, MarkNames
from scalegraph.gui.figures.plot.targets import Target, nearest, targets

_DIRECT_FROM = 400  # pixels of width below which names go into the legend
_TALL = 170  # pixels of height at which there is a line for the markers' meaning
_FEWEST_NAMES = 3  # at the curves: if fewer fit, all go into the legend
_COLUMN_REACH = 24  # pixels beside a column within which a click selects it
_ALONG = ("y", "value")
# Shift and an arrow move a line: steps, and the axes of such lines
_ARROWS: dict[int, tuple[int, tuple[str, ...]]] = {
    Qt.Key.Key_Up: (1, _ALONG),
    Qt.Key.Key_Down: (-1, _ALONG),
    Qt.Key.Key_Right: (1, ("x",)),
    Qt.Key.Key_Left: (-1, ("x",)),
}


class PlotPanel(QWidget):
    """Shows one `Plot`.

    *processors_chosen* has the N clicked or reached by arrow keys, *handle_moved* the option and value of a line
    dragged or stepped and whether that is final.
    """

    processors_chosen = Signal(object)
    handle_moved = Signal(str, float, bool)
    escaped = Signal()

    def __init__(self, plot: Plot, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self._processors: int | None = None
        self._box = ZoomBox()
        self._axes = {"left": ValueAxis("left"), "bottom": ValueAxis("bottom")}
        self._canvas = Canvas(self._box, self._axes["left"], self._axes["bottom"])
        self._canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._canvas.setMouseTracking(True)
        self._labels = EndLabels(self._box)
        self._canvas.add_beside(self._labels)
        self._labels.setFont(self.font())
        self._legend = LegendStrip(self)
        self._corner = LegendStrip(self._canvas)
        self._corner.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = vertical(self, spacing=2)
        layout.addWidget(self._legend)
        self._row = QHBoxLayout()
        self._row.addWidget(self._canvas, 1)
        layout.addLayout(self._row, 1)
        self._drawing: Drawing | None = None
        self._lines: HandleLines | None = None
        self._held: Handle | None = None  # the line being dragged or stepped
        self._at: float = 0.0  # its current value
        self._names: MarkNames | None = None
        self._highlight: Highlight | None = None
        self._targets: list[Target] = []
        self._hovered: Target | None = None
        self._ring: pg.ScatterPlotItem | None = None
        self._pointed = False  # whether the pointer is over a draggable line
        self._canvas.moved.connect(self._hover)
        self._canvas.left.connect(self._unhover)
        self._canvas.scene().sigMouseClicked.connect(self._clicked)
        self._box.fit_wanted.connect(self.fit)
        self._box.menu_wanted.connect(self._menu)
        self._box.grabs = self._grab
        self._box.dragged.connect(self._drag)
        # A window being laid out resizes many times in a row: place names once, at the end.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._settle)
        self._place_later = QTimer(self, singleShot=True, interval=0)
        self._place_later.timeout.connect(self._place_names)
        self._box.sigRangeChanged.connect(lambda *_: self._later.start())
        self._box.sigResized.connect(lambda *_: self._later.start())
        self._canvas.resized.connect(self._place_later.start)
        self._canvas.resized.connect(self._axes["bottom"].turn_names)
        self.set_plot(plot)

    # display

    @property
    def plot(self) -> Plot:
        """The plot shown."""
        assert self._drawing is not None
        return self._drawing.plot

    def set_plot(self, plot: Plot) -> None:
        """Show *plot*; the user's zoom is kept if the axes are the same, and any range while a line is dragged."""
        before = self._drawing
        same = before is not None and (before.plot.x, before.plot.y) == (plot.x, plot.y)
        keep = same and (self._held is not None or not self._box.at_home)
        shown = self._box.viewRect()
        self._clear()
        drawing, self._targets = self._draw(plot)
        self._drawing = drawing
        for side, scale in (("bottom", drawing.x), ("left", drawing.y)):
            self._axes[side].largest = largest(plot.bars)
            self._axes[side].show_scale(scale, self._theme)
        self._canvas.setBackground(paper(self._theme))
        grid_x = plot.bars is not None and plot.bars.horizontal
        self._axes["left"].setGrid(False if grid_x else 46)
        self._axes["bottom"].setGrid(46 if grid_x else False)
        self._names = MarkNames(drawing, self._box)
        held = {self._held.option: self._at} if self._held is not None else {}
        self._lines = HandleLines(drawing, self._box, plot.handles, held)
        self._box.set_home(drawing.home)
        if keep:
            self._box.setRange(shown, padding=0.0)
        else:
            self._box.fit()
        self._place_names()
        self._settle()
        self.select(self._processors)
        name_chart(self, f"Plot of {plot.y.title} over {plot.x.title}")

    def _draw(self, plot: Plot, /) -> tuple[Drawing, list[Target]]:
        """Return the items of *plot* and its pointer targets."""
        drawing = Drawing(plot, self._box, self._theme, self.devicePixelRatioF())
        return drawing, targets(plot, drawing.x, drawing.y, drawing.half_bar)

    def set_theme(self, theme: str) -> None:
        """Redraw in the colours of *theme* (light or dark)."""
        if theme != self._theme:
            self._theme = theme
            self.set_plot(self.plot)

    def select(self, processors: int | None) -> None:
        """Highlight *processors*."""
        self._processors = processors
        if self._highlight is not None:
            self._highlight.clear()
        if self._drawing is not None:
            self._highlight = Highlight(self._drawing, self._box, self._targets, processors)

    def fit(self) -> None:
        """Show the whole range."""
        self._box.fit()

    def zoom(self, factor: float) -> None:
        """Zoom to *factor* of the visible range, around its centre."""
        self._box.scaleBy((factor, factor))

    def shown_range(self) -> tuple[float, float, float, float]:
        """Return the visible range in drawn coordinates: left, right, bottom, top."""
        (left, right), (bottom, top) = self._box.viewRange()
        return (float(left), float(right), float(bottom), float(top))

    def direct_names(self) -> list[str]:
        """Return the labels at the curves."""
        return self._labels.texts()

    def values(self) -> list[int]:
        """Return the selectable processor counts, sorted."""
        return sorted({t.processors for t in self._targets if t.processors is not None})

    def label_texts(self) -> list[str]:
        """Return the names at the curves or in the legend, and those of the marks."""
        marks = self._names.texts() if self._names else []
        return [*self._labels.texts(), *self._legend.texts(), *self._corner.texts(), *marks]

    def place_of(self, processors: int) -> QPoint | None:
        """Return the position (in this widget) of the first point or bar of *processors*."""
        for target in self._targets:
            if target.processors == processors:
                scene = self._box.mapViewToScene(QPointF(target.x, target.y))
                place: QPoint = self._canvas.mapFromScene(scene)
                return QPoint(self._canvas.mapTo(self, place))
        return None

    def canvas(self) -> QWidget:
        """Return the widget that receives pointer events."""
        viewport: QWidget = self._canvas.viewport()
        return viewport

    def _clear(self) -> None:
        self._unhover()
        if self._highlight is not None:
            self._highlight.clear()
            self._highlight = None
        if self._drawing is not None:
            self._drawing.clear()

    def _settle(self) -> None:
        if self._names is not None:
            self._names.settle()
        if self._lines is not None:
            self._lines.settle()

    def _place_names(self) -> None:
        """Show names at the ends of curves if they fit, otherwise in the legend, with the markers' meaning."""
        drawing = self._drawing
        if drawing is None:
            return
        entries = drawing.legend()
        names = int(0.95 * max(self.height() - 48, 60) / self._labels.gap)
        labels = drawing.end_labels()
        wide = self.width() >= _DIRECT_FROM and len(labels) == len(entries)
        if len(labels) > names and drawing.plot.bars is None and names >= _FEWEST_NAMES:
            labels = most_important(labels, names, ink(self._theme, 0.5))
        direct = wide and 0 < len(labels) <= names
        self._labels.show_labels(labels if direct else [], ink(self._theme), 0.36 * self.width(), names)
        aside = [*drawing.origins(), *drawing.missing()]
        # use the free room beside the axis title
        room = 0.36 * min(self.width(), self._canvas.width() or self.width())
        corner = self.width() >= _DIRECT_FROM and self._corner.wanted_width(aside) < room
        above = [] if direct else entries
        aside = aside if corner or self.height() >= _TALL else []  # a low picture needs the line
        self._legend.allow(int(0.3 * self.height()))
        self._legend.show_entries(above if corner else [*above, *aside])
        self._corner.show_entries(aside if corner else [])
        width = self._corner.wanted_width(aside)
        self._corner.setFixedWidth(width)
        self._corner.move(self._canvas.width() - width - 2, self._canvas.height() - self._corner.height() - 1)

    # user actions

    def changeEvent(self, event: QEvent) -> None:
        """Qt: follow the window's font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._labels.setFont(self.font())
            self._place_names()

    def event(self, event: QEvent) -> bool:
        """Qt: redraw when the window moves to a screen of another resolution."""
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.set_plot(self.plot)
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows, Home, End select N; Shift+arrows move a line; F fits; plus, minus zoom; Escape clears."""
        key = event.key()
        values = self.values()
        if key in _ARROWS and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self._step(*_ARROWS[key])
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Left, Qt.Key.Key_Down) and values:
            step = 1 if key in (Qt.Key.Key_Right, Qt.Key.Key_Up) else -1
            self.processors_chosen.emit(_neighbour(values, self._processors, step))
        elif key == Qt.Key.Key_Home and values:
            self.processors_chosen.emit(values[0])
        elif key == Qt.Key.Key_End and values:
            self.processors_chosen.emit(values[-1])
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self.zoom(0.8 if key == Qt.Key.Key_Plus else 1.25)
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Qt: releasing an arrow key ends the step of a line."""
        if event.key() in _ARROWS and not event.isAutoRepeat() and self._held is not None:
            self._let_go()
        else:
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt: end the step of a line when the focus goes elsewhere."""
        if self._held is not None:
            self._let_go()
        super().focusOutEvent(event)

    # draggable lines

    def handles(self) -> tuple[Handle, ...]:
        """Return the draggable lines."""
        return self.plot.handles

    def place_of_handle(self, option: str) -> QPoint | None:
        """Return a point in the canvas where the line of *option* can be grabbed."""
        assert self._drawing is not None
        assert self._lines is not None
        (x0, x1), (y0, y1) = self._box.viewRange()
        for handle in self.handles():
            if handle.option == option and handle.axis in ("x", "y"):
                value = self._lines.value_of(handle)
                across = handle.axis == "y"
                where = QPointF(0.5 * (x0 + x1), self._drawing.y.at(value)) if across else None
                where = where or QPointF(self._drawing.x.at(value), 0.5 * (y0 + y1))
                return QPoint(self._canvas.mapFromScene(self._box.mapViewToScene(where)))
        return None

    def _handle_at(self, place: QPointF) -> Handle | None:
        width, height = self._box.viewPixelSize()
        return self._lines.at(place, (width, height)) if self._lines is not None else None

    def _value_at(self, handle: Handle, place: QPointF) -> float:
        assert self._lines is not None
        return self._lines.value_at(handle, place)

    def _stepped(self, handle: Handle, steps: int) -> float:
        assert self._lines is not None
        return self._lines.stepped(handle, steps)

    def _show_handle(self, option: str, value: float) -> None:
        if self._lines is not None:
            self._lines.show(option, value)

    def _grab(self, place: QPointF) -> bool:
        self._held = self._handle_at(place)
        if self._held is None:
            return False
        self._unhover()
        self._at = self._held.value
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        return True

    def _drag(self, place: QPointF, last: bool) -> None:
        handle = self._held
        if handle is None:
            return
        value = self._value_at(handle, place)
        if value != self._at or last:
            self._move_to(handle, value, last=last)

    def _move_to(self, handle: Handle, value: float, *, last: bool) -> None:
        self._at = value
        self._show_handle(handle.option, value)
        if last:
            self._held = None
        self.handle_moved.emit(handle.option, value, last)

    def _step(self, steps: int, axes: tuple[str, ...]) -> None:
        handle = next((handle for handle in self.handles() if handle.axis in axes), None)
        if handle is None:
            return
        value = self._stepped(handle, steps)
        self._held = handle
        self._move_to(handle, value, last=False)

    def _let_go(self) -> None:
        handle = self._held
        if handle is not None:
            self._move_to(handle, self._at, last=True)

    def _clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton or event.double():
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        at = self._canvas.mapFromScene(event.scenePos())
        target = self._target_at(QPointF(at)) or self._column_at(QPointF(at))
        if target is not None and target.processors is not None:
            self.processors_chosen.emit(target.processors)

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        fit = QAction("Reset zoom\tF", menu)
        fit.triggered.connect(self.fit)
        fit.setEnabled(not self._box.at_home)
        menu.addAction(fit)
        for action in self.actions():
            menu.addAction(action)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    # the pointer

    def _scene_place(self, at: QPointF) -> tuple[float, float] | None:
        scene = self._canvas.mapToScene(at.toPoint())
        if not self._box.sceneBoundingRect().contains(scene):
            return None
        place = self._box.mapSceneToView(scene)
        return float(place.x()), float(place.y())

    def _target_at(self, at: QPointF) -> Target | None:
        place = self._scene_place(at)
        if place is None:
            return None
        width, height = self._box.viewPixelSize()
        return nearest(self._targets, *place, (width, height))

    def _column_at(self, at: QPointF) -> Target | None:
        place = self._scene_place(at)
        if place is None:
            return None
        horizontal = self.plot.bars is not None and self.plot.bars.horizontal
        pixel = self._box.viewPixelSize()[1 if horizontal else 0]
        with_n = [t for t in self._targets if t.processors is not None]
        best = min(with_n, key=lambda t: abs((t.y - place[1]) if horizontal else (t.x - place[0])), default=None)
        if best is None:
            return None
        away = abs((best.y - place[1]) if horizontal else (best.x - place[0])) / pixel
        return best if away <= _COLUMN_REACH else None

    def _hover(self, at: QPointF) -> None:
        place = self._scene_place(at)
        handle = self._handle_at(QPointF(*place)) if place is not None else None
        if handle is not None:
            self._unhover()
            self._canvas.setCursor(cursor_of(handle))
            keys = "Shift+←→" if handle.axis == "x" else "Shift+↑↓"
            tip = f"{handle.text or handle.option}\nDrag it, or press {keys}; views with the same option follow."
            tips.show(self._canvas.mapToGlobal(at.toPoint()) + QPoint(2, 4), tip, self._canvas)
            self._pointed = True
            return
        if self._pointed:
            self._pointed = False
            QToolTip.hideText()
            self._canvas.unsetCursor()
        target = self._target_at(at)
        scene = self._canvas.mapToScene(at.toPoint())
        if target is None and self._labels.sceneBoundingRect().contains(scene) and self._labels.tip():
            tips.show(self._canvas.mapToGlobal(at.toPoint()) + QPoint(2, 4), self._labels.tip(), self._canvas)
            self._pointed = True
        if target is self._hovered:
            return
        self._unhover()
        self._hovered = target
        if target is None:
            return
        tips.show(self._canvas.mapToGlobal(at.toPoint()) + QPoint(2, 4), target.tip, self._canvas)
        self._canvas.setCursor(
            Qt.CursorShape.PointingHandCursor if target.processors is not None else Qt.CursorShape.ArrowCursor
        )
        if not target.is_bar:
            self._ring = pg.ScatterPlotItem(
                [target.x], [target.y], symbol="o", size=12, pen=pg.mkPen(ink(self._theme, 0.6)), brush=None
            )
            self._ring.setZValue(7)
            self._box.addItem(self._ring, ignoreBounds=True)

    def _unhover(self) -> None:
        if self._ring is not None:
            self._box.removeItem(self._ring)
            self._ring = None
        if self._hovered is not None:
            self._hovered = None
            QToolTip.hideText()
            self._canvas.unsetCursor()


def _neighbour(values: list[int], now: int | None, step: int) -> int:
    if now is None:
        return values[0] if step > 0 else values[-1]
    if step > 0:
        return next((v for v in values if v > now), values[-1])
    return next((v for v in reversed(values) if v < now), values[0])
