"""Back-tests: what would have been predicted for the largest points, had they not been measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalegraph.analyze.fits.fit import CONFIDENCE, Fit
from scalegraph.analyze.fits.lawfit import fit_laws
from scalegraph.analyze.fits.laws import Scaling
from scalegraph.analyze.fits.models import fit_models
from scalegraph.analyze.fits.modelset import Models
from scalegraph.analyze.fits.noise import Floats


@dataclass(frozen=True)
class BackTest:
    """A prediction for a hidden point beside what was measured there.

    *at* is N; *low* and *high* the interval for the mean of as many repetitions as were measured; *error* is
    predicted/measured - 1. *best* marks the law chosen from the remaining points.
    """

    law: str
    title: str
    formula: str
    at: float
    measured: float
    predicted: float
    low: float
    high: float
    best: bool

    @property
    def error(self) -> float:
        """Relative error; positive for an overestimate.

        Unit: none (relative). Source: ScaleGraph.
        """
        return self.predicted / self.measured - 1 if self.measured else float("nan")

    @property
    def inside(self) -> bool:
        """Whether the interval holds the measured value.

        Source: ScaleGraph.
        """
        return self.low <= self.measured <= self.high


def back_test(
    processors: Sequence[float] | Floats,
    times: Sequence[Sequence[float]] | Floats,
    *,
    hide: int = 1,
    scaling: Scaling = "strong",
    confidence: float = CONFIDENCE,
) -> list[BackTest]:
    """Hide the *hide* largest N, fit every law to the rest, and return their predictions there, best law first.

    Arguments as in `fit_laws`. Empty if fewer than two different N would be left.

    Shape: one entry for each law and hidden N. Unit: s. Source: as Extra-P evaluates models (Calotoiu and others 2013);
    ScaleGraph.
    """
    n = np.asarray(processors, dtype=np.float64)
    values = np.asarray(times, dtype=np.float64)
    values = values.reshape(len(n), -1) if len(n) else np.empty((0, 1))
    hidden = np.isin(n, np.unique(n)[-hide:]) if hide > 0 else np.zeros(len(n), dtype=bool)
    fits = fit_laws(n[~hidden], values[~hidden], scaling=scaling, confidence=confidence)
    found = []
    for rank, fit in enumerate(fits):
        for at, row in zip(n[hidden], values[hidden], strict=True):
            found.extend(_tested(fit, float(at), row, best=rank == 0))
    return found


def _tested(fit: Fit, at: float, row: Floats, *, best: bool) -> list[BackTest]:
    known = row[np.isfinite(row)]
    if not len(known):
        return []
    low, high = fit.band([at], len(known))
    predicted = float(fit.predict([at])[0])
    measured = float(known.mean())
    return [
        BackTest(fit.law, fit.title, fit.formula, at, measured, predicted, float(low[0]), float(high[0]), best=best)
    ]


@dataclass(frozen=True)
class ModelBackTest:
    """Back-test of many series: arrays (series, hidden points). *models* were fitted without the hidden *points*."""

    models: Models
    points: Floats
    measured: Floats
    predicted: Floats
    low: Floats
    high: Floats

    @property
    def error(self) -> Floats:
        """Relative errors, NaN where nothing was measured.

        Shape: (series, points). Unit: none (relative). Source: ScaleGraph.
        """
        with np.errstate(all="ignore"):
            return np.asarray(np.where(self.measured != 0, self.predicted / self.measured - 1, np.nan))

    @property
    def inside(self) -> Floats:
        """1 where the interval contains the measured value, 0 where it does not, NaN where nothing was measured.

        Shape: (series, points). Unit: none (0 or 1). Source: ScaleGraph.
        """
        held = (self.low <= self.measured) & (self.measured <= self.high)
        return np.where(np.isfinite(self.measured), held, np.nan)


def back_test_models(
    points: Floats,
    values: Floats,
    *,
    hide: int = 1,
    parameter: int = 0,
    parameters: Sequence[str] = (),
    confidence: float = CONFIDENCE,
) -> ModelBackTest | None:
    """Hide the points with the *hide* largest values of a *parameter*, model the rest, and predict them.

    Arguments as in `fit_models`. None if fewer than three different values would be left.

    Shape: (series, points) of its arrays. Unit: that of *values*. Source: ScaleGraph.
    """
    x = np.asarray(points, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    y = np.asarray(values, dtype=np.float64)
    y = y[:, :, None] if y.ndim == 2 else y
    places = np.unique(x[:, parameter])
    if hide < 1 or len(places) - hide < 3:
        return None
    hidden = np.isin(x[:, parameter], places[-hide:])
    models = fit_models(x[~hidden], y[:, ~hidden], parameters=parameters, confidence=confidence, bootstrap=False)
    known = np.isfinite(y[:, hidden])
    count = known.sum(axis=2)
    mean = np.where(count > 0, np.where(known, y[:, hidden], 0.0).sum(axis=2) / np.maximum(count, 1), np.nan)
    low, high = models.band(x[hidden], float(max(1, np.median(count))))
    return ModelBackTest(models, x[hidden], mean, models.predict(x[hidden]), low, high)
