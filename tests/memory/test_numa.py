"""The two-socket server, to the cycle."""

import pytest

pytestmark = pytest.mark.compiler

BASE = 0x100000
LOOK = 10 + 60  # look-ups in the second and third level
MEMORY, TRANSFER, SNOOP, LINK = 238, 112, 84, 112  # 85, 40, 30 and 40 ns at 2.8 GHz
PAGE = 4096


@pytest.fixture
def server(memory):
    return memory("server-2x32-inorder", 64)


def settle(memory, processor: int, pages: int) -> None:
    """Let *processor* touch the pages first, so that they live on its node."""
    for page in range(pages):
        memory.read(processor, BASE + page * PAGE)


def test_local_memory(server) -> None:
    settle(server, 0, 1)
    cost = server.read(0, BASE + 64, 10_000)
    assert cost == {
        "cycles": LOOK + MEMORY,
        "stall_local": LOOK + MEMORY,
        "l1_misses": 1,
        "misses": 1,
        "memory_lines": 1,
    }


def test_lines_from_memory_are_counted_and_those_of_caches_are_not(server) -> None:
    settle(server, 0, 1)
    assert server.write(0, BASE + 64, 10_000)["memory_lines"] == 1
    assert "memory_lines" not in server.read(0, BASE + 64, 20_000)
    assert "memory_lines" not in server.read(1, BASE + 64, 30_000)  # comes from the other cache
    assert "memory_lines" not in server.write(1, BASE + 64, 40_000)  # the right to write
    assert server.read(40, BASE + 128, 50_000)["memory_lines"] == 1  # comes from the other socket's memory


def test_first_touch_decides_where_a_page_lives(server) -> None:
    assert server.read(40, BASE)["stall_page"] == 1400
    cost = server.read(0, BASE + 64, 10_000)
    assert cost["stall_local"] == LOOK
    assert cost["stall_remote_read"] == 2 * LINK + MEMORY
    assert cost["remote_reads"] == 1
    assert server.read(41, BASE + 128, 20_000)["stall_local"] == LOOK + MEMORY


def test_interleaved_pages_go_round(memory) -> None:
    server = memory("server-2x32-inorder", 64, {"memory.placement": "interleave"})
    remote = [server.read(0, BASE + page * PAGE, 10_000 * page).get("remote_reads", 0) for page in range(6)]
    assert remote == [0, 1, 0, 1, 0, 1]


def test_a_line_in_another_cache_of_the_socket(server) -> None:
    server.write(0, BASE)
    cost = server.read(1, BASE, 10_000)
    assert cost == {"cycles": LOOK + TRANSFER, "stall_local": LOOK + TRANSFER, "l1_misses": 1, "misses": 1}
    assert server.read(2, BASE, 20_000)["stall_local"] == LOOK  # the dirty line went into the shared cache


def test_a_line_in_a_cache_of_the_other_socket(server) -> None:
    server.write(0, BASE)
    assert server.read(40, BASE, 10_000)["stall_remote_read"] == 2 * LINK + TRANSFER


def test_upgrade_asks_the_farthest_copy(server) -> None:
    server.read(0, BASE)
    server.read(1, BASE, 10_000)
    assert server.write(0, BASE, 20_000)["stall_upgrade"] == SNOOP
    server.read(40, BASE, 30_000)
    cost = server.write(0, BASE, 40_000)
    assert cost["stall_upgrade"] == 2 * LINK + SNOOP
    assert cost["invalidations"] == 1


def test_private_levels_cost_what_they_look_into(server) -> None:
    settle(server, 0, 1)
    for line in range(13):  # one set of the first level has 12 ways
        server.read(0, BASE + line * PAGE, 10_000 * line)
    assert server.read(0, BASE, 200_000) == {"cycles": 10, "stall_local": 10, "l1_misses": 1}


def test_victims_go_to_the_shared_cache_and_come_back(memory) -> None:
    server = memory("server-2x32-inorder", 64, {"cache.l1.size_kib": "3", "cache.l2.size_kib": "4"})
    for line in range(17):  # the second level has 4 sets of 16
        cost = server.write(0, BASE + line * 256, 10_000 * line)
    assert "writebacks" not in cost
    assert server.read(0, BASE, 500_000) == {"cycles": LOOK, "stall_local": LOOK, "l1_misses": 1, "misses": 1}
    assert server.hits(0, "w", BASE)  # it came back dirty, and in no other cache
    assert server.check() == "ok"


def test_a_dirty_victim_of_the_shared_cache_is_written_back(memory) -> None:
    small = {"cache.l1.size_kib": "3", "cache.l2.size_kib": "4", "cache.l3.size_kib": "15"}
    server = memory("server-2x32-inorder", 64, small)
    counts = [server.write(0, BASE + line * 1024, 10_000 * line).get("writebacks", 0) for line in range(40)]
    # 16 lines in the second level's set, 15 in the third's; from then on each line evicts one.
    assert counts == [0] * 31 + [1] * 9


def test_bandwidth_of_a_channel_saturates(server) -> None:
    settle(server, 0, 33)
    busy = 64 / 38.4e9 * 2.8e9  # cycles per line
    # Lines of one channel of eight: 64 bytes x 8 apart; all at once.
    costs = [server.read(core, BASE + (core // 7) * PAGE + (1 + core % 7) * 512, 1_000_000) for core in range(32)]
    waits = [cost.get("stall_contention", 0) for cost in costs]
    assert waits == [pytest.approx(position * busy, abs=1) for position in range(32)]
    assert waits[-1] > 100
    assert "stall_contention" not in server.read(0, BASE + 32 * PAGE + 64, 1_000_000)


def test_bandwidth_of_a_link_saturates(memory) -> None:
    server = memory("server-2x32-inorder", 64, {"network.link_gb_s": "10"})
    settle(server, 0, 5)
    per_line = (64 + 16) / 10e9 * 2.8e9
    # One line of each channel and of several pages, so that channels do not matter beside the link.
    waits = [
        server.read(32 + core, BASE + (core // 7) * PAGE + (1 + core % 7) * 64, 1_000_000).get("stall_contention", 0)
        for core in range(28)
    ]
    assert waits[-1] == pytest.approx(27 * per_line, abs=8)
