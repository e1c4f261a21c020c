"""The builder that readers fill: definitions by key, columns chunk by chunk, mostly in a temporary file."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from scalegraph.traces.container import SUFFIX, ContainerWriter, open_container
from scalegraph.traces.kinds import KINDS, Columns
from scalegraph.traces.model import (
    Communicator,
    Definitions,
    Group,
    Location,
    MemoryPart,
    Meta,
    Metric,
    Note,
    Part,
    Region,
    State,
    Trace,
)

ROWS = 1 << 20  # rows per part
LIMIT_BYTES = 256 << 20  # of columns in memory; the rest goes to a temporary file

_Item = TypeVar("_Item", Group, Location, Region, Metric, State, Communicator)


class Rows:
    """Rows added one by one, as tuples in the order of the kind's columns."""

    def __init__(
        self, kind: str, flush: Callable[[str, Columns], None], lose: Callable[[str, int], None], size: int = 1 << 16
    ) -> None:
        self._kind, self._flush, self._lose, self._size = kind, flush, lose, size
        self._rows: list[tuple[Any, ...]] = []

    def add(self, *row: Any) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) >= self._size:
            self.flush()

    def flush(self) -> None:
        """Pass on the rows collected so far."""
        if self._rows:
            rows = list(self._rows)
            self._rows.clear()
            try:
                columns = self._columns(rows)
            except (OverflowError, TypeError, ValueError):
                fit = [row for row in rows if self._fits(row)]
                self._lose(f"rows of {self._kind} with numbers that do not fit", len(rows) - len(fit))
                if not fit:
                    return
                columns = self._columns(fit)
            self._flush(self._kind, columns)

    def _columns(self, rows: list[tuple[Any, ...]]) -> Columns:
        types = KINDS[self._kind].columns
        return {
            name: np.array(values, dtype=dtype)
            for (name, dtype), values in zip(types.items(), zip(*rows, strict=True), strict=True)
        }

    def _fits(self, row: tuple[Any, ...]) -> bool:
        try:
            self._columns([row])
        except (OverflowError, TypeError, ValueError):
            return False
        return True


