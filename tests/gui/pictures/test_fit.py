"""Texts fit: columns, headings, numbers in cells, rows of low tables, sentences, lane names."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QMainWindow, QPushButton, QTabBar

from scalegraph import views
from scalegraph.figures.figure import Cell, Column, Figure, Grid, Row, Table
from scalegraph.gui.base.fitted_names import fitted
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.arrangements import ARRANGEMENTS
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.sentence import FOLDED, UNFOLDED, Sentence
from scalegraph.gui.dock.tab_names import SHORT
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.layout import tails
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.views import ways
from tests.gui.pictures.view_figures import profile
from tests.gui.trace.test_trace_window import opened, settled
from tests.views import studies
from tests.views.imported import call_paths

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[3] / "traces" / "pipeline.sgtrace"
TILE = (505, 204)  # picture size in one of four views of a 1280 x 720 window


@pytest.fixture
def figure(qtbot: Any) -> FigureWidget:
    Theme("light").apply()
    made = FigureWidget(Context(SelectionModel(), Theme("light")), with_title=False)
    qtbot.addWidget(made)
    made.resize(*TILE)
    made.show()
    return made


def rows_in_sight(panel: TablePanel) -> int:
    tree, seen = panel.tree, panel.tree.viewport().rect()
    index, count = tree.indexAt(seen.topLeft()), 0
    while index.isValid() and tree.visualRect(index).bottom() <= seen.bottom():
        count, index = count + 1, tree.indexBelow(index)
    return count


def test_a_low_table_shows_rows_before_everything_else(figure: FigureWidget, qtbot: Any) -> None:
    made = profile()
    long = "Most of the time goes to one region, and the rest is spread over many others of the program. " * 2
    figure.show_figure(Figure("Profile", long, (*made.panels, *made.panels), ways=(ways.FREE_SYNC,), view="profile"))
    panel = figure.panels[0]
    assert isinstance(panel, TablePanel)
    (way,) = [one for one in figure.ways.findChildren(QPushButton) if one.text() == ways.FREE_SYNC.text]
    qtbot.waitUntil(lambda: rows_in_sight(panel) >= 4)
    assert way.isVisible()
    assert not panel.filter.isVisible()
    panel.tree.setFocus()
    qtbot.keyClick(panel.tree, "/")
    assert panel.filter.isVisible()
    qtbot.keyClicks(panel.filter, "barrier")
    assert panel.filter.isVisible()
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert not panel.filter.isVisible()
    figure.resize(TILE[0], 500)
    assert panel.filter.isVisible()


@pytest.mark.parametrize("width", [330, 505, 900])
def test_sentences_in_a_table_have_the_lines_they_need(figure: FigureWidget, qtbot: Any, width: int) -> None:
    figure.resize(width, 600)
    figure.show_figure(views.get("verdicts").build(studies.full()))
    panel = figure.panels[0]
    assert isinstance(panel, TablePanel)
    tree, metrics = panel.tree, panel.tree.fontMetrics()

    def whole(row: int) -> bool:
        cell = tree.visualRect(tree.model().index(row, 1))
        text = str(tree.model().index(row, 1).data())
        box = metrics.boundingRect(QRect(0, 0, cell.width() - 10, 10_000), int(Qt.TextFlag.TextWordWrap), text)
        return box.height() <= cell.height() or cell.height() >= 3 * metrics.lineSpacing()

    qtbot.waitUntil(lambda: all(map(whole, range(len(panel.table.rows)))))
    assert width < 400 or tree.header().sectionViewportPosition(2) < tree.viewport().width()


@pytest.mark.parametrize("width", [355, 505])
def test_names_leave_room_for_what_is_said_of_them(figure: FigureWidget, width: int) -> None:
    figure.resize(width, 300)
    path = "program->function main->loop with a long name:" * 2
    names = tuple(Row((f"{path}{i}", f"{i} N^2 log N", 1.0)) for i in range(9))
    figure.show_figure(
        Figure("T", "", (Table((Column("call path"), Column("model"), Column("R^2")), names),), view="t")
    )
    panel = figure.panels[0]
    assert isinstance(panel, TablePanel)
    assert panel.tree.header().sectionViewportPosition(1) <= 0.75 * panel.tree.viewport().width()


def test_heads_of_the_navigator_are_whole(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / SAMPLE.name
    path.write_bytes(SAMPLE.read_bytes())
    opened(window, qtbot, path)
    settled(window, qtbot)
    for tree in (window.navigator.regions_tree, window.navigator.calls.tree):
        header, label = tree.header(), str(tree.model().headerData(1, Qt.Orientation.Horizontal))
        bold = QFont(header.font())
        bold.setBold(True)
        assert QFontMetrics(bold).horizontalAdvance(label) + 8 <= header.sectionSize(1), label
        assert header.sectionSizeHint(1) <= header.sectionSize(1), label


@pytest.mark.parametrize("size", [(1024, 700), (1280, 720), (1920, 1080)])
def test_the_visible_time_is_said_in_whole_words(
    window: MainWindow, qtbot: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / SAMPLE.name
    path.write_bytes(SAMPLE.read_bytes())
    window.resize(*size)
    handle = opened(window, qtbot, path)
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    shown = area.trace_bar.shown
    for share in (1.0, 0.37, 0.001):
        handle.window.show(0.0, share * handle.window.length)
        qtbot.waitUntil(lambda: shown.fontMetrics().horizontalAdvance(shown.text()) <= shown.width())
        assert shown.text()
        assert "\u00a0% of" in shown.toolTip() or "whole" in shown.toolTip()


def matrix() -> Figure:
    counts = (2, 4, 8, 16, 24, 32, 48)
    values = (0.413, 0.0351, 0.0502)
    cells = tuple(tuple(Cell(values) if i <= j else None for j in range(7)) for i in range(7))
    names = tuple(map(str, counts))
    held = ("time", "efficiency 0.5", "memory")
    grid = Grid("N", "N'", names, names, cells, held, 1, row_processors=counts, column_processors=counts)
    return Figure("Matrix", "The longest of sentences about a matrix. " * 4, (grid,), view="matrix")


@pytest.mark.parametrize("size", [(505, 234), (420, 480), (900, 600)])
def test_every_column_of_a_matrix_is_whole(figure: FigureWidget, qtbot: Any, size: tuple[int, int]) -> None:
    figure.resize(*size)
    figure.show_figure(matrix())
    panel = figure.panels[0]
    assert isinstance(panel, GridPanel)
    qtbot.waitUntil(lambda: panel.table.horizontalScrollBar().maximum() == 0)
    font = QFont(panel.font())
    font.setBold(True)
    assert panel.table.columnWidth(0) >= 0.8 * QFontMetrics(font).horizontalAdvance("0.0351")
    assert panel.colour_by.fontMetrics().horizontalAdvance("efficiency 0.5") + 30 <= panel.colour_by.width()


def test_lanes_without_room_are_told_apart() -> None:
    assert tails(("processor 0", "processor 1", "processor 12")) == ("0", "1", "12")
    assert tails(("rank 0 thread 1", "rank 0 thread 2")) == ("1", "2")
    assert tails(("main",)) == ("main",)
    assert tails(("worker", "io")) == ("worker", "io")
    assert tails(("P", "P 1")) == ("P", "P 1")


def test_a_call_path_without_room_keeps_the_region_at_its_end() -> None:
    metrics = QFontMetrics(QFont())
    path = "program->function initialize->parallel initialize:296"
    assert fitted(path, metrics, metrics.horizontalAdvance(path)) == path
    assert fitted(path, metrics, metrics.horizontalAdvance(path) - 9) == "…function initialize->parallel initialize:296"
    assert (
        fitted(path, metrics, metrics.horizontalAdvance("…parallel initialize:296") + 1) == "…parallel initialize:296"
    )
    critical = "program->function simulate->critical (dependence) simulate:262"
    assert fitted(critical, metrics, metrics.horizontalAdvance(critical[9:]) + 20).startswith("…function simulate->cri")
    room = metrics.horizontalAdvance("parallel in…:296")
    assert fitted(path, metrics, room).startswith("parallel")
    assert fitted(path, metrics, room).endswith(":296")
    source = "omp_set_lock(&bins->lock);"
    assert not fitted(source, metrics, metrics.horizontalAdvance(source) - 9).startswith("…lock")


def test_models_of_call_paths_show_their_formula(figure: FigureWidget) -> None:
    figure.show_figure(views.get("region-models").build(call_paths()))
    panel = figure.panels[0]
    assert isinstance(panel, TablePanel)
    assert panel.tree.header().sectionViewportPosition(1) < 0.7 * panel.tree.viewport().width()


@pytest.mark.parametrize("size", [(1024, 700), (1280, 720)])
def test_tabs_of_views_have_whole_names(
    window: MainWindow, qtbot: Any, model_study: Callable[..., Path], size: tuple[int, int]
) -> None:
    window.resize(*size)
    window.open_study(model_study())
    qtbot.waitUntil(lambda: not window.jobs.running)
    area = window.study.area
    assert area is not None
    seen = 0
    for name in ARRANGEMENTS:
        window.study.arrange(name)
        qtbot.waitUntil(lambda: not window.jobs.running)
        for bar in area.findChildren(QTabBar):
            if isinstance(bar.parent(), QMainWindow) and bar.isVisible():
                for tab in range(bar.count()):
                    text = bar.tabText(tab)
                    assert bar.fontMetrics().horizontalAdvance(text) + 16 <= bar.tabRect(tab).width(), (name, text)
                    seen += 1
                assert bar.tabRect(bar.count() - 1).right() <= bar.width(), name
    assert seen > 20


def test_every_short_name_of_a_tab_is_of_a_view_and_shorter() -> None:
    for name, short in SHORT.items():
        assert len(short) < len(views.get(name).title), name


def test_a_sentence_that_is_cut_is_unfolded_by_a_click(figure: FigureWidget, qtbot: Any) -> None:
    figure.resize(330, 204)
    shown = replace(
        views.get("time").build(studies.full()), sentence="The fastest count is 32; more of them wait. " * 6
    )
    figure.show_figure(shown)
    (sentence,) = figure.findChildren(Sentence)
    assert sentence.text().endswith(FOLDED)
    assert sentence.toolTip().startswith(shown.sentence)
    low = sentence.sizeHint().height()
    qtbot.mouseClick(sentence, Qt.MouseButton.LeftButton)
    assert sentence.text() == shown.sentence + UNFOLDED
    assert sentence.sizeHint().height() >= sentence.heightForWidth(sentence.width()) > low
    qtbot.mouseClick(sentence, Qt.MouseButton.LeftButton)
    assert sentence.text().endswith(FOLDED)
    figure.resize(330, 660)
    assert sentence.text() == shown.sentence
    qtbot.mouseClick(sentence, Qt.MouseButton.LeftButton)
    assert sentence.text() == shown.sentence
