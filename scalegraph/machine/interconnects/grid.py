"""The common declaration of meshes and tori."""

from __future__ import annotations

from scalegraph.machine.fields import quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection


class Grid(InterconnectSection):
    """Nodes in rows, columns and layers; numbered along the rows, then row by row, then layer by layer."""

    columns: int = quantity("Nodes per row.", "nodes", 1, 1024)
    rows: int = quantity("Nodes per column.", "nodes", 1, 1024)
    layers: int = quantity("Number of planes; 1: two dimensions.", "nodes", 1, 256, default=1)

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.columns * self.rows * self.layers

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the grid is too large."""
        if self.capacity() <= MOST_NODES:
            return []
        return [("layers", f"expected at most {MOST_NODES} nodes in all, got {self.capacity()}")]
