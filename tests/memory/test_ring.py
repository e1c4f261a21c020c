"""The slotted rings of the KSR-1, to the cycle."""

import pytest

pytestmark = pytest.mark.compiler

PAGE = 16384
BASE = 0x100000
SAME_RING = 9 + 34 * 4  # interface, one revolution
OTHER_RING = 9 + 33 * 4 + 4 * 48 + 34 * 4 + 34 * 4
LOCAL = 23
# After the interface's 9 cycles, an upgrade made at this phase finds a slot before its station; so does a fetch,
# which looks into the local cache before, at phase 0. At any other it waits for the slots to move on.
UPGRADE_ON_TIME = 3


@pytest.fixture
def ksr1(memory):
    return memory("ksr1", 128)


def test_first_touch_of_a_page_costs_the_page_miss_and_the_subcache_fill(ksr1) -> None:
    assert ksr1.read(0, BASE) == {
        "cycles": 163 + 23,
        "stall_page": 163,
        "stall_local": 23,
        "l1_misses": 1,
        "page_misses": 1,
    }


def test_subcache_hit_is_free_and_the_local_cache_costs_23_cycles(ksr1) -> None:
    ksr1.read(0, BASE)
    assert ksr1.hits(0, "r", BASE + 63)
    assert ksr1.read(0, BASE + 63)["cycles"] == 0
    assert ksr1.read(0, BASE + 64) == {"cycles": 23, "stall_local": 23, "l1_misses": 1}
    assert ksr1.read(0, BASE + 128) == {"cycles": 23, "stall_local": 23, "l1_misses": 1}


@pytest.mark.parametrize("reader", [1, 17, 31])
@pytest.mark.parametrize("phase", [0, 1, 2, 3])
def test_same_ring_read_is_one_revolution_from_anywhere(ksr1, reader, phase) -> None:
    ksr1.read(0, BASE)
    alignment = -phase % 4
    cost = ksr1.read(reader, BASE, 1000 + phase)
    assert cost == {
        "cycles": LOCAL + SAME_RING + alignment,
        "stall_local": LOCAL,
        "stall_remote_read": SAME_RING + alignment,
        "l1_misses": 1,
        "misses": 1,
        "remote_reads": 1,
    }
    assert 140 <= cost["stall_remote_read"] <= 150


@pytest.mark.parametrize("reader", [32, 63, 100])
def test_other_ring_read_costs_about_600_cycles_from_anywhere(ksr1, reader) -> None:
    ksr1.read(0, BASE)
    cost = ksr1.read(reader, BASE, 1000)
    assert cost["stall_remote_read"] == OTHER_RING
    assert "stall_contention" not in cost
    assert 580 <= OTHER_RING <= 620


def test_a_copy_on_the_own_ring_answers_instead_of_the_owner_on_another(ksr1) -> None:
    ksr1.read(0, BASE)
    assert ksr1.read(40, BASE, 1000)["stall_remote_read"] == OTHER_RING
    assert ksr1.read(41, BASE, 3000)["stall_remote_read"] == SAME_RING


@pytest.mark.slow
def test_upgrade_is_one_revolution_that_invalidates_all_copies_of_the_ring(ksr1) -> None:
    for processor in range(6):
        ksr1.read(processor, BASE, 1000 * processor)
    assert ksr1.write(3, BASE, 10_000 + UPGRADE_ON_TIME) == {
        "cycles": SAME_RING,
        "stall_upgrade": SAME_RING,
        "misses": 1,
        "upgrades": 1,
        "invalidations": 5,
    }
    assert ksr1.hits(3, "w", BASE)
    assert not any(ksr1.hits(processor, "r", BASE) for processor in (0, 1, 2, 4, 5))
    assert ksr1.check() == "ok"


@pytest.mark.parametrize("sharers", [1, 2, 8, 31])
def test_one_revolution_invalidates_any_number_of_copies(ksr1, sharers) -> None:
    for processor in range(sharers + 1):
        ksr1.read(processor, BASE, 1000 * processor)
    cost = ksr1.write(0, BASE, 100_000 + UPGRADE_ON_TIME)
    assert (cost["stall_upgrade"], cost["invalidations"]) == (SAME_RING, sharers)


def test_upgrade_with_copies_on_another_ring_crosses_the_upper_ring(ksr1) -> None:
    ksr1.read(0, BASE)
    ksr1.read(40, BASE, 1000)
    cost = ksr1.write(0, BASE, 3000 + UPGRADE_ON_TIME)
    assert cost["stall_upgrade"] == OTHER_RING
    assert cost["invalidations"] == 1


