"""Intervals of sampled runs, from samples made by hand: what skipped visits did that no sample had."""

from __future__ import annotations

import pytest

from scalegraph.link.sample_errors import ALONE, PART, STANDS, UNLIKE, Stratum, Visit, intervals
from scalegraph.runtime.format import CATEGORY_NAMES, COUNTER_NAMES

NAMES = ("time_cycles", *CATEGORY_NAMES, *COUNTER_NAMES)
N = 2


def visit(
    number: int, work: int, *, how: int = STANDS, skipped: int = 0, skipped_work: int = 0, stall: int = 0
) -> Visit:
    """A visit of *work* cycles on one of two processors, whose time is that and 1,000 cycles."""
    values = dict.fromkeys(NAMES, 0) | {
        "time_cycles": 1000 + work + stall,
        "busy_int": work,
        "stall_local": stall,
        "prim_fork_join": 1000,
        "idle_serial": 1000 + work + stall,
    }
    return Visit(how, number, number, (work + 1) * PART, skipped, skipped, (skipped_work + skipped) * PART, values)


def small_visits(skipped_work: int) -> Stratum:
    """Four measured visits with hardly any work; the last one stands for 40, which had *skipped_work* cycles."""
    last = visit(4, 10, skipped=40, skipped_work=skipped_work)
    return Stratum((*(visit(number, 10) for number in (1, 2, 3)), last))


def test_alike_visits_with_the_work_of_the_samples_leave_half_a_visit() -> None:
    found = intervals([small_visits(400)], [], NAMES)
    assert found["time_cycles"] == pytest.approx(1010 / 2)


def test_unexpected_work_costs_at_most_twice_what_work_costs_in_the_run() -> None:
    usual = Stratum((visit(1, 100_000), visit(2, 100_000)))
    extra = 5000
    found = intervals([usual, small_visits(400 + extra)], [], NAMES)
    pace = 2 * (2 * 100_000 + 4 * 10) / (2 * 100_001 + 4 * 11)  # busy and stalled cycles for each of work
    assert found["time_cycles"] == pytest.approx(1010 / 2 + extra * pace)
    assert found["busy_int"] == pytest.approx(10 / 2 + extra + extra * pace)
    assert found["idle_serial"] == pytest.approx(1010 / 2 + extra * pace * N, rel=1e-3)


def test_stalls_of_visits_that_stand_for_no_others_are_uncertain_by_a_fifth() -> None:
    alike = small_visits(400)
    without = intervals([alike], [], NAMES)
    found = intervals([alike], [visit(5, 100, how=UNLIKE, stall=3000)], NAMES)
    assert found["time_cycles"] == pytest.approx(without["time_cycles"] + 600)


def test_visits_count_by_work_only_if_their_times_follow_it() -> None:
    alike = [visit(number, 1000) for number in range(1, 6)]
    grows = [visit(number, 100_000 * number) for number in range(1, 6)]
    unrelated = [visit(number, work, stall=stall) for number, work, stall in ((1, 10, 900), (2, 500, 0), (3, 10, 0))]
    assert [Stratum(tuple(some)).by_work for some in (alike, grows, unrelated)] == [False, True, False]
    assert Stratum((visit(1, 10, how=ALONE),)).used
