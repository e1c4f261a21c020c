"""Time of each location by activity (busy, stalled, communicating, ...) in an interval; exact if the trace is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.messages import location_names
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.analyze.trace.profile import CallSums, by_region, call_sums
from scalegraph.traces import activities
from scalegraph.traces.activities import ACTIVITIES, BUSY, COMMUNICATION, IDLE, MEMORY_STALL, OTHER, PRIMITIVE
from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.layers import sources
from scalegraph.traces.model import Trace

OVERHEAD = (MEMORY_STALL, PRIMITIVE, COMMUNICATION)


@dataclass(frozen=True)
class Sources:
    """What is derived from a trace once, on first use: its calls, and its shares or states.

    *sums* are the call sums of the current interval and locations, if they are cached.
    """

    calls: Callable[[], CallTable]
    states: Callable[[str], StateTable]
    sums: Callable[[], CallSums] | None = None


@dataclass(frozen=True)
class ActivitySums:
    """Ticks in [*begin*, *end*) by activity (`activities.ACTIVITIES`) and location, shape (6, locations).

    *source* is what they were computed from: ``shares``, ``states`` or ``calls``.
    """

    begin: int
    end: int
    locations: Array
    ticks: Array
    source: str

    @property
    def length(self) -> int:
        """Ticks of the interval.

        Unit: ticks. Source: ScaleGraph.
        """
        return self.end - self.begin

    @property
    def available(self) -> int:
        """Ticks of all locations together.

        Unit: ticks. Source: ScaleGraph.
        """
        return self.length * len(self.locations)

    @property
    def totals(self) -> Array:
        """Ticks of each activity over all locations.

        Shape: (activities,). Unit: ticks. Source: ScaleGraph.
        """
        totals: Array = self.ticks.sum(axis=1)
        return totals


def activity_sums(
    trace: Trace,
    made: Sources,
    begin: int,
    end: int,
    locations: Sequence[int] | None = None,
) -> ActivitySums | None:
    """Return the activity of *locations* from *begin* to *end* (ticks); None if the trace records nothing of it.

    It is computed from the trace's shares or states; without either from the innermost region, where time outside every
    region is idle, and locations without calls are unknown. The same rule as in the level of detail (`traces.lod`).

    Shape: `ticks` is (activities, locations). Unit: ticks. Source: ScaleGraph.
    """
    source = next(iter(sources(trace)), None)
    if source is None:
        return None
    size = len(ACTIVITIES)
    chosen = np.arange(len(trace.definitions.locations)) if locations is None else np.array(sorted(set(locations)))
    if source == "calls":
        sums = made.sums() if made.sums is not None else call_sums(made.calls(), trace, begin, end, locations)
        exclusive = by_region(sums, len(trace.definitions.regions))[0].astype(np.float64)
        ticks = _gathered(exclusive, activities.of_regions(trace.definitions.regions), size)
        ticks[IDLE] += np.where(made.calls().located[chosen], (end - begin) - exclusive.sum(axis=0), 0.0)
        return ActivitySums(begin, end, chosen, ticks, source)
    found = made.states(source).by_location(begin, end, locations)
    of = activities.of_states(trace.definitions.states, trace.meta)
    return ActivitySums(begin, end, chosen, _gathered(found, of, size), source)


def region_activity(
    trace: Trace,
    made: Sources,
    begin: int,
    end: int,
    locations: Sequence[int] | None = None,
) -> Array | None:
    """Return ticks by activity and region, shape (6, regions + 1), the last for no region; None if not recorded.

    States have no region. Otherwise like `activity_sums`, and with the same totals.

    Unit: ticks. Source: ScaleGraph.
    """
    source = next(iter(sources(trace)), None)
    size, regions = len(ACTIVITIES), trace.definitions.regions
    if source == "shares":
        found = made.states(source).by_region(begin, end, locations)
        return _gathered(found, activities.of_states(trace.definitions.states, trace.meta), size)
    if source != "calls":
        return None
    sums = made.sums() if made.sums is not None else call_sums(made.calls(), trace, begin, end, locations)
    exclusive = by_region(sums, len(regions))[0].sum(axis=1).astype(np.float64)
    where = np.zeros((size, len(regions) + 1))
    where[activities.of_regions(regions), np.arange(len(regions))] = exclusive
    there = int(made.calls().located[sums.locations].sum())
    where[IDLE, -1] = there * (end - begin) - exclusive.sum()
    return where


def _gathered(rows: Array, of: Array, size: int) -> Array:
    """Return the sums of *rows* (n, ..) with the same number in *of* (n), shape (size, ..)."""
    made = np.zeros((size, *rows.shape[1:]))
    np.add.at(made, of, rows)
    return made


def utilisation(sums: ActivitySums, second: int) -> pd.DataFrame:
    """Return a row for each activity that occurs.

    Columns: ``activity``, ``mean``: average number of locations in it, ``share`` of their time, ``time_s``. Unrecorded
    time (a gap between states) is ``not known``, so that the shares add up to 1. *second* is ticks per second.

    Shape: one row for each activity. Unit: s; shares have none. Source: ScaleGraph.
    """
    rows = [(title, float(ticks)) for title, ticks in zip(activities.TITLES, sums.totals, strict=True) if ticks > 0]
    unknown = sums.available - float(sums.totals.sum())
    if unknown > 1e-9 * sums.available:
        rows.append(("not known", unknown))
    table = pd.DataFrame(rows, columns=pd.Index(("activity", "ticks")))
    table["mean"] = table["ticks"] / sums.length if sums.length else np.nan
    table["share"] = table["ticks"] / sums.available if sums.available else np.nan
    table["time_s"] = table.pop("ticks") / second
    return table


def by_location(sums: ActivitySums, trace: Trace, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a row for each location: ``location``, ``name``, seconds of each activity, and shares of the interval.

    ``busy_share``, ``overhead_share`` (memory stall, primitives, communication), ``idle_share``; the rest is other or
    unknown.

    Shape: one row for each location. Unit: s; shares have none. Source: ScaleGraph.
    """
    second = trace.meta.ticks_per_second
    table = pd.DataFrame({"location": sums.locations})
    called = location_names(trace) if names is None else names
    table["name"] = [called[n] for n in sums.locations.tolist()]
    for name, ticks in zip(ACTIVITIES, sums.ticks, strict=True):
        table[f"{name}_s"] = ticks / second
    length = sums.length or np.nan
    table["busy_share"] = sums.ticks[BUSY] / length
    table["overhead_share"] = sums.ticks[list(OVERHEAD)].sum(axis=0) / length
    table["idle_share"] = sums.ticks[IDLE] / length
    return table


