"""Distribution-free intervals of medians."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

_SURE = 0.95


def median_interval(values: Sequence[float], sure: float = _SURE) -> tuple[float, float, float]:
    """Return two of *values* that enclose the median with confidence *sure* or more, and the actual confidence.

    Fewer than six values cannot reach 0.95: then it is the whole range, with its own confidence.

    Shape: (low, high, confidence). Unit: that of *values*; confidence none. Source: ScaleGraph (order statistics).
    """
    ordered = sorted(values)
    number = len(ordered)
    out, tail = 0, 1 / 2**number  # the chance that so few values are below the median
    while out + 1 < number // 2 and 1 - 2 * (tail + comb(number, out + 1) / 2**number) >= sure:
        out += 1
        tail += comb(number, out) / 2**number
    return ordered[out], ordered[-1 - out], 1 - 2 * tail
