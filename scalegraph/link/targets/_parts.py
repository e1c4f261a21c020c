"""Parts of measured runs: the time windows that a trace was to cover, and the records cut to them.

The monitor records whole stretches that overlap a window, and all messages and collective operations: they are matched
by the order of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from scalegraph.runtime.format import EVENT, TRACE_PAIRS, TRACE_RECORD
from scalegraph.traces.kinds import LockStep, What
from scalegraph.traces.nesting import match

if TYPE_CHECKING:
    from scalegraph.link.targets._records import Process
    from scalegraph.runtime.results import Records
    from scalegraph.traces.kinds import Array

Windows: TypeAlias = Sequence[tuple[int, int]]
_STRETCHES = [EVENT[name] for name in ("share", "wait", "message", "collective")]
_ALWAYS = [EVENT[name] for name in ("message", "parcel", "collective", "carried")]


def windows_of(parts: Sequence[Process], regions: Sequence[int], end: int) -> Windows | None:
    """Return begin and end of each window in ticks, one after the other; None if the whole run was to be recorded.

    *regions*: inside which everything is recorded; empty: everywhere; *end*: of the trace. A process has the windows of
    the others, too.
    """
    if not regions and not any(part.header["asked_begin"] or part.header["asked_end"] for part in parts):
        return None
    found = [window for part in parts for window in _of_process(part, regions, end)]
    joined: list[tuple[int, int]] = []
    for begin, until in sorted(found):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], until)
        else:
            joined.append((begin, until))
    return joined


def _of_process(part: Process, regions: Sequence[int], end: int) -> Windows:
    begin = max(int(part.header["asked_begin"]), int(part.header["begin"]))
    until = min(int(part.header["asked_end"]) or end, end)
    if not regions:
        return [(begin, until)] if begin < until else []
    records = part.records
    calls = records[(records["event"] == EVENT["call"]) & np.isin(records["region"], regions)]
    change = np.where(calls["what"] == What.ENTER, 1, -1)
    order = np.lexsort((-change, calls["time"]))
    inside = np.cumsum(change[order])
    time = calls["time"][order].astype(np.int64)
    opened = time[(inside == 1) & (change[order] == 1)]
    closed = np.r_[time[inside == 0], end][: len(opened)]
    both = zip(np.maximum(opened, begin).tolist(), np.minimum(closed, until).tolist(), strict=True)
    return [(low, high) for low, high in both if low < high]


def whole_operations(records: Records, windows: Windows) -> Records:
    """Return *records* without collective operations that some member did not leave within the same window."""
    at = np.flatnonzero(records["event"] == EVENT["collective"])
    if not len(at):
        return records
    begins, ends = (np.array([window[end] for window in windows], np.int64) for end in (0, 1))
    time = records["time"][at].astype(np.int64)
    where = np.searchsorted(begins, time) - 1
    inside = (where >= 0) & (time <= ends[where]) if len(windows) else np.zeros(len(at), bool)
    where = np.where(inside, where, -1)
    operations = np.stack([records["region"][at].astype(np.int64), records["time"][at + 1].astype(np.int64)], axis=1)
    number = np.unique(operations, axis=0, return_inverse=True)[1].reshape(-1)
    least, most = np.full(len(at), len(windows)), np.full(len(at), -1)
    np.minimum.at(least, number, where)
    np.maximum.at(most, number, where)
    lost = at[(least[number] < 0) | (least[number] != most[number])]
    kept = np.ones(len(records), bool)
    kept[lost] = kept[lost + 1] = False
    return records[kept]


def cut(records: Records, windows: Windows) -> Records:
    """Return the *records*, in time order, within *windows*; open regions are left at the end of each."""
    if not windows:
        return records[:0]
    return np.concatenate([_within(records, begin, end) for begin, end in windows])


def _within(records: Records, begin: int, end: int) -> Records:
    event, time = records["event"], records["time"].astype(np.int64)
    second = np.flatnonzero(np.isin(event, list(TRACE_PAIRS))) + 1
    stretch = np.isin(event, _STRETCHES)
    first = np.where(stretch, records["first"].astype(np.int64), time)
    kept = (time >= begin) & (first <= end)
    kept &= ~stretch | ((first < end) & (time > begin))
    kept &= ~np.isin(event, _ALWAYS) | (time <= end)  # an event incomplete in the window has its other end elsewhere
    kept[second] = kept[second - 1]
    found = records[kept].copy()
    stretch, shares = np.isin(found["event"], _STRETCHES), found["event"] == EVENT["share"]
    for name in ("time", "first"):
        found[name][stretch] = np.clip(found[name][stretch], begin, end)
    found["second"][shares] = found["time"][shares] - found["first"][shares]
    for name, given in (("waker", "time"), ("parcel", "time")):
        rows = found["event"] == EVENT[name]
        found[given][rows] = np.clip(found[given][rows], begin, end)
    rows = found["event"] == EVENT["message"]
    found["second"][rows] = np.clip(found["second"][rows], begin, end)
    return closed(_released(found), end)


def _released(records: Records) -> Records:
    """Return *records* without releases of locks acquired before them."""
    rows = np.flatnonzero(records["event"] == EVENT["lock"])
    if not len(rows):
        return records
    steps = records[rows]
    order = np.lexsort((steps["first"], steps["processor"]))
    steps = steps[order]
    new = np.r_[True, (steps["first"][1:] != steps["first"][:-1]) | (steps["processor"][1:] != steps["processor"][:-1])]
    lone = match(np.cumsum(new).astype("<i4"), steps["what"] == LockStep.ACQUIRED)[0] < 0
    kept = np.ones(len(records), bool)
    kept[rows[order]] = ~lone | (steps["what"] == LockStep.ACQUIRED)
    return records[kept]


def closed(records: Records, end: int) -> Records:
    """Return *records* without leaves of regions that were not entered; everything open is left at *end*."""
    rows = np.flatnonzero(records["event"] == EVENT["call"])
    calls = records[rows]
    enters = calls["what"] == What.ENTER
    partner = match(calls["processor"].astype("<i4"), enters)[0]
    kept = np.ones(len(records), bool)
    kept[rows] = enters | (partner >= 0)
    return np.concatenate([records[kept], leaves(calls[enters & (partner < 0)], end)])


def leaves(entered: Records, end: int) -> Records:
    """Return the leave records, at *end*, for the regions *entered*, innermost first."""
    left: Records = np.asarray(entered[::-1], TRACE_RECORD).copy()
    left["what"], left["time"] = What.LEAVE, end
    return left


def moments(records: Records) -> Array:
    """Return the time of each record's event; of an event with two records, the first one's time.

    Shape: (records,). Unit: ticks. Source: ScaleGraph.
    """
    at = records["time"].astype(np.int64)
    second = np.flatnonzero(np.isin(records["event"], list(TRACE_PAIRS))) + 1
    at[second] = at[second - 1]
    return at
