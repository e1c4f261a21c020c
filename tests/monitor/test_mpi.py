"""Two processes of an MPI program under the MPI library of this computer."""

from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import MissingTool
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Measuring
from scalegraph.link.targets import named
from scalegraph.toolchain.host_mpi import host_mpi
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
