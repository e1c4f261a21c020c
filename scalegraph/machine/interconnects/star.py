"""Star of switches; see csrc/interconnect/sg_wire_star.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection, bandwidth


class Star(InterconnectSection):
    """Nodes on the ports of switches, connected by a central switch."""

    kind: Literal["star"] = choice("Topology: edge switches with nodes on their ports, and a central switch.")
    switch_nodes: int = quantity("Nodes per edge switch.", "nodes", 1, 1024)
    switches: int = quantity("Edge switches; a single one needs no central switch.", "switches", 1, 1024, default=1)
    uplinks: int = quantity("Links from an edge switch to the central one.", "links", 1, 64, default=1)
    uplink_mb_s: float = quantity(
        "Bandwidth of such a link in each direction.", "MB/s", 0.001, 1e9, runtime=bandwidth("uplink")
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.switch_nodes * self.switches

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the star is too large."""
        if self.capacity() <= MOST_NODES:
            return []
        return [("switches", f"expected at most {MOST_NODES} nodes in all, got {self.capacity()}")]
