"""Selection among laws: information criteria, weights, rivals and doubt in words."""

from __future__ import annotations

import math

import numpy as np
import scipy

from scalegraph.analyze.fits.noise import RESOLUTION, Flags, Floats, Sample
from scalegraph.base.measures import percent

# A rival is plausible unless the best law beats it significantly at this level: by 6 in the criterion (evidence of 20 :
# 1) with many points, by more with few.
AGAINST = 0.0143
# Significance level required of each further coefficient.
LEVEL = 0.05
# Rivals that differ by less than this up to the horizon are equivalent.
ALIKE = 0.1
# If the best law's leave-one-out error is larger than this, it explains nothing.
POOR = 0.3
# Laws are compared up to this multiple of the largest point.
HORIZON = 4.0


def criterion(
    sample: Sample, squares: Floats, columns: Floats, pooled: Flags, first: float = LEVEL, more: float = LEVEL
) -> Floats:
    """Return the criterion by which hypotheses are compared, less is better; shape of *squares* (series, ..).

    -2 ln likelihood, plus for every coefficient beyond the first the improvement that would be significant (F test) at
    the level *first* (second coefficient) or *more* (each further one). If repetitions explain the residuals (*pooled*,
    (series,)), every repetition is an observation, otherwise every point. Infinite without a degree of freedom to
    spare. *columns* (..) are those of the hypotheses.

    Unit: none (-2 ln likelihood). Source: ScaleGraph; level by the F test.
    """
    fit, count = _deviance(sample, squares, pooled)
    penalty = np.zeros(np.broadcast_shapes(count.shape, np.shape(columns)))
    for number in range(2, int(np.max(columns)) + 1):
        left = count - number
        needed = scipy.special.fdtri(1.0, np.maximum(left, 1.0), 1.0 - (first if number == 2 else more))
        step = np.where(left >= 1, count * np.log1p(needed / np.maximum(left, 1.0)), np.inf)
        penalty = penalty + np.where(columns >= number, step, 0.0)
    enough = np.isfinite(squares) & (count > columns)
    return np.asarray(np.where(enough, fit + penalty, np.inf))


def plausible(sample: Sample, columns: Floats, pooled: Flags) -> Floats:
    """Return how far a plausible rival may be behind the best hypothesis with *columns* coefficients (series,).

    Shape: (series,). Unit: none (-2 ln likelihood). Source: ScaleGraph.
    """
    count = np.where(pooled, sample.observations, sample.points)
    left = np.maximum(count - columns, 1.0)
    return np.asarray(count * np.log1p(scipy.special.fdtri(1.0, left, 1.0 - AGAINST) / left))


def akaike(sample: Sample, squares: Floats, columns: Floats, pooled: Flags) -> Floats:
    """Return Akaike's criterion with small-sample correction, arguments as in `criterion`; infinite if undefined.

    Shape: that of *squares*. Unit: none. Source: AICc (Hurvich and Tsai 1989).
    """
    fit, count = _deviance(sample, squares, pooled)
    parameters = columns + 1.0
    room = count - parameters - 1.0
    with np.errstate(all="ignore"):
        correction = 2.0 * parameters * (parameters + 1.0) / np.where(room > 0, room, np.nan)
    return np.asarray(np.where((room > 0) & np.isfinite(squares), fit + 2.0 * parameters + correction, np.inf))


def _deviance(sample: Sample, squares: Floats, pooled: Flags) -> tuple[Floats, Floats]:
    """Return -2 ln likelihood up to a constant per series, and the number of observations."""
    extra = (slice(None),) + (None,) * (squares.ndim - 1)
    count = np.where(pooled, sample.observations, sample.points)[extra]
    total = np.where(pooled[extra], sample.within[extra] + squares, squares)
    with np.errstate(invalid="ignore"):
        return count * np.log(total / np.maximum(count, 1.0) + RESOLUTION**2), count


def adjusted_r2(sample: Sample, squares: Floats, columns: int | Floats) -> Floats:
    """Return the adjusted coefficient of determination of the weighted means, (series,).

    Shape: (series,). Unit: none. Source: Theil 1961.
    """
    weight = sample.count * sample.weight
    total_weight = np.maximum(weight.sum(axis=1), 1e-300)
    middle = (weight * sample.mean).sum(axis=1) / total_weight
    spread = (weight * (sample.mean - middle[:, None]) ** 2).sum(axis=1)
    left = sample.points - columns
    with np.errstate(all="ignore"):
        value = 1.0 - (squares / spread) * (sample.points - 1.0) / left
    value = np.where(np.abs(value) < RESOLUTION, 0.0, value)  # 0 for a constant, apart from rounding
    return np.asarray(np.where((left > 0) & (spread > 0), value, np.nan))


def evidence(scores: Floats) -> Floats:
    """Return Akaike weights of *scores* along the last axis; they add up to 1.

    Shape: that of *scores*. Unit: none (share). Source: Akaike weights (Burnham and Anderson 2002).
    """
    least = scores.min(axis=-1, keepdims=True)
    delta = np.where(np.isfinite(least), scores - np.where(np.isfinite(least), least, 0.0), 0.0)
    weight = np.exp(-0.5 * delta)
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def differ(first: Floats, second: Floats) -> Floats:
    """Return the difference of two predictions, relative to the larger.

    Shape: that of the predictions. Unit: none (relative). Source: ScaleGraph.
    """
    most = np.maximum(np.abs(first), np.abs(second))
    with np.errstate(invalid="ignore"):
        apart = np.abs(first - second) / np.where(most > 0, most, 1.0)
    return np.asarray(np.where(np.isfinite(apart), apart, 1.0))


def poor(cv_error: float, best: str) -> str:
    """Return a sentence if the best law explains nothing; otherwise empty.

    Source: ScaleGraph.
    """
    if not cv_error > POOR:
        return ""
    share = "over 1000\u00a0%" if cv_error > 10 else percent(cv_error)
    return f"Nothing explains these points: even {best} predicts each from the others with an error of {share}."


def odds(first: float, second: float) -> str:
    """Return how many times as likely *first* is as *second*: ``7``, ``70``, ``over 1000``.

    Source: ScaleGraph.
    """
    ratio = first / second if second > 0 else math.inf
    if ratio > 1000:
        return "over 1000"
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"
