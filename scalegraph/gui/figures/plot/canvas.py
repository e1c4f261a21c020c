"""The drawing surface of a plot: its zoom box with an axis on the left and one below."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QGraphicsLayoutItem, QGraphicsWidget

_LEFT, _MIDDLE, _BELOW = (2, 0), (2, 1), (3, 1)  # rows and columns
_BESIDE = (2, 3)


class Canvas(pg.GraphicsView):  # type: ignore[misc]
    """Passes pointer events on before pyqtgraph has them.

    `pyqtgraph.PlotWidget` does the same and makes some fifty widgets and seven menus more for each plot, of dialogs
    that nobody can open here: most of the time that making a plot took.
    """

    moved = Signal(QPointF)
    left = Signal()
    resized = Signal()

    def __init__(self, box: pg.ViewBox, left: pg.AxisItem, below: pg.AxisItem) -> None:
        super().__init__(background=None)
        self.enableMouse(False)
        self._frame = QGraphicsWidget()
        self._grid = grid = QGraphicsGridLayout(self._frame)
        grid.setContentsMargins(1, 6, 1, 1)  # half of the highest tick's text is above the plot
        grid.setSpacing(0)
        grid.addItem(box, *_MIDDLE)
        for axis, place in ((left, _LEFT), (below, _BELOW)):
            axis.linkToView(box)
            grid.addItem(axis, *place)
            axis.setZValue(0.5)  # above pictures, below what is drawn over axes
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
        for row in range(4):
            grid.setRowStretchFactor(row, 100 if row == _MIDDLE[0] else 1)
        for column in range(3):
            grid.setColumnStretchFactor(column, 100 if column == _MIDDLE[1] else 1)
        self.setCentralItem(self._frame)

    def add_beside(self, item: QGraphicsLayoutItem) -> None:
        """Give *item* the room it needs on the right of the box."""
        self._grid.addItem(item, *_BESIDE)

    def resizeEvent(self, ev: QResizeEvent | None) -> None:
        """Qt: notify what places names."""
        super().resizeEvent(ev)
        self.resized.emit()

    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        """Qt: report where the pointer is while no button is held."""
        super().mouseMoveEvent(ev)
        if not ev.buttons():
            self.moved.emit(ev.position())

    def leaveEvent(self, ev: Any) -> None:
        """Qt: report that the pointer left."""
        super().leaveEvent(ev)
        self.left.emit()

    def keyPressEvent(self, ev: QKeyEvent) -> None:
        """Qt: leave keys to the panel."""
        ev.ignore()
