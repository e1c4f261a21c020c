"""Workers that cannot execute any run, and addresses without a scheduler: no run is lost and nothing hangs."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, LinkLost
from scalegraph.base.events import Event, RunFailed, RunFinished
from scalegraph.base.run import RunPoint
from scalegraph.control.execute import execute
from scalegraph.link import Build, Job
from scalegraph.link.cluster.engine import Cluster
from scalegraph.link.cluster.places import parse
from scalegraph.machine import Machine

ROOT = Path(__file__).parent.parent.parent


@contextmanager
def site(which: str) -> Iterator[str]:
    """Yield the address of a scheduler with two workers; those that *which* says refuse every run, see `site`."""
    command = [sys.executable, "-m", "tests.cluster.site", which]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def jobs(build: Build, machine: Machine, count: int) -> list[Job]:
    return [Job(build, machine, RunPoint(processors=1, parameters={"n": n}), (str(n),)) for n in range(3, 3 + count)]


@pytest.mark.compiler
@pytest.mark.slow
@pytest.mark.parametrize(("which", "why"), [("one", "two has ScaleGraph 0.0.1"), ("early", "two: the disk is full")])
def test_a_worker_that_refuses_takes_no_run_from_the_others(which: str, why: str, sums: Build, ksr1: Machine) -> None:
    events, said = list[Event](), list[str]()
    with site(which) as address, Cluster(parse(address), uuid.uuid4().hex, said=said.append) as link:
        records = execute(jobs(sums, ksr1, 8), link=link, emit=events.append)
    assert len(records) == 8
    assert not [event for event in events if isinstance(event, RunFailed)]
    assert sum(isinstance(event, RunFinished) for event in events) == 8
    left_out = [text for text in said if "left out" in text]
    assert len(left_out) == 1
    assert left_out[0].endswith(f"is left out: {why}")


@pytest.mark.compiler
@pytest.mark.slow
def test_without_any_worker_left_the_sweep_stops_with_the_reasons(sums: Build, ksr1: Machine) -> None:
    sentence = r"no worker is left that could carry out the runs: (one|two) has ScaleGraph 0.0.1; (one|two) has"
    with (
        site("both") as address,
        Cluster(parse(address), uuid.uuid4().hex) as link,
        pytest.raises(LinkLost, match=sentence),
    ):
        execute(jobs(sums, ksr1, 3), link=link)


@pytest.mark.slow
def test_a_listener_that_is_no_scheduler_is_left_at_once_on_request(
    eventually: Callable[[Callable[[], bool]], None],
) -> None:
    """The connection is given up after 20 s; Ctrl+C ends it at once."""
    stop, heard = CancelToken(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            peers = []
            while True:
                try:
                    peers.append(server.accept()[0])
                except OSError:
                    break
                if len(peers) == 2:  # the first only looks whether anybody listens
                    heard.set()
                    stop.cancel()
            for peer in peers:
                peer.close()

        listener = threading.Thread(target=listen)
        listener.start()
        with pytest.raises(Cancelled):
            Cluster(parse(f"tcp://127.0.0.1:{server.getsockname()[1]}"), "silent", cancel=stop)
        assert heard.is_set()
        server.shutdown(socket.SHUT_RDWR)
        listener.join()
