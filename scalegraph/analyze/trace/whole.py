"""Waits and critical path of a trace too large for memory: analysed interval by interval and joined.

Each interval is analysed as a part of the trace, with the calls open at its start and some of what comes after
(`interval.part_of`). A wait belongs to the interval in which it ends, where everything that decides about it is known.
Results that need the calls of the whole run (the region of a holder, the call path of a wait, what is on the path) are
also computed by interval and summed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from scalegraph.analyze.trace.calls import NEVER, CallTable
from scalegraph.analyze.trace.candidates import Rows
from scalegraph.analyze.trace.critical_path import CriticalPath
from scalegraph.analyze.trace.critical_path_profile import Contents, OnPath, Sums, on_path_of
from scalegraph.analyze.trace.interval import LARGE, part_of, reach, rows_in
from scalegraph.analyze.trace.stacks import Stacks
from scalegraph.analyze.trace.wait_states import delays
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import stage
from scalegraph.traces.kinds import NO_TIME, Array
from scalegraph.traces.model import Trace

_WAYS: Final = 1000  # longest waits per interval whose call paths are kept


def times_of(trace: Trace, most: int = LARGE) -> list[tuple[int, int]]:
    """Return consecutive intervals (ticks) with at most *most* rows each.

    Shape: (intervals,). Unit: ticks. Source: ScaleGraph.
    """
    begin, end = min(trace.earliest, trace.meta.begin), trace.meta.end
    found: list[tuple[int, int]] = []
    left = [(begin, max(end, begin + 1))]
    while left:
        since, until = left.pop()
        if until - since < 2 or rows_in(trace, *reach(trace, since, until)) <= most:
            found.append((since, until))
            continue
        middle = (since + until) // 2
        left += [(middle, until), (since, middle)]
    return found


def waits_by_times(trace: Trace, table: CallTable, times: list[tuple[int, int]], most: int = LARGE) -> Waits:
    """Return all waits of *trace*, whose calls are in *table*, found interval by interval (*times*).

    The calls are not kept: ``stacks`` is empty, ``delayed`` and ``ways`` have what is needed of them. If a wait began
    more than *most* rows before the interval in which it ends, ``delayed`` covers only what its holder did in that
    interval.

    Shape: (waits,) of each array. Unit: ticks. Source: as of `Waits.of`.
    """
    count = len(trace.definitions.locations)
    since, until = np.full(count, NEVER), np.full(count, NO_TIME)
    rows, delayed, ways, doubts = list[Rows](), list[Array](), dict[tuple[int, int], tuple[int, ...]](), list[str]()
    for number, (begin, end) in enumerate(times):
        with stage(number / len(times), (number + 1) / len(times)):
            part, beyond = part_of(trace, table, begin, end)
            found = Waits.of(part, beyond)
            after = begin if number else NO_TIME
            before = end if number < len(times) - 1 else NEVER
            mine = np.flatnonzero((found.rows.end > after) & (found.rows.end <= before))
            kept = found.rows.take(mine)
            rows.append(kept)
            longest = np.argsort(kept.begin - kept.end, kind="stable")
            region = np.empty(len(kept), np.int64)
            region[longest] = delays(part, found, kept.take(longest))
            earlier = np.flatnonzero((kept.begin < begin) & (kept.holder >= 0))
            _look_back(trace, table, kept, earlier, region, most)
            delayed.append(region)
            shown = kept.take(longest[:_WAYS])
            places = zip(shown.location.tolist(), shown.end.tolist(), strict=True)
            ways |= dict(zip(places, found.ways_to(shown), strict=True))
            np.minimum(since, found.since, out=since)
            np.maximum(until, found.until, out=until)
            doubts += [said for said in found.doubts if said not in doubts]
    joined = Rows.joined(rows)
    order = np.lexsort((joined.begin, joined.location))
    joined = joined.take(order)
    return Waits(
        joined,
        joined.starts(count),
        since,
        until,
        Stacks.none(count),
        tuple(doubts),
        np.concatenate(delayed)[order],
        ways,
    )


def _look_back(trace: Trace, table: CallTable, rows: Rows, earlier: Array, region: Array, most: int) -> None:
    """Set *region* for the waits *earlier*, which began before *rows*: where their holders spent most time.

    The longest ones are skipped if all together would need more than *most* rows.
    """
    earlier = earlier[np.argsort(-rows.begin[earlier], kind="stable")]  # latest first
    while len(earlier):
        since, until = int(rows.begin[earlier[-1]]), int(rows.end[earlier].max())
        if rows_in(trace, *reach(trace, since, until)) <= most:
            part, beyond = part_of(trace, table, since, until)
            region[earlier] = delays(part, Waits.of(part, beyond), rows.take(earlier))
            return
        earlier = earlier[: len(earlier) // 2]


def on_path_by_times(
    trace: Trace, table: CallTable, times: list[tuple[int, int]], waits: Waits, path: CriticalPath
) -> OnPath:
    """Return the contents of *path*, found from *waits* (`waits_by_times`), or of a part of it.

    Shape: (regions,), (states,), (locations,). Unit: ticks. Source: Böhme and others 2012.
    """
    wanted = [(begin, end) for begin, end in times if begin < path.run_end and end > path.run_begin]
    total: Sums | None = None
    for number, (begin, end) in enumerate(wanted):
        with stage(number / len(wanted), (number + 1) / len(wanted)):
            low = begin if number else min(begin, path.run_begin)
            part, _ = part_of(trace, table, begin, end)
            contents = Contents(part, replace(waits, stacks=Stacks.of(part)))
            sums = contents.sums(path.within(low, end if number < len(wanted) - 1 else NEVER))
            total = sums if total is None else total + sums
    return on_path_of(trace, waits, path, total or Sums.none())
