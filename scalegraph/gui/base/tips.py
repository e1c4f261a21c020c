"""Tooltips of the whole application: at most 360 pixels wide, wrapped, beside what they explain."""

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
_FRAME: Final = 24  # pixels of that for border and padding
_CURSOR: Final = 16  # pixels that Qt leaves below the place it is given, for the pointer
_LOW: Final = 60  # pixels of height of a widget whose tooltip is below it rather than below the pointer


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
    """Show *text* beside the place *at* on the screen; an empty one hides what is shown."""
    QToolTip.showText(at, bounded(text), widget)


class Tips(QObject):
    """Shows the tooltips of all widgets, item views, headers, tabs and menus of the application within `WIDEST`."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: take requests for a tooltip; all else passes."""
        # Every event of every widget comes here: the test of its class costs a tenth of requesting its type.
        if not isinstance(event, QHelpEvent):
            return False
        if event.type() != QEvent.Type.ToolTip or not isinstance(watched, QWidget):
            return False
        text, about = told(watched, event.pos())
        if not text:
            return False
        at = QPoint(event.globalPos())
        if about is not None and about.height() <= _LOW:
            at.setY(watched.mapToGlobal(about.bottomLeft()).y() - _CURSOR)
        show(at, text, watched)
        return True


def told(widget: QWidget, at: QPoint) -> tuple[str, QRect | None]:
    """Return the tooltip of what is *at* a place of *widget*, and the rectangle in it that the tooltip explains."""
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


def install(application: QApplication) -> None:
    """Let *application* show its tooltips so; once is enough."""
    if application.findChild(Tips) is None:
        application.installEventFilter(Tips(application))


def _whole_name(bar: QTabBar, tab: int) -> str:
    """Return the name of a tab that has no room for it."""
    text = bar.tabText(tab)
    return text if bar.fontMetrics().horizontalAdvance(text) > bar.tabRect(tab).width() - 20 else ""


def _breakable(html: str) -> str:
    """Return *html* whose lines may be broken."""
    return re.sub(r"white-space:\s*pre(?=['\";])", "white-space:pre-wrap", html)
