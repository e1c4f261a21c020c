"""The bus-based multiprocessor, to the cycle."""

import pytest

from tests.memory.driving import network

pytestmark = pytest.mark.compiler

BASE = 0x100000
LINE, PAGE, LOOK = 128, 4096, 11
N = network("bus-smp")
SENT = N["arbitration_millicycles"] + N["address_millicycles"]
MEMORY = SENT + max(N["snoop_millicycles"], N["memory_millicycles"]) + N["data_millicycles"]
UPGRADE = SENT + N["snoop_millicycles"]
DIRTY = UPGRADE + N["supply_millicycles"] + N["data_millicycles"]


def whole(millicycles: int) -> int:
    return -(-millicycles // 1000)


@pytest.fixture
def bus(memory):
    return memory("bus-smp", 36)


def settle(memory, pages: int) -> None:
    """Touch the last line of each page, so that later accesses are not first touches."""
    for page in range(pages):
        memory.read(35, BASE + page * PAGE + PAGE - LINE, 0)


def test_the_bus_is_that_of_the_machine_file() -> None:
    cycle = 150 / 47.6  # processor cycles per bus cycle
    assert N["address_millicycles"] == round(5000 * cycle)
    assert N["data_millicycles"] == round(5000 * cycle)  # bus cycles: four for the line, one for the rest
    assert 900 <= (LOOK + whole(MEMORY)) / 0.150 <= 1050  # nanoseconds


@pytest.mark.slow
def test_cold_miss_and_hits(bus) -> None:
    settle(bus, 1)
    cost = LOOK + whole(MEMORY)
    assert bus.read(0, BASE, 100_000) == {
        "cycles": cost,
        "stall_local": LOOK,
        "stall_remote_read": cost - LOOK,
        "l1_misses": 1,
        "misses": 1,
        "remote_reads": 1,
        "memory_lines": 1,
    }
    assert bus.read(0, BASE + 31, 200_000)["cycles"] == 0
    assert bus.read(0, BASE + 32, 200_000) == {"cycles": LOOK, "stall_local": LOOK, "l1_misses": 1}


@pytest.mark.parametrize("sharers", [1, 2, 8, 31])
def test_an_upgrade_costs_the_same_for_any_number_of_copies(bus, sharers) -> None:
    for processor in range(sharers + 1):
        bus.read(processor, BASE, 10_000 * processor)
    cost = whole(UPGRADE)
    assert bus.write(0, BASE, 1_000_000) == {
        "cycles": cost,
        "stall_upgrade": cost,
        "misses": 1,
        "upgrades": 1,
        "invalidations": sharers,
    }
    assert bus.check() == "ok"


def test_the_dirty_copy_answers_and_memory_takes_it(bus) -> None:
    settle(bus, 1)
    bus.write(0, BASE, 100_000)
    cost = bus.read(1, BASE, 200_000)
    assert (cost["stall_remote_read"], cost["writebacks"]) == (whole(DIRTY), 1)
    assert bus.read(2, BASE, 300_000)["stall_remote_read"] == whole(MEMORY)


def test_with_moesi_the_owner_answers_every_time_and_memory_takes_nothing(memory) -> None:
    bus = memory("bus-smp", 36, {"coherence.owned_state": "true"})
    settle(bus, 1)
    bus.write(0, BASE, 100_000)
    module = f"memory {BASE // LINE % N['modules']}"
    before = bus.usage()[module]
    for processor in (1, 2, 3):
        cost = bus.read(processor, BASE, 100_000 + 100_000 * processor)
        assert cost["stall_remote_read"] == whole(DIRTY)
        assert "writebacks" not in cost
    assert bus.usage()[module] == before
    assert bus.write(0, BASE, 900_000)["invalidations"] == 3
    assert bus.check() == "ok"


def test_addresses_go_over_the_bus_one_after_the_other(bus) -> None:
    settle(bus, 1)
    costs = [bus.read(processor, BASE + LINE * processor, 100_000) for processor in range(N["modules"])]
    waits = [cost.get("stall_contention", 0) for cost in costs]
    assert waits == [processor * N["address_millicycles"] // 1000 for processor in range(N["modules"])]
    transactions, busy, waiting = bus.usage()["address bus"]
    assert transactions == N["modules"] + 1
    assert busy == transactions * N["address_millicycles"] // 1000
    assert waiting == sum(range(N["modules"])) * N["address_millicycles"] // 1000


def test_a_module_serves_one_line_at_a_time(bus) -> None:
    settle(bus, 3)
    stride = LINE * N["modules"]
    costs = [bus.read(processor, BASE + stride * processor, 100_000) for processor in range(8)]
    waits = [cost.get("stall_contention", 0) for cost in costs]
    assert N["memory_busy_millicycles"] > N["address_millicycles"]
    assert waits == [processor * N["memory_busy_millicycles"] // 1000 for processor in range(8)]


def test_an_atomic_bus_is_kept_until_the_data_are_over(memory) -> None:
    bus = memory("bus-smp", 36, {"network.split": "false"})
    settle(bus, 1)
    kept = MEMORY - N["arbitration_millicycles"]
    costs = [bus.read(processor, BASE + LINE * processor, 100_000) for processor in range(5)]
    assert [cost.get("stall_contention", 0) for cost in costs] == [processor * kept // 1000 for processor in range(5)]
    assert [cost["cycles"] - LOOK for cost in costs] == [whole(MEMORY + processor * kept) for processor in range(5)]


def test_a_write_back_occupies_the_bus_but_nobody_waits_for_it(bus) -> None:
    settle(bus, 1)
    bus.write(0, BASE, 100_000)
    bus.read(1, BASE + 2 * LINE, 150_000)
    before = bus.usage()["data bus"][0]
    cost = bus.read(0, BASE + 1024 * 1024, 200_000)  # the same set of the direct-mapped secondary cache
    assert cost["writebacks"] == 1
    assert cost["cycles"] == 3000 + LOOK + whole(MEMORY)
    assert bus.usage()["data bus"][0] == before + 2
