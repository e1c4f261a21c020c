"""The one selection of the window as a QObject: click in any view, all follow."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.state.selection_state import Selection, SelectionState

__all__ = ["Selection", "SelectionModel", "SelectionState"]


class SelectionModel(QObject):
    """Qt's side of `SelectionState`: a signal that ends by itself with the widget that listens."""

    changed = Signal(object)  # the new Selection

    def __init__(self, state: SelectionState | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = state or SelectionState()
        self.state.subscribe(self.changed.emit)

    @property
    def current(self) -> Selection:
        """What is selected now."""
        return self.state.current

    def select(self, **changes: Any) -> None:
        """Change the named parts: ``select(processors=8)``, ``select(cell=(4, 16))``, ``select(region=None)``."""
        self.state.select(**changes)

    def clear(self) -> None:
        """Select nothing but the study in view."""
        self.state.clear()

    def back(self) -> None:
        """Return to the selection before."""
        self.state.back()

    def forward(self) -> None:
        """Take back one `back`."""
        self.state.forward()
