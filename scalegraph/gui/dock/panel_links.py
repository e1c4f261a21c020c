"""A figure's panels and the selection: a click in one selects, and a selection is marked in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, Signal

from scalegraph.figures.figure import Panel, Timeline
from scalegraph.gui.figures.diagram.panel import DiagramPanel
from scalegraph.gui.figures.flame.panel import FlamePanel
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.kinds import KINDS, PanelWidget
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.radar import RadarPanel
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.surface import SurfacePanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.state.what_if_state import target_of
from scalegraph.gui.trace.link import TraceLink


class PanelLinks(QObject):
    """Makes panels that select what is clicked in them. *study*: the figure's; *link*: to its trace, if it is of one.

    Regions are marked only while the figure's study is selected.
    """

    option_moved = Signal(str, float, bool)  # option set by a dragged line, value, whether it was released
    place_chosen = Signal()  # a row that stands for a source location

    def __init__(self, context: Context, study: str | None, link: TraceLink | None) -> None:
        super().__init__()
        self._context, self._study, self._link = context, study, link
        self.view = ""  # name of the figure's view
        self.keys_of: Callable[[Selection], Sequence[str]] = self._region_key  # rows to highlight for a selection
        self.selection_of: Callable[[str], dict[str, object]] = _region_of  # what a click on a row selects

    def make(self, panel: Panel) -> PanelWidget:
        """Return the widget of *panel*, linked with the selection."""
        theme = self._context.theme.name
        made: PanelWidget = (
            self._timeline(panel, theme) if isinstance(panel, Timeline) else KINDS[type(panel)](panel, theme)
        )
        if isinstance(made, PlotPanel):
            made.handle_moved.connect(self.option_moved)
            made.processors_chosen.connect(lambda n: self._choose(processors=n))
        elif isinstance(made, GridPanel):
            made.cell_chosen.connect(lambda cell: self._choose(cell=cell))
        elif isinstance(made, RadarPanel):
            made.location_chosen.connect(lambda location: self._choose(location=location))
        elif isinstance(made, FlamePanel):
            made.frame_chosen.connect(self._choose_row)
        elif isinstance(made, DiagramPanel):
            made.item_chosen.connect(self._choose_row)
        elif isinstance(made, TablePanel):
            made.row_chosen.connect(self._choose_row)
            made.can_be_faster = lambda key: bool(target_of(self.view, key))
            made.faster_wanted.connect(lambda key: self._context.faster_wanted.emit(target_of(self.view, key)))
        elif isinstance(made, SourcePanel):
            made.region_chosen.connect(lambda region, line: self._choose(region=region, line=line))
            made.faster_wanted.connect(self._context.faster_wanted)
        if not isinstance(made, TablePanel | SourcePanel):
            made.escaped.connect(self._context.selection.clear)
        return made

    def _timeline(self, panel: Timeline, theme: str) -> TimelinePanel:
        link = self._link
        if link is None:
            return TimelinePanel(panel, theme)
        timeline = TimelinePanel(panel, theme, link.window, link.marks, apart=link.apart)
        link.serve(timeline)
        return timeline

    def _choose(self, **changes: object) -> None:
        if self._study is not None:
            changes["study"] = self._study
        self._context.selection.select(**changes)

    def _choose_row(self, key: str) -> None:
        if self._link is not None and self._link.go_to(key):
            return
        changes = self.selection_of(key)
        if self._link is not None and "region" in changes:
            changes |= self._link.region_changes(int(str(changes["region"])))
        if changes:
            self._choose(**changes)
            if {"line", "region"} & changes.keys() and self._link is None:
                self.place_chosen.emit()

    def _region_key(self, selection: Selection) -> Sequence[str]:
        mine = self._study is None or selection.study in (None, self._study)
        return () if selection.region is None or not mine else (str(selection.region),)

    def mark(self, panels: Iterable[PanelWidget], selection: Selection) -> None:
        """Mark *selection* in *panels*."""
        mine = self._study is None or selection.study in (None, self._study)
        region = selection.region if mine else None
        for panel in panels:
            if isinstance(panel, PlotPanel | SurfacePanel):
                panel.select(selection.processors)
            elif isinstance(panel, GridPanel):
                panel.select(selection.cell if mine else None, selection.processors)
            elif isinstance(panel, FlamePanel | DiagramPanel):
                panel.select(self.keys_of(selection))
            elif isinstance(panel, TablePanel):
                panel.select_first(self.keys_of(selection))
            elif isinstance(panel, TimelinePanel):
                location = selection.location if mine else None
                interval = self._link.interval(selection) if self._link is not None else None
                panel.select(interval, frozenset() if location is None else frozenset({location}))
            elif isinstance(panel, RadarPanel):
                panel.select(frozenset() if selection.location is None or not mine else frozenset({selection.location}))
            else:
                panel.select(region, selection.line if mine else None)


def _region_of(key: str) -> dict[str, object]:
    return {"region": int(key)} if key.lstrip("-").isdigit() else {}
