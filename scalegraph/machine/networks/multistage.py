"""Omega network of switches; see csrc/network/sg_net_multistage.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import Given, On, choice, quantity
from scalegraph.machine.networks.base import NetworkSection


def _retry(cycles: int, on: On) -> int:
    """Return *cycles*, or 0 without circuit switching."""
    return cycles if on.section.switching == "circuit" else 0


class Multistage(NetworkSection):
    """Omega network of k x k switches between processors and interleaved memory modules."""

    kind: Literal["multistage"] = choice("Topology: stages of switches, one memory module at every port.")
    radix: int = quantity("Inputs, and outputs, of a switch.", "ports", 2, 64)
    least_ports: int = quantity(
        "Ports of the smallest network; runs with more processors use more stages.", "ports", 2, 65_536
    )
    switch_cycles: int = quantity("Latency of the first flit of a message through one stage.", "cycles", 1, 10_000)
    flit_bytes: int = quantity("Bytes per cycle through a switch port.", "bytes", 1, 4096)
    header_bytes: int = quantity("Message header.", "bytes", 1, 4096)
    memory_cycles: int = quantity("Time that reading or writing a line occupies a memory module.", "cycles", 1, 100_000)
    directory_cycles: int = quantity(
        "Time that a directory access alone occupies a memory module.", "cycles", 1, 100_000
    )
    snoop_cycles: int = quantity("Time for a cache to answer a request of the directory.", "cycles", 0, 100_000)
    switching: Literal["packet", "circuit"] = choice(
        "packet: a message occupies a port while it passes; circuit: a request holds its path until the reply is back.",
        default="packet",
    )
    retry_cycles: int = quantity(
        "Circuits: delay before a request that finds a port of its path taken tries again.",
        "cycles",
        1,
        100_000,
        default=8,
        runtime=(Given("retry_cycles", _retry, 0, 100_000),),
    )

    def capacity(self) -> int:
        """Maximum number of processors: the network grows with them."""
        return 4096

    def nodes(self) -> int:
        """Page locations: one behind every port, although lines are interleaved over all of them."""
        return self.least_ports

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:
        """Return the bandwidth of the modules at all ports of the smallest network for *processors*."""
        return max(processors, self.least_ports) * line_bytes / self.memory_cycles * clock_hz
