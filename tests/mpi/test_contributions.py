"""Collective contributions that are larger or smaller than expected are reported with ranks, line and sizes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

# Every rank exchanges two integers with each other rank, except that one count on rank 1 is `n`.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define WORLD MPI_COMM_WORLD
int main(int argc, char **argv)
{
    int rank, n, error = MPI_SUCCESS, dims[1], per[1] = {1};
    int x[64] = {0}, y[64] = {0}, own[4] = {2, 2, 2, 2}, two[4] = {2, 2, 2, 2};
    int at[4] = {0, 2, 4, 6}, by[4] = {0, 8, 16, 24};
    MPI_Datatype t[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Comm ring;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, dims);
    MPI_Cart_create(WORLD, 1, dims, per, 0, &ring);
    if (argc > 3) {
        MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    }
    n = own[atoi(argv[2]) / 10] = rank == 1 ? atoi(argv[2]) % 10 : 2;
    int at_root = rank == 0 ? atoi(argv[2]) % 10 : 2;
#define CASE(name, call) if (strcmp(argv[1], #name) == 0 || strcmp(argv[1], "all") == 0) error |= call;
CASES
    if (error != MPI_SUCCESS)
        printf("%d: %d\n", rank, error);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
"""
CALLS = {
    "gather": "MPI_Gather(x, n, MPI_INT, y, 2, MPI_INT, 0, WORLD)",
    "gather_root": "MPI_Gather(x, 2, MPI_INT, y, at_root, MPI_INT, 0, WORLD)",
    "scatter": "MPI_Scatter(x, 2, MPI_INT, y, n, MPI_INT, 0, WORLD)",
    "scatter_root": "MPI_Scatter(x, at_root, MPI_INT, y, 2, MPI_INT, 0, WORLD)",
    "gatherv": "MPI_Gatherv(x, n, MPI_INT, y, two, at, MPI_INT, 0, WORLD)",
    "gatherv_root": "MPI_Gatherv(x, at_root, MPI_INT, y, two, at, MPI_INT, 0, WORLD)",
    "scatterv": "MPI_Scatterv(x, two, at, MPI_INT, y, n, MPI_INT, 0, WORLD)",
    "scatterv_root": "MPI_Scatterv(x, two, at, MPI_INT, y, at_root, MPI_INT, 0, WORLD)",
    "allgather": "MPI_Allgather(x, n, MPI_INT, y, 2, MPI_INT, WORLD)",
    "allgather_all": "MPI_Allgather(x, n, MPI_INT, y, n, MPI_INT, WORLD)",
    "allgatherv": "MPI_Allgatherv(x, n, MPI_INT, y, two, at, MPI_INT, WORLD)",
    "allgatherv_list": "MPI_Allgatherv(x, 2, MPI_INT, y, (own[3] = 4 - own[2], own), at, MPI_INT, WORLD)",
    "alltoall": "MPI_Alltoall(x, n, MPI_INT, y, 2, MPI_INT, WORLD)",
    "alltoall_all": "MPI_Alltoall(x, n, MPI_INT, y, n, MPI_INT, WORLD)",
    "alltoallv": "MPI_Alltoallv(x, own, at, MPI_INT, y, two, at, MPI_INT, WORLD)",
    "alltoallv_own": "MPI_Alltoallv(x, own, at, MPI_INT, y, two, at, MPI_INT, WORLD)",
    "alltoallw": "MPI_Alltoallw(x, own, by, t, y, two, by, t, WORLD)",
    "neighbours": "MPI_Neighbor_allgather(x, n, MPI_INT, y, 2, MPI_INT, ring)",
    "neighbours_list": "MPI_Neighbor_alltoallv(x, own, at, MPI_INT, y, two, at, MPI_INT, ring)",
    "reduce": "MPI_Reduce(x, y, n, MPI_INT, MPI_SUM, 0, WORLD)",
    "bcast": "MPI_Bcast(x, n, MPI_INT, 0, WORLD)",
    "scan": "MPI_Scan(x, y, n, MPI_INT, MPI_SUM, WORLD)",
    "exscan": "MPI_Exscan(x, y, n, MPI_INT, MPI_SUM, WORLD)",
    "reduce_scatter": "MPI_Reduce_scatter(x, y, (own[1] = 4 - own[0], own), MPI_INT, MPI_SUM, WORLD)",
    "reduce_scatter_block": "MPI_Reduce_scatter_block(x, y, n, MPI_INT, MPI_SUM, WORLD)",
    "igatherv": "MPI_Igatherv(x, n, MPI_INT, y, two, at, MPI_INT, 0, WORLD, &r) | MPI_Wait(&r, MPI_STATUS_IGNORE)",
    "iallreduce": "MPI_Iallreduce(x, y, n, MPI_INT, MPI_SUM, WORLD, &r) | MPI_Wait(&r, MPI_STATUS_IGNORE)",
}
PASSED = "rank 1: {call} at {place}: {bytes} bytes are passed, but 8 in the call of rank 0 at {place}"
SENT = (
    "rank 0: {call} at {place}: rank 1 has sent {bytes} bytes to this collective operation with {call} at {place}, but "
)
OWN = "the rank sends {bytes} bytes to itself, but expects 8"
EXPECTS_OWN = "the rank sends 8 bytes to itself, but expects {bytes}"
LIST = "rank 1: {call} at {place}: rank {of} has {bytes} of the bytes, but 8 in the call of rank 0 at {place}"
TEXTS = {
    **dict.fromkeys(("gather", "scatter", "allgather_all", "alltoall_all", "reduce", "bcast"), PASSED),
    **dict.fromkeys(("scan", "exscan", "iallreduce"), PASSED),
    "reduce_scatter_block": PASSED.replace("{bytes}", "{four}").replace("but 8", "but 32"),
    **dict.fromkeys(("gatherv", "alltoallv", "alltoallw", "neighbours_list", "igatherv"), SENT),
    "neighbours": SENT.replace("rank 0", "rank 2"),  # rank 2 is checked first
    "scatterv": (
        "rank 1: {call} at {place}: rank 0 has sent 8 bytes to this collective operation with {call} at {place}, but "
    ),
    **dict.fromkeys(("allgather", "allgatherv", "alltoall", "alltoallv_own"), "rank 1: {call} at {place}: " + OWN),
    **dict.fromkeys(("gatherv_root", "scatter_root"), "rank 0: {call} at {place}: " + OWN),
    **dict.fromkeys(("gather_root", "scatterv_root"), "rank 0: {call} at {place}: " + EXPECTS_OWN),
    "allgatherv_list": LIST.replace("{of}", "2"),
    "reduce_scatter": LIST.replace("{of}", "0"),
}
PLACE_IN_LIST = {"alltoallv_own": 1, "allgatherv_list": 2}  # otherwise the first entry of rank 1's own list differs
ENDS = {
    "rank 1 has": ("8 are expected", "there is room for 8"),
    "rank 0 has": ("there is room for 4", "12 are expected"),
}


