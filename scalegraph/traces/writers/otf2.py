"""OTF2 archives, by the package ``otf2``. Events are written location by location in time order.

Calls, counters, collective operations and messages become OTF2's own events; other rows become values of a metric class
whose members are their columns, so that nothing is lost.
"""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.base.errors import InputError, WorkError
from scalegraph.base.files import check_directory
from scalegraph.traces.formats import Writer, Writing
from scalegraph.traces.kinds import KINDS, NO_TIME, Array, Columns, Operation, What
from scalegraph.traces.lod.scratch import Scratch
from scalegraph.traces.lod.streams import Gather, by_location
from scalegraph.traces.model import Trace
from scalegraph.traces.otf2_library import package, silence
from scalegraph.traces.otf2_own import PREFIX, PROPERTY, pack
from scalegraph.traces.otf2_whole import lacks

Row = dict[str, Any]
_LEAST_FREE = 1 << 20  # bytes; the library does not say why a write failed
_MODES = {"sum": "ACCUMULATED_START", "last": "ABSOLUTE_POINT", "next": "RELATIVE_NEXT"}


class _Archive:
    """An archive being written."""

    def __init__(self, high: Any, low: Any, place: Path, trace: Trace) -> None:
        self.high, self.low, self.trace = high, low, trace
        self.base = trace.earliest
        # closed explicitly: closing in the destructor would print the library's complaints
        quiet = type("_Writer", (high.writer.Writer,), {"_handle": None, "__del__": lambda _self: None})
        self.writer: Any = quiet(
            str(place.parent), archive_name=place.stem, timer_resolution=trace.meta.ticks_per_second
        )
        low.Archive_SetProperty(self.writer._handle, PROPERTY, pack(trace.definitions, trace.meta, self.base), True)
        self._define()

    def _define(self) -> None:
        high, found, made = self.high, self.trace.definitions, self.writer.definitions
        node = made.system_tree_nodes.create("trace", class_name="machine", parent=None)
        groups = [made.location_groups.create(group.name, system_tree_parent=node) for group in found.groups]
        if any(not 0 <= location.group < len(groups) for location in found.locations):
            groups.append(made.location_groups.create("", system_tree_parent=node))
        self.locations = [
            made.locations.create(location.name, group=groups[location.group if location.group < len(groups) else -1])
            for location in found.locations
        ]
        self.regions = [
            made.regions.create(r.name, source_file=r.file, begin_line_number=max(r.line, 0)) for r in found.regions
        ]
        kind = high.enums.Type
        for metric in found.metrics:
            mode = getattr(high.enums.MetricMode, _MODES.get(metric.mode, "ABSOLUTE_POINT"))
            made.metric_members.create(
                metric.name,
                metric_mode=mode,
                unit=metric.unit,
                value_type=kind.INT64 if metric.integer else kind.DOUBLE,
            )
        members = list(made.metric_members)
        self.metrics = [self._class([member]) for member in members]
        self.rows = {
            name: self._class(
                [
                    made.metric_members.create(
                        f"{PREFIX}{name}.{column}", value_type=kind.DOUBLE if t.kind == "f" else kind.INT64
                    )
                    for column, t in spec.columns.items()
                ]
            )
            for name, spec in KINDS.items()
        }
        self._define_communicators()
        self.messages = _Messages(self)

    def _class(self, members: list[Any]) -> Any:
        return self.writer.definitions.metrics.create(
            members=tuple(members),
            occurrence=self.high.enums.MetricOccurrence.ASYNCHRONOUS,
            recorder_kind=self.high.enums.RecorderKind.CPU,
            _type=self.high.definitions.MetricClass,
        )

    def _define_communicators(self) -> None:
        high, made = self.high, self.writer.definitions
        types = high.enums.GroupType
        made.groups.create(
            "locations",
            group_type=types.COMM_LOCATIONS,
            paradigm=high.enums.Paradigm.MPI,
            members=tuple(self.locations),
        )
        self.comms = []
        self.ranks: list[dict[int, int]] = []
        for communicator in self.trace.definitions.communicators:
            members = [member for member in communicator.members if 0 <= member < len(self.locations)]
            group = made.groups.create(
                communicator.name,
                group_type=types.COMM_GROUP,
                paradigm=high.enums.Paradigm.MPI,
                members=tuple(self.locations[member] for member in members),
            )
            self.comms.append(made.comms.create(communicator.name, group=group, _type=high.definitions.Comm))
            self.ranks.append({member: rank for rank, member in enumerate(members)})

    def write(self, number: int, events: list[tuple[int, Callable[[Any, int], None]]]) -> None:
        """Write the *events* of location *number*, with their ticks."""
        out = self.writer.event_writer_from_location(self.locations[number])
        for tick, event in sorted(events, key=lambda one: one[0]):
            event(out, tick - self.base)

    def generic(self, kind: str, row: Row, tick: int) -> tuple[int, Callable[[Any, int], None]]:
        """Return the event that holds the whole *row*."""
        values = list(row.values())
        metric = self.rows[kind]
        return tick, lambda out, time: out.metric(time, metric, values)


