"""Rules that bind rows to each other: messages, collective operations, locks, tasks, states."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from scalegraph.traces.kinds import NO_TIME, Columns, LockStep, TaskStep

if TYPE_CHECKING:
    from scalegraph.traces.checking import Found


class Relation:
    """Looks at the parts of one kind in their order; by itself it asks for nothing."""

    def __init__(self, found: Found) -> None:
        self.found = found

    def look(self, columns: Columns, row: int) -> None:
        """Check a part whose first row has the number *row*."""

    def end(self) -> None:
        """Check what only the end can show."""


class _Messages(Relation):
    def look(self, columns: Columns, row: int) -> None:
        sent, received = columns["sent"], columns["received"]
        no_send, no_receive = sent == NO_TIME, received == NO_TIME
        self.found.add("send_without_receive", "messages", no_receive, columns, row)
        self.found.add("receive_without_send", "messages", no_send, columns, row)
        known = ~no_send & ~no_receive
        self.found.add("receive_before_send", "messages", known & (received < sent), columns, row)
        wrong = ((columns["left"] < sent) & (columns["left"] != NO_TIME)) | (
            (columns["posted"] > received) & ~no_receive
        )
        self.found.add("interval", "messages", wrong, columns, row)


class _Collectives(Relation):
    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._taken: Counter[tuple[int, int]] = Counter()

    def look(self, columns: Columns, row: int) -> None:  # noqa: ARG002
        pairs = np.stack([columns["communicator"], columns["location"]], axis=1)
        for (communicator, location), count in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
            self._taken[int(communicator), int(location)] += int(count)

    def end(self) -> None:
        for number, communicator in enumerate(self.found.trace.definitions.communicators):
            counts = {member: self._taken.get((number, member), 0) for member in communicator.members}
            if len(set(counts.values())) > 1:
                usual = Counter(counts.values()).most_common(1)[0][0]
                other = next(member for member, count in counts.items() if count != usual)
                self.found.one("collective_members", "collectives", other, NO_TIME, 0,
                               detail=f"{counts[other]:,} in '{communicator.name}', others {usual:,}")  # fmt: skip


class _States(Relation):
    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._until = np.full(len(found.trace.definitions.locations), NO_TIME, np.int64)

    def look(self, columns: Columns, row: int) -> None:
        inside = (columns["location"] >= 0) & (columns["location"] < len(self._until))
        rows = np.flatnonzero(inside)
        if not len(rows):
            return
        rows = rows[np.argsort(columns["location"][rows], kind="stable")]
        owner, begin, end = (columns[name][rows] for name in ("location", "begin", "end"))
        new = np.r_[True, owner[1:] != owner[:-1]]
        before = np.r_[np.int64(NO_TIME), end[:-1]]
        before[new] = self._until[owner[new]]
        bad = np.zeros(len(inside), bool)
        bad[rows] = begin < before
        self.found.add("overlap", "states", bad, columns, row)
        last = np.r_[owner[1:] != owner[:-1], True]
        self._until[owner[last]] = end[last]


class _Locks(Relation):
    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._held: Counter[tuple[int, int]] = Counter()

    def look(self, columns: Columns, row: int) -> None:
        """Check a part; a lock may be acquired several times, and a release takes back one of them."""
        bad = np.zeros(len(columns["time"]), bool)
        rows = zip(columns["location"].tolist(), columns["lock"].tolist(), columns["what"].tolist(), strict=True)
        for at, (location, lock, what) in enumerate(rows):
            if what == LockStep.ACQUIRED:
                self._held[location, lock] += 1
            elif self._held[location, lock]:
                self._held[location, lock] -= 1
            else:
                bad[at] = True
        self.found.add("release_without_acquire", "locks", bad, columns, row)


class _Tasks(Relation):
    """Tasks may be created by one location and run by another, so the times decide, not the rows."""

    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._created: list[int] = []
        self._used: list[Columns] = []

    def look(self, columns: Columns, row: int) -> None:
        created = columns["what"] == TaskStep.CREATED
        self._created.extend(columns["task"][created].tolist())
        used = ~created & (columns["task"] > 0)
        kept = {name: columns[name][used] for name in ("task", "time", "location")}
        self._used.append({**kept, "row": np.flatnonzero(used) + row})

    def end(self) -> None:
        created = np.array(self._created, np.int64)
        numbers, counts = np.unique(created, return_counts=True)
        if (counts > 1).any():
            self.found.one("task_created_twice", "tasks", -1, NO_TIME, 0, int((counts > 1).sum()),
                           f"task {numbers[counts > 1][0]}")  # fmt: skip
        for part in self._used if len(created) else []:
            lone = np.flatnonzero(~np.isin(part["task"], numbers))
            if len(lone):
                at = int(lone[0])
                self.found.one("task_without_creation", "tasks", int(part["location"][at]), int(part["time"][at]),
                               int(part["row"][at]), len(lone), f"task {part['task'][at]}")  # fmt: skip


class _Waits(Relation):
    def look(self, columns: Columns, row: int) -> None:
        self.found.add("waits_for_itself", "waits", columns["holder"] == columns["location"], columns, row)


_RELATIONS: dict[str, type[Relation]] = {
    "messages": _Messages,
    "collectives": _Collectives,
    "states": _States,
    "locks": _Locks,
    "tasks": _Tasks,
    "waits": _Waits,
}


def relation(kind: str, found: Found) -> Relation:
    """Return what looks at the rows of *kind*."""
    return _RELATIONS.get(kind, Relation)(found)
