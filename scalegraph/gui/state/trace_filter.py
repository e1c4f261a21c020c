"""The filter of a trace, shared by all its views; every change can be undone."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.base.undo import Change, UndoStack


@dataclass(frozen=True)
class Filter:
    """Locations (``0-15,20``), regions (part of the name) and minimum duration (s) to show; empty: all."""

    locations: str = ""
    region: str = ""
    duration: float = 0.0

    @property
    def empty(self) -> bool:
        """Whether everything is shown."""
        return self == Filter()

    def options(self) -> dict[str, Any]:
        """Return the filter as view options, without empty parts."""
        reported = {"locations": self.locations, "region": self.region, "duration": self.duration}
        return {name: value for name, value in reported.items() if value}

    def chips(self) -> list[tuple[str, str]]:
        """Return name and text of every part of the filter that excludes something."""
        from scalegraph.base.units import si

        said = {
            "locations": f"locations {self.locations}",
            "region": f"region {self.region}",
            "duration": f"{si(self.duration, 's')} or longer",
        }
        return [(part.name, said[part.name]) for part in fields(self) if getattr(self, part.name) != part.default]


class TraceFilter(QObject):
    """The filter of one open trace."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current = Filter()
        self.stack = UndoStack(self)

    @property
    def current(self) -> Filter:
        """The current filter."""
        return self._current

    def set(self, **changes: Any) -> None:
        """Change the given parts as one undoable step."""
        after = replace(self._current, **changes)
        if after != self._current:
            self.stack.push(Change("filter", self.take, self._current, after))

    def clear(self) -> None:
        """Remove the whole filter."""
        self.set(**{part.name: part.default for part in fields(Filter)})

    def take(self, what: Filter) -> None:
        """Set the filter to *what*; for undo and redo."""
        self._current = what
        self.changed.emit()
