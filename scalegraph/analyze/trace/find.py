"""Search in a trace: a text names regions, locations, markers and so on, and each has a next occurrence in time."""

from __future__ import annotations

import fnmatch
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Wait, What
from scalegraph.traces.model import Part, Trace

_COUNTED: Final = 48  # parts searched to number an occurrence; beyond that the number is omitted
_DENSE: Final = 1 << 20
WAITS: Final = {
    Wait.OTHER: "waiting",
    Wait.BARRIER: "barrier",
    Wait.LOCK: "lock",
    Wait.TASK: "task",
    Wait.JOIN: "join",
    Wait.CONDITION: "condition",
    Wait.ORDERED: "ordered",
    Wait.RECEIVE: "receive",
    Wait.SEND: "send",
    Wait.COLLECTIVE: "collective operation",
}


@dataclass(frozen=True)
class Sort:
    """A sort of thing named by *column* of events of *kind*; an occurrence is at *time* on *location*, until *end*."""

    name: str
    plural: str
    kind: str
    column: str
    time: str
    end: str = ""
    location: str = "location"
    region: str = ""


SORTS: Final = {
    sort.name: sort
    for sort in (
        Sort("region", "regions", "calls", "region", "time"),
        Sort("location", "locations", "calls", "location", "time"),
        Sort("mark", "marks", "marks", "region", "time"),
        Sort("wait", "waits", "waits", "why", "begin", "end", region="region"),
        Sort("state", "states", "states", "state", "begin", "end"),
        Sort("metric", "metrics", "counters", "metric", "time"),
        Sort("tag", "tags of messages", "messages", "tag", "sent", "received", "sender"),
    )
}
LASTING: Final = ("region", "wait", "state", "tag")  # sorts that last, so that there is a longest occurrence


@dataclass(frozen=True)
class Target:
    """A search target: its *sort*, its *number* in the trace, and how often it occurs."""

    sort: str
    number: int
    name: str
    count: int


Key: TypeAlias = tuple[int, int, int, int]  # time, location, part, row: the order of occurrences


@dataclass(frozen=True)
class Occurrence:
    """One occurrence: *begin* and *end* in ticks, its location and region (-1: none), and its position in the order.

    It is number *which* of *of*, from 1; 0 if counting would take too long.
    """

    target: Target
    begin: int
    end: int
    location: int
    region: int
    key: Key
    which: int = 0
    of: int = 0


@dataclass
class _Index:
    """How often each number occurs in each part: numbers in order, and their counts."""

    numbers: list[Array] = field(default_factory=list)
    counts: list[Array] = field(default_factory=list)

    def count(self, part: int, number: int) -> int:
        at = int(np.searchsorted(self.numbers[part], number))
        there = at < len(self.numbers[part]) and int(self.numbers[part][at]) == number
        return int(self.counts[part][at]) if there else 0

    def totals(self) -> dict[int, int]:
        """Return how often each number occurs."""
        if not self.numbers:
            return {}
        numbers, place = np.unique(np.concatenate(self.numbers), return_inverse=True)
        sums = np.bincount(place, np.concatenate(self.counts), len(numbers)).astype(np.int64)
        return dict(zip(numbers.tolist(), sums.tolist(), strict=True))


