"""Values of the call tree: one metric for every call path at one point, and its share of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scalegraph.analyze.calltree import point_of
from scalegraph.base.measures import percent
from scalegraph.base.units import assigned, si, significant

if TYPE_CHECKING:
    from scalegraph.measurements.mapping import Mapping as Meaning
    from scalegraph.measurements.model import MeasurementSet

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class CallValues:
    """*values* and *shares* by call path; a share is 0 to 1 of the whole program, NaN if not measured.

    *point* describes the point; *repetitions* is the maximum number per value.
    """

    metric: str
    unit: str
    point: str
    values: Numbers
    shares: Numbers
    repetitions: int = 1
    summed: bool = False  # whether shares are inclusive

    def text(self, path: int) -> str:
        """Return the value at *path* with its unit."""
        value = float(self.values[path])
        if not np.isfinite(value):
            return "–"
        return si(value, self.unit) if self.unit in ("s", "B", "") else f"{significant(value, 3)} {self.unit}"

    def share_text(self, path: int) -> str:
        """Return the share at *path*."""
        return percent(float(self.shares[path]), 1)


def call_values(
    measured: MeasurementSet, metric: str, processors: int | None, meaning: Meaning | None = None
) -> CallValues | None:
    """Return *metric* on *processors*, or on the most; *meaning* names their parameter and the unit of time.

    Of several points with that count, the one with the largest other parameters is used, and the median of its
    repetitions.
    """
    if not len(measured.points) or not measured.call_paths:
        return None
    known = {item.name: index for index, item in enumerate(measured.metrics)}
    if metric not in known:
        return None
    counts = meaning.processors if meaning is not None else ""
    table = measured.values
    mine = table[table["metric"].to_numpy() == known[metric]]
    point = point_of(measured, mine["point"].to_numpy(), processors, counts)
    if point is None:
        return None
    mine = mine[mine["point"].to_numpy() == point]
    grouped = mine.groupby("call_path", observed=True)["value"]
    values = np.full(len(measured.call_paths), np.nan)
    medians = grouped.median()
    values[medians.index.to_numpy(dtype=int)] = medians.to_numpy(dtype=float)
    repetitions = int(grouped.size().max()) if len(mine) else 1
    reported = measured.metrics[known[metric]]
    summed = reported.extent == "exclusive" and reported.kind != "ratio"
    row = measured.points.iloc[point]
    words = assigned((name, row[name]) for name in measured.parameters)
    shares = _shares(_parents(measured), values, summed=summed, ratio=reported.kind == "ratio")
    unit = reported.unit or (meaning.unit if meaning is not None and meaning.time == metric else "")
    return CallValues(metric, unit, words, values, shares, repetitions, summed)


def _parents(measured: MeasurementSet) -> NDArray[np.int64]:
    return np.array([-1 if path.parent is None else path.parent for path in measured.call_paths], dtype=np.int64)


def _shares(parents: NDArray[np.int64], values: Numbers, *, summed: bool, ratio: bool) -> Numbers:
    if ratio:  # a ratio is not part of a whole: its bar is relative to the largest
        most = np.nanmax(np.abs(values)) if np.isfinite(values).any() else 0.0
        return np.abs(values) / most if most > 0 else np.full_like(values, np.nan)
    inclusive = np.nan_to_num(values)
    if summed:
        for path in range(len(parents) - 1, -1, -1):  # children come after their parents
            if parents[path] >= 0:
                inclusive[parents[path]] += inclusive[path]
    roots = parents < 0
    whole = inclusive[roots].sum()
    if not whole > 0:  # the roots were not measured: use the largest as the whole
        whole = inclusive.max(initial=0.0)
    if not whole > 0:
        return np.full_like(values, np.nan)
    known = np.isfinite(values) | (summed & (inclusive > 0))
    return np.where(known, inclusive / whole, np.nan)
