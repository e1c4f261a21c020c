"""Which law the points support: information criteria, weights, rivals and doubt in words."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze.fits.noise import RESOLUTION, Flags, Floats, Sample

# Rivals within this of the best count as plausible (evidence less than about 20 : 1).
PLAUSIBLE = 6.0
# A further coefficient must win by this more than Akaike asks: then it is significant at 5 %.
FRUGAL = 2.0
# Rivals that differ by less than this up to the horizon say the same.
ALIKE = 0.1
# Laws are compared up to so many times the largest point.
HORIZON = 4.0


def criterion(sample: Sample, squares: Floats, columns: int | Floats, pooled: Flags) -> Floats:
    """Return Akaike's criterion with small-sample correction, shape of *squares* (series, ..).

    Where repetitions explain the residuals (*pooled*, (series,)) every repetition is an observation, else every point.
    Infinite where there are not more of them than coefficients; the correction stays finite where there is one more.
    """
    extra = (slice(None),) + (None,) * (squares.ndim - 1)
    count = np.where(pooled, sample.observations, sample.points)[extra]
    total = np.where(pooled[extra], sample.within[extra] + squares, squares)
    parameters = columns + 1.0
    room = np.where(count > columns, np.maximum(count - parameters - 1.0, 0.5), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = count * np.log(total / np.maximum(count, 1.0) + RESOLUTION**2)
        correction = 2.0 * parameters * (parameters + 1.0) / np.where(room > 0, room, np.nan)
        result = fit + 2.0 * parameters + correction
    return np.asarray(np.where((room > 0) & np.isfinite(squares), result, np.inf))


def adjusted_r2(sample: Sample, squares: Floats, columns: int | Floats) -> Floats:
    """Return the adjusted coefficient of determination of the weighted means, (series,)."""
    weight = sample.count * sample.weight
    total_weight = np.maximum(weight.sum(axis=1), 1e-300)
    middle = (weight * sample.mean).sum(axis=1) / total_weight
    spread = (weight * (sample.mean - middle[:, None]) ** 2).sum(axis=1)
    left = sample.points - columns
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 1.0 - (squares / spread) * (sample.points - 1.0) / left
    return np.asarray(np.where((left > 0) & (spread > 0), value, np.nan))


def evidence(scores: Floats) -> Floats:
    """Return Akaike weights of *scores* along the last axis; they add up to 1."""
    least = scores.min(axis=-1, keepdims=True)
    delta = np.where(np.isfinite(least), scores - np.where(np.isfinite(least), least, 0.0), 0.0)
    weight = np.exp(-0.5 * delta)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def differ(first: Floats, second: Floats) -> Floats:
    """Return how far two predictions are apart, relative to the larger."""
    most = np.maximum(np.abs(first), np.abs(second))
    with np.errstate(invalid="ignore"):
        apart = np.abs(first - second) / np.where(most > 0, most, 1.0)
    return np.asarray(np.where(np.isfinite(apart), apart, 1.0))


def odds(first: float, second: float) -> str:
    """Return how many times as likely *first* is as *second*: ``7``, ``70``, ``over 1000``."""
    ratio = first / second if second > 0 else math.inf
    if ratio > 1000:
        return "over 1000"
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"
