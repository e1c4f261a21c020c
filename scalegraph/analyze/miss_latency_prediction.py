"""To how many processors a program will scale, from the latency of its misses (latency-metric.txt 5.3).

The latency L_max at which the program is fastest is the most that it stands. Where the latency of computation alone,
that of synchronisation alone, and the mean of both reach it are an optimistic, a pessimistic and a predicted number of
processors (Tables V and VI).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from scalegraph.analyze.table import Floats

Way: TypeAlias = Literal["between", "below", "beyond", "never", "unknown"]
_VERY = 32.0  # times the most processors that were run: further on, a number would only pretend


@dataclass(frozen=True)
class Reach:
    """Where a curve of latencies reaches a limit.

    *processors* is not rounded; ``None`` where there is no number. *way*: ``between`` two counts that were run;
    ``below`` the fewest or ``beyond`` the most of them, then on the straight line through the curve in logarithms;
    ``never`` on such a line; ``unknown`` without a curve.
    """

    processors: float | None
    way: Way

    @property
    def words(self) -> str:
        """For display: ``30``, ``about 6 (below the smallest count run)``, ``very large``.

        Source: ScaleGraph.
        """
        if self.processors is None:
            return "very large" if self.way in ("never", "beyond") else "not known"
        number = str(max(1, round(self.processors)))
        if self.way == "between":
            return number
        return f"about {number} ({'below the smallest' if self.way == 'below' else 'beyond the largest'} count run)"


@dataclass(frozen=True)
class Prediction:
    """L_max (in the unit of the latencies) on *fastest* processors, and where the curves reach it.

    *reached*: more processors than *fastest* were run and were slower; otherwise L_max may be larger.
    """

    l_max: float
    fastest: int
    reached: bool
    optimistic: Reach
    pessimistic: Reach
    predicted: Reach


def reach(processors: Sequence[int], latency: Sequence[float] | Floats, limit: float) -> Reach:
    """Return where *latency* over *processors* first rises to *limit*, on straight lines in both logarithms.

    Both have one entry for each count, in rising order; missing latencies are NaN. Latencies of 0 or less count as
    missing.

    Unit: processors. Source: latency-metric.txt 5.3, step 3.
    """
    n, value = np.asarray(processors, dtype=np.float64), np.asarray(latency, dtype=np.float64)
    known = np.isfinite(value) & (value > 0)
    n, value = n[known], value[known]
    if len(n) == 0 or not (math.isfinite(limit) and limit > 0):
        return Reach(None, "unknown")
    for i in range(len(n) - 1):
        if value[i] <= limit < value[i + 1] or (value[i] < limit <= value[i + 1]):
            share = math.log(limit / value[i]) / math.log(value[i + 1] / value[i])
            return Reach(float(n[i] * (n[i + 1] / n[i]) ** share), "between")
    if len(n) == 1:
        return Reach(float(n[0]), "between") if value[0] == limit else Reach(None, "unknown")
    if value[0] > limit:
        return _outside(n[:2], value[:2], limit, "below")
    slope, start = np.polyfit(np.log(n), np.log(value), 1)
    if not slope > 0:
        return Reach(None, "never")
    at = math.exp(min(700.0, (math.log(limit) - float(start)) / float(slope)))
    return Reach(max(at, float(n[-1])), "beyond") if at <= _VERY * n[-1] else Reach(None, "beyond")


def _outside(n: Floats, value: Floats, limit: float, way: Way) -> Reach:
    """Return the place on the line through two points in logarithms, at least one processor."""
    slope = math.log(value[1] / value[0]) / math.log(n[1] / n[0])
    if not slope > 0:
        return Reach(1.0, way)
    return Reach(max(1.0, float(n[0]) * math.exp(math.log(limit / value[0]) / slope)), way)


def predict(
    processors: Sequence[int],
    time_s: Sequence[float] | Floats,
    program: Sequence[float] | Floats,
    computation: Sequence[float] | Floats,
    synchronisation: Sequence[float] | Floats,
) -> Prediction | None:
    """Return the prediction of latency-metric.txt 5.3, steps 1 to 4; ``None`` without a latency at the least time.

    All have one entry for each count in rising order: elapsed times (s) and average miss latencies (any one unit) of
    the whole program, of computation and of synchronisation; NaN is missing. Where one kind of miss does not occur at
    a count, the mean of both is that of the other.

    Unit: processors. Source: as named above.
    """
    times, whole = np.asarray(time_s, dtype=np.float64), np.asarray(program, dtype=np.float64)
    if not np.isfinite(times).any():
        return None
    at = int(np.nanargmin(times))
    limit = float(whole[at])
    if not math.isfinite(limit):
        return None
    parts = np.vstack([computation, synchronisation]).astype(np.float64)
    counted = np.isfinite(parts).sum(axis=0)
    mean = np.where(counted > 0, np.nansum(parts, axis=0) / np.maximum(counted, 1), np.nan)
    return Prediction(
        limit,
        int(processors[at]),
        at < len(times) - 1,
        reach(processors, parts[0], limit),
        reach(processors, parts[1], limit),
        reach(processors, mean, limit),
    )
