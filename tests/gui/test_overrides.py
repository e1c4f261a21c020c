"""An exception in a method called by Qt reaches the window's hook or the caller and never ends the program."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import scalegraph.gui
from PySide6.QtCore import QObject, QPoint, Qt, QAbstractTableModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QStyledItemDelegate, QTableView, QWidget
import shiboken6, sys
from typing import Generic, TypeVar

told = []
sys.excepthook = lambda kind, error, trace: told.append(str(error))
application = QApplication([])
gone = QLabel()
shiboken6.delete(gone)
FAULTS = {"gone": lambda: gone.text(), "short": lambda: [][0], "count": lambda: len(5), "own": lambda: 1 / 0}
fail = FAULTS[sys.argv[2]]

class Widget(QWidget):
    def mouseMoveEvent(self, event):
        fail()

class Model(QAbstractTableModel):
    def rowCount(self, parent=None):
        return 2
    def columnCount(self, parent=None):
        return 2
    def data(self, index, role=0):
        fail()

class Delegate(QStyledItemDelegate):
    def sizeHint(self, option, index):
        return super().sizeHint(option, index)

class Kept(QObject, Generic[TypeVar("T")]):
    pass

def point():
    widget = Widget()
    widget.setMouseTracking(True)
    widget.show()
    QTest.mouseMove(widget.windowHandle(), QPoint(5, 5))
    application.processEvents()

def measure():
    view, model = QTableView(), Model()
    view.setModel(model)
    view.setItemDelegate(Delegate(view))
    view.resizeColumnsToContents()

assert Kept[int]
try:
    {"point": point, "measure": measure}[sys.argv[1]]()
except Exception as error:
    told.append(str(error))
print("alive", "and told" if told else "")
import os
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.parametrize("where", ["point", "measure"])
@pytest.mark.parametrize("fault", ["gone", "short", "count", "own"])
def test_a_fault_in_a_method_that_qt_calls_is_told(where: str, fault: str, root: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, where, fault]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "alive and told"
