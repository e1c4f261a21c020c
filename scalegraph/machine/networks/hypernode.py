"""Hypernodes and rings; see csrc/network/sg_net_hypernode.c."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.networks.base import NetworkSection


class Hypernode(NetworkSection):
    """Hypernodes with a crossbar inside and rings between them."""

    protocol: ClassVar[str] = "linked_list"
    network_caches: ClassVar[bool] = True
    kind: Literal["hypernode"] = choice("Topology: crossbars of a few processors, joined by one-way rings.")
    hypernodes: int = quantity("Number of hypernodes on a ring.", "hypernodes", 1, 64)
    hypernode_processors: int = quantity("Processors per hypernode.", "processors", 1, 64)
    rings: int = quantity("Rings, and functional units per hypernode, with interleaved lines.", "rings", 1, 64)
    crossbar_cycles: int = quantity("Latency of the crossbar.", "cycles", 0, 100_000)
    crossbar_bytes: int = quantity("Bytes per cycle through a crossbar port.", "bytes", 1, 4096)
    memory_cycles: int = quantity("Time that reading or writing a line occupies a unit's memory.", "cycles", 1, 100_000)
    directory_cycles: int = quantity(
        "Time that a directory access alone occupies a unit's memory.", "cycles", 0, 100_000
    )
    snoop_cycles: int = quantity("Time for a cache to answer a request of the directory.", "cycles", 0, 100_000)
    controller_cycles: int = quantity("Latency between a unit and its ring.", "cycles", 0, 100_000)
    hop_cycles: int = quantity("Latency from one hypernode to the next on a ring.", "cycles", 1, 10_000)
    ring_bytes: int = quantity("Bytes per cycle over a ring link.", "bytes", 1, 4096)
    header_bytes: int = quantity("Packet header.", "bytes", 1, 4096)

    def capacity(self) -> int:
        """Maximum number of processors."""
        return self.hypernodes * self.hypernode_processors

    def nodes(self) -> int:
        """Return the number of page locations."""
        return self.hypernodes

    def cluster(self) -> int:
        """Processors per hypernode, which share its network cache."""
        return self.hypernode_processors

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:
        """Return the bandwidth of the memory units in hypernodes with active processors."""
        units = math.ceil(processors / self.hypernode_processors) * self.rings
        return units * line_bytes / self.memory_cycles * clock_hz
