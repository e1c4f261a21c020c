"""Choosing which points of a large space to run within a budget: successive halving with a model of the known times.

Each round fits the logarithms of the known times, keeps the half of the remaining points with the best optimistic
prediction, and runs some of those. The model is a Gaussian process: the covariance of two points depends on whether
machine, split, schedule and so on agree, and on the ratio of their processor counts (product kernel, Rasmussen and
Williams 2006, chapter 4); its length scales maximise the marginal likelihood. The rounds follow Jamieson and Talwalkar
2016, with the model in place of longer trials.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
NOTABLE: Final = 0.05
"""A point faster than the best known one by this share would have been worth finding."""
_FIRST: Final = 0.5  # share of the budget spent on points spread over the space
_NOISE: Final = 1e-4  # share of the variance of the logarithm that no axis explains
_ALIKE: Final = (0.3, 0.6, 0.85, 0.95)  # candidate correlations of points that differ in one word
_LENGTHS: Final = (0.75, 1.5, 3.0, 6.0)  # candidate length scales in N, in doublings
_JUDGED: Final = 4  # runs needed to judge the model's errors
_LEFT_OUT: Final = 40  # at most this many known places are predicted from the others
_DRAWS: Final = 2000  # random draws of everything left out
_OPTIMISM: Final = 1.5  # standard deviations below the mean: the optimistic prediction


@dataclass(frozen=True)
class Place:
    """A point of the space: its *words* (machine, split, schedule, ...) and its processor count."""

    words: tuple[str, ...]
    processors: int


@dataclass(frozen=True)
class Model:
    """Mean and standard deviation of the logarithm of the time at every place."""

    mean: Floats
    deviation: Floats


def first(places: Sequence[Place], count: int) -> list[int]:
    """Return *count* places spread over the space: each as far as possible from those before it.

    Shape: one for each place. Unit: positions. Source: greedy maximin design (Gonzalez 1985).
    """
    if count >= len(places):
        return list(range(len(places)))
    far = _distances(places)
    order = sorted(range(len(places)), key=lambda at: (far[at].sum(), at))
    chosen = [order[0]]
    near = far[chosen[0]].copy()
    used = np.zeros(len(places))
    while len(chosen) < count:
        near[chosen] = -1.0
        # ties go to the place whose words were used least so far
        best = max(range(len(places)), key=lambda at: (near[at], -_met(places, chosen, at), -used[at]))
        chosen.append(best)
        near = np.minimum(near, far[best])
    return chosen


def _met(places: Sequence[Place], chosen: Sequence[int], at: int) -> float:
    one = places[at]
    return float(
        sum(
            sum(a == b for a, b in zip(one.words, places[other].words, strict=True))
            + (one.processors == places[other].processors)
            for other in chosen
        )
    )


def _distances(places: Sequence[Place]) -> Floats:
    """Return distances between places: differing words, plus doublings of N between them over the range of N."""
    logs = np.log2([place.processors for place in places])
    span = float(np.ptp(logs)) or 1.0
    words = _differ(places)
    made: Floats = words.sum(axis=0) + np.abs(logs[:, None] - logs[None, :]) / span
    return made


def _differ(places: Sequence[Place]) -> Floats:
    """Return whether two places differ in each word, shape (words, places, places)."""
    columns = list(zip(*(place.words for place in places), strict=True)) or [("",) * len(places)]
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in columns])
    made: Floats = (codes[:, :, None] != codes[:, None, :]).astype(np.float64)
    return made


@dataclass(frozen=True)
class _Process:
    """A Gaussian process on the residuals of a trend: prior *kernel* over all places, conditioned on the known ones."""

    at: NDArray[np.int64]
    trend: Floats
    kernel: Floats
    lower: Floats
    solved: Floats

    @cached_property
    def across(self) -> Floats:
        """Known-to-all covariance, whitened. Shape (known, places)."""
        return np.asarray(np.linalg.solve(self.lower, self.kernel[self.at]), dtype=np.float64)

    def model(self) -> Model:
        across = self.across
        spread = np.maximum(np.diag(self.kernel) - (across**2).sum(axis=0), 0.0)
        return Model(self.trend + across.T @ self.solved, np.sqrt(spread))

    def covariance(self, rest: Sequence[int]) -> Floats:
        """Return the posterior covariance of the places *rest*. Shape (rest, rest)."""
        across = self.across[:, rest]
        made: Floats = self.kernel[np.ix_(rest, rest)] - across.T @ across
        return made


def fit(places: Sequence[Place], known: Mapping[int, float]) -> Model:
    """Return the model at all *places* from the *known* values: seconds, or another cost.

    Shape: one for each place. Unit: logarithm of the value. Source: Rasmussen and Williams 2006, eq. 2.23 to 2.30.
    """
    return _process(places, known).model()


def _process(places: Sequence[Place], known: Mapping[int, float]) -> _Process:
    at = np.array(list(known), dtype=np.int64)
    values = np.log(np.array(list(known.values())))
    logs = np.log2([place.processors for place in places])
    differ = _differ(places).sum(axis=0)
    gaps = np.abs(logs[:, None] - logs[None, :])
    # a linear trend first: each word and N shift the logarithm; the process models the residuals
    design = _design(places)
    weights = np.linalg.solve(
        design[at].T @ design[at] + 0.05 * np.eye(design.shape[1]), design[at].T @ (values - values.mean())
    )
    trend = design @ weights + values.mean()
    left = values - trend[at]
    best: tuple[float, float, float] = (-math.inf, _ALIKE[0], _LENGTHS[0])
    scale = max(float(np.var(left)), 1e-6)
    here = np.ix_(at, at)
    noise = (_NOISE * scale + 1e-9) * np.eye(len(at))

    def kernel(alike: float, length: float, apart: Floats, far: Floats) -> Floats:
        made: Floats = scale * alike**apart * np.exp(-0.5 * (far / length) ** 2)
        return made

    for alike, length in itertools.product(_ALIKE, _LENGTHS):
        lower = np.linalg.cholesky(kernel(alike, length, differ[here], gaps[here]) + noise)
        solved = np.linalg.solve(lower, left)
        likelihood = -0.5 * float(solved @ solved) - float(np.log(np.diag(lower)).sum())
        best = max(best, (likelihood, alike, length))
    whole = kernel(best[1], best[2], differ, gaps)
    lower = np.linalg.cholesky(whole[here] + noise)
    solved = np.asarray(np.linalg.solve(lower, left), dtype=np.float64)
    return _Process(at, trend, whole, np.asarray(lower, dtype=np.float64), solved)


def _design(places: Sequence[Place]) -> Floats:
    """Return the design matrix of the trend: each word, N and its square, in doublings."""
    columns: list[Floats] = []
    for words in zip(*(place.words for place in places), strict=True):
        columns += [np.array([one == word for one in words], dtype=np.float64) for word in dict.fromkeys(words)]
    logs = np.log2([place.processors for place in places])
    logs = logs - logs.mean()
    return np.stack([*columns, logs, logs**2 / 4], axis=1)


def following(
    places: Sequence[Place], known: Mapping[int, float], bad: Sequence[int], left: int, most: int
) -> list[int]:
    """Return the places to run next: at most *most*, with *left* runs left in the budget.

    *known*: seconds by place; *bad*: places whose runs failed. The half of the remaining places with the best
    optimistic prediction stays in; the most promising of these are run.

    Shape: one for each place. Unit: positions. Source: as of the module.
    """
    rest = [at for at in range(len(places)) if at not in known and at not in set(bad)]
    if not rest or left <= 0:
        return []
    if len(known) < 2:
        return [at for at in first(places, len(places)) if at in set(rest)][: min(left, most)]
    model = fit(places, known)
    hope = model.mean - _OPTIMISM * model.deviation
    half = sorted(rest, key=lambda at: hope[at])[: max(1, math.ceil(len(rest) / 2))]
    count = min(left, most)
    # the last runs go to what is probably fastest, earlier ones to what could be fastest
    by = model.mean if left <= most else hope
    return sorted(half, key=lambda at: by[at])[:count]


def opening(bound: int, places: int) -> int:
    """Return how many runs of a budget (*bound*) are spread over the space before the model chooses.

    Unit: runs. Source: ScaleGraph.
    """
    return min(places, max(2, round(bound * _FIRST)))


@dataclass(frozen=True)
class Left:
    """The places not run: how many, the one most likely better than the best by `NOTABLE`, and its probability.

    *chance* is the probability for the likeliest, *risk* that for any of them.
    """

    count: int
    likeliest: int | None
    chance: float
    risk: float


def left_out(places: Sequence[Place], known: Mapping[int, float], bad: Sequence[int] = ()) -> Left:
    """Return the places not run, and the probability that one of them is notably better than the best known.

    The model is calibrated by leave-one-out prediction: if its errors are larger than it claims, its uncertainty is
    scaled up. Errors are drawn from Student's distribution, because few runs estimate their size, with the covariance
    of the model.

    Source: ScaleGraph; leave-one-out errors as in Rasmussen and Williams 2006, section 5.4.2.
    """
    rest = [at for at in range(len(places)) if at not in known and at not in set(bad)]
    if not rest or len(known) < _JUDGED:
        return Left(len(rest), None, math.nan, math.nan)
    process = _process(places, known)
    wanted = math.log(min(known.values())) + math.log1p(-NOTABLE)
    draw = np.random.default_rng(0)
    spread = process.covariance(rest) + 1e-12 * np.eye(len(rest))
    values, vectors = np.linalg.eigh(spread)
    normal = draw.standard_normal((_DRAWS, len(rest))) * np.sqrt(np.maximum(values, 0.0))
    degrees = max(_JUDGED - 1, len(known) // 2)
    tails = np.sqrt(degrees / draw.chisquare(degrees, _DRAWS))
    drawn = process.model().mean[rest] + surprise(places, known) * tails[:, None] * (normal @ vectors.T)
    better = drawn < wanted
    chances = better.mean(axis=0)
    best = int(np.argmax(chances))
    return Left(len(rest), rest[best], float(chances[best]), float(better.any(axis=1).mean()))


def surprise(places: Sequence[Place], known: Mapping[int, float]) -> float:
    """Return by what factor leave-one-out errors exceed the model's own estimate; at least 1.

    Shape: scalar. Unit: none. Source: Rasmussen and Williams 2006, section 5.4.2, with the trend refitted each time.
    """
    at = list(known)
    some = at if len(at) <= _LEFT_OUT else [at[round(one)] for one in np.linspace(0, len(at) - 1, _LEFT_OUT)]
    there = [places[one] for one in at]
    errors = expected = 0.0
    for one in some:
        mine = at.index(one)
        others = {place: known[name] for place, name in enumerate(at) if name != one}
        model = fit(there, others)
        errors += (math.log(known[one]) - float(model.mean[mine])) ** 2
        expected += float(model.deviation[mine]) ** 2
    return max(1.0, math.sqrt(errors / max(expected, 1e-12)))
