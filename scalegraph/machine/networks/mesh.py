"""Mesh of tiles; see csrc/network/sg_net_mesh.c."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from scalegraph.machine.fields import choice, quantity
from scalegraph.machine.networks.base import NetworkSection


class Mesh(NetworkSection):
    """Two-dimensional mesh of tiles, each with a part of the directory; memory controllers at two edges."""

    private_only: ClassVar[bool] = True
    kind: Literal["mesh"] = choice("Topology: mesh of tiles; messages go along the row, then the column.")
    width: int = quantity("Columns of tiles.", "tiles", 1, 64)
    height: int = quantity("Rows of tiles.", "tiles", 1, 64)
    router_cycles: int = quantity("Latency of the first flit of a message through one router.", "cycles", 0, 10_000)
    link_cycles: int = quantity("And over one link.", "cycles", 1, 10_000)
    flit_bytes: int = quantity("Bytes per cycle over a link.", "bytes", 1, 4096)
    header_bytes: int = quantity("Message header.", "bytes", 1, 4096)
    directory_cycles: int = quantity(
        "Time that one request occupies a tile's part of the directory.", "cycles", 0, 100_000
    )
    snoop_cycles: int = quantity("Time for a cache to answer a request of the directory.", "cycles", 0, 100_000)
    controllers: int = quantity(
        "Memory controllers, alternating between the west and east edges.", "controllers", 1, 128
    )
    banks: int = quantity("Banks per controller, with interleaved lines.", "banks", 1, 1024)
    memory_cycles: int = quantity("Time for a controller to read a line.", "cycles", 0, 1_000_000)
    bank_busy_cycles: int = quantity("Time that one line occupies a bank.", "cycles", 0, 1_000_000)

    def capacity(self) -> int:
        """Maximum number of processors."""
        return self.width * self.height

    def nodes(self) -> int:
        """Return the number of page locations."""
        return self.controllers

    def faults(self) -> list[tuple[str, str]]:
        """Return an error if the controllers do not fit at the edges."""
        if self.controllers <= 2 * self.height:
            return []
        return [("controllers", f"expected at most two a row, got {self.controllers} on {self.height} rows")]

    def memory_b_s(self, processors: int, line_bytes: int, clock_hz: float) -> float:  # noqa: ARG002 - of others
        """Return the bandwidth of the banks of all controllers; infinite if banks are never busy."""
        banks = self.controllers * self.banks
        return banks * line_bytes / self.bank_busy_cycles * clock_hz if self.bank_busy_cycles else math.inf
