"""Views and quantities of schedules, for one program under several schedules."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from scalegraph import control, machine, views
from scalegraph.analyze.loops import chunks
from scalegraph.base.errors import InputError
from scalegraph.base.loops import Chunks, LoopCost
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.figures.figure import Plot
from scalegraph.link import Job, Simulated
from scalegraph.request.results.quantities import QUANTITIES
from scalegraph.subjects.study import StudyData
from tests.schedules.test_accounts import PROGRAM, REPETITIONS, N

pytestmark = pytest.mark.slow

NAMES = ("ML", "EA,alpha=4", "EA,alpha=N/P", "dynamic,100")
VIEWS = ("chunk-history", "loop-load", "iteration-times")


@pytest.fixture(scope="module")
def data(module_path: Path) -> StudyData:
    source = module_path / "heavy.c"
    source.write_text(PROGRAM)
    built = control.build([source], loops=True, cwd=source.parent)

    def run(schedule: str, processors: int) -> RunRecord:
        point = RunPoint(processors=processors, variant=Variant(schedule=schedule))
        record = Simulated().run(Job(built, machine.load("ksr1"), point, schedule=schedule))
        assert record.ok, record.message
        return record

    return StudyData.from_runs([run(name, count) for count in (2, 4) for name in ("", *NAMES)])


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.parametrize("name", VIEWS)
def test_every_view_shows_the_study(data: StudyData, name: str) -> None:
    figure = views.get(name).build(data)
    assert figure.panels
    assert figure.notes[0].startswith("Loop: heavy.c:")
    assert not views.get(name).build(StudyData.from_runs(data.runs[:0])).panels


@pytest.mark.slow
@pytest.mark.compiler
def test_load_and_history_have_every_iteration(data: StudyData) -> None:
    load = QUANTITIES["loop-load"].compute(data, 4)
    ml = load[load["schedule"] == "ML"]
    assert ml[["own_iterations", "other_iterations"]].sum().sum() == N * REPETITIONS
    history = QUANTITIES["chunk-history"].compute(data, 4)
    ml = history[history["schedule"] == "ML"]
    assert ml["size"].sum() == N * REPETITIONS
    assert set(ml["from"]) >= {"own", "member 0"}
    lanes, sizes = views.get("chunk-history").build(data, processors=4, schedule="ml", execution=2).panels
    assert isinstance(lanes, Plot)
    assert isinstance(sizes, Plot)
    assert {line.name for line in lanes.lines} == {"own share", "share of another"}
    with pytest.raises(InputError, match=r"no run under .XX. has loops; those are .*ML"):
        views.get("chunk-history").build(data, schedule="XX")


@pytest.mark.compiler
def test_the_heavy_part_is_seen_and_makes_the_loop_predictable(data: StudyData) -> None:
    run = next(run for run in data.variants if run.point.variant.schedule == "ML" and run.point.processors == 4)
    table = chunks.profile(run, run.loops[0])
    heavy = table["first"] < 50
    assert table[heavy]["work_s"].min() > 3 * table[table["first"] >= 80]["work_s"].max()
    assert chunks.loop_type(run, run.loops[0]).number == "II"


def made(executions: list[list[tuple[int, int, int]]], count: int = 8) -> LoopCost:
    """A loop of 8 iterations; *executions*: (processor, first, last + 1) of each chunk; an iteration takes 10 ticks."""
    rows = [(e, *chunk) for e, of in enumerate(executions) for chunk in of]
    none = (0,) * len(rows)
    history = Chunks(
        execution=tuple(row[0] for row in rows),
        processor=tuple(row[1] for row in rows),
        member=none,
        owner=none,
        state=none,
        first=tuple(row[2] for row in rows),
        count=tuple(row[3] - row[2] for row in rows),
        step=tuple(1 for _ in rows),
        control=none,
        begin=none,
        end=tuple(10 * (row[3] - row[2]) for row in rows),
        stall=none,
    )
    return LoopCost(iterations=count, executions=len(executions), members=2, history=history)


def test_locality_rate_is_that_of_the_paper() -> None:
    stays = [(0, 0, 4), (1, 4, 8)]
    assert chunks.locality(made([stays, stays, stays])).rate == 1
    assert chunks.locality(made([stays, stays, stays])).strength == 4
    swapped = [(1, 0, 4), (0, 4, 8)]
    assert chunks.locality(made([stays, swapped])).rate == 0.5  # D(0) = D(1): the first execution moves nothing
    assert chunks.locality(made([stays, [(0, 0, 6), (1, 6, 8)]])).rate == 1 - 2 / 16
    assert math.isnan(chunks.locality(made([stays])).rate)
    assert math.isnan(chunks.locality(made([stays, [(0, 0, 4)]])).rate)  # the second execution is incomplete


ROWS = """
#include <stdio.h>
static double a[64][64], b[64][64];
int main(void) {
  for (int t = 0; t < 5; t++) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 64; i++)
      for (int k = 0; k < 64; k++) a[i][k] += 1;
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 64; i++)
      for (int k = 0; k < 64; k++) b[(i + 16 * t) % 64][k] += 1;
  }
  printf("%g %g\\n", a[3][3], b[3][3]);
}
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_lines_say_whether_the_data_of_iterations_stays(tmp_path: Path) -> None:
    """Each of 4 processors has 16 rows of 4 lines (128 bytes): in a always its own, in b different ones each time."""
    (tmp_path / "rows.c").write_text(ROWS)
    built = control.build(["rows.c"], cwd=tmp_path)
    ksr1, point = machine.load("ksr1"), RunPoint(processors=4)
    plain, record = (
        Simulated().run(Job(built, ksr1, point, schedule="static", collect=what)) for what in ((), ("classes",))
    )
    assert [loop.lines for loop in plain.loops] == [(), ()]
    stays, moves = map(chunks.line_locality, record.loops)
    rows = 64 * 64 * 8 / 4 / 128
    assert rows <= stays.mean <= rows + 3  # plus lines of the stack
    assert rows <= moves.mean <= rows + 3
    assert stays.rate > 0.99
    assert stays.strength >= rows
    assert 0.2 <= moves.rate < 0.25  # all lines of the first of five executions count as used before
    table = chunks.kinds(record)
    assert list(table["line_rate"]) == [stays.rate, moves.rate]
    assert list(table["locality_rate"]) == [1, 1]  # the iterations themselves stay
    assert math.isnan(chunks.line_locality(plain.loops[0]).rate)


def test_types_say_whether_a_loop_is_repeated_and_how_its_load_is() -> None:
    run = RunRecord(source="simulated", program="p", machine="m", point=RunPoint(processors=2), clock_hz=1.0)
    stays = [(0, 0, 4), (1, 4, 8)]
    assert chunks.loop_type(run, made([stays, stays])).number == "I"
    assert chunks.loop_type(run, made([stays])).number == "IV"
    assert chunks.loop_type(run, made([[(0, 0, 4)]])).number == ""
