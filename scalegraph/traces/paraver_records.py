"""Events from the records of a Paraver trace."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from scalegraph.traces import paraver_files, paraver_own
from scalegraph.traces.formats import Reading
from scalegraph.traces.kinds import KINDS, NOBODY, Array, What, completed
from scalegraph.traces.model import Communicator, Group, Location, Metric, Region, State, Trace
from scalegraph.traces.nesting import match
from scalegraph.traces.paraver_files import Header

# event types whose value enters a region and whose 0 leaves it, in Extrae's form: MPI calls, OpenMP's outlined
# functions, user functions, pthread's
CALLS = (50000001, 50000002, 50000003, 60000018, 60000019, 61000000)
_HARDWARE = range(42000000, 43000000)  # hardware counters: counts since the previous event
_SHIFT = 1 << 20
_WHOLE = re.compile(r"-?[0-9]{1,18}")


class Records:
    """Collects records by blocks."""

    def __init__(self, reading: Reading, header: Header) -> None:
        self._reading, self._builder, self._header = reading, reading.builder, header
        self._names = paraver_files.Names()
        self._base, self._own = 0, False
        self._read: Counter[str] = Counter()
        self._calls: list[tuple[Array, ...]] = []
        meta = self._builder.meta
        meta.ticks_per_second = header.ticks_per_second
        self._threads = header.threads
        self._first: dict[tuple[int, int], int] = {}  # the first thread of an application's task
        self._places = np.empty(0, np.int64)
        self._order = np.empty(0, np.int64)

    def adopt(self, line: str) -> None:
        """Use the definitions that ScaleGraph wrote into the comment *line*."""
        own = paraver_own.unpack(line)
        if own is None:
            self._reading.broken("the definitions of ScaleGraph are damaged", line=2)
            self.name()
            return
        definitions, meta, self._base = own
        self._builder.adopt(definitions, meta)
        self._own, self._threads = True, paraver_own.threads(self._builder.definitions)
        self._index()

    def name(self) -> None:
        """Read the companion files of the trace and define the names in them."""
        reading, builder = self._reading, self._builder
        for ending in (".pcf", ".row"):
            if not paraver_files.beside(reading.path, ending).is_file():
                builder.note(f"missing {ending} file: names are replaced by numbers")
        pcf, row = paraver_files.beside(reading.path, ".pcf"), paraver_files.beside(reading.path, ".row")
        if pcf.is_file():
            self._names = paraver_files.names(reading, pcf)
        rows = paraver_files.row_names(reading, row) if row.is_file() else []
        builder.meta.properties["date"] = self._header.date
        for number, (application, task, thread) in enumerate(self._threads):
            key = f"{application}.{task}.{thread}"
            title = rows[number] if len(rows) == len(self._threads) else f"THREAD {key}"
            group = builder.group((application, task), lambda n=f"{application}.{task}": Group(n))  # type: ignore[misc]
            builder.location(key, lambda t=title, g=group, k=key: Location(t, "thread", g, k))  # type: ignore[misc]
        for state, title in self._names.states.items():
            colour = self._names.colours.get(state, "")
            builder.state(state, lambda t=title, c=colour, k=str(state): State(t, c, k))  # type: ignore[misc]
        self._index()

    def _index(self) -> None:
        keys = np.array([(a * _SHIFT + t) * _SHIFT + h for a, t, h in self._threads], np.int64)
        self._order = np.argsort(keys)
        self._places = keys[self._order]
        firsts = ((a, t, place) for place, (a, t, h) in reversed(list(enumerate(self._threads))) if h == 1)
        self._first = {(application, task): place for application, task, place in firsts}

    def communicator(self, line: str, number: int) -> None:
        """Parse a line that defines a communicator: c:application:number:size:member:.."""
        parts = line.strip().split(":")[1:]
        whole = all(_WHOLE.fullmatch(part) for part in parts)  # the member -1 is nobody
        if len(parts) < 3 or not whole or len(parts) != 3 + int(parts[2]):
            self._reading.broken("a communicator was expected: c:application:number:size:member:..", line=number)
            return
        application, name = int(parts[0]), f"{parts[0]}.{parts[1]}"
        members = tuple(self._first.get((application, int(task)), NOBODY) for task in parts[3:])
        if not self._own:
            self._builder.communicator(name, lambda: Communicator(name, members))

    def _locate(self, application: Array, task: Array, thread: Array) -> Array:
        keys = (application * _SHIFT + task) * _SHIFT + thread
        if not len(self._places):
            return np.full(len(keys), NOBODY, np.int64)
        at = np.minimum(np.searchsorted(self._places, keys), len(self._places) - 1)
        found: Array = np.where(self._places[at] == keys, self._order[at], NOBODY)
        self._builder.note("records of threads that the header does not name", int((found < 0).sum()))
        return found

    def add(self, values: Array, starts: Array, counts: Array) -> None:
        """Add the records that begin at *starts* in *values* and have *counts* fields each."""
        if not len(starts):
            return
        kind = values[starts]
        for number, name in ((1, "states"), (2, "events"), (3, "communications")):
            self._read[name] += int((kind == number).sum())
        self._builder.note("records of type 4, of global operations", int((kind == 4).sum()))
        self._states(values, starts[kind == 1])
        self._events(values, starts[kind == 2], counts[kind == 2])
        self._messages(values, starts[kind == 3])

    def _states(self, values: Array, starts: Array) -> None:
        if not len(starts):
            return
        _, application, task, thread, begin, end, state = (values[starts + n] for n in range(1, 8))
        if not self._own:
            known, where = np.unique(state, return_inverse=True)
            numbers = [self._builder.state(int(s), lambda s=s: State(f"state {s}", key=str(s))) for s in known]  # type: ignore[misc]
            state = np.array(numbers)[where]
        self._builder.add(
            "states",
            begin=begin + self._base,
            end=end + self._base,
            location=self._locate(application, task, thread),
            state=state,
        )

    def _messages(self, values: Array, starts: Array) -> None:
        if self._own or not len(starts):  # rows of ours are in events, with their communicators
            return
        ends = [values[starts + n] for n in range(1, 15)]
        self._builder.add(
            "messages",
            sender=self._locate(*ends[1:4]),
            receiver=self._locate(*ends[7:10]),
            sent=ends[4],
            left=ends[5],
            posted=ends[10],
            received=ends[11],
            size=ends[12],
            tag=ends[13],
            communicator=NOBODY,
        )

    def _events(self, values: Array, starts: Array, counts: Array) -> None:
        if not len(starts):
            return
        location = self._locate(*(values[starts + n] for n in (2, 3, 4)))
        time = values[starts + 5] + self._base
        pairs = (counts - 6) // 2
        row = np.repeat(np.arange(len(starts)), pairs)
        turn = np.arange(len(row)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
        kind, value = values[starts[row] + 6 + 2 * turn], values[starts[row] + 7 + 2 * turn]
        if self._own:
            self._own_events(kind, value, location[row], time[row])
            return
        calls = np.isin(kind, CALLS)
        if calls.any():
            self._calls.append((time[row][calls], location[row][calls], kind[calls], value[calls]))
        self._counters(kind[~calls], value[~calls], location[row][~calls], time[row][~calls])

    def _counters(self, kind: Array, value: Array, location: Array, time: Array) -> None:
        if not len(kind):
            return
        known, where = np.unique(kind, return_inverse=True)
        metrics = np.array([self._metric(int(number)) for number in known])
        self._builder.add(
            "counters", time=time, location=location, metric=metrics[where], value=value.astype(np.float64), exact=value
        )

    def _metric(self, number: int) -> int:
        names = self._names
        labels = tuple(sorted(names.values.get(number, {}).items()))
        mode = "next" if number in _HARDWARE else "last"
        title = names.types.get(number, str(number))
        return self._builder.metric(number, lambda: Metric(title, "", mode, True, str(number), labels))

    def _own_events(self, kind: Array, value: Array, location: Array, time: Array) -> None:
        """Add rows of ours: calls, counters, and those with an event type for each column."""
        entered = (kind == paraver_own.CALLS) & (value > 0)
        left = kind == paraver_own.LEFT
        calls = np.flatnonzero(entered | left)
        if len(calls):
            region = np.where(left[calls], value[calls] - 2, value[calls] - 1)
            what = np.where(left[calls], What.LEAVE, What.ENTER)
            self._builder.add("calls", time=time[calls], location=location[calls], what=what, region=region)
        metrics = np.flatnonzero((kind >= paraver_own.METRICS) & (kind < paraver_own.METRICS + 10**6))
        if len(metrics):
            exact = value[metrics]
            self._builder.add(
                "counters",
                time=time[metrics],
                location=location[metrics],
                exact=exact,
                metric=kind[metrics] - paraver_own.METRICS,
                value=exact.astype(np.float64),
            )
        for name, first in paraver_own.ROWS.items():
            columns = {}
            for number, (column, dtype) in enumerate(KINDS[name].columns.items()):
                found = value[kind == first + number]
                columns[column] = found.view(np.float64) if dtype.kind == "f" else found
            columns = completed(name, columns)
            if len({len(column) for column in columns.values()}) > 1:
                self._builder.note(f"rows of {name} that are damaged", 1)
            elif len(next(iter(columns.values()))):
                self._builder.add(name, **columns)

    def finish(self) -> Trace:
        """Return the trace."""
        meta = self._builder.meta
        if self._own:
            return self._builder.finish(begin=meta.begin, end=meta.end)
        self._finish_calls()
        meta.properties.update({f"{name} records": str(count) for name, count in self._read.items()})
        trace = self._builder.finish()
        trace.meta.begin = min(0, trace.meta.begin)
        trace.meta.end = max(self._header.end, trace.meta.end)
        return trace

    def _finish_calls(self) -> None:
        """Assign regions to calls: a 0 leaves the region that its event type entered last."""
        if not self._calls:
            return
        time, location, kind, value = (np.concatenate(columns) for columns in zip(*self._calls, strict=True))
        pairs, where = np.unique(np.stack([kind, value], axis=1), axis=0, return_inverse=True)
        numbers = np.array([self._region(int(k), int(v)) for k, v in pairs])
        region, enters = numbers[where.reshape(-1)], value != 0
        partner, _ = match(location.astype(np.int64) * 2**32 + kind, enters)
        region[~enters] = np.where(partner >= 0, region[partner], NOBODY)[~enters]
        self._builder.note("regions that are not left", int((enters & (partner < 0)).sum()))
        self._builder.note("ends without a beginning", int((~enters & (partner < 0)).sum()))
        self._builder.add(
            "calls", time=time, location=location, region=region, what=np.where(enters, What.ENTER, What.LEAVE)
        )

    def _region(self, kind: int, value: int) -> int:
        if value == 0:
            return NOBODY
        title = self._names.values.get(kind, {}).get(value, f"{kind}:{value}")
        return self._builder.region((kind, value), lambda: Region(title, kind=self._names.types.get(kind, "function")))
