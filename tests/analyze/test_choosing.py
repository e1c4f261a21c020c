"""Choices computed by hand."""

import math
from typing import Any

import pytest

from scalegraph.analyze.choosing.choice import Wishes, choose, frontier
from scalegraph.analyze.choosing.difference import by_cause
from scalegraph.analyze.choosing.point import Point
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord

HOUR = 3600.0


def point(machine: str, n: int, hours: float, **more: Any) -> Point:
    """Return a run that takes *hours*; times N these are its core-hours."""
    return Point(machine=machine, processors=n, time_s=hours * HOUR, core_hours=n * hours, **more)


# core-hours: A 16, 20, 28, 48; B 24, 26, 40
A = [point("A", n, t, efficiency=16 / (n * t), node_processors=4) for n, t in ((1, 16), (4, 5), (8, 3.5), (16, 3))]
B = [point("B", n, t, efficiency=24 / (n * t), node_processors=16) for n, t in ((2, 12), (8, 3.25), (16, 2.5))]
ALL = [*A, *B]


def names(points: list[Point]) -> list[tuple[str, int]]:
    return [(one.machine, one.processors) for one in points]


@pytest.mark.parametrize(
    ("wishes", "taken", "allowed"),
    [
        (Wishes(), ("B", 16), 7),
        (Wishes("core_hours"), ("A", 1), 7),
        (Wishes("core_hours", within=1.2), ("B", 16), 2),  # at most 3 h: A on 16 (48) and B on 16 (40)
        (Wishes("core_hours", within=1.3), ("B", 8), 3),  # at most 3.25 h: also B on 8 (26)
        (Wishes("core_hours", within=2), ("A", 4), 5),  # at most 5 h: A on 4 (20), 8, 16 and B on 8, 16
        (Wishes("processors", efficiency=0.7), ("A", 1), 4),  # A 1, 0.8, 0.57, 0.33; B 1, 0.92, 0.6
        (Wishes("time", efficiency=0.7), ("B", 8), 4),
        (Wishes("core_hours", whole_nodes=True), ("A", 4), 4),  # A on 4, 8, 16, B on 16
        (Wishes("time", queue_s=((1, 0.0), (16, HOUR))), ("B", 8), 7),  # 3.25 h before 1 + 2.5 h
        (Wishes("time", queue_s=((16, HOUR),), whole_nodes=True), ("A", 8), 4),
    ],
)
def test_the_point_that_is_taken(wishes: Wishes, taken: tuple[str, int], allowed: int) -> None:
    found = choose(ALL, wishes)
    assert (found.point.machine, found.point.processors) == taken
    assert found.allowed == allowed


def test_the_frontier_has_what_none_is_both_faster_and_cheaper_than() -> None:
    # B on 16 (2.5 h, 40), B on 8 (3.25, 26), A on 4 (5, 20), A on 1 (16, 16); A on 16 costs 48, A on 8 is slower than B
    assert names(frontier(ALL, "core_hours")) == [("B", 16), ("B", 8), ("A", 4), ("A", 1)]
    assert names(choose(ALL, Wishes("core_hours", within=1.2)).frontier) == [("B", 16), ("B", 8), ("A", 4), ("A", 1)]


def test_of_equal_points_the_faster_is_taken_and_then_the_smaller() -> None:
    same = [point("A", 4, 2.0), point("A", 2, 4.0), point("B", 8, 1.0)]
    assert choose(same, Wishes("core_hours")).point.machine == "B"
    assert choose([point("A", 4, 1.0), point("A", 2, 1.0)], Wishes()).point.processors == 2


def test_energy_and_price_that_a_machine_does_not_state_are_said() -> None:
    mixed = [
        point("A", 2, 1.0, energy_j=5.0, price=2.0, currency="EUR"),
        point("B", 2, 1.0, why_no_energy="machine 'B' states no watts"),
    ]
    with pytest.raises(InputError, match="machine 'B' states no watts; --select machine=A picks one that does"):
        choose(mixed, Wishes("energy"))
    assert choose(mixed[:1], Wishes("energy")).point.energy_j == 5.0
    dollars = point("C", 2, 1.0, price=1.0, currency="USD")
    with pytest.raises(InputError, match="prices are in EUR and USD, which cannot be compared"):
        choose([mixed[0], dollars], Wishes("price"))


@pytest.mark.parametrize(
    ("points", "wishes", "said"),
    [
        ([], Wishes(), "no run has succeeded"),
        (ALL, Wishes(efficiency=0.999999999), ""),
        (A[2:], Wishes(efficiency=0.7), "no point has an efficiency of 70.% or more: the best is 0.571, A, N = 8"),
        (B[:2], Wishes(whole_nodes=True), "no point fills whole nodes: nodes have 16 processors"),
    ],
)
def test_what_nothing_meets_is_said(points: list[Point], wishes: Wishes, said: str) -> None:
    if not said:
        assert choose(points, wishes).allowed == 2
        return
    with pytest.raises(InputError, match=said):
        choose(points, wishes)


def test_a_single_point_is_its_own_frontier() -> None:
    found = choose(A[:1], Wishes("core_hours", within=1.2))
    assert (found.second, names(list(found.frontier))) == (None, [("A", 1)])
    assert math.isclose(found.point.core_hours, 16)


def test_two_points_differ_by_what_their_elapsed_times_went_to() -> None:
    def run(n: int, time_s: float, **cycles: int) -> RunRecord:
        return RunRecord(
            source="simulated",
            program="p",
            machine="m",
            point=RunPoint(processors=n),
            time_s=time_s,
            clock_hz=100.0,
            categories=cycles,
        )

    # on 2 processors for 3 s: 400 + 200 of 600 cycles; on 4 for 2 s: 400 + 300 of 800, so 100 are not accounted for
    one, other = run(2, 3.0, busy_int=400, idle_barrier=200), run(4, 2.0, busy_int=400, idle_barrier=300)
    shares = {share.words: (share.first_s, share.second_s) for share in by_cause(one, other)}
    assert shares == {
        "computing, memory stalls included": (2.0, 1.0),
        "waiting at barriers": (1.0, 0.75),
        "not accounted for": (0.0, 0.25),
    }
    assert by_cause(one, run(4, 2.0)) == []
