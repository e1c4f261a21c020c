"""Error of fits: the scale of their residuals, and the bootstrap of their coefficients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from scalegraph.analyze.fits.linear import Solution
from scalegraph.analyze.fits.noise import RESOLUTION, Flags, Floats, Sample, sizes

REPLICATES = 400
# With fewer residual degrees of freedom there is too little to resample: Student's t is used instead.
_LEAST_FREEDOM = 8.0
# Level of the lack-of-fit test: a deviation of the means this unlikely by noise counts as real.
_MISFIT = 0.01


@dataclass(frozen=True)
class Scale:
    """Error of each series; every array has shape (series,).

    *sigma* is the standard deviation of a repetition at weight 1, *freedom* its degrees of freedom. *pooled*: estimated
    from repetitions and the law's residuals together; otherwise from the residuals of the means alone, because there
    are not repetitions or because the means deviate from the law by more than repetitions do.
    """

    sigma: Floats
    freedom: Floats
    pooled: Flags


def scale(sample: Sample, squares: Floats, columns: float | Floats) -> Scale:
    """Return the error of fits with *columns* coefficients and residual *squares* (series,).

    Shape: (series,) of its arrays. Unit: none (relative). Source: ScaleGraph.
    """
    squares = np.where(np.isfinite(squares), squares, 0.0)
    left = np.maximum(sample.points - columns, 0.0)
    pooled = repeats_explain(sample, squares, columns)
    freedom = np.where(pooled, sample.freedom + left, left)
    total = np.where(pooled, sample.within + squares, squares)
    sigma = np.sqrt(total / np.maximum(freedom, 1.0))
    return Scale(np.maximum(sigma, RESOLUTION), freedom, pooled)


def repeats_explain(sample: Sample, squares: Floats, columns: float | Floats) -> Flags:
    """Return whether noise between repetitions explains the deviation of the means (F test of the lack of fit).

    Shape: (series,). Unit: none. Source: F test of lack of fit.
    """
    left = np.maximum(sample.points - columns, 0.0)
    usable = (sample.freedom > 0) & (sample.within > sample.observations * RESOLUTION**2)
    ratio = (squares / np.maximum(left, 1.0)) / np.where(usable, sample.within / np.maximum(sample.freedom, 1.0), 1.0)
    chance = scipy.special.fdtrc(np.maximum(left, 1.0), np.maximum(sample.freedom, 1.0), ratio)
    return np.asarray(usable & ((left == 0) | (chance >= _MISFIT)))


def noise(sample: Sample, found: Scale) -> Floats:
    """Return the relative standard deviation of one repetition at the typical point.

    Points negligible beside the largest have no relative deviation.

    Shape: (series,). Unit: none (relative). Source: ScaleGraph.
    """
    size, known = sizes(np.where(sample.count > 0, sample.mean, 0.0))
    share = np.where(known, 1.0 / np.sqrt(np.where(sample.weight > 0, sample.weight, 1.0)), 0.0) / size
    return np.asarray(found.sigma * share.sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def pivots(
    design: Floats, sample: Sample, solution: Solution, found: Scale, replicates: int = REPLICATES, seed: int = 1
) -> Floats | None:
    """Return bootstrapped (theta* - theta)/sigma*, shape (series, replicates, columns).

    Residual bootstrap: standardised residuals of all repetitions, corrected for leverage, are redrawn for every
    repetition, and the law is fitted to each resample. NaN for series where it does not apply (see `Scale`); None if it
    applies to none. *design* (series, points, columns).

    Unit: none (standard errors). Source: residual bootstrap (Davison and Hinkley 1997, chapter 6).
    """
    usable = found.pooled & (found.freedom >= _LEAST_FREEDOM)
    if not usable.any():
        return None
    count, root = sample.count, np.sqrt(sample.weight)
    fitted = sample.mean - solution.residual
    share = solution.leverage / np.maximum(count, 1.0)
    errors = (sample.values - fitted[:, :, None]) * (root / np.sqrt(np.maximum(1.0 - share, 1e-6)))[:, :, None]
    errors = np.sort(errors.reshape(len(errors), -1), axis=1)  # missing ones go to the end
    total = sample.observations
    with np.errstate(all="ignore"):
        errors = np.nan_to_num(errors - (np.nansum(errors, axis=1) / np.maximum(total, 1))[:, None])
    most = int(count.max())
    random = np.random.default_rng(seed).random((replicates, count.shape[1], most))
    projector = np.einsum("scd,spd,sp->scp", solution.inverse, design, count * sample.weight)
    result = np.full((len(count), replicates, design.shape[-1]), np.nan)
    step = max(1, 2_000_000 // random.size)
    where = np.flatnonzero(usable)
    for start in range(0, len(where), step):
        part = where[start : start + step]
        picked = (random[None] * total[part, None, None, None]).astype(np.int64)
        drawn = np.take_along_axis(errors[part], picked.reshape(len(part), -1), axis=1).reshape(picked.shape)
        present = np.arange(most) < count[part, :, None]
        drawn = np.where(present[:, None], drawn, 0.0)
        n = np.maximum(count[part], 1.0)[:, None]
        mean = drawn.sum(axis=3) / n
        within = np.maximum((drawn**2).sum(axis=3) - n * mean**2, 0.0)  # rounding may make it negative
        weight_root = np.where(root[part] > 0, root[part], 1.0)[:, None]
        shift = mean / weight_root
        theta = np.einsum("scp,sbp->sbc", projector[part], shift)
        left = (shift - np.einsum("spc,sbc->sbp", design[part], theta)) * root[part][:, None]
        squares = within.sum(axis=2) + (count[part][:, None] * left**2).sum(axis=2)
        sigma = np.sqrt(squares / found.freedom[part][:, None])
        result[part] = theta / np.maximum(sigma, 1e-300)[:, :, None]
    return result


def one_pivots(drawn: Floats | None, series: int) -> Floats | None:
    """Return the replicates of one series; None if the bootstrap does not apply to it.

    Shape: (replicates, columns). Unit: none (standard errors). Source: ScaleGraph.
    """
    return None if drawn is None or math.isnan(float(drawn[series, 0, 0])) else drawn[series]
