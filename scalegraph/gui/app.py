"""Starts the window. Checks for a display first, because Qt aborts the process without one."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.errors import MissingTool
from scalegraph.base.host import INSTALL_QT

if TYPE_CHECKING:
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from scalegraph.gui.shell.main_window import MainWindow

_HEADLESS: Final = "use scalegraph demo --headless -o DIR"
_JOIN_MS: Final = 3000
_SWITCH_S: Final = 0.001  # switch interval: lets the window's thread run while another computes
log: Final = logging.getLogger("scalegraph.gui")


def check_display() -> None:
    """Raise `MissingTool`, with a message, if no window can be opened here."""
    if sys.platform.startswith("linux"):
        named = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
        if not named:
            raise MissingTool(f"no display (neither DISPLAY nor WAYLAND_DISPLAY is set): {_HEADLESS}")
    try:
        import PySide6.QtWidgets  # noqa: F401 - searched for, not used
    except ImportError as error:
        raise MissingTool(f"Qt cannot be loaded ({error}); on Debian: {INSTALL_QT}; or {_HEADLESS}") from error
    _check_server()


def _check_server() -> None:
    """Check that an X server or Wayland compositor answers; Qt would abort the process if none does."""
    if os.environ.get("QT_QPA_PLATFORM", "") not in ("", "xcb", "wayland"):
        return
    from scalegraph.gui.base.display import unreachable

    sentence = unreachable(os.environ)
    if sentence:
        raise MissingTool(f"{sentence}: {_HEADLESS}")


def make_application() -> QApplication:
    """Return the application; created once."""
    from PySide6.QtWidgets import QApplication

    found = QApplication.instance()
    if isinstance(found, QApplication):
        return found
    sys.setswitchinterval(_SWITCH_S)
    from scalegraph.gui.base.tips import Application

    application = Application(sys.argv[:1])
    application.setApplicationName("scalegraph")
    application.setApplicationDisplayName("ScaleGraph")
    application.setDesktopFileName("scalegraph")  # share/applications/scalegraph.desktop
    application.setWindowIcon(_icon())
    from scalegraph.gui.base.garbage import Collector

    application.setProperty("collector", Collector(application))
    return application


def fit_on_screen(window: MainWindow, room: QSize) -> None:
    """Shrink *window* to *room*, the free area of its screen, which at 200 % scaling is often too small.

    The window frame's size is unknown until it is shown; a menu bar's height stands in for the title bar.
    """
    from PySide6.QtCore import QSize

    frame = QSize(0, window.menuBar().sizeHint().height())
    window.resize(window.size().boundedTo(room - frame))


def _icon() -> QIcon:
    """Return the application's icon; null if its file is missing."""
    from PySide6.QtGui import QIcon

    from scalegraph.base.resources import resource_dir

    return QIcon(str(resource_dir("icons") / "scalegraph.svg"))


def make_window(session: Any = None, settings_file: Path | None = None, *, at_once: bool = True) -> MainWindow:
    """Return a new window, not yet shown. *settings_file* redirects its settings.

    The parts are built over several turns of the event loop unless *at_once*; `MainWindow.made` signals the end.
    """
    from scalegraph.gui.base import accessible
    from scalegraph.gui.base.settings import Settings
    from scalegraph.gui.base.theme import Theme
    from scalegraph.gui.preferences.values import read
    from scalegraph.gui.shell.main_window import MainWindow

    if session is None:
        from scalegraph.request.run.session import Session

        session = Session()
    make_application()
    accessible.install()
    settings = Settings(settings_file)
    theme = Theme(settings.mode, text_size=read(settings).text_size)
    theme.apply()
    return MainWindow(session, settings, theme, at_once=at_once)


def _first_window() -> MainWindow:
    """Build the window behind a splash screen and return it."""
    from PySide6.QtCore import QEventLoop

    from scalegraph.gui.starting.first import Starting

    loop, starting = QEventLoop(), Starting()
    came: list[Any] = []
    for signal in (starting.ready, starting.failed):
        signal.connect(came.append)
        signal.connect(loop.quit)
    starting.begin()
    loop.exec()
    if isinstance(came[0], Exception):
        raise came[0]
    window: MainWindow = came[0]
    fit_on_screen(window, window.screen().availableGeometry().size())
    window.show()
    starting.end()
    return window


def run(files: Sequence[Path | str], demo: bool = False, *, fresh: bool = False) -> int:
    """Open the window on *files* and return the exit code; *demo* without files opens the demonstration.

    Raises `MissingTool` if there is no display or Qt cannot be loaded.
    """
    check_display()
    from scalegraph.gui.base.interrupt import Interrupt

    _start_log()
    application = make_application()
    window = _first_window()
    previous = sys.excepthook
    sys.excepthook = _hook(window)
    interrupt = Interrupt(window.close, window)
    try:
        window.open_files([Path(file) for file in files] or first_files(window, demo=demo))
        if demo and not files:
            (window.demonstration.compute if fresh else window.demonstration.open)()
        code = application.exec()
        window.jobs.cancel_all()
        window.jobs.join(_JOIN_MS)
        return code
    finally:
        interrupt.end()
        sys.excepthook = previous


def first_files(window: MainWindow, *, demo: bool = False) -> list[Path]:
    """Return the files to open if none were named: none, or the last file if the user prefers that."""
    from scalegraph.gui.preferences.values import read

    return window.settings.recent()[:1] if read(window.settings).at_start == "last" and not demo else []


def log_path() -> Path:
    """Return the path of the log of unexpected errors."""
    import platformdirs

    return Path(platformdirs.user_log_dir("scalegraph", appauthor=False)) / "window.log"


def _start_log() -> None:
    try:
        log_path().parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(log_path(), maxBytes=1_000_000, backupCount=1, delay=True)
    except OSError:
        return  # run without a log rather than not at all
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger("scalegraph").addHandler(handler)


def _hook(window: MainWindow) -> Any:
    def unexpected(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
            return
        log.error("unexpected", exc_info=(kind, error, trace))
        window.pages.say_fault(
            f"Something unexpected happened ({kind.__name__}: {error}). Details are in {log_path()}."
        )

    return unexpected
