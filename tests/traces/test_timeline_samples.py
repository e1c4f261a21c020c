from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalegraph.traces.kinds import NO_TIME
from scalegraph.traces.lod import Timeline, counters, rows
from scalegraph.traces.model import Definitions, Metric, Trace
from tests.traces.lod_reference import bursty
from tests.traces.made import build, definitions

SPAN = 10_000


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that small traces have many."""
    monkeypatch.setattr(rows, "BLOCK", 8)
    monkeypatch.setattr(rows, "BLOCKS", 4)
    monkeypatch.setattr(rows, "TOP", 4)
    monkeypatch.setattr(rows, "_FEW", 16)
    monkeypatch.setattr(counters, "_FEW", 50)


def messages(count: int) -> list[tuple[int, ...]]:
    random = np.random.default_rng(4)
    made = []
    for number in range(count):
        sent = int(random.integers(0, SPAN))
        received = min(sent + int(random.exponential(60)), SPAN)
        lost = random.random()
        first, last = NO_TIME if lost < 0.05 else sent, NO_TIME if lost > 0.95 else received
        sender, receiver = random.integers(0, 3, 2).tolist()
        made.append((first, sent, sent, last, sender, receiver, number * 7919 % 1009, number, 0))
    return made


def span(row: tuple[int, ...]) -> tuple[int, int]:
    start = row[3] if row[0] == NO_TIME else row[0]
    return start, max(start if row[3] == NO_TIME else row[3], start)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["length", "size"])
def test_samples_have_the_true_total_and_hold_the_greatest(by: str) -> None:
    some = messages(3000)
    line = Timeline.open(build({"messages": some}, definitions(3), begin=0, end=SPAN))
    random = np.random.default_rng(6)
    for _ in range(30):
        begin, end = sorted(random.integers(0, SPAN, 2).tolist())
        chosen = None if random.random() < 0.5 else [0, 2]
        there = [m for m in some if span(m)[0] <= end and span(m)[1] >= begin]
        there = [m for m in there if chosen is None or (m[4] in chosen and m[5] in chosen)]
        rank = {m[7]: m[6] if by == "size" else span(m)[1] - span(m)[0] for m in there}
        found = line.messages(begin, end, chosen, limit=4, by=by)
        assert found.total == len(there)
        tags = found.columns["tag"].tolist()
        assert np.all(np.diff([span(some[tag])[0] for tag in tags]) >= 0)
        assert len(set(tags)) == min(4, len(there))
        assert sorted(rank[tag] for tag in tags) == sorted(rank.values())[-4:]
        assert len(line.messages(begin, end, chosen, limit=10**6).columns["tag"]) <= len(there)


values = st.lists(st.tuples(st.integers(0, 100), st.integers(-50, 50)), min_size=1, max_size=200)


def metric(mode: str, some: dict[int, list[tuple[int, int]]]) -> Trace:
    defined = Definitions(**{**vars(definitions(3)), "metrics": [Metric("m", "", mode)]})
    return build(
        {"counters": [(t, who, 0, float(v), v) for who, one in some.items() for t, v in one]},
        defined,
        begin=0,
        end=100,
        ticks_per_second=1,
    )


def function(mode: str, some: list[tuple[int, int]]) -> list[float]:
    """Return the value of each tick."""
    at = [math.nan] * 100
    if mode == "last":
        for number, (time, value) in enumerate(some):
            until = some[number + 1][0] if number + 1 < len(some) else 100
            at[time:until] = [value] * (until - time)
        return at
    added: dict[int, float] = {}
    before = 0
    for time, value in some:
        added[time] = added.get(time, 0) + (value - before if mode == "sum" else value)
        before = value
    since = 0
    for time, value in added.items():
        at[since:time] = [value / (time - since)] * (time - since) if time > since else []
        since = time
    return at


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    mode=st.sampled_from(["last", "sum", "next"]),
    some=st.dictionaries(st.integers(0, 2), values, min_size=1),
    width=st.sampled_from([3, 30, 100]),
)
def test_bins_of_counters_hold_what_their_values_say(
    mode: str, some: dict[int, list[tuple[int, int]]], width: int
) -> None:
    some = {who: sorted(one, key=lambda row: row[0]) for who, one in some.items()}
    line = Timeline.open(metric(mode, some))
    wanted = {who: function(mode, one) for who, one in some.items()}
    known = np.array(list(wanted.values()))
    total = np.where(np.isnan(known).all(axis=0), np.nan, np.nansum(known, axis=0))
    for who, ticks in [*wanted.items(), (None, total.tolist())]:
        found = line.counter(0, who, 0, 100, width)
        assert found.rate == (mode != "last")
        for at, (low, high) in enumerate(pairwise(found.edges.tolist())):
            inside = [value for value in ticks[low:high] if not math.isnan(value)]
            if not inside:
                assert math.isnan(found.mean[at])
                continue
            assert found.low[at] == pytest.approx(min(inside), abs=1e-9)
            assert found.high[at] == pytest.approx(max(inside), abs=1e-9)
            assert found.mean[at] == pytest.approx(sum(inside) / len(inside), abs=1e-6)


def test_neighbouring_locations_share_a_lane_without_losing_time() -> None:
    line = Timeline.open(bursty(300, 7, 5, SPAN))
    for layer in ("activity", "region"):
        lanes = line.lanes(layer, 0, SPAN, 64)
        few = line.lanes(layer, 0, SPAN, 64, rows=3)
        assert few.members == ((0, 1), (2, 3), (4, 5, 6))
        assert np.allclose(few.covered[2], lanes.covered[4:].mean(axis=0), atol=1e-5)
        for lane, members in enumerate(few.members):
            for code in range(len(line.layers[layer].codes)):
                mean = np.where(lanes.codes == code, lanes.shares, 0).sum(axis=2)[list(members)].mean(axis=0)
                share = np.where(few.codes[lane] == code, few.shares[lane], 0).sum(axis=1)
                kept = (few.codes[lane] == code).any(axis=1)
                assert np.allclose(share[kept], mean[kept], atol=1e-4)


def test_other_regions_than_those_asked_for_are_one() -> None:
    line = Timeline.open(bursty(300, 2, 5, SPAN))
    lanes, some = line.lanes("region", 0, SPAN, 64), line.lanes("region", 0, SPAN, 64, regions={1, 3})
    last = len(line.layers["region"].codes) - 1
    assert set(np.unique(some.codes)) <= {-1, 1, 3, last}
    assert np.array_equal(some.shares, lanes.shares)
    assert np.array_equal(some.codes == 3, lanes.codes == 3)


def test_states_that_are_not_defined_leave_lanes_empty() -> None:
    defined = Definitions(**{**vars(definitions(2)), "states": []})
    line = Timeline.open(build({"states": [(0, 10, 0, 0), (10, 20, 1, 5)]}, defined, begin=0, end=20))
    assert [note.count for note in line.notes] == [2]
    for layer in line.layers:
        assert not line.lanes(layer, 0, 20, 10).covered.any()
        assert not line.totals(layer, 0, 20, 10).values.any()
