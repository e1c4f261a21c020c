"""How the time of each location was spent in an interval, by state and by region: exact where it is told exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace


@dataclass(frozen=True)
class StateSums:
    """Ticks by state in [*begin*, *end*): *by_location* (states, locations) and *by_region* (states, regions + 1).

    The last region stands for none. Ticks of a stretch that the interval cuts count by the part of it that lies inside,
    so they may be fractions; whole stretches are exact. *locations* are the numbers of the columns.
    """

    begin: int
    end: int
    locations: Array
    by_location: Array
    by_region: Array

    @property
    def covered(self) -> Array:
        """Ticks of each location of which a state is known."""
        covered: Array = self.by_location.sum(axis=0)
        return covered


def state_sums(
    trace: Trace,
    begin: int,
    end: int,
    locations: Sequence[int] | None = None,
    cancel: CancelToken | None = None,
    *,
    kind: str = "shares",
) -> StateSums:
    """Return the ticks of the shares of *trace*, or of its states (*kind*).

    States tell no region: their ticks are in that for none. Of states that overlap in a location each counts in full.
    """
    count, regions = len(trace.definitions.locations), len(trace.definitions.regions)
    chosen = np.arange(count) if locations is None else np.array(sorted(set(locations)), np.int64)
    place = np.full(count, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    states = len(trace.definitions.states)
    by_location, by_region = np.zeros((states, len(chosen))), np.zeros((states, regions + 1))
    for part in trace.parts[kind]:
        if part.first > end or part.last < begin:
            continue
        if cancel is not None:
            cancel.check()
        owner, state = part.column("location"), part.column("state")
        first, last = part.column("begin"), part.column("end")
        known = (owner >= 0) & (owner < count) & (state >= 0) & (state < states) & (first < end) & (last > begin)
        rows = np.flatnonzero(known & (last > first))
        rows = rows[place[owner[rows]] >= 0]
        first, last = first[rows], last[rows]
        inside = np.minimum(last, end) - np.maximum(first, begin)
        if kind == "shares":
            ticks = part.column("ticks")[rows]
            region = part.column("region")[rows]
            region = np.where((region >= 0) & (region < regions), region, regions)
            length = last - first
            inside = np.where(inside == length, ticks.astype(np.float64), ticks * (inside / length))
            by_region += np.bincount(state[rows] * np.int64(regions + 1) + region, inside, by_region.size).reshape(
                by_region.shape
            )
        cell = state[rows] * np.int64(len(chosen)) + place[owner[rows]]
        by_location += np.bincount(cell, inside, by_location.size).reshape(by_location.shape)
    if kind == "states":
        by_region[:, regions] = by_location.sum(axis=1)
    return StateSums(begin, end, chosen, by_location, by_region)
