"""Closing the window: running work is stopped first, without blocking the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow

_LONGEST_GOODBYE_MS: Final = 8000  # for child processes to stop; then the window closes and ends them


class Leaving:
    """Closes a window in two steps: asks running work to stop, then closes once it has."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.begun = False

    def may_go(self) -> bool:
        """Start closing if not yet started; return whether all work has ended."""
        window = self._window
        if not self.begun:
            self.begun = True
            self._keep()
            self._stop()
            if window.jobs.running:
                window.statusBar().showMessage("Stopping the runs; finished runs are kept…")
                window.jobs.idle.connect(window.close)
                QTimer.singleShot(_LONGEST_GOODBYE_MS, window, self._give_up)
        if window.jobs.running:
            return False
        window.study.release()
        window.session.close()
        return True

    def _keep(self) -> None:
        window = self._window
        window.settings.set_bytes("window/geometry", window.saveGeometry())
        window.settings.set_bytes("window/state", window.saveState())
        window.study.keep()
        window.windows.leave()
        window.settings.sync()

    def _stop(self) -> None:
        window = self._window
        for handle in window.studies:
            handle.close()
        window.imports.stop()
        window.late.stop()
        window.runner.cancel_all()
        window.jobs.cancel_all()

    def _give_up(self) -> None:
        self._window.jobs.abandon()
        self._window.close()
