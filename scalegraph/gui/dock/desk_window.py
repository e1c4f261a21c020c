"""The inner window that holds the views of one study."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHoverEvent, QMouseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar, QTabWidget

_OUTSIDE = QPointF(-1.0, -1.0)


def tend_tabs(window: QMainWindow, name: str) -> None:
    """Name the tab bars of *window*'s docks, and let Tab skip the empty ones, which Qt keeps out of sight."""
    for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
        bar.setAccessibleName(name)
        bar.setFocusPolicy(Qt.FocusPolicy.TabFocus if bar.count() else Qt.FocusPolicy.NoFocus)


class DeskWindow(QMainWindow):
    """Places docks. Before any change of places it releases the splitter between docks.

    Qt stores the splitter under the pointer, and the dragged one, as a path through its tree of docks. If a key or
    command rearranges the docks in the meantime, the next pointer move follows the outdated path and the program ends
    with a segmentation fault.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockNestingEnabled(True)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)

    def let_go(self) -> None:
        """Make Qt forget the splitter that the pointer is over or drags."""
        left = Qt.MouseButton.LeftButton
        if QGuiApplication.mouseButtons() & left:
            none, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
            release = QMouseEvent(QEvent.Type.MouseButtonRelease, _OUTSIDE, _OUTSIDE, _OUTSIDE, left, none, keys)
            QCoreApplication.sendEvent(self, release)
        leave = QHoverEvent(QEvent.Type.HoverLeave, _OUTSIDE, _OUTSIDE, _OUTSIDE)
        QCoreApplication.sendEvent(self, leave)

    def event(self, event: QEvent) -> bool:
        """Qt: name new tab bars, see `tend_tabs`."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            tend_tabs(self, "Views in this place")
        return done

    def settle(self) -> None:
        """Lay out the docks now, so that Qt hides the tab bars of docks that were removed."""
        layout = self.layout()
        if layout is not None:
            layout.activate()

    def addDockWidget(self, *place: Any) -> None:
        """Qt: add a dock."""
        self.let_go()
        super().addDockWidget(*place)

    def removeDockWidget(self, dockwidget: QDockWidget) -> None:
        """Qt: remove a dock."""
        self.let_go()
        super().removeDockWidget(dockwidget)

    def splitDockWidget(self, after: QDockWidget, dockwidget: QDockWidget, orientation: Qt.Orientation) -> None:
        """Qt: place a dock beside another."""
        self.let_go()
        super().splitDockWidget(after, dockwidget, orientation)

    def tabifyDockWidget(self, first: QDockWidget, second: QDockWidget) -> None:
        """Qt: place a dock behind another."""
        self.let_go()
        super().tabifyDockWidget(first, second)

    def restoreState(self, *state: Any) -> bool:
        """Qt: restore saved places."""
        self.let_go()
        return super().restoreState(*state)
