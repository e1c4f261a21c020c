"""The result of a fit: a law with coefficients, intervals, error and doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scalegraph.analyze.fits.curve import Curve
from scalegraph.analyze.fits.noise import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Coefficient:
    """A number in a law, with its interval at the fit's confidence. *meaning* describes it, with unit."""

    name: str
    value: float
    low: float
    high: float
    meaning: str = ""


@dataclass(frozen=True)
class Fit:
    """One law fitted to one series.

    *law* is its short name (``amdahl``), *formula* its text with numbers, *growth* its order (``N log N``, ``1/N``,
    ``1`` for a constant). *cv_error* is the mean relative error of each point as predicted by the others; *adjusted_r2*
    that of the weighted fit; *aicc* Akaike's criterion with small-sample correction (less is better; comparable only
    among fits of the same data); *weight* the share of the evidence by `select.criterion` among the laws fitted.
    *decided*: the points distinguish this law from every law that differs from it up to four times the largest point,
    including by predicting the largest points from the others; *doubt* says in a sentence why not, and what to measure,
    *settled* what the points do decide. *judged*: there are three different points or more; of two, no law is better
    than another, and no interval means anything. *rivals* names the laws as plausible as this one.
    """

    law: str
    title: str
    formula: str
    coefficients: tuple[Coefficient, ...]
    curve: Curve = field(repr=False)
    cv_error: float
    adjusted_r2: float
    aicc: float
    points: int
    growth: str = ""
    weight: float = 1.0
    decided: bool = True
    doubt: str = ""
    settled: str = ""
    rivals: tuple[str, ...] = ()
    reach: float = field(default=6.0, repr=False)  # rivals within this distance of its criterion are plausible
    notes: tuple[str, ...] = field(default=())
    judged: bool = True

    def predict(self, x: Sequence[float] | Floats) -> Floats:
        """Return the law at *x*: (points,) of one parameter, or (points, parameters).

        Unit: s, or that of the values fitted. Source: ScaleGraph.
        """
        return self.curve.value(_rows(x))

    def band(self, x: Sequence[float] | Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return the ends of the law's interval at *x*; with *repetitions*, for the mean of that many new measurements.

        Shape: two arrays (points,). Unit: as `predict`. Source: `Curve.band`.
        """
        return self.curve.band(_rows(x), repetitions)

    def narrowed(
        self, at: Sequence[float] | Floats, target: Sequence[float] | Floats, repetitions: float = 1.0
    ) -> Floats:
        """Return the factor by which a measurement at each of *at* shrinks the interval at *target* (one point).

        Shape: (points,). Unit: none (ratio). Source: `Curve.narrowed`.
        """
        return self.curve.narrowed(_rows(at), _rows(target), repetitions)

    def coefficient(self, name: str) -> Coefficient:
        """Return the coefficient called *name*; raise `KeyError` if there is none.

        Unit: as in `Coefficient`. Source: ScaleGraph.
        """
        for entry in self.coefficients:
            if entry.name == name:
                return entry
        raise KeyError(name)


def _rows(x: Sequence[float] | Floats) -> Floats:
    array = np.asarray(x, dtype=np.float64)
    return array.reshape(-1, 1) if array.ndim < 2 else array
