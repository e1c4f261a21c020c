"""Slotted rings in two levels; see csrc/network/sg_net_ring.c."""

from __future__ import annotations

from typing import ClassVar, Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.networks.base import NetworkSection


class Ring(NetworkSection):
    """Slotted rings in two levels: a packet waits for an empty slot and keeps it for a revolution."""

    protocol: ClassVar[str] = "ring_snoop"
    kind: Literal["ring"] = choice("Topology: slotted rings joined by an upper ring.")
    ring_processors: int = quantity("Processors per ring.", "processors", 1, 1024)
    rings: int = quantity("Maximum number of rings on the upper ring.", "rings", 1, 1024)
    hop_cycles: int = quantity("Time for a slot to move from one station of a ring to the next.", "cycles", 1, 10_000)
    upper_hop_cycles: int = quantity("The same on the upper ring, which has one station per ring.", "cycles", 1, 10_000)
    interface_cycles: int = quantity(
        "Time in the requester's ring interface, both ways together.", "cycles", 0, 100_000
    )
    holder_cycles: int = quantity("Time that supplying one line occupies a processor's cache.", "cycles", 0, 100_000)
    router_cycles: int = quantity("Latency between a ring and the upper ring.", "cycles", 0, 100_000)

    def capacity(self) -> int:
        """Maximum number of processors."""
        return self.ring_processors * self.rings

    def nodes(self) -> int:
        """Page locations: one per processor."""
        return self.capacity()
