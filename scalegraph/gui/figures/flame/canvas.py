"""The canvas of a flame graph: painting, pointer and keys."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from scalegraph.figures.flame_geometry import WHOLE, Geometry, Step
from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import Theme
from scalegraph.gui.base import tips
from scalegraph.gui.base.tints import ink, legible_on, paper
from scalegraph.gui.figures.flame.shades import GAP_FROM, Colours, Shades, faded, strip
from scalegraph.gui.figures.flame.zoom import Zoom
from scalegraph.gui.figures.plot.targets import rich

T = TypeVar("T", int, NDArray[np.int64])
_ROW: Final = 20  # pixels: height of a frame
_TEXT_FROM: Final = 26.0  # pixels of width at which a frame's name is drawn
_LEAST: Final = 0.6  # pixels below which a frame is not drawn


class FlameCanvas(QWidget):
    """Paints one flame graph; *chosen* has the frame clicked or entered; *zoomed*: the zoom changed."""

    chosen = Signal(int)
    zoomed = Signal()
    escaped = Signal()
    pointed = Signal(int)  # the frame at the keyboard cursor

    def __init__(self, flame: Flame, theme: Theme) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.geometry_of = Geometry(flame)
        self.zoom = Zoom()
        self.theme: Theme = theme
        self.at = WHOLE  # the keyboard cursor
        self.marked: frozenset[int] = frozenset()
        self.found: NDArray[np.bool_] = np.zeros(len(flame.frames), bool)
        self._shades = Shades(flame)
        self._colours: Colours | None = None  # of all frames, computed at first paint
        self._resize()

    @property
    def flame(self) -> Flame:
        """The flame graph shown."""
        return self.geometry_of.flame

    def show_flame(self, flame: Flame, theme: Theme) -> None:
        """Show *flame*; the zoom stays if its call path still exists."""
        self.zoom.carry(self.flame, flame)
        self.geometry_of, self.theme = Geometry(flame), theme
        self.at, self.marked = WHOLE, frozenset()
        self.found = np.zeros(len(flame.frames), bool)
        self._shades, self._colours = Shades(flame), None
        self._resize()
        self.update()

    def show_theme(self, theme: Theme) -> None:
        """Use the colours of *theme*."""
        self.theme = theme
        self._colours = None
        self.update()

    def _resize(self) -> None:
        self.setMinimumHeight(self.geometry_of.levels * _ROW + 2)

    def sizeHint(self) -> QSize:
        """Qt: return the height of all levels."""
        return QSize(320, self.geometry_of.levels * _ROW + 2)

    # zoom

    def into(self, frame: int) -> None:
        """Zoom into *frame*."""
        low, high = self.geometry_of.extent
        whole = self.geometry_of.width[frame] >= (high - low) * (1 - 1e-9) and self.geometry_of.depth[frame] == 0
        self.zoom.into(frame, fills=bool(whole))
        self.zoomed.emit()
        self.update()

    def back(self) -> bool:
        """Return to the previous zoom; return whether there was one."""
        changed = self.zoom.back()
        self.zoomed.emit()
        self.update()
        return changed

    def fit(self) -> None:
        """Show the whole graph."""
        self.zoom.whole()
        self.zoomed.emit()
        self.update()

    # places

    def box(self, frame: int) -> QRectF:
        """Return the rectangle of *frame*, empty if it is not shown."""
        rows, begin, end = self.geometry_of.shown(self.zoom.frame)
        hit = np.flatnonzero(rows == frame)
        if not len(hit):
            return QRectF()
        return self._box(frame, float(begin[hit[0]]), float(end[hit[0]]))

    def _box(self, frame: int, begin: float, end: float) -> QRectF:
        depth = int(self.geometry_of.depth[frame])
        return QRectF(begin * self.width(), self._top(depth), (end - begin) * self.width(), _ROW)

    def _top(self, depth: T) -> T:
        """Return the upper edge in pixels of a level."""
        return depth * _ROW if self.flame.icicle else self.height() - (depth + 1) * _ROW

    def frame_at(self, x: float, y: float) -> int:
        """Return the frame at a point of this widget, `WHOLE` if none."""
        depth = int(y // _ROW) if self.flame.icicle else int((self.height() - y) // _ROW)
        return self.geometry_of.at(x / max(1, self.width()), depth, self.zoom.frame)

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the visible frames."""
        painter, behind = QPainter(self), paper(self.theme)
        painter.fillRect(event.rect(), behind)
        rows, begin, end = self.geometry_of.shown(self.zoom.frame, _LEAST / max(1, self.width()))
        depth = self.geometry_of.depth[rows]
        top = self._top(depth)
        seen = (top <= event.rect().bottom()) & (top + _ROW > event.rect().top())
        rows, begin, end, depth, top = rows[seen], begin[seen], end[seen], depth[seen], top[seen]
        colours, faint = self._shown_colours(rows)
        ratio = self.devicePixelRatioF()
        width = max(1, round(self.width() * ratio))
        for level in np.unique(depth):
            here = depth == level
            line = strip(begin[here], end[here], colours[here], width, ratio, behind)
            painter.drawImage(QRectF(0.0, float(top[here][0]), self.width(), _ROW - 1.0), line)
        outlined = np.isin(rows, [*self.marked, *([self.at] if self.hasFocus() else [])])
        reported = outlined | ((end - begin) * self.width() >= _TEXT_FROM)
        for place in np.flatnonzero(reported):
            box = self._box(int(rows[place]), float(begin[place]), float(end[place]))
            self._write(painter, int(rows[place]), box, QColor.fromRgb(int(colours[place])), faint=bool(faint[place]))
        painter.end()

    def _shown_colours(self, rows: NDArray[np.int64]) -> tuple[Colours, NDArray[np.bool_]]:
        """Return the colours of *rows*, and which of them do not match the search."""
        if self._colours is None:
            self._colours = self._shades.colours(self.theme)
        colours = self._colours[rows]
        faint = ~self.found[rows] if self.found.any() else np.zeros(len(rows), bool)
        return np.where(faint, faded(colours, self.theme), colours), faint

    def _write(self, painter: QPainter, frame: int, box: QRectF, shade: QColor, *, faint: bool) -> None:
        """Draw the name of *frame* if it fits, and an outline if required."""
        inner = box.adjusted(0.0, 0.0, -1.0 if box.width() > GAP_FROM else 0.0, -1.0)
        if frame in self.marked or (frame == self.at and self.hasFocus()):
            painter.setPen(QPen(ink(self.theme), 2.0 if frame in self.marked else 1.2))
            painter.drawRect(inner.adjusted(1, 1, -1, -1))
        if box.width() >= _TEXT_FROM:
            painter.setPen(ink(self.theme, 0.55) if faint else legible_on(shade))
            room = inner.adjusted(4, 0, -2, 0)
            name = self.flame.frames[frame].name
            text = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)

    # pointer and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: show the frame under the pointer."""
        frame = self.frame_at(event.position().x(), event.position().y())
        if frame == WHOLE:
            QToolTip.hideText()
            return
        one = self.flame.frames[frame]
        tips.show(event.globalPosition().toPoint() + QPoint(10, 8), rich(one.name, one.tip), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: a click zooms into the frame and selects it; the mouse's back button goes back."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() == Qt.MouseButton.BackButton:
            self.back()
            return
        frame = self.frame_at(event.position().x(), event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and frame != WHOLE:
            self.go_to(frame)

    def go_to(self, frame: int) -> None:
        """Zoom into *frame* and select it."""
        self.at = frame
        self.into(frame)
        self.chosen.emit(frame)
        self.pointed.emit(frame)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: arrows walk, Enter zooms, Backspace and Escape go back, Home shows all."""
        key = event.key()
        ways: dict[int, Step] = {
            Qt.Key.Key_Left: "left",
            Qt.Key.Key_Right: "right",
            Qt.Key.Key_Up: "in",
            Qt.Key.Key_Down: "out",
        }
        if self.flame.icicle:
            ways |= {Qt.Key.Key_Up: "out", Qt.Key.Key_Down: "in"}
        if key in ways:
            self.at = self.geometry_of.step(self.at, ways[Qt.Key(key)], self.zoom.frame)
            self.pointed.emit(self.at)
            self.update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.at != WHOLE:
            self.go_to(self.at)
        elif key == Qt.Key.Key_Backspace:
            self.back()
        elif key == Qt.Key.Key_Home:
            self.fit()
        elif key == Qt.Key.Key_Escape:
            if not self.back():
                self.escaped.emit()
        else:
            super().keyPressEvent(event)
