"""What each location of a trace does: sends, receives, collective operations, and the useful time in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from scalegraph.analyze.trace.collective_waits import turns
from scalegraph.analyze.trace.stacks import Stacks
from scalegraph.base.errors import InputError
from scalegraph.traces import activities
from scalegraph.traces.activities import BUSY, MEMORY_STALL, OTHER
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Operation, Wait
from scalegraph.traces.lod.layers import sources
from scalegraph.traces.model import Region, Trace

SEND: Final = 0
RECEIVE: Final = 1
COLLECTIVE: Final = 2
TAIL: Final = 3  # the end of a location, after its last operation
KIND_WORDS: Final = ("send to", "receive from", "collective operation", "end")
_USEFUL: Final = (BUSY, MEMORY_STALL, OTHER)
_THREADS: Final = -2  # stands for the communicator of a barrier of threads

Symbol: TypeAlias = tuple[int, int, int, int, str]
"""The identity of an operation: kind, partner relative to the location (or root), operation, communicator, region."""


@dataclass(frozen=True, eq=False)
class Operations:
    """The operations of a location in order; times in ticks.

    *kind*, *partner* (a location: receiver, sender, root; -1 if none), *size* (bytes), *begin* and *end* of each,
    *work*: computation since the previous operation as rows (operation, region, whether stalled, ticks). *group*:
    communicator of a collective operation, *instance*: its number; otherwise -1. The last one is the `TAIL`.
    """

    location: int
    kind: Array
    partner: Array
    size: Array
    begin: Array
    end: Array
    operation: Array
    group: Array
    instance: Array
    region: Array
    work: tuple[Array, Array, Array, Array]
    ready: Array  # when the location reached the operation: its end minus any time that was not useful

    def symbols(self, ranks: int, regions: Sequence[Region]) -> list[Symbol]:
        """Return the identity of each operation; *ranks*: number of locations."""
        names = [*(one.name for one in regions), ""]
        relative = np.where(self.partner >= 0, (self.partner - self.location) % ranks, -1)
        of = np.where(self.kind == COLLECTIVE, self.operation, -1)
        root = np.where(self.kind == COLLECTIVE, self.partner, relative)
        columns = [column.tolist() for column in (self.kind, root, of, self.group)]
        return list(zip(*columns, [names[number] for number in self.region.tolist()], strict=True))


@dataclass(frozen=True, eq=False)
class Read:
    """The operations of a trace by location.

    *members*: locations by communicator; *departures*: by location and row of a receive, when its message was sent.
    """

    trace: Trace
    members: dict[int, tuple[int, ...]]
    locations: tuple[Operations, ...]
    departures: tuple[Array, ...]

    @property
    def second(self) -> int:
        """Ticks per second."""
        return self.trace.meta.ticks_per_second

    @property
    def time_s(self) -> float:
        """The duration of the run."""
        return max(float(one.end[-1]) for one in self.locations) / self.second - self.trace.meta.begin / self.second


def read_operations(trace: Trace) -> Read:
    """Return what the locations of *trace* do. Unit: ticks. Raises `InputError` if it records none of that.

    Collective operations count as one each if the trace records their members, otherwise as their messages. In a trace
    of threads, barriers are such operations.
    """
    source = next(iter(sources(trace)), None)
    collectives = _collectives(trace)
    messages = _messages(trace, collectives)
    if source is None or not (len(messages["sent"]) or len(collectives["begin"])):
        said = "records no messages, collective operations or barriers"
        raise InputError(f"{trace.meta.source or trace.meta.program or 'the trace'} {said}, so there is no graph in it")
    active = np.unique(np.concatenate([messages["sender"], messages["receiver"], collectives["location"]]))
    stacks = Stacks.of(trace)
    spans = _useful(trace, source, stacks)
    found, departures = [], []
    for number in active.tolist():
        own, left = _of_location(trace, number, messages, collectives, spans, stacks)
        found.append(own)
        departures.append(left)
    groups = {
        int(one): tuple(np.unique(collectives["location"][collectives["communicator"] == one]).tolist())
        for one in np.unique(collectives["communicator"])
    }
    return Read(trace, groups, tuple(found), tuple(departures))


def _collectives(trace: Trace) -> dict[str, Array]:
    """Return the visits to collective operations whose members are all known, with the *instance* of each."""
    names = ("begin", "end", "location", "operation", "communicator", "root", "sent", "received")
    found = trace.columns("collectives", names)
    if not len(found["begin"]) and not trace.count("messages"):
        found = _barriers(trace, names)
    order = np.lexsort((found["begin"], found["location"], found["communicator"]))
    found = {name: values[order] for name, values in found.items()}
    communicator, location = found["communicator"].astype(np.int64), found["location"]
    if not len(location):
        return found | {"instance": np.empty(0, np.int64)}
    pair = communicator << 32 | location
    turn = turns(pair)
    found["instance"] = communicator * (int(turn.max()) + 1) + turn
    keep = np.ones(len(location), bool)
    for one in np.unique(communicator).tolist():
        mine = communicator == one
        times = np.unique(location[mine], return_counts=True)[1]
        # members have different numbers of operations: this communicator stands for several
        keep[mine] = len(times) > 1 and times.min() == times.max()
    return {name: values[keep] for name, values in found.items()}


def _barriers(trace: Trace, names: tuple[str, ...]) -> dict[str, Array]:
    waits = trace.columns("waits", ("begin", "end", "location", "why"))
    mine = waits["why"] == Wait.BARRIER
    count = int(mine.sum())
    same = {"operation": int(Operation.BARRIER), "communicator": _THREADS, "root": -1, "sent": 0, "received": 0}
    return {name: waits[name][mine] if name in waits else np.full(count, same[name], np.int64) for name in names}


def _messages(trace: Trace, collectives: dict[str, Array]) -> dict[str, Array]:
    """Return the messages with both ends known, except those inside collective operations."""
    names = ("sent", "left", "received", "sender", "receiver", "size", "tag")
    found = trace.columns("messages", names)
    keep = (found["sent"] != NO_TIME) & (found["received"] != NO_TIME) & (found["sender"] >= 0)
    keep &= found["receiver"] >= 0
    found = {name: values[keep] for name, values in found.items()}
    inside = _inside(collectives, found["sender"], found["sent"])
    inside &= _inside(collectives, found["receiver"], found["received"])
    found = {name: values[~inside] for name, values in found.items()}
    found["left"] = np.where(found["left"] == NO_TIME, found["sent"], found["left"])
    return found


def _inside(collectives: dict[str, Array], location: Array, time: Array) -> Array:
    """Return which moments are inside a collective operation of the location."""
    inside = np.zeros(len(time), bool)
    for number in np.unique(collectives["location"]).tolist():
        mine = collectives["location"] == number
        order = np.argsort(collectives["begin"][mine], kind="stable")
        begin, end = collectives["begin"][mine][order], collectives["end"][mine][order]
        rows = np.flatnonzero(location == number)
        at = np.searchsorted(begin, time[rows], "right") - 1
        inside[rows] = (at >= 0) & (time[rows] <= end[np.maximum(at, 0)])
    return inside


@dataclass(frozen=True, eq=False)
class _Spans:
    """Useful stretches by location, in time order: *first* is the row where each location begins."""

    first: Array
    begin: Array
    end: Array
    region: Array
    stalled: Array
    ticks: Array

    def of(self, number: int) -> tuple[Array, ...]:
        rows = slice(int(self.first[number]), int(self.first[number + 1]))
        columns = (self.begin, self.end, self.region, self.stalled, self.ticks.astype(np.float64))
        return tuple(column[rows] for column in columns)


def _useful(trace: Trace, source: str, stacks: Stacks) -> _Spans:
    """Return the stretches in which locations compute, from the trace's shares, states or calls."""
    parts = list(_from_calls(trace, stacks) if source == "calls" else _from_states(trace, source))
    columns = [np.concatenate([part[i] for part in parts]) for i in range(6)]
    order = np.lexsort((columns[0], columns[5]))
    begin, end, region, stalled, ticks, location = (column[order] for column in columns)
    first = np.searchsorted(location, np.arange(len(trace.definitions.locations) + 1))
    return _Spans(first, begin, end, region, stalled, ticks)


