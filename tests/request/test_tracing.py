"""Traces of a request: which runs write one, where it goes, and what happens if it disappears."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.base.events import Event, Note, RunSkipped
from scalegraph.base.run import RunPoint
from scalegraph.base.workplaces import LOCK
from scalegraph.request import Request, Session, load_request
from scalegraph.request.model.tracing import UNKNOWN, directory_of
from scalegraph.traces.reading import read

Requests = Callable[..., Request]
EFFICIENCY = {"kind": "efficiency", "value": 0.5, "tolerance": 0.03}


def names(directory: Path) -> list[str]:
    """Return the content of *directory*, including hidden files, without the point's key."""
    return sorted(path.name.partition("-")[0] for path in directory.iterdir())


def test_the_runs_asked_for_write_traces_beside_the_study(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    target = link()
    session = Session(link=target)
    with session.submit(request_of(processors=[4, 8], trace={"processors": [8]}), path) as study:
        records = {record.point.processors: record for record in study.runs()}
        found = session.traces(study)
    assert records[1].trace is None
    assert records[4].trace is None
    kept = records[8].trace
    assert kept is not None
    assert kept.path == f"a.traces/8-{records[8].point.key}.sgtrace"
    assert kept.counts == {"calls": 2}
    assert kept.bytes == (tmp_path / kept.path).stat().st_size
    assert [tuple(run) for run in found] == [(records[8].point.key, 8, tmp_path / kept.path)]
    with read(found[0].path) as trace:
        assert trace.count("calls") == 2
    assert names(directory_of(path)) == ["8"], "nothing of the work is left"


def test_without_counts_the_request_s_own_are_traced_not_the_reference(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    Session(link=link()).submit(request_of(processors=[2, 4], trace={}), tmp_path / "a.sgstudy").close()
    assert names(tmp_path / "a.traces") == ["2", "4"]


def test_runs_without_a_trace_in_the_request_write_none(link: Any, request_of: Requests, tmp_path: Path) -> None:
    target = link()
    Session(link=target).submit(request_of(), tmp_path / "a.sgstudy").close()
    assert target.orders == []
    assert not (tmp_path / "a.traces").exists()


@pytest.mark.slow
def test_a_run_that_is_there_is_made_again_for_its_trace_only(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(), path).close()
    traced = request_of(trace={"processors": [2, 4]})
    assert Session(link=link()).plan(traced, path).done == 2
    second = link()
    events: list[Event] = []
    with Session(link=second).submit(traced, path, events.append) as study:
        assert len(study) == 4
    assert sorted(point.processors for point in second.points) == [2, 4]
    assert sum(isinstance(event, RunSkipped) for event in events) == 2
    third = link()
    Session(link=third).submit(traced, path).close()
    assert third.points == []
    next((tmp_path / "a.traces").glob("4-*")).unlink()
    Session(link=third).submit(request_of(), path).close()
    assert third.points == [], "who asks for no traces needs none"
    Session(link=third).submit(traced, path).close()
    assert [point.processors for point in third.points] == [4]


def test_a_trace_that_shall_hold_something_else_is_written_anew(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(processors=[2], trace={}), path).close()
    again = link()
    Session(link=again).submit(request_of(processors=[2], trace={"what": ["waits", "chunks"]}), path).close()
    assert [point.processors for point in again.points] == [2]
    assert names(tmp_path / "a.traces") == ["2"], "a trace of the same run takes the place of the one before"


def test_a_trace_of_another_run_is_never_replaced(link: Any, request_of: Requests, tmp_path: Path) -> None:
    session = Session(link=link())
    first, second = request_of(processors=[2], trace={}), request_of(processors=[2], trace={}, schedule="dynamic")
    path = tmp_path / "a.sgstudy"
    session.submit(first, path).close()
    before = next((tmp_path / "a.traces").iterdir())
    content = before.read_bytes()
    with session.submit(second, path, overwrite=True) as study:
        found = session.traces(study)
    assert before.read_bytes() == content
    assert [run.path.name for run in found] == [before.stem + "-2.sgtrace"]


def test_a_directory_of_one_s_own_takes_the_traces(link: Any, request_of: Requests, tmp_path: Path) -> None:
    session = Session(link=link())
    made = tmp_path / "deep" / "traces"
    with pytest.raises(InputError, match="create it first"):
        session.submit(request_of(processors=[2], trace={}), None, traces=made)
    made.parent.mkdir()
    (tmp_path / "other").mkdir()
    with session.submit(request_of(processors=[2], trace={}), None, traces=made) as study:
        (run,) = session.traces(study)
        assert run.path.parent == made
        study.save_as(tmp_path / "other" / "b.sgstudy")
    (same,) = session.traces(tmp_path / "other" / "b.sgstudy")
    assert same.path.samefile(run.path)
    with pytest.raises(InputError, match="a place for the traces was expected"):
        session.submit(request_of(trace={}), None)


def test_what_is_no_longer_there_is_said(link: Any, request_of: Requests, tmp_path: Path) -> None:
    session = Session(link=link())
    path = tmp_path / "a.sgstudy"
    session.submit(request_of(processors=[2], trace={}), path).close()
    (tmp_path / "moved").mkdir()
    elsewhere = Path(shutil.move(path, tmp_path / "moved" / "a.sgstudy"))
    assert session.traces(elsewhere) == []
    (sentence,) = session.lost_traces(elsewhere)
    assert "the trace of N = 2, n = 1000 is missing" in sentence
    assert str(tmp_path / "moved" / "a.traces") in sentence
    shutil.move(tmp_path / "a.traces", tmp_path / "moved")
    assert session.lost_traces(elsewhere) == []
    assert len(session.traces(elsewhere)) == 1


def test_a_copy_of_a_study_knows_where_the_traces_lie(link: Any, request_of: Requests, tmp_path: Path) -> None:
    session = Session(link=link())
    path = tmp_path / "a.sgstudy"
    session.submit(request_of(processors=[2], trace={}), path).close()
    (tmp_path / "sub").mkdir()
    session.save_as(path, tmp_path / "sub" / "b.sgstudy")
    (run,) = session.traces(tmp_path / "sub" / "b.sgstudy")
    assert run.path.samefile(session.traces(path)[0].path)


def test_the_size_that_a_search_finds_is_traced_not_its_tries(link: Any, request_of: Requests, tmp_path: Path) -> None:
    target = link()
    request = request_of(scaling={"grow": {"n": "N"}}, bound=[EFFICIENCY], processors=[8], trace={})
    with Session(link=target).submit(request, tmp_path / "a.sgstudy") as study:
        (outcome,) = study.facts("searches")
        (traced,) = [record for record in study.runs() if record.trace]
    assert traced.point.parameters == outcome["parameters"]
    assert len(target.orders) == 1
    assert len(target.points) == outcome["runs"] + 1


@pytest.mark.slow
def test_only_the_size_of_the_parameters_is_traced_where_that_is_asked(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    target = link()
    bounds = [{"kind": "problem_size"}, {"kind": "growth"}, EFFICIENCY]
    trace = {"sizes": "base", "processors": [8]}
    request = request_of(scaling={"grow": {"n": "N"}}, bound=bounds, processors=[2, 8], trace=trace)
    with Session(link=target).submit(request, tmp_path / "a.sgstudy") as study:
        (traced,) = [record.point for record in study.runs() if record.trace]
    assert (traced.processors, traced.parameters) == (8, {"n": 1000})
    assert len(target.orders) == 1


def test_a_run_that_fails_for_its_trace_leaves_the_good_one(link: Any, request_of: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    Session(link=link()).submit(request_of(), path).close()
    events: list[Event] = []
    broken = link(lambda _point: None)
    with Session(link=broken).submit(request_of(trace={"processors": [8]}), path, events.append) as study:
        assert all(record.ok for record in study.runs())
    assert any(isinstance(e, Note) and e.text.startswith("N = 8, n = 1000: no trace: segm") for e in events)


def test_a_cancelled_run_leaves_no_half_trace(link: Any, request_of: Requests, tmp_path: Path) -> None:
    token = CancelToken()
    target = link(cancel_after=1)
    target.token = token
    Session(link=target, workers=1).submit(request_of(trace={}), tmp_path / "a.sgstudy", cancel=token).close()
    assert len(names(tmp_path / "a.traces")) <= 1


def test_what_a_killed_scalegraph_left_is_removed(link: Any, request_of: Requests, tmp_path: Path) -> None:
    left = tmp_path / "a.traces" / ".tracing-left"
    left.mkdir(parents=True)
    (left / LOCK).touch()
    (left / "raw").write_text("half a trace")
    Session(link=link()).submit(request_of(processors=[2], trace={}), tmp_path / "a.sgstudy").close()
    assert names(tmp_path / "a.traces") == ["2"]


def test_times_are_cycles_of_the_machine_and_the_interval_follows_the_run(
    link: Any, request_of: Requests, tmp_path: Path
) -> None:
    target = link()
    trace = {"begin": "1 ms", "end": "5e6 cycles", "region": "solve", "limit": "512 MiB", "what": ["waits", "regions"]}
    path = tmp_path / "a.sgstudy"
    Session(link=target).submit(request_of(processors=[2], trace=trace), path).close()
    (order,) = target.orders
    assert order.begin == 20_000  # cycles at 20 MHz
    assert order.end == 5_000_000
    assert order.regions == (1,)
    assert order.limit == 512 * 2**20
    assert order.interval == UNKNOWN
    assert order.config(Path("/x/raw")) == {
        "trace.file": "/x/raw",
        "trace.what": "regions,waits",
        "trace.limit": "536870912",
        "trace.begin": "20000",
        "trace.end": "5000000",
        "trace.interval": str(UNKNOWN),
        "trace.region": "1",
    }
    again = link()
    Session(link=again).submit(request_of(processors=[2], trace={}), path).close()
    known = again.times(RunPoint(processors=2, parameters={"n": 1000}))
    assert again.orders[0].interval == int(known * 20e6) // 2000


def test_a_region_that_the_program_lacks_is_refused(link: Any, request_of: Requests) -> None:
    with pytest.raises(InputError, match="no region is called 'slove'; did you mean 'solve'"):
        Session(link=link()).submit(request_of(trace={"region": "slove"}), None, traces="t")


FAULTS = {
    "what = ['wait']": (11, "wait"),
    "what = []": (11, "one at least of regions, waits"),
    "processors = [3]": (11, "3: not among the processor counts"),
    "begin = '5 parsecs'": (11, "a time, like 0.5 s, 20 ms or 2e6 cycles was expected"),
    "begin = '2 s'\nend = '1 s'": (12, "'1 s': a time after '2 s' was expected"),
    "interval = '1 ns'": (11, "less than a cycle of the machine"),
    "limit = 'much'": (11, "a size in bytes"),
    "limit = 10": (11, "expected 64 KiB to 16 TiB; got 10"),
    "colour = 1": (11, "unknown key 'colour'"),
}


@pytest.mark.parametrize("line", FAULTS)
def test_faults_of_the_table_are_told_with_their_line(line: str, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    top = 'processors = [1, 2]\nmachine = { name = "ksr1" }\n'
    text = top + '[program]\nsources = ["p.c"]\n\n\n\n\n\n[trace]\n' + line + "\n"
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_request(tmp_path / "r.toml")
    (fault,) = caught.value.faults
    where, said = FAULTS[line]
    assert (fault.line, said in fault.message) == (where, True), str(fault)


def test_the_table_reads_back(request_of: Requests, tmp_path: Path) -> None:
    for trace in ({}, {"what": ["chunks"], "begin": 0.25, "limit": "2G", "processors": [4, 2]}):
        request = request_of(trace=trace)
        (tmp_path / "r.toml").write_text(request.to_toml())
        assert load_request(tmp_path / "r.toml").trace == request.trace


def test_the_plan_says_how_many_and_how_large(link: Any, request_of: Requests, tmp_path: Path) -> None:
    session = Session(link=link())
    path = tmp_path / "a.sgstudy"
    plan = session.plan(request_of(trace={}), path)
    assert "4 runs write traces of at most 1 GiB each" in plan.notes
    session.submit(request_of(trace={"processors": [2]}), path).close()
    bytes_of_one = session.traces(path)[0].path.stat().st_size
    (note,) = session.plan(request_of(trace={"processors": [2, 4]}), path).notes
    assert note.startswith("1 run writes a trace, about")
    assert f"{2 * bytes_of_one / 1000:.2f} kB" in note
    assert session.plan(request_of(trace={"processors": [2]}), path).notes == ()
