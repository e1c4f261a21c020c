"""Dragonfly; see csrc/interconnect/sg_wire_dragonfly.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection, bandwidth, time


class Dragonfly(InterconnectSection):
    """Groups of fully connected routers; the groups are fully connected, too."""

    kind: Literal["dragonfly"] = choice(
        "Topology: groups of routers; a link between every two routers of a group and between every two groups."
    )
    groups: int = quantity("Groups.", "groups", 1, 1024)
    group_routers: int = quantity("Routers per group.", "routers", 1, 64)
    router_nodes: int = quantity("Nodes per router.", "nodes", 1, 64)
    global_links: int = quantity("Links from a router to other groups.", "links", 1, 64)
    global_mb_s: float = quantity(
        "Bandwidth of a link between two groups in each direction.", "MB/s", 0.001, 1e9, runtime=bandwidth("global")
    )
    global_hop_ns: float = quantity(
        "Latency of the head of a message through one router and a link between groups.",
        "ns",
        0,
        1e9,
        runtime=time("global_hop"),
    )
    routing: Literal["minimal", "valiant"] = choice(
        "minimal: over the link between the two groups; valiant: through a third group, chosen at random but the same "
        "in every run.",
        default="minimal",
        runtime=None,
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.groups * self.group_routers * self.router_nodes

    def faults(self) -> list[tuple[str, str]]:
        """Return groups without a link between them, and a machine that is too large."""
        if self.groups - 1 > self.group_routers * self.global_links:
            text = f"expected at most {self.group_routers * self.global_links + 1}, as many as a group has links to"
            return [("groups", f"{text}, got {self.groups}")]
        if self.capacity() > MOST_NODES:
            return [("router_nodes", f"expected at most {MOST_NODES} nodes in all, got {self.capacity()}")]
        return []
