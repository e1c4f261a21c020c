"""The columns left of the source: costs with bars, and line numbers."""

from __future__ import annotations

import math
import textwrap

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from scalegraph.base.measures import Measure, exact, measure
from scalegraph.figures.figure import Source, SourceLine
from scalegraph.gui.base import tips
from scalegraph.gui.base.tints import ink, line_tint, paper, tint
from scalegraph.gui.figures.plot.targets import rich
from scalegraph.gui.figures.region_bar import bar_below

_PAD = 8
_LETTERS = 12  # of a line of a heading: the width is for the source
_HIGH = 3  # pixels of a bar below a number: lines of text are low


class Margin(QWidget):
    """Paints the margin of *editor*'s visible lines; `MarginHead` paints its heading."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._lines: tuple[SourceLine, ...] = ()
        self._measures: list[Measure] = []
        self._largest: list[float] = []
        self._source = Source("", (), ())
        self._most = 10_000  # pixels for the cost columns
        self._widths: tuple[object, list[int]] = (None, [])  # cache: what was measured, and the widths
        self.theme = "light"
        self.setMouseTracking(True)

    def show_source(self, source: Source) -> None:
        """Take the lines and costs of *source*."""
        self._source, self._lines = source, source.lines
        self._measures, self._largest = [], []
        self._widths = (None, [])
        for i, column in enumerate(source.columns):
            values = [line.values[i] for line in source.lines if i < len(line.values)]
            self._measures.append(measure(values, column.unit))
            finite = [abs(v) for v in values if v is not None and math.isfinite(v)]
            self._largest.append(max(finite, default=0.0))
        self.update()

    def headings(self) -> list[str]:
        """Return names and units of the cost columns."""
        pairs = zip(self._measures, self._source.columns, strict=True)
        return ["\n".join(_wrapped(how.heading(column.name))) for how, column in pairs]

    def make_room(self, most: int) -> None:
        """Show the cost columns that fit into *most* pixels; the tooltip has all."""
        if most != self._most:
            self._most = most
            self.updateGeometry()
            self.update()

    def widths(self) -> list[int]:
        """Return the widths in pixels of the cost columns and the line numbers."""
        outside = self._editor.parentWidget()
        fonts = (self.font(), outside.font() if outside is not None else self.font())
        measured_for = (self._most, *(font.toString() for font in fonts))
        if measured_for != self._widths[0]:  # the editor asks for them at every line it highlights
            self._widths = (measured_for, self._measured(*map(QFontMetrics, fonts)))
        return self._widths[1]

    def _measured(self, metrics: QFontMetrics, head: QFontMetrics) -> list[int]:
        widths: list[int] = []
        for i, heading in enumerate(self.headings()):
            texts = [self._measures[i].number(self._largest[i]), "0.000"]
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            width = max(widest, *(head.horizontalAdvance(text) for text in heading.split("\n"))) + 2 * _PAD
            if widths and sum(widths) + width > self._most:
                break
            widths.append(width)
        last = max((line.number for line in self._lines), default=1)
        widths.append(metrics.horizontalAdvance(str(last)) + 2 * _PAD)
        return widths

    def sizeHint(self) -> QSize:
        """Qt: return the width of all columns."""
        return QSize(sum(self.widths()), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt: draw the visible lines."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), paper(self.theme).darker(103) if self.theme == "light" else paper(self.theme))
        widths = self.widths()
        block = self._editor.firstVisibleBlock()
        offset = self._editor.contentOffset()
        while block.isValid():
            room = self._editor.blockBoundingGeometry(block).translated(offset)
            if room.top() > event.rect().bottom():
                break
            if block.isVisible() and block.blockNumber() < len(self._lines):
                self._line(painter, self._lines[block.blockNumber()], widths, int(room.top()), int(room.height()))
            block = block.next()
        painter.setPen(tint("grid", self.theme, 0.5))
        painter.drawLine(self.width() - 1, 0, self.width() - 1, self.height())

    def _line(self, painter: QPainter, line: SourceLine, widths: list[int], top: int, height: int) -> None:
        left = 0
        right_middle = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for i, width in enumerate(widths[:-1]):
            value = line.values[i] if i < len(line.values) else None
            if value is not None and not math.isnan(value):
                if self._largest[i] > 0 and value != 0:
                    bar = bar_below(QRectF(left, top, width, height), abs(value) / self._largest[i], _HIGH)
                    painter.fillRect(bar, line_tint(self._source.columns[i].bar_role or "time", self.theme))
                painter.setPen(ink(self.theme))
                text = self._measures[i].number(value)
                painter.drawText(QRect(left, top, width - _PAD, height), right_middle, text)
            left += width
        painter.setPen(tint("muted", self.theme))
        painter.drawText(QRect(left, top, widths[-1] - _PAD, height), right_middle, str(line.number))

    def line_at(self, at: QPoint) -> SourceLine | None:
        """Return the line at the point *at*."""
        cursor = self._editor.cursorForPosition(QPoint(2, at.y()))
        number = cursor.blockNumber()
        return self._lines[number] if number < len(self._lines) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: show exact values."""
        line = self.line_at(event.position().toPoint())
        if line is None or not line.values:
            QToolTip.hideText()
            return
        pairs = zip(self._source.columns, line.values, strict=False)
        text = "\n".join(f"{column.name}: {exact(value, column.unit)}" for column, value in pairs)
        where = f"{self._source.file}:{line.number}"
        tips.show(event.globalPosition().toPoint(), rich(where, text), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: treat a click here like a click on the line."""
        self._editor.setTextCursor(self._editor.cursorForPosition(QPoint(2, event.position().toPoint().y())))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: scroll the text."""
        self._editor.verticalScrollBar().event(event)


class MarginHead(QWidget):
    """The headings of the margin's columns."""

    def __init__(self, margin: Margin, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._margin = margin

    def sizeHint(self) -> QSize:
        """Qt: return the height of the longest heading, wrapped."""
        many = 1 + max((name.count("\n") for name in self._margin.headings()), default=0)
        return QSize(self._margin.sizeHint().width(), many * self.fontMetrics().height() + 6)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw the headings."""
        painter = QPainter(self)
        painter.setFont(QFont(self.font()))
        painter.setPen(self.palette().windowText().color())
        left = 0
        names = self._margin.headings()
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
        for name, width in zip(names, self._margin.widths()[:-1], strict=False):
            painter.drawText(QRect(left, 0, width - _PAD, self.height() - 3), flags, name)
            left += width


def _wrapped(heading: str) -> list[str]:
    return textwrap.wrap(heading, _LETTERS, break_long_words=False, break_on_hyphens=False)
