"""The inner window that holds the views of one study."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHoverEvent, QMouseEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget

_OUTSIDE = QPointF(-1.0, -1.0)


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