@pytest.fixture(scope="module")
def program(module_path: Path) -> Path:
    """Return the source of the program, which has one line per case."""
    path = module_path / "p.c"
    path.write_text(PROGRAM.replace("CASES", "\n".join(f"    CASE({name}, {call})" for name, call in CALLS.items())))
    return path


def simulated(capsys: pytest.CaptureFixture[str], program: Path, *words: str) -> dict[str, Any]:
    """Return the run of the program on four ranks of a cluster."""
    scalegraph(["simulate", str(program), "-m", "cluster-hdr", "-p", "4", "--no-reference", "--json", "--", *words])
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert isinstance(row, dict)
    return row


@pytest.mark.slow
@pytest.mark.parametrize("integers", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_more_or_less_than_expected_is_named(
    capsys: pytest.CaptureFixture[str], program: Path, name: str, integers: int
) -> None:
    row = simulated(capsys, program, name, str(10 * PLACE_IN_LIST.get(name, 0) + integers))
    line = PROGRAM.partition("CASES")[0].count("\n") + 1 + list(CALLS).index(name)
    text = TEXTS[name]
    text += "".join(ends[integers > 2] for start, ends in ENDS.items() if f"{start} sent" in text)
    call = CALLS[name].partition("(")[0]
    expected = text.format(call=call, place=f"{program}:{line} in main", bytes=4 * integers, four=16 * integers)
    assert row["message"].replace(str(program.resolve()), str(program)) == expected


@pytest.mark.parametrize("name", ["gather_root", "gatherv", "allgatherv", "alltoall", "neighbours", "iallreduce"])
def test_the_error_is_returned_and_nobody_waits_in_vain(
    capsys: pytest.CaptureFixture[str], program: Path, name: str
) -> None:
    row = simulated(capsys, program, name, "1", "returned")
    assert row["status"] == "ok"
    assert row["stdout"] != ""


def test_what_is_as_expected_passes(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    row = simulated(capsys, program, "all", "2")
    assert (row["status"], row["message"], row["stdout"]) == ("ok", "", "")