def _from_states(trace: Trace, source: str) -> Iterator[tuple[Array, ...]]:
    activity = activities.of_states(trace.definitions.states, trace.meta)
    useful = np.isin(activity, _USEFUL)
    for chunk in trace.chunks(source):
        keep = useful[np.clip(chunk["state"], 0, len(useful) - 1)] & (chunk["end"] > chunk["begin"])
        some = {name: values[keep] for name, values in chunk.items()}
        region = some.get("region", np.full(len(some["begin"]), NOBODY))
        stalled = activity[some["state"]] == MEMORY_STALL
        ticks = some.get("ticks", some["end"] - some["begin"])
        yield some["begin"], some["end"], region, stalled, ticks, some["location"]


def _from_calls(trace: Trace, stacks: Stacks) -> Iterator[tuple[Array, ...]]:
    useful = np.isin(activities.of_regions(trace.definitions.regions), _USEFUL)
    for number in range(len(trace.definitions.locations)):
        low, high = int(stacks.first[number]), int(stacks.first[number + 1])
        time, inner = stacks.time[low:high], stacks.inner[low:high]
        region = stacks.region_of(inner)
        keep = (region[:-1] >= 0) & (time[1:] > time[:-1])
        keep &= useful[np.maximum(region[:-1], 0)]
        begin, end = time[:-1][keep], time[1:][keep]
        none = np.zeros(len(begin), bool)
        yield begin, end, region[:-1][keep], none, end - begin, np.full(len(begin), number)


