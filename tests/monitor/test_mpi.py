"""Two processes of an MPI program under the MPI library of this computer."""

from pathlib import Path

import numpy as np
import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import MissingTool
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Measuring, TraceOrder
from scalegraph.link.targets import named
from scalegraph.runtime.format import TRACED
from scalegraph.toolchain.host_mpi import host_mpi
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Operation, Wait
from scalegraph.traces.reading import read
from tests.monitor.test_monitor import check_identity, waited

pytestmark = pytest.mark.slow

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
    assert waited(record, "idle_message") > 0.01  # the receiver was ready before the sender
    assert record.categories["idle_collective"] > 0
    assert record.categories["prim_send"] > 0
    assert record.categories["prim_start"] > 0  # MPI_Init and MPI_Finalize are counted separately
    assert record.categories["prim_thread"] == record.categories.get("prim_disturbance", 0) == 0


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


def traced(program: str, place: Path) -> RunRecord:
    """Return the record of *program* on two ranks under the MPI library of this computer, with a trace."""
    try:
        host_mpi()
    except MissingTool as error:
        pytest.skip(str(error))
    (place / "p.c").write_text(program, encoding="utf-8")
    built = build(["p.c"], cwd=place, builds="mpi")
    order = TraceOrder(place / "traces", "run", TRACED, identity="x")
    point = RunPoint(processors=2, target="mpi")
    job = Job(built, machines.load("ksr1"), point, measuring=Measuring(pin="none", disturbed=100), trace=order)
    record = named("mpi").run(job)
    assert record.status == "ok", record.message
    return record


def test_waiting_in_a_collective_operation_is_separated_from_the_operation_and_traced(tmp_path: Path) -> None:
    record = traced(COLLECTIVES, tmp_path)
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


BETWEEN = r"""
#include <mpi.h>
#include <time.h>

int main(int count, char **words)
{
    int rank, value = 1, sum = 0;
    struct timespec rest = {0, 30000000}, more = {0, 60000000};
    MPI_Comm other;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 7, &other);
    if (rank == 1)
        nanosleep(&rest, NULL);
    MPI_Barrier(other);
    if (rank == 0)
        nanosleep(&more, NULL);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, other);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : 0, other);
    MPI_Comm_free(&other);
    return MPI_Finalize();
}
"""


def test_collective_operations_between_two_groups_are_recorded(tmp_path: Path) -> None:
    record = traced(BETWEEN, tmp_path)
    check_identity(record)
    assert not any("not separated" in remark or "not all members" in remark for remark in record.warnings)
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        rows = trace.columns("collectives", ("location", "operation", "root"))
        for operation, root in ((Operation.BARRIER, -1), (Operation.BROADCAST, 0), (Operation.REDUCE, 0)):
            mine = rows["operation"] == operation
            assert sorted(rows["location"][mine].tolist()) == [0, 1]
            assert set(rows["root"][mine].tolist()) == {root}
        waits = trace.columns("waits", ("begin", "end", "location", "holder", "why"))
        together = waits["why"] == Wait.COLLECTIVE
        took = (waits["end"] - waits["begin"]) * together / trace.meta.ticks_per_second
        pairs = list(zip(waits["location"].tolist(), waits["holder"].tolist(), strict=True))
        long = {pair for pair, seconds in zip(pairs, took.tolist(), strict=True) if seconds > 0.02}
        assert long == {(0, 1), (1, 0)}


