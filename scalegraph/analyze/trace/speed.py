"""Average speed of each location in each phase (isospeed.txt Figs. 9, 10, 16, 17), and the average unit speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.phases import Phases
from scalegraph.analyze.trace.work import Counted
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace


@dataclass(frozen=True)
class Speeds:
    """Speeds in an interval. *work* and *speed* (work a second) are of the stretches of `Phases`, in their order.

    *unit_speed* is the average unit speed of isospeed.txt Eq. (2): the work of all locations over the time and their
    number; *total* is that work and *seconds* the time.
    """

    work: Array
    speed: Array
    total: float
    seconds: float
    unit_speed: float


def speeds(found: Phases, counted: Counted, trace: Trace, begin: int, end: int, locations: Sequence[int]) -> Speeds:
    """Return the speeds of *locations* from *begin* to *end* (ticks); locations without counts are included.

    Shape: (phases, locations) of its arrays. Unit: operations/s. Source: isospeed.txt Figs. 9, 10, 16, 17.
    """
    work = counted.between(found.location, found.begin, found.end)
    seconds = (found.end - found.begin) / trace.meta.ticks_per_second
    with np.errstate(all="ignore"):
        speed = np.where(seconds > 0, work / seconds, np.nan)
    total = float(counted.totals(begin, end, locations).sum())
    length = (end - begin) / trace.meta.ticks_per_second
    unit = total / (length * len(locations)) if length and len(locations) else float("nan")
    return Speeds(work, speed, total, length, unit)


def by_phase(found: Phases, made: Speeds, trace: Trace) -> pd.DataFrame:
    """Return a row for each phase: ``phase``, ``region``, ``name``, ``time_s``, ``work``, ``speed`` (per location).

    ``time_s`` is summed over locations, ``span_s`` runs from the first begin to the last end; ``slowest`` and
    ``fastest`` are the extreme speeds of locations in the phase.

    Shape: one row for each phase. Unit: s and operations/s. Source: isospeed.txt Figs. 9, 10.
    """
    regions, rows = trace.definitions.regions, []
    second = trace.meta.ticks_per_second
    for phase, region in enumerate(found.regions):
        mine = np.flatnonzero(found.phase == phase)
        codes, _ = pd.factorize(found.location[mine])
        time = np.bincount(codes, (found.end - found.begin)[mine]) / second
        work = np.bincount(codes, made.work[mine])
        with np.errstate(all="ignore"):
            each = np.where(time > 0, work / time, np.nan)
        known = each[np.isfinite(each)]
        rows.append(
            {
                "phase": phase,
                "region": region,
                "name": regions[region].name if 0 <= region < len(regions) else "(no name)",
                "visits": len(mine),
                "time_s": float(time.sum()),
                "span_s": int(found.end[mine].max() - found.begin[mine].min()) / second,
                "work": float(work.sum()),
                "speed": float(work.sum() / time.sum()) if time.sum() else np.nan,
                "slowest": float(known.min()) if len(known) else np.nan,
                "fastest": float(known.max()) if len(known) else np.nan,
            }
        )
    names = ("phase", "region", "name", "visits", "time_s", "span_s", "work", "speed", "slowest", "fastest")
    return pd.DataFrame(rows, columns=pd.Index(names))
