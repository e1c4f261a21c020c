from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scalegraph.traces.kinds import KINDS, NO_TIME, What
from scalegraph.traces.lod import Timeline, streams, tiles
from scalegraph.traces.model import Trace
from tests.traces.lod_reference import bursty, expected
from tests.traces.made import build, definitions, small, traces

STORED = 1 / 255  # shares are stored as bytes


def compare(line: Timeline, begin: int, end: int, width: int) -> None:
    locations = len(line.trace.definitions.locations)
    for name, layer in line.layers.items():
        lanes = line.lanes(name, begin, end, width)
        assert lanes.edges[0] <= max(begin, line.begin)
        assert lanes.edges[-1] >= min(end, line.end)
        totals = np.zeros((len(layer.codes), len(lanes.edges) - 1))
        for lane in range(locations):
            for at, wanted in enumerate(expected(line, name, lanes.edges, lane)):
                found = {
                    int(code): float(share)
                    for code, share in zip(lanes.codes[lane, at], lanes.shares[lane, at], strict=True)
                    if code >= 0
                }
                covered = sum(wanted.values())
                assert lanes.covered[lane, at] == pytest.approx(covered, abs=STORED)
                assert sum(found.values()) <= lanes.covered[lane, at] + 1e-5
                for code, share in found.items():
                    assert share == pytest.approx(wanted.get(code, 0), abs=STORED)
                if len(wanted) <= layer.kept:
                    assert sum(found.values()) == pytest.approx(covered, abs=STORED)
                missing = [share for code, share in wanted.items() if code not in found]
                if missing and not layer.whole:
                    kept = sorted(found.values())
                    assert max(missing) <= (kept[0] if len(kept) == layer.kept else 0) + 2 * STORED
                for code, share in wanted.items():
                    totals[code, at] += share
        found_totals = line.totals(name, begin, end, width)
        if np.array_equal(found_totals.edges, lanes.edges):
            close = locations * STORED + 1e-4
            assert np.allclose(found_totals.values.sum(axis=0), totals.sum(axis=0), atol=close)
            if layer.whole:
                assert np.allclose(found_totals.values, totals, atol=close)
            else:  # codes that are not distinguished count as other
                assert np.all(found_totals.values[:-1] <= totals[:-1] + close)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(trace=traces(), data=st.data())
def test_bins_hold_what_the_events_say(trace: Trace, data: st.DataObject) -> None:
    line = Timeline.open(trace)
    begin = data.draw(st.integers(line.begin, line.end - 1))
    end = data.draw(st.integers(begin + 1, line.end))
    compare(line, begin, end, data.draw(st.sampled_from([1, 7, 40])))
    compare(line, line.begin, line.end, 16)


