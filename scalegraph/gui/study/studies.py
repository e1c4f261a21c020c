"""Open studies and traces: what the window holds of each, read in another thread and kept until a run lands."""

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


_PAUSE_MS: Final = 250  # between two readings of a study that grows
_WATCH_MS: Final = 2000  # between two looks whether another process works on a study


class StudyHandle(Handle):
    """An open study as views see it.

    ``data()`` is ``None`` while the study is read for the first time (show the loading state); ``changed`` says
    that it was replaced, after opening and whenever a run has landed. ``failed`` carries the sentence when it
    cannot be read.
    """

    def __init__(self, session: Any, jobs: Jobs, path: Path, parent: QObject | None = None) -> None:
        super().__init__(path, parent)
        self.session = session
        self._data: StudyData | None = None
        self._loader = Latest(jobs, f"reading {path.name}", self, every=True)
        self._verdict = ""
        self._choice: Mapping[str, str] | None = None  # of several the one in view; None: the study's first
        self.traces: tuple[TracedRun, ...] = ()  # of its runs, that are there
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.refresh)
        self._looker = Latest(jobs, f"watching {path.name}", self, quick=True)
        self._watch = QTimer(self, singleShot=True, interval=_WATCH_MS)
        self._watch.timeout.connect(self._look)
        self._version: int | None = None  # of the file, when it was looked at last
        self._progress = ""

    def data(self) -> StudyData | None:
        """Return what was read last, or ``None`` while it is read for the first time."""
        return self._data

    def study(self) -> StudyData | None:
        """Return what `data` does."""
        return self._data

    def verdict(self) -> str:
        """Return the sentence that says what the study says, and how far another process that works on it is."""
        return " ".join(part for part in (self._progress, self._verdict) if part)

    def refresh_soon(self) -> None:
        """Read the study again after a moment: runs that land one after another are read together."""
        if not self._pause.isActive():
            self._pause.start()

    def refresh(self) -> None:
        """Read the study again now, or when the reading under way has ended."""
        self._pause.stop()
        session, path, choice = self.session, self.path, self._choice
        from scalegraph.subjects import space  # loads what the start of the window need not wait for

        def read(reporter: Reporter) -> tuple[StudyData, str, tuple[TracedRun, ...]]:
            reporter.token.check()
            data = space.shown(session.study_data(path), choice)
            return data, _sentence(data), tuple(session.traces(path))

        self._loader.ask(read, self._loaded, self._unreadable)

    def show_choice(self, choice: Mapping[str, str], *_: object) -> None:
        """Let the views show *choice* of the machines, splits, schedules .. that the study has."""
        self._choice = dict(choice)
        self.refresh()

    def close(self) -> None:
        """Forget the study; a reading under way is dropped."""
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
        """See whether another process has changed the study; it is read again if so."""
        session, path = self.session, self.path
        self._looker.ask(lambda _reporter: session.watched(path), self._looked, lambda _error: None)

    def _looked(self, found: Watched) -> None:
        grown = self._version is not None and found.version != self._version
        said, self._version, self._progress = self._progress, found.version, found.words
        if grown or (said and not found.live):  # with the end comes what the last runs have changed
            self.refresh_soon()
            return
        if said != self._progress:
            self.changed.emit()
        self._watch.start()

    def _unreadable(self, error: Exception) -> None:
        self.error = str(error)
        self.failed.emit(self.error)


def lacking_traces(handle: StudyHandle) -> tuple[int, ...]:
    """Return the processor counts whose traces the request of *handle* names and that are not there."""
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
    # The sentence is about what was requested: sizes that a search passed are no fixed-size curve.
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
    """Return what a set says that no runs come of."""
    assert data.imported is not None
    measured, meaning = data.imported
    lacking = "parameter counts processors" if not meaning.processors else "metric is the elapsed time"
    return (
        f"{len(measured.points)} points over {', '.join(measured.parameters) or 'no parameter'},"
        f" {len(measured.call_paths)} call paths. No {lacking} (Ctrl+M sets it): models work, scaling does not."
    )


class Studies(QObject):
    """All open studies and traces, in the order of opening."""

    opened = Signal(object)  # Handle
    closed = Signal(str)  # key
    changed = Signal()  # there are others, or one of them was read again

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
        """Return the open study or trace of that key."""
        return self._open.get(key) if key else None

    def open(self, path: Path) -> StudyHandle:
        """Open the study at *path*, or return it if it is open already. Nothing of it is run."""
        known = self._open.get(str(path.resolve()))
        if isinstance(known, StudyHandle):
            return known
        handle = StudyHandle(self._session, self._jobs, path, self)
        self._add(handle)
        return handle

    def open_trace(self, path: Path, settings: Settings | None = None) -> TraceHandle:
        """Open the trace at *path*, or return it if it is open already. What *settings* keep of it is read with it."""
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
