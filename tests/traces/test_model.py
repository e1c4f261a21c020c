from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.traces import checking
from scalegraph.traces.builder import Builder
from scalegraph.traces.container import open_container, write_container
from scalegraph.traces.kinds import KINDS, NO_TIME, What
from scalegraph.traces.model import Location, MemoryPart, Part, Trace
from scalegraph.traces.nesting import match
from scalegraph.traces.reading import read
from tests.traces.made import assert_same, build, small, traces


@pytest.mark.slow
@settings(max_examples=15)
@given(trace=traces())
def test_our_own_file_keeps_every_event_and_definition(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("own") / "a.sgtrace"
    write_container(trace, path)
    with read(path) as back:
        assert_same(trace, back)
        assert back.definitions == trace.definitions
        assert back.meta.as_data() == {**trace.meta.as_data(), "source": back.meta.source}


@pytest.mark.slow
@settings(max_examples=20)
@given(trace=traces())
def test_traces_that_are_made_well_hold(trace: Trace) -> None:
    assert [violation.sentence() for violation in checking.check(trace).violations] == []


def test_columns_of_a_time_range_are_the_rows_that_touch_it() -> None:
    trace = small()
    assert trace.columns("calls", ["time"], begin=10, end=20)["time"].tolist() == [10, 20]
    assert trace.columns("waits", ["begin"], begin=25, end=26)["begin"].tolist() == [20]
    assert trace.columns("messages", ["tag"], begin=14, end=14)["tag"].tolist() == [5]
    assert trace.columns("messages", ["tag"], begin=16)["tag"].tolist() == []
    assert trace.columns("marks")["value"].tolist() == [99]


@pytest.mark.slow
def test_only_the_parts_that_are_asked_for_are_looked_at(tmp_path: Path) -> None:
    builder = Builder()
    builder.location(0, lambda: Location("a"))
    for start in range(4):
        builder.add("marks", time=np.arange(start * 2**20, (start + 1) * 2**20), location=0, region=-1, value=0)
    path = tmp_path / "a.sgtrace"
    write_container(builder.finish(), path)
    data = bytearray(path.read_bytes())
    data[len(data) - len(data) // 5] ^= 1  # in the last part
    path.write_bytes(data)
    trace = read(path)
    assert trace.count("marks") == 4 * 2**20
    assert len(trace.columns("marks", ["time"], begin=5, end=9)["time"]) == 5
    with pytest.raises(InputError, match="checksum"):
        trace.columns("marks", ["time"])
    with read(path, partial=True) as rest:
        assert rest.count("marks") == 3 * 2**20
        assert "checksum" in rest.meta.damage[0]


def test_a_cut_file_gives_what_was_written_if_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.sgtrace"
    write_container(small(), path)
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(InputError, match="cut off"):
        read(path)
    rest = read(path, partial=True)
    assert rest.count("calls") == 6
    assert rest.definitions == small().definitions
    assert "cut off" in rest.meta.damage[0]


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sgtrace"
    write_container(small(), path)
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(InputError, match="is of version 9; versions 1 to 2 are read"):
        open_container(path)


def test_what_does_not_fit_in_memory_goes_to_a_file() -> None:
    builder = Builder(limit=1000)
    builder.location(0, lambda: Location("a"))
    for start in range(10):
        builder.add("marks", time=np.arange(start * 100, start * 100 + 100), location=0, region=-1, value=start)
    with builder.finish() as trace:
        assert trace.columns("marks", ["time"])["time"].tolist() == list(range(1000))
        assert (trace.meta.begin, trace.meta.end) == (0, 999)


def test_a_stopped_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def stop(_share: float) -> None:
        raise Cancelled("stopped by the user")

    with pytest.raises(Cancelled):
        write_container(small(), tmp_path / "a.sgtrace", stop)
    assert list(tmp_path.iterdir()) == []


def test_a_stopped_check_ends(tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        checking.check(small(), token)


def test_a_leave_belongs_to_the_innermost_enter_that_is_open() -> None:
    owner = np.array([0, 0, 1, 0, 0, 1, 0])
    enters = np.array([True, True, False, False, True, True, False])
    partner, level = match(owner, enters)
    assert partner.tolist() == [-1, 3, -1, 1, 6, -1, 4]
    assert level.tolist() == [1, 2, 0, 2, 2, 1, 2]


ENTER, LEAVE = What.ENTER, What.LEAVE
WRONG = [
    ("numbers", {"calls": [(0, 0, ENTER, 9), (0, 0, LEAVE, -1)]}),
    ("values", {"waits": [(0, 1, 0, 1, 77, 0, 0, NO_TIME)]}),
    ("clock", {"marks": [(5, 0, 0, 0), (4, 0, 0, 0), (4, 1, 0, 0)]}),
    ("run", {"marks": [(100, 0, 0, 0)]}),
    ("interval", {"waits": [(9, 8, 0, 1, 1, 0, 0, NO_TIME)]}),
    ("leave_without_enter", {"calls": [(0, 0, LEAVE, 0), (1, 0, ENTER, 0), (2, 0, LEAVE, 0)]}),
    ("leave_of_other_region", {"calls": [(0, 0, ENTER, 0), (1, 0, LEAVE, 1)]}),
    ("enter_without_leave", {"calls": [(0, 0, ENTER, 0), (1, 0, ENTER, 1), (2, 0, LEAVE, 1)]}),
    ("receive_before_send", {"messages": [(9, 9, 3, 8, 0, 1, 1, 0, 0)]}),
    ("send_without_receive", {"messages": [(9, 9, NO_TIME, NO_TIME, 0, 1, 1, 0, 0)]}),
    ("receive_without_send", {"messages": [(NO_TIME, NO_TIME, 3, 8, 0, 1, 1, 0, 0)]}),
    ("collective_members", {"collectives": [(0, 1, 0, 0, 0, -1, 0, 0)]}),
    ("overlap", {"states": [(0, 5, 0, 0), (4, 6, 0, 1), (0, 9, 1, 0)]}),
    ("overlap", {"shares": [(0, 5, 0, 0, 0, 5), (4, 6, 0, 1, 0, 1), (0, 9, 1, 0, 0, 9), (4, 6, 0, 1, 1, 1)]}),
    ("values", {"shares": [(0, 5, 0, 0, 0, 6), (0, 5, 0, 1, 0, -1)]}),
    ("release_without_acquire", {"locks": [(0, 0, 1, 0, 1), (1, 0, 1, 0, 2), (2, 0, 1, 0, 2)]}),
    ("task_without_creation", {"tasks": [(0, 0, 1, 1, 0), (1, 1, 2, 2, 0)]}),
    ("task_created_twice", {"tasks": [(0, 0, 1, 1, 0), (1, 1, 1, 1, 0)]}),
    ("waits_for_itself", {"waits": [(0, 1, 0, 0, 1, 0, 0, NO_TIME)]}),
    ("released", {"waits": [(3, 8, 0, 1, 1, 0, 0, 9), (3, 8, 0, 1, 1, 0, 0, 8)]}),
    ("shares", {"shares": [(0, 9, 0, 0, 0, 5), (0, 9, 0, 1, 1, 5), (9, 12, 0, 1, 1, 3)]}),
]


@pytest.mark.parametrize(("rule", "rows"), WRONG, ids=[f"{rule}-{next(iter(rows))}" for rule, rows in WRONG])
def test_every_rule_finds_its_contradiction_and_no_other(rule: str, rows: dict[str, list[tuple[int, ...]]]) -> None:
    report = checking.check(build(rows, begin=0, end=99))
    assert [(violation.rule, violation.count) for violation in report.violations] == [(rule, 1)]
    assert "tick" in report.violations[0].sentence() or "unknown" in report.violations[0].sentence()


def test_every_rule_is_tried_above() -> None:
    elsewhere = {"accounting", "gap", "conservation", "conservation_by_region"}  # test_conservation.py
    assert {rule for rule, _ in WRONG} | elsewhere == set(checking.RULES)


def test_calls_that_cross_parts_nest() -> None:
    builder = Builder()
    builder.definitions = small().definitions
    for time, what, region in [(0, ENTER, 0), (1, ENTER, 1), (2, LEAVE, 1), (3, LEAVE, 0), (4, LEAVE, 0)]:
        builder.add("calls", time=np.array([time]), location=0, what=what, region=region)
    trace = builder.finish()
    parts = [part for one in trace.parts["calls"] for part in _singles(one)]
    split = Trace(trace.definitions, trace.meta, {"calls": parts})
    assert [(v.rule, v.count, v.row) for v in checking.check(split).violations] == [("leave_without_enter", 1, 4)]


def test_a_stretch_that_crosses_parts_is_one() -> None:
    rows = [
        (0, 9, 0, 0, 0, 5),
        (0, 9, 1, 0, 0, 9),
        (0, 9, 0, 1, 0, 3),
        (0, 9, 0, 1, 1, 1),
        (9, 12, 0, 0, 0, 1),
        (9, 12, 0, 0, 1, 1),
        (12, 13, 0, 0, 0, 1),
    ]
    trace = build({"shares": rows}, begin=0, end=99)
    split = Trace(trace.definitions, trace.meta, {"shares": _singles(trace.parts["shares"][0], "shares")})
    for one in (trace, split):
        found = checking.check(one).violations
        assert [(v.rule, v.count, v.row, v.detail) for v in found] == [("shares", 1, 4, "2 of 3 ticks")]


def _singles(part: Part, kind: str = "calls") -> list[Part]:
    columns = {name: part.column(name) for name in KINDS[kind].columns}
    return [MemoryPart(kind, {name: values[n : n + 1] for name, values in columns.items()}) for n in range(part.rows)]
