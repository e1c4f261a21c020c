"""Sockets with memory of their own; see csrc/network/sg_net_numa.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import Given, busy_millicycles, choice, cycles, quantity
from scalegraph.machine.networks.base import NetworkSection

_MOST = 10**9  # cycles


def _time(name: str) -> tuple[Given, ...]:
    return (Given(f"{name}_cycles", cycles, 0, _MOST),)


_CHANNEL = (
    Given("channel_line_millicycles", lambda gb_s, on: busy_millicycles(on.line_bytes, gb_s, on), 0, 1000 * _MOST),
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


class Numa(NetworkSection):
    """Sockets with memory channels of their own and links between them."""

    kind: Literal["numa"] = choice("Topology: sockets with their own memory, joined by links.")
    sockets: int = quantity("Sockets.", "sockets", 1, 64)
    topology: Literal["full", "ring", "hypercube"] = choice(
        "full: a link between every two sockets; ring: between neighbours; "
        "hypercube: between those whose numbers differ in one binary digit.",
        default="full",
        runtime=None,
    )
    socket_processors: int = quantity("Processors (cores) of one socket.", "processors", 1, 4096)
    channels: int = quantity("Memory channels of one socket, lines interleaved over them.", "channels", 1, 1024)
    channel_gb_s: float = quantity("Bandwidth of one memory channel.", "GB/s", 0.001, 100_000, runtime=_CHANNEL)
    banks: int = quantity("Banks of one channel, lines interleaved over them.", "banks", 1, 1024, default=1)
    bank_busy_ns: float = quantity(
        "A bank is busy with one line; 0: only the channel's bandwidth counts.",
        "ns",
        0,
        100_000,
        default=0.0,
        runtime=_BANK,
    )
    memory_ns: float = quantity(
        "From the miss of the last cache to the data of the own memory.", "ns", 0, 100_000, runtime=_time("memory")
    )
    transfer_ns: float = quantity(
        "The same to the data of another cache of the socket.", "ns", 0, 100_000, runtime=_time("transfer")
    )
    snoop_ns: float = quantity("To invalidate the copies within one socket.", "ns", 0, 100_000, runtime=_time("snoop"))
    link_ns: float = quantity("A message one way over one link.", "ns", 0, 100_000, runtime=_time("link"))
    link_gb_s: float = quantity("Bandwidth of a link, each direction.", "GB/s", 0.001, 100_000, runtime=_LINK)
    header_bytes: int = quantity("Header of a message on the link.", "bytes", 1, 4096, runtime=())

    def capacity(self) -> int:
        """Processors that find a place."""
        return self.sockets * self.socket_processors

    def nodes(self) -> int:
        """Places where a page can be."""
        return self.sockets

    def cluster(self) -> int:
        """Processors of a socket, which a shared cache divides."""
        return self.socket_processors

    def faults(self) -> list[tuple[str, str]]:
        """Return a hypercube that is none."""
        if self.topology != "hypercube" or self.sockets & (self.sockets - 1) == 0:
            return []
        return [("sockets", f"expected a power of two in a hypercube, got {self.sockets}")]
