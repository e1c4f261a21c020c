"""The kinds of events, and their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Columns = dict[str, Array]

NO_TIME: Final = -(2**63)  # an unknown time: the other end of a message that was never found
NOBODY: Final = -1  # no location, region, communicator or task: for anything numbered from 0


class What(IntEnum):
    """The type of a row of calls."""

    ENTER = 1
    LEAVE = 2


class Wait(IntEnum):
    """What a location waits for."""

    OTHER = 0
    BARRIER = 1
    LOCK = 2
    TASK = 3
    JOIN = 4
    CONDITION = 5
    ORDERED = 6
    RECEIVE = 7
    SEND = 8
    COLLECTIVE = 9


class TaskStep(IntEnum):
    """What happens to a task."""

    CREATED = 1
    SWITCHED_TO = 2
    ENDED = 3


class LockStep(IntEnum):
    """What happens to a lock."""

    ACQUIRED = 1
    RELEASED = 2


class Operation(IntEnum):
    """Collective operations, with OTF2's numbers, so that none has to be guessed."""

    BARRIER = 0
    BROADCAST = 1
    GATHER = 2
    GATHER_VARIED = 3
    SCATTER = 4
    SCATTER_VARIED = 5
    ALL_GATHER = 6
    ALL_GATHER_VARIED = 7
    ALL_TO_ALL = 8
    ALL_TO_ALL_VARIED = 9
    ALL_TO_ALL_WIDE = 10
    ALL_REDUCE = 11
    REDUCE = 12
    REDUCE_SCATTER = 13
    SCAN = 14
    EXCLUSIVE_SCAN = 15
    REDUCE_SCATTER_BLOCK = 16
    CREATE_HANDLE = 17
    DESTROY_HANDLE = 18
    ALLOCATE = 19
    DEALLOCATE = 20
    CREATE_HANDLE_AND_ALLOCATE = 21
    DESTROY_HANDLE_AND_DEALLOCATE = 22


@dataclass(frozen=True)
class Kind:
    """A kind of event: its columns with their types; *times*: the columns in ticks, the one that orders rows first.

    *whose*: the columns with locations; *refers*: those with numbers of other definitions. *lacking*: the times that
    may be unknown. *added*: columns missing in version 1 of the model, with their default values.
    """

    name: str
    text: str
    columns: Mapping[str, np.dtype[Any]]
    times: tuple[str, ...]
    whose: tuple[str, ...] = ("location",)
    refers: Mapping[str, str] | None = None
    lacking: tuple[str, ...] = ()
    added: Mapping[str, int] = field(default_factory=dict)

    @property
    def begin(self) -> str:
        """The column by which rows are ordered."""
        return self.times[0]


_TYPES: dict[str, np.dtype[Any]] = {
    "b": np.dtype("u1"),
    "i": np.dtype("<i4"),
    "l": np.dtype("<i8"),
    "d": np.dtype("<f8"),
}


def _columns(text: str) -> dict[str, np.dtype[Any]]:
    return {name: _TYPES[letter] for name, letter in (word.split(":") for word in text.split())}


KINDS: Final[Mapping[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("calls", "entering and leaving regions", _columns("time:l location:i what:b region:i"),
             ("time",), refers={"region": "regions"}),
        Kind("waits", "waiter and holder, where",
             _columns("begin:l end:l location:i holder:i why:b object:l region:i released:l"),
             ("begin", "end", "released"), ("location", "holder"), {"region": "regions"}, lacking=("released",),
             added={"released": NO_TIME}),
        Kind("messages", "messages with both their ends",
             _columns("sent:l left:l posted:l received:l sender:i receiver:i size:l tag:l communicator:i"),
             ("sent", "left", "posted", "received"), ("sender", "receiver"), {"communicator": "communicators"},
             lacking=("sent", "left", "posted", "received")),
        Kind("collectives", "collective operations, a row for every member",
             _columns("begin:l end:l location:i operation:b communicator:i root:i sent:l received:l"),
             ("begin", "end"), ("location", "root"), {"communicator": "communicators"}),
        Kind("counters", "values of metrics", _columns("time:l location:i metric:i value:d exact:l"),
             ("time",), refers={"metric": "metrics"}),
        Kind("states", "what a location was doing", _columns("begin:l end:l location:i state:i"),
             ("begin", "end"), refers={"state": "states"}),
        Kind("tasks", "creating, switching to and ending tasks",
             _columns("time:l location:i task:l what:b region:i"), ("time",), refers={"region": "regions"}),
        Kind("locks", "acquiring and releasing locks",
             _columns("time:l location:i lock:l order:l what:b"), ("time",)),
        Kind("marks", "something that happened at one moment",
             _columns("time:l location:i region:i value:l"), ("time",), refers={"region": "regions"}),
        Kind("shares", "how the time of a location is shared by states and regions",
             _columns("begin:l end:l location:i state:i region:i ticks:l"),
             ("begin", "end"), refers={"state": "states", "region": "regions"}),
    )
}  # fmt: skip


def empty(kind: str) -> Columns:
    """Return the columns of *kind* without rows."""
    return {name: np.empty(0, dtype) for name, dtype in KINDS[kind].columns.items()}


def completed(kind: str, columns: Mapping[str, Array]) -> Columns:
    """Return *columns* in the order of *kind*; those missing in version 1 of the model may be absent or empty.

    Raises `KeyError` if another one is absent.
    """
    spec = KINDS[kind]
    rows = len(columns[spec.begin])
    return {
        name: columns[name]
        if name not in spec.added or len(columns.get(name, ()))
        else np.full(rows, spec.added[name], dtype)
        for name, dtype in spec.columns.items()
    }


def span(kind: str, columns: Mapping[str, Array]) -> tuple[int, int]:
    """Return the first and last known time in *columns* (ticks); `(0, -1)` if there is none."""
    first, last = 2**63 - 1, NO_TIME
    for name in KINDS[kind].times:
        times = columns[name]
        if len(times):
            low = int(times.min())
            if low == NO_TIME:
                known = times[times != NO_TIME]
                if not len(known):
                    continue
                low = int(known.min())
            first, last = min(first, low), max(last, int(times.max()))
    return (first, last) if first <= last else (0, -1)
