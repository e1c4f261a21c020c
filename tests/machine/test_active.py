"""The machine as seen by N processors: clock by active cores, hardware threads sharing a core."""

import pytest

from scalegraph import machine
from scalegraph.machine.active import active, clock_hz, values

TURBO = {"processor.turbo_cores": "[2, 8]", "processor.turbo_clock": "[1.0, 0.625]"}


def test_a_machine_without_turbo_and_threads_is_itself() -> None:
    server = machine.load("server-2x32-inorder")
    assert active(server, 64) is server
    assert values(server) == {}


@pytest.mark.parametrize(("processors", "mhz"), [(1, 2800), (2, 2800), (3, 1750), (8, 1750), (32, 1750), (64, 1750)])
def test_the_clock_follows_the_active_cores_of_a_socket(processors: int, mhz: int) -> None:
    assert clock_hz(machine.load("server-2x32-inorder", TURBO), processors) == mhz * 1e6


def test_a_slower_clock_takes_more_cycles_of_the_fastest_in_the_core_alone() -> None:
    server = machine.load("server-2x32-inorder", TURBO)
    slow = active(server, 4)  # 1.6 cycles of 2,800 MHz are one of 1,750
    assert slow.clock_hz == server.clock_hz
    assert slow.processor.operation_cycles.fp_add == pytest.approx(0.5 * 1.6)
    assert slow.processor.pipeline.issue == pytest.approx(1.6 / 6)
    assert [level.hit_cycles for level in slow.cache] == [0, 16, 60]  # the third level has a clock of its own
    assert slow.synchronisation.fork_cycles == 1600
    assert (slow.network, slow.threads.slice_us) == (server.network, server.threads.slice_us)
    assert values(server) == {"active.turbo_cores": "(2, 8)", "active.turbo_clock": "(1.0, 0.625)"}


def test_two_threads_have_half_a_core_each() -> None:
    changes = {"processor.threads_per_core": "2", "processor.count": "128", "processor.pipeline.window": "512"}
    server = machine.load("server-2x32-inorder", changes)
    assert active(server, 64) is server  # one core each
    both = active(server, 65)
    assert both.network.cluster() == 64
    assert [(level.size_kib, level.ways, level.shared_by) for level in both.cache] == [
        (24, 6, 1),
        (1024, 8, 1),
        (61440, 15, 64),
    ]
    assert both.processor.operation_cycles.fp_add == 1.0
    assert (both.processor.pipeline.window, both.processor.pipeline.issue) == (256, pytest.approx(2 / 6))


def test_a_machine_of_one_node_says_how_much_memory_it_has() -> None:
    assert machine.load("server-2x32-inorder", {"nodes.memory_mib": "4096"}).nodes.memory_mib == 4096
