"""Sockets with their own memory; see csrc/network/sg_net_numa.c."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from scalegraph.machine.fields import Given, On, busy_millicycles, choice, cycles, quantity
from scalegraph.machine.networks.base import NetworkSection

_MOST = 10**9  # cycles


def _time(name: str) -> tuple[Given, ...]:
    return (Given(f"{name}_cycles", cycles, 0, _MOST),)


def _channel(gb_s: float, on: On) -> int:
    return busy_millicycles(on.line_bytes, gb_s * on.section.channel_efficiency, on)


_CHANNEL = (Given("channel_line_millicycles", _channel, 0, 1000 * _MOST),)
_WRITE = (
    Given(
        "channel_write_millicycles",
        lambda cost, on: round(cost * _channel(on.section.channel_gb_s, on)),
        0,
        1000 * _MOST,
    ),
)
_MESH = (
    Given(
        "mesh_line_millicycles",
        lambda gb_s, on: busy_millicycles(on.line_bytes, gb_s, on) if gb_s else 0,
        0,
        1000 * _MOST,
    ),
)
_BANK = (Given("bank_millicycles", lambda ns, on: 1000 * cycles(ns, on), 0, 1000 * _MOST),)
_LINK = (
    Given(
        "link_line_millicycles",
        lambda gb_s, on: busy_millicycles(on.line_bytes + on.section.header_bytes, gb_s, on),
        0,
        1000 * _MOST,
    ),
    Given(
        "link_control_millicycles",
        lambda gb_s, on: busy_millicycles(on.section.header_bytes, gb_s, on),
        0,
        1000 * _MOST,
    ),
)


def _later(name: str, description: str) -> Any:
    """Declare a network time that machine files may omit; 0 means what the description says."""
    return quantity(description, "ns", 0, 100_000, default=0.0, runtime=_time(name))


class Numa(NetworkSection):
    """Sockets with their own memory channels, connected by links."""

    later: ClassVar[tuple[str, ...]] = (
        "memory_nodes",
        "node_ns",
        "write_cost",
        "group_transfer_ns",
        "remote_transfer_ns",
        "mesh_gb_s",
    )
    kind: Literal["numa"] = choice("Topology: sockets with their own memory, joined by links.")
    sockets: int = quantity("Sockets.", "sockets", 1, 64)
    topology: Literal["full", "ring", "hypercube"] = choice(
        "full: a link between every two sockets; ring: between neighbours; hypercube: between those whose numbers "
        "differ in one binary digit.",
        default="full",
        runtime=None,
    )
    socket_processors: int = quantity("Processors (cores) per socket.", "processors", 1, 4096)
    channels: int = quantity("Memory channels per socket, with interleaved lines.", "channels", 1, 1024)
    channel_gb_s: float = quantity("Bandwidth of one memory channel.", "GB/s", 0.001, 100_000, runtime=_CHANNEL)
    channel_efficiency: float = quantity(
        "Fraction of a channel's bandwidth that successive reads reach, given refresh and conflicts.",
        "of it",
        0.01,
        1,
        default=1.0,
        runtime=(),
    )
    write_cost: float = quantity(
        "How many reads' worth of channel time a written line takes: more than 1 because the channel turns round.",
        "reads",
        0.1,
        10,
        default=1.0,
        runtime=_WRITE,
    )
    memory_nodes: int = quantity(
        "Memory nodes per socket: each has its share of the processors, channels and addresses.",
        "nodes",
        1,
        64,
        default=1,
    )
    node_ns: float = _later("node", "Extra latency of memory in another memory node of the socket.")
    mesh_gb_s: float = quantity(
        "Bandwidth between a memory node's processors and everything beyond their caches: memory, other caches and "
        "write-backs together (mesh, or the link of a die); 0: no limit.",
        "GB/s",
        0,
        100_000,
        default=0.0,
        runtime=_MESH,
    )
    banks: int = quantity("Banks per channel, with interleaved lines.", "banks", 1, 1024, default=1)
    bank_busy_ns: float = quantity(
        "Time that one line occupies a bank; 0: only the channel's bandwidth counts.",
        "ns",
        0,
        100_000,
        default=0.0,
        runtime=_BANK,
    )
    memory_ns: float = quantity(
        "Local memory latency: from a miss in the last cache to the data.", "ns", 0, 100_000, runtime=_time("memory")
    )
    transfer_ns: float = quantity(
        "Latency to the data from another cache of the socket.", "ns", 0, 100_000, runtime=_time("transfer")
    )
    group_transfer_ns: float = _later(
        "group_transfer", "The same from a cache of a processor that shares the last level; 0: as transfer_ns."
    )
    remote_transfer_ns: float = _later(
        "remote_transfer", "The same from a cache of another socket, excluding the links; 0: as transfer_ns."
    )
    snoop_ns: float = quantity(
        "Time to invalidate the copies within one socket.", "ns", 0, 100_000, runtime=_time("snoop")
    )
    link_ns: float = quantity("One-way latency of a message over one link.", "ns", 0, 100_000, runtime=_time("link"))
    link_gb_s: float = quantity("Bandwidth of a link in each direction.", "GB/s", 0.001, 100_000, runtime=_LINK)
    header_bytes: int = quantity("Header of a message on a link.", "bytes", 1, 4096, runtime=())

    def capacity(self) -> int:
        """Maximum number of processors."""
        return self.sockets * self.socket_processors

    def nodes(self) -> int:
        """Return the number of page locations."""
        return self.sockets * self.memory_nodes

    def cluster(self) -> int:
        """Processors per socket, a part of which can share a cache."""
        return self.socket_processors

    def faults(self) -> list[tuple[str, str]]:
        """Return an invalid hypercube, and memory nodes that do not divide a socket."""
        found = []
        if self.topology == "hypercube" and self.sockets & (self.sockets - 1) != 0:
            found.append(("sockets", f"expected a power of two in a hypercube, got {self.sockets}"))
        for name in ("socket_processors", "channels"):
            if (whole := getattr(self, name)) % self.memory_nodes:
                text = f"expected a divisor of the {whole} of network.{name}, got {self.memory_nodes}"
                found.append(("memory_nodes", text))
        return found

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of others
        """Return the bandwidth of the channels of memory nodes with active processors, limited by the mesh."""
        used = math.ceil(processors * self.memory_nodes / self.cluster())
        channels = used * self.channels / self.memory_nodes * self.channel_gb_s * self.channel_efficiency
        return min(channels, used * self.mesh_gb_s or math.inf) * 1e9
