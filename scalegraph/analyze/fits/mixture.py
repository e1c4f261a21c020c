"""Intervals of a mixture of Student's t distributions: the combined prediction of rival hypotheses."""

from __future__ import annotations

import numpy as np
import scipy

from scalegraph.analyze.fits.noise import Floats

_STEPS = 40


def mixture_band(
    middle: Floats, error: Floats, freedom: Floats, share: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return the central interval of each mixture, two arrays (series, points).

    *middle*, *error* (series, parts, points), *freedom*, *share* (series, parts); parts with share 0 do not count. The
    interval is infinite if the chosen part (the first) has no degrees of freedom.

    Unit: that of *middle*. Source: model averaging (Burnham and Anderson 2002).
    """
    tail = (1 - confidence) / 2
    counted = share > 0
    safe = np.maximum(freedom, 1.0)[:, :, None]
    reach = scipy.special.stdtrit(safe, 1 - tail) * error * 1.0001
    low = np.where(counted[:, :, None], middle - reach, np.inf).min(axis=1)
    high = np.where(counted[:, :, None], middle + reach, -np.inf).max(axis=1)
    alone = counted.sum(axis=1) == 1
    ends = []
    for goal in (tail, 1 - tail):
        a, b = low.copy(), high.copy()
        if not alone.all():
            for _ in range(_STEPS):
                centre = (a + b) / 2
                score = (centre[:, None] - middle) / np.where(error > 0, error, 1e-300)
                below = (share[:, :, None] * scipy.special.stdtr(safe, np.clip(score, -1e8, 1e8))).sum(axis=1) < goal
                a, b = np.where(below, centre, a), np.where(below, b, centre)
            ends.append((a + b) / 2)
        else:
            ends.append(a if goal < 0.5 else b)
    least, most = ends
    least = np.where(alone[:, None], low, least)
    most = np.where(alone[:, None], high, most)
    unknown = (freedom[:, 0] <= 0)[:, None]
    point = middle[:, 0]
    return np.where(unknown, -np.inf, np.minimum(least, point)), np.where(unknown, np.inf, np.maximum(most, point))
