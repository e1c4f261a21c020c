"""The canvas of a diagram: painting, panning, zooming, pointer and keys."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from scalegraph.figures.diagram import Diagram, Name, Shape, away, head, names, outline
from scalegraph.gui.base import tips
from scalegraph.gui.base.tints import ink, line_tint, paper
from scalegraph.gui.figures.plot.targets import rich

NONE: Final = -1
_MARGIN: Final = 8.0  # pixels around the diagram
_READ: Final = 15.0  # pixels of row height at which names are easy to read
_LARGEST: Final = 60.0
_SMALLEST: Final = 3.0
_FIRST: Final = 26.0  # largest initial row height, so that a small diagram is not blown up
_REACH: Final = 9.0  # pixels from a shape within which the pointer hits it
_LINE: Final = 1.3  # pixels per point of a page


class DiagramCanvas(QWidget):
    """Paints one diagram; *chosen* has the item clicked or entered, *pointed* the item under the keyboard cursor."""

    chosen = Signal(int)
    pointed = Signal(int)
    escaped = Signal()

    def __init__(self, diagram: Diagram, theme: str) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.diagram, self.theme = diagram, theme
        self.at = NONE  # the keyboard cursor
        self.marked: frozenset[int] = frozenset()
        self.scale = _READ  # pixels of row height
        self._corner = QPointF(_MARGIN, _MARGIN)  # position of the diagram's upper left corner
        self._at_home = True
        self._held: QPointF | None = None  # start of a drag
        self._moved = False
        self._names: list[Name] = []

    def show_diagram(self, diagram: Diagram) -> None:
        """Show *diagram*; the zoom stays if the size is the same."""
        same = diagram.size == self.diagram.size
        self.diagram, self.at, self.marked = diagram, NONE, frozenset()
        self._names = []
        if not same or self._at_home:
            self.home()
        self.update()

    # places

    def home(self) -> None:
        """Fit the diagram if names stay legible, otherwise show its beginning."""
        self._fit(_READ)
        self._at_home = True

    def fit(self) -> None:
        """Fit the whole diagram."""
        self._fit(_SMALLEST)
        self._at_home = False

    def _fit(self, least: float) -> None:
        wide, high = self.diagram.size
        room = self.width() - 2 * _MARGIN, self.height() - 2 * _MARGIN
        self._set_scale(max(least, min(_FIRST, room[0] / max(wide, 1.0), room[1] / max(high, 1.0))))
        self._corner = QPointF(_MARGIN, _MARGIN)
        self.update()

    def _set_scale(self, scale: float) -> None:
        self.scale = min(_LARGEST, max(_SMALLEST, scale))
        self._names = []

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Scale by *factor* around the point *at* of this widget, by default its centre."""
        middle = at if at is not None else QPointF(self.width() / 2, self.height() / 2)
        before = self.scale
        self._set_scale(before * factor)
        self._corner = middle + (self._corner - middle) * (self.scale / before)
        self._at_home = False
        self._keep_inside()

    def move_by(self, x: float, y: float) -> None:
        """Move the diagram right and down by pixels."""
        self._corner += QPointF(x, y)
        self._at_home = False
        self._keep_inside()

    def _keep_inside(self) -> None:
        """Keep part of the diagram visible."""
        wide, high = (side * self.scale for side in self.diagram.size)
        left = min(max(self._corner.x(), 60 - wide), self.width() - 60)
        top = min(max(self._corner.y(), 40 - high), self.height() - 40)
        self._corner = QPointF(left, top)
        self.update()

    def place(self, item: int) -> QPointF:
        """Return the rectangle of an item in this widget."""
        own = [shape for shape in self.diagram.shapes if shape.item == item]
        points = outline(own[0]) if own else (self.diagram.items[item].at,)
        first, last = points[0], points[-1]
        return self._pixel(((first[0] + last[0]) / 2, (first[1] + last[1]) / 2))

    def _pixel(self, point: tuple[float, float]) -> QPointF:
        return self._corner + QPointF(point[0] * self.scale, point[1] * self.scale)

    def item_at(self, at: QPointF) -> int:
        """Return the item at a point of this widget: the nearest shape or a name; `NONE` if there is neither."""
        place = ((at.x() - self._corner.x()) / self.scale, (at.y() - self._corner.y()) / self.scale)
        near = [
            (away(shape, place) * self.scale, -level, shape.item)
            for level, shape in enumerate(self.diagram.shapes)
            if shape.item != NONE
        ]
        best = min(near, default=(_REACH + 1, 0, NONE))
        if best[0] <= _REACH:
            return best[2]
        for name in self._named():
            if QRectF(name.left, name.top, name.width, name.height).translated(self._corner).contains(at):
                return name.item
        return NONE

    def show_item(self, item: int) -> None:
        """Scroll until an item is visible; a fitted diagram stays as it is."""
        at = self.place(item)
        x = min(0.0, self.width() - 120 - at.x()) if at.x() > self.width() / 2 else max(0.0, 40 - at.x())
        y = min(0.0, self.height() - 30 - at.y()) if at.y() > self.height() / 2 else max(0.0, 30 - at.y())
        if x or y:
            home = self._at_home
            self.move_by(x, y)
            self._at_home = home

    # painting

    def _named(self) -> list[Name]:
        if not self._names:
            metrics = self.fontMetrics()

            def short(text: str, room: float) -> tuple[str, float]:
                kept = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(room))  # the end has line and share
                return kept, float(metrics.horizontalAdvance(kept))

            self._names = names(self.diagram, self.scale, float(metrics.height()), short)
        return self._names

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw shapes, then names."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), paper(self.theme))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        stands_out = self.marked | ({self.at} if self.hasFocus() and self.at != NONE else frozenset())
        for shape in self.diagram.shapes:
            if shape.item in stands_out:
                self._paint(painter, shape, ink(self.theme, 0.3), shape.width + 7.0)
        for shape in self.diagram.shapes:
            self._paint(painter, shape, line_tint(shape.role, self.theme), shape.width)
        for name in self._named():
            item = self.diagram.items[name.item]
            bold = self.font()
            bold.setBold(name.item in self.marked)
            painter.setFont(bold)
            painter.setPen(ink(self.theme) if item.role == "ink" else line_tint(item.role, self.theme))
            box = QRectF(name.left, name.top, name.width + 16, name.height).translated(self._corner)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), name.text)
        painter.end()

    def _paint(self, painter: QPainter, shape: Shape, colour: QColor, width: float) -> None:
        points = [self._pixel(point) for point in outline(shape)]
        if shape.kind == "dot":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            radius = 1.5 * width if width == shape.width else 1.5 * shape.width + 4
            for point in points:
                painter.drawEllipse(point, radius, radius)
            return
        pen = QPen(colour, width * _LINE)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if shape.dashed:
            pen.setDashPattern([3.0, 2.5])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        path = QPainterPath(points[0])
        for point in points[1:]:
            path.lineTo(point)
        painter.drawPath(path)
        if shape.kind == "arrow":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPolygon(QPolygonF([self._pixel(point) for point in head(shape.points)]))

    def resizeEvent(self, event: object) -> None:
        """Qt: fit again unless the user has panned or zoomed; keep the selected item visible."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        if self._at_home:
            self.home()
        if self.at in self.marked:
            self.show_item(self.at)

    def sizeHint(self) -> QSize:
        """Qt: return a size at which names are legible."""
        return QSize(480, 320)

    # pointer and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: start a click or a drag."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._held, self._moved = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: show the item under the pointer; with a button held, pan."""
        if self._held is not None and event.buttons():
            way = event.position() - self._held
            if self._moved or way.manhattanLength() >= QApplication.startDragDistance():
                self._moved = True
                self._held = event.position()
                self.move_by(way.x(), way.y())
            return
        item = self.item_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if item != NONE else Qt.CursorShape.ArrowCursor)
        if item == NONE:
            QToolTip.hideText()
            return
        one = self.diagram.items[item]
        tips.show(event.globalPosition().toPoint() + QPoint(10, 8), rich(one.name, one.tip), self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: select the item clicked."""
        moved, self._held = self._moved, None
        item = self.item_at(event.position())
        if not moved and event.button() == Qt.MouseButton.LeftButton and item != NONE:
            self.go_to(item)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: fit the diagram on a double click outside of all items."""
        if self.item_at(event.position()) == NONE:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: zoom around the pointer."""
        self.zoom(1.0015 ** event.angleDelta().y(), event.position())
        event.accept()

    def go_to(self, item: int) -> None:
        """Select *item*."""
        self.at = item
        self.pointed.emit(item)
        self.chosen.emit(item)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows walk between items (with Shift they pan), Enter selects, F fits, plus and minus zoom."""
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        ways = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        if key in ways and shift:
            self.move_by(*(-40.0 * step for step in ways[Qt.Key(key)]))
        elif key in ways:
            self._walk(1 if sum(ways[Qt.Key(key)]) > 0 else -1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and self.diagram.items:
            self._walk_to(0 if key == Qt.Key.Key_Home else len(self.diagram.items) - 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.at != NONE:
            self.go_to(self.at)
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.zoom(0.8 if key == Qt.Key.Key_Minus else 1.25)
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def _walk(self, step: int) -> None:
        count = len(self.diagram.items)
        if count:
            first = 0 if step > 0 else count - 1
            self._walk_to(first if self.at == NONE else min(count - 1, max(0, self.at + step)))

    def _walk_to(self, item: int) -> None:
        self.at = item
        self.show_item(item)
        self.pointed.emit(item)
        self.update()
