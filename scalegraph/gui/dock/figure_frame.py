"""The frame of a figure's panels: title, sentence, buttons and notes, and how they share the room."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from scalegraph.figures.figure import Figure, Panel, Timeline
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.dock.sentence import Sentence
from scalegraph.gui.figures.estimated_line import EstimatedLine
from scalegraph.gui.figures.kinds import LEAST, PARTS, PanelWidget
from scalegraph.gui.figures.notes_area import NotesArea
from scalegraph.gui.figures.panel_row import PanelRow, best_columns
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.figures.way_buttons import WayButtons
from scalegraph.gui.state.figure_state import FigureState, figure_label

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


class FigureFrame(QWidget):
    """Shares its room between the panels, which *make* builds, and the texts and buttons around them."""

    def __init__(self, make: Callable[[Panel], QWidget], *, with_title: bool, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._figure: Figure | None = None
        self._panels: list[PanelWidget] = []
        self._row = PanelRow(make, Qt.Orientation.Vertical)
        self._with_title = with_title
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._title = figure_label("heading")
        self._sentence = Sentence()
        self._sentence.toggled.connect(self._show_notes)
        self._estimated = EstimatedLine()
        self._notes = NotesArea()
        self._state = FigureState()
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
        layout = vertical(self, (10, 6, 10, 6), spacing=4)
        for widget in (self._title, self._sentence):
            layout.addWidget(widget)
        self._top = QHBoxLayout()
        self._top.addWidget(self._choice)
        self._top.addStretch(1)
        layout.addLayout(self._top)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.ways)
        layout.addWidget(self._estimated)
        layout.addWidget(self._notes)

    def _texts(self, title: str, sentence: str) -> None:
        self._title.setText(title)
        self._title.setVisible(bool(title) and self._with_title)
        self._sentence.setVisible(bool(sentence))
        self._estimated.show_text(self._figure.estimated if self._figure is not None and self._figure.panels else "")
        self._show_notes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: place panels, notes and buttons for the new size."""
        super().resizeEvent(event)
        self._show_notes()
        self._orient()
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
        columns, most = best_columns(kinds, max(1, self.width()), max(1, self.height() - self._words_height()))
        one = most < (_CRAMPED_TIME if timed else _CRAMPED)
        for index, panel in enumerate(self._panels):
            panel.setVisible(not one or index == self._choice.currentIndex())
        self._choice.setVisible(one)
        if self._row.lay(1 if one else columns):
            self._share()

    def _words_height(self) -> int:
        """Return the height in pixels that title, sentence, notes and buttons take from the panels."""
        layout = self.layout()
        assert layout is not None
        margins, taken = layout.contentsMargins(), 0
        width = self.width() - margins.left() - margins.right()
        below = () if self._top.indexOf(self.ways) >= 0 else (self.ways,)
        for widget in (self._title, self._sentence, self._estimated, self._notes, *below):
            if widget.isVisibleTo(self):
                high = widget.heightForWidth(width) if widget.hasHeightForWidth() else widget.sizeHint().height()
                taken += min(high, widget.maximumHeight()) + layout.spacing()
        return taken + margins.top() + margins.bottom()

    def _name_parts(self) -> None:
        """Name the panels' tabs and select the first."""
        self._choice.blockSignals(True)
        while self._choice.count():
            self._choice.removeTab(0)
        for name in _part_names(self._panels):
            self._choice.addTab(name)
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


def _part_names(panels: Sequence[PanelWidget]) -> list[str]:
    """Return a name for the tab of each of *panels*; no two plots have the same."""
    kinds = [type(panel) for panel in panels]
    names = []
    for panel in panels:
        if isinstance(panel, TablePanel) and kinds.count(TablePanel) > 1:
            heads = [column.name for column in panel.table.columns[:2]] or ["table"]
            names.append(panel.table.title or max(heads, key=len).partition(",")[0].capitalize())
        elif type(panel) is PlotPanel and kinds.count(PlotPanel) > 1:
            words = (panel.plot.y.label or panel.plot.x.label.partition(" at ")[0]).split()
            names.append(" ".join(word for word in words if "_" not in word))  # without symbols
        else:
            names.append(PARTS[type(panel)])
    return [
        panel.plot.lines[0].name
        if names.count(name) > 1 and isinstance(panel, PlotPanel) and panel.plot.lines
        else name
        for name, panel in zip(names, panels, strict=True)
    ]
