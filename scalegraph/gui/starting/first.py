"""The splash screen; the window is built behind it in turns of the event loop."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QLabel

from scalegraph.gui.base.jobs import Jobs, Reporter

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow

_SIZE: Final = (380, 200)  # pixels of the splash screen
_ICON: Final = 88
_MODULES: Final = ("shell.main_window", "preferences.values", "base.settings", "base.theme", "base.tips")


class Starting(QObject):
    """Shows a splash screen, imports the window's modules in another thread, and builds the window part by part."""

    ready = Signal(object)  # the MainWindow, not shown yet
    failed = Signal(object)  # an Exception

    def __init__(self, settings_file: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings_file = settings_file
        self._window: MainWindow | None = None
        self._jobs = Jobs(self)
        # Qt's own splash screen blocks the thread for up to a second, until the desktop has shown it.
        self.picture = QLabel()
        self.picture.setWindowFlags(Qt.WindowType.SplashScreen | Qt.WindowType.FramelessWindowHint)
        self.picture.setPixmap(_drawn())
        self.picture.resize(*_SIZE)
        room = QGuiApplication.primaryScreen().availableGeometry()
        self.picture.move(room.center() - self.picture.rect().center())

    def begin(self) -> None:
        """Show the splash screen and start; *ready* comes later."""
        self.picture.show()
        self._jobs.start("loading the window", _load, done=lambda _nothing: self._make(), failed=self._fail)

    def end(self) -> None:
        """Hide the splash screen."""
        self.picture.close()
        self.picture.deleteLater()

    def _make(self) -> None:
        from scalegraph.gui.app import make_window

        try:
            self._window = make_window(None, self._settings_file, at_once=False)
        except Exception as error:  # noqa: BLE001 - the program ends with it
            self._fail(error)
            return
        self._window.made.connect(self._made)

    def _made(self, error: Exception | None) -> None:
        if error is not None:
            self._fail(error)
        else:
            self.ready.emit(self._window)

    def _fail(self, error: Exception) -> None:
        self.end()
        self.failed.emit(error)


def _load(_reporter: Reporter) -> None:
    """Import the window's modules; creates no Qt objects."""
    from scalegraph.link.targets import targets

    importlib.import_module("scalegraph.request.run.session")
    for name in _MODULES:
        importlib.import_module(f"scalegraph.gui.{name}")
    targets()  # imports a module for each; the request panel offers them


def _drawn() -> QPixmap:
    """Return the application's icon and name in the desktop's colours."""
    ratio = QGuiApplication.primaryScreen().devicePixelRatio()
    picture = QPixmap(int(_SIZE[0] * ratio), int(_SIZE[1] * ratio))
    picture.setDevicePixelRatio(ratio)
    colours = QGuiApplication.palette()
    picture.fill(colours.color(QPalette.ColorRole.Window))
    painter = QPainter(picture)
    width, height = _SIZE
    QGuiApplication.windowIcon().paint(painter, QRect((width - _ICON) // 2, 24, _ICON, _ICON))
    painter.setPen(colours.color(QPalette.ColorRole.WindowText))
    font = QFont(QGuiApplication.font())
    font.setPointSizeF(1.6 * font.pointSizeF())
    painter.setFont(font)
    painter.drawText(QRect(0, 24 + _ICON, width, 44), Qt.AlignmentFlag.AlignCenter, "ScaleGraph")
    painter.setFont(QGuiApplication.font())
    painter.drawText(QRect(0, height - 40, width, 24), Qt.AlignmentFlag.AlignCenter, "Loading …")
    painter.end()
    return picture
