"""Torus; see csrc/interconnect/sg_wire_torus.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice
from scalegraph.machine.interconnects.grid import Grid


class Torus(Grid):
    """Nodes in a grid of two or three dimensions with wrap-around links."""

    kind: Literal["torus"] = choice(
        "Topology: a grid with joined edges; routed as a mesh, but the shorter way round in each dimension."
    )
