"""Names in narrow columns: what distinguishes them from their neighbours, the place in the source, is kept."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

# The place is written in three ways: a file and line in brackets, a line in brackets, a line after a colon.
_PLACED: Final = re.compile(r"(?P<name>.*\S)(?P<place> \(\S+:\d+\)| \(line \d+\)|:\d+)")


def fitted(name: str, metrics: QFontMetrics, room: int) -> str:
    """Return *name* if it has *room* (pixels), else what fits of it without its middle.

    The place in the source, if it ends in one, is whole as long as a part of the name has room beside it.
    """
    if metrics.horizontalAdvance(name) <= room:
        return name
    found = _PLACED.fullmatch(name)
    if found is not None:
        left = room - metrics.horizontalAdvance(found["place"])
        if left >= metrics.horizontalAdvance("m…"):
            return metrics.elidedText(found["name"], Qt.TextElideMode.ElideRight, left) + found["place"]
        name = found["place"].strip(" ()")
        if metrics.horizontalAdvance(name) <= room:
            return name
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, max(room, 0))


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
