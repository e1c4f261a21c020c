"""Imports measurement sets into studies: reads them in other threads and asks only about unclear points."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from scalegraph.gui.base.jobs import Job, Jobs, Reporter
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.imports.state import ImportState, skipped_words, without_options

if TYPE_CHECKING:
    from scalegraph.gui.imports.form import ImportForm
    from scalegraph.gui.imports.page import ImportPage
    from scalegraph.gui.imports.work import Preview, Source

_SLOW_MS = 350  # a longer read shows its progress


class Imports(QObject):
    """Imports files and directories one after another; the page appears for slow ones and for questions."""

    page_wanted = Signal()
    page_left = Signal()
    page_made = Signal()
    study_made = Signal(object, str, str)  # Path, remark, details
    refused = Signal(str)
    undo_changed = Signal()

    def __init__(self, jobs: Jobs, theme: Theme, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs, self._theme, self._settings = jobs, theme, settings
        self._page: ImportPage | None = None
        self._form: ImportForm | None = None  # built before the rest of the page
        self._waiting: deque[tuple[Any, ImportState, bool]] = deque()
        self._faults: list[str] = []
        self._pasted: tempfile.TemporaryDirectory[str] | None = None
        self._job: Job | None = None  # that stores a study
        self._slow = QTimer(self, singleShot=True, interval=_SLOW_MS)
        self._slow.timeout.connect(self.page_wanted)

    @property
    def page(self) -> ImportPage:
        """The page, created on first use."""
        if self._page is None:
            from scalegraph.gui.imports.page import ImportPage

            self._page = ImportPage(self._jobs, self._theme, self._form)
            self._page.accepted.connect(self._keep)
            self._page.left.connect(self._left)
            self._page.refused.connect(self._faults.append)
            self._page.undo_changed.connect(self.undo_changed)
            self.page_made.emit()
        return self._page

    @property
    def made(self) -> ImportPage | None:
        """The page if already created."""
        return self._page

    @property
    def busy(self) -> bool:
        """Whether a source is being read."""
        return self._page is not None and self._page.source is not None

    def open(self, paths: Sequence[Path]) -> None:
        """Read every one of *paths* and make studies."""
        from scalegraph.gui.imports.work import sources

        self._waiting.extend((source, ImportState(), True) for source in sources(paths))
        self._next_soon()

    def paste(self, text: str) -> None:
        """Read clipboard *text* as a measurement file."""
        if self._pasted is None:
            self._pasted = tempfile.TemporaryDirectory(prefix="scalegraph-pasted-")
        folder = Path(self._pasted.name) / str(len(list(Path(self._pasted.name).iterdir())) + 1)
        folder.mkdir()
        path = folder / "pasted table.txt"
        path.write_text(text, encoding="utf-8")
        self.open([path])

    def change(self, study: Path, measured: Any, mapping: Any) -> None:
        """Ask again for the meaning of the names in a study's set."""
        from scalegraph.gui.imports.work import Source, state_of

        source = Source(tuple(map(Path, measured.files)) or (study,), study, measured)
        self._waiting.append((source, state_of(mapping), False))
        self._next_soon()

    def stop(self) -> None:
        """Stop everything; for closing the window."""
        self._waiting.clear()
        self._slow.stop()
        if self._job is not None:
            self._job.cancel()
        if self._page is not None:
            self._page.stop()
        if self._pasted is not None:
            self._pasted.cleanup()
            self._pasted = None

    def _next_soon(self) -> None:
        """Read the next source; build the page first if necessary, in turns of the event loop."""
        if self._page is not None:
            self._next()
            return
        for act in (self._make_form, lambda: self.page, self._next):
            turn_queue().add(self, act, heavy=True)

    def _make_form(self) -> None:
        if self._form is None:
            from scalegraph.gui.imports.form import ImportForm

            self._form = ImportForm()

    def _next(self) -> None:
        if self.busy:
            return
        if not self._waiting:
            self._slow.stop()
            if self._faults:
                self.refused.emit("\n".join(self._faults))
                self._faults.clear()
            return
        source, state, eager = self._waiting.popleft()
        self.page.show_source(source, state, eager=eager, asked=self._ask)
        if eager:
            self._slow.start()
        else:
            self.page_wanted.emit()

    def _ask(self) -> None:
        self._slow.stop()
        self.page_wanted.emit()

    def _left(self, _source: Source) -> None:
        self._slow.stop()
        if self._job is not None:
            self._job.cancel()
        self.page_left.emit()
        self._next()

    def _keep(self, source: Source, shown: Preview) -> None:
        from scalegraph.gui.imports.work import keep

        target = source.study or self._settings.free_study_path(source.path.stem or source.path.name)
        page = self.page
        page.busy(f"Keeping {source.title} …")

        def work(reporter: Reporter) -> Path:
            return keep(source, shown, target, reporter.token, reporter.send)

        self._job = self._jobs.start(
            f"keeping {source.title}",
            work,
            done=lambda made: self._kept(made, shown),
            failed=lambda error: self._not_kept(str(error)),
            said=page.show_progress,
        )
        self._job.ended.connect(self._forget_job)

    def _forget_job(self) -> None:
        self._job = None

    def _kept(self, path: Path, shown: Preview) -> None:
        self._slow.stop()
        self.page.done()
        sentence, details = skipped_words(shown.measured) if shown.measured is not None else ("", "")
        notes = [*(without_options(note) for note in shown.notes), *(details.splitlines() if details else ())]
        remark = f"{shown.words} {sentence}".strip()
        self.study_made.emit(path, remark, "\n".join(notes))
        self._next()

    def _not_kept(self, sentence: str) -> None:
        self._slow.stop()
        self.page_wanted.emit()
        self.page.fail(sentence)
