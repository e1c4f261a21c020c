"""Intervals beyond the data: how often they contain the truth for synthetic series, and what three points decide."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph.analyze.fits import fit_laws, fit_models
from scalegraph.analyze.fits.averaging import averaged
from scalegraph.analyze.fits.noise import Floats, condense

N = 2.0 ** np.arange(6)
SERIES = 60
TRUE = {
    "c + a/p + b log p": lambda x: 1 + 30 / x + 0.5 * np.log2(x),
    "a/p + b p": lambda x: 30 / x + 0.05 * x,
    "three terms": lambda x: 2 + 20 / x + 0.2 * np.sqrt(x) + 0.01 * x,
    "one term": lambda x: 5 + 0.3 * x,
}


def far(curve: object) -> tuple[Floats, Floats]:
    places = np.array([64.0])
    return places, curve(places)  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.05, 0.1])
def test_the_interval_at_twice_the_largest_count_holds_the_truth_at_its_rate(noise: float) -> None:
    held = []
    for number, curve in enumerate(TRUE.values()):
        random = np.random.default_rng(number)
        places, truth = far(curve)
        for _ in range(SERIES):
            values = curve(N)[:, None] * (1 + noise * random.standard_normal((len(N), 3)))
            together = averaged(N, condense(np.abs(values)[None]))
            assert together is not None
            low, high = together.band(places, 0.95)
            held.append(low[0] <= truth[0] <= high[0])
    assert 0.9 <= np.mean(held) <= 0.995, np.mean(held)


def test_exact_times_leave_hardly_an_interval() -> None:
    together = averaged(N, condense((3 + 2 * np.log2(N))[None, :, None]))
    assert together is not None
    low, high = together.band(np.array([64.0]), 0.95)
    assert low[0] == pytest.approx(15, rel=1e-3)
    assert high[0] == pytest.approx(15, rel=1e-3)


def test_values_that_are_not_all_above_zero_have_no_average() -> None:
    assert averaged(N, condense(np.array([[[1.0], [0.0], [2.0], [3.0], [4.0], [5.0]]]))) is None
    assert averaged(N[:2], condense(np.ones((1, 2, 1)))) is None


def test_three_points_decide_nothing_and_a_law_below_a_constant_never_wins() -> None:
    fits = fit_laws([1.0, 16.0, 64.0], [9.56, 3.66, 4.64])
    assert not any(fit.decided for fit in fits)
    assert fits[0].law != "ideal"
    assert not fits[0].adjusted_r2 < 0
    assert float(fits[0].predict([128.0])[0]) > 1
    assert "3 points are too few" in fits[0].doubt
    assert not fit_models([1.0, 16.0, 64.0], np.array([[9.56, 3.66, 4.64]]))[0].decided


@pytest.mark.slow
def test_no_law_wins_whose_adjusted_r2_is_below_zero() -> None:
    random = np.random.default_rng(3)
    for _ in range(40):
        count = int(random.integers(2, 8))
        fits = fit_laws(2.0 ** np.arange(count), random.uniform(1, 10, count))
        assert not fits[0].adjusted_r2 < 0, fits[0]


def test_a_minimum_between_the_counts_is_found_and_its_far_side_has_an_interval() -> None:
    best = fit_laws([4.0, 8.0, 16.0, 32.0, 64.0], [8.52, 5.25, 3.88, 3.43, 3.47])[0]
    assert best.law == "tree"
    low, high = best.band([256.0])
    assert low[0] < 30 / 256 + 0.5 * 8 < high[0]
    assert low[0] > 3.55