class Builder:
    """Collects a trace. Rows of one location must come in the order of its events."""

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self.definitions = Definitions()
        self.meta = Meta()
        self._numbers: dict[str, dict[Hashable, int]] = {}
        self._chunks: dict[str, list[Columns]] = {kind: [] for kind in KINDS}
        self._rows: dict[str, Rows] = {}
        self._notes: Counter[str] = Counter()
        self._limit, self._bytes = limit, 0
        self._spill: tuple[tempfile.TemporaryDirectory[str], ContainerWriter] | None = None

    def _number(self, table: str, items: list[_Item], key: Hashable, make: Callable[[], _Item]) -> int:
        known = self._numbers.setdefault(table, {})
        number = known.get(key)
        if number is None:
            number = known[key] = len(items)
            items.append(make())
        return number

    def group(self, key: Hashable, make: Callable[[], Group]) -> int:
        """Return the number of the group *key*, created by *make* if it is new. The next methods work alike."""
        return self._number("groups", self.definitions.groups, key, make)

    def location(self, key: Hashable, make: Callable[[], Location]) -> int:
        """Return the number of a location."""
        return self._number("locations", self.definitions.locations, key, make)

    def region(self, key: Hashable, make: Callable[[], Region]) -> int:
        """Return the number of a region."""
        return self._number("regions", self.definitions.regions, key, make)

    def metric(self, key: Hashable, make: Callable[[], Metric]) -> int:
        """Return the number of a metric."""
        return self._number("metrics", self.definitions.metrics, key, make)

    def state(self, key: Hashable, make: Callable[[], State]) -> int:
        """Return the number of a state."""
        return self._number("states", self.definitions.states, key, make)

    def communicator(self, key: Hashable, make: Callable[[], Communicator]) -> int:
        """Return the number of a communicator."""
        return self._number("communicators", self.definitions.communicators, key, make)

    def adopt(self, definitions: Definitions, meta: Meta) -> None:
        """Use the definitions that ScaleGraph wrote into the source; damage found so far is kept."""
        meta.damage = [*self.meta.damage, *meta.damage]
        self.definitions, self.meta = definitions, meta

    def rows(self, kind: str) -> Rows:
        """Return where to add single rows of *kind*."""
        if kind not in self._rows:
            self._rows[kind] = Rows(kind, self._add, self.note)
        return self._rows[kind]

    def add(self, kind: str, **columns: Any) -> None:
        """Add rows of *kind*: every column as an array, or one value for all rows."""
        if kind in self._rows:
            self._rows[kind].flush()
        types = KINDS[kind].columns
        length = max(np.size(values) for values in columns.values() if np.ndim(values))
        self._add(
            kind,
            {
                name: np.ascontiguousarray(np.broadcast_to(np.asarray(columns[name], dtype), (length,)))
                for name, dtype in types.items()
            },
        )

    def _add(self, kind: str, columns: Columns) -> None:
        rows = len(columns[KINDS[kind].begin])
        for start in range(0, rows, ROWS):
            chunk = {name: values[start : start + ROWS] for name, values in columns.items()}
            self._chunks[kind].append(chunk)
            self._bytes += sum(values.nbytes for values in chunk.values())
        if self._bytes > self._limit:
            self._to_disk()

    def note(self, what: str, count: int = 1) -> None:
        """Count something in the source that the trace does not hold in its original form."""
        if count:
            self._notes[what] += int(count)

    def damage(self, sentence: str) -> None:
        """Record a fault of the source."""
        self.meta.damage.append(sentence)

    @property
    def found(self) -> bool:
        """Whether anything was read."""
        return bool(self._spill or self.definitions.locations or any(self._chunks.values()) or self._rows)

    def _to_disk(self) -> None:
        if self._spill is None:
            place = tempfile.TemporaryDirectory(prefix="scalegraph-trace-", ignore_cleanup_errors=True)
            self._spill = place, ContainerWriter(Path(place.name) / f"trace{SUFFIX}")
        for kind in KINDS:
            for columns in _merged(self._chunks[kind]):
                self._spill[1].append(kind, columns)
            self._chunks[kind].clear()
        self._bytes = 0

    def take(self, kind: str) -> Columns:
        """Take back all rows of *kind* in memory, for a reader that has to sort them."""
        if kind in self._rows:
            self._rows[kind].flush()
        whole = _whole(kind, self._chunks[kind])
        self._bytes -= sum(values.nbytes for chunk in self._chunks[kind] for values in chunk.values())
        self._chunks[kind].clear()
        return whole

    def discard(self) -> None:
        """Drop everything, including the temporary file."""
        if self._spill is not None:
            self._spill[1].abandon()
            self._spill[0].cleanup()

    def finish(self, *, begin: int | None = None, end: int | None = None) -> Trace:
        """Return the trace; the run is from *begin* to *end* (ticks), by default from the first to the last event."""
        for rows in self._rows.values():
            rows.flush()
        self.meta.notes = [*self.meta.notes, *(Note(what, count) for what, count in sorted(self._notes.items()))]
        if self._spill is not None:
            return self._finish_on_disk(self._spill, begin, end)
        parts: dict[str, list[Part]] = {
            kind: [MemoryPart(kind, columns) for columns in _merged(chunks)] for kind, chunks in self._chunks.items()
        }
        return Trace(self.definitions, _bounded(self.meta, parts, begin, end), parts)

    def _finish_on_disk(
        self, spill: tuple[tempfile.TemporaryDirectory[str], ContainerWriter], begin: int | None, end: int | None
    ) -> Trace:
        place, writer = spill
        self._to_disk()
        writer.define(self.definitions, self.meta)
        writer.finish()
        trace = open_container(writer.path)
        return Trace(self.definitions, _bounded(self.meta, trace.parts, begin, end), trace.parts, place.cleanup)


def _bounded(meta: Meta, parts: Any, begin: int | None, end: int | None) -> Meta:
    known = [part for some in parts.values() for part in some if part.first <= part.last]
    meta.begin = begin if begin is not None else min((part.first for part in known), default=0)
    meta.end = end if end is not None else max((part.last for part in known), default=meta.begin)
    return meta


def _whole(kind: str, chunks: list[Columns]) -> Columns:
    names = KINDS[kind].columns
    if not chunks:
        return {name: np.empty(0, dtype) for name, dtype in names.items()}
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in names}


def _merged(chunks: list[Columns]) -> list[Columns]:
    """Return *chunks* with small neighbours merged, in the same order."""
    made: list[Columns] = []
    waiting: list[Columns] = []
    rows = 0
    for chunk in chunks:
        length = len(next(iter(chunk.values())))
        if waiting and rows + length > ROWS:
            made.append({name: np.concatenate([part[name] for part in waiting]) for name in chunk})
            waiting, rows = [], 0
        waiting.append(chunk)
        rows += length
    if waiting:
        made.append({name: np.concatenate([part[name] for part in waiting]) for name in waiting[0]})
    return made
