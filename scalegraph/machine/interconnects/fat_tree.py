"""Fat tree; see csrc/interconnect/sg_wire_fat_tree.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import MOST_NODES, InterconnectSection


class FatTree(InterconnectSection):
    """Nodes at the leaves of a tree with more links towards the root."""

    kind: Literal["fat_tree"] = choice("Topology: a tree of switches with several links between levels.")
    arity: int = quantity("Nodes per first-level switch, and groups of a level in one of the next.", "groups", 2, 64)
    levels: int = quantity("Levels of switches.", "levels", 1, 14)
    tapered_levels: int = quantity(
        "Number of levels, from the first on, that each halve the bandwidth passed upwards.",
        "levels",
        0,
        14,
        default=0,
    )
    routing: Literal["static", "adaptive"] = choice(
        "Which of several links a message takes. static: chosen by the receiver's number; adaptive: on the way up, "
        "the first free one.",
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
