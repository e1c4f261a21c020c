"""Performance models: known models with noise, doubt, several parameters, and false positives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.fits import Models, back_test_models, fit_models
from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.fits.terms import falling, growing

P = np.array([4.0, 8.0, 16.0, 32.0, 64.0])
SEEDS = 200


def noisy(truth: Floats, noise: float, repetitions: int = 5, series: int = SEEDS, seed: int = 3) -> Floats:
    random = np.random.default_rng(seed)
    return np.abs(truth[None, :, None] * (1 + noise * random.standard_normal((series, len(truth), repetitions))))


def share(models: Models, term: str, *, plausible: bool = False) -> float:
    """Share of the series whose model is *term*, or has it as a rival."""
    found = 0
    for index in range(len(models)):
        ranks = np.flatnonzero(models.plausible[index]) if plausible else [0]
        found += any(models.term_text(index, int(rank)) == term for rank in ranks)
    return found / len(models)


CASES: list[tuple[str, Callable[[Floats], Floats]]] = [
    ("constant", lambda p: 10 + 0 * p),
    ("log2(N)", lambda p: 3 + 2 * np.log2(p)),
    ("N^(1/2)", lambda p: 1 + 2 * np.sqrt(p)),
    ("N log2(N)", lambda p: 5 + 0.3 * p * np.log2(p)),
    ("N^2", lambda p: 5 + 0.3 * p**2),
    ("N^(-1)", lambda p: 1 + 20 / p),
]


@pytest.mark.parametrize(("term", "curve"), CASES)
def test_an_exact_model_is_found_with_its_numbers(term: str, curve: Callable[[Floats], Floats]) -> None:
    models = fit_models(P, curve(P)[None])
    assert models.term_text(0) == term
    np.testing.assert_allclose(models.predict([256.0])[0], curve(np.array([256.0])), rtol=1e-6)
    assert models.decided[0]
    assert models[0].cv_error < 1e-6


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.01, 0.1])
@pytest.mark.parametrize(("term", "curve"), CASES)
def test_noise_leaves_the_right_model_plausible_and_its_band_true(
    term: str, curve: Callable[[Floats], Floats], noise: float
) -> None:
    models = fit_models(P, noisy(curve(P), noise, series=100), bootstrap=False)
    assert share(models, term, plausible=True) > 0.94
    assert share(models, term) > (0.92 if noise < 0.05 else 0.6)
    low, high = models.band([128.0, 256.0])
    truth = curve(np.array([128.0, 256.0]))
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert (held > 0.85).all(), held  # 95 % of 100, allowing for chance by three standard deviations
    wrong = models.decided & (np.abs(models.predict([256.0])[:, 0] / truth[1] - 1) > 0.1)
    assert wrong.mean() <= 0.03


@pytest.mark.slow
def test_bootstrapped_intervals_of_coefficients_hold_the_truth_at_their_rate() -> None:
    models = fit_models(P, noisy(5 + 0.3 * P**2, 0.05))
    right = [i for i in range(SEEDS) if models.term_text(i) == "N^2"]
    assert len(right) > 190
    for column, truth in ((0, 5.0), (1, 0.3)):
        held = np.mean((models.low[right, column] <= truth) & (truth <= models.high[right, column]))
        assert abs(held - 0.95) < 0.047


@pytest.mark.slow
def test_noise_around_a_constant_is_not_growth() -> None:
    assert share(fit_models(P, noisy(np.full(5, 7.0), 0.05)), "constant") > 0.93


def test_noise_that_differs_between_points_gives_the_noisy_ones_less_weight() -> None:
    truth = 1 + 0.5 * P
    noise = np.array([0.01, 0.01, 0.01, 0.01, 0.5])
    values = np.abs(
        truth[None, :, None] * (1 + noise[None, :, None] * np.random.default_rng(5).standard_normal((100, 5, 8)))
    )
    weight = fit_models(P, values, bootstrap=False).sample.weight * truth[None] ** 2
    assert np.median(weight[:, 4] / weight[:, 0]) < 0.2


@pytest.mark.slow
def test_points_that_cannot_tell_name_the_rivals() -> None:
    models = fit_models(P, noisy(5 + 0.3 * P * np.log2(P), 0.1, 3, 20))
    undecided = [models[i] for i in range(20) if not models.decided[i]]
    assert undecided
    assert all(fit.doubt.startswith("These points cannot distinguish") for fit in undecided)
    assert all(fit.rivals for fit in undecided)


def test_a_time_that_falls_and_rises_again_has_both_terms() -> None:
    models = fit_models(P, noisy(1 + 20 / P + 0.05 * P, 0.005, 5, 20))
    assert share(models, "N^(-1) + N") > 0.8


def test_falling_terms_can_be_forbidden() -> None:
    models = fit_models(P, noisy(1 + 20 / P, 0.01, 5, 5), falling=False)
    assert all("(-" not in models.term_text(i) for i in range(5))


def test_a_prediction_of_something_that_cannot_be_negative_is_not() -> None:
    models = fit_models(P, noisy(20 / P, 0.05, 3, 50), falling=False)
    assert (models.predict([256.0]) >= 0).all()


def test_the_space_holds_that_of_extra_p() -> None:
    assert len({(factor.power, factor.log) for factor in growing()}) == 42
    assert len({(factor.power, factor.log) for factor in falling()}) >= 42


@pytest.mark.slow
@pytest.mark.parametrize(
    ("term", "curve"),
    [
        ("p q^2", lambda p, q: 1 + 0.01 * p * q**2),
        ("p + q log2(q)", lambda p, q: 5 + 0.3 * p + 2 * q * np.log2(q)),
        ("constant", lambda p, q: 10 + 0 * p),
        ("p^(-1) q^2 + log2(p)", lambda p, q: 1 + q**2 / p + 3 * np.log2(p)),
        ("q^(3/2)", lambda p, q: 2 + q**1.5),
    ],
)
def test_two_parameters(term: str, curve: Callable[[Floats, Floats], Floats]) -> None:
    grid = np.array([(p, q) for p in (2.0, 4.0, 8.0, 16.0, 32.0) for q in (10.0, 20.0, 40.0, 80.0)])
    models = fit_models(grid, noisy(curve(*grid.T), 0.005, 3, 10), parameters=("p", "q"))
    assert share(models, term) >= 0.8
    at = np.array([[64.0, 160.0]])
    np.testing.assert_allclose(np.median(models.predict(at)), curve(*at.T)[0], rtol=0.03)


@pytest.mark.slow
def test_three_parameters() -> None:
    grid = np.array([(p, q, r) for p in (2.0, 4.0, 8.0, 16.0) for q in (10.0, 20.0, 40.0) for r in (1.0, 2.0, 4.0)])
    truth = 1 + grid[:, 0] * grid[:, 1] + 2 * grid[:, 2] ** 2
    models = fit_models(grid, noisy(truth, 0.002, 3, 4), parameters=("p", "q", "r"))
    assert share(models, "r^2 + p q") >= 0.75


def test_missing_points_leave_the_others() -> None:
    values = np.tile((5 + 0.3 * P**2)[None, :, None], (2, 1, 3))
    values[1, 2] = np.nan
    models = fit_models(P, values)
    assert models.term_text(0) == models.term_text(1) == "N^2"
    assert models[1].points == 4


def test_a_series_of_zeros_is_constant() -> None:
    models = fit_models(P, np.zeros((1, 5, 2)))
    assert models.term_text(0) == "constant"
    assert models.predict([128.0])[0, 0] == 0


def test_wrong_shapes_are_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="one to three parameters, not 4"):
        fit_models(np.ones((5, 4)), np.ones((1, 5)))
    with pytest.raises(ValueError, match="above 0"):
        fit_models(np.array([0.0, 1.0, 2.0]), np.ones((1, 3)))
    with pytest.raises(ValueError, match="were expected"):
        fit_models(P, np.ones((1, 4)))


@pytest.mark.slow
def test_a_back_test_predicts_what_it_did_not_see() -> None:
    p = np.array([4.0, 8.0, 16.0, 32.0, 64.0, 128.0])
    found = back_test_models(p, noisy(5 + 0.3 * p * np.log2(p), 0.02, 3, 50))
    assert found is not None
    assert found.points.tolist() == [[128.0]]
    assert np.mean(found.inside) > 0.88
    assert np.median(np.abs(found.error)) < 0.05
    assert back_test_models(p[:3], np.ones((1, 3, 1))) is None


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 3), st.sampled_from([1, 2]), st.floats(0, 9))
def test_any_values_are_modelled(seed: int, points: int, repetitions: int, parameters: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    x = np.unique(random.integers(1, 200, (points, parameters)), axis=0).astype(float)
    values = random.normal(size=(2, len(x), repetitions)) * 10**scale
    values[1][random.random((len(x), repetitions)) < 0.3] = np.nan
    models = fit_models(x, values)
    for fit in models:
        assert fit.formula
        low, high = fit.band(2 * x)
        assert not np.isnan(low).any()
        assert (low <= high).all()


def test_a_value_that_is_nothing_beside_the_others_has_no_relative_noise() -> None:
    values = np.array([[[3.0, 3.3], [2.0, 2.2], [1.5, 1.4], [5e-324, 5e-324], [1.0, 1.1]]])
    model = fit_models(P, values)[0]
    assert 0 < model.curve.noise < 10
    assert 0 < model.cv_error < 10
