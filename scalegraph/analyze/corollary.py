"""Corollary 1 of isospeed.txt as a test of the hypothesis that psi(N, N') stays above a constant as N' grows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import scipy

from scalegraph.analyze.matrix import Matrix
from scalegraph.base.units import significant

LEVEL = 0.05  # significance level
_FEWEST = 4  # minimum number of psi values in a row
_COLUMNS = ("n", "values", "slope", "slope_low", "p_value", "verdict")


def tends_to_zero(made: Matrix) -> pd.DataFrame:
    """Return for every N whether psi(N, N') tends to 0 as N' grows (isospeed.txt Corollary 1), from its row.

    By eq. 5 psi is bounded by a constant over t_o(N'), so 1/psi grows as t_o does, without limit if t_o does. Columns:
    ``n``; ``values`` in the row, including the diagonal's 1; ``slope`` d of 1/psi = c + d log2 N' by least squares;
    ``slope_low`` its lower one-sided 95 % bound; ``p_value`` of d = 0 (psi stays above a constant) against d > 0, by
    Student's t; ``verdict``. Rows with fewer than four values are left out.

    Shape: one row for each N. Unit: none (ratios). Source: as named above; the test is ScaleGraph's.
    """
    rows = []
    for n in made.processors:
        known = [(n2, value) for n2, value in made.row(n) if value is not None and value > 0]
        if len(known) < _FEWEST:
            continue
        x, y = np.log2([n2 for n2, _ in known]), np.array([1 / value for _, value in known])
        slope, low, p_value = _slope(x, y)
        rows.append((n, len(known), slope, low, p_value, _words(slope, p_value)))
    return pd.DataFrame(rows, columns=pd.Index(_COLUMNS))


def _slope(
    x: np.ndarray[tuple[int], np.dtype[np.float64]], y: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> tuple[float, float, float]:
    """Return the slope of y over x, its lower bound, and the probability of such a slope by chance."""
    slope, start = (float(value) for value in np.polyfit(x, y, 1))
    freedom = len(x) - 2
    error = math.sqrt(float(np.sum((y - start - slope * x) ** 2)) / freedom / float(np.sum((x - x.mean()) ** 2)))
    if error <= 1e-12 * max(abs(slope), float(np.abs(y).max())):
        return slope, slope, 0.0 if slope > 1e-12 else 1.0
    reach = float(scipy.special.stdtrit(freedom, 1 - LEVEL)) * error
    return slope, slope - reach, float(scipy.special.stdtr(freedom, -slope / error))


def _words(slope: float, p_value: float) -> str:
    if p_value < LEVEL:
        return (
            f"1/scalability grows by {significant(slope)} at each doubling (p = {significant(p_value, 1)}):"
            " the scalability tends to 0"
        )
    shown = f"1/scalability does not grow significantly (p = {significant(p_value, 2)})"
    return f"{shown}: the scalability may stay above a constant"
