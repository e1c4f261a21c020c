"""The critical path: the chain of activities that determines the length of a run.

It is followed backwards from the end of the run. It stays on a location while that does something; where the location
waited, it continues on the location that was waited for, at the tick of the release. The time between release and end
of the wait is the hand-over (a message in transit, a lock passed on, a barrier opened). So its pieces cover the run
from begin to end without gap or overlap, and no piece is on a location that waits for another: the path cannot be
longer than the run, and is as long if the trace records all dependencies. A wait of unknown cause is an *unexplained*
piece, which does not count in the length. A wait that ended without another location releasing it (the location slept,
or was the last to arrive at an operation) is a hand-over from the location itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np

from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.stacks import place
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, Array
from scalegraph.traces.model import Meta, Trace

_CHECKED: Final = 1 << 14  # pieces between two checks for cancellation
_BY_MESSAGE: Final = (Cause.LATE_SENDER, Cause.LATE_RECEIVER, Cause.TRANSIT)


class Piece(IntEnum):
    """Kinds of pieces of the path."""

    COMPUTE = 0
    HAND_OVER = 1
    MESSAGE = 2
    UNEXPLAINED = 3


PIECES: Final = {
    Piece.COMPUTE: "compute",
    Piece.HAND_OVER: "hand-over",
    Piece.MESSAGE: "message",
    Piece.UNEXPLAINED: "unexplained",
}


@dataclass(frozen=True, eq=False)
class CriticalPath:
    """Pieces in time order: each from *begin* to *end* (ticks) on *location*, of *kind* `Piece`.

    *wait* is the row of the `Waits` that was followed (-1 for computation), *source* the location the path came from:
    for a hand-over or message the one that released, otherwise the location itself. *hops* counts changes of location,
    including those that took no time. The run lasts from *run_begin* to *run_end*.
    """

    begin: Array
    end: Array
    location: Array
    kind: Array
    wait: Array
    source: Array
    hops: int
    run_begin: int
    run_end: int

    def __len__(self) -> int:
        return len(self.begin)

    def ticks(self, *kinds: Piece) -> int:
        """Return the total length of the pieces of *kinds*, or of all if none is given.

        Unit: ticks. Source: as of `critical_path`.
        """
        chosen = np.isin(self.kind, kinds) if kinds else np.ones(len(self), bool)
        return int((self.end - self.begin)[chosen].sum())

    @property
    def length(self) -> int:
        """Length of the path in ticks, without unexplained pieces; at most that of the run.

        Unit: ticks. Source: as of `critical_path`.
        """
        return self.ticks() - self.ticks(Piece.UNEXPLAINED)

    def within(self, begin: int, end: int) -> CriticalPath:
        """Return the part of the path between two ticks, as if it were the whole run.

        Shape: (pieces,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        kept = np.flatnonzero((self.end > begin) & (self.begin < end))
        location, source = self.location[kept], self.source[kept]
        return CriticalPath(
            np.maximum(self.begin[kept], begin),
            np.minimum(self.end[kept], end),
            location,
            self.kind[kept],
            self.wait[kept],
            source,
            int(np.count_nonzero(location[1:] != location[:-1])),
            max(begin, self.run_begin),
            min(end, self.run_end),
        )


@dataclass(frozen=True, eq=False)
class _Steps:
    """The steps from each wait: to the last wait of its holder before the release, or to its own previous wait."""

    begin: memoryview
    end: memoryview
    location: memoryview
    holder: memoryview
    released: memoryview
    jump: memoryview
    before: memoryview  # row on the holder
    stay: memoryview  # row on the location itself
    message: memoryview


def critical_path(trace: Trace, waits: Waits) -> CriticalPath:
    """Return the critical path of *trace* through its *waits*.

    Shape: (pieces,) of each array. Unit: ticks. Source: Böhme and others 2012.
    """
    meta = trace.meta
    pieces = tuple(array(code) for code in "qqiBqi")
    hops = 0
    if len(waits.since) and meta.end > meta.begin:
        for number, piece in enumerate(_walk(meta, waits)):
            if not number % _CHECKED:
                checkpoint()
            hops += piece[2] != piece[5]
            if piece[1] > piece[0]:
                for column, value in zip(pieces, piece, strict=True):
                    column.append(value)
    begin, end, location, kind, wait, source = (np.array(column)[::-1].copy() for column in pieces)
    return CriticalPath(begin, end, location, kind, wait, source, hops, meta.begin, meta.end)


def _steps(waits: Waits) -> _Steps:
    rows = waits.rows
    jump = (rows.holder >= 0) & rows.jump & (rows.released != NO_TIME)
    before = np.full(len(rows), -1, np.int64)
    followed = np.flatnonzero(jump)
    before[followed] = place(waits.first, rows.begin, rows.holder[followed], rows.released[followed], before=True)
    stay = np.arange(-1, len(rows) - 1)
    stay[waits.first[:-1][waits.first[:-1] < len(rows)]] = -1
    # recorded, but released before the wait began: the rest is the cost of resuming, as for a wait that ended by itself
    alone = (rows.holder < 0) & (rows.released == NO_TIME)
    kind = np.where(
        alone, Piece.UNEXPLAINED, np.where(np.isin(rows.cause, _BY_MESSAGE), Piece.MESSAGE, Piece.HAND_OVER)
    )
    return _Steps(
        *(
            memoryview(np.ascontiguousarray(column).data)
            for column in (
                rows.begin,
                rows.end,
                rows.location,
                rows.holder,
                rows.released,
                jump,
                before,
                stay,
                kind.astype(np.int64),
            )
        )
    )


def last_location(waits: Waits) -> int:
    """Return the location that was active last; ties go to the one that worked last, then to the lowest location.

    A final wait with a known holder counts as activity.

    Unit: none (number of a location). Source: ScaleGraph.
    """
    rows, there = waits.rows, waits.until.copy()
    active = there.copy()
    for who in range(len(active)):
        for row in range(int(waits.first[who + 1]) - 1, int(waits.first[who]) - 1, -1):
            if rows.end[row] < active[who]:
                break
            if active[who] == there[who]:
                there[who] = rows.end[row] if rows.holder[row] >= 0 else min(there[who], rows.begin[row])
            active[who] = min(active[who], rows.begin[row])
    return int(np.lexsort((-np.arange(len(active)), active, there))[-1])


def _walk(meta: Meta, waits: Waits) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield the pieces from last to first: begin, end, location, kind, wait, source."""
    step = _steps(waits)
    who, now = last_location(waits), meta.end
    row = int(place(waits.first, waits.rows.begin, np.array([who]), np.array([now]), before=True)[0])
    reached = max(int(waits.until[who]), step.end[row] if row >= 0 else meta.begin)
    if reached < now:  # the run continues after the last event
        reached = max(reached, meta.begin)
        yield reached, now, who, Piece.UNEXPLAINED, -1, who
        now = reached
    seen: set[int] = set()
    while now > meta.begin:
        if row < 0:
            since = min(max(int(waits.since[who]), meta.begin), now)
            yield since, now, who, Piece.COMPUTE, -1, who
            yield meta.begin, since, who, Piece.UNEXPLAINED, -1, who
            return
        end = min(step.end[row], now)
        if end < now:
            yield end, now, who, Piece.COMPUTE, -1, who
            now = end
            seen.clear()
        released = step.released[row]
        if step.jump[row] and released <= now and row not in seen:
            holder = step.holder[row]
            released = max(released, meta.begin)
            yield released, now, who, step.message[row], row, holder
            if released < now:
                seen.clear()
            seen.add(row)
            who, now, row = holder, released, step.before[row]
            continue
        # the holder released earlier, is unknown, releases only later, or is part of a cycle of waits
        kind = Piece.UNEXPLAINED if step.jump[row] else step.message[row]
        begin = max(step.begin[row], meta.begin)
        yield begin, now, who, kind, row, who
        now, row = begin, step.stay[row]
        seen.clear()
