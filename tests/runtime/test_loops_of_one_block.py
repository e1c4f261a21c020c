"""Loops of one block: their iterations are not predicted one by one, and that changes no cycle."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Simulated, TraceOrder
from scalegraph.toolchain.inlining import INLINE

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

# Visits of one loop, always with the same number of iterations or with a random one.
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static double a[1024], all[8];
static __attribute__((noinline)) double visit(unsigned rounds)
{
    double sum = 0;
    for (unsigned j = 0; j < rounds; j++)
        sum += a[j & 1023];
    return sum;
}
int main(int count, char **argument)
{
    unsigned length = (unsigned)atoi(argument[1]), visits = (unsigned)atoi(argument[2]);
    int random = atoi(argument[3]), threads = atoi(argument[4]);
    #pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        unsigned seed = 88172645 + 77 * (unsigned)t;
        for (unsigned v = 0; v < visits; v++) {
            seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5;
            all[t] += visit(random ? length / 2 + seed % length : length);
        }
    }
    printf("%g\\n", all[0]);
    return 0;
}
"""
VALUES = {
    "processor.out_of_order": "true",
    "processor.memory_parallelism": "8",
    "processor.pipeline.window": "200",
    "processor.pipeline.load": "5",
    "processor.pipeline.int_alu": "1",
    "processor.pipeline.fp_add": "4",
    "branches.penalty_cycles": "20",
    "branches.history": "256",
}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., RunRecord]:
    path = tmp_path / "visits.c"
    path.write_text(PROGRAM)

    def run_one(
        length: int, visits: int, *, random: bool = False, threads: int = 1, trace: TraceOrder | None = None
    ) -> RunRecord:
        args = str(length), str(visits), str(int(random)), str(threads)
        point = RunPoint(processors=threads)
        record = Simulated().run(Job(build([path]), machine.load("cerberus", VALUES), point, args, trace=trace))
        assert (record.status, record.message) == ("ok", "")  # runtime and record check that accounts add up
        return record

    return run_one


def _of_a_visit(run: Callable[..., RunRecord], length: int, **more: bool) -> float:
    """Return the mispredictions per visit once the loop is known."""
    long, short = (run(length, visits, **more).counters["mispredictions"] for visits in (900, 400))
    return (long - short) / 500


def test_ends_of_counted_loops_are_foreseen_as_far_as_the_history_goes(run: Callable[..., RunRecord]) -> None:
    assert _of_a_visit(run, 100) == 0
    assert _of_a_visit(run, 1000) == 1


def test_ends_of_loops_of_random_length_are_not(run: Callable[..., RunRecord]) -> None:
    assert _of_a_visit(run, 40, random=True) == pytest.approx(1, abs=0.1)


def test_neither_hooks_that_are_called_nor_a_trace_change_anything(
    run: Callable[..., RunRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run(90, 60, random=True, threads=3)
    traced = run(90, 60, random=True, threads=3, trace=TraceOrder(tmp_path, "traced", ("chunks",)))
    monkeypatch.setenv(INLINE, "0")
    called = run(90, 60, random=True, threads=3)
    assert plain.counters["mispredictions"] > 100
    for other in (traced, called):
        assert other.time_cycles == plain.time_cycles
        assert other.counters == plain.counters
        assert other.categories == plain.categories
