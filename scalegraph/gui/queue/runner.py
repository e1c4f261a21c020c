"""Runs requests one after another through the session and updates the queue's state."""

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
    """The requests of this window. Each signal carries its `QueueEntry`."""

    added = Signal(object)
    changed = Signal(object, list)  # entry, keys of the runs that changed
    landed = Signal(object)  # a run is stored in the entry's study
    ended = Signal(object)
    consent_wanted = Signal(object, object)  # entry, Consent; answered by `approve` or `refuse`
    removed = Signal(object)

    def __init__(self, session: Any, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.workers: int | None = None  # parallel runs; None: by this computer's processors
        self._jobs = jobs
        self.entries: list[QueueEntry] = []
        self._active: dict[int, Job] = {}
        self._asked: dict[int, Consent] = {}  # by entry that waits for the user's answer

    @property
    def busy(self) -> bool:
        """Whether a request is waiting or running."""
        return bool(self._active)

    @property
    def has_failures(self) -> bool:
        """Whether anything in the list failed or was cancelled."""
        return any(entry.phase in ("failed", "cancelled") or entry.failed for entry in self.entries)

    def submit(
        self, request: Any, path: Path, title: str, *, quiet: bool = False, where: Where | None = None
    ) -> QueueEntry:
        """Queue *request*; its runs go into the study at *path*, and runs already there are not repeated.

        *quiet*: the caller shows the progress. *where*: the cluster to run on, None for this computer.
        """
        entry = QueueEntry(title, path, request, where=where, quiet=quiet)
        self.entries.append(entry)
        self.added.emit(entry)
        self._begin(entry)
        return entry

    def over(self, entry: QueueEntry) -> bool:
        """Whether *entry* has ended and closed its study."""
        return entry.ended and entry.serial not in self._active

    def cancel(self, entry: QueueEntry) -> None:
        """Cancel one request; finished runs are kept."""
        job = self._active.get(entry.serial)
        if job is not None:
            entry.stop()
            job.cancel()
            self.changed.emit(entry, [])
        else:
            self.refuse(entry)

    def approve(self, entry: QueueEntry) -> None:
        """Run *entry* now that the user has consented."""
        consent = self._asked.pop(entry.serial, None)
        if consent is not None:
            self._begin(entry, consent)

    def refuse(self, entry: QueueEntry) -> None:
        """End *entry* because the user refused; nothing of it has run."""
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
        """Run the request again: failed, cancelled and unstarted runs only."""
        if not self.over(entry):
            return None
        self.remove(entry)
        return self.submit(entry.request, entry.path, entry.title, where=entry.where)

    def remove(self, entry: QueueEntry) -> None:
        """Remove an ended request from the list; its study stays."""
        if self.over(entry) and entry in self.entries:
            self.removed.emit(entry)
            self.entries.remove(entry)

    def clear_ended(self) -> None:
        """Remove every ended request from the list."""
        for entry in list(self.entries):
            self.remove(entry)

    def _begin(self, entry: QueueEntry, consent: Consent | None = None) -> None:
        session, request, path, workers = self._session, entry.request, entry.path, self.workers

        def carry_out(reporter: Reporter) -> None:
            with contextlib.suppress(OSError):  # the default folder for studies; if this fails, the engine reports it
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
