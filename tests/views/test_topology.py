"""The view of the interconnect: loads of links over time, positions, and very many nodes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from scalegraph import control, machine, views
from scalegraph.base.links import LinkLoads
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.figures.figure import Plot, Table
from scalegraph.link import Job, Simulated
from scalegraph.subjects.study import StudyData
from scalegraph.views.study.messages import layout

PROGRAM = """
#include <mpi.h>
static char data[8000];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        if (rank == 0)
            MPI_Send(data, 8000, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(data, 8000, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
"""
MACHINES = ("ncube2", "cluster-hdr", "dragonfly", "now-switched", "now-ethernet", "cm5")


@pytest.fixture(scope="module")
def build(module_path: Path) -> control.Build:
    source: Path = module_path / "topology.c"
    source.write_text(PROGRAM)
    return control.build([source])


def run(build: control.Build, name: str, count: int) -> RunRecord:
    record = Simulated().run(Job(build, machine.load(name), RunPoint(processors=count)))
    assert record.ok, record.message
    return record


@pytest.mark.slow
@pytest.mark.compiler
def test_loads_add_up_to_what_links_did(build: control.Build) -> None:
    record = run(build, "ncube2", 8)
    assert record.links is not None
    by_name = {one.name: one for one in record.resources}
    for at, name in enumerate(record.links.name):
        assert record.links.busy[at] == by_name[name].busy
        assert record.links.transactions[at] == by_name[name].transactions
        assert abs(sum(record.links.spans[at]) - record.links.busy[at]) <= len(record.links.spans[at])
        assert max(record.links.spans[at]) <= record.links.width
    hottest = max(range(len(record.links.name)), key=lambda at: record.links.bytes[at] if record.links else 0)
    assert record.links.name[hottest] == "link 0>1"
    assert record.links.bytes[hottest] >= 5 * 8000


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("name", MACHINES)
def test_every_link_joins_two_places(build: control.Build, name: str) -> None:
    description = machine.load(name)
    record = run(build, name, 4 * (description.nodes.processors or 1))
    assert record.links is not None
    places = layout.places(record.links)
    for link in record.links.name:
        assert all(end in places for end in layout.ends(record.links, link)), link
    assert len({place for key, place in places.items() if key.startswith("node")}) == record.links.nodes
    data = StudyData.from_runs([record])
    picture, over_time, hot = views.get("topology").build(data).panels
    assert isinstance(picture, Plot)
    assert isinstance(over_time, Plot)
    assert isinstance(hot, Table)
    assert [line for line in picture.lines if line.name.startswith("busy")]
    loads = [row.values[1] for row in hot.rows]
    assert loads == sorted(loads, key=lambda value: -float(value or 0))


def made(dimension: int, nodes: int) -> RunRecord:
    pairs = [(n, n ^ 1 << d) for n in range(0, nodes, max(1, nodes // 100)) for d in range(dimension)]
    spans = tuple((100, *(0,) * 30, 0) for _ in pairs)
    links = LinkLoads(
        kind="hypercube",
        shape={"dimension": dimension},
        nodes=nodes,
        width=100,
        name=tuple(f"link {a}>{b}" for a, b in pairs),
        bytes=tuple(8 * a for a, _ in pairs),
        transactions=(1,) * len(pairs),
        busy=(100,) * len(pairs),
        waiting=(5,) * len(pairs),
        spans=spans,
    )
    return RunRecord(
        source="simulated",
        program="p",
        machine="m",
        point=RunPoint(processors=nodes),
        links=links,
        time_cycles=3200,
        time_s=3.2e-3,
        clock_hz=1e6,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "nodes"), [(2, 4), (6, 64), (10, 1024), (13, 8192)])
def test_it_stays_small_with_many_nodes(dimension: int, nodes: int) -> None:
    figure = views.get("topology").build(StudyData.from_runs([made(dimension, nodes)]))
    picture = figure.panels[0]
    assert isinstance(picture, Plot)
    dots = [x for line in picture.lines if line.name.startswith("nodes") for x in line.x if not math.isnan(x)]
    assert len(dots) <= 400
    assert picture.x.bare
    assert picture.y.bare  # positions in a drawing have no meaningful numbers
    assert ("groups of nodes" in " ".join(figure.notes)) == (nodes > 400)


def test_links_of_little_load_are_told_apart() -> None:
    run = made(4, 16)
    assert run.links is not None
    spans = tuple((k % 4, *(0,) * 31) for k in range(len(run.links.name)))  # busy for at most 0.1 % of 3,200 cycles
    few = run.model_copy(update={"links": run.links.model_copy(update={"spans": spans})})
    picture = views.get("topology").build(StudyData.from_runs([few])).panels[0]
    assert isinstance(picture, Plot)
    names = [line.name for line in picture.lines if line.name.startswith("busy")]
    assert names == ["busy 0 to 0.02 %", "busy 0.02 to 0.04 %", "busy 0.06 to 0.08 %", "busy 0.08 to 0.1 %"]


@pytest.mark.slow
def test_the_load_is_that_of_the_chosen_part_of_the_time() -> None:
    data = StudyData.from_runs([made(4, 16)])
    view = views.get("topology")

    def load(**options: object) -> float:
        table = view.build(data, **options).panels[2]
        assert isinstance(table, Table)
        return float(table.rows[0].values[1] or 0)

    assert load() == pytest.approx(100 / 32)
    assert load(begin=0, end=3.125) == pytest.approx(100)  # all in the first span
    assert load(begin=50, end=100) == 0


def test_neighbours_of_a_hypercube_have_places_of_their_own() -> None:
    links = made(6, 64).links
    assert links is not None
    places = layout.places(links)
    assert len(set(places.values())) == 64
    columns = {round(places[f"node {n}"][1] - places[f"node {n ^ 1}"][1], 6) for n in range(64)}
    assert len(columns) > 1  # rows are bent so that no link covers another
