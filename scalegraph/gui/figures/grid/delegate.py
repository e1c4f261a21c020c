"""Paints matrix cells: colour by value, legible text, hatching if the value is missing."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from scalegraph.figures.figure import Cell, Grid
from scalegraph.gui.base.tints import ColourMapName, heat, ink, legible_on, paper, tint
from scalegraph.gui.figures.grid.model import CELL_ROLE, missing, number

_ALL_VALUES_UP_TO = 10  # rows up to which cells show all their values, scrolling if necessary

_BORDERED_FROM = 14  # pixels of a cell: smaller cells have no gap between them
_MEASURED = 400  # cells up to which every number is measured


class Show(Enum):
    """What a cell shows."""

    BOTH = "Both"
    NUMBERS = "Numbers"
    HEAT = "Colours"


class CellPainter(QStyledItemDelegate):
    """Paints `Cell`s. Values that do not fit are omitted from the last on; the tooltip has all."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = "light"
        self.show_what = Show.BOTH
        self.colour_by = 0
        self.limits = (0.0, 1.0)
        self.colour_map: ColourMapName = "viridis"
        self.mark_origin = False
        self.values = 1
        self.texts: set[str] = set()  # numbers that the cells show
        self.rows = 1
        self.font = parent.font()

    def take(self, grid: Grid) -> None:
        """Take the limits and the number of values from *grid*."""
        self.limits = grid.limits
        self.values = max(1, len(grid.value_names))
        self.rows = len(grid.rows)
        shown = [cell for row in grid.cells for cell in row if cell is not None]
        every = shown if len(shown) <= _MEASURED else ()  # otherwise measuring one typical number is enough
        self.texts = {number(value) for cell in every for value in cell.values}
        self.colour_by = min(self.colour_by, self.values - 1)
        self.mark_origin = len({c.origin for row in grid.cells for c in row if c is not None}) > 1

    def needed(self, font: QFont) -> QSize:
        """Set *font* for the numbers; return the cell size needed for everything to be shown."""
        self.font = font
        metrics = QFontMetrics(font)
        if self.show_what is Show.HEAT:
            return QSize(9, 9)
        every = self.show_what is Show.NUMBERS or self.rows <= _ALL_VALUES_UP_TO
        lines = self.values if every else 1
        small = QFontMetrics(_small(self.font)) if lines > 1 else metrics
        return QSize(max(self._widest(small), metrics.horizontalAdvance("0.00")) + 4, lines * _line(small) + 4)

    def _widest(self, metrics: QFontMetrics) -> int:
        """Return the width in pixels of the widest number, in bold."""
        bold = QFontMetrics(_weighted(_small(self.font) if self.values > 1 else self.font, bold=True))
        return max((bold.horizontalAdvance(text) for text in self.texts), default=metrics.horizontalAdvance("0.000"))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt: paint one cell."""
        cell: Cell | None = index.data(CELL_ROLE)
        room: QRect = option.rect
        painter.save()
        if cell is None:
            painter.fillRect(room, paper(self.theme))
        else:
            back = self._background(cell)
            painter.fillRect(room, back)
            value = cell.values[self.colour_by] if self.colour_by < len(cell.values) else None
            if missing(cell):
                painter.fillRect(room, QBrush(tint("muted", self.theme, 0.75), Qt.BrushStyle.BDiagPattern))
            elif value is None or value != value:
                # the colour's value is missing but others exist: faint hatching behind them
                painter.fillRect(room, QBrush(tint("muted", self.theme, 0.22), Qt.BrushStyle.BDiagPattern))
            if not missing(cell) and self.show_what is not Show.HEAT:
                self._numbers(painter, room, cell, legible_on(back))
            if self.mark_origin and room.width() > 24 and cell.origin != "computed":
                self._origin(painter, room, cell, legible_on(back))
            if min(room.width(), room.height()) >= _BORDERED_FROM:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(paper(self.theme), 1))
                painter.drawRect(room.adjusted(0, 0, -1, -1))
        if option.state & QStyle.StateFlag.State_Selected:
            _frame(painter, room, self.theme)
        painter.restore()

    def _background(self, cell: Cell) -> QColor:
        value = cell.values[self.colour_by] if self.colour_by < len(cell.values) else None
        if self.show_what is Show.NUMBERS or value is None or value != value:
            return paper(self.theme).darker(104) if self.theme == "light" else paper(self.theme).lighter(125)
        low, high = self.limits
        return heat((value - low) / (high - low) if high > low else 0.5, self.colour_map)

    def _numbers(self, painter: QPainter, room: QRect, cell: Cell, colour: QColor) -> None:
        if self.colour_by >= len(cell.values):
            return
        font = self.font
        texts = [number(value) for value in cell.values]
        painter.setPen(colour)
        centre = int(Qt.AlignmentFlag.AlignCenter)
        metrics = QFontMetrics(font)
        slashed = " / ".join(texts)
        flat = metrics.horizontalAdvance(slashed) + 6 <= room.width()
        wide = max(map(QFontMetrics(_weighted(font, bold=True)).horizontalAdvance, texts)) > room.width() - 2
        if (wide or room.height() < len(texts) * _line(metrics) + 2) and not flat:
            font = _small(font)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        height = _line(metrics)
        if room.height() >= len(texts) * height + 2:
            top = room.top() + (room.height() - len(texts) * height) // 2
            for i, text in enumerate(texts):
                painter.setFont(_weighted(font, bold=i == self.colour_by and len(texts) > 1))
                painter.drawText(QRect(room.left(), top + i * height, room.width(), height), centre, text)
        elif flat and room.height() >= height:
            painter.drawText(room, centre, slashed)
        elif room.height() >= height - 2 and metrics.horizontalAdvance(texts[self.colour_by]) <= room.width() - 2:
            painter.drawText(room, centre, texts[self.colour_by])

    def _origin(self, painter: QPainter, room: QRect, cell: Cell, colour: QColor) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(colour, 1.2)
        if cell.origin == "predicted":
            pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            painter.drawRect(QRectF(room).adjusted(3, 3, -4, -4))
            return
        painter.setPen(pen)
        painter.setBrush(colour if cell.origin in ("measured", "imported") else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QRectF(room.right() - 9, room.top() + 4, 5, 5))


def _small(font: QFont) -> QFont:
    made = QFont(font)
    made.setPointSizeF(max(7.0, 0.8 * font.pointSizeF()) if font.pointSizeF() > 0 else 8.0)
    return made


def _line(metrics: QFontMetrics) -> int:
    """Return the line height: digits have no descenders, so lines can be closer."""
    return metrics.ascent() + 1


def _weighted(font: QFont, *, bold: bool) -> QFont:
    made = QFont(font)
    made.setBold(bold)
    return made


def _frame(painter: QPainter, room: QRect, theme: str) -> None:
    """Draw a frame visible on every colour: background colour outside, text colour inside."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inner = QRectF(room).adjusted(1.5, 1.5, -1.5, -1.5)
    painter.setPen(QPen(paper(theme), 3.4))
    painter.drawRect(inner)
    painter.setPen(QPen(ink(theme), 2))
    painter.drawRect(inner)
