"""Collective operations of a simulated MPI program by every algorithm, and mismatched calls.

Neighbourhood collectives and topologies are compared with MPICH.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph import control, machine
from scalegraph.base.run import RunPoint
from scalegraph.cli.main import run as scalegraph
from scalegraph.link import Job, Simulated
from tests.mpi.native import MISSING, find

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = Path(__file__).with_name("collectives.c")
NEIGHBOURS = Path(__file__).with_name("neighbours.c")
RULES = (
    "bcast=scatter-ring,reduce=rabenseifner,allreduce=ring,allgather=ring,alltoall=pairwise,reduce_scatter=pairwise",
    "bcast=scatter-doubling,reduce=binomial,allreduce=rabenseifner,allgather=bruck,alltoall=bruck,reduce_scatter=halving",
    "bcast=binomial,allreduce=doubling,allgather=doubling,alltoall=linear,reduce_scatter=linear",
)


@pytest.fixture
def simulated(module_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that simulates a source on some processors and returns the document of its run."""
    monkeypatch.chdir(module_path)

    def simulate(source: str, processors: int, *options: str, code: int = 0) -> dict[str, Any]:
        Path("p.c").write_text(source)
        assert scalegraph(["simulate", "p.c", "-p", str(processors), "--no-reference", "--json", *options]) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulate


@pytest.mark.parametrize("ranks", [1, 2, 5, 8])
def test_all_collective_operations_give_the_right_results(simulated: Any, ranks: int) -> None:
    row = simulated(PROGRAM.read_text(), ranks)
    assert (row["status"], row["stdout"]) == ("ok", "wrong 0\n")
    assert sum(row["leaves"].values()) == ranks * row["time_cycles"]


@pytest.mark.parametrize("ranks", [4, 5])
@pytest.mark.parametrize("rule", RULES)
def test_every_algorithm_gives_the_right_results(simulated: Any, rule: str, ranks: int) -> None:
    usual = simulated(PROGRAM.read_text(), ranks)
    row = simulated(PROGRAM.read_text(), ranks, "--env", f"SCALEGRAPH_MPI_RULE={rule}")
    assert row["stdout"] == "wrong 0\n"
    assert row["time_cycles"] != usual["time_cycles"]  # other algorithms were used


NODES = ("--machine", "cluster-hdr", "--ranks-per-node")
FLAT = ("--env", "MPIR_CVAR_ENABLE_SMP_COLLECTIVES=0")


@pytest.mark.parametrize(("ranks", "each"), [(9, 2), (7, 4)])
def test_ranks_that_share_nodes_get_the_right_results(simulated: Any, ranks: int, each: int) -> None:
    row = simulated(PROGRAM.read_text(), ranks, *NODES, str(each))
    assert (row["status"], row["stdout"]) == ("ok", "wrong 0\n")


@pytest.mark.parametrize(
    ("call", "once"),
    [
        ("MPI_Bcast(x, 2, MPI_INT, 5, MPI_COMM_WORLD)", 2),  # to the first ranks of the two other nodes
        ("MPI_Reduce(x, y, 2, MPI_INT, MPI_SUM, 5, MPI_COMM_WORLD)", 2),
        (
            "MPI_Allreduce(x, y, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD)",
            4,
        ),  # two of three double, the third is put together
    ],
)
def test_data_goes_between_nodes_as_seldom_as_there_are_nodes(simulated: Any, call: str, once: int) -> None:
    source = f"""#include <mpi.h>
int main(int argc, char **argv)
{{
    int x[2] = {{1, 2}}, y[2];
    MPI_Init(&argc, &argv);
    {call};
    MPI_Finalize();
    return 0;
}}
"""

    def between_nodes(*options: str) -> int:
        row = simulated(source, 12, *NODES, "4", *options)
        pairs = row["messages"]["partners"]
        return sum(int(pair["bytes"]) for pair in pairs if pair["rank"] // 4 != pair["partner"] // 4)

    assert between_nodes() == 8 * once
    assert between_nodes(*FLAT) > 8 * once


BEGIN = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, x[4] = {0}, y[16] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    request = MPI_REQUEST_NULL;
"""
WRONG = {
    "if (rank) MPI_Barrier(MPI_COMM_WORLD); else MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD);": "instead, at p.c:9",
    "MPI_Bcast(x, 1, MPI_INT, rank, MPI_COMM_WORLD);": "the root is 1, but 0 in the call of rank 0 at p.c:9",
    "MPI_Allreduce(x, y, 1 + rank, MPI_INT, MPI_SUM, MPI_COMM_WORLD);": "8 bytes are passed, but 4 in the call",
    "MPI_Allreduce(x, y, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD);": "MPI_BAND does not work on the datatype MPI_FLOAT",
    "MPI_Send(x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);": "the count is -1",
    "MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);": "the datatype is MPI_DATATYPE_NULL",
    "MPI_Send(x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);": "tag -5 is negative",
    "MPI_Barrier(MPI_COMM_NULL);": "the communicator is MPI_COMM_NULL",
    "MPI_Type_contiguous(3, MPI_INT, (MPI_Datatype *)y); MPI_Bcast(x, 1, *(MPI_Datatype *)y, 0, MPI_COMM_WORLD);": (
        "the datatype was not committed with MPI_Type_commit"
    ),
    "MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD);": "it was called after MPI_Finalize",
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_named_with_rank_and_place(simulated: Any, call: str) -> None:
    row = simulated(f"{BEGIN}{call}\nMPI_Finalize(); return request != MPI_REQUEST_NULL; }}\n", 2, code=1)
    message = row["message"].replace(str(Path.cwd()) + "/", "")
    assert WRONG[call] in message
    assert message.startswith("rank ")
    assert "at p.c:9 in main: " in message


def test_a_request_that_is_never_completed_is_named(simulated: Any) -> None:
    row = simulated(
        f"{BEGIN}MPI_Irecv(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);\nMPI_Finalize(); return y[0]; }}\n", 2
    )
    assert "rank 0 ends MPI with 1 request that it has not completed, of MPI_Irecv" in json.dumps(row)


@pytest.mark.parametrize("ranks", [2, 4, 6])
def test_topologies_and_operations_of_neighbours_give_what_mpich_gives(ranks: int, tmp_path: Path) -> None:
    native = find()
    if native is None:
        pytest.skip(MISSING)
    binary = native.compiled(NEIGHBOURS, tmp_path / "neighbours", "-O1")
    expected = native.run(binary, ranks).stdout
    assert expected.count("\n") == 5 * ranks
    record = Simulated().run(Job(control.build([NEIGHBOURS]), machine.load("cluster-hdr"), RunPoint(processors=ranks)))
    assert (record.status, record.stdout) == ("ok", expected), record.message
