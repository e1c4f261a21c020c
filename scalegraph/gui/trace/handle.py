"""An open trace, read in another thread, and the time that its views show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, Signal

from scalegraph.base.errors import MissingTool
from scalegraph.gui.base.jobs import Job, Jobs, Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_filter import TraceFilter
from scalegraph.gui.state.trace_marks import TraceMarks
from scalegraph.gui.trace.bookmarks import Bookmarks
from scalegraph.gui.trace.event_steps import EventSteps
from scalegraph.gui.trace.replay import TraceReplay
from scalegraph.gui.trace.replay_steps import ReplaySteps
from scalegraph.gui.trace.source_folder import SourceFolder
from scalegraph.gui.trace.words import region_times, simulated, trace_sentence
from scalegraph.request.imports.sources import below

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData
    from scalegraph.traces.model import Trace

STOPPED: Final = "Reading was cancelled."


@dataclass(frozen=True)
class _Waited:
    """Sent by the reading thread while another converts the same file."""

    seconds: float


class TraceHandle(Handle):
    """An open trace; the counterpart of `StudyHandle`.

    *window* is the time that all its views show, *filter* what they leave out, *marks* are lines in them. ``partial``
    is true if the user asked for the readable part of a damaged file.
    """

    subject = "trace"
    progressed = Signal(float)  # fraction read, 0 to 1
    waits = Signal(float)  # seconds spent waiting for another conversion of the file

    def __init__(self, session: Any, jobs: Jobs, path: Path, parent: QObject | None = None) -> None:
        super().__init__(path, parent)
        self._session, self._jobs = session, jobs
        self._data: TraceData | None = None
        self._verdict = ""
        self._job: Job | None = None
        self.share = 0.0
        self.partial = False
        self.lacking = False  # whether the reader needs something that is not installed
        self.pictured = False  # whether a view over time has been drawn; analyses wait for that
        self.notes_told = False  # whether the user has seen which parts of the file are not shown
        self.window = TimeWindow(parent=self)
        self.filter = TraceFilter(self)
        self.marks = TraceMarks(parent=self)
        self.replay = TraceReplay(self.window, self.marks, self)
        self.steps = ReplaySteps(self, jobs)
        self.events = EventSteps(self, jobs)
        self.bookmarks = Bookmarks(self.filter.stack, self.marks, self)
        self._beside: Mapping[str, Path] = {}  # sources found without a chosen folder
        self.sources = SourceFolder(self.path, self.filter.stack, self)
        self.sources.changed.connect(self._show_sources)

    @property
    def title(self) -> str:
        """Short name for display: the run's if known (``ge2, N = 16``), else the file's.

        For an OTF2 archive, usually ``traces.otf2``, the folder's name is added.
        """
        if self._data is not None and (self._data.texts or self._data.trace.meta.source in ("simulated", "measured")):
            return self._data.name
        return f"{self.path.parent.name}/{self.path.name}" if self.path.suffix == ".otf2" else self.path.name

    @property
    def reading(self) -> bool:
        """Whether the file is being read."""
        return self._job is not None

    def data(self) -> TraceData | None:
        """Return the trace, or ``None`` until it has been read."""
        return self._data

    def trace(self) -> Trace | None:
        """Return definitions and columns, or ``None`` until they have been read."""
        return None if self._data is None else self._data.trace

    def verdict(self) -> str:
        """Return one sentence that describes the trace."""
        return self._verdict

    def refresh(self) -> None:
        """Read the file, unless that is in progress."""
        if self._job is not None:
            return
        session, path, partial = self._session, self.path, self.partial
        self.error, self.share = "", 0.0
        folder = self.sources.current.folder

        def read(reporter: Reporter) -> tuple[TraceData, str, Mapping[str, Path]]:
            reported, waits = reporter.send, lambda seconds: reporter.send(_Waited(seconds))
            data = session.open_trace(path, cancel=reporter.token, progress=reported, partial=partial, waiting=waits)
            region_times(data)
            found = below(data.trace, Path(folder), reporter.token) if folder else {}
            return data, trace_sentence(data), found

        self._job = job = self._jobs.start(f"reading {path.name}", read, said=self._told)
        job.done.connect(tied(self, lambda answer: self._loaded(job, *answer)))
        job.failed.connect(
            tied(self, lambda error: self._unreadable(job, str(error), lacking=isinstance(error, MissingTool)))
        )
        job.cancelled.connect(tied(self, lambda: self._unreadable(job, STOPPED)))

    def open_what_is_there(self) -> None:
        """Read the readable part of a damaged file."""
        self.partial = True
        self.refresh()

    def stop(self) -> None:
        """Stop reading."""
        if self._job is not None:
            self._job.cancel()

    def close(self) -> None:
        """Release the trace and close its file."""
        self.stop()
        self.replay.hide()
        self._job = None
        data, self._data = self._data, None
        if data is not None:
            data.trace.close()

    def seconds(self, tick: int) -> float:
        """Return the seconds from the start of the run to *tick*."""
        meta = self._meta()
        return float((tick - meta.begin) / meta.ticks_per_second)

    def tick(self, seconds: float) -> int:
        """Return the tick at *seconds* from the start of the run."""
        meta = self._meta()
        return int(meta.begin + round(seconds * meta.ticks_per_second))

    def _meta(self) -> Any:
        assert self._data is not None
        return self._data.trace.meta

    def _told(self, said: object) -> None:
        if isinstance(said, _Waited):
            self.waits.emit(said.seconds)
        elif isinstance(said, float | int):
            self.share = float(said)
            self.progressed.emit(self.share)

    def _loaded(self, job: Job, data: TraceData, verdict: str, found: Mapping[str, Path]) -> None:
        if job is not self._job:  # closed in the meantime
            data.trace.close()
            return
        self._job = None
        self._beside = data.sources
        self.sources.found(found)
        self._data, self._verdict = data.with_sources({**data.sources, **found}), verdict
        self.marks.ticks_per_second = float(data.trace.meta.ticks_per_second)
        self.marks.unit = "cycles" if simulated(data.trace) else "ticks"
        self.window.set_length(data.trace.seconds, 1 / data.trace.meta.ticks_per_second)
        self.bookmarks.belong_to(self.path, data.trace.meta)
        self.changed.emit()

    def _show_sources(self) -> None:
        """Use the chosen sources in every view."""
        if self._data is not None:
            self._data = self._data.with_sources({**self._beside, **self.sources.current.files})
            self.changed.emit()

    def _unreadable(self, job: Job, sentence: str, *, lacking: bool = False) -> None:
        if job is self._job:
            self._job = None
            self.error, self.lacking = sentence, lacking
            self.failed.emit(sentence)
