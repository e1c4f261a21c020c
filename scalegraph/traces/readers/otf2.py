"""OTF2 archives, by the package ``otf2``; the anchor file may have any name."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.base.units import thousands
from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import NOBODY, Array
from scalegraph.traces.model import Communicator, Group, Location, Metric, Region, Trace
from scalegraph.traces.otf2_events import Collector
from scalegraph.traces.otf2_library import BATCH, Callbacks, package, silence
from scalegraph.traces.otf2_own import row_columns, unpack

_MODES = {"ACCUMULATED": "sum", "ABSOLUTE": "last", "RELATIVE": "next"}
_KINDS = {"CPU_THREAD": "thread", "ACCELERATOR_STREAM": "accelerator", "METRIC": "metric"}


def _recognises(path: Path, head: bytes) -> bool:
    return path.name.lower().endswith(".otf2") or head.startswith(b"OTF2")


class _ArchiveError(ValueError):
    """The archive cannot be opened; the text says why."""


class _Archive:
    """An open archive: its definitions converted to ours, with our numbers by OTF2's references."""

    def __init__(self, reading: Reading, high: Any, low: Any) -> None:
        self.reading, self.low = reading, low
        self.source: Any = object.__new__(high.reader.Reader)
        self.source._handle = None
        try:
            self.source.__init__(str(reading.path))
        except Exception as error:
            what = "the anchor file" if self.source._handle is None else f"the definitions ({reading.path.stem}.def)"
            self.close()
            raise _ArchiveError(f"{what}: {_why(error)}") from error
        self.handle = self.source._handle
        self.definitions: Any = self.source.definitions
        self.clock: Any = self.definitions.clock_properties
        self.locations: list[Any] = list(self.definitions.locations)
        self.metrics: dict[int, list[tuple[int, str]]] = {}
        self.members: dict[int, Array] = {}
        self.rows: dict[int, tuple[str, ...]] = {}
        self.adopted = False

    def close(self) -> None:
        """Free the library's memory: some MiB per archive."""
        handle, self.source._handle = self.source._handle, None
        if handle is not None:
            with contextlib.suppress(self.low.Error):
                self.low.Reader_Close(handle)

    def define(self) -> None:
        """Add the definitions to the builder."""
        builder, text = self.reading.builder, str
        meta = builder.meta
        meta.ticks_per_second, meta.offset = int(self.clock.timer_resolution), int(self.clock.global_offset)
        meta.creator = text(self.low.Reader_GetCreator(self.handle) or "")
        meta.properties["machine"] = text(self.low.Reader_GetMachineName(self.handle) or "")
        for location in self.locations:
            group, ref = location.group, location._ref
            number = NOBODY if group is None else self._group(group)
            kind = _KINDS.get(_name(location.type), _name(location.type).lower())
            builder.location(ref, lambda n=location.name, k=kind, g=number, r=ref: Location(n, k, g, str(r)))  # type: ignore[misc]
        for region in self.definitions.regions:
            made = Region(
                region.name, region.source_file or "", region.begin_line_number, _name(region.region_role).lower()
            )
            builder.region(region._ref, lambda made=made: made)  # type: ignore[misc]
        self._define_metrics()
        self._define_communicators()

    def _group(self, group: Any) -> int:
        builder, parent, chain = self.reading.builder, NOBODY, []
        node = group.system_tree_parent
        while node is not None:
            chain.append(node)
            node = node.parent
        for node in reversed(chain):
            key = ("node", node._ref)
            made = Group(node.name, node.class_name, parent)
            parent = builder.group(key, lambda made=made: made)  # type: ignore[misc]
        kind = _name(group.location_group_type).lower()
        return builder.group(("group", group._ref), lambda: Group(group.name, kind, parent))

    def _define_metrics(self) -> None:
        for metric in self.definitions.metrics:
            members = getattr(metric, "members", None)
            if members is None:  # an instance of a class, for another scope
                members = metric.metric_class.members
            numbers = []
            for member in members:
                mode = next((ours for word, ours in _MODES.items() if word in _name(member.metric_mode)), "last")
                kind = _name(member.value_type)
                made = Metric(member.name, member.unit or "", mode, kind != "DOUBLE", str(member._ref))
                numbers.append((self.reading.builder.metric(member._ref, lambda made=made: made), kind))  # type: ignore[misc]
            self.metrics[metric._ref] = numbers

    def _define_communicators(self) -> None:
        """Use the references of communicators as their numbers; gaps are filled with empty ones."""
        builder = self.reading.builder
        comms = {comm._ref: comm for comm in self.definitions.comms}
        for ref in range(max(comms, default=-1) + 1 if max(comms, default=-1) < 10**6 else 0):
            comm = comms.get(ref)
            group = getattr(comm, "group", None)
            places = group.members if group is not None else ()
            numbers = tuple(builder.location(place._ref, lambda: Location("?")) for place in places)
            self.members[ref] = np.array(numbers, np.int64)
            name = comm.name if comm is not None else ""
            builder.communicator(ref, lambda name=name, numbers=numbers: Communicator(name, numbers))  # type: ignore[misc]

    def regions(self) -> Array:
        """Return the number of each region by its reference."""
        refs = [region._ref for region in self.definitions.regions]
        numbers = np.full(min(max(refs, default=-1) + 1, 10**7), NOBODY, np.int64)
        for ref in refs:
            if ref < len(numbers):
                numbers[ref] = self.reading.builder.region(ref, lambda: Region("?"))
        return numbers

    def adopt(self) -> None:
        """Use references as numbers: ScaleGraph wrote the archive that way."""
        builder, self.adopted = self.reading.builder, True
        for metric in self.definitions.metrics:
            members = list(metric.members)
            self.metrics[metric._ref] = [(m._ref, _name(m.value_type)) for m in members]
            columns = row_columns([member.name for member in members])
            if columns:
                self.rows[metric._ref] = columns
        for number, communicator in enumerate(builder.definitions.communicators):
            self.members[number] = np.array(communicator.members, np.int64)

    def number(self, location: Any) -> int:
        """Return the number of an OTF2 location."""
        if self.adopted:
            return int(location._ref)
        return self.reading.builder.location(location._ref, lambda: Location("?"))

    def events(self, collector: Collector) -> None:
        """Read the events of every location."""
        low, handle, reading = self.low, self.handle, self.reading
        for location in self.locations:
            low.Reader_SelectLocation(handle, location._ref)
        try:  # local definitions renumber what the events refer to; an archive may have none
            low.Reader_OpenDefFiles(handle)
        except low.Error:
            pass
        else:
            for location in self.locations:
                self._local_definitions(location)
            low.Reader_CloseDefFiles(handle)
        low.Reader_OpenEvtFiles(handle)
        callbacks = Callbacks(collector.handle(), collector.other)
        done, total = 0, sum(location.number_of_events for location in self.locations) or 1
        lacking: list[str] = []
        more = False
        for location in self.locations:
            collector.location = self.number(location)
            count, expected = 0, location.number_of_events
            try:
                events = low.Reader_GetEvtReader(handle, location._ref)
                low.Reader_RegisterEvtCallbacks(handle, events, callbacks.struct, None)
                got = BATCH
                while got == BATCH:  # read to the end, as tools write wrong numbers of events
                    got = low.Reader_ReadLocalEvents(handle, events, BATCH)
                    count += got
                    collector.flush()
                    reading.step((done + min(count, expected)) / total)
                low.Reader_CloseEvtReader(handle, events)
            except (low.Error, ValueError) as error:
                collector.flush()
                reading.broken(f"the events of location {location._ref} ('{location.name}') are damaged: {_why(error)}")
            collector.flush(end_of_location=True)
            more |= count > expected
            if count < expected:
                lacking.append(
                    f"location {location._ref} ('{location.name}') has {thousands(count)} events; "
                    f"{thousands(expected)} were expected"
                )
            done += expected
        if more:
            reading.builder.note("archives whose definitions give wrong numbers of events")
        elif lacking and not reading.builder.meta.damage:
            reading.broken(lacking[0])

    def _local_definitions(self, location: Any) -> None:
        low = self.low
        try:
            reader = low.Reader_GetDefReader(self.handle, location._ref)
            if reader:
                low.Reader_ReadAllLocalDefinitions(self.handle, reader)
                low.Reader_CloseDefReader(self.handle, reader)
        except (low.Error, ValueError) as error:
            self.reading.broken(f"the definitions of location {location._ref} are damaged: {_why(error)}")


