"""Flame graphs as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scalegraph.figures.figure import Axis, Key


@dataclass(frozen=True)
class Frame:
    """A frame of a `Flame`: a call path. *parent* is the number of the frame it is stacked on, -1 for a root.

    *start* and *width* place it on the value axis. *value* is inclusive, *own* exclusive. In a differential flame graph
    these are of the second tree, *before* and *own_before* of the first, and *change* sets the colour. *key* selects
    like that of a `Row`.
    """

    name: str
    parent: int
    depth: int
    start: float
    width: float
    value: float
    own: float
    role: str = "muted"
    tip: str = ""
    key: str = ""
    before: float = float("nan")
    own_before: float = float("nan")
    change: float = float("nan")


@dataclass(frozen=True)
class Flame:
    """A flame graph: frames stacked on their callers, parents before children, with *value* as width.

    Shares are of *whole*, named *base* (``the processor time of the run``). *change* is the axis of the diverging
    colours in a differential graph, with symmetric limits; *icicle* puts the roots on top; *legend* explains colours.
    """

    frames: tuple[Frame, ...]
    value: Axis
    whole: float
    base: str
    change: Axis | None = None
    icicle: bool = False
    legend: tuple[Key, ...] = ()
