"""Two processes of an MPI program under the MPI library of this computer."""

from pathlib import Path

import numpy as np
import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import MissingTool
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Measuring, TraceOrder
from scalegraph.link.targets import named
from scalegraph.runtime.format import TRACED
from scalegraph.toolchain.host_mpi import host_mpi
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Operation, Wait
from scalegraph.traces.reading import read
from tests.monitor.test_monitor import check_identity, waited

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <time.h>

int main(int count, char **words)
{
    int rank, size, value = 7;
    struct timespec rest = {0, 30000000};
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        nanosleep(&rest, NULL);
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        printf("%d of %d\n", value, size);
    return MPI_Finalize();
}
"""


def test_two_ranks_wait_for_messages_and_for_each_other(tmp_path: Path) -> None:
    try:
        host_mpi()
    except MissingTool as error:
        pytest.skip(str(error))
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    built = build(["p.c"], cwd=tmp_path, builds="mpi")
    assert built.mpi
    job = Job(built, machines.load("ksr1"), RunPoint(processors=2, target="mpi"), measuring=Measuring(pin="none"))
    record = named("mpi").run(job)
    assert (record.status, record.stdout) == ("ok", "7 of 2\n"), record.message
    assert (record.processes, record.threads_per_process, record.machine) == (2, 1, "mpi")
    check_identity(record)
    assert record.categories["idle_message"] > 0
    assert waited(record, "idle_message") > 0.01  # the receiver came before the sender
    assert record.categories["idle_collective"] > 0
    assert record.categories["prim_send"] > 0


COLLECTIVES = r"""
#include <mpi.h>
#include <time.h>

int main(int count, char **words)
{
    int rank, mine = 1, sum;
    struct timespec rest = {0, 30000000};
    MPI_Comm other;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        nanosleep(&rest, NULL);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
    MPI_Comm_free(&other);
    return MPI_Finalize() + (sum != 2);
}
"""


def test_waiting_in_a_collective_operation_is_separated_from_the_operation_and_traced(tmp_path: Path) -> None:
    try:
        host_mpi()
    except MissingTool as error:
        pytest.skip(str(error))
    (tmp_path / "p.c").write_text(COLLECTIVES, encoding="utf-8")
    built = build(["p.c"], cwd=tmp_path, builds="mpi")
    order = TraceOrder(tmp_path / "traces", "run", TRACED, identity="x")
    point = RunPoint(processors=2, target="mpi")
    job = Job(built, machines.load("ksr1"), point, measuring=Measuring(pin="none", disturbed=1.0), trace=order)
    record = named("mpi").run(job)
    assert record.status == "ok", record.message
    check_identity(record)
    assert waited(record, "idle_collective") > 0.02
    assert record.categories["prim_collective"] > 0
    assert not any("not separated" in remark for remark in record.warnings)
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        assert [location.name for location in trace.definitions.locations] == ["rank 0", "rank 1"]
        rows = trace.columns("collectives", ("begin", "end", "location", "operation", "communicator"))
        reduced = rows["operation"] == Operation.ALL_REDUCE
        assert sorted(rows["location"][reduced].tolist()) == [0, 1]
        assert len(set(rows["communicator"][reduced])) == 1
        waits = trace.columns("waits", ("begin", "end", "location", "holder", "why"))
        longest = int(np.argmax((waits["end"] - waits["begin"]) * (waits["why"] == Wait.COLLECTIVE)))
        assert (int(waits["location"][longest]), int(waits["holder"][longest])) == (0, 1)
