"""The memory of a node without an internal network; see csrc/network/sg_net_local.c."""

from __future__ import annotations

import math
from typing import Literal

from scalegraph.machine.fields import Given, choice, cycles, quantity
from scalegraph.machine.networks.base import NetworkSection


def _time(name: str) -> tuple[Given, ...]:
    return (Given(f"{name}_cycles", cycles, 0, 10**9),)


class Local(NetworkSection):
    """Memory modules of a node; nothing is remote."""

    kind: Literal["local"] = choice("Topology: none; processors and memory modules of one node, nothing is remote.")
    modules: int = quantity("Memory modules of a node, with interleaved lines.", "modules", 1, 1024, default=1)
    memory_ns: float = quantity(
        "Memory latency: from a miss in the last cache to the data.", "ns", 0, 100_000, runtime=_time("memory")
    )
    memory_busy_ns: float = quantity(
        "Time that one line occupies a module.", "ns", 0, 100_000, default=0.0, runtime=_time("memory_busy")
    )
    transfer_ns: float = quantity(
        "From a miss to the data from another cache of the node.",
        "ns",
        0,
        100_000,
        default=0.0,
        runtime=_time("transfer"),
    )
    snoop_ns: float = quantity(
        "Time to invalidate the copies within the node.", "ns", 0, 100_000, default=0.0, runtime=_time("snoop")
    )

    def capacity(self) -> int:
        """Maximum number of processors."""
        return 4096

    def nodes(self) -> int:
        """Page locations: one, as all memory of a node is equally far."""
        return 1

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of others
        """Return the bandwidth of the node's memory modules; infinite if modules are never busy."""
        return self.modules * line_bytes / self.memory_busy_ns * 1e9 if self.memory_busy_ns else math.inf
