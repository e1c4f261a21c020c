"""The call stack of every location at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Columns, What
from scalegraph.traces.model import Trace
from scalegraph.traces.nesting import match

_SMALL = 1 << 16
_BLOCK = 1 << 18  # rows processed together, so that intermediate arrays stay in cache


@dataclass(frozen=True, eq=False)
class Stacks:
    """All calls of a trace by location (rows ``first[l]`` to ``first[l + 1]``), in event order.

    *time* (ticks), *region* and *enters* describe a row. *inner* is the row of the innermost enter after the row, -1
    outside every region; the caller of the enter in row r is ``inner[r - 1]`` (`caller`).
    """

    first: Array
    time: Array
    region: Array
    enters: Array
    inner: Array

    @classmethod
    def of(cls, trace: Trace) -> Stacks:
        """Read all calls of *trace*, block by block, so that no step takes more than a few milliseconds.

        Shape: (events,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        definitions = trace.definitions
        first = np.zeros(len(definitions.locations) + 1, np.int64)
        total = trace.count("calls")
        for done, location, _ in _blocks(trace, ("location",)):
            first[1:] += np.bincount(location, minlength=len(first) - 1)
            checkpoint(0.1 * done / total)
        first = np.cumsum(first)
        rows = int(first[-1])
        time, region, enters = np.empty(rows, np.int64), np.empty(rows, np.int32), np.empty(rows, bool)
        reached = first[:-1].copy()
        for done, location, columns in _blocks(trace, ("time", "what", "region")):
            order, count = _grouped(location), np.bincount(location, minlength=len(reached))
            at = np.arange(len(location)) + np.repeat(reached - (np.cumsum(count) - count), count)
            time[at] = columns["time"][order]
            enters[at] = columns["what"][order] == What.ENTER
            named = columns["region"][order]
            region[at] = np.where(named < len(definitions.regions), named, NOBODY)
            reached += count
            checkpoint(0.1 + 0.5 * done / total)
        inner = np.empty(rows, np.int32 if rows < 1 << 31 else np.int64)
        for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
            _innermost(enters, inner, low, high)
            checkpoint(0.6 + 0.4 * high / max(rows, 1))
        return cls(first, time, region, enters, inner)

    @classmethod
    def none(cls, locations: int) -> Stacks:
        """Return the stacks of a trace without calls.

        Shape: (0,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        nothing = np.zeros(0, np.int64)
        return cls(np.zeros(locations + 1, np.int64), nothing, nothing, nothing.astype(bool), nothing)

    def caller(self, row: Array) -> Array:
        """Return the enter of the caller of each enter in *row*; -1 without a caller, and for rows of -1.

        Shape: that of *row*. Unit: none (positions). Source: ScaleGraph.
        """
        before = np.maximum(row - 1, 0)
        alone = (row <= 0) | self._begins(row)
        return np.where(alone, -1, self.inner[before] if len(self.inner) else -1)

    def _begins(self, row: Array) -> Array:
        """Return which of *row* are the first of their location."""
        at = np.searchsorted(self.first, row)
        begins: Array = self.first[np.minimum(at, len(self.first) - 1)] == row
        return begins

    def region_of(self, row: Array) -> Array:
        """Return the region of each enter in *row*, -1 for -1.

        Shape: that of *row*. Unit: none (numbers of regions). Source: ScaleGraph.
        """
        return np.where(row >= 0, self.region[row] if len(self.region) else NOBODY, NOBODY)

    def at(self, location: Array, time: Array, *, before: bool = False) -> Array:
        """Return the innermost enter of each *location* just after its *time* (*before*: just before it); -1 if none.

        Shape: that of *location*. Unit: none (positions). Source: ScaleGraph.
        """
        row = place(self.first, self.time, location, time, before=before)
        return np.where(row >= 0, self.inner[row] if len(self.inner) else -1, -1)

    def innermost(self, row: Array, wanted: Array) -> Array:
        """Return the innermost enter on the stack of each *row* whose region is *wanted* (by region); -1 if none.

        Shape: that of *row*. Unit: none (positions). Source: ScaleGraph.
        """
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
        """Return when the region of each enter in *row* was left; `NO_TIME` if never, and for -1.

        Shape: that of *row*. Unit: ticks. Source: ScaleGraph.
        """
        after = np.minimum(row + 1, len(self.time) - 1)
        plain = (row >= 0) & ~self.enters[after] & ~self._begins(after)
        found: Array = np.where(plain, self.time[after], NO_TIME)
        rest = np.flatnonzero((row >= 0) & ~plain)  # they call something, so their leave has to be matched
        for who, mine in by_location(np.searchsorted(self.first, row[rest], side="right") - 1, len(self.first) - 1):
            checkpoint()
            low, high = int(self.first[who]), int(self.first[who + 1])
            partner, _ = match(np.zeros(high - low, np.int8), self.enters[low:high])
            left = partner[row[rest[mine]] - low]
            found[rest[mine]] = np.where(left >= 0, self.time[low + left], NO_TIME)
        return found

    def until(self, end: int) -> Array:
        """Return when each row ends: at the next of its location, for the last one at *end*, that of the run.

        Shape: that of *row*. Unit: ticks. Source: ScaleGraph.
        """
        found = np.empty_like(self.time)
        found[:-1] = self.time[1:]
        closing = self.first[1:][self.first[1:] > self.first[:-1]] - 1
        found[closing] = np.maximum(end, self.time[closing])
        return found

    def path(self, row: int, most: int = 64) -> tuple[int, ...]:
        """Return the regions from the outermost to that of the enter *row*.

        Shape: (depth,). Unit: none (numbers of regions). Source: ScaleGraph.
        """
        found: list[int] = []
        while row >= 0 and len(found) < most:
            found.append(int(self.region[row]))
            row = int(self.caller(np.array([row]))[0])
        return tuple(reversed(found))


def _chosen(wanted: Array, region: Array) -> Array:
    """Return *wanted* for each region; False for none."""
    return np.where(region >= 0, wanted[region] if len(wanted) else False, False)


def ordered(key: Array) -> Array:
    """Return the stable order of *key* (numbers from -1); small ones are sorted in linear time.

    Shape: that of *key*. Unit: none (positions). Source: ScaleGraph.
    """
    if len(key) and int(key.max()) < _SMALL - 1 and int(key.min()) >= -1:
        key = (key + 1).astype(np.uint16)
    return np.argsort(key, kind="stable")


def _blocks(trace: Trace, names: tuple[str, ...]) -> Iterator[tuple[int, Array, Columns]]:
    """Yield the calls of known locations in blocks: rows read so far, location and columns."""
    done, count = 0, len(trace.definitions.locations)
    for part in trace.parts["calls"]:
        columns = {name: part.column(name) for name in names}
        whole = part.column("location")
        for low in range(0, len(whole), _BLOCK):
            location = whole[low : low + _BLOCK]
            done += len(location)
            block = {name: values[low : low + _BLOCK] for name, values in columns.items()}
            inside = (location >= 0) & (location < count)
            if not inside.all():
                location, block = location[inside], {name: values[inside] for name, values in block.items()}
            yield done, location, block
        part.forget()


def _grouped(location: Array) -> Array | slice:
    """Return the order that sorts rows by location."""
    return slice(None) if (location[1:] >= location[:-1]).all() else ordered(location)


def _innermost(enters: Array, inner: Array, low: int, high: int) -> None:
    """Set *inner* to the innermost enter after each row from *low* to *high*, all of one location.

    Blocks of rows are processed as if the calls open at their start were entered just before.
    """
    still = np.zeros(0, np.int64)  # open enters, the outermost first
    for start in range(low, high, _BLOCK):
        stop = min(start + _BLOCK, high)
        step = np.concatenate([np.ones(len(still), bool), enters[start:stop]])
        height = np.cumsum(step.astype(np.int8) * np.int8(2) - np.int8(1), dtype=np.int32)
        # a leave without enter changes nothing: treat the rows outside as that much deeper
        depth = height - np.minimum(np.minimum.accumulate(height), 0)
        # after a leave, the innermost is the last enter at the depth it returns to; the first row of a depth is an
        # enter
        order = np.argsort(depth.astype(np.uint16) if int(depth.max()) < _SMALL else depth, kind="stable")
        last = order[np.maximum.accumulate(np.where(step[order], np.arange(len(order)), 0))]
        rows = np.concatenate([still, np.arange(start, stop)])
        found = np.empty(len(rows), inner.dtype)
        found[order] = rows[last]
        found[depth == 0] = -1
        inner[start:stop] = found[len(still) :]
        behind = np.searchsorted(depth[order], np.arange(1, int(depth[-1]) + 1), side="right") - 1
        still = rows[last[behind]]
        checkpoint()


def place(first: Array, time: Array, location: Array, when: Array, *, before: bool = False) -> Array:
    """Return the last row of each *location* with *time* up to *when* (*before*: before it); -1 if none.

    *time* is ascending within a location, whose rows are ``first[l]`` to ``first[l + 1]``.

    Shape: that of *location*. Unit: none (positions). Source: ScaleGraph.
    """
    found = np.full(len(location), -1, np.int64)
    side: Callable[[Array, Array], Array] = lambda all_of, wanted: np.searchsorted(  # noqa: E731
        all_of, wanted, side="left" if before else "right"
    )
    for who, rows in by_location(location, len(first) - 1):
        checkpoint()
        low = int(first[who])
        found_here = side(time[low : int(first[who + 1])], when[rows]) - 1
        found[rows] = np.where(found_here >= 0, found_here + low, -1)
    return found


def by_location(location: Array, count: int) -> Iterator[tuple[int, Array]]:
    """Yield every location below *count* that occurs, with its rows.

    Shape: rows (rows of the location,). Unit: none (positions). Source: ScaleGraph.
    """
    order = ordered(location)
    bounds = np.searchsorted(location[order], np.arange(count + 1))
    for who in np.flatnonzero(bounds[1:] > bounds[:-1]):
        yield int(who), order[bounds[who] : bounds[who + 1]]


def overlaps(first: Array, begin: Array, end: Array, location: Array, since: Array, until: Array) -> tuple[Array, ...]:
    """Intersect the intervals *since* to *until* of locations with rows that do not overlap in a location.

    Rows are ``first[l]`` to ``first[l + 1]`` for each location, with ascending *begin* and *end*. Returns the interval,
    the row and the common ticks for each pair that overlaps.

    Shape: three arrays (pairs,). Unit: ticks and positions. Source: ScaleGraph.
    """
    found: list[tuple[Array, Array, Array]] = []
    for who, mine in by_location(location, len(first) - 1):
        checkpoint()
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