@dataclass(frozen=True)
class Efficiencies:
    """Shares from 0 to 1, 1 is best; NaN if unknown. *parallel* is *balance* times *transfer*.

    *parallel*: busy time over available time. *balance*: mean over greatest busy time of a location. *transfer*:
    greatest busy time over the length of the interval. *memory*: busy over busy plus memory stall. *synchronisation*:
    share of non-idle time spent outside primitives. *communication*: share spent outside communication, and *presence*:
    share not idle, both of the known time. Busy includes other here, as that is no known loss.
    """

    parallel: float
    balance: float
    transfer: float
    memory: float
    synchronisation: float
    communication: float
    presence: float


def efficiencies(sums: ActivitySums) -> Efficiencies:
    """Return the efficiencies over all locations of *sums*.

    Unit: none (ratios). Source: POP standard metrics (pop-coe.eu).
    """
    busy = sums.ticks[BUSY] + sums.ticks[OTHER]
    total = sums.totals
    working = float(busy.sum())
    known = float(total.sum())
    active = known - float(total[IDLE])
    most = float(busy.max()) if len(busy) else 0.0
    return Efficiencies(
        _ratio(working, sums.available),
        _ratio(working, most * len(busy)),
        _ratio(most, sums.length),
        _ratio(working, working + float(total[MEMORY_STALL])),
        _ratio(active - float(total[PRIMITIVE]), active),
        _ratio(known - float(total[COMMUNICATION]), known),
        _ratio(active, known),
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")
