"""A figure's panels beside or below one another, built at once or one per turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from scalegraph.figures.figure import Panel, Source, Table
from scalegraph.gui.base.retire import retire
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.figures.kinds import LEAST
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel

_MULTIPLE: Final = (280, 190)  # least width and height in pixels of one of several similar plots


class PanelRow(QSplitter):
    """Holds the widgets that *make* returns for panels: in a row, a column, or several rows (small multiples)."""

    def __init__(self, make: Callable[[Panel], QWidget], orientation: Qt.Orientation) -> None:
        super().__init__(orientation)
        self._make = make
        self._columns = 0  # if there are several rows; 0: one row or column
        self.panels: list[QWidget] = []
        self.setChildrenCollapsible(False)

    def fill(self, panels: Sequence[Panel]) -> None:
        """Build all of *panels* now."""
        for panel in panels:
            self._add(panel)

    def fill_in_turns(self, panels: Sequence[Panel], then: Callable[[], object]) -> None:
        """Build the first of *panels* now and the others in a turn each; call *then* in another turn.

        Stops when the row is deleted.
        """
        self._add(panels[0])
        for panel in panels[1:]:
            turn_queue().add(self, partial(self._add, panel), heavy=True)
        turn_queue().add(self, then, heavy=True)

    def _add(self, panel: Panel) -> None:
        made = self._make(panel)
        self.panels.append(made)
        self.addWidget(made)
        self.setStretchFactor(self.count() - 1, 2 if isinstance(panel, Table | Source) else 3)

    def lay(self, columns: int) -> bool:
        """Arrange the panels in *columns* columns; return whether that changed anything."""
        several = 1 < columns < len(self.panels)
        wanted = Qt.Orientation.Horizontal if columns == len(self.panels) else Qt.Orientation.Vertical
        if (columns if several else 0, wanted) == (self._columns, self.orientation()):
            return False
        rows = [self.widget(at) for at in range(self.count())] if self._columns else []
        self._columns = columns if several else 0
        self.setOrientation(wanted)
        for at, panel in enumerate(self.panels):
            if not several:
                self.addWidget(panel)
            elif at % columns == 0:
                row = QSplitter(Qt.Orientation.Horizontal)
                row.setChildrenCollapsible(False)
                self.addWidget(row)
                row.addWidget(panel)
            else:
                row.addWidget(panel)
        for _ in range(-len(self.panels) % columns if several else 0):
            row.addWidget(QWidget())  # fills the last row, so that columns align
        for old in filter(None, rows):
            old.setParent(None)  # removes it from the splitter at once
            retire(old)
        return True


def best_columns(kinds: Sequence[type], width: int, height: int) -> tuple[int, float]:
    """Return the best number of columns for panels of *kinds*, and their size relative to the minimum."""
    count = len(kinds)
    if count > 2 and set(kinds) == {PlotPanel}:  # small multiples
        choices = (
            (columns, min(width / (columns * _MULTIPLE[0]), height / (-(-count // columns) * _MULTIPLE[1])))
            for columns in range(1, count + 1)
        )
        return max(choices, key=lambda one: one[1] * count / (-(-count // one[0]) * one[0]))  # few empty places
    beside = min(width / sum(LEAST[kind][0] for kind in kinds), height / 200)
    if TimelinePanel in kinds:  # beside another panel its time axis would not align with those of other views
        beside = 0.0
    below = min(width / 400, height / sum(LEAST[kind][1] for kind in kinds))
    return (count, beside) if beside > below else (1, below)
