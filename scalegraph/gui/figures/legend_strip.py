"""The legend above a plot, for names that do not fit at the curves, and the meaning of markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

Shape = Literal["line", "dashed", "bar", "hollow", "filled", "diamond", "cross"]
_SWATCH = 20
_SPACE = 10


@dataclass(frozen=True)
class LegendEntry:
    """One legend entry: a sign of *shape* in *colour*, and its *text*.

    *size* is its share of the picture: if not all entries fit, the largest are kept.
    """

    text: str
    colour: QColor
    shape: Shape
    size: float = 0.0


class LegendStrip(QWidget):
    """Entries that wrap into as many rows as needed; hidden if there are none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._given: list[LegendEntry] = []
        self._entries: list[LegendEntry] = []  # in display order
        self._most_rows = 100
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_entries(self, entries: Sequence[LegendEntry]) -> None:
        """Show *entries*."""
        self._given = self._entries = list(entries)
        self.setVisible(bool(entries))
        self.setAccessibleName("Legend: " + ", ".join(entry.text for entry in entries))
        self._settle()
        self.update()

    def entries(self) -> list[LegendEntry]:
        """Return the entries shown."""
        return list(self._entries)

    def texts(self) -> list[str]:
        """Return the texts shown."""
        return [entry.text for entry in self._entries]

    def allow(self, height: int) -> None:
        """Use at most *height* pixels; entries that do not fit are counted, and listed in the tooltip."""
        rows = max(1, height // self._row())
        if rows != self._most_rows:
            self._most_rows = rows
            self._settle()
            self.update()

    def wanted_width(self, entries: Sequence[LegendEntry]) -> int:
        """Return the width in pixels of *entries* in one row."""
        metrics = self.fontMetrics()
        return sum(_SWATCH + 5 + metrics.horizontalAdvance(entry.text) + _SPACE for entry in entries) + 8

    def sizeHint(self) -> QSize:
        """Qt: return the height of all rows."""
        return QSize(120, self._height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: wrap again."""
        super().resizeEvent(event)
        self._settle()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw signs and texts."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self._places(self.width())
        if len(places) < len(self._entries):
            last = places[-1]
            painter.setPen(self.palette().windowText().color())
            room = QRect(last.right() + _SPACE, last.y(), self.width() - last.right() - _SPACE, last.height())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self._rest(places))
        for entry, place in zip(self._entries, places, strict=False):
            _draw_sign(painter, entry, QRectF(place.x(), place.y(), _SWATCH, place.height()))
            painter.setPen(self.palette().windowText().color())
            room = place.adjusted(_SWATCH + 5, 0, 0, 0)
            text = self.fontMetrics().elidedText(entry.text, Qt.TextElideMode.ElideRight, room.width() + 2)
            painter.drawText(room.adjusted(0, 0, 4, 0), int(Qt.AlignmentFlag.AlignVCenter), text)

    def _settle(self) -> None:
        self._entries = self._given
        if len(self._places(max(self.width(), 120))) < len(self._given):
            self._entries = sorted(self._given, key=lambda entry: -entry.size)
        if self.height() != self._height():
            self.setFixedHeight(self._height())
        left_out = len(self._places(max(self.width(), 120))) < len(self._entries)
        self.setToolTip("\n".join(self.texts()) if left_out else "")

    def _height(self) -> int:
        places = self._places(max(self.width(), 120))
        return places[-1].bottom() + 3 if places else 0

    def _row(self) -> int:
        return self.fontMetrics().height() + 4

    def _rest(self, places: Sequence[QRect]) -> str:
        return f"… {len(self._entries) - len(places)} more"

    def _places(self, width: int) -> list[QRect]:
        metrics = self.fontMetrics()
        row = self._row()
        x, y = 4, 1
        places: list[QRect] = []
        for entry in self._entries:
            need = min(_SWATCH + 5 + metrics.horizontalAdvance(entry.text), max(60, width - 8))
            if x > 4 and x + need > width - 4:
                x, y = 4, y + row
                if y > (self._most_rows - 1) * row + 1:
                    self._count_rest(places, width)
                    break
            places.append(QRect(x, y, need, row))
            x += need + _SPACE
        return places

    def _count_rest(self, places: list[QRect], width: int) -> None:
        """Shorten *places* to make room for the count of the rest; at least one entry stays."""
        advance = self.fontMetrics().horizontalAdvance
        while len(places) > 1 and places[-1].right() + _SPACE + advance(self._rest(places)) > width:
            places.pop()
        most = width - _SPACE - advance(self._rest(places)) - places[-1].x()
        places[-1].setWidth(max(min(places[-1].width(), most), _SWATCH))


def _draw_sign(painter: QPainter, entry: LegendEntry, room: QRectF) -> None:
    centre = room.center()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    style = Qt.PenStyle.DashLine if entry.shape == "dashed" else Qt.PenStyle.SolidLine
    painter.setPen(QPen(entry.colour, 2, style))
    if entry.shape in ("line", "dashed"):
        painter.drawLine(QPointF(room.left(), centre.y()), QPointF(room.right(), centre.y()))
    elif entry.shape == "bar":
        painter.fillRect(QRectF(centre.x() - 6, centre.y() - 6, 12, 12), entry.colour)
    elif entry.shape == "cross":
        painter.drawLine(centre + QPointF(-4, 0), centre + QPointF(4, 0))
        painter.drawLine(centre + QPointF(0, -4), centre + QPointF(0, 4))
    elif entry.shape == "diamond":
        painter.setBrush(entry.colour)
        painter.drawPolygon([centre + QPointF(*p) for p in ((-5, 0), (0, -5), (5, 0), (0, 5))])
    else:
        if entry.shape == "filled":
            painter.setBrush(entry.colour)
        painter.drawEllipse(centre, 4, 4)
