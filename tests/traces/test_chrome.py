from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.traces import checking
from scalegraph.traces.kinds import What
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read


def load(tmp_path: Path, events: Any, **more: Any) -> Trace:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"traceEvents": events, **more} if more or isinstance(events, dict) else events))
    return read(path)


def calls(trace: Trace) -> list[tuple[int, str, str]]:
    columns = trace.columns("calls")
    regions = trace.definitions.regions
    return [
        (time, "+" if what == What.ENTER else "-", regions[region].name)
        for time, what, region in zip(*(columns[name].tolist() for name in ("time", "what", "region")), strict=True)
    ]


def whole(name: str, ts: float, dur: float) -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}


def point(phase: str, name: str, ts: float) -> dict[str, Any]:
    return {"ph": phase, "name": name, "ts": ts, "pid": 1, "tid": 1}


def test_whole_events_nest_by_their_times_in_any_order_of_the_file(tmp_path: Path) -> None:
    trace = load(tmp_path, [whole("c", 5, 5), whole("b", 0, 5), whole("d", 5, 0), whole("a", 0, 10)])
    assert calls(trace) == [
        (0, "+", "a"),
        (0, "+", "b"),
        (5000, "-", "b"),
        (5000, "+", "c"),
        (5000, "+", "d"),
        (5000, "-", "d"),
        (10000, "-", "c"),
        (10000, "-", "a"),
    ]
    assert checking.check(trace).holds


def test_begun_and_whole_events_of_one_thread_nest(tmp_path: Path) -> None:
    trace = load(tmp_path, [whole("x", 1.5, 2), point("B", "b", 0), point("E", "b", 4)])
    assert calls(trace) == [(0, "+", "b"), (1500, "+", "x"), (3500, "-", "x"), (4000, "-", "b")]


def test_events_of_one_moment_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    trace = load(
        tmp_path,
        [
            point("B", "a", 1),
            point("B", "b", 1),
            {**point("E", "", 1), "name": None},
            {"ph": "E", "ts": 1, "pid": 1, "tid": 1},
        ],
    )
    assert calls(trace) == [(1000, "+", "a"), (1000, "+", "b"), (1000, "-", "b"), (1000, "-", "a")]


def test_what_is_not_left_is_kept_and_counted(tmp_path: Path) -> None:
    trace = load(tmp_path, [point("B", "a", 1), point("B", "b", 2), point("E", "b", 3), point("P", "s", 3)])
    assert calls(trace)[0] == (1000, "+", "a")
    notes = {note.what: note.count for note in trace.meta.notes}
    assert notes == {"regions that are not left": 1, "events of phase 'P'": 1}


def test_names_counters_marks_flows_and_spans(tmp_path: Path) -> None:
    at = {"pid": 7, "tid": "w"}
    trace = load(
        tmp_path,
        [
            {"ph": "s", "id": 1, "name": "n", "cat": "k", "ts": 1, **at},
            {"ph": "t", "id": 1, "name": "n", "cat": "k", "ts": 2, **at},
            {"ph": "f", "id": 1, "name": "n", "cat": "k", "ts": 4, "pid": 7, "tid": 8},
            {"ph": "C", "name": "mem", "ts": 1, "pid": 7, "args": {"used": 2**60 + 1, "share": 0.5}},
            {"ph": "b", "id": 2, "name": "load", "ts": 3, **at},
            {"ph": "e", "id": 2, "name": "load", "ts": 9, **at},
            {"ph": "i", "name": "hit", "ts": 5, **at},
            {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "prog"}},
            {"ph": "M", "name": "thread_name", "pid": 7, "tid": "w", "args": {"name": "worker"}},
        ],
        otherData={"version": "x"},
        stackFrames={},
    )
    assert trace.definitions.groups[0].name == "prog"
    assert trace.definitions.locations[0].name == "worker"
    assert trace.columns("messages")["received"].tolist() == [2000, 4000]
    counters = trace.columns("counters")
    assert counters["exact"].tolist() == [2**60 + 1, 0]
    assert counters["value"].tolist() == [float(2**60 + 1), 0.5]
    assert [(metric.name, metric.integer) for metric in trace.definitions.metrics] == [
        ("mem.used", True),
        ("mem.share", False),
    ]
    assert trace.columns("states")["end"].tolist() == [9000]
    assert trace.columns("marks")["time"].tolist() == [5000]
    assert trace.meta.properties == {"version": "x"}
    assert [note.what for note in trace.meta.notes] == ["'stackFrames' beside the events"]


def test_times_since_the_epoch_stay_whole(tmp_path: Path) -> None:
    trace = load(tmp_path, [whole("a", 1_700_000_000_000_001, 3)])
    assert [row[0] for row in calls(trace)] == [1_700_000_000_000_001_000, 1_700_000_000_000_004_000]


