"""Requests are executed once, resumed, cancelled and refused as users expect; on a target that costs nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, StoreError
from scalegraph.base.events import Done, Event, Note, Planned, RunFailed, RunFinished, RunSkipped
from scalegraph.base.run import RunPoint
from scalegraph.request import Request, Session
from scalegraph.request.model.resolve import resolved
from scalegraph.store import Study

Requests = Callable[..., Request]
EFFICIENCY = {"kind": "efficiency", "value": 0.5, "tolerance": 0.03}


def test_every_run_lands_in_the_study_and_events_tell_of_it(link: Any, request_of: Requests, tmp_path: Path) -> None:
    events: list[Event] = []
    target = link()
    with Session(link=target).submit(request_of(), tmp_path / "a.sgstudy", events.append) as study:
        assert sorted(run.point.processors for run in study.runs()) == [1, 2, 4, 8]
        assert study.manifest.program == "p"
        assert study.manifest.sources[0].text == "int main;\n"
        assert study.manifest.machine_values["name"] == "ksr1"
    assert isinstance(events[0], Planned)
    assert sum(isinstance(event, RunFinished) for event in events) == 4
    assert events[-1] == Done(4, 0)
    assert sum(isinstance(event, Done) for event in events) == 1
    assert target.args[0] == ("1000",)


def test_the_one_processor_run_is_added(link: Any, request_of: Requests) -> None:
    with Session(link=link()).submit(request_of(processors=[4]), None) as study:
        assert sorted(run.point.processors for run in study.runs()) == [1, 4]


def test_a_study_that_has_runs_is_completed(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    first, second = link(), link()
    Session(link=first).submit(request_of(processors=[1, 2]), path).close()
    events: list[Event] = []
    with Session(link=second).submit(request_of(), path, events.append) as study:
        assert len(study) == 4
    assert sorted(point.processors for point in second.points) == [4, 8]
    assert sum(isinstance(event, RunSkipped) for event in events) == 2


def test_a_cancelled_request_keeps_its_runs_and_goes_on_later(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    token = CancelToken()
    target = link(cancel_after=2)
    target.token = token
    events: list[Event] = []
    with Session(link=target, workers=1).submit(request_of(), path, events.append, token) as study:
        kept = len(study)
    assert 1 <= kept < 4
    assert isinstance(events[-1], Done)
    assert events[-1].cancelled
    again = link()
    Session(link=again).submit(request_of(), path).close()
    assert len(again.points) == 4 - kept


def test_runs_that_cannot_be_compared_are_not_mixed(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    session = Session(link=link())
    session.submit(request_of(), path).close()
    other = request_of(machine={"name": "cerberus"}, schedule="dynamic")
    with pytest.raises(InputError, match="4 runs of another machine and another loop schedule"):
        session.submit(other, path)
    with session.submit(other, path, overwrite=True) as study:
        assert study.manifest.machine == "cerberus"


def test_a_failed_run_is_kept_the_others_go_on_and_it_is_tried_again(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    path = tmp_path / "a.sgstudy"
    broken = link(lambda point: None if point.processors == 4 else 1.0)
    events: list[Event] = []
    with Session(link=broken).submit(request_of(), path, events.append) as study:
        assert sorted(run.status for run in study.runs()) == ["crashed", "ok", "ok", "ok"]
    assert sum(isinstance(event, RunFailed) for event in events) == 1
    assert events[-1] == Done(3, 1)
    good = link()
    Session(link=good).submit(request_of(), path).close()
    assert [point.processors for point in good.points] == [4]


@pytest.mark.slow
def test_a_search_finds_the_size_and_its_outcome_is_kept(link: Any, request_of: Requests, tmp_path: Path) -> None:
    target = link()
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[2, 8])
    events: list[Event] = []
    with Session(link=target).submit(request, tmp_path / "a.sgstudy", events.append) as study:
        outcomes = study.facts("searches")
    assert [outcome["met"] for outcome in outcomes] == [True, True]
    for outcome in outcomes:  # E = 1/2 where n = N^1.5 * overhead
        count = outcome["processors"]
        exact = count * 100 * (count - 1) ** 0.5
        assert abs(outcome["parameters"]["n"] / exact - 1) < 0.15
    assert sum(outcome["runs"] for outcome in outcomes) == len(target.points)
    notes = [event.text for event in events if isinstance(event, Note)]
    assert any("N = 8, E = 0.5: n = " in text for text in notes)
    assert len({point.key for point in target.points}) == len(target.points), "no run is made twice"


@pytest.mark.slow
def test_a_search_uses_the_runs_that_are_there(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[2, 8])
    Session(link=link()).submit(request, path).close()
    again = link()
    Session(link=again).submit(request, path).close()
    assert again.points == []


def test_a_goal_out_of_reach_is_said(link: Any, request_of: Requests) -> None:
    hopeless = link(lambda point: float(point.parameters["n"]))  # no speedup at all
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[4])
    with Session(link=hopeless).submit(request, None) as study:
        (outcome,) = study.facts("searches")
    assert not outcome["met"]
    assert "not reached" in outcome["sentence"]


@pytest.mark.slow
def test_sizes_that_crash_do_not_stop_a_search(link: Any, request_of: Requests) -> None:
    from_link = link()
    plain = from_link.times
    from_link.times = lambda point: None if point.parameters["n"] > 5000 else plain(point)
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[2, 64])
    with Session(link=from_link).submit(request, None) as study:
        near, far = study.facts("searches")
    assert near["met"]
    assert not far["met"]


def test_repetitions_are_runs_of_their_own_and_their_median_counts(link: Any, request_of: Requests) -> None:
    request = request_of(repetitions=3, scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[2])
    target = link()
    base = target.times
    target.times = lambda point: base(point) * (50 if point.repetition == 2 else 1)  # one outlier in three
    with Session(link=target).submit(request, None) as study:
        (outcome,) = study.facts("searches")
    assert outcome["met"]
    assert len(target.points) % 3 == 0


def test_a_full_disk_ends_the_request_with_a_sentence(
    link: Any, request_of: Requests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StoreError("a.sgstudy: cannot be written: the disk is full")

    monkeypatch.setattr(Study, "add_run", full)
    events: list[Event] = []
    with pytest.raises(StoreError, match="disk is full"):
        Session(link=link()).submit(request_of(), tmp_path / "a.sgstudy", events.append)
    assert isinstance(events[-1], Done)
    assert "disk is full" in events[-1].messages[0]
    monkeypatch.undo()
    Study.open(tmp_path / "a.sgstudy", write=True).close()  # the lock is gone


def test_the_plan_counts_what_is_done_and_learns_from_it(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    session = Session(link=link(), workers=2)
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[{"kind": "problem_size"}, EFFICIENCY])
    before = session.plan(request)
    assert len(before.points) == 4
    assert len(before.searches) == 3
    assert before.estimate_s is None
    assert before.runs_at_most == 4 + 3 * 2 * 10
    session.submit(request_of(processors=[1, 2]), path).close()
    after = session.plan(request, path)
    assert after.done == 2
    assert after.estimate_s is not None
    assert after.estimate_s > 0


@pytest.mark.slow
def test_no_more_runs_end_than_were_planned_and_the_plan_held_them_all(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    request = request_of(
        processors=[1, 2, 4],
        scaling={"grow": {"n": "N"}},
        bound=[{"kind": "problem_size"}, EFFICIENCY],
        trace={"sizes": "all"},
        what_if=[{"ideal": ["cache"]}],
    )
    session, seen = Session(link=link()), []
    session.submit(request, tmp_path / "a.sgstudy", seen.append).close()
    planned, ended = 0, 0
    for event in seen:
        planned = event.total if isinstance(event, Planned) else planned
        if isinstance(event, RunFinished | RunFailed | RunSkipped):
            ended += 1
            assert event.finished == ended <= event.total == planned
    assert len({event.point.key for event in seen if isinstance(event, RunFinished)}) < ended, "some are run again"
    assert ended == planned <= session.plan(request).runs_at_most


def test_growth_and_memory_bounds_choose_their_sizes(request_of: Requests) -> None:
    plan = Session().plan(request_of(scaling={"grow": {"n": "2 * N"}}, bound={"kind": "growth"}, processors=[1, 4]))
    assert {(point.processors, point.parameters["n"]) for point in plan.points} == {(1, 2000), (1, 8000), (4, 8000)}
    request = Request.model_validate(
        {
            "program": {"name": "ge2"},
            "scaling": {"method": "II"},
            "bound": {"kind": "memory", "value": 1e6},
            "processors": [1, 4],
        }
    )
    sizes = {point.processors: point.parameters for point in Session().plan(request).points}
    assert isinstance(sizes[4]["n"], int)
    memory = resolved(request).family.memory_of(sizes[4])
    assert memory is not None
    assert abs(memory / 4e6 - 1) < 0.01


def test_lists_of_values_sweep(link: Any, request_of: Requests) -> None:
    plan = Session().plan(request_of(parameters={"n": [10, 20]}, processors=[1, 2]))
    assert {(point.processors, point.parameters["n"]) for point in plan.points} == {(1, 10), (2, 10), (1, 20), (2, 20)}


def test_lines_are_left_out_when_not_collected(link: Any, request_of: Requests) -> None:
    with Session(link=link()).submit(request_of(collect={"lines": False, "regions": False}), None) as study:
        assert all(run.lines == () for run in study.runs())


def test_simulate_runs_sources_with_plain_arguments(link: Any, tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    target = link()
    with Session(link=target).simulate([source], processors=[1, 2], args=["-x", "{brace}"]) as study:
        assert len(study) == 2
    assert target.args[0] == ("-x", "{brace}")


@pytest.mark.slow
def test_a_study_is_seen_as_views_want_it(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    session = Session(link=link())
    session.submit(request_of(), path).close()
    data = session.study_data(path)
    assert list(data.table["processors"].sort_values()) == [1, 2, 4, 8]
    assert data.machine_title == "KSR-1"
    assert data.sources[0].file == "p.c"
    figure = session.view(path, "time")
    assert figure.sentence
    assert session.open(path) is session.open(path)
    session.close()


@pytest.mark.slow
def test_the_size_of_a_unit_speed_is_searched_on_every_count(link: Any, request_of: Requests, tmp_path: Path) -> None:
    """isospeed.txt IV.A, approach 1: psi measured by a control program that searches the runs."""

    def overhead(n: int) -> float:
        return 50 + 30 * math.log2(n)

    def time(point: RunPoint) -> float:
        return float(point.parameters["n"]) / point.processors + overhead(point.processors)

    session = Session(link=link(time))
    bound = {"kind": "speed", "value": 0.5e6, "tolerance": 0.02, "max_runs": 20}
    request = request_of(bound=bound, scaling={"grow": {"n": "N"}}, parameters={"n": 200})
    with session.submit(request, tmp_path / "a.sgstudy") as study:
        made = session.matrix(study, bound="speed", metric="isospeed")
        searches = study.facts("searches")
    assert made is not None
    assert made.processors == (1, 2, 4, 8)
    assert set(made.ways.values()) == {"measured"}
    # half of 1e6 op/s is reached where n/N equals the overhead
    for n, n2 in made.values:
        assert made.values[(n, n2)] == pytest.approx(overhead(n) / overhead(n2), rel=0.08)
    assert all(search["met"] for search in searches)
    assert "unit speed = 500000 op/s" in searches[0]["sentence"] or "unit speed = 5e+05 op/s" in searches[0]["sentence"]
