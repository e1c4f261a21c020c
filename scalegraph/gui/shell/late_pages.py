"""The window's forms, each built when it is first needed: they have hundreds of fields, and many sessions use none."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.measure.page import CommandPage
from scalegraph.gui.request.instrument_page import InstrumentPage
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.panel import RequestPanel
from scalegraph.gui.request.sections import Catalog
from scalegraph.gui.shell.pages import INSTRUMENT, MEASURE, REQUEST

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class LatePages(QObject):
    """Builds and wires the pages that edit requests and commands."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._catalog = Catalog()
        self.model = RequestModel(self)
        self.model.undo_stack.indexChanged.connect(window.offered.update)

    @cached_property
    def request(self) -> RequestPanel:
        """The form of a simulation."""
        window = self._window
        page = RequestPanel(self.model, window.session, window.jobs, window.theme, window.settings)
        window.pages.add(REQUEST, page)
        page.set_catalog(self._catalog)
        page.run_wanted.connect(window.outcomes.submit)
        page.command_loaded.connect(window.show_command)
        page.preview_wanted.connect(window.show_instrumentation)
        page.checked.connect(window.offered.update)
        return page

    @cached_property
    def measure(self) -> CommandPage:
        """The form of a command to measure."""
        window, runner = self._window, self._window.runner
        page = CommandPage(window.session, window.jobs, window.theme, window.settings)
        window.pages.add(MEASURE, page)
        page.run_wanted.connect(lambda request, path, title: runner.submit(request, path, title, quiet=True))
        page.stop_wanted.connect(runner.cancel)
        page.study_wanted.connect(window.open_study)
        page.checked.connect(window.offered.update)
        runner.added.connect(page.follow)
        runner.changed.connect(page.changed)
        runner.ended.connect(page.changed)
        return page

    @cached_property
    def instrument(self) -> InstrumentPage:
        """The instrumented source of a request's program."""
        window = self._window
        page = InstrumentPage(window.session, window.jobs, window.theme)
        window.pages.add(INSTRUMENT, page)
        page.left.connect(lambda: window.go(REQUEST))
        return page

    @property
    def made(self) -> list[RequestPanel | CommandPage | InstrumentPage]:
        """The pages built so far."""
        return [vars(self)[name] for name in (REQUEST, MEASURE, INSTRUMENT) if name in vars(self)]

    def make(self, name: str) -> None:
        """Build the page *name* if it is one of these forms and does not exist yet."""
        if name in (REQUEST, MEASURE, INSTRUMENT):
            getattr(self, name)

    def make_ahead(self) -> None:
        """Build the forms in turns of the event loop, so that the first click on one does not wait."""
        for name in (REQUEST, MEASURE):
            turn_queue().add(self, partial(self.make, name), heavy=True)

    @property
    def catalog(self) -> Catalog:
        """The programs and machines that can be chosen."""
        return self._catalog

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs and machines that can be chosen."""
        self._catalog = catalog
        if REQUEST in vars(self):
            self.request.set_catalog(catalog)

    def stop(self) -> None:
        """Drop the checks under way: the window closes."""
        turn_queue().drop(self)
        for page in self.made:
            page.stop()
