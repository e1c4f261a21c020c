"""In which region every location was, at any time, and what that region was called from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import NOBODY, Array, What
from scalegraph.traces.model import Trace
from scalegraph.traces.nesting import match

_SMALL = 1 << 16


@dataclass(frozen=True, eq=False)
class Stacks:
    """All calls of a trace, location by location (rows ``first[l]`` to ``first[l + 1]``), in the order of events.

    *time* (ticks), *region* and *enters* say what a row is. *inner* is the row of the enter that is innermost after the
    row, -1 outside of every region; the enter that row r is called from is ``inner[r - 1]`` (`caller`).
    """

    first: Array
    time: Array
    region: Array
    enters: Array
    inner: Array

    @classmethod
    def of(cls, trace: Trace, cancel: CancelToken | None = None) -> Stacks:
        """Read all calls of *trace*."""
        columns = trace.columns("calls", ("time", "location", "what", "region"))
        location = columns["location"]
        count = len(trace.definitions.locations)
        if len(location) and not 0 <= int(location.min()) <= int(location.max()) < count:
            inside = (location >= 0) & (location < count)
            columns = {name: values[inside] for name, values in columns.items()}
            location = columns["location"]
        if cancel is not None:
            cancel.check()
        order = None if (location[1:] >= location[:-1]).all() else ordered(location)
        time, what, region = (
            columns[name] if order is None else columns[name][order] for name in ("time", "what", "region")
        )
        location = location if order is None else location[order]
        enters = what == What.ENTER
        if len(region) and int(region.max()) >= len(trace.definitions.regions):
            region = np.where(region < len(trace.definitions.regions), region, NOBODY)
        first = np.searchsorted(location, np.arange(count + 1))
        if cancel is not None:
            cancel.check()
        return cls(first, time, region, enters, _innermost(location, enters, first))

    def caller(self, row: Array) -> Array:
        """Return the enter from which each enter in *row* is called, -1: from nowhere. Rows of -1 stay."""
        before = np.maximum(row - 1, 0)
        alone = (row <= 0) | np.isin(row, self.first)
        return np.where(alone, -1, self.inner[before] if len(self.inner) else -1)

    def region_of(self, row: Array) -> Array:
        """Return the region of each enter in *row*, -1 for -1."""
        return np.where(row >= 0, self.region[row] if len(self.region) else NOBODY, NOBODY)

    def at(self, location: Array, time: Array, *, before: bool = False) -> Array:
        """Return the innermost enter of each *location* just after its *time* (*before*: just before it); -1: none."""
        row = place(self.first, self.time, location, time, before=before)
        return np.where(row >= 0, self.inner[row] if len(self.inner) else -1, -1)

    def innermost(self, row: Array, wanted: Array) -> Array:
        """Return the innermost enter of the stack of each *row* whose region is *wanted* (by region); -1: none."""
        row = row.copy()
        for _ in range(64):
            other = np.flatnonzero(row >= 0)
            other = other[~_chosen(wanted, self.region[row[other]])]
            if not len(other):
                return row
            row[other] = self.caller(row[other])
        row[other] = -1
        return row

    def leave(self, row: Array) -> Array:
        """Return when the region of each enter in *row* was left; that calls something or is not left: the enter's."""
        after = np.minimum(row + 1, len(self.time) - 1)
        plain = (row >= 0) & ~self.enters[after] & ~np.isin(after, self.first)
        return np.where(plain, self.time[after], self.time[row])

    def until(self, end: int) -> Array:
        """Return when each row is over: at the next of its location, the last one at *end*, that of the run."""
        found: Array = np.r_[self.time[1:], np.int64(end)][: len(self.time)]
        closing = self.first[1:][self.first[1:] > self.first[:-1]] - 1
        found[closing] = np.maximum(end, self.time[closing])
        return found

    def path(self, row: int, most: int = 64) -> tuple[int, ...]:
        """Return the regions from the outermost to that of the enter *row*."""
        found: list[int] = []
        while row >= 0 and len(found) < most:
            found.append(int(self.region[row]))
            row = int(self.caller(np.array([row]))[0])
        return tuple(reversed(found))


