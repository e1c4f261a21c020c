"""The common declaration of all interconnects: how links, interfaces and routers transport a message."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import Given, On, Section, choice, given, millicycles, quantity

MOST_NODES = 2**16
_MOST = 10**15  # thousandths or millionths of a cycle


def byte_microcycles(mb_s: float, on: On) -> int:
    """Return the time of a byte at a bandwidth in MB/s, in millionths of a cycle."""
    return round(on.clock_hz / mb_s)


def time(name: str) -> tuple[Given, ...]:
    """Return how a time in ns is passed to the runtime."""
    return (Given(f"{name}_millicycles", millicycles, 0, _MOST),)


def bandwidth(name: str) -> tuple[Given, ...]:
    """Return how a bandwidth in MB/s is passed to the runtime."""
    return (Given(f"{name}_byte_microcycles", byte_microcycles, 0, _MOST),)


class InterconnectSection(Section):
    """Base of the interconnects: each has a class here and a C file ``csrc/interconnect/sg_wire_KIND.c``.

    A subclass declares ``kind: Literal["NAME"]`` and the parameters of its topology.
    """

    kind: str
    switching: Literal["wormhole", "cut_through", "store_and_forward"] = choice(
        "wormhole: a blocked message holds the links it has passed; cut_through: routers buffer it; "
        "store_and_forward: a router receives a whole packet before it forwards it.",
        default="wormhole",
        runtime=None,
    )
    link_mb_s: float = quantity("Bandwidth of a link in each direction.", "MB/s", 0.001, 1e9, runtime=bandwidth("link"))
    hop_ns: float = quantity(
        "Latency of the head of a message through one router and one link.", "ns", 0, 1e9, runtime=time("hop")
    )
    interface_mb_s: float = quantity(
        "Bandwidth between a node's memory and the interconnect in each direction.",
        "MB/s",
        0.001,
        1e9,
        runtime=bandwidth("interface"),
    )
    interface_ns: float = quantity(
        "Latency of the head of a message through the sender's interface, and again through the receiver's.",
        "ns",
        0,
        1e9,
        runtime=time("interface"),
    )
    interfaces: int = quantity(
        "Messages that a node can send at a time, and as many that it can receive: its interfaces or DMA engines.",
        "interfaces",
        1,
        256,
        default=1,
    )
    packet_bytes: int = quantity("Data per packet; a longer message takes several.", "bytes", 1, 2**30, default=2**30)
    header_bytes: int = quantity("Bytes of a packet in addition to its data.", "bytes", 0, 4096, default=0)
    least_packet_bytes: int = quantity(
        "Data of the shortest packet; shorter ones are padded.", "bytes", 0, 4096, default=0
    )

    def runtime(self, clock_hz: float) -> dict[str, int]:
        """Return the parameters for the C side; times in cycles of *clock_hz*."""
        return given(self, clock_hz, 1)

    def capacity(self) -> int:
        """Return the maximum number of nodes."""
        raise NotImplementedError

    def faults(self) -> list[tuple[str, str]]:
        """Return contradictions between the interconnect's own values: (field, sentence)."""
        return []
