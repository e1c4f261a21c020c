"""Fat tree; see csrc/interconnect/sg_wire_fat_tree.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection


class FatTree(InterconnectSection):
    """Nodes at the leaves of a tree with more links towards the root."""

    kind: Literal["fat_tree"] = choice("Topology: a tree of switches with several links between two levels.")
    arity: int = quantity(
        "Nodes of a switch of the first level, and groups of a level in one of the next.", "groups", 2, 64
    )
    levels: int = quantity("Levels of switches.", "levels", 1, 14)
    tapered_levels: int = quantity(
        "Levels, from the first on, that have half the links up that full bandwidth takes.", "levels", 0, 14, default=0
    )
    routing: Literal["static", "adaptive"] = choice(
        "Which of several links a message takes: static: its receiver's number decides; adaptive: the one that is free "
        "first, on the way up.",
        default="static",
        runtime=None,
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return int(self.arity**self.levels)

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the tree is too large."""
        if self.capacity() <= MOST_NODES:
            return []
        return [("levels", f"expected at most {MOST_NODES} nodes, got {self.arity}^{self.levels}")]
