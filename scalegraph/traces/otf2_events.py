"""Columns from the events of an OTF2 archive, location by location; messages are matched at the end."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, Array, LockStep, TaskStep, What, completed
from scalegraph.traces.matching import partners
from scalegraph.traces.model import Region

_SEND, _RECEIVE = 0, 1
_PACK = 1 << 16  # sends and receives kept as tuples before they are packed
_ROOTS = 2**31  # larger values are not numbers of ours; the highest mean none, or the member itself


class Collector:
    """Collects the events of one location after the other. `handle` lists the functions that the library calls."""

    def __init__(
        self,
        builder: Builder,
        regions: Array,
        metrics: dict[int, list[tuple[int, str]]],
        base: int,
        own: dict[int, tuple[str, ...]] | None = None,
    ) -> None:
        """*regions*: number of each region by reference; *metrics*: the members (number, type) of a metric class.

        Time *base* of the archive is tick 0. *own*: kind and columns of the rows stored in a metric class of ours.
        """
        self._own = own or {}
        self._builder, self._regions, self._metrics, self._base = builder, regions, metrics, base
        self.location = 0
        self._times: list[int] = []
        self._codes: list[int] = []
        self._ends: list[tuple[Any, ...]] = []  # sends and receives of all locations
        self._packed: list[Array] = []  # earlier ones, of shape (n, 8)
        self._packed_rows = 0
        self._pending: dict[int, Any] = {}
        self._begun: list[int] = []
        self._values: list[tuple[int, int, bytes]] = []
        self._tasks: dict[tuple[int, int], int] = {}

    def handle(self) -> dict[str, Callable[..., int]]:
        """Return the functions by event name."""
        append_time, append_code = self._times.append, self._codes.append

        def enter(_l: int, time: int, _p: int, _d: Any, _a: Any, region: int) -> int:
            append_time(time)
            append_code(region)
            return 0

        def leave(_l: int, time: int, _p: int, _d: Any, _a: Any, region: int) -> int:
            append_time(time)
            append_code(~region)
            return 0

        def metric(_l: int, time: int, _p: int, _d: Any, _a: Any, number: int, n: int, _types: Any, data: int) -> int:
            self._values.append((time, number, ctypes.string_at(data, 8 * n)))
            return 0

        return {"Enter": enter, "Leave": leave, "Metric": metric, **self._of_messages(), **self._of_threads()}

    def _of_messages(self) -> dict[str, Callable[..., int]]:
        ends, pending = self._ends, self._pending

        def send(_l: int, time: int, _p: int, _d: Any, _a: Any, rank: int, comm: int, tag: int, size: int) -> int:
            ends.append((_SEND, self.location, time, time, rank, comm, tag, size))
            return 0

        def receive(_l: int, time: int, _p: int, _d: Any, _a: Any, rank: int, comm: int, tag: int, size: int) -> int:
            ends.append((_RECEIVE, self.location, time, time, rank, comm, tag, size))
            return 0

        def isend(_l: int, t: int, _p: int, _d: Any, _a: Any, rank: int, comm: int, tag: int, size: int, r: int) -> int:
            pending[r] = self._packed_rows + len(ends)
            ends.append((_SEND, self.location, t, t, rank, comm, tag, size))
            return 0

        def sent(_l: int, time: int, _p: int, _d: Any, _a: Any, request: int) -> int:
            at = pending.pop(request, None)
            if isinstance(at, int):
                self._complete(at, time)
            return 0

        def post(_l: int, time: int, _p: int, _d: Any, _a: Any, request: int) -> int:
            pending[request] = (time,)
            return 0

        def irecv(_l: int, t: int, _p: int, _d: Any, _a: Any, rank: int, comm: int, tag: int, size: int, r: int) -> int:
            at = pending.pop(r, None)
            ends.append((_RECEIVE, self.location, at[0] if isinstance(at, tuple) else t, t, rank, comm, tag, size))
            return 0

        def begin(_l: int, time: int, _p: int, _d: Any, _a: Any) -> int:
            self._begun.append(time)
            return 0

        def end(_l: int, t: int, _p: int, _d: Any, _a: Any, op: int, comm: int, root: int, out: int, into: int) -> int:
            start = self._begun.pop() if self._begun else t
            self._builder.rows("collectives").add(
                self._tick(start),
                self._tick(t),
                self.location,
                op,
                comm if comm < _ROOTS else NOBODY,
                root if root < _ROOTS else NOBODY,
                _signed(out),
                _signed(into),
            )
            return 0

        return {
            "MpiSend": send,
            "MpiRecv": receive,
            "MpiIsend": isend,
            "MpiIsendComplete": sent,
            "MpiIrecvRequest": post,
            "MpiIrecv": irecv,
            "MpiCollectiveBegin": begin,
            "MpiCollectiveEnd": end,
        }

    def _of_threads(self) -> dict[str, Callable[..., int]]:
        locks, tasks = self._builder.rows("locks"), self._builder.rows("tasks")

        def omp_lock(step: LockStep) -> Callable[..., int]:
            def call(_l: int, time: int, _p: int, _d: Any, _a: Any, lock: int, order: int) -> int:
                locks.add(self._tick(time), self.location, lock, order, step)
                return 0

            return call

        def thread_lock(step: LockStep) -> Callable[..., int]:
            def call(_l: int, time: int, _p: int, _d: Any, _a: Any, _model: int, lock: int, order: int) -> int:
                locks.add(self._tick(time), self.location, lock, order, step)
                return 0

            return call

        def omp_task(step: TaskStep) -> Callable[..., int]:
            def call(_l: int, time: int, _p: int, _d: Any, _a: Any, task: int) -> int:
                tasks.add(self._tick(time), self.location, _signed(task), step, NOBODY)
                return 0

            return call

        def thread_task(step: TaskStep) -> Callable[..., int]:
            def call(_l: int, t: int, _p: int, _d: Any, _a: Any, _team: int, creator: int, generation: int) -> int:
                # generation 0 is the implicit task that a thread has from the start: it is never created
                number = creator << 32 | generation if generation else 0
                tasks.add(self._tick(t), self.location, _signed(number), step, NOBODY)
                return 0

            return call

        return {
            "OmpAcquireLock": omp_lock(LockStep.ACQUIRED),
            "OmpReleaseLock": omp_lock(LockStep.RELEASED),
            "ThreadAcquireLock": thread_lock(LockStep.ACQUIRED),
            "ThreadReleaseLock": thread_lock(LockStep.RELEASED),
            "OmpTaskCreate": omp_task(TaskStep.CREATED),
            "OmpTaskSwitch": omp_task(TaskStep.SWITCHED_TO),
            "OmpTaskComplete": omp_task(TaskStep.ENDED),
            "ThreadTaskCreate": thread_task(TaskStep.CREATED),
            "ThreadTaskSwitch": thread_task(TaskStep.SWITCHED_TO),
            "ThreadTaskComplete": thread_task(TaskStep.ENDED),
        }

    def other(self, name: str, time: int) -> None:
        """Keep an event of another kind as a mark with its name."""
        region = self._builder.region(("event", name), lambda: Region(name, kind="mark"))
        self._builder.rows("marks").add(self._tick(time), self.location, region, 0)
        self._builder.note(f"{name} events, kept as marks")

    def flush(self, *, end_of_location: bool = False) -> None:
        """Pass on the events collected so far."""
        if self._times:
            codes = np.array(self._codes, np.int64)
            enters = codes >= 0
            references = np.where(enters, codes, ~codes)
            known = references < len(self._regions)
            regions = np.where(
                known, self._regions[np.where(known, references, 0)] if len(self._regions) else 0, NOBODY
            )
            self._builder.add(
                "calls",
                time=self.ticks(self._times),
                location=self.location,
                what=np.where(enters, What.ENTER, What.LEAVE),
                region=regions,
            )
            self._times.clear()
            self._codes.clear()
        self._flush_values()
        if len(self._ends) >= _PACK:
            self._pack()
        if end_of_location:
            self._builder.note("collective operations that do not end", len(self._begun))
            self._begun.clear()
            self._pending.clear()

    def _complete(self, at: int, time: int) -> None:
        """Set the completion time of the send in row *at*."""
        if at >= self._packed_rows:
            row = self._ends[at - self._packed_rows]
            self._ends[at - self._packed_rows] = (*row[:3], time, *row[4:])
            return
        for part in self._packed:
            if at < len(part):
                part[at, 3] = time
                return
            at -= len(part)

    def _pack(self) -> None:
        """Pack sends and receives into an array: objects would take ten times the memory."""
        if self._ends:
            self._packed.append(np.array(self._ends, np.uint64))
            self._packed_rows += len(self._ends)
            self._ends.clear()

    def _tick(self, time: int) -> int:
        return _signed((time - self._base) % 2**64)

    def ticks(self, times: Any) -> Array:
        """Return ticks relative to the clock's offset; OTF2's times are unsigned."""
        made: Array = (np.array(times, np.uint64) - np.uint64(self._base % 2**64)).astype(np.int64)
        return made

    def _flush_values(self) -> None:
        by_class: dict[int, list[tuple[int, bytes]]] = {}
        for time, number, data in self._values:
            by_class.setdefault(number, []).append((time, data))
        self._values.clear()
        made: list[tuple[Array, ...]] = []
        for number, rows in by_class.items():
            members = self._metrics.get(number, [])
            rows_whole = [row for row in rows if len(row[1]) == 8 * len(members)]
            self._builder.note("values of metrics that are not defined", len(rows) - len(rows_whole))
            if rows_whole and members:
                bits = np.frombuffer(b"".join(row[1] for row in rows_whole), np.int64).reshape(-1, len(members))
                if number in self._own:
                    self._add_own(*self._own[number], bits=bits)
                    continue
                made.append(_counters(self.ticks([row[0] for row in rows_whole]), bits, members))
        if made:
            moment, metric, value, exact = (np.concatenate(columns) for columns in zip(*made, strict=True))
            order = np.argsort(moment, kind="stable")
            self._builder.add(
                "counters",
                time=moment[order],
                location=self.location,
                metric=metric[order],
                value=value[order],
                exact=exact[order],
            )

    def _add_own(self, kind: str, *names: str, bits: Array) -> None:
        """Add whole rows of ours; *bits* has shape (rows, columns), the columns are *names*."""
        types = KINDS[kind].columns
        columns = {
            name: np.ascontiguousarray(bits[:, at]).view(np.float64) if types[name].kind == "f" else bits[:, at]
            for at, name in enumerate(names)
        }
        self._builder.add(kind, **completed(kind, columns))

    def match_messages(self, members: dict[int, Array]) -> None:
        """Match sends and receives, in their order, by communicator, both ends and tag; *members* by rank."""
        self._pack()
        if not self._packed:
            return
        table = np.concatenate(self._packed)
        self._packed.clear()
        first, second = table[:, 2], table[:, 3]
        which, here, rank, comm, tag, size = (table[:, n].astype(np.int64) for n in (0, 1, 4, 5, 6, 7))
        there = _members(members, comm, rank)
        first, second = self.ticks(first), self.ticks(second)
        sender, receiver = np.where(which == _SEND, here, there), np.where(which == _SEND, there, here)
        partner = partners(which == _SEND, first, comm, sender, receiver, tag)
        order = np.lexsort((first, here))
        sends, receives = order[which[order] == _SEND], order[which[order] == _RECEIVE]
        alone = receives[partner[receives] < 0]
        mate = partner[sends]
        matched = mate >= 0
        unknown = np.full(len(alone), NO_TIME, np.int64)
        rows = np.r_[sends, alone]
        self._builder.add(
            "messages",
            sent=np.r_[first[sends], unknown],
            left=np.r_[second[sends], unknown],
            posted=np.r_[np.where(matched, first[mate], NO_TIME), first[alone]],
            received=np.r_[np.where(matched, second[mate], NO_TIME), second[alone]],
            sender=sender[rows],
            receiver=receiver[rows],
            size=size[rows],
            tag=tag[rows],
            communicator=comm[rows],
        )


def _members(members: dict[int, Array], comm: Array, rank: Array) -> Array:
    """Return the location of each *rank* of a communicator (-1: unknown); *members* by communicator and rank."""
    sizes = np.zeros(max(members, default=-1) + 2, np.int64)  # the last entry stays empty, for unknown ones
    for communicator, locations in members.items():
        sizes[communicator] = len(locations)
    known = np.concatenate([np.full(1, NOBODY), *(members[number] for number in sorted(members))])
    comm = np.where((comm >= 0) & (comm < len(sizes)), comm, len(sizes) - 1)
    place = 1 + (np.cumsum(sizes) - sizes)[comm] + rank
    return np.asarray(known[np.where((rank >= 0) & (rank < sizes[comm]), place, 0)])


def _counters(time: Array, bits: Array, members: list[tuple[int, str]]) -> tuple[Array, ...]:
    """Return time, metric, value and exact value of every member of a class; *bits* has shape (events, members)."""
    whole = np.array([kind != "DOUBLE" for _, kind in members])
    value = np.where(whole, bits.astype(np.float64), np.ascontiguousarray(bits).view(np.float64))
    exact = np.where(whole, bits, 0)
    metric = np.broadcast_to(np.array([number for number, _ in members]), bits.shape)
    return np.repeat(time, len(members)), metric.reshape(-1), value.reshape(-1), exact.reshape(-1)


def _signed(number: int) -> int:
    return number if number < 2**63 else number - 2**64
