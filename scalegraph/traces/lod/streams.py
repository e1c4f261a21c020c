"""Segments from events: state or region of every location over time, in order and without overlap.

A segment has a begin and an end (ticks), a code (0: nothing, otherwise the number of a region or state plus 1) and, for
shares, the ticks that went to the code; for others this is its whole length. Segments of calls and states are
contiguous, so only their begins are stored, and the end of the last; segments of one stretch of shares have the same
begin and end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from scalegraph.traces.kinds import Array, Columns, What
from scalegraph.traces.lod.scratch import Growing, Scratch
from scalegraph.traces.model import Trace

Step = Callable[[float], None]
PIECE = 1 << 20  # rows processed at a time


@dataclass
class Stream:
    """Segments of all locations, one location after the other.

    Those of location *i* are rows ``first[i]`` to ``first[i + 1]``. Without *end*, each ends where the next row begins,
    and the last row of a location is not a segment but the end of the run.
    """

    source: str
    first: Array
    begin: Array
    code: Array
    end: Array | None = None
    ticks: Array | None = None

    def bounds(self, location: int) -> tuple[int, int]:
        """Return the first row of *location* and the one after its last segment."""
        low, high = int(self.first[location]), int(self.first[location + 1])
        return (low, max(high - 1, low)) if self.end is None else (low, high)

    def ends(self, rows: Array) -> Array:
        """Return where the segments *rows* end."""
        if self.end is not None:
            return np.asarray(self.end[rows])
        return np.asarray(self.begin[rows + 1])

    def touching(self, location: Array, begins: Array, ends: Array) -> tuple[Array, Array]:
        """Return for each interval the first row of *location* that touches it, and the one after the last."""
        low, high = self.first[location], self.first[location + 1]
        if self.end is None:
            high = np.maximum(high - 1, low)
            starts = np.maximum(places(self.begin, low, high, begins, after=True) - 1, low)
        else:
            starts = places(self.end, low, high, begins, after=True)
        return starts, np.maximum(places(self.begin, low, high, ends, after=False), starts)


def places(values: Array, low: Array, high: Array, wanted: Array, *, after: bool) -> Array:
    """Return the `searchsorted` position of each of *wanted* among *values* between its *low* and *high*, vectorised.

    *after*: after equal values rather than before them.
    """
    low, high = low.copy(), high.copy()
    while True:
        open_ = low < high
        if not open_.any():
            return low
        middle = (low + high) >> 1
        found = values[np.where(open_, middle, 0)]
        up = open_ & ((found <= wanted) if after else (found < wanted))
        low = np.where(up, middle + 1, low)
        high = np.where(open_ & ~up, middle, high)


@dataclass
class Gather:
    """Rows of all locations as they come, grouped by location at the end."""

    scratch: Scratch
    locations: int
    fields: dict[str, np.dtype[np.generic]]
    extents: list[list[tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = {name: Growing(self.scratch, dtype) for name, dtype in self.fields.items()}
        self.extents = [[] for _ in range(self.locations)]

    def add(self, location: Array, columns: Columns) -> None:
        """Add rows grouped by *location*."""
        if not len(location):
            return
        at = next(iter(self.columns.values())).rows
        starts = np.flatnonzero(np.r_[True, location[1:] != location[:-1]])
        stops = np.r_[starts[1:], len(location)]
        for who, start, stop in zip(location[starts].tolist(), starts.tolist(), stops.tolist(), strict=True):
            self.extents[who].append((at + start, at + stop))
        for name, column in self.columns.items():
            column.append(columns[name])

    def location(self, who: int) -> Iterator[Columns]:
        """Yield the rows of a location in order, about `PIECE` at a time."""
        waiting: list[tuple[int, int]] = []
        rows = 0
        for extent in self.extents[who]:
            waiting.append(extent)
            rows += extent[1] - extent[0]
            if rows >= PIECE:
                yield self._read(waiting)
                waiting, rows = [], 0
        if waiting:
            yield self._read(waiting)

    def _read(self, extents: list[tuple[int, int]]) -> Columns:
        return {
            name: np.concatenate([column.read(start, stop) for start, stop in extents])
            for name, column in self.columns.items()
        }


def code_type(count: int) -> np.dtype[np.generic]:
    """Return the smallest integer type for *count* codes and 0."""
    return np.dtype(np.uint8 if count < 255 else np.uint16 if count < 65535 else np.int32)


class _Order:
    """Keeps time from going back in a location, across parts."""

    def __init__(self, locations: int, begin: int, end: int, notes: Counter[str], kind: str) -> None:
        self._last = np.full(locations, begin, np.int64)
        self._begin, self._end, self._notes, self._kind = begin, end, notes, kind

    def forward(self, owner: Array, time: Array) -> Array:
        """Return *time* (rows grouped by *owner*), corrected where it goes back or is outside the run."""
        clipped = np.clip(time, self._begin, self._end)
        self._notes[f"{self._kind} outside the run"] += int(np.count_nonzero(clipped != time))
        new = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        # offset the owners, so that the running maximum of one never reaches another
        span = self._end - self._begin + 1
        height = np.repeat(np.arange(len(new)), np.diff(np.r_[new, len(owner)]))
        if len(new) * span < 2**62:
            put = clipped - self._begin
            put[new] = np.maximum(put[new], self._last[owner[new]] - self._begin)
            fixed = np.maximum.accumulate(put + height * span) - height * span + self._begin
        else:
            fixed = clipped.copy()
            for start, stop in zip(new.tolist(), np.r_[new[1:], len(owner)].tolist(), strict=True):
                fixed[start] = max(fixed[start], self._last[owner[start]])
                np.maximum.accumulate(fixed[start:stop], out=fixed[start:stop])
        self._notes[f"{self._kind} earlier than the one before in their location"] += int(
            np.count_nonzero(fixed != clipped)
        )
        last = np.r_[new[1:], len(owner)] - 1
        self._last[owner[last]] = fixed[last]
        return fixed


def by_location(location: Array) -> Array:
    """Return the order that groups rows by location and keeps their order otherwise."""
    if len(location) and np.all(location[1:] >= location[:-1]):
        return np.arange(len(location))
    narrow = location.astype(np.uint16) if not len(location) or int(location.max()) < 65536 else location
    return np.argsort(narrow, kind="stable")


def _pieces(trace: Trace, kind: str, names: tuple[str, ...], step: Step) -> Iterator[Columns]:
    """Yield the columns *names* of *kind*, at most `PIECE` rows at a time."""
    done, total = 0, trace.count(kind) or 1
    for part in trace.parts[kind]:
        columns = {name: part.column(name) for name in names}
        for start in range(0, part.rows, PIECE):
            step(done / total)
            chunk = {name: values[start : start + PIECE] for name, values in columns.items()}
            done += len(chunk[names[0]])
            yield chunk
        part.forget()


def _placed(location: Array, extra: Array, notes: Counter[str], kind: str, locations: int) -> Array | None:
    """Return which rows have a valid location and *extra*; None if all have."""
    good: Array = extra & (location >= 0) & (location < locations)
    missing = len(good) - int(np.count_nonzero(good))
    if not missing:
        return None
    notes[f"{kind} of an unknown location, region or state"] += missing
    return np.flatnonzero(good)


@dataclass
class _Open:
    """The regions open in each location at the end of a part."""

    stacks: dict[int, Array] = field(default_factory=dict)

    def before(self, owner: Array, code: Array, enters: Array) -> tuple[Array, Array, Array, Array]:
        """Return owner, code and enters, with each owner's open regions prepended, and which rows are new."""
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        stacks = [self.stacks.get(int(who), _NONE) for who in owner[starts]]
        depths = np.array([len(stack) for stack in stacks], np.int64)
        if not depths.any():
            return owner, code, enters, np.ones(len(owner), bool)
        at = np.repeat(starts, depths)
        fresh = np.insert(np.ones(len(owner), bool), at, False)
        return (
            np.insert(owner, at, owner[at]),
            np.insert(code, at, np.concatenate(stacks)),
            np.insert(enters, at, True),
            fresh,
        )

    def after(self, owner: Array, code: Array, height: Array, enters: Array) -> None:
        """Keep the regions open after the last row of each owner: at each depth the last one entered."""
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        stops = np.r_[starts[1:], len(owner)]
        # an enter is still open if the height never falls below its own afterwards
        shift = np.repeat(np.arange(len(starts)), stops - starts) * (int(height.max()) + 2)
        least: Array = np.flip(np.minimum.accumulate(np.flip(height + shift))) - shift
        still: Array = np.flatnonzero(enters & (least >= height))
        bounds: Array = np.asarray(np.searchsorted(still, np.r_[starts, len(owner)]))
        for number, who in enumerate(owner[starts].tolist()):
            self.stacks[who] = code[still[bounds[number] : bounds[number + 1]]]