@pytest.fixture
def shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make tiles and pieces so small that small traces have many."""
    monkeypatch.setattr(tiles, "LEAST", 3)
    monkeypatch.setattr(tiles, "WORTH", 1)
    monkeypatch.setattr(tiles, "PIECE", 16)
    monkeypatch.setattr(streams, "PIECE", 7)


@pytest.mark.slow
@pytest.mark.usefixtures("shallow")
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(trace=traces(), data=st.data())
def test_tiles_hold_what_the_events_say(trace: Trace, data: st.DataObject) -> None:
    line = Timeline.open(trace)
    begin = data.draw(st.integers(line.begin, line.end - 1))
    end = data.draw(st.integers(begin + 1, line.end))
    for width in (1, 5, 300):
        compare(line, begin, end, width)
    compare(line, line.begin, line.end, 16)


@pytest.mark.slow
@pytest.mark.usefixtures("shallow")
@pytest.mark.parametrize("span", [1000, 10**7, 2**52])
def test_every_place_and_zoom_of_a_bursty_trace_holds_what_the_events_say(span: int) -> None:
    line = Timeline.open(bursty(400, 2, 5, span))
    random = np.random.default_rng(3)
    third = span // 3
    places = [(0, span), (third - 5, third + max(span // 10**6, 2)), (span - 3, span)]
    places += [tuple(sorted(random.integers(0, span + 1, 2).tolist())) for _ in range(6)]
    for begin, end in places:
        for width in (3, 64, 400):
            compare(line, begin, max(end, begin + 1), width)


def test_a_trace_without_events_has_empty_lanes() -> None:
    line = Timeline.open(build({}))
    lanes = line.lanes("activity", 0, 100, 10)
    assert lanes.shares.shape[0] == 2
    assert not lanes.covered.any()
    assert not line.totals("region", 0, 1, 3).values.any()
    assert line.messages(0, 100).total == 0


def test_a_leave_without_enter_and_times_that_go_back_are_counted() -> None:
    enter, leave = What.ENTER, What.LEAVE
    rows = [
        (0, 0, leave, 1),
        (10, 0, enter, 0),
        (5, 0, enter, 1),
        (20, 0, leave, 0),
        (30, 0, leave, 1),
        (40, 0, leave, 1),
    ]
    line = Timeline.open(build({"calls": rows}, begin=0, end=50))
    assert {note.what: note.count for note in line.notes} == {
        "calls earlier than the one before in their location": 1,
        "leaves of another region than the one entered last": 2,
        "leaves without an enter": 2,
    }
    compare(line, 0, 50, 50)


def test_numbers_without_a_definition_are_counted() -> None:
    rows = {
        "calls": [(0, 0, What.ENTER, 99), (1, 7, What.ENTER, 0), (2, 0, 9, 0)],
        "states": [(0, 5, 0, 50), (0, 9, 1, 0), (4, 6, 1, 1), (5, 20, 1, 1)],
    }
    line = Timeline.open(build(rows, begin=0, end=20))
    assert {note.what: note.count for note in line.notes} == {
        "calls of an unknown location, region or state": 3,
        "states of an unknown location, region or state": 1,
        "states that overlap the one before": 2,
    }
    lanes = line.lanes("state", 0, 20, 20, [1])
    assert lanes.codes[0, :, 0].tolist() == [0] * 9 + [1] * 11


def test_layers_name_what_their_codes_are() -> None:
    line = Timeline.open(small())
    assert [code.key for code in line.layers["activity"].codes][:2] == ["busy", "memory_stall"]
    assert [code.name for code in line.layers["region"].codes] == ["main", "solve", "barrier", "other regions"]
    assert line.layers["state"].codes[0].colour == "#00ff00"


def test_messages_and_waits_are_sampled_with_their_true_total() -> None:
    messages = [(10 * n, 10 * n + 1, 10 * n, 10 * n + 1 + n % 50, n % 2, 1 - n % 2, n, 0, 0) for n in range(300)]
    waits = [(n, n + n % 7, 0, 1, 1, 0, 2, n) for n in range(100)]
    line = Timeline.open(build({"messages": messages, "waits": waits}, definitions(3), begin=0, end=4000))
    some = line.messages(0, 4000, limit=20)
    assert some.total == 300
    assert not some.complete
    length = some.columns["received"] - some.columns["sent"]
    assert len(length) == 20
    assert length.min() >= 47
    assert np.all(np.diff(some.columns["sent"]) >= 0)
    assert line.messages(0, 4000, limit=5, by="size").columns["size"].tolist() == [295, 296, 297, 298, 299]
    assert line.messages(0, 4000, [0, 2]).total == 0
    assert line.messages(1000, 1009, [0, 1]).total == sum(m[0] <= 1009 and m[3] >= 1000 for m in messages)
    assert line.waits(50, 60, [0]).total == sum(w[0] <= 60 and w[1] >= 50 for w in waits)
    assert line.waits(50, 60, [1]).total == 0


def test_counters_are_steps_or_rates_by_their_mode() -> None:
    trace = build(
        {"counters": [(10, 0, 0, 12.0, 12), (20, 0, 0, 30.0, 30), (5, 0, 1, 4.0, 0), (13, 0, 1, 2.0, 0)]},
        begin=0,
        end=20,
        ticks_per_second=10,
    )
    line = Timeline.open(trace)
    total = line.counter(0, 0, 0, 20, 20)
    assert total.rate
    assert total.mean.tolist() == pytest.approx([12.0] * 10 + [18.0] * 10)
    load = line.counter(1, None, 0, 20, 10)
    assert not load.rate
    assert np.isnan(load.mean[0])
    assert load.mean.tolist()[2:] == pytest.approx([4, 4, 4, 4, 3, 2, 2, 2])
    assert (load.low[6], load.high[6]) == (2, 4)
    assert np.isnan(line.counter(1, 1, 0, 20, 10).mean).all()


def _moments(trace: Trace, chosen: set[int]) -> set[int]:
    """Return when anything begins or ends on *chosen*, row by row; states of zero duration do not count."""
    found: set[int] = set()
    for kind in ("calls", "states", "waits", "collectives", "tasks", "locks", "marks"):
        columns = trace.columns(kind)
        for row in range(len(columns["location"])):
            times = [int(columns[name][row]) for name in KINDS[kind].times if name != "released"]
            if int(columns["location"][row]) in chosen and not (kind == "states" and times[0] == times[-1]):
                found.update(times)
    columns = trace.columns("messages")
    for when, who in (("sent", "sender"), ("received", "receiver")):
        there = zip(columns[when].tolist(), columns[who].tolist(), strict=True)
        found |= {at for at, one in there if one in chosen and at != NO_TIME}
    return found


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(traces(), st.data())
def test_what_lies_beside_a_stretch_is_what_the_events_say(trace: Trace, data: st.DataObject) -> None:
    line = Timeline.open(trace)
    first, last = trace.meta.begin, trace.meta.end
    begin, end = sorted((data.draw(st.integers(first, last)), data.draw(st.integers(first, last))))
    count = len(trace.definitions.locations)
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1)) if count else set()
    # a call of zero duration at the very start looks empty from there on
    moments = _moments(trace, chosen) - {first}
    found = line.nearest(begin, end, sorted(chosen))
    assume(begin > first)
    assert (None if found.before == first else found.before) == max((at for at in moments if at < begin), default=None)
    assert found.inside == any(begin <= at <= end for at in moments)
    assert line.silence(begin, end, sorted(chosen)) == (None if found.inside else found)
    assert found.after == min((at for at in moments if at > end), default=None)


def test_values_of_counters_are_events_where_there_is_nothing_else() -> None:
    trace = build({"counters": [(10, 0, 0, 1.0, 1), (30, 0, 0, 2.0, 2)]}, begin=0, end=100)
    found = Timeline.open(trace).nearest(15, 20)
    assert (found.before, found.inside, found.after) == (10, False, 30)
