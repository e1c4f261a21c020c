"""Names in narrow columns: what distinguishes them from their neighbours, the place in the source, is kept."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

# The place is written in three ways: a file and line in brackets, a line in brackets, a line after a colon.
_PLACED: Final = re.compile(r"(?P<name>.*\S) \((?P<place>\S+:\d+|line \d+)\)|(?P<called>.*\S)(?P<line>:\d+)")


def place_first(name: str) -> str:
    """Return *name* with its place in the source before it (``billiard.c:88 barrier simulate``), if it ends in one."""
    found = _PLACED.fullmatch(name)
    if found is None:
        return name
    return f"{found['place'] or found['line']} {found['name'] or found['called']}"


def fitted(name: str, metrics: QFontMetrics, room: int) -> str:
    """Return *name* if it has *room* (pixels), else its place in the source and as much of the name as fits."""
    if metrics.horizontalAdvance(name) <= room:
        return name
    return metrics.elidedText(place_first(name), Qt.TextElideMode.ElideRight, max(room, 0))


def fit(option: QStyleOptionViewItem) -> None:
    """Fit the text of *option*, an item of a table or tree, into its rectangle."""
    if option.rect.isEmpty():
        return  # it is asked how much room the whole text takes
    style = option.widget.style()
    room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, option.widget) + 1
    option.text = fitted(option.text, option.fontMetrics, room.width() - 2 * margin)


class NameDelegate(QStyledItemDelegate):
    """Paints the names of a column as `fitted` says."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Qt: what is painted."""
        super().initStyleOption(option, index)
        fit(option)
