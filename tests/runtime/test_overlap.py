"""Misses on a processor with a pipeline: what hides them, what they wait for; and address translation."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph import machine
from scalegraph.base.run import RunPoint, RunRecord, Variant
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

LINES = 16384  # lines of 64 bytes: 1 MiB, more than the machine's first cache level and less than the second
HIT = 40  # cycles of the second level
WINDOW, WIDTH = 200, 4
PROGRAM = """
#include <stdlib.h>
#include <stdio.h>
typedef struct place { struct place *next; long value, rest[6]; } place;
enum { LINES = COUNT };
static place places[LINES] __attribute__((aligned(4096)));
static int order[LINES];
static long out[LINES];
int main(int count, char **argument)
{
    int steps = atoi(argument[1]);
    unsigned seed = 88172645;
    long sum = 0;
    for (int i = 0; i < LINES; i++)
        order[i] = i;
    for (int i = LINES - 1; i > 0; i--) {
        seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5;
        int j = seed % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int i = 0; i < LINES; i++) {
        places[order[i]].next = &places[order[(i + 1) % LINES]];
        places[i].value = seed >> i % 31 & 1;
    }
    place *at = places;
    WALK
    printf("%ld %p\\n", sum, (void *)at);
    return 0;
}
"""
CHASE = "for (int i = 0; i < steps; i++) at = at->next;"
VISIT = "for (int i = 0; i < steps; i++) sum += places[order[i & LINES - 1]].value;"
WORK = "for (int i = 0; i < steps; i++) { sum += places[order[i & LINES - 1]].value; x = x * c; x = x * c; x = x * c; }"


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., RunRecord]:
    def run_one(walk: str, steps: int, variant: Variant = Variant(), **changes: object) -> RunRecord:  # noqa: B008
        path = tmp_path / "walk.c"
        path.write_text(PROGRAM.replace("COUNT", str(LINES)).replace("WALK", walk))
        values = {
            "processor.out_of_order": "true",
            "processor.issue_width": WIDTH,
            "processor.memory_parallelism": 8,
            "processor.pipeline.window": WINDOW,
            "processor.pipeline.load": 5,
            "processor.pipeline.int_alu": 1,
            "processor.pipeline.fp_mul": 4,
            "cache.l1.size_kib": 32,
            "cache.l1.ways": 8,
            "cache.l2.size_kib": 2048,
            "cache.l2.ways": 16,
            "cache.l2.hit_cycles": HIT,
            "prefetch.kind": "none",
        } | {key.replace("__", "."): value for key, value in changes.items()}
        on = machine.load("server-2x32-inorder", {key: str(value) for key, value in values.items()})
        record = Simulated().run(Job(build([path]), on, RunPoint(processors=1, variant=variant), (str(steps),)))
        assert (record.status, record.message) == ("ok", "")  # runtime and record check that accounts add up
        return record

    return run_one


def _per_step(run: Callable[..., RunRecord], walk: str, **changes: object) -> float:
    """Return the cycles per step, without the start of the program and the first pass."""
    first, second = (run(walk, rounds * LINES, **changes).time_cycles for rounds in (1, 3))
    assert first is not None
    assert second is not None
    return (second - first) / (2 * LINES)


def test_misses_that_depend_on_each_other_take_their_whole_latency(run: Callable[..., RunRecord]) -> None:
    assert _per_step(run, CHASE) == pytest.approx(5 + HIT, rel=0.02)


def test_as_many_independent_misses_are_under_way_as_there_can_be(run: Callable[..., RunRecord]) -> None:
    within = {"cache.l2.hit_cycles": 2 * HIT}
    one, two, many = (_per_step(run, VISIT, **within, **{"processor.pipeline.misses": misses}) for misses in (2, 4, 64))
    assert one == pytest.approx(2 * HIT / 2, rel=0.1)  # the lines of the order array miss, too: one in sixteen
    assert two == pytest.approx(2 * HIT / 4, rel=0.1)
    assert many < 2 * HIT / 16


def test_misses_hide_behind_what_the_program_computes_meanwhile(run: Callable[..., RunRecord]) -> None:
    work = f"double x = steps, c = steps * 1e-9 + 1; {WORK} sum += x;"
    assert _per_step(run, work) == pytest.approx(12.0, rel=0.02)  # the chain of multiplications


def test_window_ends_what_can_be_hidden(run: Callable[..., RunRecord]) -> None:
    far, ahead = 2000, WINDOW / WIDTH
    work = "x = x * c;" * (2 * WINDOW)
    lone = f"for (int i = 0; i < steps; i++) {{ sum += places[order[i & LINES - 1]].value; {work} }} sum += x;"
    lone = f"double x = steps, c = steps * 1e-9 + 1; {lone}"
    hit, missed = (
        _per_step(run, lone, **{"cache.l2.hit_cycles": cycles, "processor.pipeline.fp_mul": 0}) for cycles in (0, far)
    )
    stalled = missed - hit  # the reference's stall, plus a sixteenth of the order array's
    assert far - 4 * ahead < stalled < far * 17 / 16


def test_branch_that_is_wrong_is_known_when_its_data_are_there(run: Callable[..., RunRecord]) -> None:
    guess = "if (places[order[i & LINES - 1]].value) left = i; else right = i;"
    guess = f"static volatile long left, right; for (int i = 0; i < steps; i++) {guess}"
    changes = {"branches.penalty_cycles": 20, "branches.entries": 64, "branches.history": 4}
    free, dear = (run(guess, 3 * LINES, **(changes | {"cache.l2.hit_cycles": cycles})) for cycles in (0, HIT))
    assert free.counters["mispredictions"] == dear.counters["mispredictions"] > LINES
    stall = dear.categories["stall_local"] - free.categories["stall_local"]
    assert stall > 0.5 * HIT * dear.counters["mispredictions"]


def test_what_is_made_free_never_slows_the_run_down(run: Callable[..., RunRecord]) -> None:
    free = Variant(speedup={"whole:main": "inf"})
    half = Variant(speedup={"whole:main": "2"})
    cycles = [run(CHASE, 2 * LINES, variant=one).time_cycles or 0 for one in (Variant(), half, free)]
    assert cycles[1] == pytest.approx(cycles[0] / 2, rel=0.1)
    assert cycles[2] < cycles[0] / 10


def test_pages_beyond_those_that_are_known_are_looked_up(run: Callable[..., RunRecord]) -> None:
    pages, entries, walk = LINES * 64 // 4096, 64, 30
    plain = {"processor.pipeline.window": 0, "processor.memory_parallelism": 1}
    touch = f"for (int i = 0; i < steps; i++) sum += places[i % {pages} * 64 + i % {pages} % 61].value;"
    without, few, many = (
        run(touch, 20 * pages, **plain, **{"translation.walk_cycles": cycles, "translation.entries": known})
        for cycles, known in ((0, entries), (walk, entries), (walk, 4 * pages))
    )
    assert without.counters["translation_misses"] == 0
    assert few.time_cycles is not None
    assert without.time_cycles is not None
    for found in (few, many):
        assert found.time_cycles is not None
        assert found.time_cycles - without.time_cycles == walk * found.counters["translation_misses"]
    assert few.counters["translation_misses"] - many.counters["translation_misses"] >= 19 * pages
    assert many.counters["translation_misses"] < 4 * pages
