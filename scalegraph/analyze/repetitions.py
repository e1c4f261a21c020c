"""Times of a series with all repetitions, as fits need them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.fits.laws import Scaling
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import Floats, numbers

# Sizes whose work per processor deviates from that at the smallest N by at most this count as weak scaling.
_WEAK = 0.2


@dataclass(frozen=True)
class Timed:
    """Times over processor counts: *processors* (points,) ascending, *times* (points, repetitions) in s or NaN."""

    processors: Floats
    times: Floats
    label: str
    scaling: Scaling
    source: str

    @property
    def mean(self) -> Floats:
        """Mean over the repetitions, (points,).

        Shape: (points,). Unit: s. Source: ScaleGraph.
        """
        return np.asarray(np.nanmean(self.times, axis=1))

    @property
    def repetitions(self) -> int:
        """The largest number of repetitions of a point.

        Unit: none (count). Source: ScaleGraph.
        """
        return int(np.isfinite(self.times).sum(axis=1).max())


def timed(table: pd.DataFrame, series: Series, scaling: Scaling = "strong") -> Timed:
    """Return all times behind *series*, whose rows name the runs of *table* that they were condensed from.

    Shape: times are (points, repetitions). Unit: s. Source: ScaleGraph.
    """
    rows = series.rows.sort_values("processors", kind="stable")
    known = (
        {} if "key" not in table.columns else dict(zip(table["key"].astype(str), numbers(table, "time_s"), strict=True))
    )
    found: dict[int, list[float]] = {}
    for count, keys, median in zip(rows["processors"], rows["keys"], numbers(rows, "time_s"), strict=True):
        times = [known[key] for key in str(keys).split(",") if key in known]
        found.setdefault(int(count), []).extend(times or [float(median)])
    most = max(len(times) for times in found.values())
    padded = [[*times, *[np.nan] * (most - len(times))] for times in found.values()]
    source = str(rows["source"].iloc[0]) if "source" in rows.columns else "measured"
    return Timed(np.array(list(found), dtype=np.float64), np.array(padded), series.label, scaling, source)


def weak_series(scaling: pd.DataFrame) -> Series | None:
    """Return the runs whose work grows with N, one per N; None if fewer than three counts have one.

    The chain with the most counts is used; ties go to the one with the most work.

    Shape: one row for each N. Source: ScaleGraph.
    """
    rows = scaling.assign(share=numbers(scaling, "work") / numbers(scaling, "processors"))
    rows = rows[np.isfinite(numbers(rows, "share")) & (numbers(rows, "share") > 0)]
    best: pd.DataFrame | None = None
    for share in sorted(set(numbers(rows[rows["processors"] == rows["processors"].min()], "share")), reverse=True):
        apart = np.abs(numbers(rows, "share") / share - 1)
        near = rows.assign(apart=apart)[apart <= _WEAK].sort_values("apart", kind="stable")
        chain = near.drop_duplicates("processors").sort_values("processors")
        if len(chain) >= 3 and len(set(chain["problem"])) > 1 and (best is None or len(chain) > len(best)):
            best = chain
    if best is None:
        return None
    return Series(best.reset_index(drop=True), "work grows as N", "processors")
