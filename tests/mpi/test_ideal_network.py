"""Messages that take no time: transfer and serialisation of the POP efficiencies, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.run import Ideal, RunPoint, RunRecord, Variant
from scalegraph.link import Job, Simulated
from scalegraph.subjects.pop_efficiencies import efficiencies
from scalegraph.subjects.study import StudyData

pytestmark = pytest.mark.compiler

PROGRAM = """
#include <mpi.h>
static char data[60000];
int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Recv(data, 30000, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i < 20000; i++)
        sum += 1.0 / i;
    if (rank + 1 < size)
        MPI_Send(data, 30000, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}
"""
OF_MESSAGES = ("prim_send", "prim_receive", "idle_transfer", "idle_network")


@pytest.fixture(scope="module")
def build(module_path: Path) -> control.Build:
    source = module_path / "ideal.c"
    source.write_text(PROGRAM)
    return control.build([source])


def run(build: control.Build, name: str, count: int, *ideal: Ideal) -> RunRecord:
    point = RunPoint(processors=count, variant=Variant(ideal=ideal))
    record = Simulated().run(Job(build, machine.load(name), point))
    assert record.ok, record.message
    return record


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ncube2", "cluster-hdr", "ksr1"])
def test_messages_take_no_time(build: control.Build, name: str) -> None:
    actual, ideal = run(build, name, 4), run(build, name, 4, "messages")
    assert all(ideal.categories.get(category, 0) == 0 for category in OF_MESSAGES)
    assert any(actual.categories.get(category, 0) for category in OF_MESSAGES)
    assert ideal.work_ops == actual.work_ops
    assert ideal.time_cycles is not None
    assert actual.time_cycles is not None
    assert ideal.time_cycles < actual.time_cycles
    assert ideal.categories["idle_late_sender"] > 0  # they still wait for each other in turn


@pytest.mark.slow
def test_an_ideal_network_leaves_the_software(build: control.Build) -> None:
    ideal = run(build, "ncube2", 4, "network")
    assert ideal.categories.get("idle_transfer", 0) == ideal.categories.get("idle_network", 0) == 0
    assert ideal.categories["prim_send"] > 0


def test_without_contention_a_message_takes_the_time_that_it_takes_alone(build: control.Build) -> None:
    alone = run(build, "ncube2", 8, "contention")
    assert alone.categories.get("idle_network", 0) == 0
    assert alone.categories["idle_transfer"] > 0


@pytest.mark.slow
def test_transfer_and_serialisation_are_exact(build: control.Build) -> None:
    """Ranks compute one after the other: serialisation is 1/N, the rest of the time is transfer."""
    runs = [run(build, "ncube2", count) for count in (1, 4)]
    ideal = run(build, "ncube2", 4, "messages")
    table = efficiencies(data := StudyData.from_runs([*runs, ideal]), data.scaling).set_index("processors")
    assert table["transfer_by"][4] == "what-if"
    assert ideal.time_cycles is not None
    assert runs[1].time_cycles is not None
    assert table["transfer"][4] == pytest.approx(ideal.time_cycles / runs[1].time_cycles)
    assert table["serialisation"][4] == pytest.approx(0.25, abs=0.02)
    assert table["transfer"][4] * table["serialisation"][4] == pytest.approx(table["communication"][4])
    other = run(build, "ncube2", 4, "sync")  # barriers and locks of threads are not among an MPI program's losses
    assert (
        efficiencies(odd := StudyData.from_runs([*runs, other]), odd.scaling)["transfer_by"].tolist()[-1] == "accounts"
    )
