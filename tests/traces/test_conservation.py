"""Shares and accounting agree to the tick, or the report says where and by how much they differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scalegraph.traces.checking import check
from scalegraph.traces.conservation import ACCOUNTING
from scalegraph.traces.model import Definitions, Location, Region, State, Trace
from tests.traces.made import build

# begin, end, location, state, region, ticks: two processors, 0 to 100; the second one's stretches have other lengths
SHARES = [
    (0, 40, 0, 0, 0, 30),
    (0, 40, 0, 1, 1, 10),
    (40, 100, 0, 0, 1, 60),
    (0, 70, 1, 0, 1, 50),
    (0, 70, 1, 2, 0, 20),
    (70, 100, 1, 2, 1, 30),
]
ACCOUNT = {
    "leaves": {"busy": [90, 50], "stall": [10, 0], "idle": [0, 50]},
    "regions": {"0": {"busy": 30, "idle": 20}, "1": {"busy": 110, "stall": 10, "idle": 30}},
}


def made(shares: list[tuple[int, ...]] = SHARES, account: Any = ACCOUNT) -> Trace:
    defined = Definitions(
        locations=[Location(f"processor {n}", "processor") for n in range(2)],
        regions=[Region("main"), Region("solve")],
        states=[State("computing", key="busy"), State("stalled", key="stall"), State("waiting", key="idle")],
    )
    text = account if isinstance(account, str) else json.dumps(account)
    return build({"shares": shares}, defined, begin=0, end=100, properties={ACCOUNTING: text})


def changed(*changes: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """Return the shares with values replaced: (row, column, value)."""
    rows = [list(row) for row in SHARES]
    for row, column, value in changes:
        rows[row][column] = value
    return [tuple(row) for row in rows]


def sentences(trace: Trace) -> dict[str, str]:
    return {one.rule: one.sentence() for one in check(trace).violations}


def test_shares_that_agree_hold() -> None:
    assert check(made()).holds
    with_zero = {**ACCOUNT, "leaves": {**ACCOUNT["leaves"], "never": [0, 0]}}
    assert check(made(account=with_zero)).holds


def test_without_an_accounting_shares_may_leave_gaps() -> None:
    trace = made(SHARES[:2])
    trace.meta.properties.clear()
    assert check(trace).holds


def test_a_trace_that_was_not_asked_for_shares_has_none_to_compare() -> None:
    assert check(made([])).holds


def test_one_tick_missing_is_told_with_its_place() -> None:
    found = sentences(made(changed((0, 5, 29))))
    assert found["conservation"] == (
        "shares: 'processor 0' has 89 ticks in 'computing', the accounting says 90: 1 too few"
    )
    assert found["conservation_by_region"] == (
        "shares: 'region main' has 29 ticks in 'computing', the accounting says 30: 1 too few"
    )
    assert "39 of 40 ticks" in found["shares"]


def test_a_tick_in_another_state_is_told_though_the_stretch_is_full() -> None:
    found = sentences(made(changed((0, 5, 29), (1, 5, 11))))
    assert set(found) == {"conservation", "conservation_by_region"}
    assert found["conservation"].endswith("the accounting says 90: 1 too few, and 1 more")


def test_rounding_may_move_a_tick_among_the_states_that_it_concerns() -> None:
    account: Any = {**ACCOUNT, "rounded": ["busy", "stall", "never"]}
    moved = changed((0, 5, 31), (1, 5, 9))
    assert set(sentences(made(moved))) == {"conservation", "conservation_by_region"}
    in_one_region = {**account, "regions": {"0": {"busy": 31, "idle": 20}, "1": {"busy": 110, "stall": 9, "idle": 30}}}
    assert check(made(moved, in_one_region)).holds  # per location, busy has one more and stall one less
    far = {**account, "leaves": {"busy": [87, 50], "stall": [13, 0], "idle": [0, 50]}}
    assert "3 too many, and 1 more" in str(sentences(made(SHARES, far)))  # more than one for each of two regions
    idle = {**account, "leaves": {"busy": [90, 51], "stall": [10, 0], "idle": [0, 49]}}
    assert "1 too few, and 1 more" in str(sentences(made(SHARES, idle)))  # waiting is not rounded


def test_a_tick_in_another_region_is_told_by_region_only() -> None:
    found = sentences(made(changed((2, 4, 0))))
    assert set(found) == {"conservation_by_region"}
    assert "'region main' has 90 ticks in 'computing', the accounting says 30: 60 too many" in str(found)


def test_a_gap_is_told_within_and_at_both_ends() -> None:
    within = sentences(made(changed((2, 0, 45), (2, 5, 55))))
    assert within["gap"] == "shares: 5 ticks of 'processor 0' from tick 40 on are in no share"
    first = sentences(made(changed((3, 0, 10), (4, 0, 10), (3, 5, 40))))
    assert first["gap"] == "shares: 10 ticks of 'processor 1' from tick 0 on are in no share"
    last = sentences(made(SHARES[:5]))
    assert last["gap"] == "shares: 30 ticks of 'processor 1' from tick 70 on are in no share"
    other = sentences(made(SHARES[:3]))
    assert other["gap"] == "shares: 100 ticks of 'processor 1' from tick 0 on are in no share"


def test_a_leaf_that_no_state_tells_of_is_missing() -> None:
    account = {**ACCOUNT, "leaves": {**ACCOUNT["leaves"], "other": [0, 7]}}
    found = sentences(made(account=account))
    assert found == {
        "conservation": "shares: 'processor 1' has 0 ticks in a state that is not defined, the accounting says 7: "
        "7 too few"
    }


@pytest.mark.parametrize(
    ("account", "said"),
    [
        ("{", "is not readable"),
        ("[]", "is not readable"),
        ({"leaves": {"busy": [1]}, "regions": {}}, "does not record 'busy' of each of 2 locations"),
        ({"leaves": {"busy": [1, "x"]}, "regions": {}}, "is not readable"),
        ({"leaves": {"busy": 1}, "regions": {}}, "does not record 'busy'"),
        ({"leaves": {}, "regions": {"7": {"busy": 1}}}, "tells of region 7, there are 2"),
        ({"leaves": {}, "regions": {"0": {"busy": 2**70}}}, "is not readable"),
    ],
)
def test_an_accounting_that_cannot_be_read_is_told(account: Any, said: str) -> None:
    assert said in sentences(made(account=account))["accounting"]
