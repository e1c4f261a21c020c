"""The multistage network of Cerberus, to the cycle."""

import pytest

pytestmark = pytest.mark.compiler

BASE = 0x100000
LINE = 128
ONE_WAY = 3  # stages of one cycle
SHORT, LONG = 1, 17  # flits of a message without and with a line
MEMORY, DIRECTORY, SNOOP = 8, 2, 2
READ = ONE_WAY + SHORT + MEMORY + ONE_WAY + LONG
TO_CACHE_AND_BACK = ONE_WAY + SHORT + SNOOP + ONE_WAY


@pytest.fixture
def cerberus(memory):
    return memory("cerberus", 64)


def test_unloaded_read_crosses_the_network_twice(cerberus) -> None:
    assert cerberus.read(0, BASE) == {
        "cycles": READ,
        "stall_remote_read": READ,
        "l1_misses": 1,
        "misses": 1,
        "remote_reads": 1,
        "page_misses": 1,
        "memory_lines": 1,
    }
    assert cerberus.read(0, BASE)["cycles"] == 0


@pytest.mark.parametrize(("processors", "stages"), [(8, 3), (64, 3), (65, 4), (256, 4), (1024, 5)])
def test_stages_grow_with_the_machine(memory, processors, stages) -> None:
    cost = memory("cerberus", processors).read(0, BASE)
    assert cost["stall_remote_read"] == 2 * stages + SHORT + MEMORY + LONG


def test_a_dirty_line_comes_from_its_owner_through_home(cerberus) -> None:
    cerberus.write(0, BASE)
    cost = cerberus.read(1, BASE, 1000)
    expected = ONE_WAY + SHORT + DIRECTORY + TO_CACHE_AND_BACK + LONG + MEMORY + ONE_WAY + LONG
    assert cost["stall_remote_read"] == expected
    assert cost["writebacks"] == 1
    assert cerberus.read(2, BASE, 2000)["stall_remote_read"] == READ


def test_a_read_copy_is_not_writable(cerberus) -> None:
    cerberus.read(0, BASE)
    upgrade = ONE_WAY + SHORT + DIRECTORY + ONE_WAY + SHORT
    assert cerberus.write(0, BASE, 1000) == {"cycles": upgrade, "stall_upgrade": upgrade, "misses": 1, "upgrades": 1}


@pytest.mark.parametrize("sharers", [1, 2, 5, 8, 31, 40])
def test_invalidation_of_k_sharers_sends_k_messages_through_the_port_of_home(memory, sharers) -> None:
    cerberus = memory("cerberus", 64)
    for processor in range(sharers + 1):
        cerberus.read(processor, BASE, 1000 * processor)
    cost = cerberus.write(0, BASE, 100_000)
    unloaded = ONE_WAY + SHORT + DIRECTORY + TO_CACHE_AND_BACK + SHORT + ONE_WAY + SHORT
    assert cost["stall_upgrade"] == unloaded
    # The last invalidation leaves sharers - 1 flits after the first; there is no other traffic.
    assert cost.get("stall_contention", 0) == sharers - 1
    assert cost["invalidations"] == sharers
    assert cerberus.check() == "ok"


def test_a_module_serves_one_at_a_time(memory) -> None:
    # One flit per line makes the module the bottleneck; processors 0, 4, 8, 12 meet at the last switch.
    cerberus = memory("cerberus", 64, {"network.flit_bytes": "256"})
    waits = [
        cerberus.read(processor, BASE + 64 * LINE * processor, 0).get("stall_contention", 0)
        for processor in range(0, 16, 4)
    ]
    assert waits == [0, MEMORY, 2 * MEMORY, 3 * MEMORY]


def test_a_hot_spot_queues_for_its_reply_port_and_other_modules_do_not(cerberus) -> None:
    waits = [
        cerberus.read(processor, BASE + 64 * LINE * processor, 0).get("stall_contention", 0) for processor in range(32)
    ]
    # The replies leave the module's port 17 flits apart.
    assert waits == [LONG * position for position in range(32)]
    assert "stall_contention" not in cerberus.read(40, BASE + LINE * 21, 0)


def test_paths_that_share_no_link_do_not_disturb_each_other(cerberus) -> None:
    costs = [cerberus.read(processor, BASE + LINE * processor, 0) for processor in range(64)]
    assert all("stall_contention" not in cost for cost in costs)


def test_requests_for_a_line_wait_at_home_while_its_owner_changes(cerberus) -> None:
    cerberus.write(0, BASE)
    first, second = (cerberus.write(processor, BASE, 1000) for processor in (1, 2))
    assert "stall_contention" not in first
    assert second["stall_contention"] > TO_CACHE_AND_BACK


