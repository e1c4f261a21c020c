"""Serial fractions and isoefficiency orders, with values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scalegraph.analyze.fits import isoefficiency_order, karp_flatt
from scalegraph.analyze.fits.mixture import mixture_band

N = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def test_a_serial_fraction_by_hand() -> None:
    # S(4) = 100/40 = 2.5: e = (1/2.5 - 1/4)/(1 - 1/4) = 0.2
    found = karp_flatt([1, 2, 4], [100.0, 60.0, 40.0])
    assert found is not None
    assert [part.value for part in found.fractions] == pytest.approx([0.2, 0.2])
    assert found.fractions[0].processors == 2
    assert math.isnan(found.fractions[0].low)


def test_serial_code_has_a_fraction_that_stays() -> None:
    times = 10 * (0.1 + 0.9 / N)[:, None] * (1 + 0.01 * np.random.default_rng(2).standard_normal((5, 5)))
    found = karp_flatt(N, times)
    assert found is not None
    assert found.trend == "stays"
    assert all(part.low <= 0.1 <= part.high for part in found.fractions)
    assert "Amdahl" in found.sentence


def test_overhead_makes_the_fraction_grow_and_caches_make_it_fall() -> None:
    rise = karp_flatt(N, 10 * (0.02 + 0.98 / N) + 0.05 * (N - 1))
    fall = karp_flatt(N, 10 * (0.2 / np.sqrt(N) + 0.8 / N))
    assert rise is not None
    assert fall is not None
    assert (rise.trend, fall.trend) == ("grows", "falls")
    assert "overhead" in rise.sentence


def test_a_fraction_that_goes_down_and_up_is_not_said_to_stay() -> None:
    n, fractions = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.0, 0.29, 0.06, 0.13])
    found = karp_flatt(n, 10 * (fractions + (1 - fractions) / n))
    assert found is not None
    assert found.trend == "varies"
    assert "falls from 0.29 at N = 2 to 0.060 at N = 4, then rises to 0.13 at N = 8" in found.sentence
    assert "Amdahl" not in found.sentence
    many = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    zigzag = np.array([0.2, 0.1, 0.3, 0.15, 0.2, 0.12])
    found = karp_flatt([1, *many], np.array([10.0, *(10 * (zigzag + (1 - zigzag) / many))]))
    assert found is not None
    assert "between 0.10 at N = 4 and 0.30 at N = 8" in found.sentence


def test_noise_alone_does_not_make_a_fraction_vary() -> None:
    noise = 1 + 0.05 * np.random.default_rng(5).standard_normal((5, 4))
    found = karp_flatt(N, 10 * (0.02 + 0.98 / N)[:, None] * noise)
    assert found is not None
    assert found.trend == "stays"


@pytest.mark.slow
def test_intervals_of_fractions_hold_the_truth_at_their_rate() -> None:
    held = []
    for seed in range(200):
        noise = 1 + 0.03 * np.random.default_rng(seed).standard_normal((5, 3))
        found = karp_flatt(N, 10 * (0.1 + 0.9 / N)[:, None] * noise)
        assert found is not None
        held.append([part.low <= 0.1 <= part.high for part in found.fractions])
    assert (np.abs(np.mean(held, axis=0) - 0.95) < 0.047).all()


def test_without_one_processor_there_is_no_serial_fraction() -> None:
    assert karp_flatt([2, 4], [1.0, 0.6]) is None
    assert karp_flatt([1], [1.0]) is None


@pytest.mark.parametrize(
    ("order", "work"),
    [
        ("N", lambda n: 5 * n),
        ("N log N", lambda n: 5 * n * math.log2(n)),
        ("N^1.5", lambda n: n**1.5),
        ("N^2", lambda n: 3 * n**2),
        ("N^3", lambda n: n**3),
    ],
)
def test_the_order_of_exact_work_is_found(order: str, work: object) -> None:
    n = [2, 4, 8, 16, 32, 64, 128]
    found = isoefficiency_order(n, [work(x) for x in n])  # type: ignore[operator]
    assert found is not None
    assert found.orders[0].order == order
    assert found.decided
    assert found.orders[0].predict([64])[0] == pytest.approx(work(64))  # type: ignore[operator]


def test_an_order_that_another_predicts_as_well_is_not_decided() -> None:
    # fitted from 2 to 16, N^1.5 and N log N predict W at 32 within 6 % of each other
    found = isoefficiency_order([2, 4, 8, 16, 32], [n**1.5 for n in (2, 4, 8, 16, 32)])
    assert found is not None
    assert not found.decided
    assert "N log N predicts the W of the largest N from the others as well" in found.sentence


def test_three_counts_decide_no_order() -> None:
    found = isoefficiency_order([2, 8, 32], [2.0, 8.0, 32.0])
    assert found is not None
    assert not found.decided


def test_orders_that_points_cannot_tell_are_named() -> None:
    found = isoefficiency_order([2, 4, 8], [10.0, 30.0, 70.0])
    assert found is not None
    assert not found.decided
    assert "cannot show whether" in found.sentence
    assert sum(order.plausible for order in found.orders) > 1


def test_too_few_counts_have_no_order() -> None:
    assert isoefficiency_order([1, 2], [1.0, 2.0]) is None
    assert isoefficiency_order([2, 4], [math.nan, 2.0]) is None


def test_a_mixture_of_one_is_students_interval() -> None:
    one = np.ones((1, 1))
    low, high = mixture_band(np.full((1, 1, 1), 5.0), np.full((1, 1, 1), 2.0), 10 * one, one, 0.95)
    assert (low[0, 0], high[0, 0]) == pytest.approx((5 - 2 * 2.228, 5 + 2 * 2.228), abs=2e-3)


def test_a_mixture_of_two_reaches_over_both() -> None:
    middle = np.array([[[0.0], [10.0]]])
    error, share = np.full((1, 2, 1), 0.1), np.array([[0.5, 0.5]])
    low, high = mixture_band(middle, error, np.full((1, 2), 50.0), share, 0.9)
    assert low[0, 0] < 0.1
    assert high[0, 0] > 9.9
