"""Bars below numbers: a bar behind one would end inside its digits."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.tints import line_tint

ShareRole: Final = Qt.ItemDataRole.UserRole + 1
_HIGH: Final = 4  # pixels


def bar_below(cell: QRectF, share: float, high: int = _HIGH) -> QRectF:
    """Return the bar for *share* (0 to 1), *high* pixels at the foot of a *cell*."""
    width = max(1.0, (cell.width() - 6) * min(1.0, share))
    return QRectF(cell.left() + 3, cell.bottom() - 1 - high, width, high)


class BarDelegate(QStyledItemDelegate):
    """Draws the text, and below it a bar for the share (0 to 1) in `ShareRole`."""

    def __init__(self, theme: Theme, parent: QObject, colour: str = "idle") -> None:
        super().__init__(parent)
        self._theme, self._role = theme, colour

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt: paint text and bar."""
        super().paint(painter, option, index)
        share = index.data(ShareRole)
        if isinstance(share, int | float) and share > 0:
            painter.fillRect(bar_below(QRectF(option.rect), float(share)), line_tint(self._role, self._theme.name))
