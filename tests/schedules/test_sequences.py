"""The allocations of schedules when all iterations take the same time, to the iteration.

Expected sequences: Yan, Jin, Zhang, "Adaptively Scheduling Parallel Loops in Distributed Shared-Memory Systems", 1997,
section 2 (affinity), computed by hand for 1,024 iterations and 4 processors; the formulas of each schedule's own paper.
"""

from __future__ import annotations

from math import ceil

import pytest

from tests.schedules.played import KINDS, Allocation, Play
from tests.schedules.played import play as play

pytestmark = pytest.mark.slow

EQUAL = {"alpha": 64.0, "step": 1.0, "base": 2.0, "back": 1.0}  # alpha = N / P^2
DEFAULTS: dict[str, dict[str, float]] = {
    **dict.fromkeys(("ea", "la", "ca", "ga"), EQUAL),
    "fsc": {"overhead": 1.0},
    "fac": {"variation": 1.0},
    "tap": {"variation": 1.0, "certainty": 1.3},
    "tss": {"first": 128.0, "last": 1.0},
    "safe": {"share": 0.5},
    "rand": {"least": 2.0, "most": 128.0, "seed": 1.0},
    "steal": {"chunk": 1.0},
}


def sizes(found: list[Allocation], member: int) -> list[int]:
    """Iterations of the member's own allocations, in order."""
    return [a.count for a in found if a.member == member and a.owner in (member, -1)]


@pytest.mark.parametrize(
    ("kind", "expected", "controls"),
    [
        ("ea", [64, 96, 96], [4, 2, 1]),
        ("la", [64, 64, 64, 64], [4, 3, 2, 1]),
        ("ca", [64, 64, 64, 32, 16, 8, 4, 2, 1, 1], [4, 3, 2, 2, 2, 2, 2, 2, 2, 2]),
        ("ga", [64, 64, 128], [4, 3, 1]),
    ],
)
def test_adaptive_schedules_under_equal_load(play: Play, kind: str, expected: list[int], controls: list[int]) -> None:
    found = play(kind, 1024, 4, **EQUAL)
    for member in range(4):
        assert sizes(found, member) == expected
        assert [a.control for a in found if a.member == member] == controls
    assert all(a.owner == a.member and a.state == 0 for a in found)


def test_affinity_takes_the_pth_part_of_what_is_left(play: Play) -> None:
    left, expected = 256, []
    while left:
        expected.append(ceil(left / 4))
        left -= expected[-1]
    assert expected[:5] == [64, 48, 36, 27, 21]
    found = play("ml", 1024, 4)
    assert all(sizes(found, member) == expected for member in range(4))


def test_heuristic_schedule_executed_once_is_affinity(play: Play) -> None:
    for cost in ("equal", "rising", "head"):
        assert play("ha", 1000, 6, cost=cost) == play("ml", 1000, 6, cost=cost)


def test_remote_chunk_follows_the_number_of_members_that_are_not_heavy(play: Play) -> None:
    """Equation 2.1: k = min(P, n + 1)."""
    found = play("ea", 4000, 8, cost="rising", **EQUAL)
    remote = [a for a in found if a.owner != a.member]
    assert all(2 <= a.control <= 8 for a in remote)
    assert len({a.control for a in remote}) > 1
    light = play("ea", 1000, 4, cost="head", **EQUAL)  # all but the first are light: n + 1 = P
    assert {a.control for a in light if a.owner != a.member} == {4}


def test_iterations_move_once_at_most(play: Play) -> None:
    for kind in ("ml", "ea", "la", "ca", "ga", "ha"):
        for a in play(kind, 1000, 4, 3, cost="rising", **DEFAULTS.get(kind, {})):
            home = {i // 250 for i in a.iterations}
            assert home == {a.owner}, (kind, a)


def test_learned_shares_take_the_same_time(play: Play) -> None:
    found = play("se", 1000, 4, 2, cost="rising")
    second = [a for a in found if a.execution == 1 and a.owner == a.member]
    times = [sum(i + 1 for a in second if a.member == m for i in a.iterations) for m in range(4)]
    assert max(times) < 1.1 * min(times)
    first = [a for a in found if a.execution == 0 and a.owner == a.member]
    assert sum(a.count for a in first if a.member == 3) < 250  # others helped this member


def test_heuristic_schedule_learns_who_needs_help(play: Play) -> None:
    found = play("ha", 1000, 4, 2, cost="head")
    first, second = ([a.control for a in found if a.execution == e and a.owner == a.member][:4] for e in (0, 1))
    assert first == [4, 4, 4, 4]
    assert second[0] > max(second[1:])


def test_sizes_of_central_queues(play: Play) -> None:
    def all_sizes(kind: str, n: int = 1000, p: int = 4, **values: float) -> list[int]:
        return [a.count for a in play(kind, n, p, **values)]

    assert all_sizes("fac2") == [125] * 4 + [63] * 4 + [31] * 4 + [16] * 4 + [8] * 4 + [4] * 4 + [2] * 4 + [1] * 4
    assert all_sizes("guided")[:4] == [250, 188, 141, 106]
    assert all_sizes("tss", first=125.0, last=1.0)[:3] == [125, 116, 108]  # 16 chunks, 8.27 less each
    assert all_sizes("safe", share=0.5)[:9] == [125] * 4 + [63] * 4 + [32]
    assert all_sizes("dynamic", chunk=7)[:2] == [7, 7]
    assert len(set(all_sizes("mfsc")[:-1])) == 1
    assert len(all_sizes("mfsc")) == pytest.approx(len(all_sizes("fac2")), abs=1)
    assert all_sizes("tap", variation=0.0, certainty=1.3) == all_sizes("guided")  # nothing varies
    assert all(2 <= n <= 128 for n in all_sizes("rand", least=2.0, most=128.0, seed=1.0)[:-1])


def test_adaptive_factoring_gives_slow_members_less(play: Play) -> None:
    found = play("af", 1000, 4, cost="head")
    assert [a.count for a in found][:4] == [10, 10, 10, 10]


@pytest.mark.few(45)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("members", [1, 2, 3, 7, 64])
def test_every_iteration_is_given_once(play: Play, kind: str, members: int) -> None:
    for iterations in (0, 1, members - 1, members, members + 1, 997):
        for cost in ("equal", "rising", "head"):
            found = play(kind, iterations, members, 3, cost=cost, **DEFAULTS.get(kind, {}))
            for execution in range(3):
                given = sorted(i for a in found if a.execution == execution for i in a.iterations)
                assert given == list(range(iterations)), (iterations, cost, execution)
