"""Which bars are named on an axis too short for all names; the largest bar always is."""

from __future__ import annotations

import math

from scalegraph.figures.figure import Bars


def largest(bars: Bars | None) -> int:
    """Return the axis position of the largest stack of *bars*, -1 if there is none."""
    if bars is None or not bars.series:
        return -1
    sums = [
        sum(abs(heights[i]) for _, _, heights in bars.series if i < len(heights) and math.isfinite(heights[i]))
        for i in range(len(bars.x))
    ]
    return round(bars.x[sums.index(max(sums))]) if sums and max(sums) > 0 else -1


def every(count: int, step: int, first: int = -1) -> list[int]:
    """Return every *step*-th of *count* positions, and *first* in place of any that are too near to it."""
    kept = range(0, count, max(1, step))
    if not 0 <= first < count or first in kept:
        return list(kept)
    return sorted([first, *(i for i in kept if abs(i - first) >= step)])
