"""Repetitions condensed: means, weights, and the noise estimated from repetitions alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Indices: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# A point's own spread over few repetitions is a poor estimate of its noise, so it is averaged with the relative noise
# pooled over all points, which counts as this many repetitions: few if the noise differs between points (Bartlett's
# test at 1 %), otherwise many.
PRIOR_FREEDOM = (4.0, 60.0)
_UNEQUAL = 0.01
# Values far below the largest are treated as this share of it: near zero a relative error means nothing.
LEAST_SHARE = 1e-3
# Rounding: relative difference below the resolution of any measurement.
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Sample:
    """Repeated values of several series at the same points.

    *mean* and *count* have shape (series, points); a point missing from a series has count 0 and mean 0. *weight* is
    that of one repetition: 1/(scale of the noise there)^2, up to a factor common to all points of a series. Noise is
    taken as proportional to the value. *within* is the weighted sum of squares of the repetitions around their means,
    shape (series,), with *freedom* degrees of freedom. *values* are the repetitions, NaN if missing.
    """

    values: Floats
    mean: Floats
    count: Floats
    weight: Floats
    within: Floats
    freedom: Floats

    @property
    def points(self) -> Floats:
        """Number of points of each series, shape (series,).

        Unit: none (count). Source: ScaleGraph.
        """
        return np.asarray((self.count > 0).sum(axis=1), dtype=np.float64)

    @property
    def observations(self) -> Floats:
        """Number of values of each series, shape (series,).

        Unit: none (count). Source: ScaleGraph.
        """
        return np.asarray(self.count.sum(axis=1), dtype=np.float64)

    def only(self, series: Indices | slice) -> Sample:
        """Return some of the series.

        Shape: (chosen series, points). Unit: as here. Source: ScaleGraph.
        """
        parts = (self.values, self.mean, self.count, self.weight, self.within, self.freedom)
        return Sample(*(part[series] for part in parts))


def sizes(values: Floats) -> tuple[Floats, Flags]:
    """Return the scale to which errors of *values* (.., points) are relative, and where there is one.

    Values negligible beside the largest of their series have no scale; it is set to 1 there.

    Shape: two arrays (.., points). Unit: that of *values*. Source: ScaleGraph.
    """
    size = np.abs(values)
    known = size > RESOLUTION * size.max(axis=-1, keepdims=True, initial=0.0)
    return np.where(known, size, 1.0), known


def condense(values: Floats) -> Sample:
    """Return means, counts and weights of *values*, shape (series, points, repetitions), NaN for missing ones.

    Shape: (series, points) of its arrays. Unit: that of *values*. Source: ScaleGraph.
    """
    known = np.isfinite(values)
    count = known.sum(axis=2).astype(np.float64)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=2) / np.maximum(count, 1.0)
    scale = np.maximum(np.abs(mean), LEAST_SHARE * np.abs(mean).max(axis=1, keepdims=True, initial=0.0))
    scale = np.where(scale > 0, scale, 1.0)
    squares = np.where(known, (filled - mean[:, :, None]) / scale[:, :, None], 0.0) ** 2
    own = squares.sum(axis=2)
    own_freedom = np.maximum(count - 1.0, 0.0)
    freedom = own_freedom.sum(axis=1)
    shared = own.sum(axis=1) / np.maximum(freedom, 1.0)
    known_noise = (shared > RESOLUTION**2)[:, None]
    share = own / np.where(known_noise, shared[:, None], 1.0)
    prior = np.where(_unequal(share, own_freedom), *PRIOR_FREEDOM)[:, None]
    moderated = np.where(known_noise, (prior + share) / (prior + own_freedom), 1.0)
    weight = np.where(count > 0, 1.0 / (scale**2 * moderated), 0.0)
    within = (own / moderated).sum(axis=1)
    return Sample(np.where(known, values, np.nan), mean, count, weight, within, freedom)


def _unequal(share: Floats, freedom: Floats) -> Flags:
    """Return which series have noise that differs between points, by Bartlett's test.

    *share* (series, points) are sums of squares in units of the pooled variance, with *freedom* degrees each.
    """
    total = freedom.sum(axis=1)
    groups = (freedom > 0).sum(axis=1)
    own = np.maximum(share / np.maximum(freedom, 1.0), 0.01)  # a spread of 0 is rounding
    inverse = np.where(freedom > 0, 1.0 / np.maximum(freedom, 1.0), 0.0).sum(axis=1)
    correction = 1.0 + (inverse - 1.0 / np.maximum(total, 1.0)) / (3.0 * np.maximum(groups - 1, 1))
    statistic = -(freedom * np.log(own)).sum(axis=1) / correction
    return np.asarray(
        (groups > 1) & (scipy.special.chdtrc(np.maximum(groups - 1, 1), np.maximum(statistic, 0.0)) < _UNEQUAL)
    )
