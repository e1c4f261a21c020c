"""Counts as functions fitted to exact counts of small runs: found if determined, rejected otherwise."""

import itertools
from collections.abc import Callable

import pytest

from scalegraph.base import expression
from scalegraph.predict.counts import CannotTellError, Extent, Sample, fit_count


def samples(count: Callable[[int, int], int], sizes: list[int], processors: list[int]) -> list[Sample]:
    return [Sample({"n": n}, p, count(n, p)) for n, p in itertools.product(sizes, processors)]


def triangular(n: int, p: int) -> int:
    return n * (n - 1) // 2


def cyclic_elimination(n: int, p: int) -> int:
    """Elements changed by thread 0 if the rows below the pivot are distributed cyclically, anew in every step."""
    return sum(len(range(k + 1, n, p)) * (n - k) for k in range(n))


def blocks(n: int, p: int) -> int:
    return -(-n // p) * n * n


def test_a_serial_count_needs_one_run_more_than_it_has_coefficients() -> None:
    found = fit_count(samples(triangular, [3, 5, 8, 13], [1]))
    assert found({"n": 1000}, 1) == triangular(1000, 1)
    assert found.formula == "-1 / 2 * n + 1 / 2 * n ** 2"
    assert expression.parse(found.formula, frozenset({"n"}))({"n": 40.0}) == triangular(40, 1)
    assert (found.runs, found.unknowns) == (4, 3)


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_too_few_runs_cannot_tell(runs: int) -> None:
    with pytest.raises(CannotTellError, match="more sizes are needed"):
        fit_count(samples(triangular, [3, 5, 8][:runs], [1]))


def test_counts_that_depend_on_data_are_refused() -> None:
    noisy = [Sample({"n": n}, 1, n * n + bool(n % 3 == 1)) for n in range(2, 30)]
    with pytest.raises(CannotTellError, match="depend on the data"):
        fit_count(noisy)


@pytest.mark.parametrize("count", [cyclic_elimination, blocks])
def test_counts_with_roundings_by_processors_are_exact_for_any_size(count: Callable[[int, int], int]) -> None:
    found = fit_count(samples(count, list(range(3, 26)), [4]), divided=True)
    for n in (100, 101, 102, 103, 1000):
        assert found({"n": n}, 4) == count(n, 4)


def test_multiples_of_the_processors_do_not_determine_other_sizes() -> None:
    found = fit_count(samples(cyclic_elimination, [8, 16, 24, 32, 40], [8]), divided=True)
    assert found({"n": 800}, 8) == cyclic_elimination(800, 8)
    with pytest.raises(CannotTellError, match="n = 801"):
        found({"n": 801}, 8)


@pytest.mark.slow
def test_several_processor_counts_predict_another() -> None:
    found = fit_count(samples(cyclic_elimination, list(range(2, 24)), [2, 3, 4, 5]), divided=True)
    assert found({"n": 400}, 48) == cyclic_elimination(400, 48)
    assert found({"n": 397}, 60) == cyclic_elimination(397, 60)


def test_two_parameters_whose_product_is_dealt_out() -> None:
    def points(m: int, n: int, p: int) -> int:
        return m * n // p * 7 + m + 3

    runs = [Sample({"m": m, "n": n}, p, points(m, n, p)) for m in (2, 3, 5) for n in (4, 7, 9) for p in (2, 3)]
    found = fit_count(runs, divided=True)
    assert found({"m": 50, "n": 77}, 16) == points(50, 77, 16)
    assert found.extent == Extent(("m", "n"), up=False)
    assert expression.parse(found.formula, frozenset({"m", "n", "N"}))({"m": 5, "n": 7, "N": 3}) == points(5, 7, 3)


def test_a_count_that_falls_below_zero_is_refused() -> None:
    found = fit_count([Sample({"n": n}, 1, 100 - n) for n in (1, 2, 3, 4)])
    with pytest.raises(CannotTellError, match="negative at N = 1, n = 200"):
        found({"n": 200}, 1)


def levels(n: int, p: int) -> int:
    """Visits of a V-cycle that halves a grid of n points: two per level, and one for the coarsest."""
    return 2 * (n.bit_length() - 1) + 1


def transform(n: int, p: int) -> int:
    return 3 * n * (n.bit_length() - 1) + n


def grids(n: int, p: int) -> int:
    """Points of all grids, plus a cost per level."""
    return sum(1 << 3 * k for k in range(1, n.bit_length())) + 5 * (n.bit_length() - 1)


@pytest.mark.parametrize("count", [levels, transform, grids])
def test_counts_with_log2_of_sizes_that_are_powers_of_two(count: Callable[[int, int], int]) -> None:
    found = fit_count(samples(count, [2, 4, 8, 16, 32, 64], [1]))
    assert found({"n": 1024}, 1) == count(1024, 1)
    assert "log2(n)" in found.formula
    assert expression.parse(found.formula, frozenset({"n"}))({"n": 128.0}) == count(128, 1)
    with pytest.raises(CannotTellError, match=r"has log2\(n\) in these runs, and n = 100"):
        found({"n": 100}, 1)


def test_counts_with_log2_do_not_hold_between_powers_of_two() -> None:
    with pytest.raises(CannotTellError):
        fit_count([Sample({"n": n}, 1, 2 * n.bit_length()) for n in (4, 7, 8, 16, 32, 64, 128)])
