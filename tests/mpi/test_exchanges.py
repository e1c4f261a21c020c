"""Static data of ranks that take turns often: each finds its own, by whatever means the host moves it.

Where the host can (Linux 6.8), pages of ranks that have taken turns for long are made large and moved by a descriptor.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = pytest.mark.compiler

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
    """Return what the program prints, as computed without it."""
    sent = [[0] * pages for _ in range(ranks)]
    sums = [0] * ranks
    for turn in range(turns):
        at = turn % pages
        got = [sent[rank - 1][at] for rank in range(ranks)]
        for rank in range(ranks):
            sent[rank][at] += rank + got[rank] % 1000
            sums[rank] += got[rank]
    return " ".join(f"{rank} {total}" for rank, total in enumerate(sums))


@pytest.mark.parametrize("what", ["nothing", "closes"])
@pytest.mark.parametrize("pages", [10, 600])
def test_each_rank_finds_its_own_data_however_it_is_moved(
    pages: int, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.c").write_text(PROGRAM.replace("BYTES", str(4096 * pages)))
    command = ["simulate", "p.c", "-p", "3", "--machine", "ncube2", "--no-reference", "--json", "--", what]
    assert scalegraph(command) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    printed = row["stdout"].split()
    pairs = sorted(zip(printed[::2], printed[1::2], strict=True))
    assert " ".join(" ".join(pair) for pair in pairs) == expected(3, pages=pages)
