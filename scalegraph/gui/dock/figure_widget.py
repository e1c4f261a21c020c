"""A `Figure` on the screen: title, summary sentence, panels and notes, or why there is no picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from scalegraph.figures.figure import Figure, Panel, Timeline
from scalegraph.gui.base.retire import retire
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.figure_frame import FigureFrame
from scalegraph.gui.dock.panel_links import PanelLinks
from scalegraph.gui.figures.diagram.panel import DiagramPanel
from scalegraph.gui.figures.estimated_line import EstimatedLine
from scalegraph.gui.figures.flame.panel import FlamePanel
from scalegraph.gui.figures.kinds import KINDS, PanelWidget, update
from scalegraph.gui.figures.notes_area import NotesArea
from scalegraph.gui.figures.panel_row import PanelRow
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.surface import SurfacePanel
from scalegraph.gui.figures.timeline.paint import Picture
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.trace.link import TraceLink

Zoomed: TypeAlias = PlotPanel | SurfacePanel | TimelinePanel | FlamePanel | DiagramPanel
Pictures: TypeAlias = Mapping[int, Picture]  # by id of their timeline


class FigureWidget(FigureFrame):
    """Shows one figure; *context* is shared with all other views.

    *study* is the figure's study: its regions are highlighted only while that study is selected. *with_title* is off
    inside a frame that already has the title.
    """

    retry_wanted = Signal()
    shown = Signal(object)  # the Figure now on the screen

    def __init__(
        self,
        context: Context,
        study: str | None = None,
        *,
        with_title: bool = True,
        link: TraceLink | None = None,
        parent: QWidget | None = None,
    ) -> None:
        links = PanelLinks(context, study, link)
        super().__init__(links.make, with_title=with_title, parent=parent)
        self.links = links
        links.setParent(self)
        self._pictures: Pictures = {}
        self._coming: PanelRow | None = None  # panels of the next figure, built turn by turn
        self._selection, self._theme = context.selection, context.theme
        self._undressed = False  # whether its panels still have another theme's colours
        self._state.retry.clicked.connect(self.retry_wanted)
        self.ways.wanted.connect(context.way_wanted)
        self._selection.changed.connect(self._follow)
        self._theme.changed.connect(self._dress)
        self.show_loading()

    # states

    @property
    def figure(self) -> Figure | None:
        """The figure on the screen, or ``None`` before the first."""
        return self._figure

    @property
    def panels(self) -> list[PanelWidget]:
        """The widgets of the figure's panels, in order."""
        return list(self._panels)

    def show_loading(self, text: str = "Drawing …") -> None:
        """Show that the picture is being made; the previous one stays."""
        if self._figure is None or not self._panels:
            self._state.say(text)
            self._stack.setCurrentWidget(self._state)

    def show_failed(self, sentence: str) -> None:
        """Show why there is no picture, and a button to try again."""
        self._figure = None
        self._drop_coming()
        self._drop_panels()
        self._texts("", "")
        self._state.say(sentence, fault=True, retry=True)
        self._stack.setCurrentWidget(self._state)

    def show_figure(self, figure: Figure, pictures: Pictures | None = None) -> None:
        """Show *figure*; zoom, scroll position and sorting are kept if the panels are of the same kinds.

        *pictures* are those of its timelines if already drawn.
        """
        self._drop_coming()
        self._show(figure, pictures or {})

    def show_in_turns(self, figure: Figure, pictures: Pictures, then: Callable[[], object]) -> None:
        """Show *figure* like `show_figure`, but build new panels first, one per turn; then call *then*.

        The previous figure stays until all are built. A newer figure replaces this one.
        """
        self._drop_coming()
        if figure.empty or len(figure.panels) < 2 or self._fits(figure.panels):
            self._show(figure, pictures)
            then()
            return

        def show() -> None:
            self._show(figure, pictures)
            then()

        self._coming = self._new_row()
        self._coming.fill_in_turns(figure.panels, show)

    def _show(self, figure: Figure, pictures: Pictures) -> None:
        self._pictures = pictures
        self._figure, self.links.view = figure, figure.view
        self._texts(figure.title, figure.sentence)
        self.setAccessibleName(figure.title)
        self.setAccessibleDescription(figure.sentence or figure.empty)
        if figure.empty or not figure.panels:
            self._drop_panels()
            self._state.say(figure.empty or "There is nothing to show yet.")
            self._stack.setCurrentWidget(self._state)
        else:
            self._show_panels(figure.panels)
            self._stack.setCurrentWidget(self._row)
            self._follow(self._selection.current)
            for panel in self._panels:
                panel.setAccessibleDescription(figure.sentence)
        self.ways.offer(figure.ways, below=bool(figure.panels))
        self._place_ways()
        self.shown.emit(figure)

    def state_text(self) -> str:
        """Return the text of the empty, loading or failed state; "" when a picture is shown."""
        return self._state.text() if self._stack.currentWidget() is self._state else ""

    @property
    def retry_button(self) -> QPushButton:
        """The button shown on failure."""
        return self._state.retry

    @property
    def notes(self) -> NotesArea:
        """The area of the notes."""
        return self._notes

    @property
    def estimated(self) -> EstimatedLine:
        """The line that says that numbers are estimates."""
        return self._estimated

    def fit(self) -> None:
        """Reset every zoom."""
        for panel in self._panels:
            if isinstance(panel, Zoomed):
                panel.fit()

    def can_zoom(self) -> bool:
        """Return whether there is a zoom to reset."""
        return any(isinstance(panel, Zoomed) for panel in self._panels)

    # making

    def _fits(self, panels: tuple[Panel, ...]) -> bool:
        """Return whether the existing widgets can show *panels*."""
        return [KINDS[type(panel)] for panel in panels] == [type(widget) for widget in self._panels]

    def _show_panels(self, panels: tuple[Panel, ...]) -> None:
        if self._coming is None and self._fits(panels):
            for widget, panel in zip(self._panels, panels, strict=True):
                if isinstance(widget, TimelinePanel) and isinstance(panel, Timeline):
                    widget.set_timeline(panel, self._pictures.get(id(panel)))
                else:
                    update(widget, panel)
            return
        row, self._coming = self._coming, None
        if row is None:
            row = self._new_row()
            row.fill(panels)
        self._take_row(row)
        self._panels = row.panels  # type: ignore[assignment]
        for widget in self._panels:
            widget.set_theme(self._theme.name)  # the theme may have changed while they were built
        self.setFocusProxy(self._panels[0])
        self._name_parts()
        self._orient()
        self._share()

    def _new_row(self) -> PanelRow:
        row = PanelRow(self.links.make, self._row.orientation())
        self._stack.addWidget(row)
        return row

    def _take_row(self, row: PanelRow) -> None:
        old, self._row = self._row, row
        self._stack.setCurrentWidget(row)
        self._stack.removeWidget(old)
        retire(old)

    def stop(self) -> None:
        """Stop building panels; the current figure stays."""
        self._drop_coming()

    def _drop_coming(self) -> None:
        if self._coming is not None:
            turn_queue().drop(self._coming)
            self._stack.removeWidget(self._coming)
            retire(self._coming)
            self._coming = None

    def _drop_panels(self) -> None:
        if self._panels:
            self._panels = []
            self._take_row(self._new_row())
        self._choice.hide()

    # selection and colours

    def _follow(self, selection: Selection) -> None:
        self.links.mark(self._panels, selection)

    def _dress(self, _name: str) -> None:
        """Apply the theme's colours to visible panels; others follow when shown."""
        self._undressed = True
        if not self.visibleRegion().isEmpty() and not turn_queue().spend(self.catch_up):  # behind a tab is "visible"
            turn_queue().add(self, self.catch_up, heavy=True)

    def catch_up(self) -> None:
        """Apply the current theme if it changed while this was hidden; in a turn of its own while docks are placed."""
        if self._undressed and not self.updatesEnabled():
            turn_queue().add(self, self.catch_up, heavy=True)
        elif self._undressed:
            self._undressed = False
            for panel in self._panels:
                panel.set_theme(self._theme.name)

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: apply a theme changed in the meantime."""
        self.catch_up()
        super().showEvent(event)