def _events(
    archive: _Archive, kept: dict[str, Gather], number: int
) -> Iterator[tuple[int, Callable[[Any, int], None]]]:
    """Yield every event of location *number*; simultaneous ones in the order in which they must appear."""
    yield from archive.messages.of(archive, number)
    for kind, spec in KINDS.items():
        columns = _whole(kept[kind], number)
        names = list(columns)
        rows = (dict(zip(names, row, strict=True)) for row in zip(*(v.tolist() for v in columns.values()), strict=True))
        apart = kind != "collectives" or not (columns["begin"][1:] < columns["end"][:-1]).any()
        for row in rows:
            native = _NATIVE[kind](archive, row) if kind in _NATIVE and apart else None
            if native is None:
                tick = row[spec.begin]
                yield archive.generic(kind, row, archive.base if tick == NO_TIME else tick)
            else:
                yield from native


def _by_location(trace: Trace, kind: str, native: Array, scratch: Scratch) -> Gather:
    """Return the rows of *kind* by the location that keeps them: the first if they name none."""
    spec, count, row = KINDS[kind], len(trace.definitions.locations), 0
    kept = Gather(scratch, max(count, 1), dict(spec.columns))
    for columns in trace.chunks(kind):
        who = columns[spec.whose[0]]
        owner = np.where((who >= 0) & (who < count), who, 0)
        order = by_location(owner)
        if kind == "messages":
            order = order[~native[row : row + len(owner)][order]]
            row += len(owner)
        kept.add(owner[order], {name: values[order] for name, values in columns.items()})
    return kept


def _whole(kept: Gather, number: int) -> Columns:
    chunks = [{name: np.empty(0, dtype) for name, dtype in kept.fields.items()}, *kept.location(number)]
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in kept.fields}


class _Messages:
    """Messages that OTF2's own events represent completely: both ends known, and matched again by their order."""

    def __init__(self, archive: _Archive) -> None:
        self.columns = archive.trace.columns("messages")
        columns, count = self.columns, len(self.columns["sent"])
        self.native = np.zeros(count, bool)
        self._ranks: list[tuple[int, int]] = [(0, 0)] * count
        ends = zip(*(columns[n].tolist() for n in ("communicator", "sender", "receiver")), strict=True)
        for row, (comm, sender, receiver) in enumerate(ends):
            ranks = archive.ranks[comm] if 0 <= comm < len(archive.ranks) else {}
            if sender in ranks and receiver in ranks:
                self.native[row] = True
                self._ranks[row] = ranks[sender], ranks[receiver]
        for name, most in (
            ("sent", None),
            ("left", None),
            ("posted", None),
            ("received", None),
            ("size", None),
            ("tag", 2**32),
        ):
            values = columns[name]
            self.native &= values != NO_TIME
            if name in {"size", "tag"}:
                self.native &= (values >= 0) & (values < (most or 2**63 - 1))
        self.native &= (columns["left"] >= columns["sent"]) & (columns["received"] >= columns["posted"])
        key = [columns[name] for name in ("communicator", "sender", "receiver", "tag")]
        order = np.lexsort((columns["sent"], *key))
        same = np.ones(max(count - 1, 0), bool)
        for values in key:
            same &= values[order][1:] == values[order][:-1]
        later = (np.diff(columns["sent"][order]) > 0) & (np.diff(columns["posted"][order]) > 0)
        unclear = order[1:][same & ~later]
        for values in (unclear, order[:-1][same & ~later]):
            self.native[values] = False
        if len(unclear):  # leaving one out would shift the others of its stream
            together = np.stack(key, axis=1)
            bad = {tuple(row) for row in together[~self.native].tolist()}
            self.native &= np.array([tuple(row) not in bad for row in together.tolist()], bool)
        rows = np.flatnonzero(self.native)
        sender, receiver = columns["sender"][rows], columns["receiver"][rows]
        other = sender != receiver
        owner, rows = np.r_[sender, receiver[other]], np.r_[rows, rows[other]]
        order = np.lexsort((rows, owner))
        self._rows = rows[order]  # location by location; those of each begin at its place in *first*
        self._first = np.searchsorted(owner[order], np.arange(len(archive.locations) + 1))

    def of(self, archive: _Archive, number: int) -> Iterator[tuple[int, Callable[[Any, int], None]]]:
        """Yield the message events at location *number*."""
        columns = self.columns
        for row in self._rows[self._first[number] : self._first[number + 1]].tolist():
            one = {name: int(values[row]) for name, values in columns.items()}
            comm, what, (source, target) = (
                archive.comms[one["communicator"]],
                (one["tag"], one["size"]),
                self._ranks[row],
            )
            if one["sender"] == number:
                yield one["sent"], _call_of("mpi_isend", target, comm, *what, row)
                yield one["left"], _call_of("mpi_isend_complete", row)
            if one["receiver"] == number:
                yield one["posted"], _call_of("mpi_irecv_request", row + len(self.native))
                yield one["received"], _call_of("mpi_irecv", source, comm, *what, row + len(self.native))


