"""Message accounts by communicator and partner add up to the categories, to the cycle."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scalegraph import control, machine, views
from scalegraph.analyze.messages import tables as messages
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli.run_table import message_documents
from scalegraph.figures.figure import Grid, Table
from scalegraph.link import Job, RunOptions, Simulated
from scalegraph.runtime.observed import MESSAGE_CATEGORIES
from scalegraph.store.codec import pack, unpack
from scalegraph.subjects.study import StudyData

pytestmark = pytest.mark.compiler

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, got = 0;
    double sum = 0, all;
    static char big[40000];
    MPI_Comm halves, unnamed;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    MPI_Comm_set_name(halves, "halves");
    MPI_Comm_dup(MPI_COMM_WORLD, &unnamed);
    for (int i = 1; i < 2000 * (rank + 1); i++)
        sum += 1.0 / i;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, halves);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Irecv(big, 20000, MPI_BYTE, before, 1, unnamed, &requests[0]);
    MPI_Isend(big + 20000, 20000, MPI_BYTE, next, 1, unnamed, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def build(module_path: Path) -> control.Build:
    source = module_path / "accounts.c"
    source.write_text(PROGRAM)
    return control.build([source])


def run(build: control.Build, name: str, count: int, threads: int = 1) -> RunRecord:
    job = Job(build, machine.load(name), RunPoint(processors=count), options=RunOptions(threads_per_process=threads))
    record = Simulated().run(job)
    assert record.ok, record.message
    return record


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count", "threads"), [("ncube2", 4, 1), ("cluster-hdr", 8, 1), ("ksr1", 4, 1), ("cluster-hdr", 8, 2)]
)
def test_the_parts_are_the_categories(build: control.Build, name: str, count: int, threads: int) -> None:
    record = run(build, name, count, threads)
    costs = record.messages
    assert costs is not None
    cycles = dict.fromkeys(MESSAGE_CATEGORIES, (0,) * len(costs.rank)) | costs.cycles
    table = pd.DataFrame({"rank": costs.rank, "communicator": costs.communicator, **cycles})
    assert {category: int(table[category].sum()) for category in MESSAGE_CATEGORIES} == {
        category: record.categories[category] for category in MESSAGE_CATEGORIES
    }
    for rank in range(count // threads):  # and those of each rank
        mine = table[table["rank"] == rank]
        for category in MESSAGE_CATEGORIES:
            each = record.processor_categories.get(category, [0] * count)
            assert mine[category].sum() == sum(each[rank * threads : (rank + 1) * threads])
    assert int(table[table["communicator"] < 0][list(MESSAGE_CATEGORIES)].sum().sum()) == 0  # all has a communicator


@pytest.mark.slow
def test_communicators_have_their_name_or_the_place_where_they_were_made(build: control.Build) -> None:
    record = run(build, "ncube2", 4)
    table = messages.by_communicator(record).set_index("communicator")
    line = 1 + PROGRAM.splitlines().index(next(text for text in PROGRAM.splitlines() if "Comm_dup" in text))
    assert set(table.index) == {"MPI_COMM_WORLD", "halves", f"made at accounts.c:{line}"}
    assert dict(table["size"]) == {"MPI_COMM_WORLD": 4, "halves": 2, f"made at accounts.c:{line}": 4}
    assert dict(table["count"]) == {"MPI_COMM_WORLD": 1, "halves": 2, f"made at accounts.c:{line}": 1}
    assert table["bytes"][f"made at accounts.c:{line}"] == 4 * 20000
    assert table["idle_collective"]["halves"] > 0
    assert table["idle_late_sender"]["halves"] == 0


def test_a_wait_belongs_to_the_partner_that_ends_it(build: control.Build) -> None:
    table = messages.by_partner(run(build, "ncube2", 4)).set_index(["rank", "partner"])
    assert table["bytes"][(1, 0)] >= 20000  # rank 1 gets the long message of rank 0
    assert table["bytes"].get((1, 3), 0) < 20000
    assert {partner for rank, partner in table.index if rank == 0} >= {
        1,
        2,
        3,
    }  # received from any source, yet the partner of each is known
    assert not [partner for _, partner in table.index if partner < 0 and table["idle_late_sender"].get((0, partner), 0)]


def test_a_study_keeps_them(build: control.Build) -> None:
    record = run(build, "ncube2", 2)
    assert unpack(pack(record)[0], record.point.key).messages == record.messages


def test_other_programs_have_none() -> None:
    assert messages.by_communicator(
        RunRecord(source="simulated", program="p", machine="m", point=RunPoint(processors=1))
    ).empty


@pytest.mark.slow
def test_the_view_shows_both_ways(build: control.Build) -> None:
    data = StudyData.from_runs([run(build, "ncube2", 4)])
    view = views.get("message-costs")
    _, table = view.build(data).panels
    assert isinstance(table, Table)
    assert "halves" in [row.values[0] for row in table.rows]
    grid, pairs = view.build(data, by="partner").panels
    assert isinstance(grid, Grid)
    assert isinstance(pairs, Table)
    assert grid.rows == grid.columns == ("0", "1", "2", "3")
    assert grid.cells[0][0] is None


def test_json_has_them(build: control.Build) -> None:
    record = run(build, "ncube2", 2)
    made = json.loads(json.dumps(message_documents(record)))
    assert set(made) == {"communicators", "partners"}
    for table in made.values():
        for category in MESSAGE_CATEGORIES:
            assert sum(row[category] for row in table) == record.categories[category]
