"""The problem-ensemble space: which problems fit on a machine, and which run efficiently (isospeed.txt Fig. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds
from scalegraph.analyze.table import Floats, numbers

_ROUND = (1.0, 2.0, 5.0)


@dataclass(frozen=True)
class Curve:
    """A curve of work over processors along which a quantity has the value *level*: points (N, W) by rising N."""

    level: float
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Ensemble:
    """The N-W plane of a study.

    *communication* is the least work that keeps its level of efficiency, *memory* the largest that fits into its level
    of memory; problems between the two both fit and run efficiently. *times* (s) and *efficiencies* are contours.
    """

    communication: Curve
    memory: Curve
    times: tuple[Curve, ...]
    efficiencies: tuple[Curve, ...]

    @property
    def usable(self) -> tuple[int, ...]:
        """The processor counts at which some problem meets both bounds.

        Shape: (counts,). Unit: processors. Source: isospeed.txt Fig. 3.
        """
        least, most = dict(self.communication.points), dict(self.memory.points)
        return tuple(n for n in sorted(least.keys() & most.keys()) if least[n] <= most[n])


def ensemble(
    scaling: pd.DataFrame, efficiency: float, limit: float, *, of_memory: bool, per_processor: bool = True
) -> Ensemble:
    """Return the plane of the runs in *scaling* (`metrics.scaling`) with its two bounds and its contours.

    Below the work that keeps *efficiency* a problem is communication bound; above *limit* it is memory bound. The limit
    is in bytes if *of_memory*, otherwise in operations, for each processor (W'/N' <= W0) or for all together (W' <=
    W0). Memory is interpolated and extrapolated log-linearly from the sizes run.

    Shape: one point for each N. Unit: operations. Source: isospeed.txt III and Fig. 3.
    """
    counts = sorted({int(n) for n in scaling["processors"]})
    levels = [level for level in (0.25, 0.5, 0.75, 0.9) if abs(level - efficiency) > 0.01]
    most = [(n, work_within(scaling, limit * (n if per_processor else 1), of_memory=of_memory)) for n in counts]
    return Ensemble(
        _along(scaling, "efficiency", efficiency),
        Curve(limit, tuple((n, work) for n, work in most if np.isfinite(work) and work > 0)),
        tuple(_along(scaling, "time", level) for level in round_times(numbers(scaling, "time_s"))),
        tuple(curve for level in levels if len((curve := _along(scaling, "efficiency", level)).points) > 1),
    )


def _along(scaling: pd.DataFrame, bound: bounds.Bound, level: float) -> Curve:
    found = bounds.anchors(scaling, bound, level, way="runs")
    kept = [anchor for anchor in found if anchor.known and anchor.work]
    kept = [anchor for anchor in kept if bound != "efficiency" or anchor.processors > 1]
    return Curve(level, tuple((anchor.processors, float(anchor.work or 0.0)) for anchor in kept))


def work_within(scaling: pd.DataFrame, limit: float, *, of_memory: bool) -> float:
    """Return the work of the problem that needs *limit* bytes, or *limit* itself unless *of_memory*.

    NaN if memory is known for fewer than two sizes, or does not grow with the work.

    Unit: operations. Source: isospeed.txt III (W' <= W0).
    """
    if not of_memory:
        return limit
    memory, work = numbers(scaling, "memory_bytes"), numbers(scaling, "work")
    known = np.isfinite(memory) & (memory > 0) & np.isfinite(work) & (work > 0)
    at, first = np.unique(memory[known], return_index=True)
    if len(at) < 2:
        return float("nan")
    x, y = np.log(at), np.log(work[known][first])
    if not (np.diff(y) > 0).all():
        return float("nan")
    wanted = np.log(limit)
    place = int(np.clip(np.searchsorted(x, wanted), 1, len(x) - 1))
    slope = (y[place] - y[place - 1]) / (x[place] - x[place - 1])
    return float(np.exp(np.clip(y[place - 1] + slope * (wanted - x[place - 1]), -700, 700)))


def round_times(times: Floats | Sequence[float], count: int = 4) -> tuple[float, ...]:
    """Return at most *count* round times (1, 2, 5 times a power of ten) between the smallest and the largest.

    Shape: (times,). Unit: s. Source: ScaleGraph.
    """
    known = np.asarray(times, dtype=np.float64)
    known = known[np.isfinite(known) & (known > 0)]
    if not len(known):
        return ()
    low, high = float(known.min()), float(known.max())
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    found = [float(f"{step}e{power}") for power in powers for step in _ROUND]
    found = [value for value in found if low < value < high]
    if len(found) <= count:
        return tuple(found)
    return tuple(found[round((i + 0.5) * len(found) / count - 0.5)] for i in range(count))
