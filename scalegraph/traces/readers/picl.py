"""PICL's traces (ORNL/TM-12125), which ParaGraph replays: a line for each record.

A record is its type (-3 entry, -4 exit, -2 mark), event, clock in seconds, node, task, number of data fields and, if
there are any, their format and themselves. Entering a send (-21) has size, type, receiver and its task; leaving a
receive (-52) has size, type, sender and its task.
"""

from __future__ import annotations

from collections import defaultdict, deque
from decimal import Decimal, InvalidOperation
from pathlib import Path

from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import NO_TIME, NOBODY, What
from scalegraph.traces.model import Group, Location, Region, Trace
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
        self._rows: list[tuple[int, int, int, int]] = []  # time, location, what (0: a mark), region
        # by sender's and receiver's node and type of message, in the order in which they went and came
        self._sent: dict[tuple[int, int, int], deque[tuple[int, int, int]]] = defaultdict(deque)
        self._received: dict[tuple[int, int, int], deque[tuple[int, int, int, int]]] = defaultdict(deque)
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
        what = {_ENTRY: int(What.ENTER), _EXIT: int(What.LEAVE), _MARK: 0}[kind]
        self._rows.append((time, location, what, region))
        self._message(kind, event, time, node, location, fields)

    def _message(self, kind: int, event: int, time: int, node: int, location: int, fields: list[str]) -> None:
        if (kind, event) == (_ENTRY, _SEND) and len(fields) >= 3:
            size, tag, receiver = (int(field) for field in fields[:3])
            self._sent[node, receiver, tag].append((time, location, size))
        elif (kind, event) == (_ENTRY, _RECEIVE):
            self._posted[location] = time
        elif (kind, event) == (_EXIT, _RECEIVE) and len(fields) >= 3:
            size, tag, sender = (int(field) for field in fields[:3])
            self._received[sender, node, tag].append((time, location, size, self._posted.pop(location, time)))

    def finish(self) -> Trace:
        """Match the messages, put everything in order of time and return the trace."""
        builder = self._builder
        for time, location, what, region in sorted(self._rows, key=lambda row: row[0]):
            if what:
                builder.rows("calls").add(time, location, what, region)
            else:
                builder.rows("marks").add(time, location, region, 0)
        messages = builder.rows("messages")
        for key in {**self._sent, **self._received}:
            sent = sorted(self._sent.get(key, ()))
            received = sorted(self._received.get(key, ()))
            for number in range(max(len(sent), len(received))):
                out = sent[number] if number < len(sent) else (NO_TIME, self._somebody(key[0]), 0)
                into = received[number] if number < len(received) else (NO_TIME, self._somebody(key[1]), 0, NO_TIME)
                size = out[2] if out[0] != NO_TIME else into[2]
                messages.add(out[0], out[0], into[3], into[0], out[1], into[1], size, key[2], NOBODY)
        return builder.finish()

    def _somebody(self, node: int) -> int:
        """Return the first location of *node*, or -1 if it has none."""
        known = self._builder.definitions.locations
        groups = [
            number for number, group in enumerate(self._builder.definitions.groups) if group.name == f"node {node}"
        ]
        return next((n for n, location in enumerate(known) if location.group in groups), NOBODY)


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
