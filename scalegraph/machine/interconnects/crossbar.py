"""Crossbar; see csrc/interconnect/sg_wire_crossbar.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import InterconnectSection


class Crossbar(InterconnectSection):
    """One switch between all nodes."""

    kind: Literal["crossbar"] = choice("Topology: one switch with a port for each node.")
    ports: int = quantity("Ports of the switch.", "ports", 1, 16_384)

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.ports
