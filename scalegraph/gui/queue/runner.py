"""Carries requests out one after another through the session and keeps the queue's state up to date."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from scalegraph.base import events
from scalegraph.base.errors import BuildError
from scalegraph.gui.base.jobs import Job, Jobs, Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.link.cluster.places import Where
from scalegraph.request.consent import Consent, ConsentNeeded


class QueueRunner(QObject):
    """The requests of this window. All signals carry the `QueueEntry` they are about."""

    added = Signal(object)
    changed = Signal(object, list)  # entry, keys of the runs that changed
    landed = Signal(object)  # a run is in the entry's study
    ended = Signal(object)
    consent_wanted = Signal(object, object)  # entry, Consent: answer with `approve` or `refuse`
    removed = Signal(object)

    def __init__(self, session: Any, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.workers: int | None = None  # runs side by side; None: by the processors of this computer
        self._jobs = jobs
        self.entries: list[QueueEntry] = []
        self._active: dict[int, Job] = {}
        self._asked: dict[int, Consent] = {}  # of entries that wait for the user's answer

    @property
    def busy(self) -> bool:
        """Whether a request waits or runs."""
        return bool(self._active)

    @property
    def has_failures(self) -> bool:
        """Whether something in the list failed or was cancelled."""
        return any(entry.phase in ("failed", "cancelled") or entry.failed for entry in self.entries)

    def submit(
        self, request: Any, path: Path, title: str, *, quiet: bool = False, where: Where | None = None
    ) -> QueueEntry:
        """Queue *request*; its runs land in the study at *path*. Runs that the study has are not run again.

        *quiet*: the caller shows the progress. *where*: whose workers carry the runs out, this computer's if None.
        """
        entry = QueueEntry(title, path, request, where=where, quiet=quiet)
        self.entries.append(entry)
        self.added.emit(entry)
        self._begin(entry)
        return entry

    def over(self, entry: QueueEntry) -> bool:
        """Whether *entry* has ended and its study is closed."""
        return entry.ended and entry.serial not in self._active

    def cancel(self, entry: QueueEntry) -> None:
        """Stop one request; the runs it has are kept."""
        job = self._active.get(entry.serial)
        if job is not None:
            entry.stop()
            job.cancel()
            self.changed.emit(entry, [])
        else:
            self.refuse(entry)

    def approve(self, entry: QueueEntry) -> None:
        """Carry out *entry*, which waits for the user's consent: it was given."""
        consent = self._asked.pop(entry.serial, None)
        if consent is not None:
            self._begin(entry, consent)

    def refuse(self, entry: QueueEntry) -> None:
        """End *entry*, which waits for the user's consent: it was not given, and nothing of it was run."""
        consent = self._asked.pop(entry.serial, None)
        if consent is not None:
            entry.cancelled()
            entry.message = "nothing was run: it was not trusted"
            self.changed.emit(entry, [])
            self.ended.emit(entry)

    def cancel_all(self) -> None:
        """Stop every request."""
        for entry in self.entries:
            self.cancel(entry)

    def retry(self, entry: QueueEntry) -> QueueEntry | None:
        """Run the request again: what failed, was cancelled or never started; finished runs are kept."""
        if not self.over(entry):
            return None
        self.remove(entry)
        return self.submit(entry.request, entry.path, entry.title, where=entry.where)

    def remove(self, entry: QueueEntry) -> None:
        """Take an ended request from the list; its study stays."""
        if self.over(entry) and entry in self.entries:
            self.removed.emit(entry)
            self.entries.remove(entry)

    def clear_ended(self) -> None:
        """Take every ended request from the list."""
        for entry in list(self.entries):
            self.remove(entry)

    def _begin(self, entry: QueueEntry, consent: Consent | None = None) -> None:
        session, request, path, workers = self._session, entry.request, entry.path, self.workers

        def carry_out(reporter: Reporter) -> None:
            with contextlib.suppress(OSError):  # where new studies go by default; else the engine says what is missing
                path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.ExitStack() as stack:
                there = session
                if entry.where is not None:
                    elsewhere = session.elsewhere(entry.where, path, reporter.send, reporter.token)
                    there = stack.enter_context(elsewhere)
                number = workers if entry.where is None else None
                study = there.submit(request, path, reporter.send, reporter.token, workers=number, consent=consent)
                study.close()

        job = self._jobs.start(f"request {entry.title}", carry_out, long=True)
        self._active[entry.serial] = job
        job.said.connect(tied(self, lambda event: self._event(entry, event)))
        job.failed.connect(tied(self, lambda error: self._failed(entry, error)))
        job.cancelled.connect(entry.cancelled)
        job.ended.connect(tied(self, lambda: self._ended(entry)))

    def _event(self, entry: QueueEntry, event: events.Event) -> None:
        keys = entry.apply(event)
        self.changed.emit(entry, keys)
        if isinstance(event, events.RunFinished | events.RunFailed | events.RunSkipped):
            self.landed.emit(entry)

    def _failed(self, entry: QueueEntry, error: Exception) -> None:
        if isinstance(error, ConsentNeeded):
            self._asked[entry.serial] = error.consent
            return
        entry.fail(str(error), error.output if isinstance(error, BuildError) else "")

    def _ended(self, entry: QueueEntry) -> None:
        del self._active[entry.serial]
        if entry.serial in self._asked:
            self.consent_wanted.emit(entry, self._asked[entry.serial])
            return
        if not entry.ended:
            entry.apply(events.Done(entry.finished, entry.failed))
        self.changed.emit(entry, list(entry.runs))
        self.ended.emit(entry)