def _name(value: Any) -> str:
    """Return the name of one of the package's enumerated values."""
    return str(value).rsplit(".", 1)[-1]


def _why(error: Exception) -> str:
    """Return a sentence on what the library or its package found."""
    if isinstance(error, KeyError):
        return f"something with the number {error} is referred to but not defined"
    if "interrupted by reader callback" in str(error):  # the package could not resolve a reference in a definition
        return "a definition refers to one that is not there"
    text = str(error).split(": ", 1)[-1].strip().rstrip(".")
    known = {
        "Unknown error code": "no record that is known",
        "Parameter value out of range": "its file is missing, empty, or none of OTF2",
    }
    return known.get(text, text[:1].lower() + text[1:])


def _read(reading: Reading) -> Trace:
    high, low = package()
    with silence():
        try:
            with contextlib.closing(_Archive(reading, high, low)) as archive:
                return _archive(reading, archive)
        except (low.Error, high.error.TraceReaderError, ValueError, AttributeError, KeyError, TypeError) as error:
            why = error if isinstance(error, _ArchiveError) else _why(error)
            reading.broken(f"is not a complete OTF2 archive: {why}")
            return reading.builder.finish()


def _archive(reading: Reading, archive: _Archive) -> Trace:
    own = unpack(archive.low, archive.handle)
    if own is None:
        archive.define()
        collector = Collector(reading.builder, archive.regions(), archive.metrics, int(archive.clock.global_offset))
    else:
        definitions, meta, base = own
        reading.builder.adopt(definitions, meta)
        archive.adopt()
        regions = np.arange(len(reading.builder.definitions.regions))
        collector = Collector(reading.builder, regions, archive.metrics, -base, archive.rows)
    archive.events(collector)
    collector.match_messages(archive.members)
    meta = reading.builder.meta
    if own is not None:
        return reading.builder.finish(begin=meta.begin, end=meta.end)
    trace = reading.builder.finish()
    length = int(archive.clock.trace_length)
    if trace.meta.begin >= 0 and trace.meta.end <= length < 2**62:
        trace.meta.begin, trace.meta.end = 0, length
    return trace


READER = Reader("otf2", "OTF2 archive", (".otf2",), _recognises, _read, order=20, needs="otf2")
