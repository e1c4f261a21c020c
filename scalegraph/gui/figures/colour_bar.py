"""The colour scale beside a heat map."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from scalegraph.base.units import si, significant
from scalegraph.gui.base.tints import ColourMapName, heat

_BAR = 14


class ColourBar(QWidget):
    """A vertical colour scale with its *label* rotated beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = ""
        self._titled = True
        self._limits = (0.0, 1.0)
        self._map: ColourMapName = "viridis"
        self._given: tuple[tuple[float, str], ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)

    def show_scale(
        self,
        label: str,
        limits: tuple[float, float],
        colour_map: ColourMapName,
        ticks: Sequence[tuple[float, str]] = (),
    ) -> None:
        """Show *colour_map* between *limits*.

        *ticks* are (fraction of the bar from below, text); without them there are five, evenly spaced.
        """
        self._label, self._limits, self._map = label, limits, colour_map
        self._given = tuple(ticks)
        self.setAccessibleName(f"Colour scale of {label} from {si(limits[0])} to {si(limits[1])}")
        self.updateGeometry()
        self.update()

    def show_title(self, on: bool) -> None:
        """Show or hide the label beside the numbers; screen readers have it either way."""
        if self._titled != on:
            self._titled = on
            self.update()

    def sizeHint(self) -> QSize:
        """Qt: return the size of bar, numbers and rotated label."""
        return QSize(self.width_with(title=self._titled), 120)

    def width_with(self, *, title: bool) -> int:
        """Return the width in pixels of bar and numbers, with or without the label."""
        numbers = max(self.fontMetrics().horizontalAdvance(text) for _, text in self._ticks())
        return _BAR + numbers + (self.fontMetrics().height() if title else 0) + (14 if title else 8)

    def _ticks(self) -> list[tuple[float, str]]:
        if self._given:
            return list(self._given)
        low, high = self._limits
        return [(f, significant(low + f * (high - low), 3)) for f in (0.0, 0.25, 0.5, 0.75, 1.0)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw bar, numbers and label."""
        painter = QPainter(self)
        metrics = self.fontMetrics()
        half = metrics.height() / 2
        bar = QRectF(2, half, _BAR, self.height() - 2 * half)
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        for i in range(17):
            gradient.setColorAt(i / 16, heat(i / 16, self._map))
        painter.fillRect(bar, gradient)
        painter.setPen(self.palette().windowText().color())
        ticks = self._ticks()
        if bar.height() < len(ticks) * metrics.height():
            ticks = [ticks[0], ticks[-1]]
        for fraction, text in ticks:
            y = bar.bottom() - fraction * bar.height()
            painter.drawLine(int(bar.right()), round(y), int(bar.right()) + 3, round(y))
            room = QRectF(bar.right() + 6, y - half, 80, 2 * half)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)
        if not self._titled:
            return
        painter.translate(self.width() - metrics.height() - 1, self.height())
        painter.rotate(-90)
        label = metrics.elidedText(self._label, Qt.TextElideMode.ElideRight, self.height())
        painter.drawText(QRectF(0, 0, self.height(), metrics.height()), int(Qt.AlignmentFlag.AlignCenter), label)


class TurnedLabel(QWidget):
    """Text that runs upwards, for a matrix's row label."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)

    def setText(self, text: str) -> None:
        """Show *text*."""
        self._text = text
        self.setAccessibleName(text)
        self.update()

    def sizeHint(self) -> QSize:
        """Qt: return the size of one rotated line."""
        return QSize(self.fontMetrics().height() + 4, 40)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw the rotated text."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        painter.translate(0, self.height())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, self.height(), self.width()), int(Qt.AlignmentFlag.AlignCenter), self._text)
