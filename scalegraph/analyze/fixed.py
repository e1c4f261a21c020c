"""A problem of fixed size on increasing processor counts: where it is fastest, and the latency there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.metrics import CAUSES, STALL_CAUSE, overheads
from scalegraph.analyze.table import numbers


@dataclass(frozen=True)
class TurningPoint:
    """Where time is shortest (scale-graph.txt 6.3: p_x; latency-metric.txt 5.3: L_max).

    *reached*: larger counts were run and none was faster; otherwise the minimum may lie further on. *latency_s* is L(W,
    N) by accounting at p_x (by method 1 without accounts), seconds per processor.
    """

    processors: int
    time_s: float
    latency_s: float
    speedup: float
    efficiency: float
    reached: bool
    keys: str = ""


def turning_point(series: pd.DataFrame) -> TurningPoint | None:
    """Return the point of least time of one problem's rows of `metrics.scaling`; ``None`` for fewer than two N.

    Ties go to the fewest processors.

    Unit: as in `TurningPoint`. Source: scale-graph.txt 6.3 (p_x).
    """
    if series["processors"].nunique() < 2:
        return None
    ordered = series.sort_values("processors").reset_index(drop=True)
    index = int(np.argmin(numbers(ordered, "time_s")))
    row = ordered.iloc[index]
    latency = float(row["latency_s"])
    return TurningPoint(
        int(row["processors"]),
        float(row["time_s"]),
        latency if math.isfinite(latency) else float(row["latency_method1_s"]),
        float(row["speedup"]),
        float(row["efficiency"]),
        index < len(ordered) - 1,
        str(row["keys"]),
    )


@dataclass(frozen=True)
class Growth:
    """A cause of latency and its growth between two processor counts, seconds per processor."""

    cause: str
    words: str
    before_s: float
    after_s: float

    @property
    def growth_s(self) -> float:
        """Increase from the first count to the second.

        Unit: s. Source: ScaleGraph.
        """
        return self.after_s - self.before_s


def what_grows(series: pd.DataFrame, before: int, after: int) -> list[Growth]:
    """Return the causes of latency by their growth from N = *before* to N = *after*, largest first.

    *series* is one problem's rows of `metrics.scaling`. Causes unknown at either count are left out.

    Shape: one entry for each cause. Unit: s. Source: scale-graph.txt Fig. 11.
    """
    table = overheads(series).set_index("processors")
    if before not in table.index or after not in table.index:
        return []
    found = []
    for column, words in [*((cause[0], cause[1]) for cause in CAUSES), STALL_CAUSE[:2]]:
        low, high = float(table.loc[before, column]), float(table.loc[after, column])  # type: ignore[arg-type]
        if math.isfinite(low) and math.isfinite(high):
            found.append(Growth(column, words, low, high))
    return sorted(found, key=lambda growth: -growth.growth_s)
