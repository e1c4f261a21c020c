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
_COUNTERS: Final = {1: "thread time", 2: "thread instructions"}  # types with a meaning of their own
_UNITS: Final = {1: "ns", 2: "", 3: "bytes"}


def text(name: object) -> str:
    """Return *name* as text that can be encoded."""
    return str(name).encode("utf-8", "replace").decode()


class Tracks:
    """All tracks of a trace, known before its events: they may be described after their first event.

    A thread or process that is described under another uuid than before is a new one: its number was used again.
    """

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._known: dict[int, Any] = {}
        self._latest: dict[tuple[int, int | None], int] = {}  # uuid of a process, or of a thread with its number
        self._first: dict[tuple[int, int | None], int] = {}
        self._process_of: dict[int, int] = {}  # uuids of threads and their processes, as known when first described
        self._names: dict[tuple[int, int | None], str] = {}  # names of processes and threads given without a track
        self._places: dict[tuple[int, bool], int] = {}

    def take(self, packet: Any) -> None:
        """Note what *packet* says about tracks, processes and threads."""
        if packet.HasField("track_descriptor"):
            self._track(packet.track_descriptor)
        elif packet.HasField("process_tree"):
            for process in packet.process_tree.processes:
                if process.cmdline:
                    self._names.setdefault((process.pid, None), process.cmdline[0])
            for thread in packet.process_tree.threads:
                if thread.name:
                    self._names.setdefault((thread.tgid, thread.tid), thread.name)
        elif packet.HasField("process_descriptor"):
            self._named(packet.process_descriptor.pid, None, _name_of(packet.process_descriptor))
        if packet.HasField("thread_descriptor"):
            one = packet.thread_descriptor
            self._named(one.pid, one.tid, one.thread_name)

    def _track(self, one: Any) -> None:
        self._known[one.uuid] = one
        key: tuple[int, int | None] | None = None
        if one.HasField("thread"):
            key = (one.thread.pid, one.thread.tid)
            process = self._latest.get((one.thread.pid, None))
            if process is not None:
                self._process_of.setdefault(one.uuid, process)
        elif one.HasField("process"):
            key = (one.process.pid, None)
        if key is not None:
            self._first.setdefault(key, one.uuid)
            self._latest[key] = one.uuid

    def _named(self, pid: int, tid: int | None, name: str) -> None:
        if name:
            self._names[pid, tid] = name

    def place(self, uuid: int, name: str = "", *, counter: bool = False) -> int:
        """Return the location of a track; that of a *counter* is the thread or process that it belongs to.

        *name*: that of its first event, for a track without a name.
        """
        known = self._places.get((uuid, counter))
        if known is None:
            known = self._places[uuid, counter] = self._made(uuid, name, counter=counter)
        return known

    def _made(self, uuid: int, name: str, *, counter: bool) -> int:
        one = self._known.get(uuid)
        owner = self._owner(uuid)
        if owner is not None and (counter or owner == uuid):
            return self._owned(owner)
        if counter:
            return self._location(("trace",), "trace", "process", self._group(None, None), "trace")
        said = (one.name or one.static_name or one.atrace_name) if one is not None else ""
        said = said or (name if uuid else "default track") or f"track {uuid}"
        pid = self._pid(owner)
        return self._location(("track", uuid), said, "thread", self._group_of(owner), f"{pid}:track {uuid}")

    def thread(self, pid: int, tid: int) -> int:
        """Return the location of a thread that is named by its numbers."""
        uuid = self._latest.get((pid, tid))
        if uuid is not None:
            return self._owned(uuid)
        group = self._group(pid, self._latest.get((pid, None)))
        return self._location((pid, tid), self._names.get((pid, tid), ""), "thread", group, f"{pid}:{tid}")

    def _owned(self, uuid: int) -> int:
        """Return the location of a thread or process."""
        one = self._known[uuid]
        group = self._group_of(uuid)
        if not one.HasField("thread"):
            again = self._first[one.process.pid, None] != uuid
            key: tuple[Any, ...] = (one.process.pid, None, uuid) if again else (one.process.pid, None)
            return self._location(key, "", "process", group, str(one.process.pid))
        pid, tid = one.thread.pid, one.thread.tid
        key = (pid, tid, uuid) if self._first[pid, tid] != uuid else (pid, tid)
        return self._location(
            key, one.thread.thread_name or self._names.get((pid, tid), ""), "thread", group, f"{pid}:{tid}"
        )

    def _location(self, key: tuple[Any, ...], name: str, kind: str, group: int, known_as: str) -> int:
        return self._builder.location(key, lambda: Location(text(name or known_as), kind, group, known_as))

    def _group_of(self, owner: int | None) -> int:
        """Return the group of the process of a thread or process."""
        if owner is None:
            return self._group(None, None)
        one = self._known[owner]
        if not one.HasField("thread"):
            return self._group(one.process.pid, owner)
        above = self._known.get(one.parent_uuid)
        if above is not None and above.HasField("process"):
            return self._group(one.thread.pid, one.parent_uuid)
        return self._group(one.thread.pid, self._process_of.get(owner, self._first.get((one.thread.pid, None))))

    def _group(self, pid: int | None, uuid: int | None) -> int:
        if pid is None:
            return self._builder.group(None, lambda: Group("trace"))
        one = self._known[uuid].process if uuid is not None else None
        name = (_name_of(one) if one is not None else "") or self._names.get((pid, None), "") or pid
        again = uuid is not None and self._first[pid, None] != uuid
        return self._builder.group((pid, uuid) if again else pid, lambda: Group(text(name)))

    def _pid(self, owner: int | None) -> int | None:
        if owner is None:
            return None
        one = self._known[owner]
        pid: int = one.thread.pid if one.HasField("thread") else one.process.pid
        return pid

    def _owner(self, uuid: int) -> int | None:
        """Return the uuid of the thread or process that a track belongs to, or is."""
        for _ in range(_DEPTH):
            one = self._known.get(uuid)
            if one is None:
                return None
            if one.HasField("thread") or one.HasField("process"):
                return uuid
            uuid = one.parent_uuid
        return None

    def counter(self, uuid: int) -> tuple[str, str, int, bool]:
        """Return the name and unit of a counter, the factor of its values, and whether they are differences."""
        one = self._known.get(uuid)
        if one is None:
            return f"counter {uuid}", "", 1, False
        said = one.counter
        unit = said.unit_name or _UNITS.get(said.unit, "") or ("ns" if said.type == 1 else "")
        name = one.name or one.static_name or _COUNTERS.get(said.type, f"counter {uuid}")
        return text(name), text(unit), said.unit_multiplier or 1, said.is_incremental


def _name_of(process: Any) -> str:
    name: str = process.process_name or (process.cmdline[0] if process.cmdline else "")
    return name


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
            likely = (snapshot.primary_trace_clock, _BOOTTIME, *(clock for own, clock in now if not own))
            self._base = next((clock for clock in likely if (0, clock) in now), None)
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
    sums: dict[int, float] = field(default_factory=dict)  # of counters of differences, by track
    known: bool = False
    thread: tuple[int, int] | None = None  # the older way to say the track
    microseconds: int = 0  # the older way to say the time

    def take(self, packet: Any) -> bool:
        """Note what *packet* says about the following ones; return whether its own content can be understood."""
        if packet.previous_packet_dropped and not packet.first_packet_on_sequence:
            self.known = False
        if packet.sequence_flags & _CLEARED or packet.incremental_state_cleared:
            self.names.clear()
            self.sums.clear()
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
