"""Waits as rows, recorded or derived, before and after sorting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any, Final, Self

import numpy as np

from scalegraph.analyze.trace.stacks import by_location, ordered, overlaps, place
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array


class Cause(IntEnum):
    """What a location waits for."""

    UNKNOWN = 0
    BARRIER = 1
    LOCK = 2
    TASK = 3
    JOIN = 4
    CONDITION = 5
    ORDERED = 6
    LATE_SENDER = 7
    LATE_RECEIVER = 8
    TRANSIT = 9
    COLLECTIVE = 10
    LATE_ROOT = 11
    EARLY_ROOT = 12
    SCAN = 13
    START = 14
    OTHER = 15
    ENDED = 16
    COMPLETION = 17


WORDS: Final = {
    Cause.UNKNOWN: "no known cause",
    Cause.BARRIER: "barrier",
    Cause.LOCK: "lock",
    Cause.TASK: "task",
    Cause.JOIN: "join",
    Cause.CONDITION: "condition",
    Cause.ORDERED: "turn",
    Cause.LATE_SENDER: "late sender",
    Cause.LATE_RECEIVER: "late receiver",
    Cause.TRANSIT: "message in transit",
    Cause.COLLECTIVE: "collective operation",
    Cause.LATE_ROOT: "late broadcast",
    Cause.EARLY_ROOT: "early reduce",
    Cause.SCAN: "scan",
    Cause.START: "serial section",
    Cause.OTHER: "other",
    Cause.ENDED: "nothing left to do",
    Cause.COMPLETION: "completion of an operation",
}

_TYPES: Final[dict[str, Any]] = {
    "begin": np.int64,
    "end": np.int64,
    "location": np.int32,
    "holder": np.int32,
    "released": np.int64,
    "cause": np.uint8,
    "region": np.int32,
    "object": np.int64,
    "jump": np.bool_,
    "told": np.bool_,
}


@dataclass(frozen=True, eq=False)
class Rows:
    """One row per wait: *location* waited from *begin* to *end* (ticks) for *holder* (-1: unknown).

    *released* is when the holder let go (`NO_TIME`: unknown), *cause* a `Cause`, *region* where the location was (-1:
    to be looked up), *object* what it waited for by its number in the trace. *jump* says that the critical path
    continues at the holder: its actions until the release decided how long the wait was; *told* that the trace records
    the wait, otherwise it is derived.
    """

    begin: Array
    end: Array
    location: Array
    holder: Array
    released: Array
    cause: Array
    region: Array
    object: Array
    jump: Array
    told: Array

    @classmethod
    def make(cls, **columns: Any) -> Self:
        """Return rows; each column is an array or one value for all, by default unknown.

        Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        known: dict[str, Any] = {"region": NOBODY, "object": 0, "jump": True, "told": False} | columns
        rows = len(columns["begin"])
        return cls(
            **{
                name: np.ascontiguousarray(np.broadcast_to(np.asarray(known[name]), (rows,))).astype(dtype, copy=False)
                for name, dtype in _TYPES.items()
            }
        )

    @classmethod
    def none(cls) -> Self:
        """Return no rows.

        Shape: (0,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        return cls.make(begin=(), end=(), location=(), holder=(), released=(), cause=())

    @classmethod
    def joined(cls, parts: Iterable[Rows]) -> Self:
        """Return the rows of all *parts*.

        Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        checkpoint()
        found = [part for part in parts if len(part)]
        if not found:
            return cls.none()
        made: dict[str, Array] = {}
        for name in _TYPES:
            values = [getattr(part, name) for part in found]
            made[name] = values[0] if len(values) == 1 else np.concatenate(values)
            checkpoint()
        return cls(**made)

    def __len__(self) -> int:
        return len(self.begin)

    def take(self, rows: Array) -> Self:
        """Return some rows, by number or mask.

        Shape: (chosen rows,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
            if len(rows) == len(self):
                return self
        made: dict[str, Array] = {}
        for part in fields(Rows):
            made[part.name] = getattr(self, part.name)[rows]
            checkpoint()
        return replace(self, **made)

    def starts(self, locations: int) -> Array:
        """Return where each location begins; rows must be sorted by location and begin.

        Shape: (locations + 1,). Unit: none (positions). Source: ScaleGraph.
        """
        return np.searchsorted(self.location, np.arange(locations + 1))


def in_order(rows: Rows) -> Rows:
    """Return *rows* sorted by location and time without overlaps: nested rows are dropped, overlapping ones cut.

    Of rows with the same begin and end the one released last is kept.

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    rows = rows.take(rows.end > rows.begin)
    if not len(rows) or _tidy(rows):
        return rows
    kept, since = [], []
    for _, mine in by_location(rows.location, int(rows.location.max()) + 1):
        checkpoint()
        mine = mine[_by_begin(rows.begin[mine], rows.end[mine], rows.released[mine])]
        end = rows.end[mine]
        reached = np.r_[np.int64(NO_TIME), np.maximum.accumulate(end)[:-1]]
        stays = end > reached
        kept.append(mine[stays])
        since.append(np.maximum(rows.begin[mine], reached)[stays])
    return replace(rows.take(np.concatenate(kept)), begin=np.concatenate(since))


