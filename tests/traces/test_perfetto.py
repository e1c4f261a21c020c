"""Perfetto's binary traces, written with the protobuf classes of its package, against the same events in JSON."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.base.errors import InputError, MissingTool
from scalegraph.traces import checking, perfetto_packets
from scalegraph.traces.kinds import KINDS
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read, recognised

proto = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="needs the extra scalegraph[perfetto]"
)
PROCESS, MAIN, WORKER, MEMORY, LOAD, QUEUE = 1, 2, 3, 4, 5, 6
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Made:
    """A trace in the making."""

    def __init__(self) -> None:
        self.trace = proto.Trace()

    def packet(self, sequence: int = 1, **fields: Any) -> Any:
        made = self.trace.packet.add(trusted_packet_sequence_id=sequence)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def track(self, uuid: int, parent: int = 0, name: str = "", **fields: dict[str, Any]) -> None:
        one = self.packet().track_descriptor
        one.uuid = uuid
        if parent:
            one.parent_uuid = parent
        if name:
            one.name = name
        for part, values in fields.items():
            getattr(one, part).SetInParent()
            for key, value in values.items():
                setattr(getattr(one, part), key, value)

    def event(self, time: int, what: int, track: int, name: str = "", sequence: int = 1, **fields: Any) -> Any:
        one = self.packet(sequence, timestamp=time)
        one.track_event.type = what
        one.track_event.track_uuid = track
        if name:
            one.track_event.name = name
        for key, value in fields.items():
            if isinstance(value, list):
                getattr(one.track_event, key).extend(value)
            else:
                setattr(one.track_event, key, value)
        return one

    def tracks(self) -> None:
        """Describe one process with two threads, a queue and two counters."""
        self.track(PROCESS, process={"pid": 7, "process_name": "solver"})
        self.track(MAIN, PROCESS, thread={"pid": 7, "tid": 70, "thread_name": "main"})
        self.track(WORKER, PROCESS, thread={"pid": 7, "tid": 71, "thread_name": "worker"})
        self.track(MEMORY, PROCESS, "memory", counter={"unit": 3})
        self.track(LOAD, MAIN, "load", counter={})
        self.track(QUEUE, PROCESS, "queue")

    def events(self) -> None:
        """Add slices that nest, marks, counters and an arrow."""
        self.event(1_000, BEGIN, MAIN, "step")
        self.event(1_500, BEGIN, MAIN, "solve", flow_ids=[99])
        self.event(1_800, BEGIN, WORKER, "part", flow_ids=[99])
        self.event(2_000, COUNTER, MEMORY, counter_value=4096)
        self.event(2_100, COUNTER, LOAD, double_counter_value=0.5)
        self.event(2_200, INSTANT, WORKER, "flush")
        self.event(2_600, END, WORKER)
        self.event(2_700, END, MAIN)
        self.event(2_800, COUNTER, MEMORY, counter_value=8192)
        self.event(3_001, END, MAIN)

    def read(self, tmp_path: Path, name: str = "a.pftrace", *, partial: bool = False) -> Trace:
        path = tmp_path / name
        path.write_bytes(self.trace.SerializeToString())
        return read(path, partial=partial)


JSON: list[dict[str, Any]] = [
    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "solver"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 70, "args": {"name": "main"}},
    {"ph": "M", "name": "thread_name", "pid": 7, "tid": 71, "args": {"name": "worker"}},
    {"ph": "B", "name": "step", "pid": 7, "tid": 70, "ts": 1},
    {"ph": "B", "name": "solve", "pid": 7, "tid": 70, "ts": 1.5},
    {"ph": "s", "id": 99, "name": "x", "pid": 7, "tid": 70, "ts": 1.5},
    {"ph": "B", "name": "part", "pid": 7, "tid": 71, "ts": 1.8},
    {"ph": "f", "id": 99, "name": "x", "pid": 7, "tid": 71, "ts": 1.8},
    {"ph": "C", "name": "memory", "pid": 7, "ts": 2, "args": {"value": 4096}},
    {"ph": "C", "name": "load", "pid": 7, "tid": 70, "ts": 2.1, "args": {"value": 0.5}},
    {"ph": "i", "name": "flush", "pid": 7, "tid": 71, "ts": 2.2},
    {"ph": "E", "pid": 7, "tid": 71, "ts": 2.6},
    {"ph": "E", "pid": 7, "tid": 70, "ts": 2.7},
    {"ph": "C", "name": "memory", "pid": 7, "ts": 2.8, "args": {"value": 8192}},
    {"ph": "E", "pid": 7, "tid": 70, "ts": 3.001},
]


def rows(trace: Trace) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row with names in place of numbers, sorted."""
    known = trace.definitions
    named: dict[str, Callable[[int], str]] = {
        "location": lambda at: f"{known.groups[known.locations[at].group].name}/{known.locations[at].name}",
        "region": lambda at: known.regions[at].name,
        "metric": lambda at: known.metrics[at].name.removesuffix(".value"),
    }
    named |= {"sender": named["location"], "receiver": named["location"]}
    made = {}
    for kind in KINDS:
        columns = trace.columns(kind)
        if len(next(iter(columns.values()))):
            cells = [
                [named[name](int(v)) if name in named else v for v in np.asarray(values).tolist()]
                for name, values in columns.items()
            ]
            made[kind] = sorted(zip(*cells, strict=True), key=repr)
    return made


