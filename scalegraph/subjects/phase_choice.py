"""The choice of a trace's phases."""

from __future__ import annotations

from typing import Final

from scalegraph.analyze.trace import phases
from scalegraph.analyze.trace.phases import Phases
from scalegraph.subjects import interval_sums
from scalegraph.subjects.option import Option
from scalegraph.subjects.window import Window

PHASES: Final = Option(
    "phases",
    "Phases",
    "choice",
    "auto",
    phases.CHOICES,
    description="marked in the program, parallel regions, or calls at a depth; otherwise the first of these there is",
)


DEPTH: Final = Option(
    "depth",
    "Depth",
    "int",
    None,
    minimum=0,
    maximum=1000,
    description="phases are the calls at this depth, the outermost is 0",
)


def found(chosen: Window, by: object, depth: object) -> Phases:
    """Return the phases of the chosen part; if regions are chosen, they are those regions' outermost calls."""
    return phases.phases(
        interval_sums.calls(chosen.data),
        chosen.data.trace,
        chosen.begin,
        chosen.end,
        chosen.locations,
        by=by if by in phases.CHOICES else "auto",
        depth=None if depth is None else int(str(depth)),
        regions=chosen.regions,
    )