_NONE = np.empty(0, np.int64)


def innermost(owner: Array, code: Array, enters: Array, stacks: _Open, notes: Counter[str]) -> Array:
    """Return the code of the innermost region after each row; rows are grouped by *owner*.

    A leave belongs to the innermost open region, as in `traces.nesting`; unmatched ones are counted.
    """
    owner, code, enters, fresh = stacks.before(owner, code, enters)
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    lengths = np.diff(np.r_[starts, len(owner)])
    step = np.where(enters, 1, -1).astype(np.int64)
    total = np.cumsum(step)
    height = total - np.repeat(total[starts] - step[starts], lengths)
    shift = np.repeat(np.arange(len(starts)), lengths) * (2 * len(owner) + 2)
    least = np.minimum(np.minimum.accumulate(np.minimum(height, 0) - shift) + shift, 0)
    height -= least
    lone = ~enters & np.r_[False, least[1:] < least[:-1]]
    lone[starts] = ~enters[starts]
    notes["leaves without an enter"] += int(np.count_nonzero(lone))
    # rows after which an owner has the same depth: the last enter among them is the innermost region after each
    deep = height.astype(np.uint16) if int(height.max()) < 65536 else height
    order = np.argsort(deep, kind="stable")
    entered = np.maximum.accumulate(np.where(enters[order], np.arange(len(order)), -1))
    result = np.zeros(len(order), np.int64)
    result[order] = code[order[np.maximum(entered, 0)]]
    result[height == 0] = 0
    before = np.r_[0, result[:-1]]
    before[starts] = 0
    other = ~enters & ~lone & (before != code) & (code > 0) & fresh
    notes["leaves of another region than the one entered last"] += int(np.count_nonzero(other))
    stacks.after(owner, code, height, enters)
    return result[fresh]


