"""Small jobs for the window's thread, a few milliseconds of them per turn of the event loop."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from PySide6.QtCore import QCoreApplication, QObject, QTimer
from shiboken6 import isValid

Job: TypeAlias = Callable[[], object]
_BUDGET_S: Final = 0.010  # of processor time per turn; the rest waits for the next
_KEPT: Final = "turn queue"  # property of the application that holds the queue


class TurnQueue(QObject):
    """Runs jobs in order. A job whose owner has been deleted is dropped.

    A *heavy* job (building a panel) gets a turn of its own. Light jobs share a turn until its budget is spent.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs: deque[tuple[QObject, Job, bool]] = deque()
        self._timer = QTimer(self, interval=0, singleShot=True)
        self._timer.timeout.connect(self._turn)
        self._spent = 0.0  # processor time [s] that jobs of `spend` took in this turn
        self._fresh = QTimer(self, interval=0, singleShot=True)
        self._fresh.timeout.connect(self._refresh)

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, owner: QObject, job: Job, *, heavy: bool = False) -> None:
        """Run *job* in a later turn, after those already waiting."""
        self._jobs.append((owner, job, heavy))
        if not self._timer.isActive():
            self._timer.start()

    def drop(self, owner: QObject) -> None:
        """Drop the jobs of *owner*."""
        self._jobs = deque(entry for entry in self._jobs if entry[0] is not owner)

    def has(self, owner: QObject) -> bool:
        """Return whether a job of *owner* waits."""
        return any(entry[0] is owner for entry in self._jobs)

    def spend(self, job: Job) -> bool:
        """Run *job* now and return True; return False if such jobs have used up the current turn's time."""
        if self._spent > _BUDGET_S:
            return False
        begun = time.thread_time()
        job()
        self._spent += time.thread_time() - begun
        if not self._fresh.isActive():
            self._fresh.start()
        return True

    def _refresh(self) -> None:
        self._spent = 0.0

    def _turn(self) -> None:
        begun = time.thread_time()
        while self._jobs:
            owner, job, heavy = self._jobs.popleft()
            if self._jobs:
                self._timer.start()  # removed before it runs: it may raise, or open a dialog with its own event loop
            if not isValid(owner):
                continue
            job()
            after_heavy = heavy or (self._jobs and self._jobs[0][2])
            if after_heavy or time.thread_time() - begun > _BUDGET_S:
                return


def turn_queue() -> TurnQueue:
    """Return the application's queue, created on first use."""
    application = QCoreApplication.instance()
    found = application.property(_KEPT) if application is not None else None
    if isinstance(found, TurnQueue):
        return found
    made = TurnQueue(application)
    if application is not None:
        application.setProperty(_KEPT, made)
    return made
