"""A trace: definitions, and columns of events in parts that may still be on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol, Self

import numpy as np

from scalegraph.base.units import thousands
from scalegraph.traces.kinds import KINDS, NO_TIME, Array, Columns, empty, span


@dataclass(frozen=True)
class Group:
    """Something that contains locations: a process, a node, a machine; *parent* is another group or -1."""

    name: str
    kind: str = "process"
    parent: int = -1


@dataclass(frozen=True)
class Location:
    """Something with a sequence of events: a thread, process or simulated processor; *key*: its name in the source."""

    name: str
    kind: str = "thread"
    group: int = -1
    key: str = ""


@dataclass(frozen=True)
class Region:
    """A place in the program (function, loop, barrier ..) or the name of a mark."""

    name: str
    file: str = ""
    line: int = 0
    kind: str = "function"


@dataclass(frozen=True)
class Metric:
    """The quantity of a counter. *mode*: last (value from here on), sum (since the start), next (since the last value).

    Values of an *integer* metric are exact in the column ``exact``; *labels* are names of values.
    """

    name: str
    unit: str = ""
    mode: str = "last"
    integer: bool = False
    key: str = ""
    labels: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class State:
    """A state that a location can be in; *colour* as #rrggbb or empty."""

    name: str
    colour: str = ""
    key: str = ""


@dataclass(frozen=True)
class Communicator:
    """Locations that send to each other, by rank."""

    name: str
    members: tuple[int, ...] = ()


_CLASSES: Mapping[str, type[Any]] = {
    "groups": Group,
    "locations": Location,
    "regions": Region,
    "metrics": Metric,
    "states": State,
    "communicators": Communicator,
}


