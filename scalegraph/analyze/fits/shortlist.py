"""Shortlists: the few factors of each parameter that are worth combining, for many series at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalegraph.analyze.fits import select
from scalegraph.analyze.fits.noise import RESOLUTION, Flags, Floats, Indices, Sample
from scalegraph.analyze.fits.terms import Factor, is_falling

_FAR = select.HORIZON


def lines(points: Floats, parameter: int) -> list[Indices]:
    """Return sets of points that differ only in *parameter*, each with three or more different values of it.

    Shape: one array of positions for each line. Unit: none (positions). Source: Extra-P (Calotoiu and others 2013,
    2016).
    """
    others = np.delete(points, parameter, axis=1)
    _, label = np.unique(others, axis=0, return_inverse=True)
    found = [np.flatnonzero(label.ravel() == one) for one in range(int(label.max()) + 1)]
    return [part for part in found if len(np.unique(points[part, parameter])) >= 3]


def falls(points: Floats, sample: Sample, parameter: int, along: Sequence[Indices]) -> Flags:
    """Return which series fall along *parameter*: some later mean is clearly below the first.

    Shape: (series,). Unit: none. Source: ScaleGraph.
    """
    if not along:
        return np.ones(len(sample.mean), dtype=bool)
    drops = np.zeros((len(sample.mean), len(along)))
    for index, line in enumerate(along):
        order = line[np.argsort(points[line, parameter])]
        mean = np.where(sample.count[:, order] > 0, sample.mean[:, order], np.nan)
        known = np.isfinite(mean)
        first = np.take_along_axis(mean, known.argmax(axis=1)[:, None], axis=1)[:, 0]
        least = np.where(known, mean, np.inf).min(axis=1)
        with np.errstate(all="ignore"):
            drops[:, index] = np.nan_to_num((first - least) / np.abs(first))
    freedom = np.maximum(sample.freedom, 1.0)
    noise = np.sqrt(sample.within / freedom / np.maximum(sample.observations / np.maximum(sample.points, 1), 1.0))
    return np.asarray(np.median(drops, axis=1) > np.maximum(0.05, 3.0 * noise))


def ranked(
    points: Floats, sample: Sample, parameter: int, factors: Sequence[Factor], allowed: Flags, keep: int
) -> Indices:
    """Return for each series the *keep* best factors of *parameter*, (series, keep), as positions in *factors*.

    On every line of points that differ only in this parameter, a constant plus the factor is fitted; the residual
    squares are summed over all lines, so that sums and products with the other parameters rank alike. *allowed*
    (series, factors). Without such lines the most common exponents come first.

    Unit: none (positions). Source: after Extra-P (Calotoiu and others 2013, 2016); ScaleGraph.
    """
    keep = min(keep, len(factors))
    unusual = np.array([factor.oddness for factor in factors])
    along = lines(points, parameter)
    if not along:
        score = np.where(allowed, unusual[None], np.inf)
        return np.argsort(score, axis=1, kind="stable")[:, :keep]
    squares = np.zeros((len(sample.mean), len(factors)))
    for line in along:
        squares += _one_line(points[line, parameter], sample, line, factors)
    count = np.maximum(sample.observations, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        score = count * np.log((sample.within[:, None] + squares) / count + RESOLUTION**2) + unusual[None]
    score = np.where(allowed, score, np.inf)
    return np.argsort(score, axis=1, kind="stable")[:, :keep]


def _one_line(x: Floats, sample: Sample, line: Indices, factors: Sequence[Factor]) -> Floats:
    """Return the residual squares of a constant plus each factor on one line, (series, factors)."""
    design = np.stack([factor.at(x) for factor in factors])
    far = np.array([factor.at(np.array([_FAR * x.max()]))[0] for factor in factors])
    largest = np.abs(design).max(axis=1)
    design, far = design / largest[:, None], far / largest
    y, weight = sample.mean[:, line], (sample.count * sample.weight)[:, line]
    total = np.maximum(weight.sum(axis=1), 1e-300)
    middle_y = (weight * y).sum(axis=1) / total
    middle_t = weight @ design.T / total[:, None]
    result = np.empty((len(y), len(factors)))
    for index in range(len(factors)):
        off = design[index][None] - middle_t[:, index, None]
        right = y - middle_y[:, None]
        spread = (weight * off**2).sum(axis=1)
        slope = (weight * off * right).sum(axis=1) / np.where(spread > 0, spread, 1.0)
        left = (weight * (right - slope[:, None] * off) ** 2).sum(axis=1)
        below = middle_y + slope * (far[index] - middle_t[:, index]) < 0
        impossible = below & (y >= 0).all(axis=1)
        result[:, index] = np.where(impossible | (spread <= 0), np.inf, left)
    return result


def allowed(factors: Sequence[Factor], fall: Flags) -> Flags:
    """Return which factors each series may use, (series, factors): falling ones only where it falls.

    Unit: none. Source: ScaleGraph.
    """
    return np.asarray(~is_falling(factors)[None] | fall[:, None])
