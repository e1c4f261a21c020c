"""Rules that relate rows to each other: messages, collective operations, locks, tasks, states."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from scalegraph.base.units import thousands
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Columns, LockStep, TaskStep, Wait
from scalegraph.traces.lod.streams import by_location

if TYPE_CHECKING:
    from scalegraph.traces.checking import Found


class Relation:
    """Checks the parts of one kind in their order; the base class checks nothing."""

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
        # both have 32 bits
        pairs = (columns["communicator"].astype(np.int64) << 32) | columns["location"].astype(np.uint32)
        for pair, count in zip(*(found.tolist() for found in np.unique(pairs, return_counts=True)), strict=True):
            location = pair & 0xFFFFFFFF
            self._taken[pair >> 32, location - ((location >> 31) << 32)] += count

    def end(self) -> None:
        for number, communicator in enumerate(self.found.trace.definitions.communicators):
            counts = {member: self._taken.get((number, member), 0) for member in communicator.members}
            if len(set(counts.values())) > 1:
                usual = Counter(counts.values()).most_common(1)[0][0]
                other = next(member for member, count in counts.items() if count != usual)
                self.found.one(
                    "collective_members",
                    "collectives",
                    other,
                    NO_TIME,
                    0,
                    detail=f"{thousands(counts[other])} in '{communicator.name}', others {thousands(usual)}",
                )


class _States(Relation):
    """States of a location do not overlap."""

    def __init__(self, found: Found, kind: str = "states") -> None:
        super().__init__(found)
        self._kind = kind
        self._until = np.full(len(found.trace.definitions.locations), NO_TIME, np.int64)

    def look(self, columns: Columns, row: int) -> None:
        self.apart(columns, self._by_location(columns), row)

    def _by_location(self, columns: Columns) -> Array:
        """Return the rows of known locations, grouped by location, each in order."""
        rows = np.flatnonzero((columns["location"] >= 0) & (columns["location"] < len(self._until)))
        ordered: Array = rows[by_location(columns["location"][rows])]
        return ordered

    def apart(self, columns: Columns, rows: Array, row: int) -> None:
        """Check that each of *rows*, which are grouped by location, begins after the one before it has ended."""
        if not len(rows):
            return
        owner, begin, end = (columns[name][rows] for name in ("location", "begin", "end"))
        new = np.r_[True, owner[1:] != owner[:-1]]
        before = np.r_[np.int64(NO_TIME), end[:-1]]
        before[new] = self._until[owner[new]]
        bad = np.zeros(len(columns["location"]), bool)
        bad[rows] = begin < before
        self.found.add("overlap", self._kind, bad, columns, row)
        last = np.r_[owner[1:] != owner[:-1], True]
        self._until[owner[last]] = end[last]


class _Shares(_States):
    """Rows of a location with the same begin and end form a stretch; its shares add up to its length."""

    def __init__(self, found: Found) -> None:
        super().__init__(found, "shares")
        # per location, the stretch that may continue in the next part: begin, end, sum of its ticks, its first row
        self._open = np.zeros((len(self._until), 4), np.int64)
        self._open[:, 3] = NOBODY

    def look(self, columns: Columns, row: int) -> None:
        self.found.add("values", "shares", columns["ticks"] < 0, columns, row)
        rows = self._by_location(columns)
        if not len(rows):
            return
        owner, begin, end, ticks = (columns[name][rows] for name in ("location", "begin", "end", "ticks"))
        first_of = np.r_[True, owner[1:] != owner[:-1]]
        starts = np.flatnonzero(first_of | np.r_[True, (begin[1:] != begin[:-1]) | (end[1:] != end[:-1])])
        sums = np.add.reduceat(ticks, starts)
        owner, begin, end, where = owner[starts], begin[starts], end[starts], rows[starts] + row
        first, last = np.flatnonzero(first_of[starts]), np.flatnonzero(np.r_[first_of[starts][1:], True])
        carried = self._open[owner[first]]
        goes_on = (carried[:, 3] >= 0) & (carried[:, 0] == begin[first]) & (carried[:, 1] == end[first])
        sums[first[goes_on]] += carried[goes_on, 2]
        where[first[goes_on]] = carried[goes_on, 3]
        self._wrong(owner[first[~goes_on]], *carried[~goes_on].T)
        done = np.ones(len(starts), bool)
        done[last] = False
        self._wrong(owner[done], begin[done], end[done], sums[done], where[done])
        self._open[owner[last]] = np.stack([begin[last], end[last], sums[last], where[last]], axis=1)
        whole = np.ones(len(starts), bool)
        whole[first[goes_on]] = False  # its first row was compared before
        self.apart(columns, rows[starts[whole]], row)

    def end(self) -> None:
        self._wrong(np.arange(len(self._open)), *self._open.T)

    def _wrong(self, owner: Array, begin: Array, end: Array, sums: Array, row: Array) -> None:
        """Count the stretches, by number of their first row, whose sum is not their length."""
        bad = np.flatnonzero((row >= 0) & (sums != end - begin))
        if len(bad):
            at = bad[np.argmin(row[bad])]
            self.found.one(
                "shares",
                "shares",
                int(owner[at]),
                int(begin[at]),
                int(row[at]),
                len(bad),
                f"{thousands(sums[at])} of {thousands(int(end[at]) - int(begin[at]))} ticks",
            )


class _Locks(Relation):
    def __init__(self, found: Found) -> None:
        super().__init__(found)
        self._held: Counter[tuple[int, int]] = Counter()

    def look(self, columns: Columns, row: int) -> None:
        """Check a part; a lock may be acquired several times, and a release undoes one of them."""
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
    """Tasks may be created by one location and run by another, so the times decide, not the row order."""

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
            self.found.one(
                "task_created_twice", "tasks", -1, NO_TIME, 0, int((counts > 1).sum()), f"task {numbers[counts > 1][0]}"
            )
        for part in self._used if len(created) else []:
            lone = np.flatnonzero(~np.isin(part["task"], numbers))
            if len(lone):
                at = int(lone[0])
                self.found.one(
                    "task_without_creation",
                    "tasks",
                    int(part["location"][at]),
                    int(part["time"][at]),
                    int(part["row"][at]),
                    len(lone),
                    f"task {part['task'][at]}",
                )


class _Waits(Relation):
    def look(self, columns: Columns, row: int) -> None:
        self.found.add("waits_for_itself", "waits", columns["holder"] == columns["location"], columns, row)
        released = columns["released"]
        known = (released != NO_TIME) & (columns["begin"] <= columns["end"])
        before = (released < columns["begin"]) & (columns["why"] != Wait.RECEIVE)  # a message may be under way
        outside = before | (released > columns["end"])
        self.found.add("released", "waits", known & outside, columns, row)


_RELATIONS: dict[str, type[Relation]] = {
    "messages": _Messages,
    "collectives": _Collectives,
    "states": _States,
    "shares": _Shares,
    "locks": _Locks,
    "tasks": _Tasks,
    "waits": _Waits,
}


def relation(kind: str, found: Found) -> Relation:
    """Return the check of the rows of *kind*."""
    return _RELATIONS.get(kind, Relation)(found)
