"""The mesh of the many-core processor, to the cycle."""

import pytest

from tests.memory.driving import network

pytestmark = pytest.mark.compiler

BASE = 0x100000
LINE, PAGE, LOOK = 64, 4096, 9
N = network("mesh-manycore")
WIDTH, HEIGHT, TILES = N["width"], N["height"], N["width"] * N["height"]
HOP = N["router_cycles"] + N["link_cycles"]
SHORT = -(-N["header_bytes"] // N["flit_bytes"])
LONG = -(-(N["header_bytes"] + LINE) // N["flit_bytes"])
FULL = {"coherence.kind": "full_map"}


def steps(a: int, b: int) -> int:
    return abs(a % WIDTH - b % WIDTH) + abs(a // WIDTH - b // WIDTH)


def message(a: int, b: int, flits: int) -> int:
    return steps(a, b) * HOP + flits if a != b else 0


def controller(number: int) -> int:
    """Return the tile of a memory controller: even ones west, odd ones east, evenly spread over the rows."""
    side = (N["controllers"] + 1 - number % 2) // 2
    row = (2 * (number // 2) + 1) * HEIGHT // (2 * side)
    return row * WIDTH + (WIDTH - 1 if number % 2 else 0)


def home(address: int) -> int:
    return address // LINE % TILES


def from_memory(reader: int, address: int) -> int:
    memory = controller(address // PAGE % N["controllers"])
    asked = message(reader, home(address), SHORT) + N["directory_cycles"]
    return asked + message(home(address), memory, SHORT) + N["memory_cycles"] + message(memory, reader, LONG)


def from_owner(reader: int, owner: int, address: int) -> int:
    asked = message(reader, home(address), SHORT) + N["directory_cycles"]
    return asked + message(home(address), owner, SHORT) + N["snoop_cycles"] + message(owner, reader, LONG)


@pytest.fixture
def mesh(memory):
    return memory("mesh-manycore", 256, FULL)


def settle(memory, pages: int) -> None:
    for page in range(pages):
        memory.read(77, BASE + page * PAGE + PAGE - LINE, 0)


def test_controllers_stand_at_both_edges() -> None:
    assert [controller(number) for number in range(8)] == [32, 47, 96, 111, 160, 175, 224, 239]


@pytest.mark.parametrize("reader", [0, 15, 100, 240, 255])
@pytest.mark.parametrize("line", [0, 1, 17, 30])
def test_a_cold_miss_pays_for_every_hop(mesh, reader, line) -> None:
    settle(mesh, 1)
    address = BASE + line * LINE
    cost = mesh.read(reader, address, 10_000)
    assert cost["cycles"] == LOOK + from_memory(reader, address)
    assert "stall_contention" not in cost
    assert mesh.read(reader, address, 20_000)["cycles"] == 0


def test_the_second_level_costs_its_look(mesh) -> None:
    settle(mesh, 3)
    for line in range(5):  # one set of the four-way first level
        mesh.read(9, BASE + line * 2048 * 4, 50_000 + 10_000 * line)
    assert mesh.read(9, BASE, 300_000) == {"cycles": LOOK, "stall_local": LOOK, "l1_misses": 1}


def test_messages_go_along_the_row_first(mesh) -> None:
    settle(mesh, 1)
    before = mesh.usage()
    address = BASE + 34 * LINE  # its directory entry is in tile 34: row 2, column 2
    mesh.read(0, address, 10_000)
    after = mesh.usage()
    used = {name for name in after if name.startswith("link") and after[name] != before.get(name)}
    memory = controller(BASE // PAGE % N["controllers"])
    assert memory == 32
    # Request: 0-1-2, then down to 34; on by 33 to the controller at 32; the line returns north from 32 to 0.
    assert used == {
        "link 0>1",
        "link 1>2",
        "link 2>18",
        "link 18>34",
        "link 34>33",
        "link 33>32",
        "link 32>16",
        "link 16>0",
    }


@pytest.mark.parametrize("sharers", [1, 2, 8, 31])
def test_invalidations_leave_the_directory_one_after_the_other(memory, sharers) -> None:
    mesh = memory("mesh-manycore", 256, FULL)
    address = BASE  # its directory entry is in tile 0, the writing processor's own
    assert home(address) == 0
    for processor in range(sharers + 1):
        mesh.read(processor, address, 10_000 * processor)
    cost = mesh.write(0, address, 1_000_000)
    # Tile q's invalidation leaves q - 1 messages after the first; it answers processor 0. No two meet on a link.
    ends = [(q - 1) * SHORT + 2 * message(0, q, SHORT) + N["snoop_cycles"] for q in range(1, sharers + 1)]
    assert cost["cycles"] == N["directory_cycles"] + max(ends)
    assert cost["invalidations"] == sharers
    assert mesh.check() == "ok"


def test_an_upgrade_without_other_copies_asks_the_directory(memory) -> None:
    mesh = memory("mesh-manycore", 256, FULL | {"coherence.exclusive_state": "false"})
    mesh.read(5, BASE, 0)
    cost = mesh.write(5, BASE, 10_000)
    assert cost["stall_upgrade"] == message(5, 0, SHORT) + N["directory_cycles"] + message(0, 5, SHORT)


@pytest.mark.parametrize("owned", [True, False])
def test_owner_supply(memory, owned) -> None:
    mesh = memory("mesh-manycore", 256, FULL | {"coherence.owned_state": str(owned).lower()})
    settle(mesh, 1)
    mesh.write(40, BASE, 10_000)
    bank = f"memory {BASE // PAGE % N['controllers']}"
    reads = mesh.usage()[bank][0]
    cost = mesh.read(200, BASE, 20_000)
    assert cost["stall_remote_read"] == from_owner(200, 40, BASE)
    assert cost.get("writebacks", 0) == (0 if owned else 1)
    assert mesh.usage()[bank][0] == reads + (0 if owned else 1)
    again = from_owner(201, 40, BASE) if owned else from_memory(201, BASE)
    assert mesh.read(201, BASE, 30_000)["stall_remote_read"] == again
    assert mesh.check() == "ok"


def test_a_dirty_owner_that_gives_its_line_up_writes_it_back(memory) -> None:
    mesh = memory("mesh-manycore", 256, FULL | {"cache.l1.size_kib": "1", "cache.l2.size_kib": "4"})
    mesh.write(40, BASE, 0)
    mesh.read(41, BASE, 10_000)  # processor 40 owns a dirty line of which two have a copy
    written = [mesh.read(40, BASE + 512 * way, 20_000 + 1000 * way).get("writebacks", 0) for way in range(1, 9)]
    assert sum(written) == 1
    assert mesh.read(42, BASE, 50_000)["stall_remote_read"] == from_memory(42, BASE)
    assert mesh.check() == "ok"


LINE_OF_TILES = {"network.width": "16", "network.height": "1", "network.controllers": "1", "processor.count": "16"}


def test_a_directory_that_lost_track_tells_everybody(memory) -> None:
    mesh = memory("mesh-manycore", 16, LINE_OF_TILES | {"coherence.pointers": "2"})
    address = BASE
    for processor in range(4):  # one more copy than the writer's and those of two pointers
        mesh.read(processor, address, 10_000 * processor)
    cost = mesh.write(0, address, 1_000_000)
    ends = [(q - 1) * SHORT + 2 * message(0, q, SHORT) + N["snoop_cycles"] for q in range(1, 16)]
    assert cost["cycles"] == N["directory_cycles"] + max(ends)
    assert cost["invalidations"] == 3  # copies that were there
    assert mesh.usage()["port 0"][0] >= 15
    # Now the directory knows the only copy again: one reader, one message.
    mesh.read(1, address, 1_100_000)
    assert mesh.write(0, address, 1_200_000)["invalidations"] == 1
    assert mesh.check() == "ok"


def test_a_directory_without_broadcast_makes_a_holder_drop_its_copy(memory) -> None:
    limited = {"coherence.kind": "limited_no_broadcast", "coherence.pointers": "2"}
    mesh = memory("mesh-manycore", 16, LINE_OF_TILES | limited)
    for processor in (1, 2):
        mesh.read(processor, BASE, 10_000 * processor)
    cost = mesh.read(5, BASE, 100_000)  # the next holder after 5, wrapping around, is 1
    assert cost["invalidations"] == 1
    asked = message(5, 0, SHORT) + N["directory_cycles"]
    # The message to tile 1 and its answer to tile 5; meanwhile the line comes from memory, also at tile 0.
    told = message(0, 1, SHORT) + N["snoop_cycles"] + message(1, 5, SHORT)
    line = N["memory_cycles"] + message(0, 5, LONG)
    assert cost["cycles"] == LOOK + asked + max(told, line)
    assert not mesh.hits(1, "r", BASE)
    assert mesh.hits(2, "r", BASE)
    assert mesh.check() == "ok"


def test_a_hot_bank_serves_one_line_at_a_time(memory) -> None:
    mesh = memory("mesh-manycore", 16, LINE_OF_TILES | {"network.banks": "1"})
    mesh.read(0, BASE, 0)
    # Directory, controller and reader are all in tile 0: nothing goes over the mesh.
    costs = [mesh.read(0, BASE + 16 * LINE * line, 10_000) for line in range(1, 4)]
    alone = LOOK + N["directory_cycles"] + N["memory_cycles"]
    assert N["bank_busy_cycles"] > N["directory_cycles"]
    assert [cost["cycles"] for cost in costs] == [alone + N["bank_busy_cycles"] * line for line in range(3)]
    assert [cost["stall_local"] for cost in costs] == [alone] * 3
    assert mesh.usage()["memory 0"] == (
        4,
        4 * N["bank_busy_cycles"],
        sum((N["bank_busy_cycles"] - N["directory_cycles"]) * line for line in range(3)),
    )
