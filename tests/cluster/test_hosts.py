"""Workers on hosts that are reached by SSH, with a real SSH server and client, both from asyncssh."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from scalegraph.base.errors import InputError, LinkLost
from scalegraph.base.events import Event, RunFinished
from scalegraph.base.run import RunPoint
from scalegraph.control.execute import execute
from scalegraph.link import Build, Job
from scalegraph.link.cluster import ssh_hosts
from scalegraph.link.cluster.engine import Cluster
from scalegraph.link.cluster.places import parse
from scalegraph.machine import Machine

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "tests.cluster.sshd", str(place)]
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline().strip().isdigit()
        yield place
        server.stdin.close()


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))


def test_runs_go_to_workers_on_hosts(sums: Build, ksr1: Machine) -> None:
    events = list[Event]()
    jobs = [Job(sums, ksr1, RunPoint(processors=number), ("5",)) for number in (1, 2, 4)]
    with Cluster(parse("ssh:node1,node2"), "hosts") as link:
        assert link.state.expected == 2
        assert link.state.workers in (1, 2)  # runs begin once the first worker is there
        execute(jobs, link=link, emit=events.append)
        every = [one for child in psutil.Process().children(recursive=True) for one in child.net_connections("tcp")]
        assert {one.laddr.ip for one in every if one.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
        for place in Path("/proc").glob("[0-9]*"):  # every account reads arguments
            with contextlib.suppress(OSError):
                assert b"PRIVATE KEY" not in (place / "cmdline").read_bytes()
    assert sum(isinstance(event, RunFinished) for event in events) == 3


@pytest.mark.parametrize(
    ("settings", "address", "sentence"),
    [
        ((), "ssh:node1,node3", r"no runs can go to node3: SSH does not reach it: .*; `ssh node3` must work without"),
        ((), "ssh:node1,127.0.0.1:9", r"no runs can go to 127.0.0.1: SSH does not reach it: .*"),
        (("python=/nowhere/python",), "ssh:node2", r"no runs can go to node2: /nowhere/python there has no ScaleGraph"),
    ],
)
def test_hosts_that_cannot_have_workers_are_named_before_any_is_started(
    settings: tuple[str, ...], address: str, sentence: str
) -> None:
    with pytest.raises(LinkLost, match=rf"^{address}: {sentence}"):
        Cluster(parse(address, settings), "hosts")


def test_a_host_may_have_a_user_and_a_port() -> None:
    where = parse("ssh:me@node7:2222,node8", ("user=other",))
    hosts = [ssh_hosts.host_of(text, where) for text in where.rest.split(",")]
    assert [(host.name, host.options.get("username"), host.options.get("port")) for host in hosts] == [
        ("node7", "me", 2222),
        ("node8", "other", None),
    ]
    with pytest.raises(InputError, match="expected ssh:node1,node2"):
        parse("ssh:node1:port")
