"""Runs measured on other computers: with stand-ins for ssh and srun, and workers of Dask."""

from __future__ import annotations

import contextlib
import platform
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, LinkLost, RunError
from scalegraph.base.events import Event
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.control.execute import execute
from scalegraph.link import Build, Job, Measuring, targets
from scalegraph.link.cluster import piped
from scalegraph.link.cluster.engine import Cluster
from scalegraph.link.cluster.places import parse
from scalegraph.machine import Machine
from scalegraph.request import Session, load_request
from scalegraph.request.consent import ConsentNeeded
from scalegraph.request.model.request import Request
from scalegraph.traces.checking import check
from scalegraph.traces.reading import read as read_trace
from tests.cluster.conftest import SUMS, Gate

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture(autouse=True)
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for ``ssh`` and ``srun`` that log their arguments and run the command on this computer."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "ssh").write_text(
        f'#!/bin/sh\necho "$*" >> {place}/said\necho "Welcome to node7"\n'
        'while [ "$1" = -o ]; do shift 2; done\nshift\nexec sh -c "$*"\n'
    )
    (place / "srun").write_text(
        f'#!/bin/sh\necho "$*" >> {place}/said\nwhile [ "${{1#--}}" != "$1" ]; do shift; done\nexec "$@"\n'
    )
    for name in ("ssh", "srun"):
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    return place / "said"


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Build:
    place = tmp_path_factory.mktemp("native")
    (place / "sums.c").write_text(SUMS)
    return build(["sums.c"], cwd=place, builds="host")


def job(native: Build, ksr1: Machine, name: str, **settings: str) -> Job:
    return Job(native, ksr1, RunPoint(processors=2, target=name), ("5",), stdin=b"in\n", settings=settings)


def test_a_run_is_measured_on_the_host_that_ssh_reaches(native: Build, ksr1: Machine, commands: Path) -> None:
    record = targets.named("ssh").run(job(native, ksr1, "ssh", host="me@node7"))
    assert (record.status, record.source, record.point.target) == ("ok", "measured", "ssh")
    assert record.machine == socket.gethostname()
    assert record.stdout == "10 on 2\nin\n"
    assert record.time_s is not None
    words = commands.read_text()
    assert words.startswith("-o BatchMode=yes -o ConnectTimeout=20 ")
    assert words.endswith(f" me@node7 {sys.executable} -m scalegraph.link.cluster.piped\n")


