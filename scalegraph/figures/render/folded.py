"""Flame graphs as folded stacks: one line per call path, as read by flamegraph.pl, inferno and speedscope."""

from __future__ import annotations

from typing import Final

from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure
from scalegraph.figures.flames import Flame

_SCALE: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "cycles": 1.0}  # readers accept whole numbers only: time in ns


def folded(figure: Figure) -> str:
    """Return lines such as ``main;solve;wait 1200``: names from the root, and own value as a whole number (time in ns).

    For a difference each line has the values of both trees, first and second, as ``difffolded.pl`` writes them.

    Raises:
        InputError: the figure has no flame graph.

    """
    flame = next((panel for panel in figure.panels if isinstance(panel, Flame)), None)
    if flame is None:
        what = figure.told or "only flame graphs have stacks."
        raise InputError(f"{figure.title}: there are no stacks to write: {what}")
    scale = _SCALE.get(flame.value.unit, 1.0)
    paths: list[str] = []
    lines: list[str] = []
    for frame in flame.frames:
        name = " ".join(frame.name.replace(";", ",").split())
        paths.append(f"{paths[frame.parent]};{name}" if frame.parent >= 0 else name)
        own, before = round(frame.own * scale), 0
        if flame.change is not None:
            before = round(frame.own_before * scale)
            numbers = f"{before} {own}"
        else:
            numbers = str(own)
        if own or before:
            lines.append(f"{paths[-1]} {numbers}")
    return "\n".join(lines) + "\n"
