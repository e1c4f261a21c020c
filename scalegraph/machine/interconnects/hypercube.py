"""Hypercube; see csrc/interconnect/sg_wire_hypercube.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import InterconnectSection


class Hypercube(InterconnectSection):
    """Nodes at the corners of a hypercube."""

    kind: Literal["hypercube"] = choice(
        "Topology: a link between every two nodes whose numbers differ in one binary digit; e-cube routing."
    )
    dimension: int = quantity("Dimensions: links per node.", "dimensions", 0, 14)

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return int(2**self.dimension)