@dataclass
class Definitions:
    """Everything that events refer to by number."""

    groups: list[Group] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    communicators: list[Communicator] = field(default_factory=list)

    def as_data(self) -> dict[str, list[list[Any]]]:
        """Return the definitions as lists of lists, for JSON; the fields are in the order of the classes."""
        return {
            name: [[getattr(item, part.name) for part in fields(kind)] for item in getattr(self, name)]
            for name, kind in _CLASSES.items()
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Definitions:
        """Return the definitions from `as_data`. Raises `ValueError`, `TypeError` or `KeyError` for anything else."""
        made = cls(**{name: [kind(*map(_tuples, row)) for row in data[name]] for name, kind in _CLASSES.items()})
        for name, kind in _CLASSES.items():
            for item in getattr(made, name):
                for part in fields(kind):
                    if type(getattr(item, part.name)) is not _PLAIN[str(part.type).split("[")[0]]:
                        raise ValueError(f"{name}: {part.name}")
        return made


_PLAIN = {"str": str, "int": int, "bool": bool, "tuple": tuple}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Note:
    """Something in the source that the trace omits or represents differently, and how often.

    Without a count it is a remark on the whole trace.
    """

    what: str
    count: int = 0

    @property
    def words(self) -> str:
        """The text with its count: ``12 × arrows without an end``."""
        return f"{thousands(self.count)} × {self.what}" if self.count else self.what


@dataclass
class Meta:
    """Metadata of a trace. Times are ticks: *ticks_per_second* a second, tick 0 is *offset* of the source.

    *begin* and *end* bound the run. *damage* holds a sentence for each place where the source could not be read.
    """

    ticks_per_second: int = 1_000_000_000
    offset: int = 0
    begin: int = 0
    end: int = 0
    program: str = ""
    source: str = ""
    format: str = ""
    creator: str = ""
    notes: list[Note] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """Return the metadata for JSON."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Meta:
        """Return the metadata from `as_data`. Raises `ValueError`, `TypeError` or `KeyError` for anything else."""
        known = {part.name: data[part.name] for part in fields(cls)}
        known["notes"] = [Note(str(note["what"]), int(note["count"])) for note in data["notes"]]
        meta = cls(**known)
        if not all(type(n) is int for n in (meta.ticks_per_second, meta.offset, meta.begin, meta.end)):
            raise ValueError("times")
        if not 0 < meta.ticks_per_second < 2**63:
            raise ValueError("ticks_per_second")
        # a duration must fit into 64 bits, too
        if not (-(2**63) < meta.begin < 2**63 and -(2**63) < meta.end < 2**63 and meta.end - meta.begin < 2**63):
            raise ValueError("begin and end")
        if not isinstance(meta.properties, dict):
            raise TypeError("properties")
        return meta


class Part(Protocol):
    """Some rows of one kind. *first* and *last* bound their times."""

    def forget(self) -> None:
        """Release memory that can be filled again."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def first(self) -> int:
        """Smallest time in ticks; greater than *last* if no time is known."""

    @property
    def last(self) -> int:
        """Greatest time in ticks."""

    def column(self, name: str) -> Array:
        """Return a column, read-only."""


class Extra(Protocol):
    """The content of a file besides events: blocks of bytes, by type and name."""

    def has(self, what: str, name: str) -> bool:
        """Return whether there is such a block."""

    def payload(self, what: str, name: str, each: Callable[[], None] = ...) -> Any:
        """Return the bytes of a block. Raises `InputError` if it is damaged, `KeyError` if there is none."""


class MemoryPart:
    """Rows in memory."""

    def __init__(self, kind: str, columns: Columns) -> None:
        self._columns = columns
        self.rows = len(columns[KINDS[kind].begin])
        self.first, self.last = span(kind, columns)

    def forget(self) -> None:
        """Do nothing: rows in memory stay."""

    def column(self, name: str) -> Array:
        """Return a column, read-only."""
        return self._columns[name]


class SomeRows:
    """The rows of another part for which *kept* (bool) holds; a column is computed when it is requested."""

    def __init__(self, part: Part, kept: Array) -> None:
        self._part, self._kept = part, kept
        self.rows = int(np.count_nonzero(kept))
        self.first, self.last = part.first, part.last

    def forget(self) -> None:
        """Release memory that can be filled again."""
        self._part.forget()

    def column(self, name: str) -> Array:
        """Return a column, read-only."""
        return np.asarray(self._part.column(name)[self._kept])


class Trace:
    """A whole trace. Rows of one location are in the order of its events; columns are read when requested."""

    def __init__(
        self,
        definitions: Definitions,
        meta: Meta,
        parts: Mapping[str, Sequence[Part]],
        close: Callable[[], None] | None = None,
        extra: Extra | None = None,
    ) -> None:
        self.definitions = definitions
        self.meta = meta
        self.parts = {kind: tuple(parts.get(kind, ())) for kind in KINDS}
        self._close = close
        self.extra = extra

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the trace's file, if any."""
        if self._close is not None:
            self._close()
            self._close = None
            self.parts = dict.fromkeys(KINDS, ())

    def count(self, kind: str) -> int:
        """Return the number of rows of *kind*, without reading a column."""
        return sum(part.rows for part in self.parts[kind])

    def counts(self) -> dict[str, int]:
        """Return the number of rows of each kind that has any."""
        return {kind: count for kind in KINDS if (count := self.count(kind))}

    @property
    def seconds(self) -> float:
        """Duration of the run in seconds."""
        return (self.meta.end - self.meta.begin) / self.meta.ticks_per_second

    @property
    def earliest(self) -> int:
        """The tick at which the run begins, or its first event if that is earlier."""
        known = [part.first for parts in self.parts.values() for part in parts if part.first <= part.last]
        return min([self.meta.begin, *known])

    def chunks(self, kind: str, names: Sequence[str] | None = None) -> Iterator[Columns]:
        """Yield the columns *names* (all if none are named) part by part."""
        chosen = tuple(names or KINDS[kind].columns)
        for part in self.parts[kind]:
            yield {name: part.column(name) for name in chosen}

    def columns(
        self, kind: str, names: Sequence[str] | None = None, *, begin: int | None = None, end: int | None = None
    ) -> Columns:
        """Return columns of *kind*, for the rows that touch the time from *begin* to *end* (ticks, inclusive).

        Parts outside that time are not read. Without times all rows are returned.
        """
        chosen = tuple(names or KINDS[kind].columns)
        found: list[Columns] = []
        for part in self.parts[kind]:
            if begin is None and end is None:
                found.append({name: part.column(name) for name in chosen})
            elif (end is None or part.first <= end) and (begin is None or part.last >= begin):
                keep = _touching(kind, part, begin, end)
                found.append({name: part.column(name)[keep] for name in chosen})
        if not found:
            return {name: values for name, values in empty(kind).items() if name in chosen}
        if len(found) == 1:
            return found[0]
        return {name: np.concatenate([chunk[name] for chunk in found]) for name in chosen}


def _touching(kind: str, part: Part, begin: int | None, end: int | None) -> Array:
    """Return for each row whether a known time of it, or the time between two of them, is in the interval."""
    times = [part.column(name) for name in KINDS[kind].times]
    latest = times[0]
    earliest = times[0]
    for more in times[1:]:
        latest = np.maximum(latest, more)
        earliest = np.where(more == NO_TIME, earliest, np.where(earliest == NO_TIME, more, np.minimum(earliest, more)))
    keep: Array = latest != NO_TIME
    if end is not None:
        keep &= earliest <= end
    if begin is not None:
        keep &= latest >= begin
    return keep