def test_a_run_by_slurm_has_a_node_of_its_own_or_says_so(native: Build, ksr1: Machine, commands: Path) -> None:
    alone = targets.named("slurm").run(job(native, ksr1, "slurm", partition="night", time="01:00:00"))
    assert "--exclusive --partition=night --time=01:00:00" in commands.read_text()
    assert not any("other jobs" in text for text in alone.warnings)
    shared = targets.named("slurm").run(job(native, ksr1, "slurm", shared="yes"))
    assert "--cpus-per-task=2" in commands.read_text()
    assert shared.warnings[-1] == "measured on a node that other jobs could use at the same time"


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("ssh", {}, "target 'ssh' has no host"),
        ("ssh", {"host": "-oProxyCommand=x"}, "is not a host"),
        ("ssh", {"host": "a b"}, "is not a host"),
        ("slurm", {"partition": "a b"}, "is not a valid partition of Slurm"),
        ("slurm", {"account": "$(x)"}, "is not a valid account of Slurm"),
    ],
)
def test_settings_cannot_become_options_of_the_command(
    name: str, settings: dict[str, str], sentence: str, native: Build, ksr1: Machine, commands: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        targets.named(name).run(job(native, ksr1, name, **settings))
    assert not commands.exists()


def script(commands: Path, name: str, text: str) -> None:
    (commands.parent / name).write_text(f"#!/bin/sh\n{text}\n")


def test_a_place_without_scalegraph_ends_the_request(
    native: Build, ksr1: Machine, commands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other run would fail there too: `execute` continues after a `RunError`, but not after a `LinkLost`."""
    monkeypatch.setenv(piped.VARIABLE, "/nowhere/python")
    with pytest.raises(LinkLost, match=r"^node7: no ScaleGraph answers there: .*not found; set SCALEGRAPH_REM"):
        targets.named("ssh").run(job(native, ksr1, "ssh", host="node7"))
    script(commands, "ssh", "echo 'ssh: connect to host node7 port 22: Connection refused' >&2; exit 255")
    with pytest.raises(LinkLost, match=r"^node7: no ScaleGraph answers there: ssh: connect to host .* refused$"):
        targets.named("ssh").run(job(native, ksr1, "ssh", host="node7"))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match=r"'srun' cannot be started: no such file"):
        targets.named("slurm").run(job(native, ksr1, "slurm"))


def test_a_run_that_is_ended_there_fails_and_a_connection_that_is_lost_ends_the_request(
    native: Build, ksr1: Machine, commands: Path
) -> None:
    ended = "echo 'ScaleGraph begins'; echo 'srun: error: node7: task 0: Killed' >&2; exit"
    script(commands, "srun", f"{ended} 137")
    with pytest.raises(RunError, match=r"^Slurm: the run was ended there: srun: error: node7: task 0: Killed$"):
        targets.named("slurm").run(job(native, ksr1, "slurm"))
    script(commands, "ssh", f"{ended} 255")
    with pytest.raises(LinkLost, match=r"^node7: the connection was lost: .*Killed$"):
        targets.named("ssh").run(job(native, ksr1, "ssh", host="node7"))


def test_the_test_button_reaches_the_computer(commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = targets.named("ssh").reached({"host": "node7"})
    assert found.state == "ok"
    assert found.found.startswith(
        f"{socket.gethostname()}: ScaleGraph {scalegraph.__version__}, {platform.machine()}, "
    )
    monkeypatch.setenv(piped.VARIABLE, "/nowhere/python")
    found = targets.named("ssh").reached({"host": "node7"})
    assert found.state == "missing"
    assert found.found.startswith("node7: no ScaleGraph answers there: ")
    script(commands, "srun", 'echo "$*" >> said; echo "srun: Job 9 to start at noon" >&2')
    monkeypatch.chdir(commands.parent)
    assert targets.named("slurm").reached({"partition": "night"}).found == "Job 9 to start at noon"
    assert "--partition=night --test-only true" in commands.read_text()
    script(commands, "srun", 'echo "srun: error: invalid partition" >&2; exit 1')
    assert targets.named("slurm").reached({}).state == "missing"


def test_another_version_there_is_reported_by_the_test_button(commands: Path) -> None:
    lies = 'scalegraph.__version__ = "0.0.1"; from scalegraph.link.cluster.piped import main; main()'
    script(commands, "ssh", f"exec {sys.executable} -c 'import scalegraph; {lies}' --describe")
    found = targets.named("ssh").reached({"host": "node7"})
    assert found.found == f"node7: it has ScaleGraph 0.0.1; {scalegraph.__version__} was expected, as here"


def test_a_program_elsewhere_ends_when_scalegraph_is_killed(
    gate: Gate, commands: Path, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    command = [sys.executable, "-m", "scalegraph.cli.main", "simulate", "waits.c", "-p", "1", "--target", "ssh"]
    command += ["--target-set", "host=node7", "--", str(gate.path), str(gate.log)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=gate.request.parent, **quiet) as submitter:
        gate.wait_for(1, "begun")
        submitter.kill()
    eventually(lambda: not gate.programs())
    assert gate.notes() == ["begun"]
    assert commands.exists()


def test_a_request_to_stop_ends_the_command(
    gate: Gate, ksr1: Machine, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    token = CancelToken()
    waits = build(["waits.c"], cwd=gate.request.parent, builds="host")
    asked = Job(waits, ksr1, RunPoint(processors=1, target="slurm"), (str(gate.path), str(gate.log)))
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(targets.named("slurm").run(asked, token)))
    thread.start()
    gate.wait_for(1, "begun")
    token.cancel()
    thread.join()
    assert [record.status for record in found] == ["cancelled"]
    eventually(lambda: not gate.programs())


@pytest.mark.parametrize(
    "target",
    ['name = "ssh"\nsettings = { host = "theirs" }', 'name = "slurm"', 'name = "mpi"\nsettings = { hosts = "theirs" }'],
)
def test_a_request_file_that_sends_the_program_away_needs_consent(target: str, tmp_path: Path, commands: Path) -> None:
    (tmp_path / "sums.c").write_text(SUMS)
    path = tmp_path / "r.toml"
    path.write_text(f'processors = [1]\n[program]\nsources = ["sums.c"]\n[target]\n{target}\n')
    session = Session()
    consent = session.consent(session.load(path))
    assert consent is not None
    assert any(line.startswith("target") for line in consent.lines())
    with pytest.raises(ConsentNeeded):
        session.submit(session.load(path), tmp_path / "s.sgstudy")
    assert not commands.exists()


MEASURED = """
processors = [1, 2]
repetitions = 3
[program]
sources = ["sums.c"]
args = ["5"]
[target]
name = "dask"
"""


def measured_request(place: Path, text: str = MEASURED) -> Request:
    (place / "sums.c").write_text(SUMS)
    (place / "r.toml").write_text(text)
    return load_request(place / "r.toml")


def test_target_dask_measures_on_the_workers_of_a_cluster(site: str, tmp_path: Path) -> None:
    request, session, events = measured_request(tmp_path), Session(), list[Event]()
    path = tmp_path / "s.sgstudy"
    with (
        session.elsewhere(parse(site), path, events.append) as there,
        there.submit(request, path, events.append, consent=session.consent(request)) as study,
    ):
        runs = study.runs(output=True)
    assert len(runs) == 6
    assert {(run.source, run.point.target, run.machine) for run in runs} == {("measured", "dask", socket.gethostname())}
    assert all(run.ok and run.time_s for run in runs)
    assert all(run.stdout == f"10 on {run.point.processors}\n" for run in runs)


@pytest.mark.parametrize("target", ["dask", "ssh", "slurm"])
def test_the_trace_of_a_run_that_is_measured_elsewhere_is_beside_the_study(
    target: str, site: str, tmp_path: Path
) -> None:
    text = MEASURED.replace("repetitions = 3\n", "").replace('"dask"', f'"{target}"')
    text += 'settings = { host = "node7" }\n' if target == "ssh" else ""
    request = measured_request(tmp_path, text + "[trace]\n")
    session, path = Session(), tmp_path / "s.sgstudy"
    with contextlib.ExitStack() as stack:
        runner = stack.enter_context(session.elsewhere(parse(site), path)) if target == "dask" else session
        runs = stack.enter_context(runner.submit(request, path, consent=session.consent(request))).runs()
    assert [run.point.target for run in runs] == [target, target]
    for run in runs:
        assert run.trace is not None, run.warnings
        with read_trace(tmp_path / run.trace.path) as trace:
            assert check(trace).violations == []
            assert len(trace.definitions.locations) == run.point.processors


def test_runs_that_are_measured_on_one_computer_wait_for_each_other(site: str, gate: Gate, ksr1: Machine) -> None:
    """The cluster has two workers, both here: the second run begins when the first one has ended."""
    waits = build(["waits.c"], cwd=gate.request.parent, builds="host")
    once = Measuring(warm_up=0, disturbed=100)
    words = (str(gate.path), str(gate.log))
    jobs = [
        Job(waits, ksr1, RunPoint(processors=1, repetition=number, target="dask"), words, measuring=once)
        for number in (0, 1)
    ]

    def opens() -> None:
        for number in (1, 2):
            gate.wait_for(number, "begun")
            gate.open()

    thread = threading.Thread(target=opens)
    thread.start()
    with Cluster(parse(site), "alone") as link:
        assert link.state.slots == 2
        execute(jobs, link=link)
    thread.join()
    assert gate.notes() == ["begun", "ended", "begun", "ended"]


def test_target_dask_without_workers_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    request, session = measured_request(tmp_path), Session()
    with pytest.raises(InputError, match="target 'dask' has no workers; expected scalegraph run REQUEST --on ADDRESS"):
        session.submit(request, tmp_path / "s.sgstudy", consent=session.consent(request))
    assert not (tmp_path / "s.sgstudy").exists()


def test_workers_do_not_stand_for_this_computer(site: str, tmp_path: Path) -> None:
    request, session = measured_request(tmp_path, MEASURED.replace("dask", "host")), Session()
    with (
        session.elsewhere(parse(site), None) as there,
        pytest.raises(InputError, match="target 'host' cannot run on workers elsewhere; they simulate, or"),
    ):
        there.submit(request, None, consent=session.consent(request))
