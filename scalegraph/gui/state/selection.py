"""The window's one selection as a QObject: a click in one view updates all."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.state.selection_state import Selection, SelectionState

__all__ = ["Selection", "SelectionModel", "SelectionState"]


class SelectionModel(QObject):
    """`SelectionState` for Qt: a signal that is disconnected when its receiver is deleted."""

    changed = Signal(object)  # the new Selection

    def __init__(self, state: SelectionState | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = state or SelectionState()
        self.state.subscribe(self.changed.emit)

    @property
    def current(self) -> Selection:
        """The current selection."""
        return self.state.current

    def select(self, **changes: Any) -> None:
        """Change the given parts: ``select(processors=8)``, ``select(cell=(4, 16))``, ``select(region=None)``."""
        self.state.select(**changes)

    def clear(self) -> None:
        """Clear everything but the current study."""
        self.state.clear()

    def back(self) -> None:
        """Return to the previous selection."""
        self.state.back()

    def forward(self) -> None:
        """Undo one `back`."""
        self.state.forward()
