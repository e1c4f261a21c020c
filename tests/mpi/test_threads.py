"""Several threads of a rank wait in MPI at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = str(Path(__file__).with_name("threads.c"))
THREADS, TURNS = 4, 5


def expected(ranks: int) -> list[str]:
    """Return the sorted lines of all threads; each does its work as a POSIX thread and as an OpenMP thread."""
    lines = []
    for rank in range(ranks):
        for thread in range(THREADS):
            got = [[100 * ((r - 1) % ranks) + 10 * thread + i for r in range(ranks)] for i in range(TURNS)]
            lines += [f"{rank}.{thread}: {sum(g[rank] + max(g) for g in got)} {sum(map(sum, got))}"] * 2
    return sorted(lines)


@pytest.mark.parametrize(("machine", "processors", "each"), [("server-2x32-inorder", 16, 4), ("cluster-hdr", 8, 2)])
def test_threads_wait_for_messages_and_collectives_at_once(
    capsys: pytest.CaptureFixture[str], machine: str, processors: int, each: int
) -> None:
    sizes = ["-p", str(processors), "--threads-per-process", str(each)]
    command = ["simulate", PROGRAM, *sizes, "--machine", machine, "--cflags=-fopenmp", "--no-reference", "--json"]
    assert scalegraph(command) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(row["stdout"].splitlines()) == expected(processors // each)
    assert row["warnings"] == []


GENERAL = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static MPI_Request general;
static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int let_go(void *extra) { (void)extra; return MPI_SUCCESS; }
static int cancel(void *extra, int complete) { (void)extra; (void)complete; return MPI_SUCCESS; }
static void *work(void *nothing)
{
    sleep(30);
    MPI_Grequest_complete(general);
    return nothing;
}
static double waited(int (*wait)(void))
{
    double begin = MPI_Wtime();
    pthread_t thread;
    MPI_Grequest_start(query, let_go, cancel, NULL, &general);
    pthread_create(&thread, NULL, work, NULL);
    if (wait() != 0)
        printf("another was complete\n");
    double end = MPI_Wtime();
    pthread_join(thread, NULL);
    return end - begin;
}
static int alone(void)
{
    MPI_Request copy = general;
    return MPI_Wait(&copy, MPI_STATUS_IGNORE);
}
static int beside_a_receive(void)
{
    static int in, out;
    int which, rank;
    MPI_Request requests[2] = {general};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitany(2, requests, &which, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    return which;
}
int main(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    printf("%.3f\n", waited(alone));
    printf("%.3f\n", waited(beside_a_receive));
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("each", [1, 2])
def test_a_generalised_request_is_waited_for_as_long_as_its_thread_takes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, each: int
) -> None:
    (tmp_path / "p.c").write_text(GENERAL)
    command = ["simulate", str(tmp_path / "p.c"), "-p", str(2 * each), "--threads-per-process", str(each)]
    assert scalegraph([*command, "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["stdout"] == "30.000\n" * 4


def test_a_generalised_request_that_nobody_completes_is_a_deadlock(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "p.c").write_text(GENERAL.replace("MPI_Grequest_complete(general);", ""))
    assert scalegraph(["simulate", str(tmp_path / "p.c"), "-p", "2", "--no-reference", "--json"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["status"] == "deadlock"
    assert "rank 0 waits in MPI_Wait for MPI_Grequest_complete at " in row["message"]


MANY = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
enum { THREADS = 3 };
static MPI_Comm comms[THREADS];
static int rank;
static void *work(void *number)
{
    int t = (int)(long)number, sum, scan, all;
    MPI_Request requests[3];
    if (t == rank)
        usleep(2000);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[t], &requests[0]);
    MPI_Iscan(&rank, &scan, 1, MPI_INT, MPI_SUM, comms[t], &requests[1]);
    MPI_Ibarrier(comms[t], &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&scan, &all, 1, MPI_INT, MPI_SUM, comms[t]);
    printf("%d.%d: %d %d %d\n", rank, t, sum, scan, all);
    return NULL;
}
int main(int argc, char **argv)
{
    int level;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("each", [1, 4])
def test_threads_that_wait_for_the_same_operations_sleep(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, each: int
) -> None:
    """On each of three ranks one thread arrives 2 ms later than all others, which do nothing meanwhile."""
    (tmp_path / "p.c").write_text(MANY)
    command = ["simulate", str(tmp_path / "p.c"), "-p", str(4 * each), "--threads-per-process", str(each)]
    assert scalegraph([*command, "--machine", "cluster-hdr", "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    lines = [f"{rank}.{t}: 6 {rank * (rank + 1) // 2} 10" for rank in range(4) for t in range(3)]
    assert sorted(row["stdout"].splitlines()) == lines
    assert row["time_cycles"] < 9_000_000
    assert row["leaves"]["prim_receive"] < 200_000
