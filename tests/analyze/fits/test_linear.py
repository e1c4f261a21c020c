"""Batched weighted least squares against numpy's, one system at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.fits.linear import left_out_error, solve


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 4), st.integers(5, 8))
def test_a_stack_is_solved_as_each_system_alone(seed: int, columns: int, points: int) -> None:
    random = np.random.default_rng(seed)
    design = random.normal(size=(3, points, columns)) * 10.0 ** np.arange(columns)
    y, weight = random.normal(size=(3, points)), random.uniform(0.5, 2.0, (3, points))
    found = solve(design, y, weight)
    for index in range(3):
        root = np.sqrt(weight[index])
        alone = np.linalg.lstsq(design[index] * root[:, None], y[index] * root, rcond=None)[0]
        np.testing.assert_allclose(found.theta[index], alone, rtol=1e-6, atol=1e-9)
        gram = design[index].T @ (weight[index][:, None] * design[index])
        np.testing.assert_allclose(found.inverse[index] @ gram, np.eye(columns), atol=1e-5)


def test_points_of_weight_nothing_do_not_count() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    design = np.stack([np.ones(4), x], axis=1)
    found = solve(design, np.array([2.0, 4.0, 6.0, 99.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    np.testing.assert_allclose(found.theta, [0.0, 2.0], atol=1e-12)


def test_columns_that_depend_on_one_another_are_refused() -> None:
    design = np.stack([np.ones(4), np.full(4, 3.0)], axis=1)
    found = solve(design, np.arange(4.0), np.ones(4))
    assert not found.valid
    assert np.isinf(found.squares)


def test_the_error_of_a_left_out_point_is_that_of_a_fit_without_it() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 5.0, 8.0]), np.array([2.0, 3.5, 5.0, 7.0, 13.0])
    design = np.stack([np.ones(5), x], axis=1)
    expected = []
    for out in range(5):
        keep = np.arange(5) != out
        alone = np.linalg.lstsq(design[keep], y[keep], rcond=None)[0]
        expected.append(abs(design[out] @ alone - y[out]) / y[out])
    found = left_out_error(solve(design, y, np.ones(5)), y, np.ones(5))
    np.testing.assert_allclose(found, np.mean(expected), rtol=1e-9)
