"""Static data of ranks that take turns often: each rank finds its own, however the host moves it.

If the host supports it (Linux 6.8), pages of such ranks are eventually made large and moved by a descriptor.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Outputs = Callable[..., list[str]]

# Every rank has changed all of its data between two turns. Halfway rank 0 closes descriptors that are not
# its own, the one by which pages are moved among them.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { PAGES = BYTES / 4096, TURNS = 1200 };
static struct { long own[512]; } page[PAGES];
int main(int argc, char **argv)
{
    int rank, ranks;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Sendrecv(&page[turn % PAGES].own[7], 1, MPI_LONG, (rank + 1) % ranks, 0, &page[turn % PAGES].own[9], 1,
                     MPI_LONG, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < PAGES; i++) {
            if (page[i].own[0] != (long)turn * (rank + 1))
                MPI_Abort(MPI_COMM_WORLD, 2);
            page[i].own[0] += rank + 1;
        }
        page[turn % PAGES].own[7] += rank + page[turn % PAGES].own[9] % 1000;
        sum += page[turn % PAGES].own[9];
        if (rank == 0 && turn == TURNS / 2 && strcmp(argv[1], "closes") == 0)
            for (int i = 10; i < 1024; i++)
                close(i);
    }
    printf("%d %ld ", rank, sum);
    MPI_Finalize();
    return 0;
}
"""


def expected(ranks: int, turns: int = 1200, *, pages: int) -> str:
    """Return the expected output, computed independently."""
    sent = [[0] * pages for _ in range(ranks)]
    sums = [0] * ranks
    for turn in range(turns):
        at = turn % pages
        got = [sent[rank - 1][at] for rank in range(ranks)]
        for rank in range(ranks):
            sent[rank][at] += rank + got[rank] % 1000
            sums[rank] += got[rank]
    return " ".join(f"{rank} {total}" for rank, total in enumerate(sums))


@pytest.fixture
def outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Outputs:
    """Return a function that simulates a program in C and returns what each of its runs printed."""
    monkeypatch.chdir(tmp_path)

    def simulated(source: str, processors: str, machine: str = "ncube2", *arguments: str) -> list[str]:
        Path("p.c").write_text(source)
        command = ["simulate", "p.c", "-p", processors, "--machine", machine, "--no-reference", "--json", "--"]
        assert scalegraph([*command, *arguments]) == 0
        return [run["stdout"] for run in json.loads(capsys.readouterr().out)["runs"]]

    return simulated


@pytest.mark.parametrize("what", ["nothing", "closes"])
@pytest.mark.parametrize("pages", [10, 20, 600])
def test_each_rank_finds_its_own_data_however_it_is_moved(pages: int, what: str, outputs: Outputs) -> None:
    (output,) = outputs(PROGRAM.replace("BYTES", str(4096 * pages)), "3", "ncube2", what)
    printed = output.split()
    pairs = sorted(zip(printed[::2], printed[1::2], strict=True))
    assert " ".join(" ".join(pair) for pair in pairs) == expected(3, pages=pages)


# Prints how many KiB of the process are in large pages, once all ranks have taken turns often.
LARGE = r"""
#include <mpi.h>
#include <stdio.h>
static char data[40960];
int main(int argc, char **argv)
{
    int rank, ranks;
    long large = 0, one;
    char line[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < 300; turn++)
        MPI_Sendrecv(&data[turn], 1, MPI_CHAR, (rank + 1) % ranks, 0, &data[20000 + turn], 1, MPI_CHAR,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) {
        FILE *file = fopen("/proc/self/smaps", "r");
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "AnonHugePages: %ld kB", &one) == 1)
                large += one;
        fclose(file);
        printf("%ld", large);
    }
    MPI_Finalize();
    return 0;
}
"""


