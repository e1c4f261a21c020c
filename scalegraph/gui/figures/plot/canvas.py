"""A plot's canvas: its zoom box with a left and a bottom axis."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QGraphicsLayoutItem, QGraphicsWidget

_LEFT, _MIDDLE, _BELOW = (2, 0), (2, 1), (3, 1)  # rows and columns
_BESIDE = (2, 3)


class Canvas(pg.GraphicsView):  # type: ignore[misc]
    """Passes pointer events on before pyqtgraph sees them.

    `pyqtgraph.PlotWidget` would do the same but creates some fifty widgets and seven menus per plot, for dialogs that
    cannot be opened here; they took most of the time to create a plot.
    """

    moved = Signal(QPointF)
    left = Signal()
    resized = Signal()

    def __init__(self, box: pg.ViewBox, left: pg.AxisItem, below: pg.AxisItem) -> None:
        super().__init__(background=None)
        self.enableMouse(False)
        self._frame = QGraphicsWidget()
        self._grid = grid = QGraphicsGridLayout(self._frame)
        grid.setContentsMargins(1, 6, 1, 1)  # half of the top tick's text extends above the plot
        grid.setSpacing(0)
        grid.addItem(box, *_MIDDLE)
        for axis, place in ((left, _LEFT), (below, _BELOW)):
            axis.linkToView(box)
            grid.addItem(axis, *place)
            axis.setZValue(0.5)  # above pictures, below items drawn over axes
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
        for row in range(4):
            grid.setRowStretchFactor(row, 100 if row == _MIDDLE[0] else 1)
        for column in range(3):
            grid.setColumnStretchFactor(column, 100 if column == _MIDDLE[1] else 1)
        self.setCentralItem(self._frame)

    def add_beside(self, item: QGraphicsLayoutItem) -> None:
        """Add *item* on the right of the box, with the width it needs."""
        self._grid.addItem(item, *_BESIDE)

    def resizeEvent(self, ev: QResizeEvent | None) -> None:
        """Qt: emit that names must be placed again."""
        super().resizeEvent(ev)
        self.resized.emit()

    def mouseMoveEvent(self, ev: QMouseEvent) -> None:
        """Qt: report the pointer's position while no button is held."""
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
