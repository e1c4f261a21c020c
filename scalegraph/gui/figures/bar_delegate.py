"""Bars behind the numbers of a table."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from scalegraph.gui.base.fitted_names import fit
from scalegraph.gui.base.tints import bar_tint, tint
from scalegraph.gui.base.widgets import elided
from scalegraph.gui.figures.table.model import BAR_ROLE, SHARE_ROLE

BAR = 16  # pixels of a scroll bar, and more
_DENSE = 0.34  # share of its colour that a bar behind a number has at most
_LINES = 3  # of a sentence, at most
_SIDES = 10  # pixels that a style leaves beside a text, left and right
_WRAP = int(Qt.TextFlag.TextWordWrap)


def room_for(text: int, *, bar: bool) -> int:
    """Return the pixels of a cell whose text is *text* pixels wide, with a *bar* behind it or without."""
    return text + _SIDES + (30 if bar else 8)


class BarDelegate(QStyledItemDelegate):
    """Draws a bar as long as the cell's share of the column's largest value, and the number on top."""

    theme = "light"
    sentences: frozenset[int] = frozenset()  # columns whose texts have several lines

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._heights: dict[int, int] = {}  # pixels of a cell of one line, by the height of its font

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint bar and number."""
        role, share = index.data(BAR_ROLE), index.data(SHARE_ROLE)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if role and share is not None:
            # while the row is selected the style paints over the bar, so the bar moves to the foot of the cell
            super().paint(painter, option, index) if selected else None
            self._bar(painter, QRectF(option.rect), role, share, foot=selected)
            if selected:
                return
        super().paint(painter, option, index)

    def _bar(self, painter: QPainter, room: QRectF, role: str, share: float, *, foot: bool) -> None:
        room = room.adjusted(3, 2, -3, -2)
        width = max(1.0, room.width() * share) if share > 0 else 0.0
        if foot:
            room.setTop(room.bottom() - 3)
        bar = QRectF(room.left(), room.top(), width, room.height())
        painter.fillRect(bar, tint(role, self.theme) if foot else bar_tint(role, self.theme, _DENSE))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Take a little more than the text, so that bars of neighbouring rows stay apart."""
        if index.column() in self.sentences and isinstance(view := option.widget, QTreeView):
            room = view.columnWidth(index.column()) - _SIDES - BAR
            lines = elided(str(index.data()), option.fontMetrics, room, _LINES)
            box = option.fontMetrics.boundingRect(QRect(0, 0, room, 10_000), _WRAP, lines)
            return QSize(box.width() + _SIDES, box.height() + 7)
        metrics = option.fontMetrics
        if (height := self._heights.get(metrics.height())) is None:
            # Qt requests every cell of rows that differ in height, and at every polish the cells of a row where they
            # do not; it would work out all that they are painted with each time
            height = max(super().sizeHint(option, index).height(), metrics.height() + 7)
            self._heights[metrics.height()] = height
        width = metrics.horizontalAdvance(str(index.data()))
        return QSize(room_for(width, bar=bool(index.data(BAR_ROLE))), height)

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Long names are cut at their end, with the place in the source first."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight
        if index.column() not in self.sentences:
            fit(option)
        elif not option.rect.isEmpty():
            option.features |= QStyleOptionViewItem.ViewItemFeature.WrapText
            option.text = elided(option.text, option.fontMetrics, option.rect.width() - _SIDES, _LINES)
