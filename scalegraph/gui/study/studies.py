"""Open studies and traces: the window's data of each, read in other threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, QTimer, Signal

from scalegraph.base.units import counted
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.gui.base.settings import Settings
    from scalegraph.request.model.tracing import TracedRun
    from scalegraph.request.run.watching import Watched
    from scalegraph.subjects.study import StudyData


_PAUSE_MS: Final = 250  # between two reads of a growing study
_WATCH_MS: Final = 2000  # between checks whether another process works on a study


class StudyHandle(Handle):
    """An open study for the views.

    ``data()`` is ``None`` while the study is first read. ``changed``: it was replaced, after opening or when a run has
    landed. ``failed`` carries the error message.
    """

    def __init__(self, session: Any, jobs: Jobs, path: Path, parent: QObject | None = None) -> None:
        super().__init__(path, parent)
        self.session = session
        self._data: StudyData | None = None
        self._loader = Latest(jobs, f"reading {path.name}", self, every=True)
        self._verdict = ""
        self._choice: Mapping[str, str] | None = None  # the choice shown, of several; None: the study's first
        self.traces: tuple[TracedRun, ...] = ()  # existing traces of its runs
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.refresh)
        self._looker = Latest(jobs, f"watching {path.name}", self, quick=True)
        self._watch = QTimer(self, singleShot=True, interval=_WATCH_MS)
        self._watch.timeout.connect(self._look)
        self._version: int | None = None  # of the file, when last checked
        self._progress = ""

    def data(self) -> StudyData | None:
        """Return the data last read, ``None`` while it is first read."""
        return self._data

    def study(self) -> StudyData | None:
        """Return `data`."""
        return self._data

    def verdict(self) -> str:
        """Return the study's one-sentence verdict, and the progress of another process working on it."""
        return " ".join(part for part in (self._progress, self._verdict) if part)

    def refresh_soon(self) -> None:
        """Read the study again soon; runs that land within a moment are read together."""
        if not self._pause.isActive():
            self._pause.start()

    def refresh(self) -> None:
        """Read the study again now, or after the read in progress."""
        self._pause.stop()
        session, path, choice = self.session, self.path, self._choice
        from scalegraph.subjects import space  # imported here so as not to delay the window

        def read(reporter: Reporter) -> tuple[StudyData, str, tuple[TracedRun, ...]]:
            reporter.token.check()
            data = space.shown(session.study_data(path), choice)
            return data, _sentence(data), tuple(session.traces(path))

        self._loader.ask(read, self._loaded, self._unreadable)

    def show_choice(self, choice: Mapping[str, str], *_: object) -> None:
        """Let the views show *choice* (of machine, split, schedule ..)."""
        self._choice = dict(choice)
        self.refresh()

    def close(self) -> None:
        """Release the study and cancel reading."""
        self._pause.stop()
        self._watch.stop()
        self._loader.stop()
        self._looker.stop()

    def _loaded(self, read: tuple[StudyData, str, tuple[TracedRun, ...]]) -> None:
        self._data, self._verdict, self.traces = read
        self.error = ""
        self.changed.emit()
        if not self._looker.busy:
            self._watch.start()

    def _look(self) -> None:
        """Check whether another process has changed the study; if so, read it again."""
        session, path = self.session, self.path
        self._looker.ask(lambda _reporter: session.watched(path), self._looked, lambda _error: None)

    def _looked(self, found: Watched) -> None:
        grown = self._version is not None and found.version != self._version
        said, self._version, self._progress = self._progress, found.version, found.words
        if grown or (said and not found.live):  # after its end, read the last changes
            self.refresh_soon()
            return
        if said != self._progress:
            self.changed.emit()
        self._watch.start()

    def _unreadable(self, error: Exception) -> None:
        self.error = str(error)
        self.failed.emit(self.error)


def lacking_traces(handle: StudyHandle) -> tuple[int, ...]:
    """Return the processor counts whose traces are requested by *handle* but missing."""
    data = handle.study()
    request = (data.manifest.get("request") or {}) if data is not None else {}
    asked = (request.get("trace") or {}).get("processors") or ()
    there = {run.processors for run in handle.traces}
    if not request.get("program") or not os.access(handle.path, os.W_OK):
        return ()
    return tuple(int(n) for n in asked if int(n) not in there)


