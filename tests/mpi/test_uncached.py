"""Machines without a data cache: references take no time, nothing misses, and observers still get their references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef double two __attribute__((vector_size(16), aligned(8)));
struct __attribute__((packed)) odd { char a; long b; };
static double data[3000];
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *heap = malloc(sizeof data);
    struct odd *odd = calloc(500, sizeof *odd);
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < 3000; i++)
            data[i * 7 % 3000] += rank + i;
        memcpy(heap, data, sizeof data);
        for (int i = 0; i < 1499; i++)
            *(two *)&heap[2 * i + 1] += *(two *)&data[2 * i + 1];
        for (int i = 0; i < 500; i++)
            odd[i].b += i;
        MPI_Sendrecv_replace(heap, 3000, MPI_DOUBLE, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double sum = heap[17] + odd[400].b, all;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.17g\n", all);
    MPI_Finalize();
    return 0;
}
"""
POINTER = r"""
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, *mine = calloc(1000, sizeof(int)), *there = mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 1 - rank, 0, &there, sizeof there, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    mine[3] = 1;
    if (rank == 1)
        there[3] = 1; /* not its own */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
# A transfer time that never applies on nodes of one processor, but makes this a machine with caches.
CACHED = ("--set", "network.transfer_ns=50")
OF_CACHES = ("misses", "l1_misses", "memory_lines", "page_misses", "writebacks")
Simulate = Any


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates a program on a machine and returns its one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(program: str, name: str, ranks: int, *options: str) -> dict[str, Any]:
        Path("p.c").write_text(program)
        command = ["simulate", "p.c", "-p", str(ranks), "--no-reference", "--json", "--machine", name]
        assert scalegraph([*command, *options]) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


def without_misses(row: dict[str, Any]) -> dict[str, Any]:
    """Return the results that do not depend on whether the machine has caches."""
    kept = {name: row[name] for name in ("time_cycles", "leaves", "messages", "waits", "references", "stdout")}
    return {**kept, "counters": {name: n for name, n in row["counters"].items() if name not in OF_CACHES}}


@pytest.mark.parametrize("name", ["ncube2", "maspar-mp1", "cm5-vector"])
@pytest.mark.parametrize("inline", ["0", "1"])
def test_without_a_data_cache_nothing_but_misses_changes(
    simulate: Simulate, monkeypatch: pytest.MonkeyPatch, name: str, inline: str
) -> None:
    monkeypatch.setenv("SCALEGRAPH_INLINE", inline)
    row, cached = simulate(PROGRAM, name, 4), simulate(PROGRAM, name, 4, *CACHED)
    assert without_misses(row) == without_misses(cached)
    assert all(row["counters"][counter] == 0 for counter in OF_CACHES)
    assert cached["counters"]["misses"] > 0


@pytest.mark.parametrize("options", [("--collect", "classes"), ("--trace", "--trace-output", "traces")])
def test_who_wants_references_sees_the_same_run(simulate: Simulate, options: tuple[str, ...]) -> None:
    row, watched = simulate(PROGRAM, "ncube2", 4), simulate(PROGRAM, "ncube2", 4, *options)
    assert without_misses(watched) == without_misses(row)
    assert watched["counters"]["misses"] == 0


def test_pointers_to_another_ranks_memory_are_named(simulate: Simulate) -> None:
    line = POINTER.partition("there[3] =")[0].count("\n") + 1
    assert simulate(POINTER, "ncube2", 2)["warnings"] == [
        f"rank 1 writes memory of rank 0, on its heap, at p.c:{line} in main: a pointer means nothing to another rank"
    ]
