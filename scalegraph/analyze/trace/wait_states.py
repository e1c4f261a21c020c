"""Wait states: who lost how much time where, waiting for which holder, and what the holder did meanwhile.

Times are in seconds from the start of the run. A wait loses the time from its begin to its end; *hand-over* is the part
after its holder released it. *Indirect* is the part in which the holder itself waited, so that the root cause is
elsewhere. The holder's region is the one in which it spent most time, except waiting, from the begin of the wait to the
release.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.candidates import WORDS, Cause, Rows
from scalegraph.analyze.trace.stacks import overlaps, place
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, Array
from scalegraph.traces.model import Trace

_PAIRS: Final = 3_000_000  # stretches of holders to examine, those of the longest waits first
_TOGETHER: Final = 1 << 18  # stretches examined at once


@dataclass(frozen=True, eq=False)
class WaitStates:
    """The waits in a part of a run, longest first: *numbers* are their rows in *waits*.

    *lost*, *handed* and *indirect* are ticks within the part, *region* the one in which the holder spent most time (-1:
    unknown). The part is *begin* to *end* (ticks) of *locations*.
    """

    waits: Waits
    numbers: Array
    lost: Array
    handed: Array
    indirect: Array
    region: Array
    begin: int
    end: int
    locations: int

    @property
    def total(self) -> int:
        """Ticks lost in all waits.

        Unit: ticks. Source: ScaleGraph.
        """
        return int(self.lost.sum())

    @property
    def share(self) -> float:
        """Share of the time of all locations that is lost, 0 to 1.

        Unit: none (share). Source: ScaleGraph.
        """
        whole = (self.end - self.begin) * self.locations
        return self.total / whole if whole else 0.0


def wait_states(
    trace: Trace,
    waits: Waits,
    begin: int | None = None,
    end: int | None = None,
    locations: Sequence[int] | None = None,
    regions: Collection[int] | None = None,
    least: int = 0,
) -> WaitStates:
    """Return the waits of *trace* between *begin* and *end* (ticks), of *locations*, in *regions* (default all).

    Only those of at least *least* ticks, including their part outside the interval.

    Shape: (waits,) of each array. Unit: ticks. Source: wait states of Scalasca (Geimer and others 2010).
    """
    since = trace.meta.begin if begin is None else begin
    until = trace.meta.end if end is None else end
    rows = waits.rows
    checkpoint()
    chosen = (rows.end > since) & (rows.begin < until) & (rows.end - rows.begin >= least)
    if locations is not None:
        chosen &= np.isin(rows.location, list(locations))
    if regions is not None:
        chosen &= np.isin(rows.region, list(regions))
    numbers = np.flatnonzero(chosen)
    lost = np.minimum(rows.end[numbers], until) - np.maximum(rows.begin[numbers], since)
    order = np.argsort(-lost, kind="stable")
    numbers, lost = numbers[order], lost[order]
    mine = rows.take(numbers)
    start, stop = np.maximum(mine.begin, since), np.minimum(mine.end, until)
    released = _released(mine)
    handed = np.where(mine.holder >= 0, np.maximum(stop - np.maximum(released, start), 0), 0)
    known = np.flatnonzero(mine.holder >= 0)
    known = known[np.argsort(numbers[known])]  # looked up in memory order
    indirect = np.zeros(len(numbers), np.int64)
    let_go = np.minimum(released, stop)[known]
    indirect[known] = _waited(waits, mine.holder[known], let_go) - _waited(
        waits, mine.holder[known], np.minimum(start[known], let_go)
    )
    count = len(trace.definitions.locations) if locations is None else len(locations)
    region = delays(trace, waits, mine) if waits.delayed is None else waits.delayed[numbers]
    return WaitStates(waits, numbers, lost, handed, indirect, region, since, until, count)


def _waited(waits: Waits, location: Array, time: Array) -> Array:
    """Return how many ticks each *location* has waited until *time*."""
    rows = waits.rows
    lengths = np.r_[np.int64(0), np.cumsum(rows.end - rows.begin)]
    last = place(waits.first, rows.begin, location, time)
    inside = np.minimum(rows.end[last], time) - rows.begin[last] if len(rows) else np.zeros(len(last), np.int64)
    return np.where(last >= 0, lengths[last] - lengths[waits.first[location]] + inside, 0)


def _released(rows: Rows) -> Array:
    """Return when the holder released, within each wait."""
    return np.where(rows.released == NO_TIME, rows.end, np.clip(rows.released, rows.begin, rows.end))


def delays(trace: Trace, waits: Waits, mine: Rows) -> Array:
    """Return the region where each holder spent most time from the begin of the wait to the release; -1 if none.

    *mine* are some of *waits*, the most important first.

    Shape: (rows,). Unit: none (numbers of regions). Source: ScaleGraph.
    """
    released = _released(mine)
    found = np.full(len(mine), -1, np.int64)
    stacks = waits.stacks
    known = np.flatnonzero((mine.holder >= 0) & (released > mine.begin))
    if not len(stacks.time) or not len(known):
        return found
    order = np.argsort(mine.begin[known])
    ordered = known[order]
    many = np.empty(len(known), np.int64)
    many[order] = 1 + place(stacks.first, stacks.time, mine.holder[ordered], released[ordered], before=True)
    many[order] -= place(stacks.first, stacks.time, mine.holder[ordered], mine.begin[ordered])
    checkpoint()
    least = max(_PAIRS, int(many[0]))
    chosen = np.cumsum(many) <= least
    known = known[chosen][np.argsort(mine.begin[known[chosen]])]
    many = np.cumsum(many[order[chosen[order]]])
    checkpoint()
    until = stacks.until(trace.meta.end)
    checkpoint()
    for some in np.split(known, np.flatnonzero(np.diff(many // _TOGETHER)) + 1):
        checkpoint()
        found[some] = _longest(waits, until, mine.holder[some], mine.begin[some], released[some], trace)
    return found


def _longest(waits: Waits, until: Array, holder: Array, begin: Array, end: Array, trace: Trace) -> Array:
    """Return the region where each *holder* spent most time from *begin* to *end*, except waiting; -1 if none."""
    stacks = waits.stacks
    found = np.full(len(holder), -1, np.int64)
    which, row, ticks = overlaps(stacks.first, stacks.time, until, holder, begin, end)
    other, wait, waited = overlaps(waits.first, waits.rows.begin, waits.rows.end, holder, begin, end)
    regions = len(trace.definitions.regions) + 1
    key = np.r_[
        which * regions + stacks.region_of(stacks.inner[row]) + 1, other * regions + waits.rows.region[wait] + 1
    ]
    keys, place_of = np.unique(key, return_inverse=True)
    sums = np.bincount(place_of, np.r_[ticks, -waited].astype(float), minlength=len(keys))
    # the largest of each wait is the last one
    order = np.lexsort((sums, keys // regions))
    owner = keys[order] // regions
    best = order[np.r_[owner[1:] != owner[:-1], True][: len(owner)]]
    best = best[sums[best] > 0]
    found[keys[best] // regions] = keys[best] % regions - 1
    return found


def worst(trace: Trace, states: WaitStates, most: int = 200) -> pd.DataFrame:
    """Return a row for each of the *most* longest waits, longest first.

    Columns: ``wait`` (row in the `Waits`), ``kind``, ``location``, ``region``, ``file``, ``line``, ``path`` (names of
    regions from the outermost), ``begin_s``, ``end_s``, ``lost_s``, ``handover_s``, ``indirect_s``, ``holder`` (-1:
    unknown), ``holder_region``, ``object``, ``told`` (recorded in the trace, otherwise derived). Locations and regions
    are numbered as in the trace.

    Shape: one row for each wait. Unit: s. Source: ScaleGraph.
    """
    numbers = states.numbers[:most]
    rows, second, meta = states.waits.rows.take(numbers), trace.meta.ticks_per_second, trace.meta
    regions = trace.definitions.regions
    # the wait's region may be recorded, or be the caller's: show the path to where the location was
    ways = states.waits.ways_to(rows)
    paths = [" > ".join(regions[r].name for r in way if 0 <= r < len(regions)) for way in ways]
    places = [regions[r] if 0 <= r < len(regions) else None for r in rows.region.tolist()]
    return pd.DataFrame(
        {
            "wait": numbers,
            "kind": [WORDS[Cause(cause)] for cause in rows.cause.tolist()],
            "location": rows.location,
            "region": rows.region,
            "file": [one.file if one else "" for one in places],
            "line": [one.line if one else 0 for one in places],
            "path": paths,
            "begin_s": (rows.begin - meta.begin) / second,
            "end_s": (rows.end - meta.begin) / second,
            "lost_s": states.lost[:most] / second,
            "handover_s": states.handed[:most] / second,
            "indirect_s": states.indirect[:most] / second,
            "holder": rows.holder,
            "holder_region": states.region[:most],
            "object": rows.object,
            "told": rows.told,
        }
    )


_PLACE = ["cause", "region"]


def by_place(trace: Trace, states: WaitStates) -> pd.DataFrame:
    """Return a row for each kind of wait in each region, largest loss first.

    Columns: ``kind``, ``region``, ``file``, ``line``, ``count``, ``lost_s``, ``share`` of the time of all locations and
    ``of_waits`` of all that is lost (0 to 1), ``longest_s``, ``handover_s``, ``indirect_s``; ``location`` that loses
    most there and ``location_share`` of the loss; ``holder`` that is waited for most (-1: unknown) and
    ``holder_share``; ``holder_region`` where holders spend most time, judged by the longest waits.

    Shape: one row for each kind and region. Unit: s; shares have none. Source: ScaleGraph.
    """
    rows = states.waits.rows.take(states.numbers)
    frame = pd.DataFrame(
        {
            "cause": rows.cause,
            "region": rows.region,
            "location": rows.location,
            "holder": rows.holder,
            "holder_region": states.region,
            "lost": states.lost,
            "handed": states.handed,
            "indirect": states.indirect,
        }
    )
    table = _sums_by_place(frame).sort_values("lost", ascending=False, kind="stable").reset_index()
    second, whole = trace.meta.ticks_per_second, max((states.end - states.begin) * states.locations, 1)
    regions = trace.definitions.regions
    places = [regions[r] if 0 <= r < len(regions) else None for r in table["region"].tolist()]
    return pd.DataFrame(
        {
            "kind": [WORDS[Cause(cause)] for cause in table["cause"].tolist()],
            "region": table["region"],
            "file": [one.file if one else "" for one in places],
            "line": [one.line if one else 0 for one in places],
            "count": table["count"],
            "lost_s": table["lost"] / second,
            "share": table["lost"] / whole,
            "of_waits": table["lost"] / max(states.total, 1),
            "longest_s": table["longest"] / second,
            "handover_s": table["handed"] / second,
            "indirect_s": table["indirect"] / second,
            "location": table["location"],
            "location_share": table["location_share"],
            "holder": table["holder"],
            "holder_share": table["holder_share"],
            "holder_region": table["holder_region"],
        }
    )


def _sums_by_place(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the sums of *frame* by kind and region, and the location, holder and holder's region of most of each."""
    table = frame.groupby(_PLACE, sort=False).agg(
        count=("lost", "size"),
        lost=("lost", "sum"),
        longest=("lost", "max"),
        handed=("handed", "sum"),
        indirect=("indirect", "sum"),
    )
    for name in ("location", "holder", "holder_region"):
        known = frame if name != "holder_region" else frame[frame["holder_region"] >= 0]
        sums = known.groupby([*_PLACE, name], sort=False)["lost"].sum().sort_values(ascending=False, kind="stable")
        most = sums.reset_index(name).groupby(_PLACE, sort=False).first()
        table[name] = most[name].reindex(table.index).fillna(-1).astype(np.int64)
        table[f"{name}_share"] = (most["lost"].reindex(table.index) / table["lost"]).fillna(0.0)
    return table
