"""PICL's traces (ORNL/TM-12125), which ParaGraph replays: a line for each record.

A record is its type (-3 entry, -4 exit, -2 mark), event, clock in seconds, node, task, number of data fields and, if
there are any, their format and themselves. Entering a send (-21) has size, type, receiver and its task; leaving a
receive (-52) has size, type, sender and its task.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path

import numpy as np

from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, What
from scalegraph.traces.model import Group, Location, Region, Trace
from scalegraph.traces.moments import MARK, Moments
from scalegraph.traces.text import lines

TICKS = 10**9  # a second
_ENTRY, _EXIT, _MARK = -3, -4, -2
_SEND, _RECEIVE = -21, -52
_NAMES = {-901: "program", _SEND: "send", _RECEIVE: "receive"}


def _recognises(path: Path, head: bytes) -> bool:
    if path.name.lower().endswith((".trf", ".picl", ".trc")):
        return True
    words = head.split(b"\n", 1)[0].split()
    try:
        kind, _, clock, node, task, _ = int(words[0]), int(words[1]), float(words[2]), *map(int, words[3:6])
    except (IndexError, ValueError):
        return False
    return -20 <= kind < 0 and clock >= 0 and node >= -1 and task >= -1


class _Records:
    """Takes records in the order of the file, which need not be that of time."""

    def __init__(self, reading: Reading) -> None:
        self._builder = reading.builder
        self._moments = Moments()
        # by sender's and receiver's node and type of message: time, location and size; of a receive when it was posted
        self._sent: dict[tuple[int, int, int], array[int]] = defaultdict(partial(array, "q"))
        self._received: dict[tuple[int, int, int], array[int]] = defaultdict(partial(array, "q"))
        self._posted: dict[int, int] = {}

    def add(self, words: list[str]) -> None:
        """Take a record. Raises `ValueError`, `IndexError` or `InvalidOperation` if it is none."""
        kind, event = int(words[0]), int(words[1])
        time = int((Decimal(words[2]) * TICKS).to_integral_value())
        node, task, count = (int(word) for word in words[3:6])
        fields = words[7 : 7 + count] if count > 0 else []
        if len(fields) != max(count, 0) or abs(time) > 2**62:
            raise ValueError(f"{count} data fields were expected")
        group = self._builder.group(node, lambda: Group(f"node {node}", "node"))
        title = f"{node}.{task}" if task > 0 and task != node else f"{node}"
        location = self._builder.location((node, task), lambda: Location(title, "process", group, title))
        if kind not in (_ENTRY, _EXIT, _MARK):
            self._builder.note(f"records of type {kind}")
            return
        name = _NAMES.get(event, f"event {event}")
        region = self._builder.region(event, lambda: Region(name, kind="function" if kind != _MARK else "mark"))
        self._moments.add(time, location, {_ENTRY: What.ENTER, _EXIT: What.LEAVE, _MARK: MARK}[kind], region)
        self._message(kind, event, time, node, location, fields)

    def _message(self, kind: int, event: int, time: int, node: int, location: int, fields: list[str]) -> None:
        if (kind, event) == (_ENTRY, _SEND) and len(fields) >= 3:
            size, tag, receiver = (int(field) for field in fields[:3])
            self._sent[node, receiver, tag].extend((time, location, size, 0))
        elif (kind, event) == (_ENTRY, _RECEIVE):
            self._posted[location] = time
        elif (kind, event) == (_EXIT, _RECEIVE) and len(fields) >= 3:
            size, tag, sender = (int(field) for field in fields[:3])
            self._received[sender, node, tag].extend((time, location, size, self._posted.pop(location, time)))

    def finish(self) -> Trace:
        """Match the messages, put everything in order of time and return the trace."""
        builder = self._builder
        self._moments.finish(builder)
        for key in {**self._sent, **self._received}:
            out, into = (_by_time(found.get(key)) for found in (self._sent, self._received))
            rows = max(len(out), len(into))
            lone = [(NO_TIME, self._somebody(node), 0, NO_TIME) for node in key[:2]]
            out, into = (
                np.concatenate([found, np.tile(np.array([one], np.int64), (rows - len(found), 1))])
                for found, one in zip((out, into), lone, strict=True)
            )
            size = np.where(out[:, 0] != NO_TIME, out[:, 2], into[:, 2])
            builder.add("messages", sent=out[:, 0], left=out[:, 0], posted=into[:, 3], received=into[:, 0],
                        sender=out[:, 1], receiver=into[:, 1], size=size, tag=key[2], communicator=NOBODY)  # fmt: skip
        return builder.finish()

    def _somebody(self, node: int) -> int:
        """Return the first location of *node*, or -1 if it has none."""
        known = self._builder.definitions.locations
        groups = [
            number for number, group in enumerate(self._builder.definitions.groups) if group.name == f"node {node}"
        ]
        return next((n for n, location in enumerate(known) if location.group in groups), NOBODY)


def _by_time(found: array[int] | None) -> Array:
    """Return time, location, size and time of posting of each send or receive, of shape (n, 4), in order of time."""
    rows = np.array(found if found is not None else (), np.int64).reshape(-1, 4)
    ordered: Array = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return ordered


def _read(reading: Reading) -> Trace:
    records = _Records(reading)
    reading.builder.meta.ticks_per_second = TICKS
    for block, first in lines(reading):
        for number, line in enumerate(block.decode("utf-8", "replace").splitlines(), first):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                records.add(words)
            except (ValueError, IndexError, InvalidOperation, OverflowError):
                reading.broken(
                    "a record was expected: type, event, clock, node, task, number of fields, ..", line=number
                )
                return records.finish()
    return records.finish()


READER = Reader("picl", "PICL trace", (".trf", ".picl", ".trc"), _recognises, _read, order=70)
