"""A fitted linear combination of basis functions, with intervals for linear functions of its coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy

from scalegraph.analyze.fits.noise import RESOLUTION, Floats

Basis: TypeAlias = Callable[[Floats], Floats]  # (points, parameters) -> (points, columns)
Kind: TypeAlias = Literal["value", "rate"]  # rate: the combination is N/value


@dataclass(frozen=True)
class Curve:
    """A fitted curve: ``basis(x) @ theta``, or N over it for the kind ``rate``.

    *theta* obeys the law's bounds; *free* is the unconstrained solution, from which intervals are computed, so that a
    coefficient at its bound still gets an honest interval. *inverse* is (X' W X)^-1 and *sigma* the standard deviation
    at weight 1 with *freedom* degrees of freedom. *pivots* (replicates, columns) are bootstrapped (theta* -
    theta)/sigma*; without them Student's t is used, their limit for normal errors. *noise* is the relative standard
    deviation of one repetition.
    """

    basis: Basis
    theta: Floats
    free: Floats
    inverse: Floats
    sigma: float
    freedom: float
    noise: float
    confidence: float
    pivots: Floats | None = None
    kind: Kind = "value"
    floor: float = -math.inf  # lower bound of any value

    def value(self, x: Floats) -> Floats:
        """Return the curve at *x* (points, parameters).

        Shape: (points,). Unit: that of the values fitted. Source: ScaleGraph.
        """
        return self._out(self.basis(x) @ self.theta, x)

    def _out(self, combined: Floats, x: Floats) -> Floats:
        if self.kind == "value":
            return combined
        with np.errstate(all="ignore"):
            return np.asarray(np.where(combined > 0, x[:, 0] / combined, np.inf))

    def band(self, x: Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return the interval of the curve at *x*, or of the mean of *repetitions* new measurements there.

        Shape: two arrays (points,). Unit: that of the values fitted. Source: Student's t.
        """
        rows = self.basis(x)
        middle = rows @ self.free
        spread = self.spread(rows)
        low_q, high_q = self.quantiles(rows)
        if repetitions is not None:
            wide = np.hypot(spread, self.noise * np.abs(middle) / math.sqrt(repetitions))
        else:
            wide = spread
        low, high = middle + low_q * wide, middle + high_q * wide
        point = rows @ self.theta
        edge = RESOLUTION * np.abs(point)
        low, high = np.minimum(low, point - edge), np.maximum(high, point + edge)
        low = np.maximum(low, np.minimum(self.floor, point))
        if self.kind == "value":
            return low, high
        return self._out(high, x), self._out(low, x)

    def spread(self, rows: Floats) -> Floats:
        """Return the standard error of ``rows @ theta``.

        Shape: (rows,). Unit: that of the values fitted. Source: weighted least squares.
        """
        return np.asarray(self.sigma * np.sqrt(np.maximum(np.einsum("pc,cd,pd->p", rows, self.inverse, rows), 0.0)))

    def quantiles(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return how many standard errors the interval of ``rows @ theta`` extends down (negative) and up.

        Shape: two arrays (rows,). Unit: none (standard errors). Source: Student's t, or the bootstrap of
        `spread.pivots`.
        """
        tail = (1 - self.confidence) / 2
        if self.pivots is None:
            reach = student(1 - tail, self.freedom)
            return np.full(len(rows), -reach), np.full(len(rows), reach)
        unit = np.sqrt(np.maximum(np.einsum("pc,cd,pd->p", rows, self.inverse, rows), 1e-300))
        pivots = self.pivots @ rows.T / unit
        low, high = np.quantile(pivots, (tail, 1 - tail), axis=0)
        return -high, -low

    def interval(self, form: Floats, over: Floats | None = None) -> tuple[float, float]:
        """Return the interval of ``form @ theta``, or of its ratio to ``over @ theta`` (Fieller's theorem).

        If the denominator of a ratio may be 0, the ratio is unbounded: an end is infinite.

        Unit: that of the form. Source: Fieller 1954.
        """
        if over is None:
            rows = form[None, :]
            low, high = self.quantiles(rows)
            middle, spread = float(form @ self.free), float(self.spread(rows)[0])
            return middle + float(low[0]) * spread, middle + float(high[0]) * spread
        top, bottom = float(form @ self.free), float(over @ self.free)
        if bottom == 0:
            return -math.inf, math.inf
        low, high = self.quantiles((form - top / bottom * over)[None, :])
        return (
            self._fieller(form, over, float(low[0]), upper=False),
            self._fieller(form, over, float(high[0]), upper=True),
        )

    def _fieller(self, form: Floats, over: Floats, reach: float, *, upper: bool) -> float:
        """Return the end of a ratio's interval: where the ratio is *reach* standard errors from the estimate."""
        top, bottom = float(form @ self.free), float(over @ self.free)
        ratio, apart = top / bottom, form - top / bottom * over
        own = float(over @ self.inverse @ over)
        g = (reach * self.sigma / bottom) ** 2 * own
        if g >= 1 or not math.isfinite(g):
            return math.inf if upper else -math.inf
        # expanded around the ratio itself, so that narrow intervals keep their precision
        shared = float(apart @ self.inverse @ over)
        wide = float(apart @ self.inverse @ apart)
        inside = wide - g * (wide - (shared**2 / own if own > 0 else 0.0))
        root = abs(reach * self.sigma / bottom) * math.sqrt(max(inside, 0.0))
        moved = ratio - (shared / own * g / (1 - g) if own > 0 else 0.0)
        return moved + root / (1 - g) if upper else moved - root / (1 - g)

    def narrowed(self, at: Floats, target: Floats, repetitions: float = 1.0) -> Floats:
        """Return the factor (0 to 1) by which a new measurement shrinks the standard error at *target*.

        *at* (points, parameters): each row is a separate measurement of *repetitions* runs; *target* (1, parameters).
        Shape (points,). The new measurement has the relative noise of the fit.

        Unit: none (ratio). Source: least squares with one more point.
        """
        rows, goal = self.basis(at), self.basis(target)[0]
        if self.sigma == 0 or self.noise == 0:
            return np.ones(len(rows))
        predicted = np.abs(rows @ self.theta)
        # in units of sigma^2: the variance of the new mean
        new = (self.noise * predicted / self.sigma) ** 2 / repetitions
        leverage = np.einsum("pc,cd,pd->p", rows, self.inverse, rows)
        shared = rows @ self.inverse @ goal
        before = float(goal @ self.inverse @ goal)
        after = before - shared**2 / np.where(new + leverage > 0, new + leverage, np.inf)
        return np.asarray(np.sqrt(np.clip(after / before, 0.0, 1.0))) if before > 0 else np.ones(len(rows))


def student(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t; infinite with no degrees of freedom.

    Unit: none. Source: Student 1908.
    """
    return math.inf if freedom <= 0 else float(scipy.special.stdtrit(freedom, probability))
