"""State of the queue: requests with their runs, fed by the event stream; free of any toolkit."""

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
    """One run of a request. *started* is on the clock of `QueueEntry.clock` (seconds)."""

    point: RunPoint
    phase: RunPhase = "waiting"
    started: float | None = None
    message: str = ""
    record: RunRecord | None = None
    where: str = ""  # the worker that has begun it, empty on this computer


@dataclass
class WorkerItem:
    """What one worker of a cluster has done of a request."""

    done: int = 0
    running: list[str] = field(default_factory=list)  # keys of runs


@dataclass
class QueueEntry:
    """One request that was started."""

    title: str
    path: Path
    request: object
    clock: Callable[[], float] = time.monotonic
    phase: Phase = "waiting"
    runs: dict[str, RunItem] = field(default_factory=dict)
    finished: int = 0
    planned: int = 0  # runs that the engine counts: more than points where some are run again for their traces
    remaining_s: float | None = None
    notes: list[str] = field(default_factory=list)
    message: str = ""
    output: str = ""  # the compiler's own text, when the program could not be built
    where: Where | None = None  # whose workers carry the runs out; None: this computer
    workers: dict[str, WorkerItem] = field(default_factory=dict)
    slots: int | None = None  # runs that the place does side by side now
    count: int | None = None  # its workers now
    idle: int = 0  # of them: those that have no run
    quiet: bool = False  # shown elsewhere: the queue does not come up for it
    serial: int = field(default_factory=lambda: next(_serials))
    compiled: str = ""  # how far a build is that counts its files
    _told: float = 0.0  # when remaining_s was said

    @property
    def total(self) -> int:
        """Number of runs known so far, never fewer than those that ended; a search adds to it."""
        return max(self.planned, len(self.runs), self.finished)

    @property
    def failed(self) -> int:
        """Number of runs that ended badly."""
        return sum(1 for run in self.runs.values() if run.phase == "failed")

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.phase in ENDED

    def left_s(self) -> float | None:
        """Return the estimated seconds left, counted down since the engine last said."""
        if self.remaining_s is None or self.ended:
            return None
        return max(0.0, self.remaining_s - (self.clock() - self._told))

    def apply(self, event: events.Event) -> list[str]:
        """Take in one event; return the keys of the runs that changed."""
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
        """Note on which worker a run has begun; where it had begun before, that worker is lost."""
        if before := self.workers.get(item.where):
            before.running = [key for key in before.running if key != item.point.key]
        item.where = where
        if where:
            self.workers.setdefault(where, WorkerItem()).running.append(item.point.key)

    def place(self) -> str:
        """Return where the runs are carried out, by how many workers, in words; empty for this computer."""
        if self.where is None:
            return ""
        idle = f", {self.idle} idle" if self.idle and not self.ended else ""
        return self.where.address + (f", {counted(self.count, 'worker')}{idle}" if self.count is not None else "")

    def worker_lines(self) -> list[str]:
        """Return what each worker has done and does, a line each."""
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
        """End the whole request: it could not be carried out."""
        self.phase, self.message, self.output = "failed", message, output
        for run in self.runs.values():
            if run.phase in ("waiting", "running"):
                run.phase = "cancelled"

    def stop(self) -> None:
        """Show that stopping was requested."""
        if not self.ended:
            self.phase = "stopping"

    def cancelled(self) -> None:
        """End the request as stopped by the user."""
        if not self.ended:
            self._done(events.Done(self.finished, self.failed, cancelled=True))

    def said(self) -> str:
        """Return the state in words: ``12 of 30 runs, 2 failed, 20 s left``."""
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
