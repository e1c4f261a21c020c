"""Every topology: the time of a single message, who waits for whom, and that no message is lost."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.interconnect.conftest import MakeWire, Wire
from tests.interconnect.topologies import HOP, INTERFACE, TABLES, table

BIG = 4000
SWITCHINGS = ("wormhole", "cut_through", "store_and_forward")


def made(wire: MakeWire, name: str, **changes: str) -> Wire:
    text = TABLES[name]
    for old, new in changes.items():
        text = text.replace(old, new)
    return wire("ncube2", {"processor.clock_mhz": "100", "processor.count": "8"}, table=text)


def pairs(nodes: int) -> list[tuple[int, int]]:
    """Return some pairs of different nodes, the same in every run."""
    every = [pair for pair in itertools.product(range(nodes), repeat=2) if pair[0] != pair[1]]
    return random.Random(nodes).sample(every, min(len(every), 200))


def ring(a: int, b: int, size: int) -> int:
    return min((a - b) % size, (b - a) % size)


def at(node: int, *sizes: int) -> list[int]:
    """Return the coordinates of a node of a grid."""
    found = []
    for size in sizes:
        found.append(node % size)
        node //= size
    return found


def expected(name: str, a: int, b: int) -> int:
    """Return the links between two nodes, computed from the definition of the topology."""
    if name in ("mesh", "mesh3"):
        sizes = (5, 4) if name == "mesh" else (4, 3, 3)
        return sum(abs(x - y) for x, y in zip(at(a, *sizes), at(b, *sizes), strict=True))
    if name in ("torus", "torus3"):
        sizes = (5, 4) if name == "torus" else (4, 3, 5)
        return sum(ring(x, y, size) for x, y, size in zip(at(a, *sizes), at(b, *sizes), sizes, strict=True))
    if name == "hypercube":
        return (a ^ b).bit_count()
    if name in ("fat_tree", "tapered"):
        return 2 * next(level for level in (1, 2, 3) if a // 4**level == b // 4**level)
    if name == "star":
        return 2 if a // 6 == b // 6 else 4
    if name == "xnet":
        steps = max(ring(a // 8, b // 8, 8), ring(a % 8, b % 8, 8))
        return steps if steps <= 2 else 2
    return 1  # crossbar, ethernet


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("dragonfly", "valiant")])
def test_a_message_passes_the_links_of_the_definition_and_takes_the_sum(wire: MakeWire, name: str) -> None:
    net = made(wire, name)
    for a, b in pairs(net.nodes()):
        hops = net.hops(a, b)
        assert hops == expected(name, a, b), (a, b)
        for size in (0, 1, 777):
            assert net.alone(a, b, size) == 2 * INTERFACE + hops * HOP + size


def test_a_message_through_a_dragonfly_passes_one_link_between_groups_or_two(wire: MakeWire) -> None:
    minimal, valiant = made(wire, "dragonfly"), made(wire, "valiant")
    assert minimal.nodes() == 72
    for a, b in pairs(72):
        same_group, same_router = a // 8 == b // 8, a // 2 == b // 2
        hops = minimal.hops(a, b)
        assert hops == (2 if same_router else 3) if same_group else 3 <= hops <= 5
        detour = valiant.hops(a, b)
        assert detour == hops if same_group else 4 <= detour <= 7
        assert minimal.alone(a, b, 777) == 2 * INTERFACE + hops * HOP + 777
    moment = 0
    for a, b in pairs(72):
        moment += 10**5
        minimal.carry(a, b, 10, moment)
    used = {link for link in minimal.usage() if link.startswith("group")}
    assert len(used) > 60  # of 72 links: every group has a link to every other
    for link in used:
        a, b = link.removeprefix("group ").split(">")
        assert a != b


@pytest.mark.parametrize("name", [name for name in TABLES if name != "valiant"])  # its detours vary
def test_the_way_back_is_as_long(wire: MakeWire, name: str) -> None:
    net = made(wire, name)
    assert all(net.hops(a, b) == net.hops(b, a) for a, b in pairs(net.nodes()))


@pytest.mark.parametrize("switching", SWITCHINGS)
@pytest.mark.parametrize("name", [name for name in TABLES if name != "valiant"])
def test_two_messages_on_one_way_go_one_after_the_other(wire: MakeWire, name: str, switching: str) -> None:
    net = made(wire, name, cut_through=switching)
    first, second = net.carry(0, net.nodes() - 1, BIG), net.carry(0, net.nodes() - 1, BIG)
    assert first.contention == 0
    assert second.contention == second.arrival - first.arrival
    assert BIG <= second.contention <= BIG + 100


@pytest.mark.parametrize("switching", SWITCHINGS)
@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("mesh", [(0, 4), (5, 9), (10, 14), (15, 19)]),
        ("torus", [(0, 2), (5, 7), (10, 12), (15, 17)]),
        ("crossbar", [(0, 1), (1, 2), (2, 0)]),
        ("fat_tree", [(0, 20), (1, 21), (2, 22), (3, 23)]),
        ("dragonfly", [(0, 1), (2, 4), (8, 16), (24, 32)]),
        ("star", [(0, 6), (1, 7), (2, 12 + 1), (3, 18)]),
        ("xnet", [(0, 1), (8, 17), (16, 32), (4, 36)]),
    ],
)
def test_messages_on_ways_of_their_own_do_not_wait(
    wire: MakeWire, name: str, ways: list[tuple[int, int]], switching: str
) -> None:
    net = made(wire, name, cut_through=switching)
    if name == "star":
        ways = ways[:2]
    assert [net.carry(a, b, BIG).contention for a, b in ways] == [0] * len(ways)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_random_traffic_is_conserved_and_the_same_in_every_run(wire: MakeWire, name: str) -> None:
    choose, plan, moment = random.Random(7), [], 0
    first, second = made(wire, name), made(wire, name)
    nodes = first.nodes()
    for _ in range(600):
        moment += choose.randrange(200)
        a = choose.randrange(nodes)
        plan.append((a, (a + choose.randrange(1, nodes)) % nodes, choose.choice((0, 8, 500, 3000)), moment))
    answers = [first.carry(*message) for message in plan]
    assert answers == [second.carry(*message) for message in plan]
    assert first.usage() == second.usage()
    for (_, _, size, now), answer in zip(plan, answers, strict=True):
        assert answer.arrival >= now + 2 * INTERFACE + HOP + size
        assert now + size <= answer.free <= answer.arrival
        assert 0 <= answer.contention <= answer.arrival - now
    end, usage = max(answer.arrival for answer in answers), first.usage()
    sent = [message for message in plan if message[2] > 0]
    for way in ("in", "out"):
        ports = [used for link, used in usage.items() if link.startswith("node") and link.endswith(way)]
        assert sum(used[0] for used in ports) == len(sent)
        assert sum(used[1] for used in ports) == sum(message[2] for message in sent)
    assert all(busy <= end for _, busy, _ in usage.values())
    if name != "valiant":  # its routes differ each time
        passed = sum(message[2] * first.hops(*message[:2]) for message in sent)
        assert sum(used[1] for link, used in usage.items() if not link.startswith("node")) == passed
    assert sum(answer.contention for answer in answers) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TABLES if name != "valiant"])
def test_wormhole_never_ends_earlier_than_routers_with_room(wire: MakeWire, name: str) -> None:
    """No link carries two messages at once either: its busy time does not exceed the duration of the traffic."""
    room, held = made(wire, name), made(wire, name, cut_through="wormhole")
    choose, moment, ends = random.Random(3), 0, [0, 0]
    for _ in range(300):
        moment += choose.randrange(100)
        a = choose.randrange(room.nodes())
        b = (a + choose.randrange(1, room.nodes())) % room.nodes()
        ends = [max(end, net.carry(a, b, 900, moment).arrival) for end, net in zip(ends, (room, held), strict=True)]
    assert ends[1] >= ends[0]
    assert all(busy <= ends[1] for _, busy, _ in held.usage().values())


def test_a_detour_spreads_what_one_group_has_for_another(wire: MakeWire) -> None:
    ends = {}
    for name in ("dragonfly", "valiant"):
        net = made(wire, name)
        ends[name] = max(net.carry(node, 8 + node, 20_000).arrival for node in range(8))
        between = {link for link in net.usage() if link.startswith("group")}
        assert (between == {"group 0>1"}) == (name == "dragonfly")
    assert ends["valiant"] < ends["dragonfly"] / 2


def test_adaptive_routes_avoid_links_that_are_taken(wire: MakeWire) -> None:
    """Four nodes send to receivers whose numbers select the same uplink."""
    waits = {}
    for routing in ("static", "adaptive"):
        net = made(wire, "fat_tree", levels='routing = "' + routing + '"\nlevels')
        waits[routing] = sum(net.carry(node, 16 + 16 * (node % 3) + 4 * node, BIG).contention for node in range(4))
    assert waits["adaptive"] == 0
    assert waits["static"] >= BIG


def test_a_tapered_tree_has_half_the_links_up(wire: MakeWire) -> None:
    full, tapered = made(wire, "fat_tree"), made(wire, "tapered")
    for net, together in ((full, 16), (tapered, 4)):
        carried = [net.carry(node, 16 + node, BIG) for node in range(16)]
        assert sum(answer.contention == 0 for answer in carried) == together


def test_on_a_shared_cable_everybody_waits_for_everybody(wire: MakeWire) -> None:
    """At 10 Mb/s a frame of 1,500 bytes plus 38 of overhead takes 1,230.4 us; the shortest frame has 46 + 38 bytes."""
    cable = {"link_mb_s": 1.25, "hop_ns": 0.0, "interface_mb_s": 100.0, "interface_ns": 0.0}
    frames = {"packet_bytes": 1500, "header_bytes": 38, "least_packet_bytes": 46, "slot_ns": 51_200.0}
    text = table("ethernet", stations=8, switching="cut_through", **cable, **frames)
    net = wire("ncube2", {"processor.clock_mhz": "100", "processor.count": "8"}, table=text)
    assert net.alone(0, 1, 1500) == 123_040
    assert net.alone(0, 1, 1) == 6_720
    assert net.alone(0, 1, 3000) == 2 * net.alone(0, 1, 1500)
    first, second = net.carry(0, 1, 3000), net.carry(2, 3, 3000)
    assert first.contention == 0
    assert second.contention == net.alone(0, 1, 3000) + 2 * 5_120  # and a slot for each of its frames


def test_nodes_of_different_speed_take_turns_in_the_list(wire: MakeWire) -> None:
    net = wire("ncube2", {"nodes.speeds": "[1.0, 0.5, 2.25]"})
    assert [int(net.ask(f"speed {node}")) for node in (0, 1, 2, 3, 4)] == [1000, 500, 2250, 1000, 500]
    assert int(wire("ncube2").ask("speed 77")) == 1000
