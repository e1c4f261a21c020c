"""Runs many points in parallel on the host's cores, and reports progress in one event stream."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from scalegraph.base.cancel import AnyToken, CancelToken
from scalegraph.base.errors import LinkLost, ScaleGraphError
from scalegraph.base.events import Event, EventSink, RunFailed, RunFinished, RunSkipped, RunStarted, ignore
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control.remaining import Remaining
from scalegraph.link import Job, Link, Simulated
from scalegraph.link.job import QueuedLink, cancelled


@dataclass
class Progress:
    """Counters of a request, passed from one `execute` to the next when a search adds points."""

    total: int = 0
    finished: int = 0
    failed: int = 0


_Started: TypeAlias = tuple[Job, str]  # the worker, empty on this host
_Ended: TypeAlias = tuple[Job, RunRecord | ScaleGraphError | BaseException]


def default_workers() -> int:
    """Return the number of parallel runs on this host: one per available core."""
    return max(1, len(os.sched_getaffinity(0)))


def execute(
    jobs: Sequence[Job],
    *,
    on_record: Callable[[RunRecord], None] | None = None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    link: Link | None = None,
) -> list[RunRecord]:
    """Run *jobs*, at most *workers* at a time, and return the records in the order of *jobs*.

    On a link with its own workers more jobs are queued there; *workers* then only estimates the speed.

    When a run ends, first *on_record* gets its record (even if failed, but not if cancelled), then *emit* one of
    ``RunFinished`` / ``RunFailed``; both are called in the caller's thread. The caller, who knows the whole request,
    sends ``Planned`` before and ``Done`` after. A failed run does not stop the others. On cancellation, active runs are
    killed, the others not started, and the finished records returned: check *cancel* to tell. An exception from
    *on_record* (disk full) or a lost link stops everything and is propagated.
    """
    cancel = cancel or CancelToken()
    stop = AnyToken(cancel)
    count = progress or Progress(total=len(jobs))
    number = min(workers or default_workers(), max(1, len(jobs)))
    left = Remaining([(job.point.key, job.estimate_s) for job in jobs], number)
    news: queue.SimpleQueue[_Started | _Ended] = queue.SimpleQueue()
    records: dict[str, RunRecord] = {}
    threads = min(link.at_once, max(1, len(jobs))) if isinstance(link, QueuedLink) else number
    with ThreadPoolExecutor(threads, thread_name_prefix="run") as pool:
        for job in jobs:
            pool.submit(_work, job, link or Simulated(), stop, news)
        waiting = len(jobs)
        try:
            while waiting:
                job, what = news.get()
                if isinstance(what, str):
                    emit(RunStarted(job.point, what))
                    continue
                waiting -= 1
                if isinstance(what, RunRecord) and what.status == "cancelled":
                    continue
                if isinstance(what, RunRecord):
                    records[job.point.key] = what
                    if on_record is not None:
                        on_record(what)
                left.ended(job.point.key, what.host_s if isinstance(what, RunRecord) else None)
                _tell(job, what, count, left.seconds(), emit)
        except BaseException:
            stop.cancel()
            raise
    return [records[job.point.key] for job in jobs if job.point.key in records]


def _work(job: Job, link: Link, cancel: CancelToken, news: queue.SimpleQueue[_Started | _Ended]) -> None:
    """Run one job in a worker thread; whatever happens, report exactly one end."""
    if cancel.cancelled:
        news.put((job, cancelled(job)))
        return
    try:
        if isinstance(link, QueuedLink):
            record = link.run(job, cancel, lambda where: news.put((job, where)))
        else:
            news.put((job, ""))
            record = link.run(job, cancel)
    except BaseException as error:  # noqa: BLE001 - goes up in the caller's thread
        news.put((job, error))
    else:
        news.put((job, record))


def _tell(
    job: Job, what: RunRecord | BaseException, count: Progress, remaining_s: float | None, emit: EventSink
) -> None:
    """Send the event for the end of a run; re-raise errors that are not the run's own."""
    if isinstance(what, BaseException) and (isinstance(what, LinkLost) or not isinstance(what, ScaleGraphError)):
        raise what
    count.finished += 1
    event: Event
    if isinstance(what, RunRecord) and what.ok:
        event = RunFinished(job.point, what, count.finished, count.total, remaining_s)
    else:
        count.failed += 1
        message = what.message if isinstance(what, RunRecord) else str(what)
        record = what if isinstance(what, RunRecord) else None
        event = RunFailed(job.point, message, record, count.finished, count.total, remaining_s)
    emit(event)


def skip(point: RunPoint, progress: Progress, emit: EventSink) -> None:
    """Count *point*, which the study already has, and report it."""
    progress.finished += 1
    emit(RunSkipped(point, progress.finished, progress.total))
