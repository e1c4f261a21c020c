"""Bayesian model averaging: what all hypotheses together predict beyond the data, weighted by how well they fit.

A single law underestimates its uncertainty, however well it fits: other laws fit the same points and diverge beyond
them. So an interval beyond the data is that of a mixture of many hypotheses: sums of up to three terms from a
dictionary of falling and growing ones, with and without a constant, and no negative coefficients. Values are taken
relative to themselves, so no term's share of the value exceeds 1 at any point: this alone sets the scale of the prior,
and it needs no unit. The noise is unknown, too: relative deviations from 1e-6 to 0.6 are weighted by the likelihood and
by how noisy timings usually are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
import scipy

from scalegraph.analyze.fits.noise import RESOLUTION, Floats, Indices, Sample
from scalegraph.analyze.fits.terms import Factor


@dataclass(frozen=True)
class Saturating:
    """1 - x^-*power*: a cost that grows towards a limit, such as a latency or contention for shared memory."""

    power: float

    def at(self, x: Floats) -> Floats:
        """Return the factor at *x* >= 1.

        Shape: that of *x*. Unit: none. Source: ScaleGraph.
        """
        return np.asarray(1.0 - x**-self.power)


Term: TypeAlias = Factor | Saturating

# Terms besides the constant, and how common each is among costs of programs.
_DICTIONARY: tuple[tuple[Term, float], ...] = (
    *(
        (Factor(Fraction(power), log), usual)
        for power, log, usual in (
            ("0", 1, 1.0),
            ("1/2", 0, 1.0),
            ("1", 0, 1.0),
            ("1", 1, 1.0),
            ("3/2", 0, 0.5),
            ("2", 0, 1.0),
            ("0", 2, 0.3),
            ("1/4", 0, 0.3),
            ("1/3", 0, 0.3),
            ("2/3", 0, 0.3),
            ("3/4", 0, 0.3),
            ("1/2", 1, 0.3),
            ("2", 1, 0.3),
            ("3", 0, 0.3),
            ("-1", 0, 2.0),
            ("-1/2", 0, 0.7),
            ("-2/3", 0, 0.4),
            ("-2", 0, 0.3),
            ("-1", 1, 0.4),
        )
    ),
    (Saturating(1.0), 0.5),
    (Saturating(0.5), 0.3),
)
_TERMS = (0.1, 0.35, 0.35, 0.2)  # prior of no, one, two and three terms
_MANY, _USUAL = 3, 0.5  # hypotheses with this many terms use only terms at least this common
_CONSTANT = 0.7  # prior of a constant in addition
_NOISES = np.geomspace(1e-6, 0.6, 36)
# Typical noise of timings: 3 %, mostly within a factor of 3, with a tail towards zero (simulated runs repeat exactly).
_NOISE_PRIOR = np.logaddexp(
    -0.5 * (np.log(_NOISES / 0.03) / 1.2) ** 2, math.log(0.02) - 0.5 * np.abs(np.log(_NOISES / 0.03))
)
_TRUST = 0.9  # exponent of the likelihood: no hypothesis is exactly true, so evidence is discounted
_LEAST = 1e-150  # dividing by less may overflow
_DRAWS = 4000
_NEGLIGIBLE = 10.0  # in -ln probability behind the best: one in 20,000


@dataclass(frozen=True)
class Averaged:
    """Draws from the posterior of one series' curve: *theta* (draws, 1 + factors), weighted by *share* (draws,).

    *factors* belong to the columns after the constant; *noise* (draws,) is the relative deviation of one repetition.
    """

    factors: tuple[Term, ...]
    theta: Floats
    noise: Floats
    share: Floats

    def at(self, x: Floats) -> Floats:
        """Return the drawn curves at *x* (points,), shape (draws, points).

        Unit: that of the values. Source: ScaleGraph.
        """
        return np.asarray(self.theta @ _columns(self.factors, x).T)

    def band(self, x: Floats, confidence: float, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return the interval of the curve at *x* (points,), or of the mean of *repetitions* new measurements there.

        Shape: two arrays (points,). Unit: that of the values. Source: model averaging (Hoeting and others 1999).
        """
        drawn = self.at(x)
        if repetitions is not None:
            errors = np.random.default_rng(2).standard_normal(drawn.shape)
            drawn = drawn * np.maximum(1.0 + self.noise[:, None] / math.sqrt(repetitions) * errors, 0.0)
        tail = (1.0 - confidence) / 2
        low, high = self._quantiles(drawn, (tail, 1.0 - tail))
        return low * (1.0 - RESOLUTION), high * (1.0 + RESOLUTION)

    def inside(self, x: float, low: float, high: float) -> float:
        """Return the probability that the curve at *x* lies between *low* and *high*.

        Unit: none (share). Source: ScaleGraph.
        """
        drawn = self.at(np.array([x]))[:, 0]
        return float(self.share[(drawn >= low) & (drawn <= high)].sum())

    def _quantiles(self, drawn: Floats, wanted: tuple[float, ...]) -> Floats:
        order = np.argsort(drawn, axis=0)
        up_to = np.cumsum(self.share[order], axis=0)
        rank = (up_to[None] < np.array(wanted)[:, None, None]).sum(axis=1).clip(max=len(drawn) - 1)
        return np.take_along_axis(np.take_along_axis(drawn, order, axis=0), rank, axis=0)


