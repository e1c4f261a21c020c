"""Star of switches; see csrc/interconnect/sg_wire_star.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection, bandwidth


class Star(InterconnectSection):
    """Nodes on the ports of switches, connected by a central switch."""

    kind: Literal["star"] = choice("Topology: switches with nodes on their ports, and a switch in the middle.")
    switch_nodes: int = quantity("Nodes of a switch.", "nodes", 1, 1024)
    switches: int = quantity("Switches with nodes; one needs no other in the middle.", "switches", 1, 1024, default=1)
    uplinks: int = quantity("Links of such a switch to the one in the middle.", "links", 1, 64, default=1)
    uplink_mb_s: float = quantity(
        "Bandwidth of such a link, each direction.", "MB/s", 0.001, 1e9, runtime=bandwidth("uplink")
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.switch_nodes * self.switches

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the star is too large."""
        if self.capacity() <= MOST_NODES:
            return []
        return [("switches", f"expected at most {MOST_NODES} nodes in all, got {self.capacity()}")]
