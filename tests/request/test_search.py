"""The search of latency-metric.txt Fig. 11 on functions with known answers."""

from __future__ import annotations

import math
from collections.abc import Callable

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.bounds import anchors
from scalegraph.request.planning.search import Found, Goal, Search

Curve = Callable[[int], float | None]


def search(
    curve: Curve, goal: Goal, *, start: float = 10.0, limits: tuple[float, float] = (0.0, 40.0), tries: int = 30
) -> tuple[Found, list[int]]:
    """Run a search over whole sizes W = round(2^x); return how it ended and the sizes measured."""
    work = Search(goal, lambda x: round(2**x), limits, start, tries)
    asked: list[int] = []
    while (x := work.next()) is not None:
        size = round(2**x)
        assert size not in asked, "a size was asked for twice"
        assert limits[0] - 1e-9 <= x <= limits[1] + 1e-9
        asked.append(size)
        work.observe(x, curve(size))
    assert work.result is not None
    assert len(asked) <= tries
    return work.result, asked


def efficiency(overhead: float, n: int = 8) -> Curve:
    return lambda size: 1 / (1 + n * overhead / size)


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(0.05, 0.95), st.floats(1.0, 1e6), st.floats(0, 30))
def test_a_smooth_efficiency_is_found_within_tolerance_in_few_runs(
    target: float, overhead: float, start: float
) -> None:
    goal = Goal("efficiency", target, 0.05)
    exact = 8 * overhead * target / (1 - target)
    found, asked = search(efficiency(overhead), goal, start=start)
    if exact < 200 or exact > 2**39:
        return  # whole sizes are too coarse, or the line ends before it
    assert found.met, found
    assert found.best is not None
    assert found.best.value is not None
    assert abs(found.best.value / target - 1) <= 0.05
    assert len(asked) <= 6 + abs(math.log2(exact) - start) / 3 * 1.5


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(0.1, 0.9), st.integers(0, 2**32), st.floats(0, 0.01))
def test_noise_below_the_tolerance_does_not_keep_it_from_the_goal(target: float, seed: int, noise: float) -> None:
    def curve(size: int) -> float:
        wobble = 1 + noise * math.sin(seed + size * 12.9898)
        return wobble / (1 + 8e3 / size)

    found, _ = search(curve, Goal("efficiency", target, 0.05))
    assert found.met


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(2, 200), st.floats(0.2, 0.8))
def test_a_step_over_the_goal_ends_with_the_nearest_size(width: int, target: float) -> None:
    def curve(size: int) -> float:
        return 0.9 if size >= width * 50 else 0.1

    found, _ = search(curve, Goal("efficiency", target, 0.02), tries=60)
    assert not found.met
    assert found.why in ("no_size_between", "tries")
    assert found.best is not None


def test_the_smallest_of_several_sizes_is_taken() -> None:
    def plateau(size: int) -> float:
        return min(0.25, 0.25 * size / 1000) if size < 10**6 else 0.4

    found, _ = search(plateau, Goal("efficiency", 0.25, 0.04), start=18)
    assert found.met
    assert found.best is not None
    assert 2**found.best.x < 1000 * 2**1.5  # at most one probe above


def test_search_and_matrix_take_the_same_size_whatever_was_run_before() -> None:
    def plateau(size: int) -> float:
        return min(0.252, 0.252 * size / 1000) if size < 10**6 else 0.4

    goal = Goal("efficiency", 0.25, 0.04)
    for known in ((), (7, 8, 9), (9, 9.94, 9.95, 12, 15), (4, 10, 22)):
        work = Search(goal, lambda x: round(2**x), (0, 40), 18, 30)
        rows = {round(2**x): plateau(round(2**x)) for x in known}
        for x in known:
            work.observe(x, plateau(round(2**x)))
        while (x := work.next()) is not None:
            rows[round(2**x)] = plateau(round(2**x))
            work.observe(x, rows[round(2**x)])
        assert work.result is not None
        assert work.result.best is not None
        table = pd.DataFrame({"work": rows.keys(), "efficiency": rows.values()}).assign(
            processors=8, latency_s=1.0, latency_method1_s=1.0, time_s=1.0, unit_speed=1.0, label="", keys="k"
        )
        (anchor,) = anchors(table, "efficiency", goal.target, tolerance=goal.tolerance * goal.target)
        assert anchor.way == "measured"
        assert anchor.work == round(2**work.result.best.x) == min(n for n, e in rows.items() if goal.met(e))


