"""Loops that end while the window holds their first iterations overlap with what follows, if nothing prevents it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

WINDOW, LATENCY, TOTAL = 200, 4.0, 240_000
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
static double a[1024], y[1024];
static __attribute__((noinline)) double sum(int length)
{
    double s = 0;
    for (int j = 0; j < length; j++)
        s += a[j];
    return s;
}
static __attribute__((noinline)) void add(double *to, int length)
{
    double s = *to;
    for (int j = 0; j < length; j++)
        s += a[j];
    *to = s;
}
int main(int count, char **argument)
{
    int length = atoi(argument[1]), visits = atoi(argument[2]);
    unsigned seed = 88172645;
    double s = 0;
    for (int i = 0; i < 1024; i++)
        a[i] = i;
    for (int v = 0; v < visits; v++) {
        START
        LOOP
        y[v & 1023] = s;
    }
    add(y, 3);
    printf("%g %g %g\\n", s, y[5], sum(9));
    return 0;
}
"""


SUM = "for (int j = 0; j < length; j++) s += a[j];"
RANDOM = "seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; int most = length / 2 + seed % length;"
PENALTY = 20


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., RunRecord]:
    def run_one(
        start: str,
        length: int,
        *,
        visits: int = 0,
        variant: Variant | None = None,
        loop: str = SUM,
        penalty: int = PENALTY,
    ) -> RunRecord:
        path = tmp_path / "sums.c"
        path.write_text(PROGRAM.replace("START", start).replace("LOOP", loop))
        values = {
            "processor.out_of_order": "true",
            "processor.issue_width": 4,
            "processor.memory_parallelism": 8,
            "processor.pipeline.window": WINDOW,
            "processor.pipeline.load": 5,
            "processor.pipeline.int_alu": 1,
            "processor.pipeline.fp_add": LATENCY,
            "branches.penalty_cycles": penalty,
            "branches.history": 256,
        }
        on = machine.load("server-2x32-inorder", {key: str(value) for key, value in values.items()})
        args = str(length), str(visits or TOTAL // length)
        point = RunPoint(processors=1) if variant is None else RunPoint(processors=1, variant=variant)
        record = Simulated().run(Job(build([path]), on, point, args))
        assert (record.status, record.message) == ("ok", "")  # runtime and record check that accounts add up
        return record

    return run_one


def _round(run: Callable[..., RunRecord], start: str, length: int) -> float:
    """Return the cycles of an iteration of the inner loop, with its share of the surrounding code."""
    one, two = (run(start, length, visits=part * TOTAL // length // 2).time_cycles for part in (1, 2))
    assert one is not None
    assert two is not None
    return (two - one) / (TOTAL / 2)


def test_visits_of_a_short_loop_overlap_if_each_begins_anew(run: Callable[..., RunRecord]) -> None:
    assert _round(run, "s = 0;", 12) < 0.75 * LATENCY


@pytest.mark.parametrize(("call", "overlap"), [("s = sum(length);", True), ("add(y, length);", False)])
def test_visits_overlap_where_a_function_is_called_again_that_carries_nothing_on(
    run: Callable[..., RunRecord], call: str, overlap: bool
) -> None:
    one, two = (run("", 12, visits=part * TOTAL // 24, loop=call).time_cycles for part in (1, 2))
    assert one is not None
    assert two is not None
    taken = (two - one) / (TOTAL / 2)
    assert (taken < 0.75 * LATENCY) if overlap else (taken >= LATENCY)


@pytest.mark.parametrize(("chunk", "overlap"), [(1000, True), (1, False)])
def test_visits_do_not_overlap_where_an_atomic_operation_says_what_comes_next(
    run: Callable[..., RunRecord], chunk: int, overlap: bool
) -> None:
    loop = f"""
        if (v == 0)
            _Pragma("omp parallel for num_threads(1) schedule(dynamic, {chunk})")
            for (int i = 0; i < visits; i++) {{
                double sum = 0;
                for (int j = 0; j < length; j++)
                    sum += a[j];
                y[i & 1023] = sum;
            }}
    """
    short, long = (run("", length, visits=5000, loop=loop).time_cycles for length in (12, 24))
    assert short is not None
    assert long is not None
    of_round = (long - short) / (12 * 5000)
    assert (of_round < 0.75 * LATENCY) if overlap else (of_round >= LATENCY - 0.1)


def test_visits_that_wait_for_each_other_do_not(run: Callable[..., RunRecord]) -> None:
    assert _round(run, "", 12) >= LATENCY


def test_rounds_beyond_the_window_take_their_chain(run: Callable[..., RunRecord]) -> None:
    long = _round(run, "s = 0;", 1000)
    assert 0.9 * LATENCY < long < 1.1 * LATENCY


def test_virtual_speedups_scale_what_is_left(run: Callable[..., RunRecord]) -> None:
    plain, halved = (run("s = 0;", 12, variant=variant) for variant in (None, Variant(speedup={"region:main": "2"})))
    assert plain.time_cycles is not None
    assert halved.time_cycles is not None
    assert 0.4 * plain.time_cycles < halved.time_cycles < plain.time_cycles


def _share_of_penalty(run: Callable[..., RunRecord], start: str, loop: str, least: int = 0) -> float:
    """Return what a misprediction adds to the time, as a share of the machine's penalty, for a loop with a random end.

    The comparison is with a penalty of *least* cycles; with 0 nothing is predicted, and no visits overlap.
    """
    free, dear = (run(f"{RANDOM} {start}", 24, loop=loop, penalty=penalty) for penalty in (least, least + PENALTY))
    assert free.time_cycles is not None
    assert dear.time_cycles is not None
    assert dear.counters["mispredictions"] > 0.5 * TOTAL // 24
    return (dear.time_cycles - free.time_cycles) / (PENALTY * dear.counters["mispredictions"])


def test_a_penalty_passes_while_the_processor_still_adds_up(run: Callable[..., RunRecord]) -> None:
    # the branch needs no sum, so it is resolved when up to 3/4 of the visit's sums are still to be done
    assert _share_of_penalty(run, "s = 0;", SUM.replace("length", "most")) < 0.3


def test_a_penalty_is_paid_where_the_branch_needs_the_result(run: Callable[..., RunRecord]) -> None:
    ends = "for (s = most; s > 0.5; ) s += a[0] - 1;"  # a[0] is 0
    assert _share_of_penalty(run, "", ends, least=1) > 0.9  # visits overlap if the end is predicted


def test_a_penalty_is_paid_behind_rounds_that_do_not_wait_for_each_other(run: Callable[..., RunRecord]) -> None:
    assert _share_of_penalty(run, "", "for (int j = 0; j < most; j++) a[j] = v;") > 0.9