def test_an_array_without_its_end_is_whole_but_an_object_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"ph":"i","name":"a","ts":1},\n')
    assert read(path).count("marks") == 1
    path.write_text('{"traceEvents":[{"ph":"i","name":"a","ts":1},\n')
    with pytest.raises(InputError, match="cut off"):
        read(path)
    assert read(path, partial=True).count("marks") == 1
    path.write_text('[{"ph":"i","name":"a","ts":1},\n{"ph":"i","na')
    with pytest.raises(InputError, match=r"a\.json:2: character 11: no JSON: unterminated string"):
        read(path)


@pytest.mark.parametrize(
    "event",
    [
        5,
        {},
        {"ph": "X"},
        {"ph": "X", "ts": "x"},
        {"ph": "C", "ts": 1},
        {"ph": []},
        {"ph": "X", "ts": 1e300},
        {"ph": "e", "ts": 1},
        {"ph": "X", "ts": 1, "pid": []},
    ],
)
def test_events_that_lack_something_are_counted(tmp_path: Path, event: Any) -> None:
    trace = load(tmp_path, [event, {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}}])
    assert sum(note.count for note in trace.meta.notes) == 1
    assert sum(trace.counts().values()) == 0


def arrow(phase: str, ts: float, tid: int, **more: Any) -> dict[str, Any]:
    return {"ph": phase, "name": "n", "cat": "k", "id": "0x7", "ts": ts, "pid": 1, "tid": tid, **more}


def messages(trace: Trace) -> list[tuple[int, int, int, int, int]]:
    columns = trace.columns("messages")
    names = ("sent", "received", "sender", "receiver", "tag")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def test_ends_of_arrows_may_stand_in_any_order_of_the_file(tmp_path: Path) -> None:
    events = [arrow("f", 9, 2), arrow("s", 3, 1), arrow("f", 4, 2, id=8), arrow("t", 5, 3)]
    trace = load(tmp_path, events)
    locations = {location.name: number for number, location in enumerate(trace.definitions.locations)}
    one, two, three = (locations[f"1:{tid}"] for tid in (1, 2, 3))
    assert sorted(messages(trace)) == [(3000, 5000, one, three, 7), (5000, 9000, three, two, 7)]
    assert [(note.what, note.count) for note in trace.meta.notes] == [("flows that do not begin", 1)]


def test_arrows_of_one_name_and_id_end_in_the_order_in_which_they_begin(tmp_path: Path) -> None:
    trace = load(tmp_path, [arrow(phase, ts, 1) for ts, phase in enumerate("fsssffs")])
    assert [row[:2] for row in messages(trace)] == [(1000, 4000), (2000, 5000)]
    notes = {note.what: note.count for note in trace.meta.notes}
    assert notes == {"flows that do not begin": 1, "flows that do not end": 2}


def test_whole_events_are_tied_by_their_flags(tmp_path: Path) -> None:
    tied = {"bind_id": "0x9", "name": "n", "pid": 1, "ph": "X", "dur": 1}
    trace = load(
        tmp_path,
        [
            {**tied, "ts": 5, "tid": 2, "flow_in": True},
            {**tied, "ts": 1, "tid": 1, "flow_out": True},
            {**tied, "ts": 7, "tid": 2},
        ],
    )
    assert messages(trace) == [(1000, 5000, 1, 0, 9)]
    assert trace.count("calls") == 6


def test_ends_of_spans_may_stand_in_any_order_and_ids_hold_where_they_say(tmp_path: Path) -> None:
    def end(phase: str, ts: float, pid: int, **of: Any) -> dict[str, Any]:
        return {"ph": phase, "name": "load", "cat": "c", "ts": ts, "pid": pid, "tid": 1, **of}

    trace = load(
        tmp_path,
        [
            end("e", 9, 2, id="0x1"),
            end("b", 1, 1, id="0x1"),  # everywhere
            end("b", 2, 1, id2={"local": 1}),
            end("e", 8, 2, id2={"local": 1}),
            end("e", 5, 1, id2={"local": 1}),
            end("S", 3, 1, id=1, name="x"),
            end("F", 4, 1, id=1, name="y"),
        ],
    )
    columns = trace.columns("states")
    assert list(zip(columns["begin"].tolist(), columns["end"].tolist(), strict=True)) == [(1000, 9000), (2000, 5000)]
    notes = {note.what: note.count for note in trace.meta.notes}
    assert notes == {"asynchronous spans that do not end": 1, "asynchronous spans that end without a beginning": 2}


def test_nanoseconds_since_the_epoch_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    inner = '{"ph":"X","name":"in","pid":1,"tid":1,"ts":1712195495406752.751,"dur":0.125}'
    outer = '{"ph":"X","name":"out","pid":1,"tid":1,"ts":1712195495406752.750,"dur":0.126}'
    counter = '{"ph":"C","name":"c","pid":1,"ts":1712195495406752.751,"args":{"v":1712195495406752.5}}'
    path.write_text(f"[{inner},{outer},{counter}]")
    trace = read(path)
    start = 1712195495406752750
    assert calls(trace) == [
        (start, "+", "out"),
        (start + 1, "+", "in"),
        (start + 126, "-", "in"),
        (start + 126, "-", "out"),
    ]
    assert trace.columns("counters")["value"].tolist() == [1712195495406752.5]
    assert checking.check(trace).holds
