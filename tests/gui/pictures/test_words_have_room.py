"""Texts that do not fit are elided at the end and complete elsewhere: axis titles, legends, combo boxes."""

from typing import Any

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QTabBar

from scalegraph import views
from scalegraph.figures.figure import Axis, Bars, Figure, Line, Plot
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.tips import told
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.tab_names import tab_name
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.dock.view_title import ViewTitle
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.request.widgets import Choice
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel

LONG = "overhead of synchronisation"


def axis_of(qtbot: Any, width: int, height: int) -> Any:
    """Return the left axis of a bar chart with a long title, drawn in *width* x *height* pixels."""
    made = Bars((0.0, 1.0), (("idle", "idle", (40_000.0, 50_000.0)),))
    plot = Plot(Axis("Region", scale="category", categories=("a", "b")), Axis(LONG, "% of processor time"), bars=made)
    widget = FigureWidget(Context(SelectionModel(), Theme("light")), with_title=False)
    qtbot.addWidget(widget)
    widget.resize(width, height)
    widget.show_figure(Figure("Bars", "", (plot,), view="bars"))
    widget.show()
    panel = widget.panels[0]
    assert isinstance(panel, PlotPanel)
    qtbot.waitUntil(panel.isVisible)
    axis = panel._axes["left"]
    for _ in range(3):
        widget.grab()  # ticks are measured when drawn
        QApplication.processEvents()
    return axis


@pytest.mark.parametrize("height", [200, 300, 700])
def test_a_title_longer_than_its_axis_is_broken_between_words(qtbot: Any, height: int) -> None:
    axis = axis_of(qtbot, 420, height)
    shown = axis.label.toPlainText().replace("\n", " ").replace("\u2028", " ")
    assert shown == f"{LONG} (% of processor time)"
    assert axis.label.boundingRect().width() <= axis.size().height() + 10


def test_a_title_that_no_lines_hold_is_shortened_and_whole_in_the_tooltip(qtbot: Any) -> None:
    axis = axis_of(qtbot, 420, 110)
    assert axis.label.boundingRect().width() <= axis.size().height() + 10
    assert axis.toolTip() == f"{LONG} (% of processor time)"


@pytest.mark.parametrize("height", [110, 200, 300])
def test_the_title_of_an_axis_is_beside_its_numbers(qtbot: Any, height: int) -> None:
    axis = axis_of(qtbot, 420, height)
    title = axis.label.mapRectToItem(axis, axis.label.boundingRect())
    numbers = axis.size().width() - axis.textWidth - axis.style["tickTextOffset"][0]
    assert title.right() - axis.label.document().documentMargin() <= numbers


@pytest.mark.parametrize("width", [120, 150, 200])
def test_a_narrow_legend_names_at_least_one_entry(qapp: Any, width: int) -> None:
    assert qapp is not None
    strip = LegendStrip()
    strip.setFixedWidth(width)
    strip.allow(1)
    strip.show_entries([LegendEntry(f"a rather long name {n}", QColor("red"), "bar", float(n)) for n in range(9)])
    (place,) = strip._places(width)
    assert strip._rest([place]) == "… 8 more"
    assert place.width() >= 20
    assert place.right() + strip.fontMetrics().horizontalAdvance("… 8 more") <= width
    assert strip.toolTip().startswith("a rather long name 8")


def test_chosen_words_without_room_end_in_dots_and_are_whole_in_the_tooltip(qtbot: Any) -> None:
    choice = Choice()
    qtbot.addWidget(choice)
    words = "as guessed: the time of the slowest of all repetitions"
    choice.offer([("", words), ("s", "s")])
    choice.show_value("")
    choice.setToolTip("What the column is")
    choice.resize(150, 28)
    choice.show()
    assert choice.shown().endswith("…")
    assert choice.fontMetrics().horizontalAdvance(choice.shown()) < 150
    at = QPoint(5, 5)
    assert told(choice, at)[0] == f"{words}\nWhat the column is"
    choice.resize(900, 28)
    assert choice.shown() == words
    assert told(choice, at)[0] == "What the column is"


@pytest.mark.parametrize("name", ["messages", "remote-causes", "processors", "time"])
@pytest.mark.parametrize("width", [283, 377])
def test_the_title_of_a_view_is_whole_or_short_or_ends_in_dots(qtbot: Any, name: str, width: int) -> None:
    Theme("light").apply()
    view = views.get(name)
    title = ViewTitle(view.title, "demo", OptionBar(view), Theme("light"), tab_name(view))
    qtbot.addWidget(title)
    title.resize(width, 32)
    title.show()
    QApplication.processEvents()
    (shown,) = [one for one in title.findChildren(QLabel) if one.property("role") == "name"]
    assert shown.fontMetrics().horizontalAdvance(shown.text()) <= shown.width(), "cut without dots"
    assert shown.text() in (view.title, tab_name(view)) or (width < 300 and shown.text().endswith("…"))


def test_parts_that_share_an_axis_have_tabs_that_differ(qtbot: Any) -> None:
    count, time = Axis("processors"), Axis("execution time", "s")
    lines = [Line(f"{held} fixed", (1.0, 2.0), (2.0, 1.0), "time") for held in ("size", "speed")]
    widget = FigureWidget(Context(SelectionModel(), Theme("light")), with_title=False)
    qtbot.addWidget(widget)
    widget.show_figure(Figure("Times", "", tuple(Plot(count, time, (line,)) for line in lines)))
    qtbot.waitUntil(lambda: len(widget.panels) == 2)
    (tabs,) = widget.findChildren(QTabBar)
    assert [tabs.tabText(index) for index in range(tabs.count())] == ["size fixed", "speed fixed"]
