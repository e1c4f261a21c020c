"""Traces of measured runs: the records of each process, merged into one trace.

Each process leaves records with time stamps from a clock that all processors of a computer share. At first a wait has
no holder. It is the thread whose record has the time at which the wait was ended (the last one at a barrier, the one
that forked, the one that created or ended a task); for a lock, the thread that released it last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scalegraph.link.targets._collectives import divided
from scalegraph.link.targets._messages import matched
from scalegraph.link.targets._parts import closed, cut, moments, whole_operations, windows_of
from scalegraph.link.targets._records import Process
from scalegraph.link.targets._tasks import find_others, find_parents, numbered
from scalegraph.runtime.format import (
    CATEGORY_NAMES,
    ENDIAN_MARK,
    EVENT,
    TRACE_HEADER,
    TRACE_MAGIC,
    TRACE_MARKS,
    TRACE_RECORD,
    TRACE_STATES,
    TRACE_VERSION,
    TRACE_WAITS,
    TRACED,
)
from scalegraph.traces.kinds import LockStep, TaskStep

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records
    from scalegraph.traces.kinds import Array

_MARK = {name: number for number, (name, _) in enumerate(TRACE_MARKS)}
_WHY = {name: number for number, (name, _) in enumerate(TRACE_WAITS)}
_STATE = {name: number for number, (name, _) in enumerate(TRACE_STATES)}


def merge(parts: Sequence[Process], out: Path, what: int, regions: Sequence[int] = ()) -> int:
    """Write the records of *parts* as one file for `runtime.trace.write_trace`; return their number.

    *what*: bits of what is recorded; *regions*: inside which, everywhere if empty. Times are ticks since the first
    process began.
    """
    origin = min(int(part.header["begin"]) for part in parts)
    full = [int(part.header["end"]) for part in parts if part.header["state"] == _STATE["full"]]
    end = min(full) if full else max(int(part.header["end"]) for part in parts)
    records = np.concatenate([part.records for part in parts])
    records = records[(records["event"] != EVENT["share"]) | (records["second"] > 0)]  # relative to a slower clock
    records = np.concatenate([records, _ends(records, origin, end)])
    records = records[np.argsort(records["processor"], kind="stable")]  # keeps both records of an event together
    windows = windows_of(parts, regions, end)
    if windows is not None:
        records = whole_operations(records, windows)
    records = matched(divided(records, float(parts[0].header["clock_hz"])), parts[0].threads)
    records = records[np.argsort(records["processor"], kind="stable")]
    at = moments(records)
    records, at = records[at <= end], at[at <= end]
    records = records[np.argsort(at, kind="stable")]
    _find_holders(records)
    records = numbered(closed(records, end) if windows is None else cut(records, windows))
    records = records[np.isin(records["event"], _unwanted(what), invert=True)]
    _number_locks(records)
    _shift(records, origin)
    header = np.zeros(1, TRACE_HEADER)
    header["magic"], header["version"], header["endian"] = TRACE_MAGIC, TRACE_VERSION, ENDIAN_MARK
    header["state"] = _STATE["full" if full else "whole"]
    header["processors"] = sum(part.threads for part in parts)
    header["record_size"], header["what"], header["records"] = TRACE_RECORD.itemsize, what, len(records)
    header["begin"], header["end"] = (windows[0][0] - origin, windows[-1][1] - origin) if windows else (0, end - origin)
    header["asked_begin"] = max(min(int(part.header["asked_begin"]) for part in parts) - origin, 0)
    header["asked_end"] = max(max(int(part.header["asked_end"]) for part in parts) - origin, 0)
    header["asked_regions"] = len(regions)
    header["clock_hz"] = max(int(part.header["clock_hz"]) for part in parts)
    header["limit"] = sum(int(part.header["limit"]) for part in parts) if full else 0
    header["regions"] = 1 + int(_regions(records).max(initial=0))
    with out.open("wb") as file:
        header.tofile(file)
        records.tofile(file)
    return len(records)


def _unwanted(what: int) -> list[int]:
    """Return the events that the monitor records for parts of a run even if *what* does not include them."""
    return [
        EVENT[event] for event, name in (("call", "regions"), ("share", "shares")) if not what >> TRACED.index(name) & 1
    ]


def _ends(records: Records, origin: int, end: int) -> Records:
    """Return records for the time before each location's first event and after its last."""
    shares = records[records["event"] == EVENT["share"]]
    found = []
    for location in np.unique(shares["processor"]):
        mine = shares[shares["processor"] == location]
        first, last = int(mine["first"].min()), int(mine["time"].max())
        for name, begin, until in (("idle_not_started", origin, first), ("idle_finished", last, end)):
            if begin < until:
                what = CATEGORY_NAMES.index(name)
                found.append((EVENT["share"], what, location, 0, until, begin, until - begin))
    return np.array(found, TRACE_RECORD)


