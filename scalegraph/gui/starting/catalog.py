"""Loads the programs and machines to choose from, then what the first picture needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from scalegraph.gui.base.jobs import Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.request.sections import Catalog
from scalegraph.gui.starting.ahead import load_ahead

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class Loading(QObject):
    """Loads for *window*, which can be used meanwhile."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def begin(self) -> None:
        """Read programs and machines in another thread."""
        session = self._window.session

        def read(_reporter: Reporter) -> Catalog:
            return Catalog({found.name: found for found in session.programs()}, tuple(session.machines()))

        self._window.jobs.start("reading programs and machines", read, done=self._catalog, failed=self._no_catalog)

    def _catalog(self, catalog: Catalog) -> None:
        self._window.late.set_catalog(catalog)
        self._window.start.show_catalog(catalog)
        self._window.files.ready()
        self.preload()

    def preload(self) -> None:
        """Preload the libraries for pictures when idle; opening a file takes precedence."""

        def begin() -> None:
            load_ahead(self._window.jobs, self._window.session)
            if not self._window.at_once:
                self._window.late.make_ahead()

        if self._window.jobs.running:
            self._window.jobs.idle.connect(tied(self, begin), Qt.ConnectionType.SingleShotConnection)
        else:
            begin()

    def _no_catalog(self, error: Exception) -> None:
        self._window.pages.say_fault(str(error))
        self._window.files.ready()
