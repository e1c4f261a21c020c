"""A part of a trace as a trace of its own, so that very large traces need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalegraph.analyze.trace import idle
from scalegraph.analyze.trace.calls import NEVER, CallTable
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, Array, Columns, LockStep, TaskStep, What
from scalegraph.traces.model import MemoryPart, Part, Trace

LARGE: Final = 25_000_000  # rows: an analysis that would need more than this at once examines intervals instead
_SPANS: Final = ("waits", "messages", "states", "shares")
LATER: Final = 4  # the time after an interval that is examined too, as a share of its length


@dataclass(frozen=True, eq=False)
class Beyond:
    """What lies outside a part of a trace and is needed to find the holder of each wait in it.

    *begin* and *end* (ticks) bound the part examined. *callers* are numbers region * locations + location, ascending,
    of regions in which all wait for all; *before* and *total* count the calls of each before the interval, and in the
    whole run. *sizes* are those of all messages, ascending, and *fastest* the least transfer time in ticks of each
    size. *kinds* are those with rows in the whole trace: a trace that records waits records all of them, even where a
    part has none.
    """

    begin: int
    end: int
    callers: Array
    before: Array
    total: Array
    sizes: Array
    fastest: Array
    kinds: frozenset[str]


def reach(trace: Trace, begin: int, end: int) -> tuple[int, int]:
    """Return the range of ticks to examine for *begin* to *end*: later events also decide about waits.

    Unit: ticks. Source: ScaleGraph.
    """
    return max(begin, trace.earliest), min(end + (end - begin) // LATER, max(trace.meta.end, end))


def rows_in(trace: Trace, begin: int, end: int) -> int:
    """Return the number of rows from *begin* to *end* (ticks), without reading columns of parts that are inside.

    Unit: none (count). Source: ScaleGraph.
    """
    return sum(
        _rows(kind, part, begin, end)
        for kind in ("calls", "collectives", "tasks", "locks", *_SPANS)
        for part in trace.parts[kind]
    )


def _rows(kind: str, part: Part, begin: int, end: int) -> int:
    if part.first > end or part.last < begin:
        return 0
    if part.first >= begin and part.last <= end:
        return part.rows
    checkpoint()
    first, last = (part.column(name) for name in (KINDS[kind].times[0], KINDS[kind].times[-1]))
    return int(np.count_nonzero((last >= begin) & (first <= end)))


def part_of(trace: Trace, table: CallTable, begin: int, end: int) -> tuple[Trace, Beyond]:
    """Return the part of *trace* between *begin* and *end* (ticks), and shortly after; *table* has its calls.

    Calls open at the begin keep their time of enter; a location outside every region leaves something at its last event
    before, and enters something at its next event after. The bounds of the trace stay as they are.

    Shape: rows of the part. Unit: ticks. Source: ScaleGraph.
    """
    begin, end = reach(trace, begin, end)
    parts: dict[str, list[Part]] = {"calls": [MemoryPart("calls", piece) for piece in _calls(trace, table, begin, end)]}
    for kind in _SPANS:
        checkpoint()
        parts[kind] = [MemoryPart(kind, trace.columns(kind, begin=begin, end=end))]
    for kind, pieces in (
        ("collectives", _collectives(trace, begin, end)),
        ("tasks", _tasks(trace, begin, end)),
        ("locks", _locks(trace, begin, end)),
    ):
        parts[kind] = [MemoryPart(kind, piece) for piece in pieces]
    kinds = idle.recorded(trace)
    beyond = Beyond(begin, end, *_callers(trace, table, begin, end), *_fastest(trace), kinds)
    return Trace(trace.definitions, trace.meta, parts), beyond


def _calls(trace: Trace, table: CallTable, begin: int, end: int) -> Iterator[Columns]:
    """Yield the calls between *begin* and *end*: those open before, the events, and leaves or enters after."""
    count = len(trace.definitions.locations)
    last, following = np.full(count, NO_TIME), np.full(count, NEVER)
    pieces: list[Columns] = []
    for number, part in enumerate(trace.parts["calls"]):
        if part.last < begin or part.first > end:
            if part.last < begin:
                np.maximum(last, table.last[number], out=last)
            else:
                np.minimum(following, table.first[number], out=following)
            continue
        checkpoint()
        columns = {name: part.column(name) for name in ("time", "location", "what", "region")}
        known = (columns["location"] >= 0) & (columns["location"] < count)
        for edge, side in ((last, known & (columns["time"] < begin)), (following, known & (columns["time"] > end))):
            extreme = np.maximum if edge is last else np.minimum
            extreme.at(edge, columns["location"][side], columns["time"][side])
        keep = known & (columns["time"] >= begin) & (columns["time"] <= end)
        pieces.append({name: values[keep] for name, values in columns.items()})
        part.forget()
    opened, left = _across(table, begin, end)
    yield _events(opened, "begin", What.ENTER, table)
    yield _outside(last, opened["location"], What.LEAVE)
    yield from pieces
    ends = left["end"] < trace.meta.end  # the others are unknown, or never left
    yield _events({name: values[ends] for name, values in left.items()}, "end", What.LEAVE, table)
    yield _outside(following, left["location"], What.ENTER)


def _across(table: CallTable, begin: int, end: int) -> tuple[Columns, Columns]:
    """Return the calls open at *begin*, outer ones first, and those open at *end*, inner ones first."""
    opened: list[Columns] = []
    left: list[Columns] = []
    for calls in table.calls(begin, end):
        for found, across in (
            (opened, (calls.begin < begin) & (calls.end >= begin)),
            (left, (calls.begin <= end) & (calls.end > end)),
        ):
            found.append({name: getattr(calls, name)[across] for name in ("begin", "end", "location", "path")})
    made = []
    for found, sign in ((opened, 1), (left, -1)):
        rows = {name: np.concatenate([one[name] for one in found]) for name in ("begin", "end", "location", "path")}
        depth = table.paths.depth[rows["path"]] if len(rows["path"]) else rows["path"]
        order = np.lexsort((sign * depth, rows["location"]))
        made.append({name: values[order] for name, values in rows.items()})
    return made[0], made[1]


def _events(calls: Columns, time: str, what: What, table: CallTable) -> Columns:
    region = table.paths.region[calls["path"]] if len(calls["path"]) else calls["path"]
    return {
        "time": calls[time].astype(np.int64),
        "location": calls["location"].astype(np.int32),
        "what": np.full(len(region), what, np.uint8),
        "region": region.astype(np.int32),
    }


def _outside(time: Array, inside: Array, what: What) -> Columns:
    """Return an event at *time* for each location that is not *inside* a region there, if it has one."""
    there = (time != NO_TIME) & (time != NEVER)
    there[inside] = False
    location = np.flatnonzero(there)
    return {
        "time": time[location],
        "location": location.astype(np.int32),
        "what": np.full(len(location), what, np.uint8),
        "region": np.full(len(location), NOBODY, np.int32),
    }


def _collectives(trace: Trace, begin: int, end: int) -> Iterator[Columns]:
    """Yield whole operations of all members: per communicator from the first to the last that overlaps the interval.

    This keeps the n-th operation of one member aligned with the n-th of the others.
    """
    done: dict[int, int] = {}
    turns: list[tuple[Array, Array]] = []
    chosen: dict[int, tuple[int, int]] = {}
    for columns in trace.chunks("collectives", ("begin", "end", "location", "communicator")):
        checkpoint()
        communicator, key = columns["communicator"], columns["communicator"].astype(np.int64) << 32
        key |= columns["location"].astype(np.int64) & 0xFFFFFFFF
        order = np.argsort(key, kind="stable")
        turn = np.empty(len(key), np.int64)
        starts = np.flatnonzero(np.r_[True, key[order][1:] != key[order][:-1]][: len(key)])
        for low, high in zip(starts.tolist(), [*starts[1:].tolist(), len(key)], strict=True):
            member = int(key[order[low]])
            turn[order[low:high]] = done.get(member, 0) + np.arange(high - low)
            done[member] = done.get(member, 0) + high - low
        turns.append((communicator, turn))
        touching = (columns["begin"] <= end) & (columns["end"] >= begin)
        for number in np.unique(communicator[touching]).tolist():
            mine = turn[touching & (communicator == number)]
            low, high = chosen.get(number, (NEVER, -1))
            chosen[number] = min(low, int(mine.min())), max(high, int(mine.max()))
    for columns, (communicator, turn) in zip(trace.chunks("collectives"), turns, strict=True):
        keep = np.zeros(len(turn), bool)
        for number, (low, high) in chosen.items():
            keep |= (communicator == number) & (turn >= low) & (turn <= high)
        yield {name: values[keep] for name, values in columns.items()}


def _tasks(trace: Trace, begin: int, end: int) -> Iterator[Columns]:
    """Yield the task switches in the interval, and the creation of the tasks that run in it."""
    inside = trace.columns("tasks", ("task", "what"), begin=begin, end=end)
    runs = np.unique(inside["task"][inside["what"] == TaskStep.SWITCHED_TO])
    for columns in trace.chunks("tasks"):
        checkpoint()
        keep = (columns["time"] >= begin) & (columns["time"] <= end)
        keep |= (columns["what"] == TaskStep.CREATED) & np.isin(columns["task"], runs)
        yield {name: values[keep] for name, values in columns.items()}


def _locks(trace: Trace, begin: int, end: int) -> Iterator[Columns]:
    """Yield the lock events in the interval, and the last release of each lock before it."""
    last: dict[int, tuple[int, int, int]] = {}
    for number, columns in enumerate(trace.chunks("locks", ("time", "lock", "what"))):
        rows = np.flatnonzero((columns["time"] < begin) & (columns["what"] == LockStep.RELEASED))
        rows = rows[np.argsort(columns["time"][rows], kind="stable")][::-1]
        locks, at = np.unique(columns["lock"][rows], return_index=True)
        for lock, row in zip(locks.tolist(), rows[at].tolist(), strict=True):
            last[lock] = max(last.get(lock, (NO_TIME, 0, 0)), (int(columns["time"][row]), number, row))
    for number, columns in enumerate(trace.chunks("locks")):
        checkpoint()
        keep = (columns["time"] >= begin) & (columns["time"] <= end)
        keep[[row for _, part, row in last.values() if part == number]] = True
        yield {name: values[keep] for name, values in columns.items()}


def _callers(trace: Trace, table: CallTable, begin: int, end: int) -> tuple[Array, Array, Array]:
    """Return who calls regions in which all wait for all, how often before the interval, and how often in all."""
    wanted = idle.operations(trace, idle.recorded(trace)) >= 0
    regions, locations = len(wanted), len(trace.definitions.locations)
    pairs, before, total = (np.zeros(0, np.int64) for _ in range(3))
    for part in trace.parts["calls"] if wanted.any() and not trace.count("waits") else ():
        checkpoint()
        columns = {name: part.column(name) for name in ("time", "location", "what", "region")}
        keep = (columns["what"] == What.ENTER) & (columns["region"] >= 0) & (columns["region"] < regions)
        keep &= (columns["location"] >= 0) & (columns["location"] < locations)
        keep[keep] = wanted[columns["region"][keep]]
        called = columns["region"][keep] * np.int64(locations) + columns["location"][keep]
        early = columns["time"][keep] < begin
        part.forget()
        pairs, place = np.unique(np.r_[pairs, called], return_inverse=True)
        before = np.bincount(place, np.r_[before, early], len(pairs)).astype(np.int64)
        total = np.bincount(place, np.r_[total, np.ones(len(called))], len(pairs)).astype(np.int64)
    opened, _ = _across(table, begin, end)  # open calls are part of the interval
    region = table.paths.region[opened["path"]] if len(opened["path"]) else opened["path"]
    called = region * locations + opened["location"]
    called = called[np.isin(called, pairs) & (region >= 0)]
    np.subtract.at(before, np.searchsorted(pairs, called), 1)
    return pairs, before, total


def _fastest(trace: Trace) -> tuple[Array, Array]:
    """Return the sizes of all messages, ascending, and the least ticks from send to receive for each."""
    sizes, ticks = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for columns in trace.chunks("messages", ("sent", "received", "size", "sender", "receiver")):
        checkpoint()
        known = (columns["sent"] != NO_TIME) & (columns["received"] >= columns["sent"])
        known &= columns["sender"] != columns["receiver"]
        size = np.r_[sizes, columns["size"][known]]
        took = np.r_[ticks, columns["received"][known] - columns["sent"][known]]
        sizes, kind = np.unique(size, return_inverse=True)
        ticks = np.full(len(sizes), NEVER)
        np.minimum.at(ticks, kind, took)
    return sizes, ticks