def test_events_are_those_of_the_same_trace_in_json(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.events()
    (tmp_path / "a.json").write_text(json.dumps(JSON))
    trace, same = made.read(tmp_path), read(tmp_path / "a.json")
    assert rows(trace) == rows(same)
    assert set(rows(trace)) == {"calls", "marks", "counters", "messages"}
    assert checking.check(trace).holds
    assert {metric.name: metric.unit for metric in trace.definitions.metrics} == {"memory": "bytes", "load": ""}
    assert not trace.meta.notes


def test_the_file_is_known_by_its_content_and_may_be_packed(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.events()
    plain = made.read(tmp_path)
    data = made.trace.SerializeToString()
    (tmp_path / "trace").write_bytes(data)
    assert recognised(tmp_path / "trace")[0].name == "perfetto"
    (tmp_path / "trace.gz").write_bytes(gzip.compress(data))
    packed = Made()
    packed.packet().compressed_packets = zlib.compress(data)
    assert rows(read(tmp_path / "trace.gz")) == rows(plain)
    assert rows(packed.read(tmp_path)) == rows(plain)


def test_tracks_may_be_described_after_their_events(tmp_path: Path) -> None:
    first, later = Made(), Made()
    first.tracks()
    first.events()
    later.events()
    later.tracks()
    assert rows(later.read(tmp_path)) == rows(first.read(tmp_path))


def test_names_are_interned_for_each_writer_until_they_are_cleared(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    for sequence, names in ((1, ("one", "two")), (2, ("three", "four"))):
        for turn, name in enumerate(names):
            packet = made.packet(sequence, sequence_flags=1)
            packet.interned_data.event_names.add(iid=5, name=name)
            packet.trace_packet_defaults.track_event_defaults.track_uuid = MAIN if sequence == 1 else WORKER
            start = 1000 * turn
            for time, what in ((start, BEGIN), (start + 500, END)):
                one = made.packet(sequence, timestamp=time, sequence_flags=2)
                one.track_event.type = what
                if what == BEGIN:
                    one.track_event.name_iid = 5
    made.packet(3, timestamp=1, sequence_flags=2).track_event.type = BEGIN  # its writer's state is not known
    trace = made.read(tmp_path)
    called = {(row[1], row[3]) for row in rows(trace)["calls"]}
    assert called == {
        ("solver/main", "one"),
        ("solver/main", "two"),
        ("solver/worker", "three"),
        ("solver/worker", "four"),
    }
    assert [note.count for note in trace.meta.notes if "names were lost" in note.what] == [1]


def test_a_track_of_its_own_is_a_location_of_its_process(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.event(10, BEGIN, QUEUE, "copy")
    made.event(20, END, QUEUE)
    made.event(10, BEGIN, 1234, "nowhere")
    made.event(30, END, 1234)
    trace = made.read(tmp_path)
    assert {row[1] for row in rows(trace)["calls"]} == {"solver/queue", "trace/nowhere"}


def test_clocks_are_related_by_snapshots(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    snapshot = made.packet().clock_snapshot
    snapshot.clocks.add(clock_id=6, timestamp=1_000_000)
    snapshot.clocks.add(clock_id=3, timestamp=400_000)
    snapshot.clocks.add(clock_id=64, timestamp=10, unit_multiplier_ns=1000, is_incremental=True)
    made.event(1_000_500, BEGIN, MAIN, "boot")
    made.event(400_900, END, MAIN).timestamp_clock_id = 3
    for step in (5, 2):
        made.event(step, INSTANT, WORKER, "tick").timestamp_clock_id = 64
    made.event(5, INSTANT, WORKER, "lost").timestamp_clock_id = 77
    trace = made.read(tmp_path)
    assert [row[0] for row in rows(trace)["calls"]] == [1_000_500, 1_000_900]
    assert [row[0] for row in rows(trace)["marks"]] == [1_005_000, 1_007_000]
    assert [note.count for note in trace.meta.notes] == [1]


def test_the_clock_that_the_trace_names_is_its_own(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    snapshot = made.packet().clock_snapshot
    snapshot.primary_trace_clock = 3
    snapshot.clocks.add(clock_id=3, timestamp=1000)
    snapshot.clocks.add(clock_id=6, timestamp=11_000)
    made.event(1000, INSTANT, MAIN, "a").timestamp_clock_id = 3
    made.event(12_000, INSTANT, MAIN, "b")
    assert [row[0] for row in rows(made.read(tmp_path))["marks"]] == [1000, 2000]


def test_arrows_go_from_slice_to_slice_until_they_end(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.event(10, INSTANT, MAIN, "a", flow_ids=[1])
    made.event(30, INSTANT, WORKER, "b", terminating_flow_ids=[1])
    made.event(50, INSTANT, MAIN, "c", flow_ids=[1, 2])
    made.event(55, INSTANT, WORKER, "d", flow_ids=[1])
    made.event(59, INSTANT, WORKER, "e", flow_ids=[2])
    made.event(60, INSTANT, MAIN, "f", flow_ids=[2])
    columns = made.read(tmp_path).columns("messages")
    assert sorted(zip(columns["sent"].tolist(), columns["received"].tolist(), strict=True)) == [
        (10, 30),
        (50, 55),
        (50, 59),
        (59, 60),
    ]


def test_counters_of_differences_and_those_beside_slices(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    made.track(8, PROCESS, "done", counter={"is_incremental": True, "unit_name": "KiB", "unit_multiplier": 1024})
    for time, value in ((1, 2), (2, 3)):
        made.event(time, COUNTER, 8, counter_value=value)
    made.event(3, BEGIN, MAIN, "a", extra_double_counter_track_uuids=[LOAD], extra_double_counter_values=[0.25])
    made.event(4, END, MAIN, extra_counter_track_uuids=[MEMORY], extra_counter_values=[7])
    found = [(row[0], row[2], row[3]) for row in rows(made.read(tmp_path))["counters"]]
    assert sorted(found) == [(1, "done", 2048), (2, "done", 5120), (3, "load", 0.25), (4, "memory", 7)]


def test_differences_are_summed_for_each_writer_until_its_state_is_cleared(tmp_path: Path) -> None:
    made = Made()
    made.track(8, name="done", counter={"is_incremental": True})
    for time, sequence, value in ((1, 1, 100), (2, 2, 50), (3, 1, 10), (4, 2, 5)):
        made.event(time, COUNTER, 8, sequence=sequence, counter_value=value)
    made.packet(1, incremental_state_cleared=True)
    made.event(5, COUNTER, 8, counter_value=7)
    found = [(row[0], row[3]) for row in rows(made.read(tmp_path))["counters"]]
    assert sorted(found) == [(1, 100), (2, 50), (3, 110), (4, 55), (5, 7)]


def test_numbers_of_threads_and_processes_may_be_used_again(tmp_path: Path) -> None:
    made = Made()
    made.track(1, thread={"pid": 5, "tid": 1, "thread_name": "t1"})
    made.track(10, process={"pid": 5, "process_name": "p1"})
    made.track(3, thread={"pid": 5, "tid": 1, "thread_name": "t3"})
    made.track(20, process={"pid": 5, "process_name": "p2"})
    made.track(21, thread={"pid": 5, "tid": 4, "thread_name": "t4"})
    made.track(22, 21, "below")
    made.track(23, 10)
    for time, track in enumerate((1, 10, 3, 20, 21, 22, 0), 1):
        made.event(time, INSTANT, track, "x")
    made.event(8, INSTANT, 23, "first").track_event.name = "first"
    one = made.event(9, INSTANT, 0, "moved").track_event.legacy_event
    one.pid_override, one.tid_override = 5, 4
    found = [row[1] for row in sorted(rows(made.read(tmp_path))["marks"])]
    assert found == ["p1/t1", "p1/5", "p1/t3", "p2/5", "p2/t4", "p2/below", "trace/default track", "p1/first", "p2/t4"]


def test_the_older_form_of_chrome(tmp_path: Path) -> None:
    made = Made()
    one = made.packet(sequence_flags=1)
    one.thread_descriptor.pid, one.thread_descriptor.tid, one.thread_descriptor.thread_name = 7, 70, "main"
    one.thread_descriptor.reference_timestamp_us = 100
    for phase, delta, length in (("X", 5, 10), ("B", 20, 0), ("E", 5, 0)):
        event = made.packet().track_event
        event.timestamp_delta_us = delta
        event.name = f"old {phase}" if phase != "E" else ""
        event.legacy_event.phase = ord(phase)
        event.legacy_event.duration_us = length
    found = [(row[0], row[1], row[3]) for row in rows(made.read(tmp_path))["calls"]]
    assert found == [
        (105_000, "7/main", "old X"),
        (115_000, "7/main", "old X"),
        (125_000, "7/main", "old B"),
        (130_000, "7/main", "old B"),
    ]


def test_a_trace_without_events_says_what_it_holds(tmp_path: Path) -> None:
    made = Made()
    made.tracks()
    with pytest.raises(InputError, match="holds no events: a trace of Perfetto"):
        made.read(tmp_path)
    for cpu in range(3):
        made.packet().ftrace_events.cpu = cpu
    with pytest.raises(InputError) as error:
        made.read(tmp_path)
    assert "but the kernel's events (ftrace): 3 packets" in str(error.value)
    assert "traceconv json FILE" in str(error.value)
    made.events()
    assert [note.what for note in made.read(tmp_path).meta.notes] == [
        "packets with the kernel's events (ftrace), which are not read"
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data[:-3], "the file is cut off in a packet"),
        (lambda data: data + b"\x12\x01\x00", "a packet was expected"),
        (lambda data: data + b"\x0a\xff\xff\xff\xff\x7f", "at most were expected"),
        (lambda data: data + b"\x0a\xff\xff\xff\xff\xff\xff", "the length of a packet was expected"),
        (lambda data: data + b"\x0a\x02\xff\xff", "a packet of 2 bytes is damaged"),
        (
            lambda data: data + proto.Trace(packet=[{"compressed_packets": b"no"}]).SerializeToString(),
            "a packed packet",
        ),
        (lambda data: data + proto.Trace(packet=[{"zstd_compressed_packets": b"x"}]).SerializeToString(), "zstd"),
    ],
)
def test_damage_is_named_and_the_rest_can_be_read(tmp_path: Path, change: Callable[[bytes], bytes], fault: str) -> None:
    made = Made()
    made.tracks()
    made.events()
    path = tmp_path / "a.pftrace"
    path.write_bytes(change(made.trace.SerializeToString()))
    with pytest.raises(InputError, match="byte ") as error:
        read(path)
    assert fault in str(error.value)
    trace = read(path, partial=True)
    assert any(fault in one for one in trace.meta.damage)
    assert len(trace.columns("calls")["time"]) >= 5


def test_a_packed_packet_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perfetto_packets, "_LARGEST", 1 << 10)
    made = Made()
    made.packet().compressed_packets = zlib.compress(bytes(1 << 12))
    with pytest.raises(InputError, match="unpacks to more than"):
        made.read(tmp_path)


def test_without_the_package_the_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made()
    made.events()
    monkeypatch.setattr(perfetto_packets, "_MODULE", "perfetto.not_there")
    with pytest.raises(MissingTool, match=r"pip install 'scalegraph\[perfetto\]'; without it, `traceconv json"):
        made.read(tmp_path)


@pytest.mark.parametrize("data", [b"\nsome text\n", b"\n\n\n\n", b"", b"\n", b"[]", b"\x0a\x05abc"])
def test_what_only_begins_alike_is_no_trace_of_perfetto(data: bytes) -> None:
    assert not perfetto_packets.looks(data)
