"""Prefetchers: which lines they fetch, when these arrive, and that they use the network like all others."""

import pytest

from tests.memory.driving import network

pytestmark = pytest.mark.compiler

BASE = 0x100000
LOOK = 10 + 60
N = network("server-2x32-inorder")
MEMORY = N["memory_cycles"]


def server(memory, **prefetch):
    prefetch = {"degree": 1} | prefetch
    return memory("server-2x32-inorder", 64, {f"prefetch.{key}": str(value) for key, value in prefetch.items()})


def test_it_is_off_unless_asked_for(memory) -> None:
    plain = memory("server-2x32-inorder", 64)
    assert [plain.read(0, BASE + 64 * line, 10_000 * line)["cycles"] for line in range(1, 4)][1:] == [LOOK + MEMORY] * 2


def test_the_next_line_is_there_when_it_is_wanted_later(memory) -> None:
    near = server(memory, kind="next_line")
    assert near.read(0, BASE, 0)["prefetches"] == 1
    assert near.read(0, BASE + 64, 10_000)["cycles"] == 10  # the second level
    assert near.read(0, BASE + 64, 20_000)["cycles"] == 0


def test_a_line_wanted_early_is_waited_for(memory) -> None:
    near = server(memory, kind="next_line")
    near.read(0, BASE, 0)
    cost = near.read(0, BASE + 64, 2_000)
    assert cost["cycles"] == 10
    late = server(memory, kind="next_line")
    start = 1400 + 10  # the first miss begins after the page miss and the look into the second level
    late.read(0, BASE, 0)
    now = start + 100
    arrival = start + 60 + MEMORY  # the prefetch looks into the third level and memory at the same time
    cost = late.read(0, BASE + 64, now)
    assert cost["stall_local"] == arrival - now + 10
    assert "misses" not in cost


def test_it_stays_within_the_page_and_within_its_degree(memory) -> None:
    near = server(memory, kind="next_line", degree=3, distance=2)
    assert near.read(0, BASE + 64 * 8, 0)["prefetches"] == 3
    brought = [line for line in range(9, 16) if "misses" not in near.read(0, BASE + 64 * line, 10**5)]
    assert brought[:3] == [10, 11, 12]
    edge = server(memory, kind="next_line", degree=3)
    assert edge.read(0, BASE + 4096 - 128, 0)["prefetches"] == 1


@pytest.mark.parametrize("stride", [1, 3, -2])
def test_equal_steps_make_a_stream(memory, stride) -> None:
    stream = server(memory, kind="stride", degree=2, distance=1)
    lines = [20 + stride * step for step in range(6)]
    seen = [stream.read(0, BASE + 64 * line, 10_000 * step) for step, line in enumerate(lines)]
    assert ["prefetches" in cost for cost in seen][:3] == [False, False, True]
    assert all("misses" not in cost for cost in seen[3:])


def test_a_new_stream_catches_up_until_it_is_as_far_ahead_as_it_may_be(memory) -> None:
    stream = server(memory, kind="stride", degree=1, distance=8)
    seen = [stream.read(0, BASE + 64 * line, 10_000 * line) for line in range(64)]
    assert ["misses" in cost for cost in seen] == [True] * 3 + [False] * 61
    brought = [cost.get("prefetches", 0) for cost in seen]
    assert brought[:2] == [0, 0]
    assert brought[2:9] == [2] * 7  # two ahead, three, .. eight
    assert brought[9:55] == [1] * 46
    assert sum(brought) == 61  # what is left of the page


def test_no_stream_no_prefetch(memory) -> None:
    stream = server(memory, kind="stride")
    costs = [stream.read(0, BASE + 64 * line, 10_000 * line) for line in (0, 1, 5, 6, 12, 30)]
    assert not any("prefetches" in cost for cost in costs)


def test_prefetches_occupy_memory(memory) -> None:
    plain, near = memory("server-2x32-inorder", 64), server(memory, kind="next_line", degree=7)
    for system, expected in ((plain, 1), (near, 8)):
        system.read(0, BASE, 0)
        assert sum(used[0] for name, used in system.usage().items() if name.startswith("memory")) == expected


def test_a_prefetched_line_that_another_writes_is_gone(memory) -> None:
    near = server(memory, kind="next_line")
    near.read(0, BASE, 0)
    assert near.write(5, BASE + 64, 5_000)["invalidations"] == 1
    cost = near.read(0, BASE + 64, 10_000)
    assert (cost["misses"], cost["stall_local"]) == (1, LOOK + N["transfer_cycles"])
    assert near.check() == "ok"


@pytest.mark.parametrize("lines", [0, 2, 4])
def test_so_many_lines_are_on_their_way_at_a_time(memory, lines) -> None:
    near = server(memory, kind="next_line", degree=6, under_way=lines)
    start = 1400 + 10  # the first miss begins after the page miss and the look into the second level
    near.read(0, BASE, 0)
    way = 60 + MEMORY
    now = start + 20
    for line in range(1, 7):
        begin = start if lines == 0 else start + -(-(line - 1) * way // lines)
        cost = near.read(0, BASE + 64 * line, now)
        assert cost["stall_local"] == max(begin + way - now, 0) + 10