class Finder:
    """Searches one trace. The counts from the first pass over each kind of events are cached."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._indices: dict[str, _Index] = {}
        self._totals: dict[str, dict[int, int]] = {}
        self._lock = threading.Lock()

    def targets(self, text: str, cancel: CancelToken | None = None) -> list[Target]:
        """Return everything with *text* in its name (``*`` and ``?`` are wildcards), by kind, best matches first.

        A message tag is found by its number, with or without the word before it.

        Shape: one entry for each target. Source: ScaleGraph.
        """
        found: list[Target] = []
        for sort in SORTS:
            totals = self._counted(sort, cancel)
            names = self._names(sort, totals)
            chosen = [number for number, name in names.items() if fits(name, text)]
            made = [Target(sort, number, names[number], totals.get(number, 0)) for number in chosen]
            found += sorted(made, key=lambda one: (not one.name.lower().startswith(text.lower()), -one.count, one.name))
        return found

    def next(
        self, target: Target, after: int | Key, *, forward: bool = True, cancel: CancelToken | None = None
    ) -> Occurrence | None:
        """Return the next occurrence of *target*: from the tick *after* on, or after the occurrence with that key.

        Without *forward*: the previous one. None if there is no other.

        Unit: ticks. Source: ScaleGraph.
        """
        sort = SORTS[target.sort]
        key: Key = (after, -2, -1, -1) if isinstance(after, int) else after
        index = self._index(target.sort, cancel)
        parts = self._trace.parts[sort.kind]
        known = [number for number in range(len(parts)) if index.count(number, target.number)]
        best: Key | None = None
        if forward:
            known = [number for number in known if parts[number].last >= key[0]]
            known.sort(key=lambda number: parts[number].first)
        else:
            known = [number for number in known if parts[number].first <= key[0]]
            known.sort(key=lambda number: -parts[number].last)
        for number in known:
            if cancel is not None:
                cancel.check()
            if best is not None and (parts[number].first > best[0] if forward else parts[number].last < best[0]):
                break
            found = _nearest(_Rows(sort, parts[number], number, target.number), key, forward=forward)
            if found is not None and (best is None or (found < best if forward else found > best)):
                best = found
        return None if best is None else self._told(target, best, cancel)

    def _told(self, target: Target, key: Key, cancel: CancelToken | None) -> Occurrence:
        """Return the full details of the occurrence at *key*."""
        sort = SORTS[target.sort]
        time, location, number, row = key
        part = self._trace.parts[sort.kind][number]
        end, region = time, NOBODY
        if sort.kind == "calls":
            region = int(part.column("region")[row])
            end = self._leave(number, row, location)
        elif sort.end:
            end = max(time, int(part.column(sort.end)[row]))
        if sort.region:
            region = int(part.column(sort.region)[row])
        return Occurrence(target, time, end, location, region, key, self._which(target, key, cancel), target.count)

    def _leave(self, number: int, row: int, location: int) -> int:
        """Return when the call entered at *row* is left; the end of the run if it never is."""
        depth, parts = 1, self._trace.parts["calls"]
        for at in range(number, len(parts)):
            low = row + 1 if at == number else 0
            rows = low + np.flatnonzero(parts[at].column("location")[low:] == location)
            steps = np.where(parts[at].column("what")[rows] == What.ENTER, 1, -1)
            done = np.flatnonzero(depth + np.cumsum(steps) == 0)
            if len(done):
                return int(parts[at].column("time")[rows[done[0]]])
            depth += int(steps.sum())
        return max(self._trace.meta.end, int(parts[number].column("time")[row]))

    def _which(self, target: Target, key: Key, cancel: CancelToken | None) -> int:
        """Return the position of *key* among all occurrences, from 1; 0 if that would need too many parts."""
        sort, index, before, seen = SORTS[target.sort], self._index(target.sort, cancel), 0, 0
        for number, part in enumerate(self._trace.parts[sort.kind]):
            count = index.count(number, target.number)
            if not count or part.first > key[0]:
                continue
            if part.last < key[0]:
                before += count
                continue
            seen += 1
            if seen > _COUNTED:
                return 0
            if cancel is not None:
                cancel.check()
            rows = _Rows(sort, part, number, target.number)
            before += int(np.count_nonzero(rows.beside(key, forward=False)))
        return before + 1

    # kinds present in the trace

    def _names(self, sort: str, totals: dict[int, int]) -> dict[int, str]:
        definitions = self._trace.definitions
        if sort == "region":
            marks = self._counted("mark", None)
            only = {number for number in marks if number not in totals}  # regions that only name markers
            return {n: one.name for n, one in enumerate(definitions.regions) if n not in only}
        if sort == "location":
            return {n: one.name or f"{one.kind} {n}" for n, one in enumerate(definitions.locations)}
        if sort == "mark":
            regions = definitions.regions
            return {number: regions[number].name for number in totals if 0 <= number < len(regions)}
        if sort == "wait":
            return {number: WAITS[Wait(number)] for number in totals if number in WAITS}
        if sort == "tag":
            return {number: f"tag {number}" for number in totals if number >= 0}
        states, metrics = [one.name for one in definitions.states], [one.name for one in definitions.metrics]
        return {n: name for n, name in enumerate(states if sort == "state" else metrics) if n in totals}

    def _counted(self, sort: str, cancel: CancelToken | None) -> dict[int, int]:
        self._index(sort, cancel)
        return self._totals[sort]

    def _index(self, name: str, cancel: CancelToken | None) -> _Index:
        with self._lock:
            if name not in self._indices:
                made = _Index()
                for part in self._trace.parts[SORTS[name].kind]:
                    if cancel is not None:
                        cancel.check()
                    numbers, counts = _tally(_numbers(SORTS[name], part))
                    made.numbers.append(numbers)
                    made.counts.append(counts)
                self._indices[name], self._totals[name] = made, made.totals()
            return self._indices[name]


def fits(name: str, text: str) -> bool:
    """Whether *name* contains *text*, or matches it if it has wildcards (``*``, ``?``); case does not matter.

    Source: ScaleGraph.
    """
    wanted, name = text.strip().lower(), name.lower()
    if re.search(r"[*?]", wanted):
        return fnmatch.fnmatchcase(name, wanted)
    return wanted in name


def occurring(sort: Sort, part: Part) -> Array:
    """Return which rows of *part* are occurrences: for calls the enters, for messages the sends.

    Shape: (rows of *part*,). Unit: none. Source: ScaleGraph.
    """
    if sort.kind == "calls":
        return np.asarray(part.column("what") == What.ENTER)
    return np.asarray(part.column(sort.time) != NO_TIME)


def _numbers(sort: Sort, part: Part) -> Array:
    return np.asarray(part.column(sort.column)[occurring(sort, part)])


def _tally(values: Array) -> tuple[Array, Array]:
    """Return the distinct numbers in *values*, ascending, and how often each occurs."""
    if len(values) and int(values.min()) >= 0 and int(values.max()) < _DENSE:
        counts = np.bincount(values)
        there = np.flatnonzero(counts)
        return there, counts[there]
    numbers, counts = np.unique(values, return_counts=True)
    return numbers.astype(np.int64), counts


class _Rows:
    """The occurrences of one number in one part."""

    def __init__(self, sort: Sort, part: Part, number: int, wanted: int) -> None:
        self.part = number
        rows = np.flatnonzero(part.column(sort.column) == wanted)
        if sort.kind == "calls":
            rows = rows[part.column("what")[rows] == What.ENTER]
        else:
            rows = rows[part.column(sort.time)[rows] != NO_TIME]
        self.rows, self.time = rows, part.column(sort.time)[rows]
        self.location = part.column(sort.location)[rows]

    def beside(self, key: Key, *, forward: bool) -> Array:
        """Return which occurrences come after *key*, or before it unless *forward*."""
        time, location, part, row = key
        far = self.time > time if forward else self.time < time
        tied = np.flatnonzero(self.time == time)
        there = self.location[tied]
        if self.part == part:
            within = self.rows[tied] > row if forward else self.rows[tied] < row
        else:
            within = np.full(len(tied), (self.part > part) == forward)
        beyond = there > location if forward else there < location
        far[tied] = beyond | ((there == location) & within)
        return np.asarray(far)


def _nearest(found: _Rows, key: Key, *, forward: bool) -> Key | None:
    """Return the key of the first occurrence after *key*, or of the last before it."""
    there = np.flatnonzero(found.beside(key, forward=forward))
    if not len(there):
        return None
    time = found.time[there]
    there = there[time == (time.min() if forward else time.max())]
    location = found.location[there]
    there = there[location == (location.min() if forward else location.max())]
    at = int(there[0] if forward else there[-1])
    return int(found.time[at]), int(found.location[at]), found.part, int(found.rows[at])


def parts_with(trace: Trace, sort: Sort, begin: int, end: int) -> Iterator[Part]:
    """Yield the parts of the kind of *sort* that overlap *begin* to *end* (ticks).

    Shape: one entry for each part. Unit: ticks. Source: ScaleGraph.
    """
    for part in trace.parts[sort.kind]:
        if part.rows and part.first <= end and part.last >= begin:
            yield part