MESSAGES = r"""
#include <mpi.h>
#include <time.h>

int main(int count, char **words)
{
    int rank, size, other, done = 0, which, at[2], two = 0;
    double out[64] = {0}, in[64], more[64];
    struct timespec rest = {0, 30000000};
    MPI_Comm apart, between;
    MPI_Request all[3], one = MPI_REQUEST_NULL, stays[2];
    MPI_Message probed;
    MPI_Status status;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &apart); /* ranks the other way round */
    other = 1 - rank;
    if (rank == 0)
        nanosleep(&rest, NULL);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, other, 1, in, 64, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(more, 64, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Send(out, 2, MPI_DOUBLE, other, 2, MPI_COMM_WORLD);
    MPI_Isend(out, 3, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &all[2]);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, 64, MPI_DOUBLE, rank, 3, apart, &one);
    MPI_Send(out, 4, MPI_DOUBLE, rank, 3, apart); /* in `apart` that is the other one */
    while (!done)
        MPI_Test(&one, &done, &status);
    MPI_Recv_init(in, 64, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &stays[0]);
    MPI_Send_init(out, 5, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, &stays[1]);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Startall(2, stays);
        for (int left = 2; left > 0; left -= turn == 0 ? 1 : two)
            if (turn == 0)
                MPI_Waitany(2, stays, &which, MPI_STATUS_IGNORE);
            else
                MPI_Waitsome(2, stays, &two, at, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&stays[0]);
    MPI_Request_free(&stays[1]);
    MPI_Irecv(in, 64, MPI_DOUBLE, other, 5, MPI_COMM_WORLD, &one); /* nobody sends that */
    MPI_Cancel(&one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 6, MPI_COMM_WORLD);
    if (rank == 0) {
        nanosleep(&rest, NULL);
        MPI_Recv(in, 64, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else
        MPI_Ssend(out, 6, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, other, 8, in, 64, MPI_DOUBLE, other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        nanosleep(&rest, NULL);
    MPI_Send(out, 7, MPI_DOUBLE, other, 9, MPI_COMM_WORLD);
    MPI_Send(out, 8, MPI_DOUBLE, other, 9, MPI_COMM_WORLD);
    MPI_Mprobe(other, 9, MPI_COMM_WORLD, &probed, MPI_STATUS_IGNORE);
    MPI_Recv(more, 64, MPI_DOUBLE, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the second */
    MPI_Mrecv(in, 64, MPI_DOUBLE, &probed, MPI_STATUS_IGNORE);
    MPI_Send(out, 9, MPI_DOUBLE, other, 10, MPI_COMM_WORLD);
    for (done = 0; !done;)
        MPI_Improbe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &done, &probed, &status);
    MPI_Imrecv(in, 64, MPI_DOUBLE, &probed, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, other, 12, &between);
    MPI_Irecv(in, 64, MPI_DOUBLE, 0, 13, between, &one); /* from the only one of the other group */
    MPI_Send(out, 10, MPI_DOUBLE, 0, 13, between);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Comm_free(&between);
    MPI_Improbe(other, 11, MPI_COMM_WORLD, &done, &probed, MPI_STATUS_IGNORE); /* nobody sends that */
    MPI_Comm_free(&apart);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return MPI_Finalize() + (size != 2);
}
"""


def test_messages_of_a_real_run_are_traced_with_both_ends_and_waits_name_the_late_one(tmp_path: Path) -> None:
    record = traced(MESSAGES, tmp_path)
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        found = trace.columns("messages", ("sender", "receiver", "size", "tag"))
        ends = [(1, 8), (2, 16), (2, 24), (3, 32), (4, 40), (4, 40), (8, 8), (9, 56), (9, 64), (10, 72), (13, 80)]
        expected = [(rank, 1 - rank, size, tag) for rank in (0, 1) for tag, size in ends] + [(1, 0, 48, 7)]
        assert sorted(zip(*(found[name].tolist() for name in found), strict=True)) == sorted(expected)
        waits = trace.columns("waits", ("begin", "end", "location", "holder", "why"))
        took = waits["end"] - waits["begin"]
        for why, location in ((Wait.RECEIVE, 1), (Wait.SEND, 1)):
            longest = int(np.argmax(took * (waits["why"] == why)))
            assert (int(waits["location"][longest]), int(waits["holder"][longest])) == (location, 0)
