"""Sums over an interval cover all of its time: by region, activity and location, on the path and in waits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace.activity import Sources, activity_sums, region_activity
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.critical_path import critical_path
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.analyze.trace.profile import by_region, call_sums
from scalegraph.analyze.trace.wait_states import wait_states
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.traces.activities import IDLE
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read
from tests.traces.made import traces

pytestmark = pytest.mark.slow

_SAMPLES = Path(__file__).parents[3] / "traces"


def interval(data: st.DataObject, trace: Trace) -> tuple[int, int]:
    begin = data.draw(st.integers(trace.meta.begin, trace.meta.end))
    return begin, data.draw(st.integers(begin, trace.meta.end))


@settings(max_examples=60, deadline=None)
@given(traces(), st.data())
def test_calls_and_what_is_outside_of_them_are_all_the_time(trace: Trace, data: st.DataObject) -> None:
    begin, end = interval(data, trace)
    table = CallTable(trace)
    made = Sources(lambda: table, lambda kind: StateTable(trace, kind))
    sums = call_sums(table, trace, begin, end)
    exclusive, inclusive, _ = by_region(sums, len(trace.definitions.regions))
    assert (exclusive >= 0).all()
    assert (inclusive >= exclusive).all()
    assert (inclusive <= end - begin).all()
    assert exclusive.sum(axis=0).tolist() == sums.covered.tolist()
    activity, where = activity_sums(trace, made, begin, end), region_activity(trace, made, begin, end)
    if activity is None or where is None:
        return
    np.testing.assert_allclose(where.sum(axis=1), activity.totals, rtol=1e-12, atol=1e-6)
    if activity.source == "calls" and end - begin < 2**48:  # sums of doubles are exact up to this
        assert activity.ticks.sum(axis=0).tolist() == (table.located * (end - begin)).tolist()


@settings(max_examples=60, deadline=None)
@given(traces(), st.data())
def test_the_path_of_an_interval_is_as_long_and_nobody_waits_longer(trace: Trace, data: st.DataObject) -> None:
    begin, end = interval(data, trace)
    waits = Waits.of(trace)
    path = critical_path(trace, waits).within(begin, end)
    assert path.ticks() == end - begin
    assert (path.begin[1:] == path.end[:-1]).all()
    states = wait_states(trace, waits, begin, end)
    who = waits.rows.location[states.numbers]
    assert (np.bincount(who, states.lost, len(trace.definitions.locations)) <= end - begin).all()
    assert (states.lost >= 0).all()
    assert ((states.handed >= 0) & (states.handed <= states.lost)).all()
    assert ((states.indirect >= 0) & (states.indirect <= states.lost)).all()


@pytest.mark.parametrize("name", ["billiard-4", "ge2-4"])
def test_nobody_waits_longer_than_the_accounting_says_it_was_idle(name: str) -> None:
    trace = read(_SAMPLES / f"{name}.sgtrace")
    waits, shares = Waits.of(trace), StateTable(trace, "shares")
    table = CallTable(trace)
    made = Sources(lambda: table, lambda _: shares)
    meta = trace.meta
    # at the edges of shares the accounting is exact; the hand-over of a recorded wait is in another category
    edges = np.unique(trace.columns("shares", ("begin",))["begin"])
    for begin, end in [(meta.begin, meta.end), *zip(edges[::97].tolist(), edges[97::97].tolist(), strict=False)]:
        sums = activity_sums(trace, made, begin, end)
        assert sums is not None
        assert sums.totals.sum() == pytest.approx((end - begin) * len(sums.locations), abs=1e-3)
        states = wait_states(trace, waits, begin, end)
        who = waits.rows.location[states.numbers]
        waited = np.bincount(who, states.lost - states.handed, len(sums.locations))
        assert (waited <= sums.ticks[IDLE] + 1e-3).all()
