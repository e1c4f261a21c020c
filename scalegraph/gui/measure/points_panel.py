"""The points of a command being measured: a plot over N and a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from scalegraph.base.run import RunRecord
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.measure import live


class PointsPanel(QWidget):
    """Times with intervals over N, above the table of all points."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.plot = PlotPanel(live.plot([]), theme)
        self.table = TablePanel(live.table([]), theme, searchable=False)
        column = vertical(self, spacing=8)
        column.addWidget(self.plot, 3)
        column.addStretch()
        column.addWidget(self.table, 2)

    def show_points(self, records: Sequence[RunRecord]) -> str:
        """Show the points of *records*; return a sentence about them."""
        found = live.points(records)
        known = [point for point in found if point.median_s is not None]
        self.plot.set_plot(live.plot(known))
        self.plot.setVisible(bool(known))
        self.table.set_table(live.table(found))
        return live.sentence(found)

    def set_theme(self, name: str) -> None:
        """Use the colours of the theme *name*."""
        self.plot.set_theme(name)
        self.table.set_theme(name)
