"""The kinds of panels in figures: widget, tab text and minimum size of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from scalegraph.figures.diagram import Diagram
from scalegraph.figures.figure import Field, Grid, Panel, Plot, Radar, Source, Surface, Table, Timeline
from scalegraph.figures.flames import Flame
from scalegraph.gui.figures.diagram.panel import DiagramPanel
from scalegraph.gui.figures.field.panel import FieldPanel
from scalegraph.gui.figures.flame.panel import FlamePanel
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.radar import RadarPanel
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.surface import SurfacePanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel

PanelWidget: TypeAlias = (
    PlotPanel
    | GridPanel
    | TablePanel
    | SourcePanel
    | SurfacePanel
    | TimelinePanel
    | RadarPanel
    | FlamePanel
    | DiagramPanel
)  # a field is a plot
# width and height in pixels at which a panel is still easy to read
LEAST: Final[dict[type, tuple[int, int]]] = {
    PlotPanel: (320, 262),  # with title and axis; the plot itself has 220
    GridPanel: (420, 300),
    TablePanel: (460, 300),
    SourcePanel: (520, 220),
    FieldPanel: (380, 260),
    SurfacePanel: (360, 280),
    TimelinePanel: (420, 160),
    RadarPanel: (420, 260),
    FlamePanel: (420, 220),
    DiagramPanel: (420, 320),
}
PARTS: Final[dict[type, str]] = {
    PlotPanel: "Plot",
    GridPanel: "Matrix",
    TablePanel: "Table",
    SourcePanel: "Source",
    FieldPanel: "Map",
    SurfacePanel: "Surface",
    TimelinePanel: "Timeline",
    RadarPanel: "Radar",
    FlamePanel: "Flame graph",
    DiagramPanel: "Diagram",
}
KINDS: Final[dict[type, type]] = {
    Plot: PlotPanel,
    Grid: GridPanel,
    Table: TablePanel,
    Source: SourcePanel,
    Field: FieldPanel,
    Surface: SurfacePanel,
    Timeline: TimelinePanel,
    Radar: RadarPanel,
    Flame: FlamePanel,
    Diagram: DiagramPanel,
}


def update(widget: PanelWidget, panel: Panel) -> None:
    """Show *panel* in *widget*, which is of its kind."""
    setters: dict[type, Callable[..., None]] = {
        PlotPanel: PlotPanel.set_plot,
        GridPanel: GridPanel.set_grid,
        TablePanel: TablePanel.set_table,
        SourcePanel: SourcePanel.set_source,
        FieldPanel: FieldPanel.set_field,
        SurfacePanel: SurfacePanel.set_surface,
        RadarPanel: RadarPanel.set_radar,
        FlamePanel: FlamePanel.set_flame,
        DiagramPanel: DiagramPanel.set_diagram,
    }
    setters[type(widget)](widget, panel)
