"""SIMD machines: the same programs in lockstep, with cycles that are known by hand."""

from __future__ import annotations

import json
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, ranks, given[8];
static double x = 1.0;
static void begin(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++)
        given[i] = atoi(argv[i]);
}
static int end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double sum = 0;
    MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.17g\n", sum);
    MPI_Finalize();
    return 0;
}
"""

Row = dict[str, Any]
Simulate = Any


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates the text of a program with numbers as arguments, and returns its one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(
        body: str, processors: int, *numbers: int, code: int = 0, on: str = "maspar-mp1", **changed: float
    ) -> Row:
        Path("p.c").write_text(BEGIN + body)
        command = ["simulate", "p.c", "-p", str(processors), "--no-reference", "--json", "--machine", on]
        for name, value in changed.items():
            command += ["--set", f"processor.operation_cycles.{name}={value}"]
        assert scalegraph([*command, "--", *map(str, numbers)]) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


def whole(row: Row) -> int:
    """Return the time of *row*, whose categories add up to it on all elements."""
    cycles, processors = row["time_cycles"], row["processors"]
    assert sum(row["leaves"].values()) == processors * cycles
    assert isinstance(cycles, int)
    return cycles


BRANCH = r"""
int main(int argc, char **argv)
{
    begin(argc, argv);
    int left = given[1 + rank % 2], right = given[3 + rank % 2];
    for (int i = 0; i < left; i++)
        x = x * 1.0625;
    for (int i = 0; i < right; i++)
        x = x + 1.0625;
    return end();
}
"""
BOTH, LEFT, RIGHT, NEITHER = (90, 0, 0, 90), (90, 90, 0, 0), (0, 0, 90, 90), (0, 0, 0, 0)


def test_a_branch_that_half_of_the_elements_take_costs_both_sides(simulate: Simulate) -> None:
    time = {ways: whole(simulate(BRANCH, 8, *ways)) for ways in (BOTH, LEFT, RIGHT, NEITHER)}
    assert time[BOTH] + time[NEITHER] == time[LEFT] + time[RIGHT]
    assert time[LEFT] - time[RIGHT] == 90 * (530 - 180)
    for ways, dearer in ((BOTH, 90), (LEFT, 90), (RIGHT, 0)):
        assert whole(simulate(BRANCH, 8, *ways, fp_mul=531)) == time[ways] + dearer


def test_elements_are_masked_off_where_others_execute_what_they_do_not(simulate: Simulate) -> None:
    both, neither = simulate(BRANCH, 8, *BOTH), simulate(BRANCH, 8, *NEITHER)
    more = both["leaves"]["idle_masked"] - neither["leaves"]["idle_masked"]
    assert more == 4 * (whole(both) - whole(neither))  # half of the elements execute one branch, half the other


LOOP = r"""
int main(int argc, char **argv)
{
    begin(argc, argv);
    for (int i = given[1 + rank % 2]; i > 0; i--)
        x = x * 1.0625;
    return end();
}
"""


def test_a_loop_takes_the_time_of_the_most_trips(simulate: Simulate) -> None:
    time = {trips: whole(simulate(LOOP, 8, *trips)) for trips in ((10, 10), (40, 40), (10, 40), (40, 10), (11, 11))}
    assert time[10, 40] == time[40, 10] == time[40, 40]
    trip = time[11, 11] - time[10, 10]
    assert trip > 530
    assert time[40, 40] - time[10, 10] == 30 * trip


NESTED = r"""
int main(int argc, char **argv)
{
    begin(argc, argv);
    for (int outer = 0; outer < 6; outer++) {
        int trips = (outer + rank) % 2 ? given[1] : given[2];
        for (int i = 0; i < trips; i++)
            x = x * 1.0625;
    }
    return end();
}
"""


def test_a_nested_loop_takes_the_trips_of_the_element_with_the_most(simulate: Simulate) -> None:
    """On real hardware elements meet after each inner loop of an enclosing loop; the model does not see that."""
    alike, different = simulate(NESTED, 8, 20, 20), simulate(NESTED, 8, 30, 10)
    assert whole(different) == whole(alike)  # a real control unit would take 6 x 30 trips, not 3 x 30 + 3 x 10
    assert whole(simulate(NESTED, 8, 20, 20, fp_mul=531)) == whole(alike) + 6 * 20


EXCHANGE = r"""
static void shift(int down, int right, int rows, int columns)
{
    double got = 0;
    int row = rank / columns, column = rank % columns;
    int to = (row + down + rows) % rows * columns + (column + right + columns) % columns;
    int from = (row - down + rows) % rows * columns + (column - right + columns) % columns;
    MPI_Sendrecv(&x, 1, MPI_DOUBLE, to, 1, &got, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    x += got;
}
int main(int argc, char **argv)
{
    begin(argc, argv);
    x = rank;
    if (given[1] == 1)
        shift(given[2], given[3], 8, 8);
    if (given[1] == 2 && rank == given[2])
        MPI_Send(&x, 1, MPI_DOUBLE, given[3], 1, MPI_COMM_WORLD);
    if (given[1] == 2 && rank == given[3])
        MPI_Recv(&x, 1, MPI_DOUBLE, given[2], 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (given[1] == 3 && rank > 0)
        MPI_Send(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    for (int i = 1; i < ranks && given[1] == 3 && rank == 0; i++) {
        double got;
        MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        x += got;
    }
    return end();
}
"""


def on_wires(row: Row) -> int:
    """Return the cycles of all elements for messages on their way."""
    whole(row)
    return int(row["leaves"]["idle_transfer"] + row["leaves"]["idle_network"])


@pytest.mark.parametrize(
    ("down", "right", "cycles"),
    [
        (0, 1, 24 + 1 + 64),  # 12 cycles at each end, a step, a bit a cycle
        (0, -1, 24 + 1 + 64),
        (1, 1, 24 + 1 + 64),  # the wires go to eight neighbours
        (3, 0, 24 + 3 + 3 * 64),  # each wire carries what three elements send
        (2, 1, 24 + 1 + 64 + 24 + 1 + 64),  # a diagonal step, then a straight one
    ],
)
def test_a_shift_by_all_elements_takes_the_cycles_of_the_wires(
    simulate: Simulate, down: int, right: int, cycles: int
) -> None:
    nothing, shifted = simulate(EXCHANGE, 64, 0), simulate(EXCHANGE, 64, 1, down, right)
    assert on_wires(shifted) - on_wires(nothing) == 64 * cycles


def test_one_element_sends_while_all_others_are_masked_off(simulate: Simulate) -> None:
    nothing, sent = simulate(EXCHANGE, 64, 0), simulate(EXCHANGE, 64, 2, 9, 10)
    assert on_wires(sent) - on_wires(nothing) == 2 * (24 + 1 + 64)
    masked = sent["leaves"]["idle_masked"] - nothing["leaves"]["idle_masked"]
    busy = sum(sent["leaves"][name] - nothing["leaves"][name] for name in sent["leaves"] if name.startswith("busy"))
    time = whole(sent) - whole(nothing)
    assert masked + busy == 64 * time - 2 * (24 + 1 + 64)
    assert masked >= 62 * (24 + 1 + 64)
    assert sent["leaves"]["idle_late_sender"] == sent["leaves"]["idle_late_receiver"] == 0


def test_what_is_no_shift_goes_through_the_router(simulate: Simulate) -> None:
    nothing, gathered = simulate(EXCHANGE, 64, 0), simulate(EXCHANGE, 64, 3)
    channel = 63 * 8 * 12.5 / 1.27  # all messages from this node leave through one channel
    assert on_wires(gathered) - on_wires(nothing) == 64 * ceil(24 + 2 * 50 + channel)


def test_results_are_those_of_other_machines_and_the_same_in_every_run(simulate: Simulate) -> None:
    for numbers in ((1, 2, 1), (2, 9, 10), (3,)):
        first, again = simulate(EXCHANGE, 64, *numbers), simulate(EXCHANGE, 64, *numbers)
        assert first["stdout"] == simulate(EXCHANGE, 64, *numbers, on="ncube2")["stdout"]
        assert [first[key] for key in ("time_cycles", "leaves", "counters")] == [
            again[key] for key in ("time_cycles", "leaves", "counters")
        ]


def test_elements_that_wait_for_nobody_are_named(simulate: Simulate) -> None:
    body = r"""
int main(int argc, char **argv)
{
    begin(argc, argv);
    if (rank == 2)
        MPI_Recv(&x, 1, MPI_DOUBLE, 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}
"""
    row = simulate(body, 4, code=1)
    assert row["status"] == "deadlock"
    assert "rank 2 waits in MPI_Recv for a message from rank 3 with tag 7" in row["message"]


ASK = r"""
int main(int argc, char **argv)
{
    begin(argc, argv);
    MPI_Request request;
    int done = 0, asked = 0, there = 0;
    double got;
    if (rank == 0) {
        MPI_Irecv(&got, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request);
        for (; !done; asked++)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        while (!there)
            MPI_Iprobe(1, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Recv(&x, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        x += got;
    } else if (rank == 1) {
        MPI_Send(&x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        MPI_Ssend(&x, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
    return end();
}
"""


def test_an_element_may_ask_until_a_message_has_come(simulate: Simulate) -> None:
    row = simulate(ASK, 4)
    whole(row)
    assert row["stdout"] == "5\n"


def test_what_is_not_simulated_in_lockstep_is_refused_in_a_sentence(simulate: Simulate) -> None:
    body = r"""
int main(int argc, char **argv)
{
    MPI_Win window;
    begin(argc, argv);
    MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_free(&window);
    return end();
}
"""
    row = simulate(body, 4, code=1)
    assert "one-sided communication is not simulated on a SIMD machine" in row["message"]
