"""Whether the points decide for a hypothesis: a prediction test at the far end, and the average over all hypotheses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scalegraph.analyze.fits import select
from scalegraph.analyze.fits.averaging import Averaged, averaged
from scalegraph.analyze.fits.curve import Curve, student
from scalegraph.analyze.fits.linear import Solution, solve
from scalegraph.analyze.fits.noise import Flags, Floats, Sample

# The points decide nothing with fewer different places, or fewer spare degrees of freedom.
LEAST_PLACES = 4
SPARE = 2
# Significance level: a prediction fails if chance alone misses by as much in 1 of 20 cases.
_FAILED = 0.05
_EXACT = 1e-6  # relative: no measurement resolves less
# Probability required for the value at the horizon to be within `select.ALIKE` of the best hypothesis's prediction.
_SURE = 0.95


@dataclass(frozen=True)
class PredictiveCurve(Curve):
    """A chosen hypothesis whose band includes the doubt about the hypothesis itself (see `averaging`).

    It was fitted to *values* at *places* (points,).
    """

    places: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    values: Sample | None = field(default=None, repr=False)

    @cached_property
    def averaged(self) -> Averaged | None:
        """The average over all hypotheses; ``None`` if unknown.

        Source: `averaging.averaged`.
        """
        return None if self.values is None else averaged(self.places, self.values)

    def band(self, x: Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return the interval at *x*; see `Averaged.band`.

        Shape: two arrays (points,). Unit: that of the values fitted. Source: `Averaged.band`.
        """
        together = self.averaged
        if together is None:
            return super().band(x, repetitions)
        low, high = together.band(x[:, 0], self.confidence, repetitions)
        point = self.value(x)
        return np.minimum(low, point), np.maximum(high, point)

    def settled(self, far: float) -> bool:
        """Return whether the value at *far* is almost certainly this hypothesis's prediction, within `select.ALIKE`.

        Source: ScaleGraph.
        """
        together = self.averaged
        return together is not None and sure(together, far, float(self.value(np.array([[far]]))[0]))


def sure(together: Averaged, far: float, value: float) -> bool:
    """Return whether the curve at *far* is almost certainly *value*, within `select.ALIKE`.

    Source: ScaleGraph.
    """
    return value > 0 and together.inside(far, (1 - select.ALIKE) * value, value / (1 - select.ALIKE)) >= _SURE


def far_end(places: Floats) -> Flags:
    """Return which points are at the far end: the last place, or the last quarter of eight or more.

    Shape: (points,). Unit: none. Source: ScaleGraph.
    """
    different = np.unique(places)
    return np.asarray(np.isin(places, different[-max(1, len(different) // 4) :]))


def predicts(
    design: Floats,
    sample: Sample,
    hidden: Flags,
    noise: tuple[float, float],
    fit: Callable[[Floats, Floats, Floats], tuple[Solution, tuple[int, ...]]] | None = None,
) -> bool:
    """Return whether a hypothesis, fitted to the other points, predicts the *hidden* ones.

    *design* (points, columns) is that of the one series in *sample*; *noise* is the relative deviation of one
    repetition at weight 1 with its degrees of freedom, taken from the best hypothesis, so that a bad one cannot excuse
    itself by its own residuals. *fit* solves for design, values and weights, and returns the columns used (default:
    least squares). Too few points to predict anything count as success.

    Unit: none. Source: prediction intervals of least squares.
    """
    weight, mean = (sample.count * sample.weight)[0], sample.mean[0]
    shown = ~hidden & (weight > 0)
    hidden = hidden & (weight > 0)
    if not hidden.any() or shown.sum() < design.shape[1]:
        return True
    found, used = (
        (solve(design[shown], mean[shown], weight[shown]), tuple(range(design.shape[1])))
        if fit is None
        else fit(design[shown], mean[shown], weight[shown])
    )
    if not bool(found.valid):
        return True
    rows = design[hidden][:, list(used)]
    sigma, freedom = noise
    variance = np.einsum("pc,cd,pd->p", rows, found.inverse, rows) + 1.0 / weight[hidden]
    error = np.maximum(sigma * np.sqrt(np.maximum(variance, 0.0)), _EXACT * np.abs(mean[hidden]))
    # the level is shared among as many tests as there are hidden points
    reach = student(1.0 - _FAILED / 2 / len(error), max(freedom, 1.0))
    return bool((np.abs(rows @ found.theta - mean[hidden]) <= reach * error).all())