def _sentence(data: StudyData) -> str:
    from scalegraph.analyze import wording
    from scalegraph.analyze.bounds import Bound
    from scalegraph.request.results.data import matrix
    from scalegraph.subjects import judgement

    if data.graph is not None:
        return f"Thread graph: {counted(len(data.graph.classes), 'class')} of threads."
    if data.table.empty and data.imported is not None:
        return _set_sentence(data)
    if data.table.empty:
        return "No run has ended yet."
    scaling = data.scaling
    kinds = [bound["kind"] for bound in (data.manifest.get("request") or {}).get("bound") or ()]
    order: tuple[Bound, ...] = ("efficiency", "time", "memory", "speed")
    held = next((kind for kind in order if kind in kinds), None)
    # The sentence is about the request: sizes that a search passed through are not a fixed-size curve.
    if held is not None and "problem_size" not in kinds:
        sentence = wording.header(
            scaling, None, data.manifest, matrix(data, bound=held, metric="isospeed" if held == "speed" else "latency")
        )
    else:
        main = data.main_series
        verdicts = judgement.said(data)
        weak = next((item.text for item in verdicts if item.kind == "weak"), "")
        grows = bool(weak) and all(item.kind != "strong" for item in verdicts)
        header = wording.header(scaling, None if grows else main, data.manifest, weak=weak if grows else "")
        said = (header, judgement.culprit(data, main), judgement.timed_part(data, main))
        sentence = " ".join(part for part in said if part)
    failed = len(data.failed)
    return f"{sentence} {failed} of {len(data.table)} runs failed." if failed else sentence


def _set_sentence(data: StudyData) -> str:
    """Return the sentence for a measurement set without runs."""
    assert data.imported is not None
    measured, meaning = data.imported
    lacking = "parameter counts processors" if not meaning.processors else "metric is the elapsed time"
    return (
        f"{len(measured.points)} points over {', '.join(measured.parameters) or 'no parameter'},"
        f" {len(measured.call_paths)} call paths. No {lacking} (Ctrl+M sets it): models work, scaling does not."
    )


class Studies(QObject):
    """All open studies and traces, in opening order."""

    opened = Signal(object)  # Handle
    closed = Signal(str)  # key
    changed = Signal()  # one was opened, closed or read again

    def __init__(self, session: Any, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._jobs = jobs
        self._open: dict[str, Handle] = {}

    def __iter__(self) -> Iterator[Handle]:
        return iter(list(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def get(self, key: str | None) -> Handle | None:
        """Return the open study or trace with that key."""
        return self._open.get(key) if key else None

    def open(self, path: Path) -> StudyHandle:
        """Open the study at *path*, or return it if already open. Nothing is run."""
        known = self._open.get(str(path.resolve()))
        if isinstance(known, StudyHandle):
            return known
        handle = StudyHandle(self._session, self._jobs, path, self)
        self._add(handle)
        return handle

    def open_trace(self, path: Path, settings: Settings | None = None) -> TraceHandle:
        """Open the trace at *path*, or return it if already open, with what *settings* saved for it."""
        known = self._open.get(str(path.resolve()))
        if isinstance(known, TraceHandle):
            return known
        handle = TraceHandle(self._session, self._jobs, path, self)
        if settings is not None:
            handle.sources.keep_in(settings)
        self._add(handle)
        return handle

    def close(self, key: str) -> None:
        """Close a study or trace; its file stays."""
        handle = self._open.pop(key, None)
        if handle is not None:
            handle.close()
            if isinstance(handle, StudyHandle):
                self._session.forget(handle.path)
            self.closed.emit(key)
            self.changed.emit()
            handle.deleteLater()

    def _add(self, handle: Handle) -> None:
        self._open[handle.key] = handle
        handle.changed.connect(self.changed)
        self.opened.emit(handle)
        handle.refresh()
