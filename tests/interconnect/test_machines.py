"""The shipped clusters: their values reproduce published or measured figures."""

from __future__ import annotations

import pytest

from scalegraph import machine
from tests.interconnect.conftest import MakeWire, Wire

MACHINES = [
    item.name for item in machine.available() if machine.load(item.name).interconnect is not None
]  # test_files.py has the list of machines


def total_us(net: Wire, name: str, size: int, source: int = 0, target: int = 1) -> float:
    """Return the time of a message from call to return, software included, us."""
    values = {key.removeprefix("machine."): text for key, text in net.values.items()}
    software = int(values["message_send_cycles"]) + int(values["message_receive_cycles"])
    each = int(values["message_send_byte_millicycles"]) + int(values["message_receive_byte_millicycles"])
    cycles = software + each * size / 1000 + net.alone(source, target, size)
    return cycles / machine.load(name).clock_hz * 1e6


@pytest.mark.parametrize("name", MACHINES)
def test_every_node_of_a_machine_reaches_every_other(wire: MakeWire, name: str) -> None:
    grid = {"interconnect.rows": "128", "interconnect.columns": "128"} if name == "maspar-mp1" else None
    net, item = wire(name, grid), machine.load(name)
    assert net.nodes() * item.nodes.processors >= item.processor.count
    last, moment = net.nodes() - 1, 0
    for node in range(1, last, max(last // 50, 1)):
        moment += 10**9
        carried = net.carry(node, last - node, 5000, moment) if node != last - node else net.carry(0, node, 1, moment)
        assert carried.contention == 0
        assert carried.arrival > moment


def test_the_cm5_has_the_bandwidth_of_its_levels(wire: MakeWire) -> None:
    """A node gets 20 MB/s within a group of four, 10 within sixteen, 5 beyond; 16 of a packet's 20 bytes are data."""
    size, second = 16_000, 32e6
    for apart, group, mb_s in ((1, 4, 20), (4, 16, 10), (16, 64, 5)):
        net = wire("cm5")
        ends = [net.carry(node, (node + apart) % group, size).arrival for node in range(group)]
        alone = size * 20 / 16 / (mb_s * 1e6) * second
        assert alone <= max(ends) < 1.4 * alone, apart  # some messages meet on the way down


def test_an_empty_message_takes_what_was_measured(wire: MakeWire) -> None:
    assert total_us(wire("cm5"), "cm5", 0) == pytest.approx(86, rel=0.03)
    assert total_us(wire("cluster-hdr"), "cluster-hdr", 0) == pytest.approx(1.15, rel=0.1)
    assert total_us(wire("dragonfly"), "dragonfly", 0) == pytest.approx(1.8, rel=0.1)
    assert total_us(wire("cluster-hdr100"), "cluster-hdr100", 0) == pytest.approx(1.15, rel=0.1)
    assert total_us(wire("cluster-slingshot"), "cluster-slingshot", 0) == pytest.approx(1.8, rel=0.1)
    assert total_us(wire("cm5"), "cm5", 10**6) == pytest.approx(10**6 / 9, rel=0.05)  # 9 MB/s


def test_networks_of_workstations_carry_what_their_ethernet_does(wire: MakeWire) -> None:
    shared, switched = wire("now-ethernet"), wire("now-switched")
    for net, mb_s in ((shared, 1.25), (switched, 12.5)):
        cycles = net.alone(0, 1, 1_460_000)
        assert cycles / 75e6 == pytest.approx(1000 * 1538 / (mb_s * 1e6), rel=0.01)
    pairs = [(node, node + 1) for node in range(0, 16, 2)]
    one = shared.alone(0, 1, 14_600)
    assert max(shared.carry(*pair, 14_600).arrival for pair in pairs) > 7.5 * one
    assert {switched.carry(*pair, 14_600).contention for pair in pairs} == {0}
    assert [int(switched.ask(f"speed {node}")) for node in range(5)] == [1000, 1000, 600, 600, 1000]


def test_the_elements_of_a_simd_machine_have_one_processor_each_and_an_interconnect() -> None:
    assert machine.load("maspar-mp1").refusal(64, processes=64) == ""
    assert "a node of machine 'maspar-mp1' has 1 processor" in machine.load("maspar-mp1").refusal(64)
    with pytest.raises(machine.files.InputError, match="expected 1 on a machine with processor"):
        machine.load("maspar-mp1", {"nodes.processors": "2"})
    with pytest.raises(machine.files.InputError, match="a SIMD machine needs an"):
        machine.load("server-2x32-inorder", {"processor.lockstep": "true"})


@pytest.mark.parametrize(
    ("count", "rows", "columns"), [(1024, 32, 32), (2048, 32, 64), (4096, 64, 64), (8192, 64, 128)]
)
def test_the_maspar_has_the_shapes_of_the_paper(count: int, rows: int, columns: int) -> None:
    shape = {"interconnect.rows": str(rows), "interconnect.columns": str(columns), "processor.count": str(count)}
    assert machine.load("maspar-mp1", shape).max_processors == count
    with pytest.raises(machine.files.InputError, match="the interconnect has room for"):
        machine.load("maspar-mp1", shape | {"processor.count": str(count + 1)})
    with pytest.raises(machine.files.InputError, match="expected rows and columns, or 0 for both"):
        machine.load("maspar-mp1", {"interconnect.rows": "32"})
