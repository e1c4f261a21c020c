"""Bars below the numbers of a table."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from scalegraph.gui.base.fitted_names import fit
from scalegraph.gui.base.style import PAPERS
from scalegraph.gui.base.tints import line_tint
from scalegraph.gui.base.widgets import elided
from scalegraph.gui.figures.region_bar import bar_below
from scalegraph.gui.figures.table.model import BAR_ROLE, FAULT_ROLE, SHARE_ROLE

BAR = 16  # pixels of a scroll bar, with some margin
_LINES = 3  # maximum lines of a sentence
_SIDES = 10  # pixels that a style leaves on both sides of a text
_KEPT = 4000  # sizes of sentences
_WRAP = int(Qt.TextFlag.TextWordWrap)


def room_for(text: int, *, bar: bool) -> int:
    """Return the width of a cell whose text is *text* pixels wide, with a *bar* below it or not."""
    return text + _SIDES + (30 if bar else 8)


class BarDelegate(QStyledItemDelegate):
    """Draws a number above its bar, which is scaled to the column's largest value."""

    theme = "light"
    sentences: frozenset[int] = frozenset()  # columns whose texts may wrap

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heights: dict[int, int] = {}  # pixels of a one-line cell, by font height
        self._sizes: dict[tuple[str, int, int], QSize] = {}  # of sentences, by text, room and font height

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt: paint bar and number."""
        role, share = index.data(BAR_ROLE), index.data(SHARE_ROLE)
        if index.data(FAULT_ROLE):
            painter.fillRect(option.rect, QColor(PAPERS[self.theme].fault_paper))
        super().paint(painter, option, index)
        if role and share is not None and share > 0:  # after the style, which paints the selection
            painter.fillRect(bar_below(QRectF(option.rect), share), line_tint(role, self.theme))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Qt: return a little more than the text's size, which keeps bars of neighbouring rows apart."""
        if index.column() in self.sentences and isinstance(view := option.widget, QTreeView):
            room = view.columnWidth(index.column()) - _SIDES - BAR
            return self._wrapped(str(index.data()), option.fontMetrics, room)
        metrics = option.fontMetrics
        if (height := self._heights.get(metrics.height())) is None:
            # cached: Qt asks for every cell of rows of different height, and otherwise for one row's cells at every
            # polish; each time it would compute everything needed to paint them
            height = max(super().sizeHint(option, index).height(), metrics.height() + 7)
            self._heights[metrics.height()] = height
        width = metrics.horizontalAdvance(str(index.data()))
        return QSize(room_for(width, bar=bool(index.data(BAR_ROLE))), height)

    def _wrapped(self, text: str, metrics: QFontMetrics, room: int) -> QSize:
        """Return the size of a sentence in *room* pixels. Cached: Qt asks several times for each size of the table."""
        key = text, room, metrics.height()
        if key not in self._sizes:
            if len(self._sizes) >= _KEPT:
                self._sizes.clear()
            box = metrics.boundingRect(QRect(0, 0, room, 10_000), _WRAP, elided(text, metrics, room, _LINES))
            self._sizes[key] = QSize(box.width() + _SIDES, box.height() + 7)
        return self._sizes[key]

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Qt: elide long names at the end, after shortening their middle before a source location."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight
        if index.data(FAULT_ROLE):
            option.palette.setColor(QPalette.ColorRole.Text, QColor(PAPERS[self.theme].fault))
            option.font.setBold(True)
        if index.column() not in self.sentences:
            fit(option)
        elif not option.rect.isEmpty():
            option.features |= QStyleOptionViewItem.ViewItemFeature.WrapText
            option.text = elided(option.text, option.fontMetrics, option.rect.width() - _SIDES, _LINES)
