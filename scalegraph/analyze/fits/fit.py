"""The result of a fit: a law with its coefficients, their intervals, its error and its doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scalegraph.analyze.fits.curve import Curve
from scalegraph.analyze.fits.noise import Floats

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Coefficient:
    """A number of a law with the interval at the fit's confidence. *meaning* in words, with unit."""

    name: str
    value: float
    low: float
    high: float
    meaning: str = ""


@dataclass(frozen=True)
class Fit:
    """One law fitted to one series.

    *law* is its short name (``amdahl``), *formula* its text with numbers, *growth* its order (``N log N``, ``1/N``,
    ``1`` for what stays). *cv_error* is the mean relative error of each point as predicted by the others; *adjusted_r2*
    of the weighted fit; *aicc* Akaike's criterion with its small-sample correction (less is better, comparable among
    the fits of the same data only); *weight* the share of the evidence by `select.criterion` among what was fitted.
    *decided*: the points distinguish this law from all that differ from it up to four times the largest point, also
    where they must predict the largest from the others; *doubt* says in a sentence why not, and what to measure, and
    *settled* what the points decide. *rivals* are the names of laws as plausible as this one.
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
    reach: float = field(default=6.0, repr=False)  # rivals within this of its criterion are plausible
    notes: tuple[str, ...] = field(default=())

    def predict(self, x: Sequence[float] | Floats) -> Floats:
        """Return the law at *x*: (points,) of one parameter, or (points, parameters).

        Unit: s, or that of the values fitted. Source: ScaleGraph.
        """
        return self.curve.value(_rows(x))

    def band(self, x: Sequence[float] | Floats, repetitions: float | None = None) -> tuple[Floats, Floats]:
        """Return low and high of the law at *x*; with *repetitions* of the mean of so many new measurements there.

        Shape: two arrays (points,). Unit: as `predict`. Source: `Curve.band`.
        """
        return self.curve.band(_rows(x), repetitions)

    def narrowed(
        self, at: Sequence[float] | Floats, target: Sequence[float] | Floats, repetitions: float = 1.0
    ) -> Floats:
        """Return by what factor the interval at *target* (one point) shrinks by a measurement at each of *at*.

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
