"""Branch prediction: predicted branches cost nothing, mispredicted ones the machine's penalty, to the cycle."""

from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.control import build
from scalegraph.control.calibration.pipeline import _REMEMBERED
from scalegraph.link import Build, Job, Simulated
from scalegraph.toolchain.inlining import INLINE

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PENALTY = 20
# Follows a pattern of that many random bits repeatedly; nothing else in it is hard to predict.
PROGRAM = """
#include <stdlib.h>
static unsigned char way[1 << 16];
static volatile int left, right;
int main(int count, char **argument)
{
    unsigned period = (unsigned)atoi(argument[1]), steps = (unsigned)atoi(argument[2]), seed = 88172645;
    for (unsigned i = 0; i < period; i++) {
        seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5;
        way[i] = seed >> 9 & 1;
    }
    for (unsigned i = 0, at = 0; i < steps; i++) {
        if (way[at])
            left = i;
        else
            right = i;
        at = at + 1 == period ? 0 : at + 1;
    }
    return 0;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Build:
    path = tmp_path / "ways.c"
    path.write_text(PROGRAM)
    return build([path])


def _run(
    program: Build, period: int, steps: int, penalty: int = PENALTY, history: str = "64", **more: object
) -> RunRecord:
    changes = {"branches.penalty_cycles": str(penalty), "branches.entries": "4096", "branches.history": history}
    point = RunPoint(processors=1, **more)
    record = Simulated().run(
        Job(program, machine.load("server-2x32-inorder", changes), point, (str(period), str(steps)))
    )
    assert (record.status, record.message) == ("ok", "")  # runtime and record check that accounts add up
    return record


def _mispredictions(record: RunRecord) -> int:
    return record.counters["mispredictions"]


def test_each_misprediction_costs_the_penalty_and_nothing_else_changes(program: Build) -> None:
    free, dear = (_run(program, 60000, 20000, penalty) for penalty in (0, PENALTY))
    assert free.time_cycles is not None
    assert dear.time_cycles is not None
    assert _mispredictions(free) == 0
    assert dear.time_cycles - free.time_cycles == PENALTY * _mispredictions(dear)
    assert dear.categories["busy_control"] - free.categories["busy_control"] == PENALTY * _mispredictions(dear)
    assert (dear.references, dear.misses, dear.work_ops) == (free.references, free.misses, free.work_ops)


def test_random_branches_are_foreseen_every_second_time(program: Build) -> None:
    # the pattern is generated once, and none of those branches repeats
    found = _mispredictions(_run(program, 60000, 50000)) - _mispredictions(_run(program, 60000, 10000))
    assert found == pytest.approx(20000, rel=0.05)


def test_half_of_a_pattern_is_foreseen_that_is_as_long_as_calibration_takes_it(program: Build) -> None:
    # `calibration.pipeline` uses this relation between the entries and the length of a host's pattern
    longest = 4096 * _REMEMBERED

    def rate(period: int) -> float:
        long, short = (
            _mispredictions(_run(program, period, steps, history="256")) for steps in (24 * period, 16 * period)
        )
        return (long - short) / (8 * period)

    assert rate(round(longest / 1.25)) < 0.25 < rate(round(1.25 * longest))  # random branches: 0.5


def test_pattern_that_fits_is_learned_and_a_longer_one_is_not(program: Build) -> None:
    def rate(period: int) -> float:
        long, short = (_mispredictions(_run(program, period, steps)) for steps in (10 * period, 5 * period))
        return (long - short) / (5 * period)

    assert rate(16) < 0.01
    assert rate(512) < 0.05
    assert rate(20000) > 0.35


def test_hooks_in_line_and_hooks_that_are_called_foresee_the_same(
    program: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inline = _run(program, 700, 9000)
    monkeypatch.setenv(INLINE, "0")
    called = _run(build([tmp_path / "ways.c"]), 700, 9000)
    assert called.time_cycles == inline.time_cycles
    assert called.counters == inline.counters
    assert _mispredictions(inline) > 0


def test_other_machines_foresee_everything(program: Build) -> None:
    record = Simulated().run(Job(program, machine.load("ksr1"), RunPoint(processors=1), ("500", "5000")))
    assert _mispredictions(record) == 0


def test_threads_have_predictors_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "threads.c"
    loop = "    for (unsigned i = 0, at"
    path.write_text(PROGRAM.replace(loop, f"#pragma omp parallel num_threads(3)\n{loop}"))
    changes = {"branches.penalty_cycles": str(PENALTY)}
    job = Job(build([path]), machine.load("server-2x32-inorder", changes), RunPoint(processors=3), ("16", "3000"))
    record = Simulated().run(job)
    assert (record.status, record.message) == ("ok", "")
    assert 0 < _mispredictions(record) < 3 * 300


def test_virtual_speedups_keep_mispredictions(program: Build) -> None:
    plain = _run(program, 60000, 20000)
    faster = _run(program, 60000, 20000, variant=Variant(speedup={"region:main": "2"}))
    assert _mispredictions(faster) == _mispredictions(plain)
