"""Servers of four and eight sockets: hops, links, banks and where pages live."""

import pytest

from tests.memory.driving import network

pytestmark = pytest.mark.compiler

BASE = 0x100000
LOOK = 10 + 60
N = network("server-8s")
EACH = N["socket_processors"]


def hops(topology: str, a: int, b: int, sockets: int) -> int:
    if topology == "hypercube":
        return (a ^ b).bit_count()
    around = (b - a) % sockets
    return min(around, sockets - around) if topology == "ring" else int(a != b)


@pytest.mark.parametrize("topology", ["full", "ring", "hypercube"])
@pytest.mark.parametrize(("reader", "home"), [(0, 0), (0, 1), (0, 5), (3, 4), (0, 7), (6, 1)])
def test_remote_memory_costs_a_link_each_way_and_hop(memory, topology, reader, home) -> None:
    server = memory("server-8s", 256, {"network.topology": topology})
    server.read(home * EACH, BASE, 0)
    cost = server.read(reader * EACH + 1, BASE + 64, 10_000)
    way = hops(topology, reader, home, 8) * N["link_cycles"]
    assert cost["cycles"] == LOOK + 2 * way + N["memory_cycles"]


@pytest.mark.parametrize("sharers", [1, 2, 8, 31])
def test_copies_within_a_socket_go_at_once(memory, sharers) -> None:
    server = memory("server-4s", 128)
    for processor in range(sharers + 1):
        server.read(processor, BASE, 10_000 * processor)
    cost = server.write(0, BASE, 1_000_000)
    assert (cost["stall_upgrade"], cost["invalidations"]) == (N["snoop_cycles"], sharers)


def test_the_farthest_socket_decides(memory) -> None:
    server = memory("server-8s", 256)
    for socket in (0, 1, 3, 7):
        server.read(socket * EACH, BASE, 10_000 * socket)
    cost = server.write(0, BASE, 1_000_000)
    assert cost["stall_upgrade"] == 2 * 3 * N["link_cycles"] + N["snoop_cycles"]


def test_a_line_passes_every_link_between(memory) -> None:
    server = memory("server-8s", 256)
    server.read(7 * EACH, BASE, 0)
    server.read(0, BASE + 64, 10_000)
    # The lowest differing digit first, there and back.
    assert {name for name in server.usage() if name.startswith("link")} == {
        "link 0>1",
        "link 1>3",
        "link 3>7",
        "link 7>6",
        "link 6>4",
        "link 4>0",
    }


def test_a_bank_serves_one_line_at_a_time(memory) -> None:
    banks = {"network.bank_busy_ns": "45", "network.channel_gb_s": "10000"}
    server = memory("server-4s", 128, banks)
    busy = network("server-4s", banks)["bank_millicycles"] // 1000
    assert busy == 126
    stride = 64 * N["channels"] * N["banks"]  # lines of one bank of one channel
    for line in range(6):
        server.read(0, BASE + line * stride + 64, 10_000 * line)
    waits = [
        server.read(core, BASE + line * stride, 500_000).get("stall_contention", 0)
        for line, core in enumerate(range(1, 6))
    ]
    assert waits == [busy * position for position in range(5)]
    assert server.usage()["banks 0.0"][2] == sum(waits)


def node_of(memory, page: int, page_bytes: int = 4096) -> int:
    """Return the socket on which a page lives: the one whose processor reaches it fastest."""
    address = BASE + page * page_bytes
    memory.read(0, address, 100_000 * (page + 1))
    for socket in range(4):
        if "remote_reads" not in memory.read(socket * EACH + 5, address + 64 * (socket + 1), 10**7 * (page + 1)):
            return socket
    raise AssertionError


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        ({"placement": "first_touch"}, [0] * 8),
        ({"placement": "interleave"}, [0, 1, 2, 3, 0, 1, 2, 3]),
        ({"placement": "block", "block_pages": "2"}, [0, 0, 1, 1, 2, 2, 3, 3]),
        ({"placement": "node", "node": "2"}, [2] * 8),
    ],
)
def test_pages_live_where_the_machine_says(memory, placement, expected) -> None:
    server = memory("server-4s", 128, {f"memory.{key}": value for key, value in placement.items()})
    assert [node_of(server, page) for page in range(8)] == expected
