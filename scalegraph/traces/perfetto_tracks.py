"""What belongs to the events of Perfetto's traces: tracks and their owners, clocks, and the state of a sequence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from scalegraph.traces.builder import Builder
from scalegraph.traces.model import Group, Location

_BOOTTIME: Final = 6
_OWN: Final = range(64, 128)  # clocks that each sequence has for itself
_DEPTH: Final = 64  # tracks above a track
_CLEARED, _NEEDS = 1, 2  # flags of a packet
_UNITS: Final = {1: "ns", 2: "", 3: "bytes"}


def text(name: object) -> str:
    """Return *name* as text that can be encoded."""
    return str(name).encode("utf-8", "replace").decode()


class Tracks:
    """All tracks of a trace, known before its events: they may be described after their first event."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._known: dict[int, Any] = {}
        self._processes: dict[int, str] = {}
        self._threads: dict[tuple[int, int], str] = {}
        self._places: dict[tuple[int, bool], int] = {}

    def take(self, packet: Any) -> None:
        """Note what *packet* says about tracks, processes and threads."""
        if packet.HasField("track_descriptor"):
            one = packet.track_descriptor
            self._known[one.uuid] = one
            if one.HasField("process"):
                self._process(one.process)
            if one.HasField("thread"):
                self._thread(one.thread)
        elif packet.HasField("process_tree"):
            for process in packet.process_tree.processes:
                if process.cmdline:
                    self._processes.setdefault(process.pid, process.cmdline[0])
            for thread in packet.process_tree.threads:
                if thread.name:
                    self._threads.setdefault((thread.tgid, thread.tid), thread.name)
        elif packet.HasField("process_descriptor"):
            self._process(packet.process_descriptor)
        if packet.HasField("thread_descriptor"):
            self._thread(packet.thread_descriptor)

    def _process(self, one: Any) -> None:
        if name := one.process_name or (one.cmdline[0] if one.cmdline else ""):
            self._processes[one.pid] = name

    def _thread(self, one: Any) -> None:
        if one.thread_name:
            self._threads[one.pid, one.tid] = one.thread_name

    def place(self, uuid: int, *, counter: bool = False) -> int:
        """Return the location of a track; that of a *counter* is the thread or process that it belongs to."""
        known = self._places.get((uuid, counter))
        if known is None:
            known = self._places[uuid, counter] = self._made(uuid, counter=counter)
        return known

    def _made(self, uuid: int, *, counter: bool) -> int:
        one = self._known.get(uuid)
        pid, tid = self._owner(uuid)
        if one is None or not (counter or one.HasField("thread") or one.HasField("process")):
            name = (one.name or one.static_name or one.atrace_name) if one is not None else ""
            return self._location(pid, f"track {uuid}", name or ("default track" if not uuid else f"track {uuid}"))
        return self.thread(pid, tid)

    def thread(self, pid: int | None, tid: int | None) -> int:
        """Return the location of a thread, or without *tid* of a process."""
        if tid is None:
            return self._location(pid, None, "trace" if pid is None else str(pid))
        return self._location(pid, tid, self._threads.get((pid or 0, tid), "") or f"{pid}:{tid}")

    def _location(self, pid: int | None, tid: int | str | None, name: str) -> int:
        process = self._processes.get(pid, "") if pid is not None else "trace"
        group = self._builder.group(pid, lambda: Group(text(process or pid)))
        key = str(pid) if tid is None else f"{pid}:{tid}"
        kind = "process" if tid is None else "thread"
        return self._builder.location((pid, tid), lambda: Location(text(name), kind, group, key))

    def _owner(self, uuid: int) -> tuple[int | None, int | None]:
        """Return process and thread that a track belongs to."""
        for _ in range(_DEPTH):
            one = self._known.get(uuid)
            if one is None:
                break
            if one.HasField("thread"):
                return one.thread.pid, one.thread.tid
            if one.HasField("process"):
                return one.process.pid, None
            uuid = one.parent_uuid
        return None, None

    def counter(self, uuid: int) -> tuple[str, str, int, bool]:
        """Return the name and unit of a counter, the factor of its values, and whether they are differences."""
        one = self._known.get(uuid)
        if one is None:
            return f"counter {uuid}", "", 1, False
        said = one.counter
        unit = said.unit_name or _UNITS.get(said.unit, "")
        name = one.name or one.static_name or f"counter {uuid}"
        return text(name), text(unit), said.unit_multiplier or 1, said.is_incremental