@dataclass(frozen=True)
class _Group:
    """Hypotheses with the same number of columns: *columns* (hypotheses, size), *prior* their ln prior.

    *values* (hypotheses, size) and *vectors* (.., size, size) are of X'WX, *projected* X'Wy in their basis.
    """

    columns: Indices
    prior: Floats
    values: Floats
    vectors: Floats
    projected: Floats

    @cached_property
    def size(self) -> int:
        return int(self.columns.shape[1])

    def score(self, observations: float, squares: float) -> Floats:
        """Return the ln evidence by noise level, (hypotheses, noises), with negative coefficients still allowed."""
        variance = _NOISES**2
        precision = self.values[:, None, :] / variance[:, None] + 1.0
        gain = (self.projected[:, None, :] / variance[:, None]) ** 2 / precision
        return np.asarray(
            self.prior[:, None]
            + _NOISE_PRIOR
            - observations * np.log(_NOISES)
            - 0.5 * squares / variance
            + 0.5 * (gain - np.log(precision)).sum(axis=2)
            + self.size * math.log(2.0)
        )

    def posterior(self, at: Indices, noise: Indices) -> tuple[Floats, Floats]:
        """Return mean (places, size) and covariance of the coefficients of the hypotheses *at*, given *noise*."""
        variance = _NOISES[noise, None] ** 2
        precision = self.values[at] / variance + 1.0
        vectors = self.vectors[at]
        mean = np.einsum("pij,pj->pi", vectors, self.projected[at] / variance / precision)
        return mean, np.einsum("pij,pj,pkj->pik", vectors, 1.0 / precision, vectors)

    def positive(self, at: Indices, noise: Indices) -> Floats:
        """Return the approximate ln probability that no coefficient is negative, treating each alone, (places,)."""
        variance = _NOISES[noise, None] ** 2
        precision = self.values[at] / variance + 1.0
        vectors = self.vectors[at]
        mean = (vectors * (self.projected[at] / variance / precision)[:, None, :]).sum(axis=2)
        deviation = np.sqrt((vectors**2 / precision[:, None, :]).sum(axis=2))
        return np.asarray(scipy.special.log_ndtr(mean / deviation).sum(axis=1))


def averaged(x: Floats, sample: Sample, draws: int = _DRAWS, seed: int = 1) -> Averaged | None:
    """Return the averaged prediction for the one series in *sample* at *x* (points,).

    ``None`` if a value is too close to 0 to have relative noise, or for fewer than three points.

    Shape: (draws, ..) of its arrays. Unit: that of the values. Source: model averaging (Hoeting and others 1999); the
    dictionary and the priors are ScaleGraph's.
    """
    known = sample.count[0] > 0
    places, mean = x[known], sample.mean[0, known]
    if len(np.unique(places)) < 3 or not (mean > _LEAST).all() or not (places > 0).all():
        return None
    weight = _TRUST * (sample.count * sample.weight)[0, known] * mean**2
    factors = tuple(factor for factor, _ in _DICTIONARY if _usable(factor, places))
    design = _columns(factors, places) / mean[:, None]
    largest = np.abs(design).max(axis=0)
    design = design / largest
    groups = list(_groups(factors, design, weight))
    squares = float(_TRUST * sample.within[0] + weight.sum())
    observations = _TRUST * float(sample.observations[0])
    scores = [group.score(observations, squares) for group in groups]
    counted = _with_bounds(groups, scores)
    theta, noise, share = _drawn(groups, scores, counted, design.shape[1], draws, seed)
    return Averaged(factors, theta / largest, noise, share)


def _usable(factor: Term, x: Floats) -> bool:
    """Return whether a factor is finite, non-negative and not constant over *x*."""
    values = factor.at(x)
    return bool(np.isfinite(values).all() and (values >= 0).all() and np.ptp(values) > 0)


def _columns(factors: tuple[Term, ...], x: Floats) -> Floats:
    return np.stack([np.ones(len(x)), *(factor.at(x) for factor in factors)], axis=1)


