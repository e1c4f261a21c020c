"""Perfetto's binary traces: track events, by the package ``perfetto``. They are read packet by packet, twice."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted
from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.model import Trace
from scalegraph.traces.perfetto_events import PerfettoEvents
from scalegraph.traces.perfetto_packets import looks, packets
from scalegraph.traces.perfetto_tracks import Tracks

ENDINGS = (".pftrace", ".perfetto-trace", ".perfetto")
_FIRST = 0.4  # share of the work that is the first pass
# packets that hold no events: about the trace, its clocks, processes and tracks
_ABOUT = frozenset(
    (
        "track_event",
        "track_descriptor",
        "process_tree",
        "process_descriptor",
        "thread_descriptor",
        "clock_snapshot",
        "trace_config",
        "trace_uuid",
        "trace_stats",
        "ftrace_stats",
        "system_info",
        "service_event",
        "synchronization_marker",
        "trigger",
        "chrome_metadata",
        "process_stats",
        "cpu_info",
        "trace_provenance",
        "trace_attributes",
        "extension_descriptor",
        "chrome_trigger",
        "track_event_range_of_interest",
        "recovered_trace_info",
        "remote_clock_sync",
        "clone_snapshot_trigger",
    )
)
_WORDS = {
    "ftrace_events": "the kernel's events (ftrace)",
    "perf_sample": "samples of call stacks",
    "profile_packet": "a profile of the heap",
    "chrome_events": "events of an old Chrome",
    "android_log": "Android's log",
}


def _recognises(path: Path, head: bytes) -> bool:
    name = path.name.lower().removesuffix(".gz")
    return bool(head) and (looks(head) or (name.endswith(ENDINGS) and head[:1] == b"\n"))


def _read(reading: Reading) -> Trace:
    tracks = Tracks(reading.builder)
    others: Counter[str] = Counter()
    events = 0
    # a first pass for tracks, which may be described after their events; damage is reported by the second
    first = replace(reading, partial=True, progress=lambda share: reading.progress(_FIRST * share))
    for packet in packets(first):
        with suppress(UnicodeDecodeError):  # counted in the second pass
            tracks.take(packet)
        kind = packet.WhichOneof("data") or ""
        events += kind == "track_event"
        if kind and kind not in _ABOUT:
            others[kind] += 1
    reading.builder.meta.damage.clear()
    made = PerfettoEvents(reading, tracks)
    second = replace(reading, progress=lambda share: reading.progress(_FIRST + (1 - _FIRST) * share))
    for packet in packets(second):
        try:
            made.take(packet)
        except UnicodeDecodeError:
            reading.broken("the text of a packet is damaged: UTF-8 was expected")
    if not made.seen:
        raise InputError(Fault(_without_events(others), file=str(reading.path)))
    for kind, count in others.items():
        reading.builder.note(f"packets with {_WORDS.get(kind, kind)}, which are not read", count)
    return made.finish()


def _without_events(others: Counter[str]) -> str:
    if not others:
        return "holds no events: a trace of Perfetto with slices, instants or counters (track events) was expected"
    listed = ", ".join(f"{_WORDS.get(kind, kind)}: {counted(count, 'packet')}" for kind, count in others.most_common(4))
    return (
        f"holds no track events (slices, instants, counters), which are read, but {listed}; `traceconv json FILE "
        "trace.json` converts some of that to Chrome's JSON, which is read"
    )


READER = Reader("perfetto", "Perfetto trace", ENDINGS, _recognises, _read, order=40, needs="perfetto")
