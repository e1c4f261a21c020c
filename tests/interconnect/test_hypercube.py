"""The nCUBE 2's hypercube: the measured law of message times, e-cube routes, and messages that wait for each other."""

from __future__ import annotations

import pytest

from tests.interconnect.conftest import MakeWire

CYCLES_US = 20  # a cycle is 50 ns


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 4, 8, 1024])
def test_a_message_between_neighbours_takes_the_measured_time_to_the_cycle(wire: MakeWire, size: int) -> None:
    """130 us plus 0.5 us per byte, from the sender's call to the receiver's return (isospeed IV.A)."""
    cube = wire("ncube2")
    software = int(cube.values["machine.message_send_cycles"]) + int(cube.values["machine.message_receive_cycles"])
    per_byte = (
        int(cube.values["machine.message_send_byte_millicycles"])
        + int(cube.values["machine.message_receive_byte_millicycles"])
        + int(cube.values["machine.message_copy_byte_millicycles"])
    )
    for source, target in ((0, 1), (5, 4), (17, 17 + 32), (8191, 4095)):
        moment = 10**6 * (source + 1)
        carried = cube.carry(source, target, size, moment)
        assert software + size * per_byte / 1000 + carried.arrival - moment == (130 + size / 2) * CYCLES_US
        assert carried.contention == 0


def test_every_further_link_costs_a_hop(wire: MakeWire) -> None:
    cube = wire("ncube2")
    hop = int(cube.values["machine.interconnect.hop_millicycles"]) // 1000
    for target in range(1, 200):
        assert cube.hops(0, target) == target.bit_count()
        assert cube.alone(0, target, 100) == cube.alone(0, 1, 100) + (target.bit_count() - 1) * hop


def test_routes_correct_the_lowest_digit_first(wire: MakeWire) -> None:
    cube = wire("ncube2")
    cube.carry(0, 0b1101, 10)
    assert {name for name in cube.usage() if "link" in name} == {"link 0>1", "link 1>5", "link 5>13"}


def test_a_message_from_a_node_to_itself_takes_no_time(wire: MakeWire) -> None:
    cube = wire("ncube2")
    assert cube.carry(3, 3, 1000, 77) == (77, 77, 0)
    assert cube.usage() == {}


def test_two_messages_over_one_link_go_one_after_the_other(wire: MakeWire) -> None:
    cube = wire("ncube2", {"interconnect.interfaces": "2"})
    first = cube.carry(0, 1, 1000)
    second = cube.carry(0, 1, 1000)
    assert second.arrival - first.arrival == 1000 * 10  # 0.5 us a byte
    assert (first.contention, second.contention) == (0, 1000 * 10)


def test_messages_over_different_links_do_not_wait(wire: MakeWire) -> None:
    cube = wire("ncube2")
    carried = [cube.carry(node, node ^ 1, 1000) for node in range(16)]
    assert {message.contention for message in carried} == {0}
    assert len({message.arrival for message in carried}) == 1


def test_a_node_sends_one_message_at_a_time_unless_it_has_more_interfaces(wire: MakeWire) -> None:
    one, more = wire("ncube2"), wire("ncube2", {"interconnect.interfaces": "13"})
    for cube, expected in ((one, 1000 * 10), (more, 0)):
        cube.carry(0, 1, 1000)
        assert cube.carry(0, 2, 1000).contention == expected


def test_a_message_that_waits_keeps_the_links_behind_it_with_wormhole_switching_only(wire: MakeWire) -> None:
    """The message 0 > 1 > 3 waits for the link 1 > 3, and meanwhile holds 0 > 1, which 0 > 1 > 5 needs."""
    many = {"interconnect.interfaces": "13"}
    waits = {}
    for switching in ("wormhole", "cut_through"):
        cube = wire("ncube2", many | {"interconnect.switching": switching})
        cube.carry(1, 3, 5000)
        assert cube.carry(0, 3, 1000).contention > 4000 * 10
        waits[switching] = cube.carry(0, 5, 1000).contention
    assert waits["cut_through"] == 1000 * 10  # only for the bytes of the second
    assert waits["wormhole"] > 50_000


def test_store_and_forward_takes_a_packet_at_every_node(wire: MakeWire) -> None:
    cube = wire("ncube2", {"interconnect.switching": "store_and_forward", "interconnect.packet_bytes": "100"})
    hop = int(cube.values["machine.interconnect.hop_millicycles"]) // 1000
    assert cube.alone(0, 0b111, 1000) == cube.alone(0, 1, 1000) + 2 * (hop + 100 * 10)
    assert cube.alone(0, 0b111, 50) == cube.alone(0, 1, 50) + 2 * (hop + 50 * 10)
