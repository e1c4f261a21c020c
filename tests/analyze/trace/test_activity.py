"""How busy locations were, against values computed by hand; nothing is counted twice or lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.analyze.trace import activity
from scalegraph.analyze.trace.activity import ActivitySums, Sources
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.traces.activities import ACTIVITIES
from scalegraph.traces.kinds import What
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Definitions, Location, Region, State, Trace
from tests.traces.made import build, traces

NAMED = dict(zip(ACTIVITIES, range(len(ACTIVITIES)), strict=True))


def sources_of(trace: Trace) -> Sources:
    return Sources(lambda: CallTable(trace), lambda kind: StateTable(trace, kind))


def regions_of(trace: Trace, begin: int, end: int) -> np.ndarray:
    made = activity.region_activity(trace, sources_of(trace), begin, end)
    assert made is not None
    return made


def sums_of(trace: Trace, begin: int, end: int, locations: list[int] | None = None) -> ActivitySums:
    made = activity.activity_sums(trace, sources_of(trace), begin, end, locations)
    assert made is not None
    return made


def told() -> Trace:
    """Two processors with accounts: 60 and 30 busy, 20 and 0 stalled, 20 and 70 idle of 100."""
    states = [
        State("integer work", key="busy_int"),
        State("local misses", key="stall_local"),
        State("waiting", key="idle_barrier"),
    ]
    rows = [
        (0, 80, 0, 0, 0, 60),
        (0, 80, 0, 1, 0, 20),
        (80, 100, 0, 2, 1, 20),
        (0, 30, 1, 0, 0, 30),
        (30, 100, 1, 2, 1, 70),
    ]
    return build(
        {"shares": rows},
        Definitions(
            locations=[Location("p 0"), Location("p 1")], regions=[Region("solve"), Region("barrier")], states=states
        ),
        ticks_per_second=100,
        begin=0,
        end=100,
    )


def test_shares_give_utilisation_by_activity_location_and_region() -> None:
    trace = told()
    sums = sums_of(trace, 0, 100)
    assert sums.source == "shares"
    assert sums.ticks[[NAMED["busy"], NAMED["memory_stall"], NAMED["idle"]]].tolist() == [[60, 30], [20, 0], [20, 70]]
    assert regions_of(trace, 0, 100)[NAMED["idle"]].tolist() == [0, 90, 0]
    table = activity.utilisation(sums, 100).set_index("activity")
    assert table.loc["busy"].tolist() == [0.9, 0.45, 0.9]
    assert table["share"].sum() == pytest.approx(1)
    each = activity.by_location(sums, trace)
    assert each["busy_share"].tolist() == [0.6, 0.3]
    assert each["overhead_share"].tolist() == [0.2, 0]
    assert sums_of(trace, 40, 90, [0]).ticks[NAMED["busy"]].tolist() == [30]


def test_efficiency_is_balance_times_transfer() -> None:
    made = activity.efficiencies(sums_of(told(), 0, 100))
    assert made.parallel == pytest.approx(0.45)
    assert made.balance == pytest.approx(0.75)
    assert made.transfer == pytest.approx(0.6)
    assert made.memory == pytest.approx(90 / 110)
    assert (made.synchronisation, made.communication, made.presence) == (1.0, 1.0, pytest.approx(0.55))


def test_without_states_the_innermost_region_says_what_was_done() -> None:
    enter, leave = What.ENTER, What.LEAVE
    trace = build(
        {"calls": [(10, 0, enter, 0), (40, 0, enter, 1), (60, 0, leave, 1), (90, 0, leave, 0)]},
        Definitions(locations=[Location("a")], regions=[Region("main"), Region("omp barrier", kind="barrier")]),
        begin=0,
        end=100,
    )
    sums = sums_of(trace, 0, 100)
    assert sums.source == "calls"
    assert (sums.totals[NAMED["busy"]], sums.totals[NAMED["idle"]]) == (60, 40)  # 20 outside every region
    assert regions_of(trace, 0, 100)[NAMED["idle"]].tolist() == [0, 20, 20]


def test_gap_between_states_is_not_known_rather_than_idle() -> None:
    trace = build({"states": [(0, 40, 0, 0), (60, 100, 0, 1)]}, begin=0, end=100)
    table = activity.utilisation(sums_of(trace, 0, 100, [0]), 1).set_index("activity")
    assert table["share"].to_dict() == {"busy": 0.4, "idle": 0.4, "not known": 0.2}


def test_trace_that_tells_nothing_has_no_activity() -> None:
    nothing = build({"marks": [(1, 0, 0, 0)]})
    assert activity.activity_sums(nothing, sources_of(nothing), 0, 1) is None
    assert activity.region_activity(nothing, sources_of(nothing), 0, 1) is None


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(traces(), st.data())
def test_activities_add_up_over_meeting_intervals_and_to_what_the_timeline_shows(
    trace: Trace, data: st.DataObject
) -> None:
    begin, end = trace.meta.begin, trace.meta.end
    middle = data.draw(st.integers(begin, end))
    whole = activity.activity_sums(trace, sources_of(trace), begin, end)
    if whole is None or not begin < middle < end:
        return
    first, second = sums_of(trace, begin, middle), sums_of(trace, middle, end)
    np.testing.assert_allclose(first.ticks + second.ticks, whole.ticks, rtol=1e-12)
    by_region = activity.region_activity(trace, sources_of(trace), begin, end)
    if by_region is not None:
        np.testing.assert_allclose(by_region.sum(axis=1), whole.totals, rtol=1e-12)
    line = Timeline.open(trace)
    shown = line.totals("activity", begin, end, 64)
    integral = np.asarray(shown.values, np.float64) @ np.diff(shown.edges)
    np.testing.assert_allclose(integral, whole.totals, rtol=1e-3, atol=2e-3 * max(1, whole.available))
