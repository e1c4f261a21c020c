"""Traces of simulated runs: from the C runtime's records to a trace file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import WorkError
from scalegraph.base.files import reason
from scalegraph.base.run import Region
from scalegraph.runtime import shares
from scalegraph.runtime.accounts import MEASURED
from scalegraph.runtime.format import (
    BUSY_NAMES,
    CATEGORIES,
    CATEGORY_NAMES,
    ENDIAN_MARK,
    EVENT,
    TRACE_COMMUNICATORS,
    TRACE_HEADER,
    TRACE_MAGIC,
    TRACE_MARKS,
    TRACE_METRICS,
    TRACE_PAIRS,
    TRACE_RECORD,
    TRACE_STATES,
    TRACE_VERSION,
    TRACED,
)
from scalegraph.runtime.trace_collectives import Collectives
from scalegraph.traces import model
from scalegraph.traces.container import ContainerWriter
from scalegraph.traces.kinds import KINDS, NOBODY, Array, Columns, What
from scalegraph.traces.model import Definitions, Group, Location, Meta, Metric, Note, State
from scalegraph.traces.nesting import match

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records, Result

ROWS = 1 << 19  # records converted at a time
METRICS = ("ops", "flops", "references", "misses")  # in the order in which two records hold them


@dataclass(frozen=True)
class Written:
    """What `write_trace` wrote: rows by kind, the traced time in cycles, how it differs from a complete trace.

    *cut*: why the trace ends before the requested end; empty if it does not.
    """

    rows: dict[str, int] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    notes: tuple[Note, ...] = ()
    cut: str = ""


def write_trace(
    raw: Path,
    out: Path,
    *,
    regions: Sequence[Region],
    result: Result | None = None,
    machine: str = "",
    program: str = "",
    properties: Mapping[str, str] | None = None,
    ranks: int = 0,
    measured: bool = False,
    cancel: CancelToken | None = None,
    progress: Callable[[float], None] = lambda _share: None,
) -> Written:
    """Convert the records *raw*, which a run left at ``trace.file``, to the trace *out* (``.sgtrace``).

    *regions*: of the program, by number. *result*: of the same run; a trace of a whole run gets its accounts as the
    property ``accounting``. *machine*, *program*: names; *properties*: added to the trace's; *ranks*: of an MPI
    program, after which locations are then named. *measured*: for a real run, whose states include the measured
    categories. *progress* is called with the share done, 0 to 1. Works in bounded memory; *raw* is not changed. A run
    that was stopped has a trace up to there, and a note says so.

    Raises `WorkError` if *raw* is not such a file, is cut short before its first record or has another version, or if
    *out* cannot be written; `Cancelled` when *cancel* requests it, without making *out*.
    """
    source = _Raw(raw)
    converter = _Converter(source, regions, machine, result, ranks, measured=measured)
    meta = converter.meta(program, properties or {})
    writer = ContainerWriter(out)
    rows = dict.fromkeys(KINDS, 0)
    try:
        for done, records in source.chunks():
            if cancel is not None:
                cancel.check()
            progress(0.7 * done)
            for kind, columns in converter.columns(records):
                writer.append(kind, columns)
                rows[kind] += len(columns[KINDS[kind].begin])
        for kind, columns in converter.rest():
            writer.append(kind, columns)
            rows[kind] += len(columns[KINDS[kind].begin])
        writer.define(converter.definitions, meta)

        def step(share: float) -> None:
            if cancel is not None:
                cancel.check()
            progress(0.7 + 0.3 * share)

        writer.add_timeline(step)
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    reported = {kind: count for kind, count in rows.items() if count}
    return Written(reported, meta.begin, meta.end, tuple(meta.notes), _cut(source, result))


class _Raw:
    """The file that the runtime wrote. *whole*: whether the runtime finished it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            size = path.stat().st_size
            header = np.fromfile(path, TRACE_HEADER, 1)
            if len(header) < 1:
                raise WorkError(f"{path}: is cut short: {size} bytes, the header alone has {TRACE_HEADER.itemsize}")
            self.header = header[0]
            self._check()
            count = (size - TRACE_HEADER.itemsize) // TRACE_RECORD.itemsize
            self.state = TRACE_STATES[int(self.header["state"])][0]
            self.whole = self.state not in ("running", "failed")
            if self.whole and count < int(self.header["records"]):
                raise WorkError(f"{path}: is cut short: {count} records, {self.header['records']} were written")
            self.count = int(self.header["records"]) if self.whole else self._complete(count)
        except OSError as error:
            raise WorkError(f"{path}: cannot be read: {reason(error)}") from error

    def _read(self, begin: int, end: int) -> Records:
        offset = TRACE_HEADER.itemsize + begin * TRACE_RECORD.itemsize
        return np.fromfile(self.path, TRACE_RECORD, end - begin, offset=offset)

    def _check(self) -> None:
        header, path = self.header, self.path
        if header["magic"] != TRACE_MAGIC:
            raise WorkError(f"{path}: holds no records of a trace: it should begin with {TRACE_MAGIC.decode()}")
        if header["endian"] != ENDIAN_MARK:
            raise WorkError(f"{path}: was written on a machine of another byte order")
        if header["version"] != TRACE_VERSION or header["record_size"] != TRACE_RECORD.itemsize:
            raise WorkError(f"{path}: has records of version {header['version']}, expected {TRACE_VERSION}")
        if header["state"] >= len(TRACE_STATES):
            raise WorkError(f"{path}: is damaged: state {header['state']}")

    def _complete(self, count: int) -> int:
        """Return how many of *count* records there are without an incomplete event at the end."""
        final = self._read(max(count - len(CATEGORY_NAMES), 0), count)
        if not len(final):
            return 0
        if final[-1]["event"] in TRACE_PAIRS:
            return count - 1
        if final[-1]["event"] != EVENT["share"]:
            return count
        same = np.all([final[name] == final[-1][name] for name in ("event", "processor", "time")], axis=0)
        return count - int(np.argmin(same[::-1]) if not same.all() else len(same))

    def chunks(self) -> Iterator[tuple[float, Records]]:
        """Yield the records in parts, each with the share that came before; records of one event are not separated."""
        begin = 0
        while begin < self.count:
            end = min(begin + ROWS, self.count)
            records = self._read(begin, min(end + 1, self.count))
            if len(records) > end - begin and records[-1]["event"] not in TRACE_PAIRS.values():
                records = records[:-1]
            yield begin / self.count, records
            begin += len(records)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """The first and last recorded time, in cycles."""
        if self.whole:
            return int(self.header["begin"]), int(self.header["end"])
        times = [(int(part["time"].min()), int(part["time"].max())) for _, part in self.chunks()]
        return min((low for low, _ in times), default=0), max((high for _, high in times), default=0)

    def tells(self, what: str) -> bool:
        """Whether *what*, one of TRACED, was requested."""
        return bool(int(self.header["what"]) >> TRACED.index(what) & 1)

    @property
    def complete(self) -> bool:
        """Whether the whole run was recorded, from beginning to end."""
        asked = int(self.header["asked_begin"]) | int(self.header["asked_end"]) | int(self.header["asked_regions"])
        return self.state == "whole" and not asked


