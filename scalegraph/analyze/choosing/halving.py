"""Which points of a large space to run under a bound: successive halving with a model of the times that are known.

Each round fits the logarithms of the times that are known, keeps the better half of the points that are left, by what
they may be at best, and runs some of those. The model is a Gaussian process: points are as alike as they agree in
machine, split, schedule and so on, and as their processor counts are near (kernel of products, Rasmussen and Williams
2006, chapter 4); its lengths are those of the largest marginal likelihood. The rounds are those of Jamieson and
Talwalkar 2016, with the model in place of longer trials.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
NOTABLE: Final = 0.05
"""A point that is this share faster than the best known one would have been worth finding."""
_FIRST: Final = 0.5  # of the bound goes to points that are spread over the space
_NOISE: Final = 1e-4  # variance of the logarithm that no axis explains, as a share of all
_ALIKE: Final = (0.3, 0.6, 0.85, 0.95)  # how alike points are that differ in one word
_LENGTHS: Final = (0.75, 1.5, 3.0, 6.0)  # doublings of N over which times go together
_OPTIMISM: Final = 1.5  # standard deviations below the mean: what a point may be at best


@dataclass(frozen=True)
class Place:
    """A point of the space: its *words* (machine, split, schedule ..), and its processors."""

    words: tuple[str, ...]
    processors: int


@dataclass(frozen=True)
class Model:
    """Mean and standard deviation of the logarithm of the time of every place."""

    mean: Floats
    deviation: Floats


def first(places: Sequence[Place], count: int) -> list[int]:
    """Return *count* places that are spread over the space: each as unlike those before it as can be.

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
        # of places that are equally far, that whose words were met least
        best = max(range(len(places)), key=lambda at: (near[at], -_met(places, chosen, at), -used[at]))
        chosen.append(best)
        near = np.minimum(near, far[best])
    return chosen


def _met(places: Sequence[Place], chosen: Sequence[int], at: int) -> float:
    one = places[at]
    return float(sum(
        sum(a == b for a, b in zip(one.words, places[other].words, strict=True))
        + (one.processors == places[other].processors)
        for other in chosen
    ))  # fmt: skip


def _distances(places: Sequence[Place]) -> Floats:
    """Return how unlike each two places are: words that differ, and doublings of N between them over their range."""
    logs = np.log2([place.processors for place in places])
    span = float(np.ptp(logs)) or 1.0
    words = _differ(places)
    made: Floats = words.sum(axis=0) + np.abs(logs[:, None] - logs[None, :]) / span
    return made


def _differ(places: Sequence[Place]) -> Floats:
    """Return whether each two places differ in each word, shape (words, places, places)."""
    columns = list(zip(*(place.words for place in places), strict=True)) or [("",) * len(places)]
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in columns])
    made: Floats = (codes[:, :, None] != codes[:, None, :]).astype(np.float64)
    return made


def fit(places: Sequence[Place], known: Mapping[int, float]) -> Model:
    """Return the model of all *places* from the times (s) of those that are *known*.

    Shape: one for each place. Unit: logarithm of seconds. Source: Rasmussen and Williams 2006, eq. 2.23 to 2.30.
    """
    at = np.array(list(known), dtype=np.int64)
    values = np.log(np.array(list(known.values())))
    logs = np.log2([place.processors for place in places])
    differ = _differ(places).sum(axis=0)
    gaps = np.abs(logs[:, None] - logs[None, :])
    # a plain trend first: each word and N shift the logarithm; the process has what is left
    design = _design(places)
    weights = np.linalg.solve(
        design[at].T @ design[at] + 0.05 * np.eye(design.shape[1]), design[at].T @ (values - values.mean())
    )
    trend = design @ weights + values.mean()
    left = values - trend[at]
    best: tuple[float, Any] = (-math.inf, None)
    scale = max(float(np.var(left)), 1e-6)
    for alike, length in itertools.product(_ALIKE, _LENGTHS):
        kernel = scale * alike**differ * np.exp(-0.5 * (gaps / length) ** 2)
        part = kernel[np.ix_(at, at)] + (_NOISE * scale + 1e-9) * np.eye(len(at))
        lower = np.linalg.cholesky(part)
        solved = np.linalg.solve(lower, left)
        likelihood = -0.5 * float(solved @ solved) - float(np.log(np.diag(lower)).sum())
        if likelihood > best[0]:
            best = (likelihood, (kernel, lower, solved))
    kernel, lower, solved = best[1]
    across = np.linalg.solve(lower, kernel[at])
    spread = np.maximum(np.diag(kernel) - (across**2).sum(axis=0), 0.0)
    return Model(trend + across.T @ solved, np.sqrt(spread))


def _design(places: Sequence[Place]) -> Floats:
    """Return what shifts the logarithm of a time: each word, N and its square, in doublings."""
    columns: list[Floats] = []
    for words in zip(*(place.words for place in places), strict=True):
        columns += [np.array([one == word for one in words], dtype=np.float64) for word in dict.fromkeys(words)]
    logs = np.log2([place.processors for place in places])
    logs = logs - logs.mean()
    return np.stack([*columns, logs, logs**2 / 4], axis=1)


def following(
    places: Sequence[Place], known: Mapping[int, float], bad: Sequence[int], left: int, most: int
) -> list[int]:
    """Return which places to run next: at most *most* of the *left* runs that the bound still allows.

    *known*: seconds by place; *bad*: places whose runs failed. The better half of what was not run stays in, by what
    each may be at best, and of these the most promising run.

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
    # the last runs go to what is likely fastest, the others to what may be fastest at best
    by = model.mean if left <= most else hope
    return sorted(half, key=lambda at: by[at])[:count]


def opening(bound: int, places: int) -> int:
    """Return how many runs of a *bound* are spread over the space before the model chooses.

    Unit: runs. Source: ScaleGraph.
    """
    return min(places, max(2, round(bound * _FIRST)))


@dataclass(frozen=True)
class Left:
    """What was left out: how many places, the one most likely faster than the best by `NOTABLE`, and how likely."""

    count: int
    likeliest: int | None
    chance: float


def left_out(places: Sequence[Place], known: Mapping[int, float], bad: Sequence[int] = ()) -> Left:
    """Return what was not run, and the chance by the model that the likeliest of them is notably faster.

    Source: ScaleGraph.
    """
    rest = [at for at in range(len(places)) if at not in known and at not in set(bad)]
    if not rest or len(known) < 2:
        return Left(len(rest), None, math.nan)
    model = fit(places, known)
    wanted = math.log(min(known.values())) + math.log1p(-NOTABLE)
    chances = [_below(wanted, float(model.mean[at]), float(model.deviation[at])) for at in rest]
    best = int(np.argmax(chances))
    return Left(len(rest), rest[best], chances[best])


def _below(value: float, mean: float, deviation: float) -> float:
    """Return the chance that a normal number is below *value*."""
    if deviation <= 0:
        return float(mean < value)
    return 0.5 * math.erfc((mean - value) / (deviation * math.sqrt(2)))