def of_calls(trace: Trace, scratch: Scratch, notes: Counter[str], step: Step) -> Stream:
    """Return the innermost region over time in each location with calls; nothing before the first call."""
    locations, regions = len(trace.definitions.locations), len(trace.definitions.regions)
    kept = Gather(scratch, locations, {"begin": np.dtype(np.int64), "code": code_type(regions)})
    order = _Order(locations, trace.meta.begin, trace.meta.end, notes, "calls")
    stacks = _Open()
    for chunk in _pieces(trace, "calls", ("time", "location", "what", "region"), step):
        known = (chunk["what"] == What.ENTER) | (chunk["what"] == What.LEAVE)
        known &= (chunk["region"] >= -1) & (chunk["region"] < regions)
        keep = _placed(chunk["location"], known, notes, "calls", locations)
        if keep is not None:
            chunk = {name: values[keep] for name, values in chunk.items()}
        if not len(chunk["time"]):
            continue
        rows = by_location(chunk["location"])
        owner = chunk["location"][rows]
        time = order.forward(owner, chunk["time"][rows])
        code = innermost(owner, chunk["region"][rows] + np.int64(1), chunk["what"][rows] == What.ENTER, stacks, notes)
        # zero-length segments are dropped
        lasting = np.r_[(time[1:] > time[:-1]) | (owner[1:] != owner[:-1]), True]
        kept.add(owner[lasting], {"begin": time[lasting], "code": code[lasting]})
    return _touching(kept, "calls", trace, scratch, step, always=True)