def test_data_of_many_ranks_gets_large_pages(outputs: Outputs) -> None:
    few, many = map(int, outputs(LARGE, "4,140"))
    total, free = (os.sysconf(name) * os.sysconf("SC_PAGESIZE") for name in ("SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    if few < 4 * 2048 or total < 16 * (140 << 21) or free < 4 * (140 << 21):
        pytest.skip("this host has too little memory for large pages, or cannot move them")
    assert many >= 140 * 2048


# Rank 0 waits for messages that arrive one by one. An exchange of data for each would make pages large.
WAITS = LARGE.replace(
    LARGE[LARGE.index("    for (int turn") : LARGE.index("    if (rank == 0)")],
    r"""    MPI_Request requests[64];
    for (int i = 0; i < 64 && rank == 0; i++)
        MPI_Irecv(&data[20000 + i], 1, MPI_CHAR, 1, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 64 && rank == 1; i++) {
        for (volatile int wait = 0; wait < 20000; wait++)
            ;
        MPI_Send(&data[i], 1, MPI_CHAR, 0, i, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Waitall(64, requests, MPI_STATUSES_IGNORE);
""",
)


def test_a_wait_for_many_messages_exchanges_data_once(outputs: Outputs) -> None:
    once, never = (outputs(text, "2", "cluster-hdr") for text in (WAITS, WAITS.replace("64", "1")))
    assert once == never


# Functions that the library calls back use static data, too.
CALLED_BACK = r"""static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
    calls++;
    for (int i = 0; i < *n; i++)
        ((long *)b)[i] += ((long *)a)[i] + in[0];
}
static void keep(MPI_Comm *comm, int *code, ...)
{
    errors = in[0];
}
"""
# Rank 0 prints the number of errors and whether the functions above were called.
VERDICT = r"""    wrong += errors != 0 && errors != rank + 1;
    long counts[3] = {wrong, calls, errors}, all[3];
    MPI_Reduce(counts, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld %d %d", all[0], all[1] > 0, all[2] > 0);
    MPI_Finalize();
    return 0;
}
"""

# Collective operations on static and other data, with the program's own operation and error handler that use it.
COLLECTIVE = (
    r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { COUNT = 40000 };
static long in[COUNT], out[COUNT], calls, errors;
"""
    + CALLED_BACK
    + r"""int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_create_errhandler(keep, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    long *heap = calloc(COUNT, sizeof *heap), own[4], sum[4], wrong = 0;
    for (int turn = 0; turn < 20; turn++) {
        in[0] = rank + 1;
        for (int i = 0; i < 4; i++)
            own[i] = rank;
        MPI_Allreduce(own, sum, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum[3] != ranks * (ranks - 1) / 2 || in[0] != rank + 1;
        MPI_Allgather(own, 4, MPI_LONG, heap, 4, MPI_LONG, MPI_COMM_WORLD);
        MPI_Alltoall(heap, 2, MPI_LONG, out + 100, 2, MPI_LONG, MPI_COMM_WORLD);
        MPI_Alltoall(out + 100, 2, MPI_LONG, in + 100, 2, MPI_LONG, MPI_COMM_WORLD);
        for (int i = 0; i < ranks; i++)
            wrong += in[100 + 2 * i] != i / 2 || heap[4 * i] != i || in[0] != rank + 1;
        MPI_Allreduce(own, sum, 4, MPI_LONG, op, MPI_COMM_WORLD);
        wrong += in[0] != rank + 1;
        MPI_Bcast(in + 1000, 30000 + turn, MPI_LONG, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Bcast(own, rank == 0 ? 4 : 2, MPI_LONG, 0, MPI_COMM_WORLD);
"""
    + VERDICT
)


@pytest.mark.parametrize("machine", ["cluster-hdr", "ncube2", "cm5"])
def test_collective_operations_find_static_data_of_their_rank(machine: str, outputs: Outputs) -> None:
    assert outputs(COLLECTIVE, "8", machine) == ["0 1 1"]


# The same for operations that are waited for later, together, in any order and in calls that wait for something else.
NON_BLOCKING = (
    r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { COUNT = 40000, RANKS = 8 };
static long in[COUNT], out[COUNT], calls, errors;
static MPI_Request listed[5];
static MPI_Status ended;
"""
    + CALLED_BACK
    + r"""int main(int argc, char **argv)
{
    int rank, next, last, index, flag;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    next = (rank + 1) % RANKS, last = (rank + RANKS - 1) % RANKS;
    MPI_Op_create(add, 1, &op);
    MPI_Comm_create_errhandler(keep, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    long *heap = calloc(COUNT, sizeof *heap), own[4], sum[4], scan[4], got, wrong = 0;
    MPI_Request *request = malloc(5 * sizeof *request);
    for (int turn = 0; turn < 12; turn++) {
        MPI_Request *list = turn % 2 ? listed : request;
        in[0] = rank + 1;
        memset(out, 0, sizeof out);
        for (int i = 0; i < 4; i++)
            own[i] = rank + turn;
        for (int i = 0; i < RANKS; i++)
            in[100 + i] = heap[2000 + i] = 10 * rank + i;
        MPI_Iallreduce(own, sum, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &list[0]);
        MPI_Ialltoall(heap + 2000, 1, MPI_LONG, heap, 1, MPI_LONG, MPI_COMM_WORLD, &list[1]);
        MPI_Ialltoall(in + 100, 1, MPI_LONG, out + 200, 1, MPI_LONG, MPI_COMM_WORLD, &list[2]);
        MPI_Iscan(own, scan, 4, MPI_LONG, op, MPI_COMM_WORLD, &list[3]);
        MPI_Irecv(out + 300, 1, MPI_LONG, last, 1, MPI_COMM_WORLD, &list[4]);
        MPI_Sendrecv(in, 1, MPI_LONG, next, 2, &got, 1, MPI_LONG, last, 2, MPI_COMM_WORLD, &ended);
        wrong += got != last + 1 || ended.MPI_SOURCE != last || in[0] != rank + 1;
        MPI_Bcast(heap + 4000, 3000 + turn, MPI_LONG, 0, MPI_COMM_WORLD);
        MPI_Send(in, 1, MPI_LONG, next, 1, MPI_COMM_WORLD);
        if (turn % 3 == 0)
            MPI_Waitall(5, list, MPI_STATUSES_IGNORE);
        for (int i = 0; turn % 3 == 1 && i < 5; i++) {
            MPI_Waitany(5, list, &index, &ended);
            wrong += index < 0 || index > 4 || in[0] != rank + 1;
        }
        for (int i = 4; turn % 3 == 2 && i >= 0; i--)
            for (flag = 0; !flag; wrong += in[0] != rank + 1)
                MPI_Test(&list[i], &flag, &ended);
        for (int i = 0; i < RANKS; i++)
            wrong += heap[i] != 10 * i + rank || out[200 + i] != 10 * i + rank;
        wrong += sum[3] != RANKS * (RANKS - 1) / 2 + RANKS * turn || out[300] != last + 1;
    }
    MPI_Ibcast(own, rank == 0 ? 4 : 2, MPI_LONG, 0, MPI_COMM_WORLD, request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
"""
    + VERDICT
)


@pytest.mark.parametrize("machine", ["cluster-hdr", "ncube2", "cm5"])
def test_operations_that_are_waited_for_later_find_static_data_of_their_rank(machine: str, outputs: Outputs) -> None:
    assert outputs(NON_BLOCKING, "8", machine) == ["0 1 1"]