def _chosen(wanted: Array, region: Array) -> Array:
    """Return *wanted* of each region; of none: no."""
    return np.where(region >= 0, wanted[region] if len(wanted) else False, False)


def ordered(key: Array) -> Array:
    """Return the stable order of *key* (numbers from -1); small ones are sorted in linear time."""
    if len(key) and int(key.max()) < _SMALL - 1 and int(key.min()) >= -1:
        key = (key + 1).astype(np.uint16)
    return np.argsort(key, kind="stable")


def _innermost(location: Array, enters: Array, first: Array) -> Array:
    """Return for each row the enter that is innermost after it."""
    rows = len(location)
    if not rows:
        return np.zeros(0, np.int64)
    step = enters.astype(np.int8) * np.int8(2) - np.int8(1)
    height = np.cumsum(step, dtype=np.int64)
    starts = np.unique(first[:-1][first[:-1] < first[1:]])
    height -= np.repeat(height[starts] - step[starts], np.diff(np.r_[starts, rows]))
    # after the row: of an enter its own depth, of a leave that of what it returns to
    depth = height if int(height.min()) >= 0 else np.maximum(match(location, enters)[1] - ~enters, 0)
    # after a leave the innermost is the last enter of its location at the depth it returns to
    key = location.astype(np.int64) * (int(depth.max()) + 1) + depth
    order = ordered(key)
    marked = np.where(enters[order], order, -1)
    groups = np.flatnonzero(np.r_[True, key[order][1:] != key[order][:-1]])
    # rows grow within a group, so the largest so far is the last; what is left of earlier groups is shut out
    number = np.repeat(np.arange(len(groups)), np.diff(np.r_[groups, rows]))
    shift = number * (rows + 1)
    last = np.maximum.accumulate(marked + shift) - shift
    inner = np.empty(rows, np.int64)
    inner[order] = np.maximum(last, -1)
    inner[depth <= 0] = -1
    return inner


def place(first: Array, time: Array, location: Array, when: Array, *, before: bool = False) -> Array:
    """Return the last row of each *location* whose *time* is not after *when* (*before*: is before it); -1: none.

    *time* rises within a location, whose rows are ``first[l]`` to ``first[l + 1]``.
    """
    found = np.full(len(location), -1, np.int64)
    side: Callable[[Array, Array], Array] = lambda all_of, wanted: np.searchsorted(  # noqa: E731
        all_of, wanted, side="left" if before else "right"
    )
    for who, rows in by_location(location, len(first) - 1):
        low = int(first[who])
        found_here = side(time[low : int(first[who + 1])], when[rows]) - 1
        found[rows] = np.where(found_here >= 0, found_here + low, -1)
    return found


def by_location(location: Array, count: int) -> Iterator[tuple[int, Array]]:
    """Yield every location below *count* that occurs, with the rows that name it."""
    order = ordered(location)
    bounds = np.searchsorted(location[order], np.arange(count + 1))
    for who in np.flatnonzero(bounds[1:] > bounds[:-1]):
        yield int(who), order[bounds[who] : bounds[who + 1]]


def overlaps(first: Array, begin: Array, end: Array, location: Array, since: Array, until: Array) -> tuple[Array, ...]:
    """Cut the intervals *since* to *until* of locations by rows that do not overlap in a location.

    Rows are ``first[l]`` to ``first[l + 1]`` for each location, with rising *begin* and *end*. Returns the interval,
    the row and the ticks for each pair that has some in common.
    """
    found: list[tuple[Array, Array, Array]] = []
    for who, mine in by_location(location, len(first) - 1):
        low, high = int(first[who]), int(first[who + 1])
        start = np.searchsorted(end[low:high], since[mine], side="right") + low
        stop = np.searchsorted(begin[low:high], until[mine], side="left") + low
        count = np.maximum(stop - start, 0)
        interval = np.repeat(mine, count)
        row = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + np.repeat(start, count)
        ticks = np.minimum(end[row], until[interval]) - np.maximum(begin[row], since[interval])
        keep = ticks > 0
        found.append((interval[keep], row[keep], ticks[keep]))
    if not found:
        nothing = np.zeros(0, np.int64)
        return nothing, nothing, nothing
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