class Clocks:
    """Times of several clocks as nanoseconds of one, by the snapshots in the trace."""

    def __init__(self) -> None:
        self._base: int | None = None
        self._offset: dict[tuple[int, int], int] = {}
        self._scale: dict[tuple[int, int], tuple[int, bool]] = {}
        self._last: dict[tuple[int, int], int] = {}

    def take(self, sequence: int, snapshot: Any) -> None:
        """Note a snapshot: the times of several clocks at one moment."""
        now: dict[tuple[int, int], int] = {}
        for one in snapshot.clocks:
            key = _key(sequence, one.clock_id)
            self._scale[key] = (one.unit_multiplier_ns or 1, one.is_incremental)
            self._last[key] = one.timestamp
            now[key] = one.timestamp * self._scale[key][0]
        if self._base is None and now:
            self._base = _BOOTTIME if (0, _BOOTTIME) in now else next((clock for own, clock in now if not own), None)
        base = now.get((0, self._base)) if self._base is not None else None
        if base is not None:
            self._offset |= {key: base - value for key, value in now.items()}

    def time(self, sequence: int, clock: int, stamp: int) -> int | None:
        """Return a time in nanoseconds; None if its clock is not related to the others."""
        key = _key(sequence, clock)
        factor, incremental = self._scale.get(key, (1, False))
        if incremental:
            stamp = self._last[key] = self._last[key] + stamp
        if self._base is None and not key[0]:
            self._base = clock
        if key == (0, self._base):
            return stamp * factor
        offset = self._offset.get(key)
        return None if offset is None else stamp * factor + offset


def _key(sequence: int, clock: int) -> tuple[int, int]:
    return (sequence, clock) if clock in _OWN else (0, clock)


@dataclass
class Sequence:
    """The packets of one writer: names that were given a number, defaults, and whether all of that is known."""

    names: dict[int, str] = field(default_factory=dict)
    clock: int = _BOOTTIME
    track: int | None = None
    counters: tuple[int, ...] = ()
    fractions: tuple[int, ...] = ()  # tracks of counters with fractional values
    known: bool = False
    thread: tuple[int, int] | None = None  # the older way to say the track
    microseconds: int = 0  # the older way to say the time

    def take(self, packet: Any) -> bool:
        """Note what *packet* says about the following ones; return whether its own content can be understood."""
        if packet.previous_packet_dropped and not packet.first_packet_on_sequence:
            self.known = False
        if packet.sequence_flags & _CLEARED or packet.incremental_state_cleared:
            self.names.clear()
            self.clock, self.track, self.counters, self.fractions, self.known = _BOOTTIME, None, (), (), True
        if packet.HasField("trace_packet_defaults"):
            said = packet.trace_packet_defaults
            self.clock = said.timestamp_clock_id or self.clock
            events = said.track_event_defaults
            self.track = events.track_uuid if events.HasField("track_uuid") else self.track
            self.counters = tuple(events.extra_counter_track_uuids)
            self.fractions = tuple(events.extra_double_counter_track_uuids)
        if packet.HasField("interned_data"):
            self.names |= {one.iid: one.name for one in packet.interned_data.event_names}
        if packet.HasField("thread_descriptor"):
            self.thread = (packet.thread_descriptor.pid, packet.thread_descriptor.tid)
            self.microseconds = packet.thread_descriptor.reference_timestamp_us
        return self.known or not packet.sequence_flags & _NEEDS
