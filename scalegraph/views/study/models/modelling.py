"""Shared parts of views of models: times, fits, texts and curves."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze.fits.noise import Floats
from scalegraph.base.units import significant
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.views import needs, ways

SCALING = Option(
    "scaling",
    "Scaling",
    "choice",
    "auto",
    ("auto", "strong", "weak"),
    description="strong: one problem on all N; weak: the problem grows as N; auto: as in the study, else strong",
)
TARGET = Option(
    "target", "Predict for N", "float", description="otherwise four times the largest N that was run", minimum=1
)
METRIC = Option(
    "metric",
    "Metric",
    "text",
    description="name of a metric of the set; otherwise its time, or its first",
    follows=True,
)
NEED = Need(
    "Laws need times of one problem on two or more processor counts (three give more).",
    ways.ADD_COUNTS,
    record="Measure more of them, and import all of it together.",
)
TIMES = (
    Need(
        "Laws need processor counts and elapsed time, which are not known in this set:"
        " set them when it is imported. Models of regions use its parameters as they are.",
        met=lambda data, **_: not data.table.empty or data.measured is None,
    ),
    *needs.RUNS,
)


def span(low: float, high: float, count: int = 49) -> Floats:
    """Return positions from *low* to *high*, evenly spaced in logarithms."""
    return np.geomspace(low, high, count)


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval for display: ``0.1 to 0.2``; an unbounded end is named."""
    ends = ["unbounded" if not math.isfinite(end) else significant(end, digits) for end in (low, high)]
    return f"{ends[0]} to {ends[1]}"


def floor_band(low: Floats, high: Floats, values: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return a band as a curve's low and high, none if unbounded; clipped to stay positive."""
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return (), ()
    least = 1e-3 * float(np.abs(values[np.isfinite(values)]).min(initial=np.inf))
    return tuple(np.maximum(low, least).tolist()), tuple(high.tolist())