class _Converter:
    """Converts records to columns. *definitions* are complete from the start, however many regions are recorded."""

    def __init__(
        self,
        source: _Raw,
        regions: Sequence[Region],
        machine: str,
        result: Result | None,
        ranks: int,
        *,
        measured: bool,
    ) -> None:
        self._kind = "measured" if measured else "simulated"
        self._source, self._machine, self._result = source, machine, result
        self._processors = int(source.header["processors"])
        self._open: dict[str, Array] = {}
        self._collectives = Collectives()
        names = _location_names(self._processors, ranks)
        self.definitions = _definitions(names, regions, machine, _most_regions(source, result), measured=measured)
        self._marks = len(self.definitions.regions) - len(TRACE_MARKS)
        self._moves = shares.Moves()
        if source.complete and source.header["fractions"] and result is not None:
            reported = shares.busy(source.chunks(), self._processors, self._marks)
            self._moves = shares.Moves.to_match(reported, result.costs)

    def meta(self, program: str, properties: Mapping[str, str]) -> Meta:
        """Return the metadata of the whole trace."""
        source, result = self._source, self._result
        begin, end = source.bounds
        known = {"machine": self._machine, "processors": str(self._processors), **properties}
        if source.complete and source.tells("shares") and result is not None:
            known["accounting"] = json.dumps(_accounting(result.costs, self._processors), separators=(",", ":"))
        if result is not None and "time_cycles" in result.meta:
            known["time_cycles"] = result.meta["time_cycles"]
        if lacking := [name for name in TRACED if not source.tells(name)]:
            known["not asked for"] = ", ".join(lacking)
        if (
            source.state == "whole" and not source.header["asked_regions"]
        ):  # time without records is part of the run, too
            last = int(known.get("time_cycles", end))
            end = max(end, min(last, int(source.header["asked_end"]) or last))
            begin = min(int(source.header["asked_begin"]), end)
        return Meta(
            ticks_per_second=max(1, int(source.header["clock_hz"])),
            begin=begin,
            end=end,
            program=program,
            source=self._kind,
            format=f"{self._kind} run",
            creator="ScaleGraph",
            notes=list(_notes(source, result)),
            properties=known,
        )

    def columns(self, records: Records) -> Iterator[tuple[str, Columns]]:
        """Yield the columns of every kind that occurs in *records*."""
        event = records["event"]
        for name, make in (
            ("call", self._calls),
            ("share", self._shares),
            ("lock", _locks),
            ("task", _tasks),
            ("mark", self._mark_rows),
            ("counts", _counters),
            ("counted", self._counted),
        ):
            rows = records[event == EVENT[name]]
            if len(rows):
                yield make(rows)
        waits = np.flatnonzero(event == EVENT["wait"])
        if len(waits):
            yield _waits(records[waits], records[waits + 1])
        messages = np.flatnonzero(event == EVENT["message"])
        if len(messages):
            self._define_communicators()
            yield _messages(records[messages], records[messages + 1])
        operations = np.flatnonzero(event == EVENT["collective"])
        if len(operations):
            self._define_communicators()
            self._collectives.add(records[operations], records[operations + 1])

    def _define_communicators(self) -> None:
        if not self.definitions.communicators:
            members = tuple(range(self._processors))
            self.definitions.communicators += [model.Communicator(text, members) for _, text in TRACE_COMMUNICATORS]

    def _calls(self, rows: Records) -> tuple[str, Columns]:
        columns = {**_when(rows), "what": rows["what"], "region": rows["region"].astype("<i4")}
        if not self._source.whole:
            self._keep_open(columns)
        return "calls", columns

    def _keep_open(self, columns: Columns) -> None:
        """Remember which regions were entered and not left."""
        rows = {name: columns[name] for name in ("location", "what", "region")}
        if self._open:
            rows = {name: np.concatenate([self._open[name], values]) for name, values in rows.items()}
        enters = rows["what"] == What.ENTER
        still = enters & (match(rows["location"], enters)[0] < 0)
        self._open = {name: values[still] for name, values in rows.items()}

    def rest(self) -> Iterator[tuple[str, Columns]]:
        """Yield collective operations by their begin, and the ends of the regions that a killed run was in."""
        if (columns := self._collectives.columns(self.definitions, self._result)) is not None:
            yield "collectives", columns
        if self._open and len(self._open["region"]):
            open_calls = {name: values[::-1] for name, values in self._open.items()}
            count = len(open_calls["region"])
            yield (
                "calls",
                {
                    "time": np.full(count, self._source.bounds[1], "<i8"),
                    "location": open_calls["location"],
                    "what": np.full(count, What.LEAVE, "u1"),
                    "region": open_calls["region"],
                },
            )

    def _shares(self, rows: Records) -> tuple[str, Columns]:
        columns = {
            "begin": rows["first"].astype("<i8"),
            "end": rows["time"].astype("<i8"),
            "location": rows["processor"].astype("<i4"),
            "state": rows["what"].astype("<i4"),
            "region": rows["region"].astype("<i4"),
            "ticks": rows["second"].astype("<i8"),
        }
        return "shares", self._moves.apply(columns)

    def _counted(self, rows: Records) -> tuple[str, Columns]:
        """Return rows of counts in a real run; only metrics that were counted."""
        known = self.definitions.metrics
        for number in np.unique(rows["what"]).tolist():
            key, name, unit = TRACE_METRICS[number]
            if all(metric.key != key for metric in known):
                known.append(Metric(name, unit, mode="next", integer=not unit, key=key))
        places = {metric.key: place for place, metric in enumerate(known)}
        number = np.array([places.get(key, NOBODY) for key, _, _ in TRACE_METRICS], "<i4")
        in_seconds = np.array([unit == "s" for _, _, unit in TRACE_METRICS])[rows["what"]]
        exact = rows["first"].astype("<i8")
        value = np.where(in_seconds, exact * 1e-9, exact)
        exact[in_seconds] = 0
        return "counters", {**_when(rows), "metric": number[rows["what"]], "value": value, "exact": exact}

    def _mark_rows(self, rows: Records) -> tuple[str, Columns]:
        region = rows["what"].astype("<i4") + np.int32(self._marks)
        return "marks", {**_when(rows), "region": region, "value": rows["first"].astype("<i8")}


