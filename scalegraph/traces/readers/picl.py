"""PICL's traces (ORNL/TM-12125), which ParaGraph replays: one record per line.

A record has its type (-3 entry, -4 exit, -2 mark), event, clock in seconds, node, task, number of data fields and, if
there are any, their format and values. Entering a send (-21, or nonblocking -27) has size, type, receiver and its task;
leaving a receive (-52) has size, type, sender and its task. A nonblocking call (-27, -57) returns a number, which is
passed on entering the wait for it (-31, -61); leaving -61 has the fields of leaving -52.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, What
from scalegraph.traces.model import Group, Location, Region, Trace
from scalegraph.traces.moments import MARK, Moments
from scalegraph.traces.text import lines

TICKS = 10**9  # per second
_ENTRY, _EXIT, _MARK = -3, -4, -2
_SEND, _START_SEND, _END_SEND = -21, -27, -31
_RECEIVE, _START_RECEIVE, _END_RECEIVE = -52, -57, -61
_NUMBERED = {_START_SEND, _END_SEND, _START_RECEIVE, _END_RECEIVE}
_NAMES = {
    -901: "program",
    _SEND: "send",
    _START_SEND: "begin a send",
    _END_SEND: "wait for a send",
    _RECEIVE: "receive",
    _START_RECEIVE: "begin a receive",
    _END_RECEIVE: "wait for a receive",
    -402: "barrier",
    -782: "reduce for all",
    -785: "broadcast",
    -790: "reduce",
    -911: "message to the trace",
}


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
    """Collects records in file order, which need not be time order."""

    def __init__(self, reading: Reading) -> None:
        self._builder = reading.builder
        self._moments = Moments()
        # by sender's and receiver's node and type of message: time, location, size and the other time of the call: when
        # a send returned, when a receive was posted
        self._sent: dict[tuple[int, int, int], array[int]] = defaultdict(partial(array, "q"))
        self._received: dict[tuple[int, int, int], array[int]] = defaultdict(partial(array, "q"))
        self._posted: dict[int, int] = {}
        self._sending: dict[int, tuple[array[int], int]] = {}  # current send of a location: where its other time goes
        self._begun: dict[tuple[int, int], Any] = {}  # by location and number: nonblocking calls
        self._awaited: dict[int, Any] = {}  # by location
        self._first: dict[int, int] = {}  # the first location of each node

    def add(self, words: list[str]) -> None:
        """Add a record. Raises `ValueError`, `IndexError` or `ArithmeticError` if it is invalid."""
        kind, event = int(words[0]), int(words[1])
        time = int((Decimal(words[2]) * TICKS).to_integral_value())
        node, task, count = (int(word) for word in words[3:6])
        fields = words[7 : 7 + count] if count > 0 else []
        if len(fields) != max(count, 0) or abs(time) >= 2**62:
            raise ValueError(f"{count} data fields were expected")
        if kind not in (_ENTRY, _EXIT, _MARK) or node < 0:
            self._builder.note(f"records of type {kind}")
            return
        group = self._builder.group(node, lambda: Group(f"node {node}", "node"))
        title = f"{node}.{task}" if task > 0 and task != node else f"{node}"
        location = self._builder.location((node, task), lambda: Location(title, "process", group, title))
        self._first.setdefault(node, location)
        name = _NAMES.get(event, f"event {event}")
        region = self._builder.region(event, lambda: Region(name, kind="function" if kind != _MARK else "mark"))
        self._moments.add(time, location, {_ENTRY: What.ENTER, _EXIT: What.LEAVE, _MARK: MARK}[kind], region)
        self._message(kind, event, time, node, location, fields)

    def _message(self, kind: int, event: int, time: int, node: int, location: int, fields: list[str]) -> None:
        """Handle the message data in a record of a call."""
        entering = kind == _ENTRY
        number = int(fields[0]) if event in _NUMBERED and len(fields) == 1 else None
        if event in (_SEND, _START_SEND) and entering and len(fields) >= 3:
            size, tag, receiver = _numbers(fields)
            sends = self._sent[node, receiver, tag]
            sends.extend((time, location, size, time))
            self._sending[location] = sends, len(sends) - 1
        elif event == _SEND and kind == _EXIT:
            self._let_go(self._sending.pop(location, None), time)
        elif event == _START_SEND and kind == _EXIT and number is not None:
            self._begun[location, number] = self._sending.pop(location, None)
        elif event in (_END_SEND, _END_RECEIVE) and entering and number is not None:
            self._awaited[location] = self._begun.pop((location, number), None)
        elif event == _END_SEND and kind == _EXIT:
            self._let_go(self._awaited.pop(location, None), time)
        elif event in (_RECEIVE, _START_RECEIVE) and entering:
            self._posted[location] = time
        elif event == _START_RECEIVE and kind == _EXIT and number is not None:
            self._begun[location, number] = self._posted.pop(location, None)
        elif event in (_RECEIVE, _END_RECEIVE) and kind == _EXIT and len(fields) >= 3:
            size, tag, sender = _numbers(fields)
            posted = (self._posted if event == _RECEIVE else self._awaited).pop(location, None)
            self._received[sender, node, tag].extend(
                (time, location, size, posted if isinstance(posted, int) else time)
            )

    @staticmethod
    def _let_go(send: Any, time: int) -> None:
        """Record when the sender could continue, if *send* refers to a record of it."""
        if isinstance(send, tuple):
            send[0][send[1]] = time

    def finish(self) -> Trace:
        """Match the messages, sort everything by time and return the trace."""
        builder = self._builder
        self._moments.finish(builder)
        for key in {**self._sent, **self._received}:
            out, into = (_by_time(found.get(key)) for found in (self._sent, self._received))
            rows = max(len(out), len(into))
            lone = [(NO_TIME, self._first.get(node, NOBODY), 0, NO_TIME) for node in key[:2]]
            out, into = (
                np.concatenate([found, np.tile(np.array([one], np.int64), (rows - len(found), 1))])
                for found, one in zip((out, into), lone, strict=True)
            )
            size = np.where(out[:, 0] != NO_TIME, out[:, 2], into[:, 2])
            builder.add(
                "messages",
                sent=out[:, 0],
                left=out[:, 3],
                posted=into[:, 3],
                received=into[:, 0],
                sender=out[:, 1],
                receiver=into[:, 1],
                size=size,
                tag=key[2],
                communicator=NOBODY,
            )
        return builder.finish()


def _numbers(fields: list[str]) -> list[int]:
    """Return the first three of *fields*: size, type and the other node."""
    numbers = [int(field) for field in fields[:3]]
    if any(abs(number) >= 2**63 for number in numbers):
        raise ValueError("numbers of 64 bits were expected")
    return numbers


def _by_time(found: array[int] | None) -> Array:
    """Return time, location, size and other time of each send or receive, of shape (n, 4), in time order."""
    rows = np.array(found if found is not None else (), np.int64).reshape(-1, 4)
    ordered: Array = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return ordered


def _read(reading: Reading) -> Trace:
    records = _Records(reading)
    reading.builder.meta.ticks_per_second = TICKS
    found = False
    for block, first in lines(reading):
        for number, line in enumerate(block.decode("utf-8", "replace").splitlines(), first):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            found = True
            try:
                records.add(words)
            except (ValueError, IndexError, ArithmeticError):
                reading.broken(
                    "a record was expected: type, event, clock, node, task, number of fields, ..", line=number
                )
                return records.finish()
    if not found:
        reading.broken("a record of PICL was expected; the file has none", line=1)
    return records.finish()


READER = Reader("picl", "PICL trace", (".trf", ".picl", ".trc"), _recognises, _read, order=70)
