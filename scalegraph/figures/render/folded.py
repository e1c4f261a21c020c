"""Flame graphs as folded stacks: one line for each call path, as flamegraph.pl, inferno and speedscope read them."""

from __future__ import annotations

from typing import Final

from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure, Flame

_SCALE: Final = {"s": 1e9, "ms": 1e6, "us": 1e3, "cycles": 1.0}  # readers take whole numbers only: time in ns


def folded(figure: Figure) -> str:
    """Return ``main;solve;wait 1200``: names from the root, and the own value as a whole number (times in ns).

    Of a difference each line has the values of the first and of the second tree, as ``difffolded.pl`` writes them.

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
