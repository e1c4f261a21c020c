"""The only file that starts threads: work runs outside the window's thread and returns results by queued signals."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

from scalegraph.base.cancel import CancelToken, working
from scalegraph.base.errors import Cancelled, ScaleGraphError
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.turn_queue import turn_queue

log: Final = logging.getLogger(__name__)

Work = Callable[["Reporter"], Any]


class Reporter:
    """Passed to work in another thread: its cancel token and a function that sends messages to the window."""

    def __init__(self, token: CancelToken, send: Callable[[object], None]) -> None:
        self.token = token
        self.send = send


class _Relay(QObject):
    """Carries results out of the thread; its connection to `Job` is queued."""

    said = Signal(object)
    shared = Signal(float)
    ended = Signal(object, object)  # result, error


class _Task(QRunnable):
    def __init__(self, work: Work, relay: _Relay, token: CancelToken) -> None:
        super().__init__()
        self._work: Work | None = work
        self._relay = relay
        self._token = token

    def run(self) -> None:
        result: object = None
        error: BaseException | None = None
        work, self._work = self._work, None
        try:
            self._token.check()
            assert work is not None
            with working(self._token, self._relay.shared.emit):
                result = work(Reporter(self._token, self._relay.said.emit))
        except Exception as caught:  # noqa: BLE001 - whatever it is, it belongs into the window and the log
            error = caught
        self._relay.ended.emit(result, error)


class Job(QObject):
    """A piece of work in progress. Its signals arrive in the window's thread; one of the last three ends it."""

    said = Signal(object)
    shared = Signal(float)  # fraction done, 0 to 1, if the work reports it (`checkpoint`)
    done = Signal(object)
    failed = Signal(object)  # an Exception
    cancelled = Signal()
    ended = Signal()
    over = Signal(object)  # the job itself, after all others

    def __init__(self, name: str, token: CancelToken, parent: QObject) -> None:
        super().__init__(parent)
        self.name = name
        self.token = token
        self._relay = _Relay(self)
        self._relay.said.connect(self._on_said, Qt.ConnectionType.QueuedConnection)
        self._relay.shared.connect(self._on_shared, Qt.ConnectionType.QueuedConnection)
        self._relay.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    def cancel(self) -> None:
        """Ask the work to stop; its end is still signalled."""
        self.token.cancel()

    @property
    def relay(self) -> _Relay:
        """The relay held by the thread."""
        return self._relay

    @Slot(object)
    def _on_said(self, what: object) -> None:
        self.said.emit(what)

    @Slot(float)
    def _on_shared(self, share: float) -> None:
        self.shared.emit(share)

    @Slot(object, object)
    def _on_ended(self, result: object, error: object) -> None:
        """Deliver the result in a turn with time for it, so that pictures ready together come one by one."""
        turn_queue().add(self, lambda: self._hand_over(result, error))

    def _hand_over(self, result: object, error: object) -> None:
        if isinstance(error, Cancelled):
            self.cancelled.emit()
        elif isinstance(error, Exception):
            if not isinstance(error, ScaleGraphError):
                log.error("%s failed", self.name, exc_info=error)
            self.failed.emit(error)
        else:
            self.done.emit(result)
        self.ended.emit()
        self.over.emit(self)


class Jobs(QObject):
    """Thread pools: one for short work (checks, plans, reading) and one for requests, which run one after another."""

    idle = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._short = QThreadPool(self)
        self._short.setMaxThreadCount(3)
        self._quick = QThreadPool(self)  # for work that follows the pointer and must not wait for an analysis
        self._quick.setMaxThreadCount(2)
        self._long = QThreadPool(self)
        self._long.setMaxThreadCount(1)  # one is enough: control runs the points in parallel itself
        self._running: list[Job] = []

    @property
    def running(self) -> tuple[Job, ...]:
        """Work that has not ended."""
        return tuple(self._running)

    def start(
        self,
        name: str,
        work: Work,
        *,
        done: Callable[[Any], None] | None = None,
        failed: Callable[[Exception], None] | None = None,
        said: Callable[[Any], None] | None = None,
        long: bool = False,
        quick: bool = False,
    ) -> Job:
        """Run *work* in another thread and return at once.

        *done*, *failed* and *said* are called in this thread. *long* work waits for other long work; *quick* work waits
        only for other quick work.
        """
        job = Job(name, CancelToken(), self)
        if done is not None:
            job.done.connect(done)
        if failed is not None:
            job.failed.connect(failed)
        if said is not None:
            job.said.connect(said)
        job.over.connect(self._forget)  # a lambda would keep this parent alive until the job is half deleted
        self._running.append(job)
        pool = self._long if long else self._quick if quick else self._short
        pool.start(_Task(work, job.relay, job.token))
        return job

    def cancel_all(self) -> None:
        """Ask all work to stop."""
        for job in self._running:
            job.cancel()

    def abandon(self) -> None:
        """Forget work that does not stop: the application is ending, and its child processes with it."""
        self._running.clear()

    def join(self, milliseconds: int) -> bool:
        """Wait for the threads after `cancel_all`; for the application's end, when no event loop runs."""
        return all(pool.waitForDone(milliseconds) for pool in (self._quick, self._short, self._long))

    @Slot(object)
    def _forget(self, job: Job) -> None:
        if job in self._running:
            self._running.remove(job)
        job.deleteLater()
        if not self._running:
            self.idle.emit()


class Latest(QObject):
    """Runs only the newest of similar requests (live checks, plans): while one runs, only the last one waits."""

    shared = Signal(float)  # fraction of the newest done, 0 to 1, if known

    def __init__(
        self, jobs: Jobs, name: str, parent: QObject | None = None, *, every: bool = False, quick: bool = False
    ) -> None:
        """*every*: deliver an answer even if newer work waits (a growing study); otherwise it is dropped.

        It can be changed at any time: while a line is dragged, late answers are better than none.
        """
        super().__init__(parent)
        self._jobs = jobs
        self._name = name
        self.every = every
        self._quick = quick
        self._stopped = False
        self._job: Job | None = None
        self._next: tuple[Work, Callable[[Any], None], Callable[[Exception], None], Callable[[Any], None]] | None = None

    @property
    def busy(self) -> bool:
        """Whether an answer is pending."""
        return self._job is not None

    def ask(
        self,
        work: Work,
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        said: Callable[[Any], None] = lambda _what: None,
    ) -> None:
        """Run *work* after the current one; *said* gets its messages."""
        self._next = (work, done, failed, said)
        self._stopped = False
        if self._job is None:
            self._begin()
        elif not self.every:
            self._job.cancel()

    def stop(self) -> None:
        """Drop waiting and running work."""
        self._next = None
        self._stopped = True
        if self._job is not None:
            self._job.cancel()

    def _begin(self) -> None:
        if self._next is None:
            return
        (work, done, failed, said), self._next = self._next, None
        job = self._jobs.start(self._name, work, quick=self._quick)
        self._job = job

        def deliver(report: Callable[[Any], None]) -> Callable[[Any], None]:
            def tell_if_newest(answer: Any) -> None:
                if not self._stopped and (self.every or (self._next is None and not job.token.cancelled)):
                    report(answer)

            return tell_if_newest

        job.done.connect(tied(self, deliver(done)))
        job.failed.connect(tied(self, deliver(failed)))
        job.said.connect(tied(self, deliver(said)))
        job.shared.connect(tied(self, deliver(self.shared.emit)))
        job.ended.connect(self._ended)

    @Slot()
    def _ended(self) -> None:
        self._job = None
        self._begin()
