"""Many parallel runs, on a target made for the test."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.base.events import Event, RunFailed, RunFinished, RunSkipped, RunStarted
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control.execute import Progress, execute, skip
from scalegraph.link import Build, Job
from scalegraph.machine import Machine

BUILD = Build("prog", Path(), Path(), Path(), (), (), (), "digest")


class Target:
    """Does what *act* says instead of running anything."""

    def __init__(self, act: Callable[[RunPoint, CancelToken], RunRecord]) -> None:
        self._act = act

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        assert cancel is not None
        return self._act(job.point, cancel)


class _Named:
    name = "none"


def jobs(*counts: int) -> list[Job]:
    return [Job(BUILD, cast("Machine", _Named()), RunPoint(processors=count)) for count in counts]


def record(point: RunPoint, **changes: Any) -> RunRecord:
    values = {"source": "simulated", "program": "p", "machine": "m", "point": point, "time_s": 1.0, "host_s": 2.0}
    return RunRecord(**{**values, **changes})


def test_records_come_in_the_order_of_the_jobs_and_land_one_by_one() -> None:
    second_done = threading.Event()

    def act(point: RunPoint, _cancel: CancelToken) -> RunRecord:
        if point.processors == 1:
            assert second_done.wait(60)
        else:
            second_done.set()
        return record(point)

    landed: list[int] = []
    records = execute(
        jobs(1, 2), on_record=lambda one: landed.append(one.point.processors), workers=2, link=Target(act)
    )
    assert [one.point.processors for one in records] == [1, 2]
    assert landed == [2, 1]


def test_events_tell_start_end_count_and_time_left() -> None:
    events: list[Event] = []
    execute(jobs(1, 2), emit=events.append, workers=1, link=Target(lambda point, _: record(point)))
    ends = [event for event in events if isinstance(event, RunFinished)]
    assert sorted(type(event).__name__ for event in events) == ["RunFinished"] * 2 + ["RunStarted"] * 2
    assert isinstance(events[0], RunStarted)
    assert [(event.finished, event.total, event.remaining_s) for event in ends] == [(1, 2, 2.0), (2, 2, 0.0)]


def test_one_failure_does_not_stop_the_others() -> None:
    def act(point: RunPoint, _cancel: CancelToken) -> RunRecord:
        if point.processors == 1:
            raise RunError("cannot be started")
        return record(point, status="crashed" if point.processors == 2 else "ok", message="bang")

    events: list[Event] = []
    progress = Progress(total=3)
    records = execute(jobs(1, 2, 3), emit=events.append, workers=1, link=Target(act), progress=progress)
    failures = [(event.message, event.record is None) for event in events if isinstance(event, RunFailed)]
    assert failures == [("cannot be started", True), ("bang", False)]
    assert [one.status for one in records] == ["crashed", "ok"]
    assert (progress.finished, progress.failed) == (3, 2)


def test_cancel_keeps_what_is_finished_and_begins_nothing_more() -> None:
    token = CancelToken()
    begun: list[int] = []

    def act(point: RunPoint, cancel: CancelToken) -> RunRecord:
        begun.append(point.processors)
        if point.processors == 2:
            token.cancel()
            assert cancel.cancelled
            return record(point, status="cancelled")
        return record(point)

    records = execute(jobs(1, 2, 3, 4), cancel=token, workers=1, link=Target(act))
    assert begun == [1, 2]
    assert [one.point.processors for one in records] == [1]


def test_what_the_store_raises_goes_up_and_stops_the_rest() -> None:
    begun: list[int] = []

    def act(point: RunPoint, cancel: CancelToken) -> RunRecord:
        begun.append(point.processors)
        if point.processors > 1:
            assert cancel.wait(0) or cancel.cancelled or point.processors == 2
        return record(point)

    def full(_record: RunRecord) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        execute(jobs(*range(1, 200)), on_record=full, workers=1, link=Target(act))
    assert len(begun) < 199


def test_fault_of_ours_in_a_worker_goes_up() -> None:
    def act(_point: RunPoint, _cancel: CancelToken) -> RunRecord:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        execute(jobs(1), link=Target(act))


def test_known_point_is_counted_and_told() -> None:
    events: list[Event] = []
    progress = Progress(total=2)
    skip(RunPoint(processors=1), progress, events.append)
    assert events == [RunSkipped(RunPoint(processors=1), 1, 2)]
