"""Single-threaded ranks on separate nodes run ahead, and their effects on others are deferred: same results.

Traced ranks wait for each turn, because a trace records which rank wakes which and when.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, ranks;
static volatile double sink = 1;
static void compute(int steps)
{
    for (int i = 0; i < steps; i++)
        sink = sink * 1.0000001 + 1e-9;
}
"""
# All data sent and received is static, and more than is copied when ranks change.
MIXED = r"""
static int out[9000], in[16][9000], turns[20000];
static MPI_Request request[16];
/* Reads memory of the library; does not commute. */
static void compose(void *from, void *to, int *count, MPI_Datatype *type)
{
    const long *a = from;
    long *b = to;
    (void)type;
    for (int i = 0; i < *count; i++)
        b[i] = 3 * a[i] + b[i] % 1000;
}
static void combine(MPI_Op op, int turn)
{
    int count = 40 + 100 * (turn % 4);
    long *own = malloc(count * sizeof *own), *all = malloc(count * sizeof *all);
    for (int i = 0; i < count; i++)
        own[i] = rank + i * turn;
    MPI_Allreduce(own, all, count, MPI_LONG, op, MPI_COMM_WORLD);
    if (rank == turn)
        printf("%ld ", all[count - 1]);
    free(own);
    free(all);
}
static void exchange(MPI_Comm comm, int turn)
{
    int me, all, count = turn % 3 == 2 ? 9000 : 1 + turn * 7 % 50;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    for (int i = 0; i < count; i++)
        out[i] = turn * 1000000 + rank * 10000 + i;
    MPI_Request receives[3], sends[3];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(in[i], 9000, MPI_INT, (me + all - i - 1) % all, turn, comm, &receives[i]);
    compute(50 * ((rank * 7 + turn * 3) % 11));
    for (int i = 0; i < 3; i++)
        MPI_Isend(out, count, MPI_INT, (me + i + 1) % all, turn, comm, &sends[i]);
    compute(30 * ((rank * 5 + turn) % 7));
    for (int i = 0, done; i < 3; i++) {
        MPI_Status status;
        if (turn % 2)
            MPI_Waitany(3, receives, &done, &status);
        else
            MPI_Wait(&receives[done = i], &status);
        int from = in[done][0] / 10000 % 100, got;
        MPI_Get_count(&status, MPI_INT, &got);
        if (got != count || in[done][count - 1] != turn * 1000000 + from * 10000 + count - 1)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int flag = 0; !flag;)
        MPI_Testall(3, sends, &flag, MPI_STATUSES_IGNORE);
    if (turns[turn * 999]++ != 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm part;
    MPI_Op op;
    MPI_Op_create(compose, 0, &op);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, ranks - rank, &part);
    for (int turn = 0; turn < 12; turn++) {
        exchange(turn % 4 ? MPI_COMM_WORLD : part, turn);
        if (rank == turn) /* others send on */
            for (int i = 1; i < ranks; i++) {
                MPI_Status status;
                MPI_Recv(in[i], 4, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &status);
                printf("%d ", status.MPI_SOURCE);
            }
        else
            MPI_Send(&rank, 1, MPI_INT, turn, 99, MPI_COMM_WORLD);
        combine(op, turn);
        int sum = rank, all;
        MPI_Request reduction;
        MPI_Iallreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduction);
        compute(rank * 20);
        MPI_Wait(&reduction, MPI_STATUS_IGNORE);
        if (turn == 6)
            MPI_Comm_dup(part, &part);
    }
    printf("%d: %.9f\n", rank, (double)sink);
    MPI_Finalize();
    return 0;
}
"""
WRONG = r"""
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int here = rank, there = 0;
    MPI_Request request;
    compute(100 * ((rank * 5 + 3) % ranks));
    MPI_Irecv(&there, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &request);
    compute(100 * ((rank * 7 + 2) % ranks));
    MPI_Send(&here, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD);
    compute(100 * ((rank * 3 + 1) % ranks));
    FAULT
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""
FAULTS = {
    "tag": "if (rank % 3 == 1) MPI_Send(&here, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);",
    "abort": "if (rank % 3 == 2) MPI_Abort(MPI_COMM_WORLD, 7);",
    "exit": "if (rank % 4 == 2) exit(5);",
    "overlap": "float other; MPI_Irecv(&there, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &(MPI_Request){0}); (void)other;",
    "deadlock": "if (rank == 4) MPI_Recv(&here, 1, MPI_INT, 3, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
}


def _run(
    text: str, ranks: int, capsys: pytest.CaptureFixture[str], *arguments: str, machine: str = "ncube2"
) -> dict[str, Any]:
    Path("p.c").write_text(BEGIN + text)
    scalegraph(["simulate", "p.c", "--machine", machine, "-p", str(ranks), "--no-reference", "--json", *arguments])
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert isinstance(row, dict)
    row["warnings"] = [text for text in row["warnings"] if not text.startswith("trace: ")]
    return {name: value for name, value in row.items() if not name.startswith(("host_", "trace"))}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("machine", "ranks"), [("ncube2", 2), ("ncube2", 5), ("ncube2", 12), ("now-switched", 6)])
def test_a_traced_run_takes_each_turn_and_has_the_same_numbers(
    machine: str, ranks: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MIXED.replace("turn < 12", f"turn < {ranks}").replace("i < 3", f"i < {min(3, ranks)}")
    text = text.replace("Waitany(3", f"Waitany({min(3, ranks)}").replace("Testall(3", f"Testall({min(3, ranks)}")
    plain = _run(text, ranks, capsys, machine=machine)
    traced = _run(text, ranks, capsys, "--trace", "--trace-output", "t", machine=machine)
    assert plain["status"] == "ok", plain["message"]
    assert plain == traced


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_that_is_first_in_simulated_time_is_named(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = WRONG.replace("FAULT", FAULTS[fault])
    plain, traced = _run(text, 12, capsys), _run(text, 12, capsys, "--trace", "--trace-output", "t")
    assert plain["status"] != "ok" or plain["warnings"], plain
    assert (plain["status"], plain["message"], plain["warnings"]) == (
        traced["status"],
        traced["message"],
        traced["warnings"],
    )
