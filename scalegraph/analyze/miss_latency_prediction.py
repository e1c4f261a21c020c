"""Prediction of how many processors a program scales to, from its miss latency (latency-metric.txt 5.3).

The latency L_max at which the program is fastest is the most that it tolerates. The counts where the latency of
computation alone, of synchronisation alone, and the mean of both reach L_max are an optimistic, a pessimistic and a
predicted number of processors (Tables V and VI).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from scalegraph.analyze.fits.curve import student
from scalegraph.analyze.table import Floats

Way: TypeAlias = Literal["between", "below", "beyond", "open", "never", "unknown"]
_VERY = 32.0  # multiple of the largest count run; beyond it a number would be false precision
_NEAR = 2.0  # multiple of the largest count run up to which two points may be extrapolated


@dataclass(frozen=True)
class Reach:
    """Where a latency curve reaches a limit.

    *processors* is not rounded; ``None`` if unknown. *way*: ``between`` two counts run; ``below`` the smallest or
    ``beyond`` the largest; ``open`` if the curve bends too much to be extrapolated, so that only a lower bound is
    known; ``never`` if it does not rise; ``unknown`` without a curve. *low* and *high* are the 95 % interval beyond the
    runs.
    """

    processors: float | None
    way: Way
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """The result as text: ``30``, ``about 6 (below the smallest count run)``, ``very large``.

        Source: ScaleGraph.
        """
        if self.way == "open":
            least = f"more than {round(self.low)}" if self.low is not None else "not known"
            return f"{least} (beyond the largest count run the curve cannot be continued)"
        if self.processors is None:
            return "very large" if self.way in ("never", "beyond") else "not known"
        number = str(max(1, round(self.processors)))
        if self.way == "between":
            return number
        if self.way == "below":
            return f"about {number} (below the smallest count run)"
        ends = [round(end) for end in (self.low, self.high) if end is not None]
        span = f"{ends[0]} to {ends[1]}, " if len(set(ends)) == 2 else ""
        return f"about {number} ({span}beyond the largest count run)"


@dataclass(frozen=True)
class Prediction:
    """L_max (in the unit of the latencies) on *fastest* processors, and where the curves reach it.

    *reached*: larger counts than *fastest* were run and were slower; otherwise L_max may be larger.
    """

    l_max: float
    fastest: int
    reached: bool
    optimistic: Reach
    pessimistic: Reach
    predicted: Reach


def reach(processors: Sequence[int], latency: Sequence[float] | Floats, limit: float) -> Reach:
    """Return where *latency* over *processors* first rises to *limit*, interpolating in log-log.

    Both have one entry per count, ascending; missing latencies are NaN, and those of 0 or less count as missing. Beyond
    the runs the last slope is extrapolated, with the variation of the slopes between counts (Student's t): so a power
    law is extrapolated, but a flattening curve is not.

    Unit: processors. Source: latency-metric.txt 5.3, step 3; beyond the runs ScaleGraph's.
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
    return _beyond(np.log(n), np.log(value), math.log(limit))


def _beyond(log_n: Floats, log_value: Floats, log_limit: float) -> Reach:
    """Return where the last slope, and the ends of its interval by the other slopes, reach the limit."""
    slopes = np.diff(log_value) / np.diff(log_n)
    ahead = log_limit - float(log_value[-1])
    last = float(slopes[-1])

    def at(slope: float) -> float:
        return math.exp(min(700.0, float(log_n[-1]) + ahead / slope)) if slope > 0 else math.inf

    most = math.exp(float(log_n[-1]))
    number = at(last)
    if len(slopes) < 2:
        if not last > 0:
            return Reach(None, "never")
        return Reach(number, "beyond") if number <= _NEAR * most else Reach(None, "open")
    changes = np.diff(slopes)
    wide = student(0.975, float(len(changes))) * math.sqrt(float((changes**2).mean()))
    low, high = at(last + wide), at(last - wide)
    if low > _VERY * most:
        return Reach(None, "never" if not last + wide > 0 else "beyond")
    return Reach(number, "beyond", low, high) if high <= _VERY * most else Reach(None, "open", low)


def _outside(n: Floats, value: Floats, limit: float, way: Way) -> Reach:
    """Return the point on the log-log line through two points, at least one processor."""
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
    """Return the prediction by latency-metric.txt 5.3, steps 1 to 4; ``None`` without a latency at the least time.

    All have one entry per count, ascending: elapsed times (s) and average miss latencies (any one unit) of the whole
    program, of computation and of synchronisation; NaN if missing. If one kind of miss does not occur at a count, the
    mean of both is that of the other.

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
