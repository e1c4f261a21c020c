"""State of the queue: requests with their runs, updated by events; independent of Qt."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from scalegraph.base import events
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import counted, seconds
from scalegraph.base.working_words import building_words
from scalegraph.link.cluster.places import Where

Phase: TypeAlias = Literal["waiting", "building", "running", "stopping", "done", "failed", "cancelled"]
RunPhase: TypeAlias = Literal["waiting", "running", "done", "failed", "kept", "cancelled"]

_serials: Final = itertools.count(1)
_WORTH_SAYING_S: Final = 0.5
ENDED: Final[frozenset[Phase]] = frozenset({"done", "failed", "cancelled"})


@dataclass
class RunItem:
    """One run of a request. *started* is a time of `QueueEntry.clock` (s)."""

    point: RunPoint
    phase: RunPhase = "waiting"
    started: float | None = None
    message: str = ""
    record: RunRecord | None = None
    where: str = ""  # the worker that runs it, empty on this computer


@dataclass
class WorkerItem:
    """What one cluster worker does for a request."""

    done: int = 0
    running: list[str] = field(default_factory=list)  # keys of runs


@dataclass
class QueueEntry:
    """One request in the queue."""

    title: str
    path: Path
    request: object
    clock: Callable[[], float] = time.monotonic
    phase: Phase = "waiting"
    runs: dict[str, RunItem] = field(default_factory=dict)
    finished: int = 0
    planned: int = 0  # runs counted by the engine; more than points if some are repeated to write traces
    remaining_s: float | None = None
    notes: list[str] = field(default_factory=list)
    message: str = ""
    output: str = ""  # the compiler's output if the build failed
    where: Where | None = None  # the cluster that runs it; None: this computer
    workers: dict[str, WorkerItem] = field(default_factory=dict)
    slots: int | None = None  # runs that the cluster executes in parallel now
    count: int | None = None  # its workers now
    idle: int = 0  # of these, idle
    quiet: bool = False  # progress is shown elsewhere; do not open the queue
    serial: int = field(default_factory=lambda: next(_serials))
    compiled: str = ""  # progress of a build that counts its files
    _told: float = 0.0  # when remaining_s was reported

    @property
    def total(self) -> int:
        """Number of runs known so far, at least those that ended; a search adds to it."""
        return max(self.planned, len(self.runs), self.finished)

    @property
    def failed(self) -> int:
        """Number of failed runs."""
        return sum(1 for run in self.runs.values() if run.phase == "failed")

    @property
    def ended(self) -> bool:
        """Whether the request has ended."""
        return self.phase in ENDED

    def left_s(self) -> float | None:
        """Return the estimated seconds left, counted down since the engine's last report."""
        if self.remaining_s is None or self.ended:
            return None
        return max(0.0, self.remaining_s - (self.clock() - self._told))

    def apply(self, event: events.Event) -> list[str]:
        """Apply one event; return the keys of the runs that changed."""
        match event:
            case events.Planned(points=points, estimate_s=estimate):
                self.planned = event.total
                for point in points:
                    self.runs.setdefault(point.key, RunItem(point))
                self._tell(estimate)
                return [point.key for point in points]
            case events.Building():
                self._go("building")
                self.compiled = building_words(event) if event.of else ""
            case events.RunStarted(point=point):
                self._go("running")
                item = self._item(point)
                self._placed(item, event.where)
                item.phase, item.started = "running", self.clock()
                return [point.key]
            case events.Workers(workers=workers, slots=slots, idle=idle):
                self.count, self.slots, self.idle = workers, slots, idle
            case events.RunFinished() | events.RunFailed() | events.RunSkipped():
                return [self._ended_run(event)]
            case events.Note(text=text):
                self.notes.append(text)
            case events.Done():
                self._done(event)
                return list(self.runs)
        return []

    def _placed(self, item: RunItem, where: str) -> None:
        """Record the worker that started a run, and take the run from a lost worker that had started it."""
        if before := self.workers.get(item.where):
            before.running = [key for key in before.running if key != item.point.key]
        item.where = where
        if where:
            self.workers.setdefault(where, WorkerItem()).running.append(item.point.key)

    def place(self) -> str:
        """Return the cluster and its workers as text; empty for this computer."""
        if self.where is None:
            return ""
        idle = f", {self.idle} idle" if self.idle and not self.ended else ""
        return self.where.address + (f", {counted(self.count, 'worker')}{idle}" if self.count is not None else "")

    def worker_lines(self) -> list[str]:
        """Return one line per worker: what it has done and is doing."""
        lines = []
        for name, worker in sorted(self.workers.items()):
            running = [self.runs[key].point.label() for key in worker.running]
            now = f", now {'; '.join(running)}" if running else ""
            lines.append(f"{name}: {counted(worker.done, 'run')} done{now}")
        return lines

    def _ended_run(self, event: events.RunFinished | events.RunFailed | events.RunSkipped) -> str:
        item = self._item(event.point)
        self.finished, self.planned = event.finished, event.total
        if (worker := self.workers.get(item.where)) is not None and item.point.key in worker.running:
            worker.running.remove(item.point.key)
            worker.done += 1
        match event:
            case events.RunFinished(record=record):
                item.phase, item.record = "done", record
                self._tell(event.remaining_s)
            case events.RunFailed(message=message, record=record):
                item.phase, item.message, item.record = "failed", message, record
                self._tell(event.remaining_s)
            case events.RunSkipped():
                item.phase = "kept"
        return item.point.key

    def _done(self, event: events.Done) -> None:
        for run in self.runs.values():
            if run.phase in ("waiting", "running"):
                run.phase = "cancelled"
        if event.cancelled:
            self.phase = "cancelled"
        else:
            self.phase = "failed" if event.messages or (event.failed and not event.finished) else "done"
        self.message = " ".join(event.messages)
        for worker in self.workers.values():
            worker.running = []

    def fail(self, message: str, output: str = "") -> None:
        """End the whole request with an error."""
        self.phase, self.message, self.output = "failed", message, output
        for run in self.runs.values():
            if run.phase in ("waiting", "running"):
                run.phase = "cancelled"

    def stop(self) -> None:
        """Show that a stop was requested."""
        if not self.ended:
            self.phase = "stopping"

    def cancelled(self) -> None:
        """End the request as stopped by the user."""
        if not self.ended:
            self._done(events.Done(self.finished, self.failed, cancelled=True))

    def said(self) -> str:
        """Return the state as text: ``12 of 30 runs, 2 failed, 20 s left``."""
        parts = [f"{self.finished} of {self.total} runs"] if self.total else []
        if self.failed:
            parts.append(f"{self.failed} failed")
        words = {
            "waiting": "waiting",
            "building": self.compiled or "compiling",
            "stopping": "stopping",
            "cancelled": "cancelled",
        }
        if self.phase in words:
            parts.append(words[self.phase])
        left = self.left_s()
        if left is not None and left >= _WORTH_SAYING_S and self.phase == "running":
            parts.append(f"{seconds(left)} left")
        return ", ".join(parts)

    def _go(self, phase: Phase) -> None:
        if self.phase in ("waiting", "building", "running"):
            self.phase = phase

    def _tell(self, remaining: float | None) -> None:
        if remaining is not None:
            self.remaining_s, self._told = remaining, self.clock()

    def _item(self, point: RunPoint) -> RunItem:
        return self.runs.setdefault(point.key, RunItem(point))