def test_a_goal_passed_below_a_size_that_meets_it_is_looked_for_there() -> None:
    curve = {16: 0.3, 64: 0.7, 4096: 0.5}
    work = Search(Goal("efficiency", 0.5, 0.02), lambda x: round(2**x), (0, 40), 5, 10)
    for size, value in curve.items():
        work.observe(math.log2(size), value)
    wanted = work.next()
    assert wanted is not None
    assert 4 < wanted < 6


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.floats(0.1, 0.9), st.floats(10.0, 1e4), st.floats(0, 25), st.integers(0, 12))
def test_a_search_begun_anew_goes_on_as_the_one_that_was_stopped(
    target: float, overhead: float, start: float, stopped: int
) -> None:
    goal, curve = Goal("efficiency", target, 0.002), efficiency(overhead)

    def follow(known: list[int]) -> tuple[list[int], Found | None]:
        work = Search(goal, lambda x: round(2**x), (0.0, 40.0), start, 30)
        asked = list(known)
        for size in known:
            work.observe(math.log2(size), curve(size))
        while (x := work.next()) is not None:
            asked.append(round(2**x))
            work.observe(math.log2(asked[-1]), curve(asked[-1]))
        return asked, work.result

    asked, whole = follow([])
    again, resumed = follow(asked[:stopped])
    assert again == asked
    assert whole is not None
    assert resumed is not None
    assert (resumed.why, resumed.best) == (whole.why, whole.best)


def test_an_efficiency_out_of_reach_says_how_far_it_came() -> None:
    found, asked = search(lambda size: 0.3 * size / (size + 100), Goal("efficiency", 0.5, 0.05))
    assert found.why == "flat"
    assert "hardly rises" in found.sentence
    assert "0.3" in found.sentence
    assert len(asked) < 12


def test_the_ends_of_the_line_are_tried_and_named() -> None:
    low, _ = search(efficiency(1e9), Goal("efficiency", 0.5, 0.05), limits=(0, 12))
    assert low.why == "too_low"
    assert "largest" in low.sentence
    high, _ = search(lambda size: 0.9, Goal("efficiency", 0.5, 0.05), limits=(8, 12))
    assert high.why == "too_high"
    assert "smallest" in high.sentence


def test_the_number_of_tries_is_kept() -> None:
    found, asked = search(efficiency(1e9), Goal("efficiency", 0.5, 0.001), tries=3)
    assert found.why == "tries"
    assert len(asked) == 3


def test_sizes_that_cannot_be_run_are_avoided() -> None:
    def curve(size: int) -> float | None:
        return None if size > 3000 else 1 / (1 + 2000 / size)

    found, asked = search(curve, Goal("efficiency", 0.5, 0.02), start=14)
    assert found.met
    assert max(asked) > 3000
    never, _ = search(lambda size: None, Goal("efficiency", 0.5, 0.02))
    assert never.why == "failed"
    out, _ = search(lambda size: None if size > 1000 else 0.2, Goal("efficiency", 0.5, 0.02), start=9)
    assert out.why == "failed"
    assert "larger sizes could not be run" in out.sentence


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0, 20))
def test_a_time_is_found(target: float, start: float) -> None:
    found, _ = search(lambda size: 1e-6 * size**1.3 + 1e-5, Goal("time", target, 0.05), start=start)
    exact = (target / 1e-6) ** (1 / 1.3)
    assert found.met or exact < 60


@pytest.mark.slow
@settings(deadline=None)
@given(st.floats(0.05, 0.9), st.floats(0, 20), st.floats(10, 1e5))
def test_a_unit_speed_is_found(share: float, start: float, half: float) -> None:
    """Hockney's law: the speed rises with the size towards an asymptote."""
    found, _ = search(lambda size: 2e7 * size / (size + half), Goal("speed", 2e7 * share, 0.05), start=start)
    exact = half * share / (1 - share)
    assert found.met or exact < 60


def test_a_speed_beyond_the_asymptote_is_given_up() -> None:
    found, _ = search(lambda size: 2e7 * size / (size + 100), Goal("speed", 3e7, 0.05), start=4)
    assert not found.met
    assert found.why in ("flat", "too_low")


def test_sizes_known_before_are_used() -> None:
    curve = efficiency(1000)
    work = Search(Goal("efficiency", 0.5, 0.05), lambda x: round(2**x), (0, 40), 5, 10)
    for x in (12, 13, 14):
        work.observe(x, curve(2**x))
    assert work.next() is None
    assert work.result is not None
    assert work.result.met
    assert work.result.tries == 0


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_values_that_cannot_be_count_as_failed(value: float) -> None:
    found, _ = search(lambda size: value, Goal("efficiency", 0.5, 0.05))
    assert found.why == "failed"


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_any_curve_ends(data: st.DataObject) -> None:
    values: dict[int, float | None] = {}

    def curve(size: int) -> float | None:
        if size not in values:
            values[size] = data.draw(st.one_of(st.none(), st.floats(1e-6, 2.0)))
        return values[size]

    found, asked = search(curve, Goal("efficiency", 0.5, 0.05), tries=12)
    assert len(asked) <= 12
    assert found.why


def test_a_limit_is_the_largest_size_that_is_tried() -> None:
    work = Search(Goal("efficiency", 0.9, 0.05), lambda x: round(2**x), (0.0, 40.0), 10.0, 30)
    sizes = []
    while (x := work.next()) is not None:
        sizes.append(x)
        work.observe(x, 0.1 + x / 1000)
        work.limit(12.0, "the largest size that takes a second")
    assert max(sizes) == 12.0
    assert work.result is not None
    assert work.result.why == "too_low"
    assert work.result.sentence.startswith("even the largest size that takes a second stays below: 0.11")
