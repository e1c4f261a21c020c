"""A `Figure` on the screen: title, summary sentence, panels and notes, or why there is no picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from scalegraph.figures.diagram import Diagram
from scalegraph.figures.figure import Field, Figure, Flame, Grid, Panel, Plot, Radar, Surface, Table, Timeline
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.retire import retire
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.sentence import Sentence
from scalegraph.gui.figures.diagram.panel import DiagramPanel
from scalegraph.gui.figures.field.panel import FieldPanel
from scalegraph.gui.figures.flame.panel import FlamePanel
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.kinds import KINDS, LEAST, PARTS, PanelWidget, update
from scalegraph.gui.figures.notes_area import NotesArea
from scalegraph.gui.figures.panel_row import PanelRow, best_columns
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.radar import RadarPanel
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.surface import SurfacePanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.paint import Picture
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.figures.way_buttons import WayButtons
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.figure_state import FigureState, figure_label
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.state.what_if_state import target_of
from scalegraph.gui.trace.link import TraceLink

Zoomed: TypeAlias = PlotPanel | SurfacePanel | TimelinePanel | FlamePanel | DiagramPanel
Pictures: TypeAlias = Mapping[int, Picture]  # by id of their timeline
_CRAMPED_TIME = 1.3  # the same if a panel is a timeline: it takes precedence over tables below
_CRAMPED = 1.0  # share of its least size below which a panel is shown alone, with tabs
_WHOLE_FROM = 330  # pixels of height below which a long sentence is shortened
_WHOLE_TIME_FROM = 640  # the same with a timeline, whose lanes take precedence
_FEW_LINES, _SOME_LINES = 2, 3
_TALL = 640  # pixels of height at which a sentence may take all the lines it needs
_ANSWER_TALL = 440  # the same if the sentence answers a question
_FEW_ROWS, _MANY_ROWS = 4, 16  # rows of stacked tables: minimum for each, and maximum that counts for its share
_ONE_FROM = 170  # pixels of height below which a sentence gets one line
_ROWS_FROM = 240  # the same with a table
_NOTES_FROM = 300  # pixels of height below which notes are hidden


class FigureWidget(QWidget):
    """Shows one figure; *context* is shared with all other views.

    *study* is the figure's study: its regions are highlighted only while that study is selected. *with_title* is off
    inside a frame that already has the title.
    """

    retry_wanted = Signal()
    shown = Signal(object)  # the Figure now on the screen
    option_moved = Signal(str, float, bool)  # option set by a dragged line, value, whether it was released
    place_chosen = Signal()  # a row that stands for a source location

    def __init__(
        self,
        context: Context,
        study: str | None = None,
        *,
        with_title: bool = True,
        link: TraceLink | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._pictures: Pictures = {}
        self._link = link  # to a trace: its time and marks
        self._context = context
        self._selection, self._theme = context.selection, context.theme
        self._study = study
        self._figure: Figure | None = None
        self._panels: list[PanelWidget] = []
        self._undressed = False  # whether its panels still have another theme's colours
        self._with_title = with_title
        self.keys_of: Callable[[Selection], Sequence[str]] = self._region_key  # rows to highlight for a selection
        self.selection_of: Callable[[str], dict[str, object]] = _region_of  # what a click on a row selects
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._build()
        self._selection.changed.connect(self._follow)
        self._theme.changed.connect(self._dress)
        self.show_loading()

    def _build(self) -> None:
        self._title = figure_label("heading")
        self._sentence = Sentence()
        self._sentence.toggled.connect(self._show_notes)
        self._notes = NotesArea()
        self._row = PanelRow(self._make, Qt.Orientation.Vertical)
        self._coming: PanelRow | None = None  # panels of the next figure, built turn by turn
        self._state = FigureState()
        self._state.retry.clicked.connect(self.retry_wanted)
        self._choice = QTabBar()  # tabs, if there is room for only one panel
        self._choice.setDrawBase(False)
        self._choice.setExpanding(False)
        self._choice.setProperty("low", True)
        self._choice.setAccessibleName("Part of the picture")
        self._choice.currentChanged.connect(lambda _index: self._orient())
        self._choice.hide()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._row)
        self._stack.addWidget(self._state)
        self.ways = WayButtons(self._state)
        self.ways.wanted.connect(self._context.way_wanted)
        layout = vertical(self, (10, 6, 10, 6), spacing=4)
        for widget in (self._title, self._sentence):
            layout.addWidget(widget)
        self._top = QHBoxLayout()
        self._top.addWidget(self._choice)
        self._top.addStretch(1)
        layout.addLayout(self._top)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.ways)
        layout.addWidget(self._notes)

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
        self._figure = figure
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

    def fit(self) -> None:
        """Reset every zoom."""
        for panel in self._panels:
            if isinstance(panel, Zoomed):
                panel.fit()

    def can_zoom(self) -> bool:
        """Return whether there is a zoom to reset."""
        return any(isinstance(panel, Zoomed) for panel in self._panels)

    # making

    def _texts(self, title: str, sentence: str) -> None:
        self._title.setText(title)
        self._title.setVisible(bool(title) and self._with_title)
        self._sentence.setVisible(bool(sentence))
        self._show_notes()

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
        row = PanelRow(self._make, self._row.orientation())
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

    def _make(self, panel: Panel) -> PanelWidget:
        theme = self._theme.name
        if isinstance(panel, Plot | Field):
            plot = PlotPanel(panel, theme) if isinstance(panel, Plot) else FieldPanel(panel, theme)
            plot.handle_moved.connect(self.option_moved)
            plot.processors_chosen.connect(lambda n: self._choose(processors=n))
            plot.escaped.connect(self._selection.clear)
            return plot
        if isinstance(panel, Grid):
            grid = GridPanel(panel, theme)
            grid.cell_chosen.connect(lambda cell: self._choose(cell=cell))
            grid.escaped.connect(self._selection.clear)
            return grid
        if isinstance(panel, Table):
            table = TablePanel(panel, theme)
            table.row_chosen.connect(self._choose_row)
            table.can_be_faster = lambda key: bool(self._target(key))
            table.faster_wanted.connect(lambda key: self._context.faster_wanted.emit(self._target(key)))
            return table
        if isinstance(panel, Flame):
            flame = FlamePanel(panel, theme)
            flame.frame_chosen.connect(self._choose_row)
            flame.escaped.connect(self._selection.clear)
            return flame
        if isinstance(panel, Diagram):
            diagram = DiagramPanel(panel, theme)
            diagram.item_chosen.connect(self._choose_row)
            diagram.escaped.connect(self._selection.clear)
            return diagram
        if isinstance(panel, Surface):
            surface = SurfacePanel(panel, theme)
            surface.escaped.connect(self._selection.clear)
            return surface
        if isinstance(panel, Timeline | Radar):
            return self._make_of_trace(panel)
        source = SourcePanel(panel, theme)
        source.region_chosen.connect(lambda region, line: self._choose(region=region, line=line))
        source.faster_wanted.connect(self._context.faster_wanted)
        return source

    def _make_of_trace(self, panel: Timeline | Radar) -> TimelinePanel | RadarPanel:
        theme, link = self._theme.name, self._link
        if isinstance(panel, Radar):
            radar = RadarPanel(panel, theme)
            radar.location_chosen.connect(lambda location: self._choose(location=location))
            radar.escaped.connect(self._selection.clear)
            return radar
        if link is None:
            timeline = TimelinePanel(panel, theme)
        else:
            timeline = TimelinePanel(panel, theme, link.window, link.marks, apart=link.apart)
        timeline.escaped.connect(self._selection.clear)
        if link is not None:
            link.serve(timeline)
        return timeline

    # selection and colours

    def _choose(self, **changes: object) -> None:
        if self._study is not None:
            changes["study"] = self._study
        self._selection.select(**changes)

    def _target(self, key: str) -> str:
        return target_of(self._figure.view if self._figure is not None else "", key)

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

    def _follow(self, selection: Selection) -> None:
        mine = self._study is None or selection.study in (None, self._study)
        region = selection.region if mine else None
        for panel in self._panels:
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

    def _dress(self, _name: str) -> None:
        """Apply the theme's colours to visible panels; others follow when shown."""
        self._undressed = True
        if not self.visibleRegion().isEmpty():  # Qt calls a view behind a tab "visible"
            self.catch_up()

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: place panels, notes and buttons for the new size."""
        super().resizeEvent(event)
        self._orient()
        self._show_notes()
        self._place_ways()

    def _show_notes(self) -> None:
        self._fit_sentence()
        notes = self._figure.notes if self._figure is not None and self._figure.panels else ()
        room = self.height() > (_WHOLE_TIME_FROM if self._timed() else _NOTES_FROM)
        self._notes.show_notes(notes if room else (), self.height())
        if notes and not room:  # the sentence's tooltip has them instead
            self._sentence.setToolTip("\n".join((self._figure.sentence if self._figure is not None else "", *notes)))

    def _timed(self) -> bool:
        """Return whether a panel is a timeline; its lanes need the height."""
        return self._figure is not None and any(isinstance(panel, Timeline) for panel in self._figure.panels)

    def _listed(self) -> bool:
        """Return whether a table is visible; a low view shows few of its rows."""
        return bool(self._panels) and isinstance(self._panels[max(0, self._choice.currentIndex())], TablePanel)

    def _place_ways(self) -> None:
        """Place the buttons beside the tabs in a low view, otherwise below the picture."""
        low = self.height() < _WHOLE_FROM and self._choice.isVisibleTo(self)
        low = low and self._choice.sizeHint().width() + self.ways.sizeHint().width() + 24 <= self.width()
        if low != (self._top.indexOf(self.ways) >= 0):
            layout = self.layout()
            assert isinstance(layout, QVBoxLayout)
            if low:
                self._top.addWidget(self.ways)
            else:
                layout.insertWidget(layout.indexOf(self._stack) + 1, self.ways)

    def _fit_sentence(self) -> None:
        """Shorten the sentence if the picture needs the room; a click or the tooltip shows all of it."""
        text, lines = self._figure.sentence if self._figure is not None else "", None
        least, height = _WHOLE_TIME_FROM if self._timed() else _WHOLE_FROM, self.height()
        tall = _ANSWER_TALL if self._figure is not None and self._figure.answers else _TALL
        if self._figure is not None and self._figure.panels and height < max(least, tall):
            low = self._timed() or height < (_ROWS_FROM if self._listed() else _ONE_FROM)
            lines = _SOME_LINES if height >= least else 1 if low else _FEW_LINES
        self._sentence.show_text(text, self.width(), lines)

    def _orient(self) -> None:
        """Place panels beside or below one another, whichever gives the most cramped one more room."""
        if len(self._panels) < 2 or self._choice.count() != len(self._panels):
            return
        timed = any(isinstance(panel, TimelinePanel) for panel in self._panels)
        kinds = [type(panel) for panel in self._panels]
        columns, most = best_columns(kinds, max(1, self.width()), max(1, self.height() - 60))
        one = most < (_CRAMPED_TIME if timed else _CRAMPED)
        for index, panel in enumerate(self._panels):
            panel.setVisible(not one or index == self._choice.currentIndex())
        self._choice.setVisible(one)
        if self._row.lay(1 if one else columns):
            self._share()

    def _name_parts(self) -> None:
        """Name the panels' tabs and select the first."""
        self._choice.blockSignals(True)
        while self._choice.count():
            self._choice.removeTab(0)
        kinds = [type(panel) for panel in self._panels]
        for panel in self._panels:
            if isinstance(panel, TablePanel) and kinds.count(TablePanel) > 1:
                heads = [column.name for column in panel.table.columns[:2]] or ["table"]
                self._choice.addTab(panel.table.title or max(heads, key=len).partition(",")[0].capitalize())
            elif type(panel) is PlotPanel and kinds.count(PlotPanel) > 1:
                words = (panel.plot.y.label or panel.plot.x.label.partition(" at ")[0]).split()
                self._choice.addTab(" ".join(word for word in words if "_" not in word))  # without symbols
            else:
                self._choice.addTab(PARTS[type(panel)])
        self._choice.setCurrentIndex(0)
        self._choice.blockSignals(False)

    def _share(self) -> None:
        """Divide the room between panels: more for plots and matrices than for tables; tables by their rows."""
        across = self._row.orientation() == Qt.Orientation.Horizontal
        if not across and all(isinstance(panel, TablePanel) for panel in self._panels):
            rows = [len(panel.table.rows) for panel in self._panels if isinstance(panel, TablePanel)]
            self._row.setSizes([10 * (_FEW_ROWS + min(count, _MANY_ROWS)) for count in rows])
            return
        self._row.setSizes([10 * LEAST[type(panel)][0 if across else 1] for panel in self._panels])

    def minimumSizeHint(self) -> QSize:
        """Qt: small enough for four views with tabs beside the queue in a small window."""
        return QSize(220, 90)


def _region_of(key: str) -> dict[str, object]:
    return {"region": int(key)} if key.lstrip("-").isdigit() else {}