def _find_holders(records: Records) -> None:
    """Set the location that ended each wait in its second record (+ 1; 0 if unknown)."""
    waits = np.flatnonzero(records["event"] == EVENT["wait"])
    why = records["what"][waits]
    marks = records[records["event"] == EVENT["mark"]]
    for cause, mark in (("barrier", "barrier"), ("other", "fork")):
        _find(records, waits[why == _WHY[cause]], marks[marks["what"] == _MARK[mark]])
    steps = records[records["event"] == EVENT["task"]]
    find_parents(records)
    for cause, step in (("barrier", TaskStep.CREATED), ("task", TaskStep.CREATED), ("task", TaskStep.ENDED)):
        unknown = (why == _WHY[cause]) & (records["region"][waits + 1] == 0)
        _find(records, waits[unknown], steps[steps["what"] == step])
    find_others(records)
    steps = records[records["event"] == EVENT["lock"]]
    _find_releases(records, waits[why == _WHY["lock"]], steps[steps["what"] == LockStep.RELEASED])


def _find(records: Records, waits: Array, marks: Records) -> None:
    """Set the holder of each of *waits* to the mark with exactly the time at which the wait ended."""
    marks = marks[np.argsort(marks["time"], kind="stable")]
    if not len(marks):
        return
    ended = records["time"][waits + 1]
    at = np.minimum(np.searchsorted(marks["time"], ended), len(marks) - 1)
    known = (marks["time"][at] == ended) & (marks["processor"][at] != records["processor"][waits])
    records["region"][waits[known] + 1] = marks["processor"][at[known]].astype(np.uint32) + 1


def _find_releases(records: Records, waits: Array, releases: Records) -> None:
    """Set the holder of *waits* for locks: the thread that last released the lock before the wait ended, and when."""
    releases = releases[np.lexsort((releases["time"], releases["first"]))]
    for lock in np.unique(records["second"][waits]):
        mine = waits[records["second"][waits] == lock]
        given = releases[releases["first"] == lock]
        at = np.searchsorted(given["time"], records["time"][mine], side="right") - 1
        mine, at = mine[at >= 0], at[at >= 0]
        other = given["processor"][at] != records["processor"][mine]
        late = given["time"][at] >= records["first"][mine]
        mine, at = mine[other & late], at[other & late]
        records["region"][mine + 1] = given["processor"][at].astype(np.uint32) + 1
        records["time"][mine + 1] = given["time"][at]


def _number_locks(records: Records) -> None:
    """Give each acquisition of a lock its number; a release gets the number of the acquisition before it."""
    rows = np.flatnonzero(records["event"] == EVENT["lock"])
    locks = records["first"][rows]
    for lock in np.unique(locks):
        mine = rows[locks == lock]
        records["second"][mine] = np.cumsum(records["what"][mine] == LockStep.ACQUIRED)


def _shift(records: Records, origin: int) -> None:
    """Make all times relative to *origin*; earlier ones become 0."""
    event = records["event"]
    start = np.uint64(origin)
    own = np.isin(event, [EVENT["share"], EVENT["wait"], EVENT["message"], EVENT["collective"]])
    for name, rows in (
        ("time", np.ones(len(records), bool)),
        ("first", own),
        ("second", event == EVENT["message"]),
    ):
        values = records[name][rows]
        records[name][rows] = np.where(values > start, values - start, 0)


def _regions(records: Records) -> Array:
    named = np.isin(records["event"], [EVENT[name] for name in ("call", "share", "wait", "mark", "task")])
    return records["region"][named]
