"""Costs of runs, against sums computed by hand."""

from __future__ import annotations

import pytest

from scalegraph import machine as machines
from scalegraph.analyze.costs import energy
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.machine.model import Machine
from scalegraph.machine.power import Power, Price, nodes, sockets

# 4 processors for 2 s at 1 kHz: 8000 cycles, of which 5000 busy, 1000 stalled, 500 in primitives, 1500 waiting (400 of
# them before the threads exist); 10,000 lines of 64 bytes from memory and 5,000 back
CYCLES = {"busy_int": 5000, "stall_local": 1000, "prim_barrier": 500, "idle_barrier": 1100, "idle_not_started": 400}
POWER = Power(covers="made up", node_w=10.0, socket_w=20.0, core_w=4.0, waiting_core_w=1.0, memory_j_gb=1e6)


def _machine(power: Power | None = POWER, price: Price | None = None, name: str = "xeon-6148") -> Machine:
    return machines.load(name).model_copy(update={"power": power, "price": price})


def _run(processors: int = 4, *, processes: int | None = None, **changed: object) -> RunRecord:
    known = {
        "time_s": 2.0,
        "clock_hz": 1000.0,
        "categories": CYCLES,
        "counters": {"memory_lines": 10_000, "writebacks": 5000},
        "processes": processes,
    }
    point = RunPoint(processors=processors)
    return RunRecord(source="simulated", program="p", machine="m", point=point, **{**known, **changed})  # type: ignore[arg-type]


def test_energy_is_the_sum_of_its_parts() -> None:
    found = energy.energy(_run(), _machine())
    assert found is not None
    assert found.base_j == pytest.approx(2 * (10 + 20))
    assert found.cores_j == pytest.approx(6.5 * 4)
    assert found.waiting_j == pytest.approx(1.1 * 1)  # a processor without a thread is idle
    assert found.memory_j == pytest.approx(15 * 64)
    assert found.total_j == pytest.approx(60 + 26 + 1.1 + 960)
    assert energy.energy_delay_js(_run(), _machine()) == pytest.approx(2 * found.total_j)


def test_a_second_socket_draws_once_it_has_processors() -> None:
    machine = _machine()
    assert [sockets(machine, count) for count in (1, 20, 21, 40)] == [1, 1, 2, 2]


def test_processes_spread_over_nodes_as_their_threads_fit() -> None:
    cluster = machines.load("cluster-hdr")
    each = cluster.node_processors
    assert nodes(cluster, each) == 1
    assert nodes(cluster, each + 1) == 2
    assert nodes(cluster, 2 * each, 2) == 2
    assert nodes(cluster, 3 * (each // 2 + 1), 3) == 3  # no two such processes fit on a node


def test_hours_and_price() -> None:
    run = _run(time_s=1800.0)
    assert energy.core_hours(run) == pytest.approx(2.0)
    assert energy.node_hours(run, _machine()) == pytest.approx(0.5)
    assert energy.price(run, _machine(price=Price(node_hour=3.0, currency="EUR"))) == pytest.approx(1.5)


def test_hardware_threads_share_the_power_of_their_core() -> None:
    machine = _machine()
    processor = machine.processor.model_copy(update={"count": 4, "threads_per_core": 2})
    found = energy.energy(_run(), machine.model_copy(update={"processor": processor}))
    assert found is not None
    assert found.cores_j == pytest.approx(6.5 * 4 / 2)
    assert energy.core_hours(_run(time_s=1800.0), machine.model_copy(update={"processor": processor})) == 1.0


def test_what_is_not_stated_has_no_number_and_a_reason() -> None:
    bare = _machine(None)
    assert energy.energy_j(_run(), bare) is None
    assert energy.price(_run(), bare) is None
    assert "has no power data" in energy.why_no_energy(_run(), bare)
    assert "has no price" in energy.why_no_price(_run(), bare)
    old = _run(counters={})
    assert energy.energy_j(old, _machine()) is None
    assert "did not count memory traffic" in energy.why_no_energy(old, _machine())
    assert "no account" in energy.why_no_energy(_run(categories={}), _machine())
