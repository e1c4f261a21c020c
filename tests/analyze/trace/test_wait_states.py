"""Wait states: how much, where, for whom, and what the holder did meanwhile."""

from __future__ import annotations

import pandas as pd
import pytest

from scalegraph.analyze.trace.wait_states import by_place, wait_states, worst
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.traces.kinds import NO_TIME, Operation, Wait
from scalegraph.traces.model import Trace
from tests.analyze.trace.made import NAMES, calls, trace

_BARRIER = NAMES.index("omp barrier")


def imbalance() -> Trace:
    """Return three locations at two barriers: 2 is in load until 60, then 1 in solve until 98."""
    return trace(
        3,
        {
            "calls": [*calls(0, (0, 100, "main"), (0, 30, "solve"), (30, 62, "omp barrier"), (80, 100, "omp barrier")),
                      *calls(1, (0, 100, "main"), (0, 40, "solve"), (40, 62, "omp barrier"), (62, 98, "solve"),
                             (98, 100, "omp barrier")),
                      *calls(2, (0, 100, "main"), (0, 5, "solve"), (5, 60, "load"), (60, 62, "omp barrier"),
                             (70, 100, "omp barrier"))],
            "waits": [(30, 62, 0, 2, Wait.BARRIER, 9, _BARRIER, 60), (80, 100, 0, 1, Wait.BARRIER, 9, _BARRIER, 98),
                      (40, 62, 1, 2, Wait.BARRIER, 9, _BARRIER, 60), (70, 100, 2, 1, Wait.BARRIER, 9, _BARRIER, 98)],
        },
    )  # fmt: skip


def single(made: Trace, **part: int) -> pd.DataFrame:
    return worst(made, wait_states(made, Waits.of(made), **part))


def test_the_longest_wait_stands_first_with_its_place_and_what_the_holder_did() -> None:
    table = single(imbalance())
    first = table.iloc[0].to_dict()
    assert table["lost_s"].round(3).tolist() == [0.032, 0.03, 0.022, 0.02]
    assert (first["kind"], first["location"], first["holder"], first["told"]) == ("barrier", 0, 2, True)
    assert (first["file"], first["line"], first["path"]) == ("a.c", 50, "main > omp barrier")
    assert (first["begin_s"], first["end_s"]) == (0.03, 0.062)
    assert first["handover_s"] == pytest.approx(0.002)
    assert [NAMES[n] for n in table["holder_region"]] == ["load", "solve", "load", "solve"]


def test_places_have_totals_and_who_loses_and_is_waited_for_most() -> None:
    made = imbalance()
    states = wait_states(made, Waits.of(made))
    (row,) = by_place(made, states).to_dict("records")
    assert states.total == 104
    assert states.share == pytest.approx(104 / 300)
    assert (row["kind"], NAMES[row["region"]], row["count"]) == ("barrier", "omp barrier", 4)
    assert row["lost_s"] == pytest.approx(0.104)
    assert row["longest_s"] == pytest.approx(0.032)
    assert (row["share"], row["of_waits"]) == pytest.approx((104 / 300, 1.0))
    assert (row["location"], row["location_share"]) == (0, pytest.approx(52 / 104))
    assert (row["holder"], row["holder_share"]) == (2, pytest.approx(54 / 104))
    assert NAMES[row["holder_region"]] == "load"


def test_a_part_of_the_run_counts_only_what_is_in_it() -> None:
    table = single(imbalance(), begin=50, end=90)
    assert table["lost_s"].round(3).tolist() == [0.02, 0.012, 0.012, 0.01]
    assert single(imbalance(), begin=62, end=70).empty


def test_locations_and_regions_choose_waits() -> None:
    made = imbalance()
    waits = Waits.of(made)
    states = wait_states(made, waits, locations=[2])
    assert (states.total, states.share) == (30, 0.3)
    assert not len(wait_states(made, waits, regions=[1]).numbers)


def test_time_in_which_the_holder_waits_itself_is_indirect() -> None:
    """0 waits until 60 for 1, which waits from 10 to 50 for 2: 40 of the 60 ticks are due to 2."""
    made = trace(
        3,
        {
            "calls": [
                *calls(0, (0, 100, "main")),
                *calls(1, (0, 100, "main"), (10, 50, "step")),
                *calls(2, (0, 100, "main")),
            ],
            "waits": [(0, 60, 0, 1, Wait.LOCK, 0, -1, 60), (10, 50, 1, 2, Wait.LOCK, 0, -1, 50)],
        },
    )
    first = single(made).iloc[0]
    assert first["indirect_s"] == pytest.approx(0.04)
    part = single(made, begin=40, end=55).iloc[0]
    assert (part["lost_s"], part["indirect_s"]) == (pytest.approx(0.015), pytest.approx(0.01))
    assert single(made, begin=52, end=60).iloc[0]["indirect_s"] == 0
    assert NAMES[int(first["holder_region"])] == "main"  # 20 ticks of its own, without the 40 in which it waited


def test_a_wait_without_a_known_cause_stands_among_the_others() -> None:
    made = trace(1, {"states": [(0, 40, 0, 0), (40, 70, 0, 1), (70, 100, 0, 0)]})
    (row,) = single(made).to_dict("records")
    assert (row["kind"], row["holder"], row["holder_region"]) == ("no known cause", -1, -1)
    assert row["lost_s"] == pytest.approx(0.03)


def test_a_release_that_is_not_told_is_taken_from_the_operation() -> None:
    made = trace(
        2,
        {
            "waits": [(10, 50, 0, 1, Wait.BARRIER, 0, -1, NO_TIME)],
            "collectives": [(10, 50, 0, Operation.BARRIER, 0, -1, 0, 0), (45, 50, 1, Operation.BARRIER, 0, -1, 0, 0)],
        },
    )
    (row,) = single(made).to_dict("records")
    assert row["handover_s"] == pytest.approx(0.005)


def test_operations_whose_members_disagree_are_left_out_and_told() -> None:
    made = trace(2, {"collectives": [(10, 50, 0, Operation.BARRIER, 0, -1, 0, 0), (45, 50, 1, 11, 0, -1, 8, 8)]})
    waits = Waits.of(made)
    assert not len(waits.rows)
    assert waits.doubts == ("1 collective operations contradict themselves and are left out.",)
