"""A plot's zoomable area: drag to zoom or to move a line, wheel, middle drag to pan, double click to fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal


class ZoomBox(pg.ViewBox):  # type: ignore[misc]
    """A `ViewBox` with one action per gesture that cannot be zoomed out beyond its data."""

    fit_wanted = Signal()
    menu_wanted = Signal(object)  # QPoint on the screen
    zoomed = Signal()
    dragged = Signal(object, bool)  # QPointF in drawn coordinates; whether the button was released

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.setMouseMode(pg.ViewBox.RectMode)
        self._home = QRectF(0, 0, 1, 1)
        self.grabs: Callable[[QPointF], bool] = lambda _at: False  # whether a drag from there moves a line
        self._grabbed = False

    def viewPixelSize(self) -> tuple[float, float]:
        """pyqtgraph: return a pixel's width and height in drawn coordinates; never 0, even without room."""
        room = self.boundingRect()
        if room.width() < 1 or room.height() < 1:
            return self._home.width() or 1.0, self._home.height() or 1.0  # all of it within one pixel
        width, height = super().viewPixelSize()
        return float(width) or self._home.width() or 1.0, float(height) or self._home.height() or 1.0

    def set_home(self, rect: QRectF) -> None:
        """Set the range that `fit` shows; zooming out stops a little beyond it."""
        self._home = rect
        width, height = rect.width(), rect.height()
        self.setLimits(
            xMin=rect.left() - 0.25 * width,
            xMax=rect.right() + 0.25 * width,
            yMin=rect.top() - 0.25 * height,
            yMax=rect.bottom() + 0.25 * height,
            minXRange=width * 1e-4,
            minYRange=height * 1e-6,
        )

    def fit(self) -> None:
        """Show the whole range."""
        self.setRange(self._home, padding=0.0)

    @property
    def at_home(self) -> bool:
        """Return whether the whole range is shown."""
        shown = self.viewRect()
        home = self._home
        wide = max(abs(shown.left() - home.left()), abs(shown.right() - home.right())) <= 1e-6 * home.width()
        high = max(abs(shown.top() - home.top()), abs(shown.bottom() - home.bottom())) <= 1e-6 * home.height()
        return bool(wide and high)

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """pyqtgraph: the left button zooms into a rectangle; the middle one, or left with Shift, pans."""
        moving = ev.button() == Qt.MouseButton.MiddleButton or ev.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if ev.button() == Qt.MouseButton.RightButton:
            ev.ignore()
            return
        if self._grab(ev):
            return
        self.state["mouseMode"] = pg.ViewBox.PanMode if moving else pg.ViewBox.RectMode
        super().mouseDragEvent(ev, axis)
        if ev.isFinish():
            self.zoomed.emit()

    def _grab(self, ev: Any) -> bool:
        """Return whether the drag *ev* moves a grabbed line; its positions are emitted by `dragged`."""
        if ev.isStart():
            plain = ev.button() == Qt.MouseButton.LeftButton and not ev.modifiers()
            self._grabbed = plain and self.grabs(self.mapToView(ev.buttonDownPos(Qt.MouseButton.LeftButton)))
        if not self._grabbed:
            return False
        ev.accept()
        self._grabbed = not ev.isFinish()
        self.dragged.emit(self.mapToView(ev.pos()), ev.isFinish())
        return True

    def wheelEvent(self, ev: Any, axis: int | None = None) -> None:
        """pyqtgraph: zoom around the pointer."""
        super().wheelEvent(ev, axis)
        self.zoomed.emit()

    def mouseClickEvent(self, ev: Any) -> None:
        """pyqtgraph: a double click fits, a right click opens the menu."""
        if ev.button() == Qt.MouseButton.LeftButton and ev.double():
            ev.accept()
            self.fit_wanted.emit()
        elif ev.button() == Qt.MouseButton.RightButton:
            ev.accept()
            self.menu_wanted.emit(ev.screenPos().toPoint())

    def keyPressEvent(self, ev: Any) -> None:
        """pyqtgraph: leave keys to the panel."""
        ev.ignore()
