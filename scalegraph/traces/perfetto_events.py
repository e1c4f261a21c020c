"""Converts the track events of Perfetto's traces to columns: slices, instants, counters and flows."""

from __future__ import annotations

from typing import Any, Final

from scalegraph.traces.chrome_events import ForeignEvents
from scalegraph.traces.formats import Reading
from scalegraph.traces.kinds import NOBODY
from scalegraph.traces.model import Metric, Trace
from scalegraph.traces.perfetto_tracks import Clocks, Sequence, Tracks, text

_ENTER, _LEAVE, _WHOLE = 1, 2, 3  # as in `chrome_events`
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4  # types of track events
_LATEST: Final = 4_600_000_000_000_000_000  # nanoseconds
_OLDER: Final = {ord("B"): _BEGIN, ord("E"): _END, ord("I"): _INSTANT, ord("i"): _INSTANT, ord("R"): _INSTANT}


class PerfettoEvents(ForeignEvents):
    """Track events of any program, packet by packet; *tracks* are known beforehand."""

    def __init__(self, reading: Reading, tracks: Tracks) -> None:
        super().__init__(reading)
        self.seen = 0
        self._tracks, self._clocks = tracks, Clocks()
        self._sequences: dict[int, Sequence] = {}
        self._flow_points: dict[int, list[tuple[int, int, bool]]] = {}

    def take(self, packet: Any) -> None:
        """Add the events of a packet, and note what it says about others."""
        number = packet.trusted_packet_sequence_id
        sequence = self._sequences.get(number)
        if sequence is None:
            sequence = self._sequences[number] = Sequence()
        understood = sequence.take(packet)
        if packet.HasField("clock_snapshot"):
            self._clocks.take(number, packet.clock_snapshot)
        time = None
        if packet.HasField("timestamp"):
            time = self._clocks.time(number, packet.timestamp_clock_id or sequence.clock, packet.timestamp)
        if not packet.HasField("track_event"):
            return
        self.seen += 1
        event = packet.track_event
        if not understood:
            self._builder.note("events whose names were lost with packets before them")
            return
        if not packet.HasField("timestamp"):
            time = self._older_time(event, sequence)
        if time is None or not abs(time) < _LATEST:
            self._builder.note("events of a clock that is not related to the others, or without a valid time")
            return
        self._event(event, time, sequence)

    @staticmethod
    def _older_time(event: Any, sequence: Sequence) -> int | None:
        if event.HasField("timestamp_delta_us"):
            sequence.microseconds += event.timestamp_delta_us
            return sequence.microseconds * 1000
        return event.timestamp_absolute_us * 1000 if event.HasField("timestamp_absolute_us") else None

    def _event(self, event: Any, time: int, sequence: Sequence) -> None:
        uuid = event.track_uuid if event.HasField("track_uuid") else sequence.track
        what = event.type
        if what == _COUNTER:
            value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
            self._value(uuid or 0, value, time, sequence)
            return
        where = self._place_of(event, uuid, sequence)
        older = event.legacy_event if event.HasField("legacy_event") else None
        if not what and older is not None:
            what = _OLDER.get(older.phase, 0)
            length = older.duration_us * 1000
            if older.phase == ord("X") and 0 <= length < _LATEST - time:
                self._slice(_WHOLE, self._name(event, sequence), time, where, length)
                what = NOBODY
        if what in (_BEGIN, _END):
            self._slice(_ENTER if what == _BEGIN else _LEAVE, self._name(event, sequence), time, where, 0)
        elif what == _INSTANT:
            self._mark({"name": self._name(event, sequence) or ""}, time, where)
        elif what != NOBODY:
            self._builder.note(f"track events of type {event.type}" if older is None else "events of an older form")
        for number, ends in (*((n, False) for n in event.flow_ids), *((n, True) for n in event.terminating_flow_ids)):
            self._flow_points.setdefault(number, []).append((time, where, ends))
        self._values(event, sequence, time)

    def _place_of(self, event: Any, uuid: int | None, sequence: Sequence) -> int:
        if event.HasField("legacy_event") and event.legacy_event.tid_override > 0:
            pid = event.legacy_event.pid_override or (sequence.thread or (0, 0))[0]
            return self._tracks.thread(pid, event.legacy_event.tid_override)
        if uuid is None and sequence.thread is not None:
            return self._tracks.thread(*sequence.thread)
        return self._tracks.place(uuid or 0, self._name(event, sequence) or "")

    @staticmethod
    def _name(event: Any, sequence: Sequence) -> str | None:
        number = event.name_iid or (event.legacy_event.name_iid if event.HasField("legacy_event") else 0)
        name = event.name or (sequence.names.get(number, f"name {number}") if number else "")
        return text(name) if name else None

    def _slice(self, phase: int, name: str | None, time: int, where: int, length: int) -> None:
        region = NOBODY if name is None and phase == _LEAVE else self._number(name or "", "function")
        self._time.append(time)
        self._length.append(length)
        self._where.append(where)
        self._region.append(region)
        self._phase.append(phase)

    def _values(self, event: Any, sequence: Sequence, time: int) -> None:
        """Add the values of counters that come with a slice."""
        if len(event.extra_counter_values):
            tracks = tuple(event.extra_counter_track_uuids) or sequence.counters
            for track, whole in zip(tracks, event.extra_counter_values, strict=False):
                self._value(track, whole, time, sequence)
        if len(event.extra_double_counter_values):
            tracks = tuple(event.extra_double_counter_track_uuids) or sequence.fractions
            for track, value in zip(tracks, event.extra_double_counter_values, strict=False):
                self._value(track, value, time, sequence)

    def _value(self, uuid: int, value: float, time: int, sequence: Sequence) -> None:
        name, unit, factor, differences = self._tracks.counter(uuid)
        value *= factor
        if differences:
            value = sequence.sums[uuid] = sequence.sums.get(uuid, 0) + value
        metric = self._builder.metric((name, unit), lambda: Metric(name, unit))
        exact = value if isinstance(value, int) and abs(value) < 2**63 else None
        if exact is None:
            self._fractions.add(metric)
        where = self._tracks.place(uuid, counter=True)
        for column, item in zip(self._counters.values(), (time, where, metric, float(value), exact or 0), strict=True):
            column.append(item)

    def finish(self) -> Trace:
        """Sort the rows of every location by time and return the trace."""
        for number, points in self._flow_points.items():
            arrows: list[list[tuple[int, int]]] = [[]]
            for time, where, ends in sorted(points):
                arrows[-1].append((time, where))
                if ends:
                    arrows.append([])
            for turn, arrow in enumerate(arrows):
                for place, (time, where) in enumerate(arrow):
                    phase = "s" if place == 0 else "f" if place == len(arrow) - 1 else "t"
                    self._flows.add({"ph": phase, "id": number, "scope": turn}, time, where)
        return super().finish()
