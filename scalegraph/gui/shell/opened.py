"""Studies and traces: opened, shown, their meaning changed, closed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.shell.outcomes import SHORT_MESSAGE_MS
from scalegraph.gui.shell.pages import START, STUDY
from scalegraph.gui.study.studies import StudyHandle
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class Opened(QObject):
    """What is open in a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def study(self, path: Path) -> StudyHandle:
        """Open and show a study."""
        handle = self._window.studies.open(path)
        self._window.selection.select(study=handle.key)
        self._window.settings.add_recent(path)
        self._window.go(STUDY)
        return handle

    def trace(self, path: Path) -> TraceHandle:
        """Open and show a trace; it is read in another thread."""
        new = self._window.studies.get(str(path.resolve())) is None
        handle = self._window.studies.open_trace(path, self._window.settings)
        if new:
            handle.bookmarks.keep_in(self._window.settings)
            handle.changed.connect(self._window.offered.update)
            handle.filter.stack.indexChanged.connect(tied(self, lambda _index: self._window.edited("filter")))
        self._window.selection.select(study=handle.key)
        self._window.settings.add_recent(path)
        self._window.go(STUDY)
        return handle

    def change_meaning(self, key: str) -> None:
        """Ask again for the meaning of the names in a study's measurement set."""
        handle = self._window.studies.get(key)
        data = handle.study() if handle is not None else None
        if handle is not None and data is not None and data.imported is not None:
            self._window.imports.change(handle.path, *data.imported)

    def imported(self, path: Path, remark: str, details: str) -> None:
        """Show the study that an import made, and notes on it."""
        handle = self._window.studies.get(str(path.resolve()))
        if handle is not None:
            handle.refresh()
        handle = self.study(path)
        if not details:
            self._window.statusBar().showMessage(remark, SHORT_MESSAGE_MS)
        else:  # something was left out, or there is a note
            change = partial(self.change_meaning, handle.key)
            self._window.study.banner.show_remark(remark, "Edit import mapping", change, details)

    def close(self, key: str) -> None:
        """Close a study and show the next one, or the start page."""
        self._window.studies.close(key)
        for page in (self._window.study, *(further.study for further in self._window.windows.all)):
            page.forget(key)
        self._window.selection.state.forget(key)
        rest = list(self._window.studies)
        if rest:
            self._window.selection.select(study=rest[-1].key)
        elif self._window.page == STUDY:
            self._window.go(START)
        self._window.offered.update()
