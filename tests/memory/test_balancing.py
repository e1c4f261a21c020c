"""Pages that the system moves to the memory node that uses them (automatic NUMA balancing), to the cycle."""

import pytest

pytestmark = pytest.mark.compiler

BASE = 0x100000
LOOK, MEMORY, LINK = 10 + 60, 238, 112  # look-ups in the second and third level; 85 and 40 ns at 2.8 GHz
PAGE = 4096
DELAY = 28_000  # 10 us
FAULT, MOVE = 2800, 5600  # 1 and 2 us
QUICK = {
    "balancing.scan_delay_ms": "0.01",
    "balancing.scan_period_min_ms": "0.01",
    "balancing.scan_period_max_ms": "0.6",
    "balancing.scan_size_mib": "1",  # 256 pages
    "balancing.fault_us": "1",
    "balancing.migrate_us": "2",
}


@pytest.fixture
def server(memory):
    return memory("server-2x32-inorder", 64, QUICK)


def touch(memory, processor: int, pages: int) -> None:
    for page in range(pages):
        memory.read(processor, BASE + page * PAGE)


def faults(memory, processor: int, pages: int, now: int) -> tuple[int, int]:
    """Read the next line of *pages* pages; return hint faults and moves."""
    costs = [memory.read(processor, BASE + page * PAGE + now % PAGE // 64 * 64, now) for page in range(pages)]
    return sum(cost.get("hint_faults", 0) for cost in costs), sum(cost.get("page_migrations", 0) for cost in costs)


def test_a_page_moves_to_who_uses_it_once_the_system_has_marked_it(server) -> None:
    touch(server, 0, 1)
    early = server.read(40, BASE + 64, DELAY - 1000)
    assert (early["stall_remote_read"], early.get("hint_faults", 0)) == (2 * LINK + MEMORY, 0)
    assert server.read(40, BASE + 128, DELAY + 1000) == {
        "cycles": FAULT + MOVE + LOOK + MEMORY,
        "stall_page": FAULT + MOVE,
        "stall_local": LOOK + MEMORY,
        "l1_misses": 1,
        "misses": 1,
        "memory_lines": 1,
        "hint_faults": 1,
        "page_migrations": 1,
    }
    near = server.read(41, BASE + 192, DELAY + 20_000)
    assert (near["cycles"], near.get("hint_faults", 0)) == (LOOK + MEMORY, 0)
    assert server.read(0, BASE + 256, DELAY + 30_000)["remote_reads"] == 1
    assert server.check() == "ok"


def test_a_page_that_is_where_it_is_used_costs_the_fault_alone(server) -> None:
    touch(server, 0, 1)
    cost = server.read(1, BASE + 64, DELAY)
    assert (cost["stall_page"], cost["hint_faults"], cost.get("page_migrations", 0)) == (FAULT, 1, 0)


def test_a_page_moves_back_only_after_two_faults_of_the_other_node(server) -> None:
    """Passes end when all pages are marked; without local or shared faults the next one takes twice as long."""
    touch(server, 0, 1)
    assert faults(server, 40, 1, DELAY + 64) == (1, 1)  # marked at 28,000; next pass 56,000 later
    assert faults(server, 0, 1, 84_064) == (1, 0)  # the last fault was in socket 1; next pass 112,000 later
    assert faults(server, 0, 1, 196_128) == (1, 1)  # two faults of the same socket in a row
    assert server.read(1, BASE + 512, 200_000).get("remote_reads", 0) == 0


def test_a_pass_marks_a_window_at_a_time(server) -> None:
    """512 pages are two windows: a pass of 28,000 cycles marks one window every 14,000 cycles."""
    touch(server, 0, 512)
    assert faults(server, 40, 512, DELAY + 64) == (256, 256)
    assert faults(server, 40, 512, DELAY + 13_900) == (0, 0)
    assert faults(server, 40, 512, DELAY + 14_000) == (256, 256)


def test_the_next_passes_come_later_when_pages_are_where_they_are_used(server) -> None:
    touch(server, 0, 10)
    assert faults(server, 0, 10, DELAY) == (10, 0)  # no faults were known when this pass ended: next pass 56,000 later
    # 10 of 10 local and private: three tenths longer, 72,800.
    assert faults(server, 0, 10, 83_968) == (0, 0)
    assert faults(server, 0, 10, 84_032) == (10, 0)
    assert faults(server, 0, 10, 84_000 + 72_768) == (0, 0)
    assert faults(server, 0, 10, 84_000 + 72_800) == (10, 0)


def test_the_next_passes_come_sooner_when_others_use_the_pages(server) -> None:
    """Half of the faults are local, all are of another processor than the page's last: two tenths sooner."""
    touch(server, 0, 10)
    assert faults(server, 0, 10, DELAY) == (10, 0)
    costs = [server.read(1 + 39 * (page % 2), BASE + page * PAGE + 2048, 84_000) for page in range(10)]
    assert sum(cost["hint_faults"] for cost in costs) == 10
    assert not any("page_migrations" in cost for cost in costs)  # their last fault was in socket 0
    next_pass = 84_000 + 72_800  # follows from the faults of the previous pass
    assert faults(server, 0, 10, next_pass - 64) == (0, 0)
    assert faults(server, 0, 10, next_pass) == (10, 0)
    # 72,800 less 7,280 x (7 - 5)
    assert faults(server, 0, 10, next_pass + 58_176) == (0, 0)
    assert faults(server, 0, 10, next_pass + 58_240) == (10, 0)


def test_prefetchers_stop_at_marked_pages(memory) -> None:
    ahead = {"prefetch.kind": "next_line", "prefetch.level": "1", "prefetch.degree": "1", "prefetch.next_page": "true"}
    server = memory("server-2x32-inorder", 64, QUICK | ahead)
    touch(server, 0, 2)
    last = BASE + PAGE - 64
    assert server.read(40, last, DELAY - 1000)["prefetches"] == 1  # the first line of the next page
    cost = server.read(41, last, DELAY + 1000)
    assert (cost["hint_faults"], cost.get("prefetches", 0)) == (1, 0)
    assert server.read(41, BASE + PAGE, DELAY + 20_000)["hint_faults"] == 1


def test_a_stream_has_one_fault_a_page_and_is_prefetched_in_between(memory) -> None:
    """All lines are there when they are used, so only prefetches leave the private caches; pages are marked still."""
    stream = {f"prefetch.{key}": value for key, value in (("kind", "stride"), ("level", "1"), ("degree", "2"))}
    stream |= {"prefetch.distance": "8", "prefetch.next_page": "true"}
    once = {"balancing.scan_period_min_ms": "1000", "balancing.scan_period_max_ms": "60000"}
    server = memory("server-2x32-inorder", 64, QUICK | once | stream)
    touch(server, 0, 4)
    costs = [server.read(40, BASE + 64 * line, 10_000 * line // 2 + 1) for line in range(1, 256)]
    assert sum(cost.get("hint_faults", 0) for cost in costs) == 4
    assert sum(cost.get("page_migrations", 0) for cost in costs) == 4
    assert sum(cost.get("misses", 0) for cost in costs) < 20
    assert (
        sum(cost.get("remote_reads", 0) for cost in costs) < 16
    )  # all before the delay, served by the other socket's cache


def test_nothing_happens_before_the_delay(memory) -> None:
    late, never = (
        memory("server-2x32-inorder", 64, QUICK | {"balancing.scan_delay_ms": delay}) for delay in ("1000", "0")
    )
    for step in range(200):
        processor, address = step * 7 % 64, BASE + step * 13 % 50 * PAGE + step % 64 * 64
        assert late.read(processor, address, 5000 * step) == never.read(processor, address, 5000 * step)


def test_a_machine_with_one_memory_has_nothing_to_balance(memory) -> None:
    bus = memory("bus-smp", 4, {"balancing.scan_delay_ms": "0.001"})
    touch(bus, 0, 2)
    assert faults(bus, 1, 2, 1_000_000) == (0, 0)