@lru_cache(maxsize=16)
def _hypotheses(factors: tuple[Term, ...]) -> dict[int, tuple[Indices, Floats]]:
    """Return by number of columns: the columns of each hypothesis (0 is the constant), and its ln prior."""
    usual = dict(_DICTIONARY)
    found: dict[int, list[tuple[tuple[int, ...], float]]] = {}
    for terms, share in enumerate(_TERMS):
        allowed = [i for i, one in enumerate(factors, start=1) if terms < _MANY or usual[one] >= _USUAL]
        chosen = list(itertools.combinations(allowed, terms))
        prior = np.array([math.prod(usual[factors[column - 1]] for column in one) for one in chosen])
        for one, own in zip(chosen, prior / max(prior.sum(), 1e-300) * share, strict=True):
            found.setdefault(terms + 1, []).append(((0, *one), float(own) * _CONSTANT))
            if terms:
                found.setdefault(terms, []).append((one, float(own) * (1.0 - _CONSTANT)))
    return {
        size: (np.array([one for one, _ in entries]), np.log([own for _, own in entries]))
        for size, entries in found.items()
    }


def _groups(factors: tuple[Term, ...], design: Floats, weight: Floats) -> Iterator[_Group]:
    product = design.T @ (weight[:, None] * design)
    target = design.T @ weight
    for columns, prior in _hypotheses(factors).values():
        values, vectors = np.linalg.eigh(product[columns[:, :, None], columns[:, None, :]])
        projected = np.einsum("hij,hi->hj", vectors, target[columns])
        yield _Group(columns, prior, np.maximum(values, 0.0), vectors, projected)


def _with_bounds(groups: list[_Group], scores: list[Floats]) -> list[Floats]:
    """Add to *scores* the cost of keeping coefficients non-negative, where it can matter; return the costs.

    The cost only lowers scores, so it is computed for the best candidates until these remain the best.
    """
    costs = [np.zeros_like(score) for score in scores]
    done = [np.zeros(score.shape, dtype=bool) for score in scores]
    while True:
        best = max(float((score[seen]).max(initial=-np.inf)) for score, seen in zip(scores, done, strict=True))
        top = max(float(score.max()) for score in scores)
        open_ = [
            ~seen & (score > max(best, top - 2 * _NEGLIGIBLE) - _NEGLIGIBLE)
            for score, seen in zip(scores, done, strict=True)
        ]
        if not any(part.any() for part in open_):
            break
        for group, score, cost, seen, part in zip(groups, scores, costs, done, open_, strict=True):
            at, noise = np.nonzero(part)
            cost[at, noise] = group.positive(at, noise)
            score[at, noise] += cost[at, noise]
            seen |= part
    for score, seen in zip(scores, done, strict=True):
        score[~seen] = -np.inf
    return costs


def _drawn(
    groups: list[_Group], scores: list[Floats], costs: list[Floats], columns: int, draws: int, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Return coefficients (draws, columns), noises and weights; coefficients are drawn positive one after the other.

    Source: the simulator of Geweke, Hajivassiliou and Keane for truncated normals.
    """
    random = np.random.default_rng(seed)
    top = max(float(score.max()) for score in scores)
    chances = np.cumsum(np.concatenate([np.exp(score - top).ravel() for score in scores]))
    # evenly spaced, so that each hypothesis gets its share to within one draw
    picked = np.searchsorted(chances, (np.arange(draws) + random.random()) / draws * chances[-1])
    theta, noise, weight = np.zeros((draws, columns)), np.zeros(draws), np.zeros(draws)
    start = 0
    for group, score, cost in zip(groups, scores, costs, strict=True):
        own = np.flatnonzero((picked >= start) & (picked < start + score.size))
        if len(own):
            at, level = np.divmod(picked[own] - start, len(_NOISES))
            values, chance = _above_zero(*group.posterior(at, level), random)
            theta[own[:, None], group.columns[at]] = values
            noise[own], weight[own] = _NOISES[level], chance - cost[at, level]
        start += score.size
    share = np.exp(weight - weight.max())
    return theta, noise, share / share.sum()


def _above_zero(mean: Floats, covariance: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return draws (places, size) of normals with no negative coordinate, and the ln probability of each."""
    places, size = mean.shape
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    root = np.linalg.cholesky(covariance / deviation[:, :, None] / deviation[:, None, :] + 1e-9 * np.eye(size))
    drawn, values, chance = np.zeros((places, size)), np.zeros((places, size)), np.zeros(places)
    for column in range(size):
        middle = mean[:, column] / deviation[:, column] + (root[:, column, :column] * drawn[:, :column]).sum(axis=1)
        above = scipy.special.log_ndtr(middle / root[:, column, column])
        drawn[:, column] = -scipy.special.ndtri_exp(np.log(random.random(places)) + above)
        chance += above
        values[:, column] = np.maximum(middle + root[:, column, column] * drawn[:, column], 0.0)
    return values * deviation, chance
