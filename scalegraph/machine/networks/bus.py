"""A snooping bus; see csrc/network/sg_net_bus.c."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from scalegraph.machine.fields import Given, On, choice, millicycles, quantity
from scalegraph.machine.networks.base import NetworkSection

_MOST = 10**12  # thousandths of a cycle


def _of_bus(bus_cycles: int, on: On) -> int:
    """Convert bus cycles to thousandths of a processor cycle; any time takes at least one."""
    made: int = round(1000 * bus_cycles * on.clock_hz / (on.section.bus_mhz * 1e6))
    return max(int(bus_cycles > 0), made)


def _data(data_bytes: int, on: On) -> int:
    return _of_bus(-(-on.line_bytes // data_bytes) + on.section.data_overhead_bus_cycles, on)


def _bus(name: str, least: int = 0) -> tuple[Given, ...]:
    return (Given(f"{name}_millicycles", _of_bus, least, _MOST),)


def _time(name: str) -> tuple[Given, ...]:
    return (Given(f"{name}_millicycles", millicycles, 0, _MOST),)


_DATA = (Given("data_millicycles", _data, 1, _MOST),)


class Bus(NetworkSection):
    """A bus snooped by all caches, with memory modules on it."""

    protocol: ClassVar[str] = "snoop"
    private_only: ClassVar[bool] = True
    kind: Literal["bus"] = choice("Topology: one bus; every cache snoops it.")
    bus_processors: int = quantity("Maximum number of processors on the bus.", "processors", 1, 4096)
    bus_mhz: float = quantity("Bus clock.", "MHz", 0.001, 1e6, runtime=())
    split: bool = choice(
        "Split transactions: separate parts of the bus for addresses and data, both free while memory looks up a line.",
        runtime=None,
    )
    arbitration_bus_cycles: int = quantity(
        "Arbitration: from a request to the first cycle of its address.",
        "bus cycles",
        0,
        10_000,
        runtime=_bus("arbitration"),
    )
    address_bus_cycles: int = quantity(
        "Time that an address occupies the bus.", "bus cycles", 1, 10_000, runtime=_bus("address", 1)
    )
    snoop_bus_cycles: int = quantity(
        "Snoop: from then until all caches have answered.", "bus cycles", 0, 10_000, runtime=_bus("snoop")
    )
    data_bytes: int = quantity("Bytes transferred per bus cycle.", "bytes", 1, 4096, runtime=_DATA)
    data_overhead_bus_cycles: int = quantity(
        "Cycles of a data transfer in addition to those that carry the line.",
        "bus cycles",
        0,
        10_000,
        default=0,
        runtime=(),
    )
    modules: int = quantity("Memory modules, with interleaved lines.", "modules", 1, 1024)
    memory_ns: float = quantity("Latency of a module, from address to data.", "ns", 0, 100_000, runtime=_time("memory"))
    memory_busy_ns: float = quantity(
        "Time that one line occupies a module.", "ns", 0, 100_000, runtime=_time("memory_busy")
    )
    supply_ns: float = quantity(
        "From the answer of the cache with the dirty copy to its data.", "ns", 0, 100_000, runtime=_time("supply")
    )

    def capacity(self) -> int:
        """Maximum number of processors."""
        return self.bus_processors

    def nodes(self) -> int:
        """Page locations: one, as all memory is equally far."""
        return 1

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of others
        """Return the bandwidth of the bus and the memory modules."""
        cycles = max(self.address_bus_cycles, -(-line_bytes // self.data_bytes) + self.data_overhead_bus_cycles)
        modules = self.modules * line_bytes / self.memory_busy_ns * 1e9 if self.memory_busy_ns else math.inf
        return min(line_bytes / cycles * self.bus_mhz * 1e6, modules)