def _when(rows: Records) -> Columns:
    return {"time": rows["time"].astype("<i8"), "location": rows["processor"].astype("<i4")}


def _waits(rows: Records, wakers: Records) -> tuple[str, Columns]:
    return "waits", {
        "begin": rows["first"].astype("<i8"),
        "end": rows["time"].astype("<i8"),
        "location": rows["processor"].astype("<i4"),
        "holder": (wakers["region"].astype("<i8") - 1).astype("<i4"),
        "why": rows["what"],
        "object": rows["second"].astype("<i8"),
        "region": rows["region"].astype("<i4"),
        "released": wakers["time"].astype("<i8"),
    }


def _messages(rows: Records, parcels: Records) -> tuple[str, Columns]:
    return "messages", {
        "sent": rows["first"].astype("<i8"),
        "left": parcels["time"].astype("<i8"),
        "posted": rows["second"].astype("<i8"),
        "received": rows["time"].astype("<i8"),
        "sender": rows["region"].astype("<i4"),
        "receiver": rows["processor"].astype("<i4"),
        "size": parcels["first"].astype("<i8"),
        "tag": parcels["second"].astype("<i8"),
        "communicator": parcels["what"].astype("<i4"),
    }


def _locks(rows: Records) -> tuple[str, Columns]:
    lock, order = rows["first"].astype("<i8"), rows["second"].astype("<i8")
    return "locks", {**_when(rows), "lock": lock, "order": order, "what": rows["what"]}


