"""Machines of several nodes: each node has its own memory, which other nodes cannot access."""

from __future__ import annotations

from tests.memory.conftest import MakeMemory

FOUR = {"nodes.processors": "4", "network.memory_ns": "500", "network.memory_busy_ns": "200"}
FOUR |= {"network.transfer_ns": "250", "network.snoop_ns": "100"}  # 10, 4, 5 and 2 cycles of 50 ns
LINE = 0x1000000


def test_a_miss_costs_the_memory_of_the_own_node_and_nothing_is_remote(memory: MakeMemory) -> None:
    mem = memory("ncube2", 16, FOUR)
    assert mem.read(0, LINE) == {
        "cycles": 10,
        "stall_local": 10,
        "l1_misses": 1,
        "misses": 1,
        "page_misses": 1,
        "memory_lines": 1,
    }
    assert mem.read(0, LINE) == {"cycles": 0}
    assert mem.check() == "ok"


def test_the_same_address_is_other_memory_on_another_node(memory: MakeMemory) -> None:
    mem = memory("ncube2", 16, FOUR)
    for node in range(4):
        found = mem.write(4 * node, LINE, 100 * node)
        assert "invalidations" not in found
        assert found["cycles"] == 10
    assert all(mem.hits(4 * node, "w", LINE) for node in range(4))
    assert mem.check() == "ok"


def test_within_a_node_caches_agree(memory: MakeMemory) -> None:
    mem = memory("ncube2", 16, FOUR)
    mem.write(5, LINE)
    assert mem.read(6, LINE, 100)["cycles"] == 5  # from the cache of its neighbour
    assert mem.write(7, LINE, 200)["invalidations"] == 2
    assert not mem.hits(5, "r", LINE)
    assert mem.check() == "ok"


def test_a_module_is_busy_with_a_line(memory: MakeMemory) -> None:
    mem = memory("ncube2", 16, FOUR)
    mem.read(0, LINE)
    second = mem.read(1, LINE + 64, 1)
    assert (second["cycles"], second["stall_contention"]) == (13, 3)  # busy until 4
    assert mem.read(4, LINE + 64, 1)["cycles"] == 10  # the module of another node
    assert mem.usage()["node 0 memory 0"] == (2, 8, 3)
    assert mem.usage()["node 1 memory 0"] == (1, 4, 0)


def test_a_run_that_ends_within_a_node_uses_it_alone(memory: MakeMemory) -> None:
    mem = memory("ncube2", 6, FOUR)
    mem.read(5, LINE)
    assert set(mem.usage()) == {"node 1 memory 0"}
    assert memory("ncube2", 3, FOUR).check() == "ok"
