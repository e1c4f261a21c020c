"""Progress of work in words, the same on the terminal and in the window."""

from __future__ import annotations

from scalegraph.base.events import Building
from scalegraph.base.units import counted, seconds


def building_words(event: Building) -> str:
    """Return what is being built, how many of its files are compiled, and the remaining time."""
    count = f": {event.done} of {counted(event.of, 'file')}" if event.of else ""
    left = left_words(event.remaining_s)
    return f"building {event.program}{count}" + (f", {left}" if left else "")


def left_words(remaining_s: float | None) -> str:
    """Return the remaining time in words; empty if unknown or under a second."""
    return f"{seconds(remaining_s)} left" if remaining_s and remaining_s >= 1 else ""
