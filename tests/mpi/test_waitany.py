"""`MPI_Waitany` and `MPI_Waitsome`: the first completion in simulated time ends the wait."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = pytest.mark.compiler

# Rank 1 keeps its interface busy for 10 ms, with the message to rank 3: its message to rank 0 is known long
# before it arrives, and rank 2, which sends later, is faster or slower by how many rounds it makes.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char large[20000], small[4];
int main(int argc, char **argv)
{
    int rank, which = -1, done = -1, at[2];
    const char *wait = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request r[2];
        MPI_Irecv(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(small, sizeof small, MPI_BYTE, 2, 0, MPI_COMM_WORLD, &r[1]);
        if (wait[0] == 'a')
            MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
        else if (wait[0] == 's')
            MPI_Waitsome(2, r, &done, at, MPI_STATUSES_IGNORE), which = at[0];
        else
            MPI_Wait(&r[which = atoi(wait)], MPI_STATUS_IGNORE);
        double first = MPI_Wtime();
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        printf("%d %.9f %.9f", which, first, MPI_Wtime());
    } else if (rank == 1) {
        MPI_Send(large, sizeof large, MPI_BYTE, 3, 0, MPI_COMM_WORLD);
        MPI_Send(large, sizeof large, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 3) {
        MPI_Recv(large, sizeof large, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        volatile int sum = 0;
        for (int i = atoi(argv[2]); i > 0; i--)
            sum += i;
        MPI_Send(small, sizeof small, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""
EARLIER, LATER = "5000", "60000"  # rounds of rank 2: its message arrives before that of rank 1, or after it
ON_THE_WAY = ("idle_transfer", "idle_network", "idle_late_receiver")


@pytest.fixture
def runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, dict[str, Any]]:
    """Return the runs of the program by how rank 0 waits; `late`: rank 2 is later than rank 1."""
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(PROGRAM)
    found = {}
    for words in (("any", EARLIER), ("some", EARLIER), ("1", EARLIER), ("any", LATER), ("some", LATER), ("0", LATER)):
        command = ["simulate", "p.c", "-p", "4", "--machine", "ncube2", "--no-reference", "--json", "--", *words]
        assert scalegraph(command) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        found[("late " if words[1] == LATER else "") + words[0]] = row
    return found


def same(run: dict[str, Any]) -> list[Any]:
    """Return what does not depend on the call that waits: the program's own branches before it take some cycles."""
    return [run["stdout"], run["time_cycles"], *(run["leaves"][name] for name in ON_THE_WAY)]


def test_what_is_known_later_and_completes_earlier_ends_the_wait(runs: dict[str, dict[str, Any]]) -> None:
    which, first, last = map(float, runs["any"]["stdout"].split())
    assert which == 1
    # 20,000 bytes at 0.5 us each have left rank 1 when those for rank 0 can.
    assert first < 10e-3 < 20e-3 < last
    for name in ("any", "some"):
        assert same(runs[name]) == same(runs["1"])


def test_what_is_known_first_and_completes_first_ends_the_wait(runs: dict[str, dict[str, Any]]) -> None:
    assert runs["late any"]["stdout"].startswith("0 ")
    for name in ("late any", "late some"):
        assert same(runs[name]) == same(runs["late 0"])
