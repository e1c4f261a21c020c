"""Tooltips of the whole application: at most 360 pixels wide, wrapped, beside the item they explain."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QHelpEvent, QTextDocument
from PySide6.QtGui import Qt as TextFormats
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QMenu, QTabBar, QToolTip, QWidget

from scalegraph.gui.base.combo import ElidedCombo

WIDEST: Final = 360  # pixels
_FRAME: Final = 24  # pixels of the width for border and padding
_CURSOR: Final = 16  # pixels that Qt leaves for the pointer below the given position
_LOW: Final = 60  # pixels: at most this high, a widget has its tooltip below itself, not below the pointer


def bounded(text: str) -> str:
    """Return *text*, plain or rich, as rich text that is at most `WIDEST` pixels wide in a tooltip."""
    if not text:
        return ""
    html = text if TextFormats.mightBeRichText(text) else f"<div style='white-space:pre-wrap'>{escape(text)}</div>"
    document = QTextDocument()
    document.setDefaultFont(QToolTip.font())
    document.setHtml(html)
    room = WIDEST - _FRAME
    if document.idealWidth() <= room:
        return html
    return f"<table width='{room}' cellpadding='0' cellspacing='0'><tr><td>{_breakable(html)}</td></tr></table>"


def show(at: QPoint, text: str, widget: QWidget) -> None:
    """Show *text* beside the screen position *at*; an empty text hides the tooltip."""
    QToolTip.showText(at, bounded(text), widget)


class Tips(QObject):
    """Shows the tooltips of all widgets, item views, headers, tabs and menus at most `WIDEST` pixels wide."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: handle requests for tooltips and pass everything else on."""
        if not isinstance(event, QHelpEvent) or not isinstance(watched, QWidget):
            return False
        if event.type() != QEvent.Type.ToolTip:
            return False
        text, about = told(watched, event.pos())
        if not text:
            return False
        at = QPoint(event.globalPos())
        if about is not None and about.height() <= _LOW:
            at.setY(watched.mapToGlobal(about.bottomLeft()).y() - _CURSOR)
        show(at, text, watched)
        return True


class Application(QApplication):
    """An application whose tooltips are shown by `Tips`.

    Qt requests a tooltip within a timer event of the application, so the filter is installed only during such events. A
    permanent filter would see every event of every widget; that took a seventh of the window's time.
    """

    def __init__(self, words: list[str]) -> None:
        super().__init__(words)
        self._tips = Tips(self)

    def event(self, event: QEvent) -> bool:
        """Qt: handle an event of the application itself."""
        if event.type() != QEvent.Type.Timer:
            return super().event(event)
        self.installEventFilter(self._tips)
        try:
            return super().event(event)
        finally:
            self.removeEventFilter(self._tips)


def told(widget: QWidget, at: QPoint) -> tuple[str, QRect | None]:
    """Return the tooltip of the item at position *at* in *widget*, and the rectangle of that item."""
    parent = widget.parent()
    role = Qt.ItemDataRole.ToolTipRole
    if isinstance(parent, QHeaderView) and parent.viewport() is widget and parent.model() is not None:
        section = parent.logicalIndexAt(at)
        if section >= 0:
            return str(parent.model().headerData(section, parent.orientation(), role) or ""), widget.rect()
    elif isinstance(parent, QAbstractItemView) and parent.viewport() is widget:
        index = parent.indexAt(at)
        if index.isValid():
            return str(index.data(role) or ""), parent.visualRect(index)
    elif isinstance(widget, QTabBar):
        tab = widget.tabAt(at)
        if tab >= 0:
            return widget.tabToolTip(tab) or _whole_name(widget, tab), widget.tabRect(tab)
    elif isinstance(widget, QMenu):
        action = widget.actionAt(at)
        return (action.toolTip() if action is not None and widget.toolTipsVisible() else ""), None
    return (widget.tip() if isinstance(widget, ElidedCombo) else widget.toolTip()), widget.rect()


def _whole_name(bar: QTabBar, tab: int) -> str:
    """Return the full name of a tab whose text is elided."""
    text = bar.tabText(tab)
    return text if bar.fontMetrics().horizontalAdvance(text) > bar.tabRect(tab).width() - 20 else ""


def _breakable(html: str) -> str:
    """Return *html* with places where lines may break."""
    return re.sub(r"white-space:\s*pre(?=['\";])", "white-space:pre-wrap", html)