def _by_begin(begin: Array, end: Array, released: Array) -> Array:
    """Return the order by begin; ties put the longest first, then the one released last."""
    order = np.argsort(begin, kind="stable")  # on parts that are sorted already this is as fast as reading them
    if (np.diff(begin[order]) > 0).all():
        return order
    return np.lexsort((-np.maximum(released, -(2**62)), -end, begin))


def _tidy(rows: Rows) -> bool:
    """Return whether *rows* are sorted and free of overlaps."""
    later = rows.location[1:] > rows.location[:-1]
    follows = (rows.location[1:] == rows.location[:-1]) & (rows.begin[1:] >= rows.end[:-1])
    return bool((later | follows).all())


def beside(accepted: Rows, more: Rows, locations: int) -> Rows:
    """Return the rows of *more* that overlap none of *accepted* (which is sorted).

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    if not len(accepted) or not len(more):
        return more
    last = place(accepted.starts(locations), accepted.begin, more.location, more.end, before=True)
    return more.take((last < 0) | (accepted.end[last] <= more.begin))


def common(one: Rows, other: Rows, locations: int) -> Rows:
    """Return the parts of *one* that are inside *other* (both sorted, without overlaps).

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    if not len(one) or not len(other):
        return one.take(np.zeros(0, np.int64))
    whole, part, _ = overlaps(other.starts(locations), other.begin, other.end, one.location, one.begin, one.end)
    made = one.take(whole)
    return replace(made, begin=np.maximum(made.begin, other.begin[part]), end=np.minimum(made.end, other.end[part]))


def remainder(accepted: Rows, more: Rows, locations: int) -> Rows:
    """Return the pieces of *more* that *accepted* does not cover (both sorted, without overlaps).

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    if not len(accepted) or not len(more):
        return more
    whole, other, _ = overlaps(
        accepted.starts(locations), accepted.begin, accepted.end, more.location, more.begin, more.end
    )
    order = np.lexsort((accepted.begin[other], whole))
    whole, other = whole[order], other[order]
    # a piece before each overlap, and one after the last of each row
    first = np.r_[True, whole[1:] != whole[:-1]][: len(whole)]
    since = np.where(first, more.begin[whole], np.r_[np.int64(0), accepted.end[other][:-1]][: len(whole)])
    behind = more.begin.copy()
    last = np.r_[whole[1:] != whole[:-1], True][: len(whole)]
    behind[whole[last]] = accepted.end[other[last]]
    rows = np.r_[whole, np.arange(len(more))]
    pieces = replace(more.take(rows), begin=np.r_[since, behind], end=np.r_[accepted.begin[other], more.end])
    pieces = pieces.take(pieces.end > pieces.begin)
    return pieces.take(ordered(pieces.location)) if _tidy(pieces) else in_order(pieces)
