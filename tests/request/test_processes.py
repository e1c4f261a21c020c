"""N processors of an MPI program are N / T processes of T threads; invalid combinations are refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, RunOptions, Simulated
from scalegraph.machine.active import spread
from scalegraph.request import Request, Session
from scalegraph.request.model import processes
from scalegraph.request.model.resolve import resolve
from tests.request.conftest import fake_build

Requests = Callable[..., Request]


@pytest.fixture
def hybrid(request_of: Requests) -> Requests:
    """Return a maker of requests for processes of four threads."""

    def make(threads: int = 4, **more: Any) -> Request:
        made = request_of(**more)
        return made.model_copy(update={"program": made.program.model_copy(update={"threads_per_process": threads})})

    return make


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every program an MPI program."""
    monkeypatch.setattr(
        "scalegraph.control.build", lambda *given, **more: replace(fake_build(*given, **more), mpi=True)
    )


def job(processors: int, threads: int, *, mpi: bool) -> Job:
    build = replace(fake_build(["p.c"]), mpi=mpi)
    return Job(
        build, machines.load("ksr1"), RunPoint(processors=processors), options=RunOptions(threads_per_process=threads)
    )


@pytest.mark.parametrize(("processors", "threads", "made"), [(16, 4, 4), (16, 1, 16), (4, 4, 1), (1, 4, 1)])
def test_processors_are_shared_out_and_one_is_one_process(processors: int, threads: int, made: int) -> None:
    assert job(processors, threads, mpi=True).processes == made
    assert job(processors, threads, mpi=False).processes == 0


def test_counts_that_processes_do_not_fill_are_refused_where_they_stand(hybrid: Requests) -> None:
    request = hybrid(processors=[1, 2, 4, 6, 8])
    (fault,) = resolve(request)[1]
    assert fault.key == "processors"
    assert fault.message == "2, 6: processes of 4 threads need a multiple of 4 processors"
    assert resolve(hybrid(processors=[1, 4, 8]))[1] == []
    with pytest.raises(InputError, match="6 processors: no multiple of 4 threads a process"):
        Simulated().run(job(6, 4, mpi=True))


def test_processes_are_said_beside_the_counts() -> None:
    assert processes.words((1, 4, 6, 16), 4) == "1 x 1, 1 x 4, 4 x 4"


@pytest.mark.usefixtures("link")
def test_a_program_of_one_process_is_refused_with_threads_a_process(link: Any, hybrid: Requests) -> None:
    with pytest.raises(InputError, match="'p' is one process, as it is not an MPI program; leave out its 4 threads a"):
        Session(link=link()).submit(hybrid(processors=[1, 4]), None)


@pytest.mark.usefixtures("link", "messages")
def test_an_mpi_program_runs_and_other_processes_are_another_study(link: Any, hybrid: Requests, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    with Session(link=link()).submit(hybrid(processors=[1, 4, 8]), path) as study:
        assert sorted(run.point.processors for run in study.runs()) == [1, 4, 8]
    with pytest.raises(InputError, match="runs of another number of threads a process"):
        Session(link=link()).submit(hybrid(2, processors=[1, 4, 8]), path)


def test_a_program_of_one_process_runs_within_a_node(hybrid: Requests) -> None:
    request, cube = hybrid(threads=1, processors=[1, 2, 8]), machines.load("ncube2")
    threads, ranks = (replace(fake_build(["p.c"]), mpi=mpi) for mpi in (False, True))
    (fault,) = processes.of_build(request, threads, cube)
    assert fault.key == "processors"
    assert fault.message.startswith("2, 8: the threads of a process share one node")
    assert processes.of_build(request, threads, machines.load("ksr1")) == []
    assert processes.of_build(request, ranks, cube) == processes.of_machine(request, cube) == []


def test_threads_of_a_process_divide_the_processors_of_a_node(hybrid: Requests) -> None:
    cube = machines.load("ncube2", {"nodes.processors": "6"})
    assert processes.of_machine(hybrid(threads=3, processors=[3, 12]), cube) == []
    (fault,) = processes.of_machine(hybrid(threads=4, processors=[4, 12]), cube)
    assert fault.message == "12: 4 threads a process: no divisor of the 6 processors of a node"


def test_every_processor_of_the_largest_machine_can_be_a_rank(hybrid: Requests) -> None:
    cluster = machines.load("cluster-hdr")
    assert processes.of_machine(hybrid(threads=1, processors=[1, 16384]), cluster) == []
    (fault,) = processes.of_machine(hybrid(threads=1, processors=[16385]), cluster)
    assert "1 to 16384 processors" in fault.message


def test_ranks_a_node_leave_the_rest_of_each_node_idle() -> None:
    cluster = machines.load("cluster-hdr")
    placed = spread(cluster, 4, 2)
    assert (placed.node_processors, placed.max_processors) == (8, 256 * 8)
    assert spread(cluster, 0, 2) is cluster
    assert spread(cluster, 32, 2) is cluster
    with pytest.raises(InputError, match="33 ranks of 2 threads: a node of machine 'cluster-hdr' has 64 processors"):
        spread(cluster, 33, 2)
    with pytest.raises(InputError, match="machine 'ksr1' is one node; ranks a node are chosen on a machine with"):
        spread(machines.load("ksr1"), 2, 1)


def test_ranks_a_node_bound_the_processors_and_need_an_mpi_program(hybrid: Requests) -> None:
    made = hybrid(threads=1, processors=[1, 256, 512])
    request = made.model_copy(update={"program": made.program.model_copy(update={"ranks_per_node": 1})})
    cluster = machines.load("cluster-hdr")
    (fault,) = processes.of_machine(request, cluster)
    assert fault.message == "512: machine 'cluster-hdr' with 1 rank a node has 1 to 256 processors for them"
    (fault,) = processes.of_build(request, replace(fake_build(["p.c"]), mpi=False), cluster)
    assert (fault.key, "leave out its ranks a node" in fault.message) == ("program.ranks_per_node", True)
    assert processes.identity(request) == {"ranks": "1"}
