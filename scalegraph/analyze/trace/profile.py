"""Profile of an interval: time by region, call path and location; calls it cuts count in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable, Paths
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import thousands
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace

_CELLS: Final = 1 << 26  # paths times locations: three arrays of this size are held


@dataclass(frozen=True)
class CallSums:
    """Ticks and visits by call path and location in [*begin*, *end*).

    *inclusive*, *exclusive* and *visits* have shape (paths, locations); *locations* are their numbers. A visit counts
    where it begins.
    """

    begin: int
    end: int
    paths: Paths
    locations: Array
    inclusive: Array
    exclusive: Array
    visits: Array

    @property
    def covered(self) -> Array:
        """Ticks that each location spent in any region.

        Shape: (locations,). Unit: ticks. Source: ScaleGraph.
        """
        covered: Array = self.inclusive[self.paths.parent < 0].sum(axis=0)
        return covered

    @property
    def available(self) -> int:
        """Ticks of all locations together: their number times the length of the interval.

        Unit: ticks. Source: ScaleGraph.
        """
        return len(self.locations) * (self.end - self.begin)


def call_sums(
    table: CallTable,
    trace: Trace,
    begin: int,
    end: int,
    locations: Sequence[int] | None = None,
) -> CallSums:
    """Return the sums over *begin* to *end* (ticks) for *locations* (default all). Raises `InputError` if too many.

    Shape: (paths, locations) of its arrays. Unit: ticks; visits are a count. Source: ScaleGraph.
    """
    count = len(trace.definitions.locations)
    chosen = np.arange(count) if locations is None else np.array(sorted(set(locations)), np.int64)
    place = np.full(count, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    paths, width = table.paths, len(chosen)
    if len(paths) * width > _CELLS:
        few = max(_CELLS // len(paths), 1)
        raise InputError(
            Fault(
                f"there are {thousands(len(paths))} call paths on {thousands(width)} locations, too many to"
                " sum up; choose"
                f" {thousands(few)} locations or fewer",
                key="locations",
            )
        )
    inclusive: Array = np.zeros(len(paths) * width, np.int64)
    visits: Array = np.zeros(len(paths) * width, np.int64)
    last = end == trace.meta.end
    for calls in table.calls(begin, end):
        at = place[calls.location]
        cell = calls.path.astype(np.int64) * width + at
        inside = (calls.end > begin) & (calls.begin < end) & (at >= 0)
        ticks = np.minimum(calls.end, end) - np.maximum(calls.begin, begin)
        np.add.at(inclusive, cell[inside], ticks[inside])
        starts = (calls.begin >= begin) & ((calls.begin < end) | ((calls.begin == end) & last)) & (at >= 0)
        np.add.at(visits, cell[starts], 1)
    inclusive, visits = inclusive.reshape(len(paths), width), visits.reshape(len(paths), width)
    return CallSums(begin, end, paths, chosen, inclusive, inclusive - _children(inclusive, paths), visits)


def _children(values: Array, paths: Paths) -> Array:
    """Return for each path the sum of *values* over its direct children."""
    sums = np.zeros_like(values)
    order = np.argsort(paths.parent, kind="stable")
    order = order[paths.parent[order] >= 0]
    if len(order):
        parents = paths.parent[order]
        starts = np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]])
        sums[parents[starts]] = np.add.reduceat(values[order], starts, axis=0)
    return sums


def by_region(sums: CallSums, regions: int) -> tuple[Array, Array, Array]:
    """Return exclusive ticks, inclusive ticks and visits by region, shape (regions, locations).

    Recursion counts once in inclusive time. Events without a region are left out.

    Unit: ticks; visits are a count. Source: ScaleGraph.
    """
    paths, width = sums.paths, len(sums.locations)
    named = paths.region >= 0
    made = []
    for values, rows in ((sums.exclusive, named), (sums.inclusive, named & ~paths.inner), (sums.visits, named)):
        total = np.zeros((regions, width), np.int64)
        np.add.at(total, paths.region[rows], values[rows])
        made.append(total)
    return made[0], made[1], made[2]


def flat(trace: Trace, sums: CallSums) -> pd.DataFrame:
    """Return a row for every region in the interval, most expensive first.

    Columns: ``region`` number, ``name``, ``kind``, ``file``, ``line``; ``visits``; ``exclusive_s``, ``inclusive_s``
    summed over the locations; ``share`` of the locations' time (0 to 1); ``least_s``, ``mean_s``, ``most_s``:
    exclusive by location; ``most_at`` number of the location with the most; ``imbalance``: most over mean.

    Shape: one row for each region. Unit: as listed. Source: ScaleGraph.
    """
    exclusive, inclusive, visits = by_region(sums, len(trace.definitions.regions))
    seen = np.flatnonzero((inclusive.sum(axis=1) > 0) | (visits.sum(axis=1) > 0))
    table = _places(trace, seen)
    table.insert(0, "region", seen)
    _numbers(table, trace, sums, exclusive[seen], inclusive[seen], visits[seen])
    return table.sort_values(["exclusive_s", "inclusive_s"], ascending=False, kind="stable", ignore_index=True)


def tree(trace: Trace, sums: CallSums) -> pd.DataFrame:
    """Return a row for every call path in the interval, callers first, then by cost.

    Columns as in `flat`, plus ``path``, ``parent`` (numbers of paths, -1 none) and ``depth`` from 0.

    Shape: one row for each call path. Unit: as listed. Source: ScaleGraph.
    """
    paths = sums.paths
    total = sums.inclusive.sum(axis=1)
    order = [path for path in _preorder(paths, total) if total[path] or sums.visits[path].any()]
    rows = np.array(order, np.int64)
    table = _places(trace, paths.region[rows])
    table.insert(0, "region", paths.region[rows])
    table.insert(0, "depth", paths.depth[rows])
    table.insert(0, "parent", paths.parent[rows])
    table.insert(0, "path", rows)
    _numbers(table, trace, sums, sums.exclusive[rows], sums.inclusive[rows], sums.visits[rows])
    return table


def _preorder(paths: Paths, weight: Array) -> list[int]:
    """Return the paths in preorder, heaviest sibling first."""
    below: dict[int, list[int]] = {}
    for path in np.argsort(weight, kind="stable").tolist():  # ascending, as paths are popped from the end
        below.setdefault(int(paths.parent[path]), []).append(path)
    order, pending = [], below.get(-1, [])
    while pending:
        path = pending.pop()
        order.append(path)
        pending.extend(below.get(path, ()))
    return order


def _places(trace: Trace, numbers: Array) -> pd.DataFrame:
    regions = trace.definitions.regions
    known = [regions[number] if 0 <= number < len(regions) else None for number in numbers.tolist()]
    return pd.DataFrame(
        {
            "name": [region.name if region else "(no name)" for region in known],
            "kind": [region.kind if region else "" for region in known],
            "file": [region.file if region else "" for region in known],
            "line": np.array([region.line if region else 0 for region in known], np.int64),
        }
    )


def _numbers(table: pd.DataFrame, trace: Trace, sums: CallSums, own: Array, whole: Array, visits: Array) -> None:
    second = trace.meta.ticks_per_second
    table["visits"] = visits.sum(axis=1)
    table["exclusive_s"] = own.sum(axis=1) / second
    table["inclusive_s"] = whole.sum(axis=1) / second
    available = sums.available
    table["share"] = own.sum(axis=1) / available if available else np.nan
    table["share_incl"] = whole.sum(axis=1) / available if available else np.nan
    filled = own if own.shape[1] else np.zeros((len(own), 1), np.int64)
    table["least_s"] = filled.min(axis=1) / second
    table["mean_s"] = filled.mean(axis=1) / second
    table["most_s"] = filled.max(axis=1) / second
    table["most_at"] = sums.locations[filled.argmax(axis=1)] if len(sums.locations) else -1
    with np.errstate(all="ignore"):
        table["imbalance"] = np.where(filled.any(axis=1), filled.max(axis=1) / filled.mean(axis=1), np.nan)
