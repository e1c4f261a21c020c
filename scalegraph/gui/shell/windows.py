"""Further main windows of the session: same studies and selection, other views, on any screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QMainWindow

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.study.page import StudyPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from scalegraph.gui.shell.main_window import MainWindow

_OPEN: Final = "windows/open"  # number of windows open at exit
_SIZE: Final = (1100, 700)


class FurtherWindow(QMainWindow):
    """Views of the current study beside the first window, which keeps requests, runs and panels."""

    def __init__(self, main: MainWindow, number: int) -> None:
        super().__init__()  # no parent, so the desktop treats it as a window of its own
        self._main, self.number = main, number
        self.setObjectName(f"ScaleGraph {number}")
        context = main.context.beside(self)
        self.study = StudyPage(main.studies, context, slot=f"-{number}")
        self.setCentralWidget(self.study)
        context.faster_wanted.connect(tied(self, main.context.faster_wanted.emit))
        context.way_wanted.connect(tied(self, main.context.way_wanted.emit))
        context.faster_wanted.connect(self._raise_first)
        context.way_wanted.connect(self._raise_first)
        doing: dict[str, Callable[[], object]] = {
            "Ctrl+E": self._export,
            "Ctrl+W": self.close,
            "Esc": main.selection.clear,
            "Alt+Left": main.selection.back,
            "Alt+Right": main.selection.forward,
            "F11": lambda: self.showNormal() if self.isFullScreen() else self.showFullScreen(),
        }
        for keys, act in doing.items():
            action = QAction(self)
            action.setShortcut(QKeySequence(keys))
            action.triggered.connect(tied(self, act))
            self.addAction(action)
        main.selection.changed.connect(tied(self, self._name))
        self._name(main.selection.current)
        if main.study.handle is not None:
            self.study.show_study(main.study.handle)
        self.resize(*_SIZE)
        place = main.settings.bytes(f"windows/geometry-{number}")
        if place is not None:
            self.restoreGeometry(place)

    def _raise_first(self) -> None:
        """Bring the first window to the front; it shows what a view here asked for."""
        self._main.raise_()
        self._main.activateWindow()

    def _name(self, selection: Selection) -> None:
        handle = self._main.studies.get(selection.study)
        self.setWindowTitle(f"{handle.title if handle is not None else 'No study'} ({self.number}) – ScaleGraph")

    def _export(self) -> None:
        dock = self.study.area.current_dock() if self.study.area is not None else None
        if dock is not None:
            dock.export_wanted.emit()

    def keep(self) -> None:
        """Save its geometry, its views and their places."""
        self._main.settings.set_bytes(f"windows/geometry-{self.number}", self.saveGeometry())
        self.study.keep()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: save the state and release the studies."""
        self.keep()
        self.study.release()
        event.accept()
        self._main.windows.gone(self)


class Windows(QObject):
    """The further windows of *main*."""

    def __init__(self, main: MainWindow) -> None:
        super().__init__(main)
        self._main = main
        self._open: list[FurtherWindow] = []
        self._leaving = False
        main.actions_["new_window"].triggered.connect(tied(self, self.open))
        main.actions_["float_view"].triggered.connect(tied(self, self._float))
        main.study.area_made.connect(tied(self, self._restore))

    @property
    def all(self) -> tuple[FurtherWindow, ...]:
        """The open windows."""
        return tuple(self._open)

    def open(self) -> FurtherWindow:
        """Open another window on the current study."""
        number = min({2 + i for i in range(len(self._open) + 1)} - {window.number for window in self._open})
        made = FurtherWindow(self._main, number)
        self._open.append(made)
        made.show()
        return made

    def gone(self, window: FurtherWindow) -> None:
        """Forget a closed window."""
        if window in self._open:
            self._open.remove(window)
        window.deleteLater()
        if not self._leaving:
            self._main.settings.set_text(_OPEN, str(len(self._open)))

    def leave(self) -> None:
        """Close all; they reopen when the first window opens a study."""
        self._leaving = True
        self._main.settings.set_text(_OPEN, str(len(self._open)))
        for window in self.all:
            window.close()

    def _restore(self) -> None:
        wanted = self._main.settings.text(_OPEN)
        for _ in range(min(int(wanted), 4) if wanted.isdecimal() else 0):
            QTimer.singleShot(0, self, self.open)

    def _float(self) -> None:
        """Float the current view as a window, or dock it again."""
        area = self._main.study.area
        dock = area.current_dock() if area is not None else None
        if dock is not None:
            dock.float_or_dock()