def _call_of(method: str, *arguments: Any) -> Callable[[Any, int], None]:
    return lambda out, time: getattr(out, method)(time, *arguments)


_OPERATIONS = {int(operation) for operation in Operation}
Events = list[tuple[int, Callable[[Any, int], None]]]


def _call(archive: _Archive, row: Row) -> Events | None:
    if not 0 <= row["region"] < len(archive.regions) or not 0 <= row["location"] < len(archive.locations):
        return None
    region = archive.regions[row["region"]]
    if row["what"] == What.ENTER:
        return [(row["time"], lambda out, time: out.enter(time, region))]
    return [(row["time"], lambda out, time: out.leave(time, region))] if row["what"] == What.LEAVE else None


def _counter(archive: _Archive, row: Row) -> Events | None:
    if not 0 <= row["metric"] < len(archive.metrics) or not 0 <= row["location"] < len(archive.locations):
        return None
    whole = archive.trace.definitions.metrics[row["metric"]].integer
    fits = row["value"] == float(row["exact"]) and math.copysign(1, row["value"]) == math.copysign(1, row["exact"])
    if not fits if whole else row["exact"] != 0:
        return None
    metric, value = archive.metrics[row["metric"]], row["exact"] if whole else row["value"]
    return [(row["time"], lambda out, time: out.metric(time, metric, [value]))]


def _collective(archive: _Archive, row: Row) -> Events | None:
    plain = (
        0 <= row["communicator"] < len(archive.comms) and row["operation"] in _OPERATIONS and row["begin"] <= row["end"]
    )
    if (
        not plain
        or min(row["root"] + 1, row["sent"], row["received"]) < 0
        or not 0 <= row["location"] < len(archive.locations)
    ):
        return None
    operation = archive.low.CollectiveOp(row["operation"])
    comm, root = archive.comms[row["communicator"]], row["root"] if row["root"] >= 0 else 0xFFFFFFFF
    sizes = row["sent"], row["received"]
    return [
        (row["begin"], lambda out, time: out.mpi_collective_begin(time)),
        (row["end"], lambda out, time: out.mpi_collective_end(time, operation, comm, root, *sizes)),
    ]


_NATIVE: dict[str, Callable[[_Archive, Row], Events | None]] = {
    "calls": _call,
    "counters": _counter,
    "collectives": _collective,
}


def _write(writing: Writing) -> None:
    high, low = package()
    trace, path = writing.trace, writing.path
    if path.exists() or path.with_suffix("").exists():
        raise InputError(f"{path}: exists already, or the directory that belongs to it; choose another name")
    check_directory(path)
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: the OTF2 library takes names in UTF-8 only; choose another name") from error
    try:
        with silence(), contextlib.closing(Scratch()) as scratch:
            _write_all(_Archive(high, low, path, trace), writing, scratch)
        wrong = lacks(path)
    except low.Error as error:
        wrong = " ".join(str(error).split())
    except BaseException:
        _remove(path)
        raise
    if wrong:
        _remove(path)
        full = shutil.disk_usage(path.parent).free < _LEAST_FREE
        raise WorkError(f"{path}: cannot be written: {'the disk is full' if full else wrong}")


def _write_all(archive: _Archive, writing: Writing, scratch: Scratch) -> None:
    with contextlib.closing(archive.writer):
        kept = {kind: _by_location(writing.trace, kind, archive.messages.native, scratch) for kind in KINDS}
        for number in range(len(archive.locations)):
            archive.write(number, list(_events(archive, kept, number)))
            writing.step((number + 1) / len(archive.locations))


def _remove(path: Path) -> None:
    """Remove an incomplete archive; nothing was there before."""
    path.unlink(missing_ok=True)
    path.with_suffix(".def").unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(""), ignore_errors=True)


WRITER = Writer("otf2", "OTF2 archive", (".otf2",), _write, needs="otf2")
