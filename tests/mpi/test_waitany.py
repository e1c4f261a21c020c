"""The first completion in simulated time ends a wait, however late it becomes known: of messages and of collective
operations, in `MPI_Waitany`, `MPI_Waitsome`, `MPI_Testany`, and in a wait for one while another one is under way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

# Rank 1's message to rank 3 keeps its interface busy for 10 ms, so the arrival of its message to rank 0 is known long
# before. Rank 2 begins later; the number of its rounds decides whether its message arrives first.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char large[20000], small[4];
static MPI_Comm pair[2]; /* of rank 0 with rank 1, and with rank 2 */
static int collective, blocking; /* blocking: the operation with rank 2 */
static void take(char *buffer, int bytes, int from, MPI_Request *r)
{
    if (collective)
        MPI_Ibcast(buffer, bytes, MPI_BYTE, 1, pair[from - 1], r);
    else
        MPI_Irecv(buffer, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, r);
}
static void give(char *buffer, int bytes, int rank)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (!collective)
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    else if (blocking && rank == 2)
        MPI_Bcast(buffer, bytes, MPI_BYTE, 1, pair[1]);
    else
        MPI_Ibcast(buffer, bytes, MPI_BYTE, 1, pair[rank - 1], &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank, which = -1, done = -1, at[2];
    const char *wait = argv[2];
    collective = strcmp(argv[1], "messages") != 0;
    blocking = strcmp(wait, "blocking") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == i + 1 ? 0 : MPI_UNDEFINED, 0, &pair[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request r[2];
        take(large, sizeof large, 1, &r[0]);
        if (blocking) {
            MPI_Bcast(small, sizeof small, MPI_BYTE, 1, pair[1]);
            r[which = 1] = MPI_REQUEST_NULL;
        } else
            take(small, sizeof small, 2, &r[1]);
        if (strcmp(wait, "any") == 0)
            MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
        else if (strcmp(wait, "some") == 0)
            MPI_Waitsome(2, r, &done, at, MPI_STATUSES_IGNORE), which = at[0];
        else if (strcmp(wait, "test") == 0)
            for (int flag = 0; !flag;)
                MPI_Testany(2, r, &which, &flag, MPI_STATUS_IGNORE);
        else if (which < 0)
            MPI_Wait(&r[which = atoi(wait)], MPI_STATUS_IGNORE);
        double first = MPI_Wtime();
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        printf("%d %.9f %.9f", which, first, MPI_Wtime());
    } else if (rank == 1) {
        MPI_Send(large, sizeof large, MPI_BYTE, 3, 0, MPI_COMM_WORLD);
        give(large, sizeof large, 1);
    } else if (rank == 3) {
        MPI_Recv(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        volatile int sum = 0;
        for (int i = atoi(argv[3]); i > 0; i--)
            sum += i;
        give(small, sizeof small, 2);
    }
    MPI_Finalize();
    return 0;
}
"""
EARLIER, LATER = "5000", "60000"  # rounds of rank 2: its message arrives before that of rank 1, or after it
ON_THE_WAY = ("idle_transfer", "idle_network", "idle_late_receiver")
Simulate = Callable[[str, str, str], dict[str, Any]]


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function of what rank 0 waits for, how, and the rounds of rank 2, that returns the run."""
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(PROGRAM)

    def run(what: str, wait: str, rounds: str) -> dict[str, Any]:
        command = ["simulate", "p.c", "-p", "4", "--machine", "ncube2", "--no-reference", "--json", "--"]
        assert scalegraph([*command, what, wait, rounds]) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return run


def same(run: dict[str, Any]) -> list[Any]:
    """Return the results that do not depend on which call waits; the program's branches before it take some cycles."""
    return [run["stdout"], run["time_cycles"], *(run["leaves"][name] for name in ON_THE_WAY)]


def times(run: dict[str, Any]) -> tuple[int, float, float]:
    """Return which request completed first, when, and when both were complete (seconds after the start)."""
    which, first, last = run["stdout"].split()
    return int(which), float(first), float(last)


@pytest.mark.parametrize("what", ["messages", "collectives"])
def test_what_is_known_later_and_completes_earlier_ends_the_wait(simulate: Simulate, what: str) -> None:
    single = simulate(what, "1", EARLIER)
    which, first, last = times(single)
    assert which == 1
    # 20,000 bytes at 0.5 us each have left rank 1 when those for rank 0 can.
    assert first < 10e-3 < 20e-3 < last
    for wait in ("any", "some"):
        assert same(simulate(what, wait, EARLIER)) == same(single)
    tested = times(simulate(what, "test", EARLIER))
    assert tested[0] == 1
    assert first <= tested[1] < first + 50e-6  # some cycles later, as it polls


@pytest.mark.parametrize("what", ["messages", "collectives"])
def test_what_is_known_first_and_completes_first_ends_the_wait(simulate: Simulate, what: str) -> None:
    single = simulate(what, "0", LATER)
    assert times(single)[0] == 0
    for wait in ("any", "some"):
        assert same(simulate(what, wait, LATER)) == same(single)
    tested = times(simulate(what, "test", LATER))
    assert tested[0] == 0
    assert times(single)[1] <= tested[1] < times(single)[1] + 50e-6


def test_a_blocking_operation_ends_before_one_under_way_that_completes_later(simulate: Simulate) -> None:
    which, first, last = times(simulate("collectives", "blocking", EARLIER))
    assert which == 1
    assert first < 10e-3 < 20e-3 < last
