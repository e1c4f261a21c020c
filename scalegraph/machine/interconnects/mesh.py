"""Mesh; see csrc/interconnect/sg_wire_mesh.c."""

from __future__ import annotations

from typing import Literal

from scalegraph.machine.fields import choice
from scalegraph.machine.interconnects.grid import Grid


class Mesh(Grid):
    """Nodes in a grid of two or three dimensions."""

    kind: Literal["mesh"] = choice("Topology: a grid; messages go along the row, then the column, then the layers.")
