"""Messages within a node of out-of-order processors: lines in flight, eager, rendezvous, single copy by the kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

KERNEL = Path(__file__).parents[2] / "benchmarks" / "reality" / "kernels" / "messages.c"
MACHINE = "xeon-6126"
LAST = 13  # ranks, of which the last one is on the other socket


def latency(capsys: pytest.CaptureFixture[str], ranks: int, *sizes: int, **values: object) -> list[float]:
    """Return the times [ns] of messages of *sizes* bytes between the first and last of *ranks*, without prefetching."""
    values = {"messages." + key: value for key, value in values.items()} | {"prefetch.kind": "none"}
    changed = [f"--set={key}={value}" for key, value in values.items()]
    command = ["simulate", str(KERNEL), "-m", MACHINE, "-p", str(ranks), "--no-reference", "--json", *changed]
    assert scalegraph([*command, "--", "latency", "4", *map(str, sizes)]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    return [float(line.split(";")[1]) * 1000 for line in row["stdout"].splitlines()]


def test_a_long_message_takes_what_its_lines_take_under_way(capsys: pytest.CaptureFixture[str]) -> None:
    """The sender invalidates the receiver's copies; the receiver fetches each line from the sender's cache."""
    machine = machines.load(MACHINE)
    network, ghz = machine.network, machine.clock_hz / 1e9
    looks = machine.cache[1].hit_cycles / ghz, sum(cache.hit_cycles for cache in machine.cache) / ghz
    near = looks[0] + network.snoop_ns + looks[1] + network.transfer_ns
    beyond = 2 * 2 * network.link_ns + 2 * (network.remote_transfer_ns - network.transfer_ns)
    misses = machine.processor.pipeline.misses
    for ranks, line_ns in ((2, near), (LAST, near + beyond)):
        short, long = latency(capsys, ranks, 16384, 65536)
        assert long - short == pytest.approx((65536 - 16384) / 64 * line_ns / misses, rel=0.15)
    few = latency(capsys, 2, 16384, 65536, near_lines=3)
    assert few[1] - few[0] == pytest.approx(768 * near / 3, rel=0.1)


def test_a_short_message_takes_its_software_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    (quick,), (slow,) = latency(capsys, 2, 8), latency(capsys, 2, 8, near_cycles=1200)
    assert slow - quick == pytest.approx(2 * 1000 / (machines.load(MACHINE).clock_hz / 1e9), rel=0.02)
    assert 150 < quick < 250
    inside, outside = latency(capsys, 2, 8, 64)
    assert outside > inside + 1  # the message's header does not leave that much room


def test_the_system_copies_long_messages_once(capsys: pytest.CaptureFixture[str]) -> None:
    values = {"near_single_bytes": 50_000, "near_single_mb_s": 5000}
    short, long = latency(capsys, 2, 60_000, 160_000, **values)
    assert long - short == pytest.approx(100_000 / 5.0, rel=0.01)
    assert latency(capsys, LAST, 160_000, **values) == [pytest.approx(long, rel=0.05)]


EACH_SENDS_FIRST = """#include <mpi.h>
#include <stdlib.h>
int main(int count, char **argument)
{
    static char out[1 << 20], in[1 << 20];
    int rank, bytes = atoi(argument[1]);
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(out, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(in, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("machine", "ranks_per_node", "bytes_", "ends"),
    [
        ("cluster-hdr100", 2, 65_536, True),
        ("cluster-hdr100", 2, 65_537, False),
        ("cluster-hdr100", 1, 65_536, False),
        ("cluster-hdr100", 1, 16_384, True),
        ("server-2x32-inorder", 0, 8192, True),
        ("server-2x32-inorder", 0, 8193, False),
    ],
)
def test_nodes_have_an_eager_limit_of_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, machine: str, ranks_per_node: int, bytes_: int, ends: bool
) -> None:
    source = tmp_path / "each.c"
    source.write_text(EACH_SENDS_FIRST, encoding="utf-8")
    nodes = ["--ranks-per-node", str(ranks_per_node)] if ranks_per_node else []
    command = ["simulate", str(source), "-m", machine, "-p", "2", *nodes, "--no-reference", "--json"]
    code = scalegraph([*command, "--", str(bytes_)])
    said = capsys.readouterr()
    assert (code == 0) is ends, said
    assert ends or "deadlock" in said.out + said.err


PLACES = """#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(int count, char **argument)
{
    int rank;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
    {
        int numbers[8] = {-1};
        omp_get_place_proc_ids(omp_get_place_num(), numbers);
        cpu_set_t all;
        CPU_ZERO(&all);
        CPU_SET(0, &all);
        int other = rank > 0 && omp_get_thread_num() == 0 ? sched_setaffinity(0, sizeof all, &all) : -1;
        printf("%d.%d of %d: %d at %d, refused %d\\n", rank, omp_get_thread_num(), omp_get_num_places(), numbers[0],
               sched_getcpu(), other);
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Finalize();
    return 0;
}
"""


def test_places_of_threads_are_those_of_their_process(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """OMP_PLACES in an MPI process starts at its first processor; no thread runs on another process's processors."""
    source = tmp_path / "places.c"
    source.write_text(PLACES, encoding="utf-8")
    bound = ["--env", "OMP_PLACES=cores", "--env", "OMP_PROC_BIND=close", "--cflags=-O1 -fopenmp"]
    command = ["simulate", str(source), "-m", MACHINE, "-p", "8", "--threads-per-process", "4", *bound]
    assert scalegraph([*command, "--no-reference", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    lines = sorted(row["stdout"].splitlines())
    assert len(lines) == 8
    for number, line in enumerate(lines):
        rank, thread = divmod(number, 4)
        assert line == f"{rank}.{thread} of 4: {thread} at {number}, refused -1"
