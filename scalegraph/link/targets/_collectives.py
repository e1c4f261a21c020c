"""Waiting in collective operations, separated from the operations themselves.

Each process records when it entered and left each operation. All processors of a computer share the time stamp
counter, and all members number a group's operations alike, so the times of all members are known after the run and
nothing is exchanged during it. A member waits

- in an all-to-all operation: until the last member has come;
- in one that distributes from a root: until the root has come;
- in one that collects at a root: only the root waits, until the last member has come;
- in a scan: until all members before it have come;
- between two groups (intercommunicators): for the other group only, or for the root in it.

Source: the wait states "wait at NxN", "late broadcast", "early reduce" and "early scan" of Scalasca.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scalegraph.base.errors import WorkError
from scalegraph.link.targets._clocks import clocks
from scalegraph.link.targets._records import processes
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, EVENT, TRACE_RECORD
from scalegraph.traces.kinds import Operation, Wait

if TYPE_CHECKING:
    from scalegraph.link.accounting import Operating
    from scalegraph.link.targets._records import Process
    from scalegraph.runtime.results import Records, Result
    from scalegraph.traces.kinds import Array

_FROM_ROOT = (Operation.BROADCAST, Operation.SCATTER, Operation.SCATTER_VARIED)
_TO_ROOT = (Operation.REDUCE, Operation.GATHER, Operation.GATHER_VARIED)
_IN_TURN = (Operation.SCAN, Operation.EXCLUSIVE_SCAN)
_TOGETHER = CATEGORY_NAMES.index("idle_collective")
_OPERATION = list(CATEGORY_GROUPS).index("prim_collective")
_APART_S = 1e-6  # how much earlier than the last arrival a member may seem to leave an operation
_WRONG = 0.01  # if that happens in a larger share of the operations, the clocks are not trusted


def separated(raw: Path, results: Sequence[Result]) -> tuple[Operating, Sequence[str]]:
    """Return the ticks in collective operations that were not waiting, by process, thread and region; and remarks.

    *raw*: where the processes of *results* wrote their records. Source: ScaleGraph.
    """
    if not results:
        return {}, ()
    results = sorted(results, key=lambda one: int(one.meta["rank"]))
    try:
        parts = processes(raw, results)
    except WorkError as error:
        return {}, (f"waiting in collective operations is not separated from the operations: {error}",)
    each, compared = clocks(results)
    for one, clock in zip(parts, each, strict=True):
        mine = one.records["event"] == EVENT["collective"]
        for name in ("first", "time"):
            one.records[name][mine] = clock.converted(one.records[name][mine])
    rows, carried = operations(parts)
    if not len(rows):
        return {}, (compared,) if compared else ()
    hertz = float(results[0].meta["frequency_hz"])
    apart = max(_APART_S, 2 * max(clock.error for clock in each) / hertz)
    until, _holder, known, wrong = waits(rows, carried, hertz, apart)
    if wrong > _WRONG * max(int(known.sum()), 1):
        return {}, ("the clocks of the processors differ: waiting in collective operations is not separated",)
    found: dict[str, dict[tuple[int, int], int]] = defaultdict(lambda: defaultdict(int))
    took = rows["time"].astype(np.int64) - until
    for row, region, ticks in zip(rows[known], carried["region"][known], took[known], strict=True):
        part, thread = divmod(int(row["processor"]), parts[0].threads)
        found[results[part].meta["pid"]][thread, int(region)] += round(int(ticks) / each[part].rate)
    lacking = int((~known).sum())
    said = f"{lacking} collective operations lack records of some members: they count as waiting"
    return found, (*([compared] if compared else []), *([said] if lacking else []))


def operations(parts: Sequence[Process]) -> tuple[Records, Records]:
    """Return the operation records of all processes, and the second record of each."""
    rows, carried = [], []
    for part in parts:
        at = np.flatnonzero(part.records["event"][:-1] == EVENT["collective"])
        rows.append(part.records[at])
        carried.append(part.records[at + 1])
    return np.concatenate(rows), np.concatenate(carried)


def waits(rows: Records, carried: Records, hertz: float, apart: float = _APART_S) -> tuple[Array, Array, Array, int]:
    """Return when each operation's waiting ended, for whom it was, which are known, and how many contradict the clocks.

    *rows*: ``collective`` records, one for each member; *carried*: the second record of each, with its number within
    the group and, between two groups, the side; *hertz*: ticks a second; *apart*: seconds by which clocks may differ.
    If members on one side of an operation between two groups do not know the root, *rows* of all of them are updated.

    Shape: (rows,) each, the last a count. Unit: ticks; location.
    """
    until, holder, operation = until_when(rows, carried)
    begin, end = rows["first"].astype(np.int64), rows["time"].astype(np.int64)
    known = operation >= 0
    wrong = len(np.unique(operation[known & (end < until - apart * hertz)]))
    return np.clip(until, begin, end), holder, known, wrong


def until_when(rows: Records, carried: Records) -> tuple[Array, Array, Array]:
    """Return when each member can leave its operation at the earliest, for whom it waits, and the operation's number.

    The number is -1 where not all members were recorded. *rows*, *carried*: as in `waits`.

    Shape: (rows,) each. Unit: ticks; location; none.
    """
    turns = carried["time"]
    begin = rows["first"].astype(np.int64)
    until, holder, operation = begin.copy(), np.full(len(rows), -1), np.full(len(rows), -1)
    members = {int(one): len(np.unique(rows["processor"][rows["region"] == one])) for one in np.unique(rows["region"])}
    order = np.lexsort((rows["processor"], turns, rows["region"]))
    keys = np.stack([rows["region"][order].astype(np.int64), turns[order].astype(np.int64)])
    starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    for number, at in enumerate(np.split(order, starts[1:])):
        if len(at) != members[int(rows["region"][at[0]])] or len(np.unique(rows["what"][at])) > 1:
            continue
        operation[at] = number
        if carried["what"][at[0]]:
            rows["second"][at] = rows["second"][at].max()
            until[at] = _until_other(rows[at], carried["what"][at])
        else:
            until[at] = _until(rows[at])
        came = np.argsort(begin[at])
        holder[at] = rows["processor"][at][came[np.searchsorted(begin[at][came], until[at])]]
    return until, holder, operation


def divided(records: Records, hertz: float) -> Records:
    """Return the *records* of all processes, with the waiting in each operation ended at the last arrival."""
    at = np.flatnonzero(records["event"] == EVENT["collective"])
    rows = records[at]
    if not len(at):
        return records
    until, holder, known, _wrong = waits(rows, records[at + 1], hertz)
    records["second"][at] = rows["second"]
    records["region"][at + 1] = records["what"][at + 1] = 0
    records["time"][at + 1] = records["time"][at]
    places = {
        (int(row["processor"]), int(row["first"])): (int(end), int(who))
        for row, end, who in zip(rows[known], until[known], holder[known], strict=True)
    }
    keep, more = np.ones(len(records), bool), []
    is_wait = (records["event"] == EVENT["wait"]) & (records["what"] == Wait.COLLECTIVE)
    is_share = (records["event"] == EVENT["share"]) & (records["what"] == _TOGETHER)
    for one in np.flatnonzero(is_wait | is_share):
        row = records[one]
        end, who = places.get((int(row["processor"]), int(row["first"])), (int(row["time"]), -1))
        if who < 0:
            continue
        if is_share[one]:
            more.append(
                (row["event"], _OPERATION, row["processor"], row["region"], row["time"], end, row["time"] - end)
            )
            row["second"] = end - row["first"]
        else:
            records[one + 1]["time"], records[one + 1]["region"] = end, who + 1
            keep[one + 1] = end > row["first"]
        row["time"] = end
        keep[one] = end > row["first"]
    operating = np.array([one for one in more if one[-1] > 0], TRACE_RECORD)
    return np.concatenate([records[keep], operating])


def _until_other(rows: Records, side: Array) -> Array:
    """Return when each member of an operation between two groups stops waiting for those on the other *side*."""
    begin, operation, root = rows["first"].astype(np.int64), int(rows["what"][0]), int(rows["second"][0]) - 1
    is_root = rows["processor"] == root
    last = {int(one): begin[side != one].max(initial=0) for one in np.unique(side)}
    others: Array = np.maximum(begin, np.array([last[int(one)] for one in side]))
    if operation in _FROM_ROOT:
        own = side[is_root][0] if is_root.any() else side
        found: Array = np.where(side != own, np.maximum(begin, begin[is_root].max(initial=0)), begin)
        return found
    if operation in _TO_ROOT:
        others = np.where(is_root, others, begin)
    return others


def _until(rows: Records) -> Array:
    """Return when each member of an operation, in rank order, stops waiting."""
    begin, operation, root = rows["first"].astype(np.int64), int(rows["what"][0]), int(rows["second"][0]) - 1
    is_root = rows["processor"] == root
    if operation in _FROM_ROOT:
        return np.where(is_root, begin, begin[is_root].max(initial=0))
    if operation in _TO_ROOT:
        return np.where(is_root, begin.max(), begin)
    if operation in _IN_TURN:
        return np.maximum.accumulate(begin)
    return np.full(len(rows), begin.max())
