"""Docks may be rearranged while the pointer is over the splitter between two of them, or drags it."""

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHoverEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDockWidget, QLabel

from scalegraph.gui.dock.desk_window import DeskWindow

LEFT, NONE, PLAIN = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
AREA = Qt.DockWidgetArea.LeftDockWidgetArea


@pytest.fixture
def desk(qtbot: Any) -> DeskWindow:
    """Three docks, two of them below one another."""
    made = DeskWindow()
    qtbot.addWidget(made)
    made.resize(800, 600)
    docks = [QDockWidget(name, made) for name in "abc"]
    for dock in docks:
        dock.setWidget(QLabel(dock.windowTitle()))
    made.addDockWidget(AREA, docks[0])
    made.splitDockWidget(docks[0], docks[1], Qt.Orientation.Horizontal)
    made.splitDockWidget(docks[1], docks[2], Qt.Orientation.Vertical)
    made.show()
    qtbot.waitExposed(made)
    return made


def docks(desk: DeskWindow) -> list[QDockWidget]:
    return desk.findChildren(QDockWidget)


def hover(desk: DeskWindow, at: QPoint) -> None:
    place = QPointF(at)
    event = QHoverEvent(QEvent.Type.HoverMove, place, QPointF(desk.mapToGlobal(at)), QPointF(1, 1))
    QCoreApplication.sendEvent(desk, event)


def line_below_b(desk: DeskWindow) -> QPoint:
    """A point on the splitter between the two docks on the right: the deepest in the tree."""
    box = docks(desk)[1].geometry()
    return QPoint(box.center().x(), box.bottom() + 3)


def rearrange(desk: DeskWindow) -> None:
    for dock in docks(desk):
        desk.removeDockWidget(dock)
    desk.addDockWidget(AREA, docks(desk)[0])
    docks(desk)[0].show()


def test_another_arrangement_forgets_the_line_below_the_pointer(desk: DeskWindow) -> None:
    hover(desk, line_below_b(desk))
    assert desk.cursor().shape() == Qt.CursorShape.SplitVCursor
    rearrange(desk)
    assert desk.cursor().shape() == Qt.CursorShape.ArrowCursor
    hover(desk, QPoint(400, 300))  # where Qt would follow the outdated path


def test_another_arrangement_ends_a_drag_of_the_line(desk: DeskWindow) -> None:
    at = line_below_b(desk)
    hover(desk, at)
    surface = desk.windowHandle()
    QTest.mousePress(surface, LEFT, PLAIN, at)
    rearrange(desk)
    move = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(at), QPointF(at), QPointF(desk.mapToGlobal(at)), NONE, LEFT, PLAIN
    )
    move.ignore()
    QCoreApplication.sendEvent(desk, move)
    assert not move.isAccepted()  # the drag has ended
    QTest.mouseRelease(surface, LEFT, PLAIN, at)
