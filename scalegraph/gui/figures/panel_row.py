"""The panels of a figure beside or below one another, made at once or one in a turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from scalegraph.figures.figure import Panel, Source, Table
from scalegraph.gui.base.turn_queue import turn_queue


class PanelRow(QSplitter):
    """Holds the widgets that *make* returns for panels."""

    def __init__(self, make: Callable[[Panel], QWidget], orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self._make = make
        self.setChildrenCollapsible(False)

    def fill(self, panels: Sequence[Panel]) -> None:
        """Make all of *panels* now."""
        for panel in panels:
            self._add(panel)

    def fill_in_turns(self, panels: Sequence[Panel], then: Callable[[], object]) -> None:
        """Make the first of *panels* now and each other one in a turn of its own, then call *then* in another.

        Nothing of it comes any more once the row is deleted.
        """
        self._add(panels[0])
        for panel in panels[1:]:
            turn_queue().add(self, partial(self._add, panel), heavy=True)
        turn_queue().add(self, then, heavy=True)

    def _add(self, panel: Panel) -> None:
        self.addWidget(self._make(panel))
        self.setStretchFactor(self.count() - 1, 2 if isinstance(panel, Table | Source) else 3)