def _tasks(rows: Records) -> tuple[str, Columns]:
    task, region = rows["first"].astype("<i8"), rows["region"].astype("<i4")
    return "tasks", {**_when(rows), "task": task, "what": rows["what"], "region": region}


def _counters(rows: Records) -> tuple[str, Columns]:
    """Return two rows of counters for each record."""
    values = np.stack([rows["first"], rows["second"]], axis=1).reshape(-1).astype("<i8")
    metric = rows["what"].astype("<i4")[:, None] * np.int32(2) + np.arange(2, dtype="<i4")
    both = {name: np.repeat(column, 2) for name, column in _when(rows).items()}
    return "counters", {**both, "metric": metric.reshape(-1), "value": values.astype("<f8"), "exact": values}


def _most_regions(source: _Raw, result: Result | None) -> int:
    """Return the minimum number of regions, so that every recorded number has one."""
    most = 1 + max((int(region) for region in result.costs["region"]), default=0) if result is not None else 1
    if source.whole:
        return max(most, int(source.header["regions"]))
    for _, records in source.chunks():
        reported = records[
            np.isin(records["event"], [EVENT[name] for name in ("call", "share", "wait", "task", "counts")])
        ]
        most = max(most, 1 + int(reported["region"].max())) if len(reported) else most
    return most


