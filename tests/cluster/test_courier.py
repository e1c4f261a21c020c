"""Runs on real Dask workers: same results as here; cancelled runs, false answers, killed submitters and workers."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import LinkLost
from scalegraph.base.events import Event, Note, RunFailed, RunFinished, RunStarted, Workers
from scalegraph.base.run import RunPoint
from scalegraph.control.execute import execute
from scalegraph.link import Build, Job, Simulated
from scalegraph.link.cluster.engine import Cluster
from scalegraph.link.cluster.places import parse
from scalegraph.machine import Machine
from scalegraph.request import Session, load_request
from scalegraph.request.run import remote
from scalegraph.store import Manifest, Study
from tests.cluster.conftest import SUMS, Gate
from tests.cluster.test_orders import timeless

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
COMMAND = [sys.executable, "-m", "scalegraph.cli.main"]


def test_a_request_on_a_cluster_has_the_runs_that_it_has_here(site: str, tmp_path: Path) -> None:
    (tmp_path / "sums.c").write_text(SUMS)
    (tmp_path / "r.toml").write_text(
        'processors = [1, 2, 4]\n[program]\nsources = ["sums.c"]\nargs = ["{n}"]\n[parameters]\nn = [8, 16]\n'
        '[machine]\nname = "ksr1"\n[trace]\nwhat = ["regions"]\nprocessors = [4]\n'
    )
    path, events = tmp_path / "s.sgstudy", list[Event]()
    session = Session()
    request = session.load(tmp_path / "r.toml")
    with session.elsewhere(parse(site), path, events.append) as there, there.submit(request, path, events.append):
        pass
    with Study.open(path) as study, session.submit(request, None, traces=tmp_path / "here") as here:
        mine, theirs = ({run.point.key: run for run in kept.runs(output=True)} for kept in (here, study))
        assert len(theirs) == 6
        for key, run in mine.items():
            assert timeless(theirs[key]).model_copy(update={"trace": None}) == timeless(run).model_copy(
                update={"trace": None}
            )
        traced = [run.trace for run in theirs.values() if run.trace is not None]
        assert sorted(trace.path for trace in traced) == sorted(
            f"s.traces/{p.name}" for p in (tmp_path / "here").iterdir()
        )
        assert study.facts(remote.FACT)["ids"] == {}
    begun = [event for event in events if isinstance(event, RunStarted)]
    assert {event.where.split(":")[0] for event in begun} == {socket.gethostname()}
    assert len({event.point.key for event in begun}) == 6
    assert sum(isinstance(event, RunFinished) for event in events) == 6
    assert Workers(site, 2, 2) in events
    assert Note(f"{site}: 2 workers, 2 runs side by side") in events
    assert sum("Dask has no password" in event.text for event in events if isinstance(event, Note)) == 1


def test_workers_that_lie_or_fail_lose_their_own_runs_only(site: str, sums: Build, ksr1: Machine) -> None:
    kinds = ["hostile:object", "5", "hostile:bytes", "hostile:other", "hostile:raises", "6"]
    jobs = [Job(sums, ksr1, RunPoint(processors=2, parameters={"kind": kind}), (kind,)) for kind in kinds]
    events = list[Event]()
    with Cluster(parse(site), "liars") as link:
        records = execute(jobs, link=link, emit=events.append)
    assert [record.point.parameters["kind"] for record in records] == ["5", "6"]
    failed = {event.point.parameters["kind"]: event.message for event in events if isinstance(event, RunFailed)}
    assert "answered with dict, not with bytes" in failed["hostile:object"]
    assert "is not a ScaleGraph frame" in failed["hostile:bytes"]
    assert "its run is N = 1" in failed["hostile:other"]
    assert "ZeroDivisionError: a worker of another kind" in failed["hostile:raises"]


def _open_files(process: int | str) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            found.add(str(entry.readlink()))
    return found


def test_the_process_that_speaks_with_dask_has_no_study_open(site: str, tmp_path: Path) -> None:
    path = tmp_path / "s.sgstudy"
    with Study.create(path, Manifest(program="p")), Cluster(parse(site), "open"):
        couriers = [one for one in psutil.Process().children() if "scalegraph.link.cluster.courier" in one.cmdline()]
        assert len(couriers) == 1
        assert str(path) in _open_files("self")
        assert str(path) not in _open_files(couriers[0].pid)


def test_a_request_to_stop_ends_the_program_on_the_worker(
    site: str, gate: Gate, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    session, cancel, events = Session(), CancelToken(), list[Event]()

    def emit(event: Event) -> None:
        events.append(event)
        if isinstance(event, RunStarted):
            gate.wait_for(1, "begun")
            cancel.cancel()

    request = load_request(gate.request)
    with (
        session.elsewhere(parse(site), None, emit, cancel) as there,
        there.submit(request, None, emit, cancel) as study,
    ):
        assert len(study) == 0
        eventually(lambda: not gate.programs())
    assert gate.notes() == ["begun"]


def test_what_ran_while_its_submitter_was_dead_is_fetched_and_not_run_again(site: str, gate: Gate) -> None:
    path, events = gate.request.with_suffix(".sgstudy"), list[Event]()
    command = [*COMMAND, "run", str(gate.request), "-o", str(path), "--on", site]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as submitter:
        gate.wait_for(1, "begun")
        submitter.kill()
    gate.open()
    gate.wait_for(1, "ended")
    session = Session()
    with (
        session.elsewhere(parse(site), path, events.append) as there,
        there.submit(load_request(gate.request), path, events.append) as study,
    ):
        assert [run.stdout for run in study.runs(output=True)] == ["x\n"]
    assert gate.notes() == ["begun", "ended"]
    assert Note(f"{site}: 1 run had been sent there by an earlier ScaleGraph") in events


def test_workers_and_their_submitter_are_killed_and_nothing_is_lost(
    gate: Gate, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """A worker of the submitter's own cluster is killed, then the submitter: its cluster stays, and is taken over."""
    path, events = gate.request.with_suffix(".sgstudy"), list[Event]()
    command = [*COMMAND, "run", str(gate.request), "-o", str(path), "--on", "local:1"]
    busy = os.environ | {"DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1 ms"}  # as if the new worker started late
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=busy, **quiet) as submitter:
        gate.wait_for(1, "begun")
        [(program, worker)] = gate.programs()
        os.kill(worker, signal.SIGKILL)
        gate.wait_for(2, "begun")
        eventually(lambda: not Path(f"/proc/{program}").exists())
        submitter.kill()
    gate.open()
    session = Session()
    with (
        session.elsewhere(parse("local:1"), path, events.append) as there,
        there.submit(load_request(gate.request), path, events.append) as study,
    ):
        assert [run.stdout for run in study.runs(output=True)] == ["x\n"]
    assert gate.notes() == ["begun", "begun", "ended"]
    notes = [event.text for event in events if isinstance(event, Note)]
    assert (
        "local:1: the workers of the ScaleGraph that was killed are still there: 1 worker, 1 run side by side" in notes
    )
    assert "local:1: 1 run had been sent there by an earlier ScaleGraph" in notes


def test_a_place_where_nothing_answers_is_reported_in_one_sentence(sums: Build, ksr1: Machine) -> None:
    with pytest.raises(LinkLost, match=r"^tcp://127\.0\.0\.1:9: no Dask scheduler answers there: .*refused"):
        Cluster(parse("tcp://127.0.0.1:9"), "x")


def test_a_lost_connection_ends_the_request_and_keeps_what_is_finished(site: str, sums: Build, ksr1: Machine) -> None:
    first, second = (Job(sums, ksr1, RunPoint(processors=n), ("4",)) for n in (1, 2))
    with Cluster(parse(site), "lost") as link:
        assert timeless(execute([first], link=link)[0]) == timeless(Simulated().run(first))
        link._process.kill()
        with pytest.raises(LinkLost, match="the process that speaks with Dask was killed \\(SIGKILL\\)"):
            execute([second], link=link)
