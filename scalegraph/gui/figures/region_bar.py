"""A bar behind a number in a tree that shows its share of the whole."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.tints import bar_tint

ShareRole: Final = Qt.ItemDataRole.UserRole + 1


class BarDelegate(QStyledItemDelegate):
    """Draws a bar for the share (0 to 1) in `ShareRole`, then the text."""

    def __init__(self, theme: Theme, parent: QObject, colour: str = "idle") -> None:
        super().__init__(parent)
        self._theme, self._role = theme, colour

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt: paint bar and text."""
        share = index.data(ShareRole)
        if isinstance(share, int | float) and share > 0:
            area = QRectF(option.rect).adjusted(4, 3, -3, -3)
            area.setLeft(area.right() - area.width() * min(1.0, float(share)))
            if not option.state & QStyle.StateFlag.State_Selected:
                painter.fillRect(area, bar_tint(self._role, self._theme.name))
        super().paint(painter, option, index)