def _location_names(processors: int, ranks: int) -> list[str]:
    """Return the names of the simulated processors; with *ranks*, named after the ranks of an MPI program."""
    threads = processors // ranks if ranks else 0
    if threads <= 1:
        return [f"{'rank' if ranks else 'processor'} {i}" for i in range(processors)]
    return [f"rank {i // threads} thread {i % threads}" for i in range(processors)]


def _definitions(
    names: Sequence[str], regions: Sequence[Region], machine: str, least: int, *, measured: bool
) -> Definitions:
    known = {region.id: region for region in regions}
    count = max(least, 1 + max(known, default=0))
    places = []
    for number in range(count):
        region = known.get(number) or Region(id=number, kind="function", name=f"region {number}")
        places.append(model.Region(region.name, region.file, region.line, region.kind))
    places += [model.Region(name, kind="mark") for name, _ in TRACE_MARKS]
    return Definitions(
        groups=[Group(machine or "machine", "machine")],
        locations=[Location(name, "processor", 0, str(i)) for i, name in enumerate(names)],
        regions=places,
        metrics=[] if measured else [Metric(name, mode="next", integer=True, key=name) for name in METRICS],
        states=[State(text, key=name) for name, _, text in (*CATEGORIES, *(MEASURED if measured else ()))],
    )


def _accounting(costs: Records, processors: int) -> dict[str, Any]:
    """Return a result's accounts as specified in docs/TRACES.md: by category and processor, by region and category."""
    by_processor = np.zeros((processors, len(CATEGORY_NAMES)), np.int64)
    np.add.at(by_processor, costs["processor"], costs["categories"].astype(np.int64))
    by_region = np.zeros((1 + int(costs["region"].max(initial=0)), len(CATEGORY_NAMES)), np.int64)
    np.add.at(by_region, costs["region"], costs["categories"].astype(np.int64))
    categories = {
        name: by_processor[:, i].tolist() for i, name in enumerate(CATEGORY_NAMES) if by_processor[:, i].any()
    }
    regions = {
        str(number): {name: int(row[i]) for i, name in enumerate(CATEGORY_NAMES) if row[i]}
        for number, row in enumerate(by_region)
        if row.any()
    }
    return {"leaves": categories, "regions": regions, "rounded": list(BUSY_NAMES)}


def _cut(source: _Raw, result: Result | None) -> str:
    """Return why the trace ends before the run does; empty if it does not."""
    header, end = source.header, source.bounds[1]
    rest = f" of {result.meta['time_cycles']}" if result is not None and "time_cycles" in result.meta else ""
    sentences = {
        "running": f"the run was killed; the trace ends at cycle {end}",
        "stopped": f"the run was stopped; the trace ends at cycle {end}",
        "full": f"the limit of {header['limit']} bytes was reached; the trace ends at cycle {end}{rest}",
        "failed": f"the disk was full; the trace ends at cycle {end}{rest}",
    }
    return sentences.get(source.state, "")


def _notes(source: _Raw, result: Result | None) -> Iterator[Note]:
    """Yield how the trace differs from one that records the whole run."""
    header = source.header
    if cut := _cut(source, result):
        yield Note(cut)
    if header["asked_begin"] or header["asked_end"]:
        until = f"to {header['asked_end']}" if header["asked_end"] else "to the end"
        yield Note(f"only cycles from {header['asked_begin']} {until} were asked for")
    if header["asked_regions"]:
        yield Note("only the time from entering to leaving a region was asked for")
    if header["inexact"]:
        yield Note(
            "stretches whose busy time is split approximately, because the run was stopped", int(header["inexact"])
        )
