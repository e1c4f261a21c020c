"""Targets ssh and slurm: runs that are measured on another computer, with commands that stand for ssh and srun."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, RunError
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Build, Job, targets
from scalegraph.link.cluster import piped
from scalegraph.machine import Machine
from scalegraph.request import Session
from scalegraph.request.consent import ConsentNeeded
from tests.cluster.conftest import SUMS, Gate

pytestmark = pytest.mark.compiler


@pytest.fixture(autouse=True)
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands ``ssh`` and ``srun`` that note their words and do here what they would do elsewhere."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "ssh").write_text(
        f'#!/bin/sh\necho "$*" >> {place}/said\necho "Welcome to node7"\nshift 3\nexec sh -c "$1"\n'
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
    assert commands.read_text() == f"-o BatchMode=yes me@node7 {sys.executable} -m scalegraph.link.cluster.piped\n"


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
        ("ssh", {"host": "-oProxyCommand=x"}, "is no host"),
        ("ssh", {"host": "a b"}, "is no host"),
        ("slurm", {"partition": "a b"}, "is no partition of Slurm"),
        ("slurm", {"account": "$(x)"}, "is no account of Slurm"),
    ],
)
def test_settings_cannot_become_options_of_the_command(
    name: str, settings: dict[str, str], sentence: str, native: Build, ksr1: Machine, commands: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        targets.named(name).run(job(native, ksr1, name, **settings))
    assert not commands.exists()


def test_a_command_that_fails_is_one_sentence(native: Build, ksr1: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(piped.VARIABLE, "/nowhere/python")
    with pytest.raises(RunError, match=r"'ssh' failed: .*not found"):
        targets.named("ssh").run(job(native, ksr1, "ssh", host="node7"))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match=r"'srun' cannot be started: no such file"):
        targets.named("slurm").run(job(native, ksr1, "slurm"))


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


@pytest.mark.parametrize("target", ['name = "ssh"\nsettings = { host = "theirs" }', 'name = "slurm"'])
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
