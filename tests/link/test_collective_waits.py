"""Waiting in collective operations of measured runs follows from the arrival times of the members."""

from __future__ import annotations

import numpy as np
import pytest

from scalegraph.link.targets._collectives import divided, waits
from scalegraph.runtime.format import CATEGORY_NAMES, EVENT, TRACE_RECORD, TRACE_WAITS
from scalegraph.traces.kinds import Operation

COLLECTIVE = [name for name, _ in TRACE_WAITS].index("collective")


def operation(kind: Operation, begins: list[int], end: int = 100, root: int = -1) -> np.ndarray:
    """Return the records of an operation whose members arrive at *begins* and all leave at *end*."""
    rows = [(EVENT["collective"], kind, member, 0, end, begin, root + 1) for member, begin in enumerate(begins)]
    return np.array(rows, TRACE_RECORD)


def carried(*turns: int) -> np.ndarray:
    """Return the second record of each member of operations within one group, by its number in the group."""
    return np.array([(EVENT["carried"], 0, 0, 0, turn, 0, 0) for turn in turns], TRACE_RECORD)


@pytest.mark.parametrize(
    ("kind", "root", "until", "holders"),
    [
        (Operation.BARRIER, -1, [70, 70, 70], [2, 2, 2]),
        (Operation.ALL_REDUCE, -1, [70, 70, 70], [2, 2, 2]),
        (Operation.BROADCAST, 1, [30, 30, 70], [1, 1, 1]),  # the last one finds the data there
        (Operation.REDUCE, 0, [70, 30, 70], [2, 1, 2]),  # only the root waits
        (Operation.SCAN, -1, [10, 30, 70], [0, 1, 2]),
    ],
)
def test_a_member_waits_for_those_that_its_operation_needs(
    kind: Operation, root: int, until: list[int], holders: list[int]
) -> None:
    rows = operation(kind, [10, 30, 70], root=root)
    found, holder, known, wrong = waits(rows, carried(1, 1, 1), 1e9)
    assert (found.tolist(), holder.tolist(), known.all(), wrong) == (until, holders, True, 0)


@pytest.mark.parametrize(
    ("kind", "root", "until"),
    [
        (Operation.BARRIER, -1, [70, 70, 70]),  # 0 and 1 wait for 2, which waits for nobody
        (Operation.BROADCAST, 2, [70, 70, 70]),  # from the second group to the first
        (Operation.BROADCAST, 0, [10, 30, 70]),  # 1 is in the root's group and does not wait
        (Operation.REDUCE, 0, [70, 30, 70]),
        (Operation.REDUCE, 2, [10, 30, 70]),
    ],
)
def test_between_two_groups_members_wait_for_the_other_group(kind: Operation, root: int, until: list[int]) -> None:
    sides = [1, 1, 2]
    rows, second = operation(kind, [10, 30, 70], root=root), carried(1, 1, 1)
    second["what"] = sides
    for member, side in enumerate(sides):
        if root >= 0 and member != root and side == sides[root]:
            rows["second"][member] = 0  # those in the root's group do not know it
    found, _holder, known, wrong = waits(rows, second, 1e9)
    assert (found.tolist(), known.all(), wrong) == (until, True, 0)
    assert set(rows["second"].tolist()) == {root + 1}


def test_an_operation_that_not_all_members_recorded_is_not_known() -> None:
    first, second = operation(Operation.BARRIER, [10, 30]), operation(Operation.BARRIER, [200, 230], 300)[:1]
    rows = np.concatenate([first, second])
    _until, _holder, known, _wrong = waits(rows, carried(1, 1, 2), 1e9)
    assert known.tolist() == [True, True, False]


def test_a_member_that_leaves_before_the_last_has_come_shows_that_clocks_differ() -> None:
    rows = operation(Operation.BARRIER, [10, 90_000], end=50_000)
    assert waits(rows, carried(1, 1), 1e9)[3] == 1
    assert waits(rows, carried(1, 1), 1e9, apart=50e-6)[3] == 0  # clocks known only that well


def test_the_time_in_an_operation_is_divided_in_a_trace() -> None:
    idle = CATEGORY_NAMES.index("idle_collective")
    rows = []
    for member, begin in enumerate([10, 30]):
        rows += [
            (EVENT["collective"], Operation.BARRIER, member, 0, 100, begin, 0),
            (EVENT["carried"], 0, 0, 7, 1, 0, 0),
            (EVENT["share"], idle, member, 7, 100, begin, 100 - begin),
            (EVENT["wait"], COLLECTIVE, member, 7, 100, begin, 0),
            (EVENT["waker"], 0, 0, 0, 100, 0, 0),
        ]
    records = divided(np.array(rows, TRACE_RECORD), 1e9)
    shares = records[records["event"] == EVENT["share"]]
    assert [(int(row["processor"]), int(row["what"] == idle), int(row["second"])) for row in shares] == [
        (0, 1, 20),
        (0, 0, 70),
        (1, 0, 70),
    ]
    (wait,) = records[records["event"] == EVENT["wait"]]  # the second member did not wait
    assert (int(wait["processor"]), int(wait["first"]), int(wait["time"])) == (0, 10, 30)
    (waker,) = records[records["event"] == EVENT["waker"]]
    assert (int(waker["region"]) - 1, int(waker["time"])) == (1, 30)
