"""If the machine declares a node's memory, it limits the static data and heaps of the node's ranks."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

MIB = 2**20
PROGRAM = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char table[TABLE];
int main(int argc, char **argv)
{
    int rank, blocks = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    table[rank] = 1;
    for (int i = 0; rank == atoi(argv[1]) && i < blocks; i++) {
        char *block = malloc(1 << 20);
        block[0] = table[rank];
        if (argc > 3)
            free(block);
    }
    MPI_Finalize();
}
"""
SENTENCE = re.compile(
    r"^rank (\d+) needs (\d+) bytes more for its data, but node (\d+) of the machine has (\d+) bytes of memory "
    r"\(nodes\.memory_mib\), of which its ranks have taken (\d+)$"
)


@pytest.fixture
def simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that simulates the program with arguments and options and returns its run."""
    monkeypatch.chdir(tmp_path)

    def simulate(table: int, *words: str, machine: str = "ncube2", ranks: int = 4) -> dict[str, Any]:
        Path("p.c").write_text(PROGRAM.replace("TABLE", str(table)))
        command = ["simulate", "p.c", "-m", machine, "-p", str(ranks), "--no-reference", "--json", *words]
        scalegraph(command)
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulate


def refused(row: dict[str, Any]) -> tuple[int, ...]:
    """Return rank, bytes, node, memory and used memory from the sentence with which the run was refused."""
    assert row["status"] == "out_of_memory", row["message"]
    found = SENTENCE.match(row["message"])
    assert found is not None, row["message"]
    rank, needs, node, memory, taken = map(int, found.groups())
    assert taken <= memory < taken + needs
    return rank, needs, node, memory, taken


# Each rank has 8 MiB of data that is not zero.
FILLED = r"""
#include <mpi.h>
__asm__(".data\nfilled: .fill 1048576, 8, 1\n.text");
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
"""


def test_ranks_that_the_host_has_no_memory_for_are_refused_with_what_they_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") > 120 << 30:
        pytest.skip("this host has memory for all ranks")
    (tmp_path / "p.c").write_text(FILLED)
    command = ["simulate", str(tmp_path / "p.c"), "--machine", "cluster-hdr", "-p", "16384", "--no-reference", "--json"]
    assert scalegraph(command) != 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["status"] == "out_of_memory"
    said = r"16384 ranks need at least \d{6} MiB of the host's memory, 8\d{3} KiB each .* but \d+ MiB are free"
    assert re.match(said, row["message"]), row["message"]


def test_a_heap_that_outgrows_its_node_is_refused(simulated: Any) -> None:
    rank, needs, node, memory, _ = refused(simulated(1000, "--set", "nodes.memory_mib=8", "--", "2", "20"))
    assert (rank, node, memory) == (2, 2, 8 * MIB)
    assert MIB <= needs < MIB + 65536


def test_what_fits_runs_as_it_does_without_a_limit(simulated: Any) -> None:
    runs = [simulated(1000, "--set", f"nodes.memory_mib={size}", "--", "2", "7") for size in (8, 0)]
    assert [run["status"] for run in runs] == ["ok", "ok"]
    assert runs[0]["time_cycles"] == runs[1]["time_cycles"]


def test_memory_that_is_given_back_is_used_again(simulated: Any) -> None:
    assert simulated(1000, "--set", "nodes.memory_mib=4", "--", "2", "20", "free")["status"] == "ok"


def test_static_data_alone_can_be_too_much(simulated: Any) -> None:
    rank, needs, node, memory, taken = refused(simulated(3 * MIB, "--set", "nodes.memory_mib=2", "--", "0"))
    assert (rank, node, memory, taken) == (0, 0, 2 * MIB, 0)
    assert needs >= 3 * MIB


def test_ranks_of_a_node_share_its_memory(simulated: Any) -> None:
    limit = ("--set", "nodes.memory_mib=16")
    assert simulated(3 * MIB, *limit, "--", "3", "2", machine="cluster-hdr")["status"] == "ok"
    rank, _, node, _, taken = refused(simulated(3 * MIB, *limit, "--", "3", "5", machine="cluster-hdr"))
    assert (rank, node) == (3, 0)
    assert taken > 4 * 3 * MIB  # static data of all four ranks
    rank, _, node, _, taken = refused(simulated(9 * MIB, *limit, "--", "0", machine="cluster-hdr"))
    assert (rank, node) == (1, 0)
    assert 9 * MIB <= taken < 10 * MIB


def test_rank_0_and_shared_memory_machines(simulated: Any) -> None:
    assert refused(simulated(1000, "--set", "nodes.memory_mib=2", "--", "0", "9"))[0] == 0
    assert simulated(1000, "--", "0", "100", machine="server-2x32-inorder")["status"] == "ok"  # no memory is declared
