"""Elides names in narrow columns but keeps the source location at their end, which tells them apart."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

# Three forms of a source location: "(file:line)", "(line N)", ":line".
_PLACED: Final = re.compile(r"(?P<name>.*\S)(?P<place> \(\S+:\d+\)| \(line \d+\)|:\d+)")

_CALL_PATH: Final = re.compile(r"[\w ]+(?::\d+)?->[^\[\];=&*]+")  # not the C operator in a source line


def fitted(name: str, metrics: QFontMetrics, room: int) -> str:
    """Return *name* if it fits into *room* (pixels), otherwise with its middle elided.

    A source location at its end is kept whole if at least part of the name fits beside it. A call path loses its first
    callers: the last region tells it from others.
    """
    if metrics.horizontalAdvance(name) <= room:
        return name
    if _CALL_PATH.fullmatch(name) is not None:
        regions = name.split("->")
        for first in range(1, len(regions)):
            short = "…" + "->".join(regions[first:])
            if metrics.horizontalAdvance(short) < room:  # a width is rounded
                return short
        name = regions[-1]
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
    """Elide the text of *option*, a table or tree item, to fit its rectangle."""
    if option.rect.isEmpty():
        return  # the style measures the whole text here
    style = option.widget.style()
    room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, option.widget) + 1
    width = room.width() - 2 * margin
    if option.fontMetrics.horizontalAdvance(option.text) < width:
        return
    if QFontMetricsF(option.font).horizontalAdvance(option.text) > width:
        # one pixel less: widths are rounded, and Qt would elide once more what is a fraction too wide
        option.text = fitted(option.text, option.fontMetrics, width - 1)


class NameDelegate(QStyledItemDelegate):
    """Paints the names of a column, elided by `fitted`."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Qt: set the elided text."""
        super().initStyleOption(option, index)
        fit(option)
