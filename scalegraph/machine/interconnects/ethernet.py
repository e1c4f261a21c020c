"""Shared Ethernet; see csrc/interconnect/sg_wire_ethernet.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.interconnects.base import InterconnectSection, time


class Ethernet(InterconnectSection):
    """One cable shared by all nodes."""

    kind: Literal["ethernet"] = choice("Topology: one cable; one node sends at a time, the others listen and wait.")
    stations: int = quantity("Nodes on the cable.", "nodes", 1, 1024)
    slot_ns: float = quantity(
        "Mean cost of collisions for a frame that finds the cable busy: one slot.",
        "ns",
        0,
        1e9,
        default=0.0,
        runtime=time("slot"),
    )

    def capacity(self) -> int:
        """Maximum number of nodes."""
        return self.stations