def of_states(trace: Trace, scratch: Scratch, notes: Counter[str], step: Step) -> Stream:
    """Return the states of each location; where they overlap, the later begins at the end of the earlier."""
    locations, states = len(trace.definitions.locations), len(trace.definitions.states)
    kept = Gather(scratch, locations, {"begin": np.dtype(np.int64), "code": code_type(states)})
    begins = _Order(locations, trace.meta.begin, trace.meta.end, notes, "states")
    until = np.full(locations, trace.meta.begin, np.int64)
    for chunk in _pieces(trace, "states", ("begin", "end", "location", "state"), step):
        known = (chunk["state"] >= 0) & (chunk["state"] < states) & (chunk["end"] >= chunk["begin"])
        keep = _placed(chunk["location"], known, notes, "states", locations)
        if keep is not None:
            chunk = {name: values[keep] for name, values in chunk.items()}
        if not len(chunk["begin"]):
            continue
        rows = by_location(chunk["location"])
        owner = chunk["location"][rows]
        begin, end, number = begins.forward(owner, chunk["begin"][rows]), chunk["end"][rows], chunk["state"][rows]
        begin, end, overlapping = _apart(owner, begin, np.minimum(end, trace.meta.end), until)
        notes["states that overlap the one before"] += overlapping
        lasting = end > begin
        owner, begin, end, number = owner[lasting], begin[lasting], end[lasting], number[lasting]
        if not len(owner):
            continue
        gap = np.r_[(begin[1:] > end[:-1]) | (owner[1:] != owner[:-1]), True]
        size = 1 + gap
        at = np.cumsum(size) - size
        time, code = np.empty(int(size.sum()), np.int64), np.zeros(int(size.sum()), np.int64)
        time[at], code[at] = begin, number + np.int64(1)
        time[at[gap] + 1] = end[gap]
        kept.add(np.repeat(owner, size), {"begin": time, "code": code})
    return _touching(kept, "states", trace, scratch, step, always=False)


def _apart(owner: Array, begin: Array, end: Array, until: Array) -> tuple[Array, Array, int]:
    """Return begins and ends moved so that no owner's intervals overlap; *until* carries over to the next part."""
    new = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    stops = np.r_[new[1:], len(owner)]
    before = np.empty(len(owner), np.int64)
    before[1:] = end[:-1]
    before[new] = until[owner[new]]
    if np.any(before[1:][owner[1:] == owner[:-1]] > begin[1:][owner[1:] == owner[:-1]]):
        for start, stop in zip(new.tolist(), stops.tolist(), strict=True):
            np.maximum.accumulate(before[start:stop], out=before[start:stop])
    late = before > begin
    begin = np.maximum(begin, before)
    until[owner[stops - 1]] = np.maximum(end, before)[stops - 1]
    return begin, np.maximum(end, begin), int(np.count_nonzero(late))


