"""A read-only text with line numbers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget


class NumberedText(QPlainTextEdit):
    """A read-only text. *numbers* are the original's line numbers, empty for inserted lines."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "mono")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._numbers: tuple[str, ...] = ()
        self._margin = _Margin(self)
        self.updateRequest.connect(self._scrolled)

    def show_text(self, text: str, numbers: Sequence[str]) -> None:
        """Show *text* with *numbers* beside its lines."""
        self._numbers = tuple(numbers)
        self.setPlainText(text)
        self.setViewportMargins(self.margin_width(), 0, 0, 0)
        self._margin.update()

    def margin_width(self) -> int:
        """Return the width of the line numbers in pixels."""
        digits = max((len(number) for number in self._numbers), default=1)
        return self.fontMetrics().horizontalAdvance("0") * (digits + 2)

    def paint_margin(self, painter: QPainter, area: QRect) -> None:
        """Draw the line numbers within *area*; called by the margin."""
        painter.setPen(self.palette().color(self.palette().ColorRole.PlaceholderText))
        block = self.firstVisibleBlock()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > area.bottom():
                break
            number = self._numbers[block.blockNumber()] if block.blockNumber() < len(self._numbers) else ""
            box = QRect(0, round(place.top()), self._margin.width() - 8, round(place.height()))
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
            block = block.next()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: move the line numbers with the text."""
        super().resizeEvent(event)
        inside = self.contentsRect()
        self._margin.setGeometry(QRect(inside.left(), inside.top(), self.margin_width(), inside.height()))

    def _scrolled(self, area: QRect, pixels: int) -> None:
        if pixels:
            self._margin.scroll(0, pixels)
        else:
            self._margin.update(0, area.y(), self._margin.width(), area.height())
        inside = self.contentsRect()
        self._margin.setGeometry(QRect(inside.left(), inside.top(), self.margin_width(), inside.height()))


class _Margin(QWidget):
    def __init__(self, text: NumberedText) -> None:
        super().__init__(text)
        self._text = text

    def sizeHint(self) -> QSize:
        return QSize(self._text.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._text.font())
        self._text.paint_margin(painter, event.rect())
