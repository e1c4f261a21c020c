"""Collective operations in traces of simulated MPI programs, and their analysis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scalegraph import control, machine, views
from scalegraph.analyze.trace import messages
from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.run import RunPoint
from scalegraph.figures.figure import Arrows, Figure, LaneTrack, Timeline
from scalegraph.link import Job, Simulated, TraceOrder
from scalegraph.request.imports.traces import open_trace
from scalegraph.traces import checking
from scalegraph.traces.container import open_container
from scalegraph.traces.kinds import Operation
from scalegraph.traces.model import Trace

pytestmark = pytest.mark.compiler

PROGRAM = """
#include <mpi.h>
static char data[4000];
static volatile double sink;
static void work(int amount)
{
    double sum = 0;
    for (int i = 1; i < amount; i++)
        sum += 1.0 / i;
    sink = sum;
}
int main(int argc, char **argv)
{
    int rank, one = 1, all;
    MPI_Comm halves;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    MPI_Comm_set_name(halves, rank % 2 ? "odd" : "even");
    if (rank == 2)
        work(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        work(30000);
    MPI_Bcast(data, 4000, MPI_BYTE, 1, MPI_COMM_WORLD);
    if (rank == 3)
        work(40000);
    MPI_Reduce(&one, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, halves, &request);
    work(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
}
"""


def _traced(source: Path, directory: Path) -> Path:
    order = TraceOrder(directory, "run", ("regions", "waits", "shares", "messages"))
    job = Job(control.build([source]), machine.load("ncube2"), RunPoint(processors=4), trace=order)
    record = Simulated().run(job)
    assert record.ok, record.message
    assert record.trace is not None
    return Path(record.trace.path)


@pytest.fixture(scope="module")
def traced(module_path: Path) -> Path:
    source = module_path / "collectives.c"
    source.write_text(PROGRAM)
    return _traced(source, module_path)


@pytest.fixture
def trace(traced: Path) -> Trace:
    return open_container(traced)


@pytest.mark.slow
def test_every_rank_has_its_part_of_each_operation(trace: Trace) -> None:
    rows = trace.columns("collectives")
    names = [one.name for one in trace.definitions.communicators]
    count = {operation: int(np.count_nonzero(rows["operation"] == operation)) for operation in Operation}
    assert [count[one] for one in (Operation.BROADCAST, Operation.REDUCE, Operation.ALL_REDUCE)] == [4] * 3
    assert count[Operation.BARRIER] == 8  # MPI_Finalize, too
    assert count[Operation.CREATE_HANDLE] >= 4
    assert (rows["begin"] <= rows["end"]).all()
    mine = rows["operation"] == Operation.ALL_REDUCE
    where = {int(n): names[int(c)] for n, c in zip(rows["location"][mine], rows["communicator"][mine], strict=True)}
    assert where == {0: "even", 1: "odd", 2: "even", 3: "odd"}
    cast = rows["operation"] == Operation.BROADCAST
    assert set(rows["root"][cast].tolist()) == {1}
    assert {names[int(c)] for c in rows["communicator"][cast]} == {"MPI_COMM_WORLD"}
    assert rows["sent"][cast].sum() == rows["received"][cast].sum() == 3 * 4000


@pytest.mark.slow
def test_each_names_its_algorithm(trace: Trace) -> None:
    rows = trace.columns("marks")
    names = [trace.definitions.regions[int(region)].name for region in rows["region"]]
    assert names.count("collective_dissemination") == 8
    assert names.count("collective_binomial") >= 8  # the broadcast and the reduction
    assert names.count("collective_doubling") >= 4


def test_each_interval_names_its_algorithm_and_the_call_it_belongs_to(traced: Path) -> None:
    figure = views.get("spacetime").build(open_trace(traced))
    assert isinstance(figure, Figure)
    timeline = figure.panels[0]
    assert isinstance(timeline, Timeline)
    track = timeline.tracks[0]
    assert isinstance(track, LaneTrack)
    parts = next(one for one in track.overlays if isinstance(one, Arrows) and one.name == "collectives")
    assert (np.asarray(parts.x1) >= np.asarray(parts.x0)).all()
    assert np.array_equal(parts.lane0, parts.lane1)
    said = [tip.partition("\n")[0] for tip in parts.tips]
    assert said.count("rank 1: barrier by dissemination") == 1
    assert said.count("rank 1: barrier (MPI_Finalize) by dissemination") == 1
    assert "rank 2: broadcast by binomial" in said
    root = next(tip for tip in parts.tips if tip.startswith("rank 1: broadcast"))
    assert "MPI_COMM_WORLD, root rank 1, 8\u202f000 bytes sent, 0 received" in root


def test_two_runs_leave_the_same_bytes(traced: Path, tmp_path: Path) -> None:
    assert _traced(traced.parent / "collectives.c", tmp_path).read_bytes() == traced.read_bytes()


def test_the_trace_passes_the_checks(trace: Trace) -> None:
    report = checking.check(trace)
    assert not [finding for finding in report.violations if "collective" in finding.kind], report.violations


def test_wait_states_follow_from_them(trace: Trace) -> None:
    waits = Waits.of(trace)
    causes = {Cause(int(cause)) for cause in waits.rows.cause}
    assert {Cause.BARRIER, Cause.LATE_ROOT, Cause.EARLY_ROOT} <= causes
    assert not waits.doubts
    late = waits.rows.cause == Cause.BARRIER
    begin = waits.rows.begin[late]
    first = begin < np.median(begin)  # MPI_Finalize waits, too
    assert set(waits.rows.holder[late][first].tolist()) == {2}  # the last to come


def test_statistics_count_them(trace: Trace) -> None:
    table = messages.collectives(trace, trace.meta.begin, trace.meta.end)
    assert set(table["operation"]) >= {"barrier", "barrier (MPI_Finalize)"}
    row = table[(table["operation"] == "broadcast")].iloc[0]
    assert row["algorithm"] == "binomial"
    assert (int(row["parts"]), row["communicator"], int(row["sent"])) == (4, "MPI_COMM_WORLD", 12000)
