"""MPI programs on clusters: message times from call to return, and nodes of different speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.link import Job, RunOptions, Simulated

pytestmark = pytest.mark.compiler

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
static char data[4096];
static void pass(int rank, int bytes)
{
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}
int main(int argc, char **argv)
{
    int rank, sizes[] = {0, 4, 8, 1024};
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime();
    for (int i = 1; i < 20000; i++)
        sum += 1.0 / i;
    printf("work %d %.9f %.3f\\n", rank, MPI_Wtime() - start, sum);
    pass(rank, 0);
    for (int i = 0; i < 4; i++) {
        start = MPI_Wtime();
        for (int round = 0; round < 10; round++)
            pass(rank, sizes[i]);
        if (rank == 0)
            printf("message %d %.9f\\n", sizes[i], (MPI_Wtime() - start) / 20);
    }
    MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def build(module_path: Path) -> control.Build:
    source = module_path / "speeds.c"
    source.write_text(PROGRAM)
    return control.build([source])


def run(
    build: control.Build, name: str, count: int, overrides: dict[str, str] | None = None, **more: Variant
) -> RunRecord:
    record = Simulated().run(Job(build, machine.load(name, overrides), RunPoint(processors=count, **more)))
    assert record.ok, record.message
    return record


def lines(record: RunRecord, first: str) -> dict[int, float]:
    """Return, by the number that follows *first* in a line, the numbers after it."""
    rows = [line.split() for line in record.stdout.splitlines()]
    return {int(row[1]): float(row[2]) for row in rows if row[0] == first}


@pytest.mark.slow
def test_a_message_takes_the_measured_time_from_call_to_return(build: control.Build) -> None:
    """130 us plus 0.5 us per byte (isospeed IV.A), and the program's instructions around the calls."""
    times = lines(run(build, "ncube2", 2), "message")
    around = times[0] - 130e-6
    assert 0 < around < 2e-6
    for size, time in times.items():
        assert time == pytest.approx(130e-6 + size * 0.5e-6 + around, abs=0.1e-6)


@pytest.mark.slow
def test_processors_of_slower_nodes_need_more_cycles_for_the_same_blocks(build: control.Build) -> None:
    speeds = {"nodes.speeds": "[1.0, 0.5, 2.0]"}
    alike, unlike = run(build, "now-switched", 4, {"nodes.speeds": "[]"}), run(build, "now-switched", 4, speeds)
    same, work = lines(alike, "work"), lines(unlike, "work")
    assert len(set(same.values())) == 1
    assert work[0] == work[3] == same[0]
    assert work[1] == pytest.approx(2 * same[0], rel=0.02)  # what memory takes stays
    assert work[2] == pytest.approx(same[0] / 2, rel=0.02)
    assert unlike.time_cycles is not None
    assert run(build, "now-switched", 4, speeds).time_cycles == unlike.time_cycles


def test_a_list_of_ones_changes_nothing(build: control.Build) -> None:
    alike = run(build, "now-switched", 4, {"nodes.speeds": "[]"})
    ones = run(build, "now-switched", 4, {"nodes.speeds": "[1.0, 1.0]"})
    assert (ones.time_cycles, ones.stdout) == (alike.time_cycles, alike.stdout)


SLOW = """
#include <mpi.h>
static double waste[64];
int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Recv(waste, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < 400000; i++)
            sum += 1.0 / i; /* slow */
        waste[0] = sum;
        MPI_Send(waste, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    } else {
        MPI_Send(waste, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(waste, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def slow(module_path: Path) -> control.Build:
    source = module_path / "slow.c"
    source.write_text(SLOW)
    return control.build([source])


@pytest.mark.slow
@pytest.mark.parametrize("speeds", ["[1.0, 0.25]", "[1.0, 1.0]", "[1.0, 3.0]"])
def test_blame_weighs_serial_code_by_the_speed_of_its_node(slow: control.Build, speeds: str) -> None:
    """Rank 0 waits only for rank 1's loop, however fast rank 1's node is."""
    record = run(slow, "now-switched", 2, {"nodes.speeds": speeds})
    caused = {line.line: line.caused.get("others", 0) for line in record.lines}
    loop = [number for number, text in enumerate(SLOW.splitlines(), 1) if "400000" in text or "slow" in text]
    explained = sum(record.blame["serial"].values())
    assert explained > 0
    assert sum(caused.get(line, 0) for line in loop) > 0.9 * explained


@pytest.mark.parametrize("factor", ["1", "4"])
def test_a_virtual_speedup_divides_what_the_node_needs(slow: control.Build, factor: str) -> None:
    speeds = {"nodes.speeds": "[1.0, 0.25]"}
    loop = [number for number, text in enumerate(SLOW.splitlines(), 1) if "400000" in text or "slow" in text]
    target = f"line:slow.c:{loop[0]}-{loop[1]}"
    plain = run(slow, "now-switched", 2, speeds)
    scaled = run(slow, "now-switched", 2, speeds, variant=Variant(speedup={target: factor}))
    alike = run(slow, "now-switched", 2, {"nodes.speeds": "[1.0, 1.0]"})
    assert alike.time_cycles is not None
    if factor == "1":
        assert scaled.time_cycles == plain.time_cycles
        assert scaled.categories == plain.categories
    else:
        assert scaled.time_cycles == pytest.approx(alike.time_cycles, rel=0.02)


SHARES = """
#include <mpi.h>
#include <omp.h>
static volatile int cells[32] __attribute__((aligned(128)));
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 50; i++) {
        cells[4 * omp_get_thread_num()]++;
#pragma omp barrier
    }
    MPI_Finalize();
}
"""


@pytest.mark.slow
def test_equal_addresses_of_two_ranks_are_two_lines(module_path: Path) -> None:
    """Static data has the same address in every rank, but only threads of one rank share its line, falsely."""
    source = module_path / "shares.c"
    source.write_text(SHARES)
    job = Job(
        control.build([source]),
        machine.load("cluster-hdr"),
        RunPoint(processors=4),
        collect=("classes",),
        options=RunOptions(threads_per_process=2),
    )
    record = Simulated().run(job)
    assert record.ok, record.message
    cells = next(variable for variable in record.variables if variable.name == "cells")
    assert cells.classes["false_sharing"] > 50
    assert cells.classes.get("true_sharing", 0) == 0
    shared = [line for line in record.shared_lines if any(part.variable == "cells" for part in line.parts)]
    assert sorted([user.processor for user in line.users] for line in shared) == [[0, 1], [2, 3]]
    assert all([part.variable for part in line.parts].count("cells") == 1 for line in shared)
