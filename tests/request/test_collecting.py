"""Data to collect is also collected for a study's existing runs; existing data is never lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.events import Event, RunSkipped
from scalegraph.request import Request, Session
from scalegraph.store import Study

Requests = Callable[..., Request]
COUNTS = [1, 2, 4, 8]


def _again(link: Any, request: Request, path: Path) -> list[int]:
    target = link()
    Session(link=target).submit(request, path).close()
    return sorted(point.processors for point in target.points)


@pytest.mark.parametrize("less", [{"classes": False}, {"lines": False}])
def test_runs_that_were_kept_without_it_are_made_once_more(
    link: Any, request_of: Requests, tmp_path: Path, less: dict[str, bool]
) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(collect=less), path).close()
    more = request_of(collect={"classes": True, "lines": True})
    assert Session().plan(more, path).done == 0
    assert _again(link, more, path) == COUNTS
    with Study.open(path) as study:
        assert all(run.collected == ("classes",) and run.lines for run in study.runs())
    assert Session().plan(more, path).done == 4
    assert _again(link, more, path) == []


@pytest.mark.slow
def test_what_was_collected_stays_when_a_run_is_made_for_something_else(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(trace={}), path).close()
    assert _again(link, request_of(collect={"classes": True}), path) == COUNTS
    with Study.open(path) as study:
        assert all(run.trace is not None for run in study.runs() if run.point.processors > 1)
    other = request_of(trace={"what": ["waits"]}, collect={"lines": False})
    assert _again(link, other, path)
    with Study.open(path) as study:
        assert all(run.collected == ("classes",) and run.lines for run in study.runs())


def test_runs_with_more_than_is_asked_for_are_done(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(collect={"classes": True}), path).close()
    events: list[Event] = []
    Session(link=link()).submit(request_of(collect={"lines": False}), path, events.append).close()
    assert sum(isinstance(event, RunSkipped) for event in events) == 4


def test_a_run_that_fails_with_more_collected_leaves_the_good_one(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(), path).close()
    events: list[Event] = []
    crashing = link(times=lambda _point: None)
    Session(link=crashing).submit(request_of(collect={"classes": True}), path, events.append).close()
    with Study.open(path) as study:
        assert all(run.ok for run in study.runs())
    assert any("nothing more was collected" in str(event) for event in events)
