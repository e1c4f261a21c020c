"""Accounts of loops: every iteration once and its origin, cycles that add up; and recording does not change a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.loops import LoopCost
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.link import Job, Simulated, loops
from scalegraph.link.tracing import TraceOrder
from scalegraph.store.codec import pack, unpack
from scalegraph.traces.container import open_container

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

N, REPETITIONS = 300, 3
PROGRAM = f"""
#include <stdio.h>
int main(void) {{
  static double a[{N}];
  for (int t = 0; t < {REPETITIONS}; t++) {{
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < {N}; i++)
      for (int j = 0; j < (i < 60 ? 200 : 3); j++) a[i] += j;
  }}
  printf("%g\\n", a[3]);
}}
"""


@pytest.fixture(scope="module")
def build(module_path: Path) -> control.Build:
    source = module_path / "heavy.c"
    source.write_text(PROGRAM)
    return control.build([source], loops=True, cwd=source.parent)


def run(build: control.Build, schedule: str, processors: int = 4) -> RunRecord:
    assert loops.chosen(schedule)
    record = Simulated().run(Job(build, machine.load("ksr1"), RunPoint(processors=processors), schedule=schedule))
    assert record.ok, record.message
    return record


def the_loop(record: RunRecord) -> LoopCost:
    (loop,) = record.loops
    return loop


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.parametrize(
    "schedule", ["static", "dynamic,7", "guided", "ML", "SE", "SE-wrapped", "EA", "HA", "AF", "steal"]
)
def test_iterations_and_cycles_add_up(build: control.Build, schedule: str) -> None:
    record = run(build, schedule)
    loop, history = the_loop(record), the_loop(record).history
    assert (loop.place, loop.schedule) == ("heavy.c:6", schedule)
    assert (loop.iterations, loop.executions, loop.members) == (N, REPETITIONS, 4)
    assert sum(map(sum, loop.taken.values())) == N * REPETITIONS
    assert loop.chunk_count == record.counters["chunks"] == len(history.first)
    assert loop.processor == (0, 1, 2, 3)
    assert loop.entered == (REPETITIONS,) * 4
    for execution in range(REPETITIONS):
        indices: list[int] = []
        for at, number in enumerate(history.execution):
            if number == execution:
                first, count, step = history.first[at], history.count[at], history.step[at]
                indices += range(first, first + count * step, step)
        assert sorted(indices) == list(range(N))
    spent = sum(loop.body) + sum(loop.asking) + sum(loop.ending)
    assert 0 < spent <= 4 * loop.elapsed  # the rest: members that arrive after the first
    assert sum(loop.stall) <= sum(loop.body)
    assert sum(loop.lock) <= sum(loop.asking)
    assert sum(loop.asking) >= record.categories["prim_schedule"]
    assert all(begin < end for begin, end in zip(history.begin, history.end, strict=True))
    inside = sum(end - begin for begin, end in zip(history.begin, history.end, strict=True))
    assert inside >= sum(loop.body)  # a chunk handed out one by one requests iterations in between


@pytest.mark.slow
def test_origins_tell_who_helped_whom(build: control.Build) -> None:
    loop = the_loop(run(build, "ML"))
    history = loop.history
    assert set(loop.chunks) == {"own", "other"}
    helped = [(m, o) for m, o in zip(history.member, history.owner, strict=True) if m != o]
    assert len(helped) == sum(loop.chunks["other"])
    assert 0 in {owner for _, owner in helped}  # nearly all the work is in the share of member 0
    assert not [taker for taker, _ in helped if taker == 0]
    assert set(history.control) == {4}
    assert set(the_loop(run(build, "dynamic")).chunks) == {"central"}
    assert set(the_loop(run(build, "dynamic")).history.owner) == {-1}


def test_control_and_state_of_an_adaptive_schedule(build: control.Build) -> None:
    history = the_loop(run(build, "EA")).history
    mine = [at for at, (m, e) in enumerate(zip(history.member, history.execution, strict=True)) if (m, e) == (0, 1)]
    own = [at for at in mine if history.owner[at] == 0]
    assert [history.control[at] for at in own[:3]] == [4, 8, 16]  # heavily loaded: k doubles
    assert [history.state[at] for at in own[1:3]] == [1, 1]


def test_a_study_keeps_them(build: control.Build) -> None:
    record = run(build, "EA")
    assert unpack(pack(record)[0], record.point.key).loops == record.loops


@pytest.mark.slow
def test_the_same_run_traced_has_the_same_cycles_and_accounts(build: control.Build, tmp_path: Path) -> None:
    for schedule in ("EA", "dynamic,7"):
        plain = run(build, schedule)
        job = Job(
            build,
            machine.load("ksr1"),
            RunPoint(processors=4),
            schedule=schedule,
            trace=TraceOrder(tmp_path, "traced", ("chunks",)),
        )
        traced = Simulated().run(job)
        assert (traced.time_cycles, traced.loops) == (plain.time_cycles, plain.loops)


def test_a_trace_says_by_which_load_and_control_a_chunk_was_taken(build: control.Build, tmp_path: Path) -> None:
    job = Job(
        build,
        machine.load("ksr1"),
        RunPoint(processors=4),
        schedule="EA",
        trace=TraceOrder(tmp_path, "traced", ("chunks",)),
    )
    history = the_loop(Simulated().run(job)).history
    assert len(history.control) < 2048  # so all of them are kept
    decided = [at for at, control in enumerate(history.control) if control > 0]
    with open_container(next(tmp_path.rglob("*.sgtrace"))) as trace:
        names = [region.name for region in trace.definitions.regions]
        marks = trace.columns("marks")
        for name, expected in (
            ("chunk_control", [history.control[at] for at in decided]),
            ("chunk_state", [history.state[at] + 2 for at in decided]),
        ):
            assert sorted(marks["value"][marks["region"] == names.index(name)].tolist()) == sorted(expected)
    assert {history.state[at] for at in decided} == {-1, 0, 1}
