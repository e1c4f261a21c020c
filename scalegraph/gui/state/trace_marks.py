"""Moments that all of a trace's views over time show as lines: two measuring cursors, bookmarks, the replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Signal

from scalegraph.base.measures import exact
from scalegraph.base.units import thousands

CURSORS: Final = ("A", "B")
REPLAY: Final = "replay"  # the replay's kind of moment


@dataclass(frozen=True)
class Moment:
    """A line across the lanes: seconds from the start of the run, name and kind.

    With *until* it is an interval.
    """

    seconds: float
    name: str
    kind: str = "cursor"  # "cursor", "bookmark" or `REPLAY`
    until: float | None = None


class TraceMarks(QObject):
    """The moments of one open trace."""

    changed = Signal()

    def __init__(self, ticks_per_second: float = 1e9, unit: str = "ticks", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.ticks_per_second, self.unit = ticks_per_second, unit
        self.measure = "s"  # unit of the axis; may be a fraction instead of seconds
        self._cursors: dict[str, float] = {}
        self._others: dict[str, tuple[Moment, ...]] = {}

    @property
    def cursors(self) -> dict[str, float]:
        """The cursors' positions in seconds, by name."""
        return dict(self._cursors)

    def place(self, seconds: float, name: str = "") -> None:
        """Set the cursor *name*, or the next of the two; a third click starts again."""
        if not name:
            free = [cursor for cursor in CURSORS if cursor not in self._cursors]
            if not free:
                self._cursors.clear()
                free = list(CURSORS)
            name = free[0]
        self._cursors[name] = seconds
        self.changed.emit()

    def remove_cursors(self) -> None:
        """Remove both cursors."""
        if self._cursors:
            self._cursors.clear()
            self.changed.emit()

    def show(self, kind: str, moments: tuple[Moment, ...]) -> None:
        """Replace the moments of *kind* by *moments*."""
        if self._others.get(kind, ()) != moments:
            self._others[kind] = moments
            self.changed.emit()

    def moments(self) -> list[Moment]:
        """Return all moments to draw."""
        cursors = [Moment(seconds, name) for name, seconds in sorted(self._cursors.items())]
        return [*(moment for group in self._others.values() for moment in group), *cursors]

    def said(self) -> str:
        """Return the cursors' positions and distance in seconds and ticks, "" without cursors.

        Ticks are omitted without a clock *unit*; on an axis of fractions only ticks are given.
        """
        from scalegraph.figures.timelines import time_text

        if not self._cursors:
            return ""
        tick = 1 / self.ticks_per_second

        def told(there: float) -> str:
            return time_text(there, tick) if self.measure == "s" else exact(there, self.measure)

        parts = [f"{name} {told(seconds)}" for name, seconds in sorted(self._cursors.items())]
        if len(self._cursors) == len(CURSORS):
            first, second = (self._cursors[name] for name in CURSORS)
            between = abs(second - first)
            ticks = f" = {thousands(round(between * self.ticks_per_second))} {self.unit}" if self.unit else ""
            parts.append(f"between them {told(between)}{ticks}")
        return "   ".join(parts)