def _of_location(
    trace: Trace,
    number: int,
    messages: dict[str, Array],
    collectives: dict[str, Array],
    spans: _Spans,
    stacks: Stacks,
) -> tuple[Operations, Array]:
    sent = {name: values[messages["sender"] == number] for name, values in messages.items()}
    got = {name: values[messages["receiver"] == number] for name, values in messages.items()}
    mine = collectives["location"] == number
    own = {name: values[mine] for name, values in collectives.items()}
    counts = (len(sent["sent"]), len(got["sent"]), len(own["begin"]))

    def joined(first: Array, second: Array, third: Array, last: int) -> Array:
        return np.concatenate([first, second, third, [last]]).astype(np.int64)

    none = [np.full(count, -1, np.int64) for count in counts]
    ends = trace.meta.end
    key = joined(sent["sent"], got["received"], own["end"], ends)
    kind = np.repeat(np.array([SEND, RECEIVE, COLLECTIVE, TAIL]), [*counts, 1])
    partner = joined(sent["receiver"], got["sender"], own["root"], -1)
    tag = joined(sent["tag"], got["tag"], none[2], -1)
    order = np.lexsort((tag, kind, key))
    columns = {
        "kind": kind,
        "partner": partner,
        "size": joined(sent["size"], got["size"], np.maximum(own["sent"], own["received"]), 0),
        "begin": joined(sent["sent"], got["received"], own["begin"], ends),
        "end": joined(sent["left"], got["received"], own["end"], ends),
        "operation": joined(none[0], none[1], own["operation"], -1),
        "group": joined(none[0], none[1], own["communicator"], -1),
        "instance": joined(none[0], none[1], own["instance"], -1),
    }
    columns = {name: values[order] for name, values in columns.items()}
    left = joined(none[0], got["left"], none[2], -1)[order]
    _in_rising_order(columns, left, tag[order])
    end = columns["end"]
    end[:-1] = np.minimum(end[:-1], np.r_[columns["begin"][1:-1], ends])  # sends still in progress when others begin
    end = columns["end"] = np.maximum.accumulate(end)
    work = _work(end, spans.of(number))
    idle = np.diff(np.r_[trace.meta.begin, end]) - np.bincount(work[0], work[3], len(end))
    region = stacks.region_of(stacks.at(np.full(len(end), number), columns["begin"], before=True))
    found = Operations(number, **columns, region=region, work=work, ready=end - np.maximum(idle, 0))
    return found, left


def _in_rising_order(columns: dict[str, Array], left: Array, tag: Array) -> None:
    """Sort adjacent receives by partner and tag: one wait completes them in any order."""
    kind = columns["kind"]
    run = np.cumsum(np.r_[True, (kind[1:] != RECEIVE) | (kind[:-1] != RECEIVE)])
    order = np.lexsort((tag, columns["partner"], run))
    order = np.where(kind == RECEIVE, order, np.arange(len(kind)))
    for name in ("partner", "size"):
        columns[name][:] = columns[name][order]
    left[:] = left[order]


def _work(end: Array, spans: tuple[Array, ...]) -> tuple[Array, Array, Array, Array]:
    """Return (operation, region, stalled, ticks): useful time before each operation; stretches may span several."""
    begin, until, region, stalled, ticks = spans
    last = len(end) - 1
    first_at = np.minimum(np.searchsorted(end, begin, "right"), last)
    last_at = np.minimum(np.searchsorted(end, until, "left"), last)
    pieces = np.maximum(last_at - first_at + 1, 1)
    row = np.repeat(np.arange(len(begin)), pieces)
    at = first_at[row] + turns(row) if len(row) else row
    low = np.maximum(begin[row], np.r_[begin.min(initial=0), end][at])
    high = np.minimum(until[row], end[at])
    part = np.clip(high - low, 0, None) / np.maximum(until - begin, 1)[row]
    part = np.where(pieces[row] == 1, 1.0, part)
    return at, region[row], stalled[row], ticks[row] * part
