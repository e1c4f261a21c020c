"""A `Surface` on the screen: shaded polygons drawn back to front, rotated by dragging or arrow keys."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from scalegraph.figures import projection
from scalegraph.figures.figure import Surface
from scalegraph.figures.projection import Node, Scene
from scalegraph.gui.base import tips
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.tints import ColourMapName, heat, ink, offer_colours, paper, tint
from scalegraph.gui.figures.plot.targets import rich
from scalegraph.gui.figures.scales import Scale

_DEGREES_PER_PIXEL: Final = 0.5
_DEGREES_PER_KEY: Final = 6.0
_STEEPEST, _FLATTEST = 89.0, 2.0
_REACH: Final = 14.0  # pixels from a node within which the pointer hits it
_SMALL: Final = 260  # pixels of height below which it counts as small
_LITTLE_ROOM = (52.0, 14.0, 52.0, 34.0)
_ROOM = (64.0, 30.0, 64.0, 58.0)  # for text around the box: left, top, right, bottom


class SurfacePanel(QWidget):
    """Shows one `Surface`. A newer surface over the same axes keeps the viewing direction."""

    processors_chosen = Signal(object)
    escaped = Signal()

    def __init__(self, surface: Surface, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self._surface, self._theme = surface, theme
        self._azimuth, self._elevation = surface.azimuth, surface.elevation
        self._colours: ColourMapName = "viridis"
        self._zoom = 1.0
        self._scene: Scene | None = None
        self._from: QPointF | None = None
        self._node: Node | None = None
        self.set_surface(surface)

    # what it shows

    @property
    def surface(self) -> Surface:
        """The surface shown."""
        return self._surface

    @property
    def view_from(self) -> tuple[float, float]:
        """Azimuth and elevation in degrees."""
        return self._azimuth, self._elevation

    @property
    def turned(self) -> bool:
        """Return whether the user has rotated it."""
        home = (self._surface.azimuth, self._surface.elevation)
        return self.view_from != home or self._zoom != 1.0

    def set_surface(self, surface: Surface) -> None:
        """Show *surface*."""
        same = (surface.x, surface.y) == (self._surface.x, self._surface.y)
        self._surface = surface
        if not same:
            self._azimuth, self._elevation, self._zoom = surface.azimuth, surface.elevation, 1.0
        name_chart(self, f"Surface of {surface.z.title} over {surface.x.title} and {surface.y.title}")
        self._turn(0.0, 0.0)

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self._theme = theme
        self.update()

    def set_colours(self, name: ColourMapName) -> None:
        """Use the colour map *name*."""
        self._colours = name
        self.update()

    def select(self, _processors: int | None) -> None:
        """Ignored: no part of a surface belongs to a single N."""

    def fit(self) -> None:
        """Restore the figure's viewing direction."""
        self._azimuth, self._elevation, self._zoom = self._surface.azimuth, self._surface.elevation, 1.0
        self._turn(0.0, 0.0)

    def _turn(self, across: float, up: float) -> None:
        self._azimuth = (self._azimuth + across + 180.0) % 360.0 - 180.0
        self._elevation = min(_STEEPEST, max(_FLATTEST, self._elevation + up))
        self._scene = projection.scene(self._surface, self._azimuth, self._elevation)
        self._node = None
        self.setAccessibleDescription(
            f"seen from {round(self._azimuth)} degrees, {round(self._elevation)} degrees above"
        )
        self.update()

    # drawing

    def minimumSizeHint(self) -> QSize:
        """Qt: small enough for a tile."""
        return QSize(160, 110)

    def _placed(self, x: float, y: float) -> QPointF:
        """Return the position of a scene's point in this widget."""
        assert self._scene is not None
        x0, y0, x1, y1 = self._scene.bounds
        left, top, right, bottom = _ROOM if self.height() > _SMALL else _LITTLE_ROOM
        room = QRectF(left, top, max(40.0, self.width() - left - right), max(30.0, self.height() - top - bottom))
        scale = self._zoom * min(room.width() / max(x1 - x0, 1e-9), room.height() / max(y1 - y0, 1e-9))
        middle = room.center()
        return QPointF(middle.x() + scale * (x - 0.5 * (x0 + x1)), middle.y() - scale * (y - 0.5 * (y0 + y1)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw grid, surface from back to front, text, and the node under the pointer."""
        if self._scene is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), paper(self._theme))
        for stroke in self._scene.strokes:
            colour = tint("grid", self._theme, 0.9 if stroke.edge else 0.35)
            painter.setPen(QPen(colour, 1.2 if stroke.edge else 0.8))
            painter.drawLine(self._placed(*stroke.start), self._placed(*stroke.end))
        for patch in self._scene.patches:
            colour = _lit(heat(patch.height, self._colours), patch.light)
            painter.setBrush(colour)
            painter.setPen(QPen(colour.darker(118), 0.7))
            painter.drawPolygon(QPolygonF([self._placed(*point) for point in patch.points]))
        self._write(painter)
        if self._node is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(ink(self._theme), 1.8))
            painter.drawEllipse(self._placed(self._node.x, self._node.y), 5.5, 5.5)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(tint("time", self._theme, 0.5), 1.0))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _write(self, painter: QPainter) -> None:
        assert self._scene is not None
        painter.setPen(ink(self._theme))
        metrics = painter.fontMetrics()
        taken: list[QRectF] = []
        for word in sorted(self._scene.words, key=lambda word: not word.title):
            at = self._placed(word.x, word.y)
            width, height = metrics.horizontalAdvance(word.text) + 2, metrics.height()
            left = at.x() - (0.5 * width if word.side == 0 else width if word.side < 0 else 0.0)
            left = min(max(2.0, left), max(2.0, self.width() - width - 2))
            top = min(max(1.0, at.y() - 0.5 * height), self.height() - height - 1.0)
            box = QRectF(left, top, width, height)
            if any(box.adjusted(1, 2, -1, -2).intersects(other) for other in taken):
                continue  # skip ticks that would overlap
            taken.append(box)
            font = painter.font()
            font.setBold(word.title)
            painter.setFont(font)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip
            painter.drawText(box, int(flags), word.text)

    # user actions

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: start a rotation."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._from = event.position()
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: rotate, or show the node under the pointer."""
        if self._from is None:
            self._point_at(event)
            return
        moved = event.position() - self._from
        self._from = event.position()
        self._turn(-_DEGREES_PER_PIXEL * moved.x(), _DEGREES_PER_PIXEL * moved.y())

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Qt: end a rotation."""
        self._from = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseDoubleClickEvent(self, _event: QMouseEvent) -> None:
        """Qt: restore the initial viewing direction."""
        self.fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows rotate, plus and minus zoom, F resets, Escape clears the selection."""
        key = event.key()
        turns = {
            Qt.Key.Key_Left: (-_DEGREES_PER_KEY, 0.0),
            Qt.Key.Key_Right: (_DEGREES_PER_KEY, 0.0),
            Qt.Key.Key_Up: (0.0, _DEGREES_PER_KEY),
            Qt.Key.Key_Down: (0.0, -_DEGREES_PER_KEY),
        }
        if key in turns:
            self._turn(*turns[Qt.Key(key)])
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.fit()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self._zoom = min(4.0, max(0.5, self._zoom * (1.25 if key == Qt.Key.Key_Plus else 0.8)))
            self.update()
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def _point_at(self, event: QMouseEvent) -> None:
        assert self._scene is not None
        found, best = None, _REACH
        for node in self._scene.nodes:  # later nodes are nearer to the viewer
            place = self._placed(node.x, node.y)
            away = math.hypot(place.x() - event.position().x(), place.y() - event.position().y())
            if away <= best:
                found, best = node, away
        if found is not self._node:
            self._node = found
            self.update()
        if found is None:
            QToolTip.hideText()
        else:
            tips.show(event.globalPosition().toPoint(), self.words_at(found.row, found.column), self)

    def words_at(self, row: int, column: int) -> str:
        """Return the tooltip of a node."""
        surface = self._surface
        if row < len(surface.tips) and column < len(surface.tips[row]) and surface.tips[row][column]:
            return rich(surface.z.label, surface.tips[row][column])
        value = surface.heights[row][column]
        where = (
            f"{surface.x.label}: {Scale(surface.x, surface.columns).text(surface.columns[column])}\n"
            f"{surface.y.label}: {Scale(surface.y, surface.rows).text(surface.rows[row])}"
        )
        return rich(f"{surface.z.label}: {Scale(surface.z, [value]).text(value)}", where)

    def contextMenuEvent(self, event: object) -> None:
        """Qt: offer reset, other colours, and the view's own entries."""
        menu = QMenu(self)
        reset = QAction("Reset view\tF", menu)
        reset.triggered.connect(self.fit)
        reset.setEnabled(self.turned)
        menu.addAction(reset)
        offer_colours(menu, self.set_colours)
        menu.addActions(self.actions())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())  # type: ignore[attr-defined]


def _lit(colour: QColor, light: float) -> QColor:
    return QColor.fromRgbF(*(min(1.0, part * light) for part in (colour.redF(), colour.greenF(), colour.blueF())))