def test_write_miss_fetches_and_invalidates_in_one_revolution(ksr1) -> None:
    ksr1.read(0, BASE)
    ksr1.read(1, BASE, 1000)
    cost = ksr1.write(2, BASE, 2000)
    assert cost["stall_remote_write"] == SAME_RING
    assert (cost["remote_writes"], cost["invalidations"]) == (1, 2)


def test_the_first_write_of_an_owned_subpage_is_silent(ksr1) -> None:
    ksr1.read(0, BASE)
    assert not ksr1.hits(0, "w", BASE)
    assert ksr1.write(0, BASE)["cycles"] == 0
    assert ksr1.hits(0, "w", BASE)


def test_read_modify_write_is_a_write(ksr1) -> None:
    ksr1.read(0, BASE)
    cost = ksr1.access(1, "x", BASE, 1000)
    assert (cost["remote_writes"], cost["invalidations"]) == (1, 1)


def test_every_station_finds_a_slot_of_its_own_when_all_ask_at_once(ksr1) -> None:
    for processor in range(32):
        ksr1.read(processor, BASE + processor * PAGE)
    for processor in range(32):
        other = (processor + 1) % 32
        cost = ksr1.read(processor, BASE + other * PAGE, 1000)
        assert cost["stall_remote_read"] == SAME_RING
        assert "stall_contention" not in cost


def test_34_requests_fill_the_slots_of_a_ring_and_the_next_waits_a_revolution(memory) -> None:
    ring = memory("ksr1", 32, {"network.holder_cycles": "0"})
    for line in range(40):
        ring.read(1, BASE + line * PAGE)
    now = 1000
    waits = [ring.read(0, BASE + line * PAGE, now).get("stall_contention", 0) for line in range(35)]
    # Slots pass processor 0's station one hop apart; after 34 of them the first slot is back, empty.
    assert waits == [hop * 4 for hop in range(34)] + [34 * 4]


def test_a_cell_that_supplies_many_is_a_hot_spot(ksr1) -> None:
    for line in range(3):
        ksr1.read(0, BASE + line * PAGE)
    # The packets of 1, 2 and 3 pass cell 0 four cycles apart, the last one first; cell 0 is busy 23 cycles for each.
    waits = [ksr1.read(1 + line, BASE + line * PAGE, 1000).get("stall_contention", 0) for line in reversed(range(3))]
    assert waits == [0, 19, 38]


def test_one_change_of_owner_at_a_time(ksr1) -> None:
    ksr1.write(0, BASE)
    costs = [ksr1.access(processor, "x", BASE, 1000) for processor in (1, 2, 3)]
    assert [cost.get("stall_contention", 0) for cost in costs] == [0, 136, 272]


def test_a_subpage_pushed_out_of_its_last_cache_stays_on_the_ring(memory) -> None:
    ring = memory("ksr1", 2, {"cache.local.size_kib": "64", "cache.subcache.size_kib": "8"})
    stride = 64 * 1024 // 16  # one set of the local cache
    for line in range(17):
        cost = ring.write(0, BASE + line * stride, 1000 * line)
    assert cost["writebacks"] == 1
    cost = ring.read(0, BASE, 100_000)
    assert cost["stall_remote_read"] == SAME_RING
    assert cost["remote_reads"] == 1
    assert ring.check() == "ok"


def test_a_subpage_that_nobody_holds_comes_from_its_home_on_another_ring(memory) -> None:
    rings = memory("ksr1", 64, {"cache.local.size_kib": "64", "cache.subcache.size_kib": "8"})
    for line in range(17):
        rings.write(0, BASE + line * 64 * 1024 // 16, 1000 * line)
    cost = rings.read(40, BASE, 100_000)
    assert cost["stall_remote_read"] == OTHER_RING
    assert rings.check() == "ok"


def test_subpages_of_a_page_live_with_the_processor_that_touched_the_page(ksr1) -> None:
    ksr1.read(5, BASE)
    cost = ksr1.write(6, BASE + 1024, 1000)
    assert cost["stall_remote_write"] == SAME_RING
    assert cost["invalidations"] == 1
    assert "page_misses" not in cost
    assert ksr1.read(5, BASE + 1024, 2000)["stall_remote_read"] == SAME_RING