def test_a_dirty_victim_occupies_its_module_but_nobody_waits_for_the_write_back(memory) -> None:
    cerberus = memory("cerberus", 64, {"network.flit_bytes": "256"})
    stride = 16 * 1024  # one set of the 4-way cache of 64 KiB
    for line in range(4):
        cerberus.write(0, BASE + line * stride, 1000 * line)
    cost = cerberus.write(0, BASE + 4 * stride, 10_000)
    assert cost["cycles"] == ONE_WAY + SHORT + MEMORY + ONE_WAY + SHORT
    assert cost["writebacks"] == 1


def test_an_owner_that_keeps_its_dirty_line_sends_it_through_home_but_not_into_memory(memory) -> None:
    cerberus = memory("cerberus", 64, {"coherence.owned_state": "true"})
    cerberus.write(0, BASE)
    for processor in (1, 2):
        cost = cerberus.read(processor, BASE, 1000 * processor)
        expected = ONE_WAY + SHORT + DIRECTORY + TO_CACHE_AND_BACK + LONG + DIRECTORY + ONE_WAY + LONG
        assert cost["stall_remote_read"] == expected
        assert "writebacks" not in cost
    assert cerberus.write(0, BASE, 5000)["invalidations"] == 2


@pytest.mark.parametrize("sharers", [2, 3, 9])
def test_a_directory_that_lost_track_tells_all_processors(memory, sharers) -> None:
    limited = {"coherence.kind": "limited_broadcast", "coherence.pointers": "2"}
    cerberus = memory("cerberus", 64, limited)
    for processor in range(sharers):
        cerberus.read(processor, BASE, 1000 * processor)
    cost = cerberus.write(0, BASE, 100_000)
    # Messages leave the module's port one by one: to the other holders of a copy, or to all other processors.
    told = 63 if sharers > 2 else sharers - 1
    assert cost.get("stall_contention", 0) == told - 1
    assert cost["invalidations"] == sharers - 1


def on_circuits(memory, retry: int = 5, **more: str):
    """Return Cerberus with circuit switching; refused requests try again after *retry* cycles."""
    return memory("cerberus", 64, {"network.switching": "circuit", "network.retry_cycles": str(retry), **more})


def test_an_unloaded_circuit_takes_as_long_as_messages(memory) -> None:
    circuits = on_circuits(memory)
    assert circuits.read(0, BASE)["stall_remote_read"] == READ
    circuits.write(0, BASE + LINE, 1000)
    cost = circuits.read(1, BASE + LINE, 2000)
    assert cost["stall_remote_read"] == ONE_WAY + SHORT + DIRECTORY + TO_CACHE_AND_BACK + LONG + MEMORY + ONE_WAY + LONG
    assert "stall_contention" not in cost


def test_a_circuit_keeps_its_module_until_the_reply_is_back_and_others_try_again(memory) -> None:
    circuits = on_circuits(memory)
    waits = [
        circuits.read(processor, BASE + 64 * LINE * processor, 0).get("stall_contention", 0) for processor in range(3)
    ]
    # A circuit lasts READ = 32 cycles: 0 to 32, then from the next try at 35 to 67, then from 70 on.
    assert READ == 32
    assert waits == [0, 35, 70]


def test_a_path_that_shares_one_switch_port_waits_for_the_whole_circuit(memory) -> None:
    # After the first stage processors 0 and 16 are on the same line when they go to modules 0 and 1.
    for switching, wait in (("packet", SHORT), ("circuit", 35)):
        cerberus = memory("cerberus", 64, {"network.switching": switching, "network.retry_cycles": "5"})
        home = BASE // LINE % 64
        assert home == 0
        assert "stall_contention" not in cerberus.read(0, BASE, 0)
        assert cerberus.read(16, BASE + LINE, 0)["stall_contention"] == wait
        assert "stall_contention" not in cerberus.read(1, BASE + 17 * LINE, 0)


@pytest.mark.parametrize("sharers", [1, 2, 5, 31])
def test_home_asks_one_sharer_after_the_other(memory, sharers) -> None:
    circuits = on_circuits(memory)
    for processor in range(sharers + 1):
        circuits.read(processor, BASE, 1000 * processor)
    cost = circuits.write(0, BASE, 100_000)
    question = TO_CACHE_AND_BACK + SHORT
    assert cost["cycles"] == ONE_WAY + SHORT + DIRECTORY + sharers * question + ONE_WAY + SHORT
    assert "stall_contention" not in cost
    assert circuits.check() == "ok"


def test_a_long_circuit_meets_no_later_one(memory) -> None:
    """An invalidation that holds its path for long does not fit into a shorter gap."""
    circuits = on_circuits(memory, retry=1)
    for processor in range(20):
        circuits.read(processor, BASE, 1000 * processor)
    other = BASE + 64 * LINE
    assert "stall_contention" not in circuits.read(40, other, 100_040)
    cost = circuits.write(0, BASE, 100_000)
    length = 2 * ONE_WAY + SHORT + DIRECTORY + 19 * (TO_CACHE_AND_BACK + SHORT) + SHORT
    # The gap before the other circuit is 40 cycles; this circuit needs more, so it begins after the other has ended.
    assert length > 40
    assert cost["stall_contention"] == 40 + READ