def of_shares(trace: Trace, scratch: Scratch, notes: Counter[str], step: Step) -> Stream:
    """Return the shares of each location by state; stretches that overlap an earlier one are dropped."""
    locations, states = len(trace.definitions.locations), len(trace.definitions.states)
    whole, number = np.dtype(np.int64), code_type(states)
    kept = Gather(scratch, locations, {"begin": whole, "end": whole, "ticks": whole, "code": number})
    until = np.full(locations, trace.meta.begin, np.int64)
    last = np.full(locations, trace.meta.begin - 1, np.int64)  # where the last stretch began
    for chunk in _pieces(trace, "shares", ("begin", "end", "location", "state", "ticks"), step):
        known = (chunk["state"] >= 0) & (chunk["state"] < states) & (chunk["end"] > chunk["begin"])
        known &= (chunk["begin"] >= trace.meta.begin) & (chunk["end"] <= trace.meta.end) & (chunk["ticks"] >= 0)
        known |= chunk["ticks"] == 0
        keep = _placed(chunk["location"], known, notes, "shares", locations)
        if keep is not None:
            chunk = {name: values[keep] for name, values in chunk.items()}
        chunk = {name: values[chunk["ticks"] > 0] for name, values in chunk.items()}
        if not len(chunk["begin"]):
            continue
        rows = by_location(chunk["location"])
        owner = chunk["location"][rows]
        begin, end, ticks = chunk["begin"][rows], chunk["end"][rows], chunk["ticks"][rows]
        good = _stretches(owner, begin, end, until, last)
        notes["shares of stretches that overlap an earlier one"] += len(good) - int(np.count_nonzero(good))
        kept.add(
            owner[good],
            {
                "begin": begin[good],
                "end": end[good],
                "ticks": ticks[good],
                "code": chunk["state"][rows][good] + np.int64(1),
            },
        )
    first = np.zeros(locations + 1, np.int64)
    columns = {name: Growing(scratch, dtype) for name, dtype in kept.fields.items()}
    for who in range(locations):
        for chunk in kept.location(who):
            step(1.0)
            for name, column in columns.items():
                column.append(chunk[name])
        first[who + 1] = columns["begin"].rows
    made = {name: column.whole() for name, column in columns.items()}
    return Stream("shares", first, made["begin"], made["code"], made["end"], made["ticks"])


def _stretches(owner: Array, begin: Array, end: Array, until: Array, last: Array) -> Array:
    """Return which rows belong to a stretch that begins at or after the end of the one before."""
    good = np.ones(len(owner), bool)
    new = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    stops = np.r_[new[1:], len(owner)]
    same = (owner[1:] == owner[:-1]) & (begin[1:] == begin[:-1]) & (end[1:] == end[:-1])
    fine = np.r_[True, same | (owner[1:] != owner[:-1]) | (begin[1:] >= end[:-1])]
    starts = owner[new]
    fine[new] = (begin[new] >= until[starts]) | ((begin[new] == last[starts]) & (end[new] == until[starts]))
    if not fine.all():
        for at in range(len(owner)):  # a trace that breaks the rules: row by row
            who = owner[at]
            good[at] = begin[at] >= until[who] or (begin[at] == last[who] and end[at] == until[who])
            if good[at]:
                last[who], until[who] = begin[at], end[at]
        return good
    last[starts], until[starts] = begin[stops - 1], end[stops - 1]
    return good


def _touching(kept: Gather, source: str, trace: Trace, scratch: Scratch, step: Step, *, always: bool) -> Stream:
    """Return contiguous segments from *kept*; with *always* from the begin of the run in locations that have any."""
    locations = kept.locations
    first = np.zeros(locations + 1, np.int64)
    begin, code = Growing(scratch, np.int64), Growing(scratch, kept.fields["code"])
    for who in range(locations):
        any_rows = False
        for chunk in kept.location(who):
            step(1.0)
            if not any_rows and always and int(chunk["begin"][0]) > trace.meta.begin:
                begin.append(np.array([trace.meta.begin]))
                code.append(np.array([0]))
            any_rows = True
            begin.append(chunk["begin"])
            code.append(chunk["code"])
        if any_rows:
            begin.append(np.array([trace.meta.end]))
            code.append(np.array([0]))
        first[who + 1] = begin.rows
    return Stream(source, first, begin.whole(), code.whole())
