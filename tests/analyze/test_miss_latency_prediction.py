from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalegraph.analyze import miss_latency_prediction

COUNTS = (2, 4, 6, 8, 16, 30, 64)
# Curves through the values in section 5.2.2 of the latency-metric paper: computation 25 cycles on 8 processors, 42 on
# 30 and 124 on 64; synchronisation above 42 below 8 processors and 56 there; the program 42 on 16, its fastest
COMPUTATION = (18.0, 21.0, 23.0, 25.0, 27.5, 42.0, 124.0)
SYNCHRONISATION = (20.0, 31.0, 42.0, 56.0, 56.5, 70.0, 140.0)
PROGRAM = (19.0, 26.0, 32.0, 40.0, 42.0, 58.0, 133.0)
TIMES = (2.4e6, 1.6e6, 1.2e6, 1007628, 653326, 880000, 2417743)


def test_table_5_follows_from_curves_through_the_text() -> None:
    found = miss_latency_prediction.predict(COUNTS, TIMES, PROGRAM, COMPUTATION, SYNCHRONISATION)
    assert found is not None
    assert (found.l_max, found.fastest, found.reached) == (42.0, 16, True)
    reaches = (found.optimistic, found.pessimistic, found.predicted)
    assert [round(reach.processors or 0) for reach in reaches] == [30, 6, 16]
    assert [reach.words for reach in reaches] == ["30", "6", "16"]


def test_fewer_than_eight_is_said_where_the_curve_begins_above_the_limit() -> None:
    found = miss_latency_prediction.reach((8, 16, 64), (56.0, 70.0, 140.0), 42.0)
    assert found.way == "below"
    assert found.processors is not None
    assert found.processors < 8
    assert found.words.endswith("(below the smallest count run)")


@pytest.mark.parametrize(
    ("latency", "words"),
    [
        ((20.0, 20.0, 20.0), "very large"),
        ((20.0, 19.0, 18.0), "very large"),
        ((20.0, 20.1, 20.2), "very large"),
        ((math.nan, math.nan, math.nan), "not known"),
        ((math.nan, 30.0, math.nan), "not known"),
        ((10.0, 20.0, 40.0), "about 17 (beyond the largest count run)"),
        ((10.0, 20.0, 42.0), "16"),
        ((60.0, 55.0, 50.0), "about 1 (below the smallest count run)"),
    ],
)
def test_a_limit_outside_the_runs_is_not_given_as_if_it_were_inside(latency: tuple[float, ...], words: str) -> None:
    assert miss_latency_prediction.reach((4, 8, 16), latency, 42.0).words == words


@pytest.mark.slow
@given(st.floats(1.0, 1e4), st.floats(0.05, 2.0), st.floats(0.01, 0.99))
def test_a_power_law_is_reached_where_it_says(start: float, power: float, share: float) -> None:
    counts = (1, 2, 4, 8, 16, 32)
    latency = start * np.array(counts, dtype=float) ** power
    wanted = 32**share
    found = miss_latency_prediction.reach(counts, latency, start * wanted**power)
    assert found.processors == pytest.approx(wanted, rel=1e-6)
    beyond = miss_latency_prediction.reach(counts, latency, start * 100.0**power)
    assert beyond.way == "beyond"
    assert beyond.processors == pytest.approx(100.0, rel=1e-6)


@pytest.mark.parametrize(
    ("latency", "words"),
    [
        # saturated: a line through all points would reach 60 at about 50 processors
        ((20.0, 35.0, 45.0, 48.0, 48.5), "more than"),
        ((20.0, 40.0, 40.1, 40.0, 40.1), "more than"),
        ((20.0, 25.0, 31.0, 39.5, 50.0), "about 55 ("),
        ((48.0, 48.5), "not known (beyond the largest count run the curve cannot be continued)"),
    ],
)
def test_a_curve_that_has_saturated_is_not_continued_by_a_line_through_all_of_it(
    latency: tuple[float, ...], words: str
) -> None:
    found = miss_latency_prediction.reach((2, 4, 8, 16, 32)[: len(latency)], latency, 60.0)
    assert found.words.startswith(words), found.words
    assert found.processors is None or found.low is not None


def test_a_program_that_is_still_faster_at_the_end_has_only_a_least_l_max() -> None:
    found = miss_latency_prediction.predict(
        (1, 2, 4), (4.0, 2.0, 1.0), (math.nan, 10.0, 12.0), (math.nan, 9.0, 11.0), (math.nan,) * 3
    )
    assert found is not None
    assert not found.reached
    assert found.pessimistic.way == "unknown"
    assert found.predicted == found.optimistic  # with only one kind of miss, the mean is that kind's


def test_without_latencies_there_is_no_prediction() -> None:
    nothing = (math.nan, math.nan)
    assert miss_latency_prediction.predict((1, 2), (2.0, 1.0), nothing, nothing, nothing) is None
    assert miss_latency_prediction.predict((1, 2), nothing, nothing, nothing, nothing) is None
