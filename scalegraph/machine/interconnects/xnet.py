"""X-net and global router; see csrc/interconnect/sg_wire_xnet.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection, bandwidth, time


class Xnet(InterconnectSection):
    """Processing elements in a wrapped grid with links to eight neighbours, and a router for long distances."""

    kind: Literal["xnet"] = choice("Topology: a closed grid with wires to eight neighbours, and a global router.")
    rows: int = quantity(
        "Rows of processing elements. If rows and columns are 0: a grid of exactly the run's elements, as square as "
        "possible, with at least as many columns as rows.",
        "nodes",
        0,
        1024,
    )
    columns: int = quantity("Columns of processing elements; 0 if rows is 0.", "nodes", 0, 1024)
    reach: int = quantity(
        "Maximum number of steps over the grid; messages going farther use the router.", "steps", 0, 2048
    )
    cluster_side: int = quantity("Side of a square of elements that share one channel of the router.", "nodes", 1, 64)
    router_mb_s: float = quantity(
        "Bandwidth of a router channel in each direction.", "MB/s", 0.001, 1e9, runtime=bandwidth("router")
    )
    router_ns: float = quantity(
        "Latency from an element into the router, and again out of it.", "ns", 0, 1e9, runtime=time("router")
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.rows * self.columns or MOST_NODES

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the grid is too large, or has no rows or columns."""
        if (self.rows == 0) != (self.columns == 0):
            return [("columns", "expected rows and columns, or 0 for both")]
        if self.capacity() <= MOST_NODES:
            return []
        return [("rows", f"expected at most {MOST_NODES} nodes in all, got {self.capacity()}")]
