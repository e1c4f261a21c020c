"""The panels of a figure in use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip

from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.figures.bar_delegate import BarDelegate
from scalegraph.gui.figures.grid.delegate import Show
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.source.panel import SourcePanel, inserted_spans
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from tests.gui.pictures import view_figures as figures


@pytest.fixture
def selection() -> SelectionModel:
    return SelectionModel()


@pytest.fixture
def theme(qapp: Any) -> Theme:
    return Theme("light")


@pytest.fixture
def show(qtbot: Any, selection: SelectionModel, theme: Theme) -> Iterator[Any]:
    kept: list[FigureWidget] = []

    def act(figure: Figure, width: int = 800, height: int = 500, study: str | None = None) -> FigureWidget:
        widget = FigureWidget(Context(selection, theme), study)
        kept.append(widget)
        widget.resize(width, height)
        widget.show_figure(figure)
        widget.show()
        qtbot.waitExposed(widget)
        return widget

    yield act
    for widget in kept:
        widget.close()
        widget.deleteLater()
    # without a running event loop nothing else deletes them, and every style sheet would restyle them all
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def plot_of(widget: FigureWidget) -> PlotPanel:
    panel = widget.panels[0]
    assert isinstance(panel, PlotPanel)
    return panel


def at(panel: PlotPanel, processors: int) -> QPoint:
    place = panel.place_of(processors)
    assert place is not None
    return panel.canvas().mapFrom(panel, place)


@pytest.mark.slow
def test_a_click_on_a_point_selects_its_processors_and_every_view_follows(
    show: Any, selection: SelectionModel, qtbot: Any
) -> None:
    first, second = show(figures.time_over_n()), show(figures.overheads())
    qtbot.mouseClick(plot_of(first).canvas(), Qt.MouseButton.LeftButton, pos=at(plot_of(first), 16))
    assert selection.current.processors == 16
    before = second.grab().toImage()
    selection.clear()
    assert second.grab().toImage() != before  # the highlight of N = 16 is gone


def test_a_click_on_a_bar_selects_its_processors(show: Any, selection: SelectionModel, qtbot: Any) -> None:
    panel = plot_of(show(figures.overheads()))
    qtbot.mouseClick(panel.canvas(), Qt.MouseButton.LeftButton, pos=at(panel, 32))
    assert selection.current.processors == 32


@pytest.mark.slow
def test_a_click_far_from_every_point_selects_nothing(show: Any, selection: SelectionModel, qtbot: Any) -> None:
    panel = plot_of(show(figures.time_over_n()))
    beside = (at(panel, 1) + at(panel, 2)) / 2
    qtbot.mouseClick(panel.canvas(), Qt.MouseButton.LeftButton, pos=beside)
    assert selection.current.processors is None


@pytest.mark.slow
def test_hovering_a_point_shows_its_exact_values_and_the_run(show: Any, qtbot: Any) -> None:
    panel = plot_of(show(figures.time_over_n()))
    QTest.mouseMove(panel.canvas(), at(panel, 1) + QPoint(40, -3))
    QTest.mouseMove(panel.canvas(), at(panel, 8))
    qtbot.waitUntil(lambda: "T_para" in QToolTip.text())
    assert "11.3200 ms" in QToolTip.text()
    assert "run 3f0008" in QToolTip.text()
    assert "simulated" in QToolTip.text()


@pytest.mark.slow
def test_arrow_keys_walk_through_the_processor_counts_and_stop_at_the_ends(
    show: Any, selection: SelectionModel, qtbot: Any
) -> None:
    panel = plot_of(show(figures.time_over_n((1, 3, 8))))
    seen = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(panel, key)
        seen.append(selection.current.processors)
    assert seen == [1, 3, 8, 8, 3]
    qtbot.keyClick(panel, Qt.Key.Key_End)
    assert selection.current.processors == 8
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert selection.current.processors is None


@pytest.mark.slow
def test_the_wheel_zooms_and_f_shows_everything_again(show: Any, qtbot: Any) -> None:
    panel = plot_of(show(figures.time_over_n()))
    whole = panel.shown_range()
    place = QPointF(at(panel, 8))
    event = QWheelEvent(
        place,
        QPointF(panel.canvas().mapToGlobal(place)),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QCoreApplication.sendEvent(panel.canvas(), event)
    zoomed = panel.shown_range()
    assert whole[0] < zoomed[0] < 3 < zoomed[1] < whole[1]  # around log2 of 8
    qtbot.keyClick(panel, Qt.Key.Key_F)
    assert panel.shown_range() == pytest.approx(whole)


@pytest.mark.slow
def test_a_drag_zooms_into_its_rectangle_and_a_double_click_fits(show: Any, qtbot: Any) -> None:
    panel = plot_of(show(figures.time_over_n()))
    whole = panel.shown_range()
    canvas, start, end = panel.canvas(), at(panel, 2) + QPoint(0, 10), at(panel, 16) + QPoint(0, 30)
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 6):
        QTest.mouseMove(canvas, start + (end - start) * step / 5)
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=end)
    low, high = panel.shown_range()[:2]
    assert low == pytest.approx(1, abs=0.1)  # log2 of 2
    assert high == pytest.approx(4, abs=0.1)
    qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=start)  # as Qt sends it after a real double click
    assert panel.shown_range() == pytest.approx(whole)


@pytest.mark.slow
def test_a_zoom_is_kept_while_runs_land(show: Any) -> None:
    widget = show(figures.time_over_n())
    plot_of(widget).zoom(0.5)
    zoomed = plot_of(widget).shown_range()
    widget.show_figure(figures.time_over_n())
    assert plot_of(widget).shown_range() == pytest.approx(zoomed)


@pytest.mark.slow
def test_names_stand_at_the_curves_where_there_is_room_and_above_where_there_is_not(show: Any, qtbot: Any) -> None:
    widget = show(figures.speedup_many(4), 900, 500)
    assert plot_of(widget).direct_names() == ["ideal", *(f"{200 * (i + 1)} balls" for i in range(4))]
    widget.resize(360, 300)
    qtbot.waitUntil(lambda: plot_of(widget).direct_names() == [])
    assert "800 balls" in plot_of(widget).label_texts()


@pytest.mark.slow
def test_what_markers_mean_is_said(show: Any) -> None:
    texts = plot_of(show(figures.speedup_many(5), 900, 500)).label_texts()
    assert {"simulated", "measured", "imported", "predicted", "computed"} <= set(texts)


@pytest.mark.slow
def test_marks_are_named_on_the_picture(show: Any) -> None:
    assert {"p_x = 45", "fastest"} <= set(plot_of(show(figures.time_over_n())).label_texts())


@pytest.mark.slow
def test_a_curve_without_any_value_is_said_rather_than_passed_over(show: Any) -> None:
    assert "all missing: no values" in plot_of(show(figures.gaps())).label_texts()


@pytest.mark.few(24)
@pytest.mark.slow
@pytest.mark.parametrize("name", list(figures.all_figures()))
@pytest.mark.parametrize("size", [(1280, 720), (380, 280)])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_kind_of_figure_is_drawn_in_every_size_and_theme(
    name: str, size: tuple[int, int], mode: Any, show: Any, theme: Theme, selection: SelectionModel
) -> None:
    selection.select(processors=8, cell=(1, 2), region=3)
    theme.set_mode(mode)
    widget = show(figures.all_figures()[name], *size)
    image = widget.grab().toImage()
    assert (image.width(), image.height()) == size
    colours = {image.pixel(x, y) for x in range(0, size[0], 7) for y in range(0, size[1], 7)}
    assert len(colours) > 2


@pytest.mark.slow
def test_changing_the_theme_redraws_without_losing_zoom_or_selection(
    show: Any, theme: Theme, selection: SelectionModel
) -> None:
    widget = show(figures.time_over_n())
    selection.select(processors=4)
    plot_of(widget).zoom(0.5)
    zoomed, before = plot_of(widget).shown_range(), widget.grab().toImage()
    theme.set_mode("dark")
    assert plot_of(widget).shown_range() == pytest.approx(zoomed)
    assert widget.grab().toImage() != before


def grid_of(widget: FigureWidget) -> GridPanel:
    panel = widget.panels[0]
    assert isinstance(panel, GridPanel)
    return panel


@pytest.mark.slow
def test_a_click_on_a_cell_selects_its_row_and_column(show: Any, selection: SelectionModel, qtbot: Any) -> None:
    table = grid_of(show(figures.matrix())).table
    place = table.visualRect(table.model().index(2, 4)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert selection.current.cell == (4, 16)


@pytest.mark.slow
def test_arrow_keys_move_in_the_matrix_and_stay_inside(show: Any, selection: SelectionModel, qtbot: Any) -> None:
    panel = grid_of(show(figures.matrix()))
    selection.select(cell=(4, 8))
    qtbot.keyClick(panel.table, Qt.Key.Key_Right)
    assert selection.current.cell == (4, 16)
    for _ in range(9):
        qtbot.keyClick(panel.table, Qt.Key.Key_Left)
    assert selection.current.cell == (4, 4)  # nothing below the diagonal


@pytest.mark.slow
def test_empty_cells_give_their_reason_on_hover_and_below(show: Any) -> None:
    panel = grid_of(show(figures.matrix()))
    tip = panel.table.model().index(0, 5).data(Qt.ItemDataRole.ToolTipRole)
    assert "an efficiency of 0.5 is not reached" in tip
    assert "1→16, 1→32: an efficiency of 0.5 is not reached up to 2,048 balls" in panel.reason_text()


@pytest.mark.slow
def test_the_legend_says_which_value_of_a_cell_is_which(show: Any) -> None:
    panel = grid_of(show(figures.matrix()))
    assert "<b>time bound</b> / efficiency 0.5 held / memory bound" in panel.legend_text()
    panel.colour_by.setCurrentText("memory bound")
    assert "time bound / efficiency 0.5 held / <b>memory bound</b>" in panel.legend_text()


@pytest.mark.slow
def test_numbers_colours_and_both_look_different(show: Any) -> None:
    widget = show(figures.matrix())
    panel = grid_of(widget)
    images = []
    for what in Show:
        panel.show_what.setCurrentIndex(panel.show_what.findData(what))
        images.append(panel.table.grab().toImage())
    assert images[0] != images[1] != images[2] != images[0]


@pytest.mark.slow
def test_ctrl_c_copies_the_matrix_as_text(show: Any, qtbot: Any) -> None:
    panel = grid_of(show(figures.matrix(2, holes=False)))
    qtbot.keyClick(panel.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines == ["N \\ N′\t1\t2", "1\t1.00 / 1.00 / 1.00\t0.758 / 0.616 / 0.536", "2\t\t1.00 / 1.00 / 1.00"]


def table_of(widget: FigureWidget) -> TablePanel:
    panel = widget.panels[0]
    assert isinstance(panel, TablePanel)
    return panel


@pytest.mark.slow
def test_the_filter_keeps_what_has_every_word_and_the_way_to_it(show: Any, qtbot: Any) -> None:
    panel = table_of(show(figures.profile()))
    qtbot.keyClicks(panel.filter, "update 50")
    assert panel.shown_rows() == [
        "whole program",
        "find_collision at line 30",
        "barrier at line 40",
        "update_queue at line 50",
    ]
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert len(panel.shown_rows()) == 12


@pytest.mark.slow
def test_slash_goes_to_the_filter(show: Any, qtbot: Any) -> None:
    panel = table_of(show(figures.profile()))
    panel.tree.setFocus()
    qtbot.keyClick(panel.tree, Qt.Key.Key_Slash)
    qtbot.waitUntil(panel.filter.hasFocus)
    assert panel.filter.text() == ""


@pytest.mark.slow
def test_a_click_on_a_row_selects_its_region_and_other_tables_follow(
    show: Any, selection: SelectionModel, qtbot: Any
) -> None:
    first, second = table_of(show(figures.profile())), table_of(show(figures.profile()))
    index = first.tree.indexBelow(first.tree.model().index(0, 0))
    qtbot.mouseClick(first.tree.viewport(), Qt.MouseButton.LeftButton, pos=first.tree.visualRect(index).center())
    assert selection.current.region == 1
    assert second.tree.currentIndex().data() == "init_balls at line 10"


def test_a_click_on_a_header_sorts_by_value_and_a_third_restores_the_order(show: Any, qtbot: Any) -> None:
    panel = table_of(show(figures.profile(5)))
    header = panel.tree.header()
    place = QPoint(header.sectionViewportPosition(3) + 10, 8)
    order = panel.shown_rows()

    def children() -> list[str]:
        top = panel.tree.model().index(0, 0)
        rows = panel.tree.model().rowCount(top)
        return [panel.tree.model().index(i, 3, top).data() for i in range(rows)]

    unsorted = children()
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [int(text) for text in children()] == sorted((int(text) for text in unsorted), reverse=True)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [int(text) for text in children()] == sorted(int(text) for text in unsorted)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.shown_rows() == order


@pytest.mark.slow
def test_columns_have_one_unit_in_their_head_and_numbers_stand_right(show: Any) -> None:
    model = table_of(show(figures.profile())).tree.model()
    heads = [model.headerData(c, Qt.Orientation.Horizontal) for c in range(model.columnCount())]
    assert heads == ["Region", "Time (ms)", "Share", "Calls", "Cycles (million)"]
    alignment = model.index(0, 1).data(Qt.ItemDataRole.TextAlignmentRole)
    assert Qt.AlignmentFlag(alignment) & Qt.AlignmentFlag.AlignRight
    assert model.index(0, 1).data() == "310.0"


def source_of(widget: FigureWidget) -> SourcePanel:
    panel = widget.panels[0]
    assert isinstance(panel, SourcePanel)
    return panel


def test_the_selected_region_is_marked_in_the_source(show: Any, selection: SelectionModel) -> None:
    panel = source_of(show(figures.source()))
    selection.select(region=3)
    assert panel.marked_lines() == [9, 10, 11, 12, 13]


def test_a_click_on_a_line_selects_its_region_and_place(show: Any, selection: SelectionModel, qtbot: Any) -> None:
    panel = source_of(show(figures.source(), study="s"))
    block = panel.editor.document().findBlockByNumber(10)
    place = panel.editor.blockBoundingGeometry(block).translated(panel.editor.contentOffset()).center()
    viewport = panel.editor.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPointF(20, place.y()).toPoint())
    assert (selection.current.region, selection.current.line) == (3, ("billiard.c", 11))
    assert selection.current.study == "s"


def test_inserted_code_is_shown_inline_or_beside(show: Any) -> None:
    panel = source_of(show(figures.source()))
    assert "SCALEGRAPH_SCOPE" not in panel.editor.toPlainText()
    panel.inserted.setCurrentIndex(1)
    assert "{ SCALEGRAPH_SCOPE(3);" in panel.editor.toPlainText()
    assert not panel.beside.isVisible()
    panel.inserted.setCurrentIndex(2)
    assert "SCALEGRAPH_SCOPE" not in panel.editor.toPlainText()
    assert "SCALEGRAPH_SCOPE" in panel.beside.toPlainText()
    assert panel.beside.isVisible()


def test_a_number_in_the_search_field_goes_to_that_line(show: Any, qtbot: Any) -> None:
    panel = source_of(show(figures.source(), 500, 260))
    panel.search_field.setText("22")
    qtbot.keyClick(panel.search_field, Qt.Key.Key_Return)
    assert panel.editor.textCursor().blockNumber() == 21
    assert panel.editor.cursorRect().bottom() <= panel.editor.viewport().height()


def test_text_that_is_not_in_the_source_is_marked_as_not_found(show: Any, qtbot: Any) -> None:
    panel = source_of(show(figures.source()))
    panel.search_field.setText("no such text")
    qtbot.keyClick(panel.search_field, Qt.Key.Key_Return)
    assert panel.search_field.property("fault")


@pytest.mark.parametrize(
    ("before", "after", "inserted"),
    [
        ("for (;;) {", "for (;;) { P(1);", " P(1);"),
        ("x;", "P(2); x;", "P(2); "),
        ("same", "same", ""),
        ("", "P;", "P;"),
    ],
)
def test_inserted_text_is_found_in_its_line(before: str, after: str, inserted: str) -> None:
    assert "".join(after[start:end] for start, end in inserted_spans(before, after)) == inserted


def test_an_empty_figure_says_what_is_missing(show: Any) -> None:
    widget = show(figures.empty())
    assert widget.state_text() == figures.empty().empty
    assert widget.panels == []


@pytest.mark.slow
def test_a_failure_is_a_sentence_with_a_way_to_try_again(show: Any, qtbot: Any) -> None:
    widget = show(figures.time_over_n())
    widget.show_failed("The study has no runs.")
    assert widget.state_text() == "The study has no runs."
    with qtbot.waitSignal(widget.retry_wanted):
        qtbot.mouseClick(widget.retry_button, Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_the_last_picture_stays_while_a_newer_one_is_made(show: Any) -> None:
    widget = show(figures.time_over_n())
    widget.show_loading()
    assert widget.state_text() == ""
    assert len(widget.panels) == 1


@pytest.mark.slow
def test_a_region_of_another_study_is_not_marked(show: Any, selection: SelectionModel) -> None:
    panel = table_of(show(figures.profile(), study="mine"))
    selection.select(study="other", region=1)
    assert not panel.tree.currentIndex().isValid()
    selection.select(study="mine", region=1)
    assert panel.tree.currentIndex().data() == "init_balls at line 10"


@pytest.mark.slow
def test_many_notes_are_folded_and_unfold_on_a_click(show: Any, qtbot: Any) -> None:
    base = figures.time_over_n()
    figure = replace(base, notes=tuple(f"Note {i}." for i in range(12)))
    widget = show(figure, 700, 420)
    assert widget.notes.fold.text() == "12 notes ▸"
    assert not widget.notes.text_visible()
    qtbot.mouseClick(widget.notes.fold, Qt.MouseButton.LeftButton)
    assert widget.notes.text_visible()


@pytest.mark.slow
def test_columns_of_a_table_hold_their_longest_text_without_asking_for_every_cell(
    show: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (Column("region"), Column("place"), Column("time", "s", "busy"))
    rows = tuple(Row((f"r{number}", "W" * (number % 23), number / 7), key=str(number)) for number in range(800))
    widget = show(Figure("Table", panels=(Table(columns, rows),), view="table"), width=900)
    (panel,) = widget.panels
    assert isinstance(panel, TablePanel)
    header = panel.tree.header()
    needed = [panel.tree.sizeHintForColumn(column) for column in range(3)]
    assert [header.sectionSize(column) >= needed[column] for column in range(3)] == [True] * 3
    asked: list[int] = []
    before = BarDelegate.sizeHint

    def counted(*given: Any) -> Any:
        asked.append(1)
        return before(*given)

    monkeypatch.setattr(BarDelegate, "sizeHint", counted)
    widget.resize(860, 500)
    assert len(asked) < 200


@pytest.mark.slow
@pytest.mark.parametrize("room", [QRectF(), QRectF(0, 0, 300, 0), QRectF(0, 0, 0, 200)])
def test_a_plot_without_room_takes_a_selection(room: QRectF, show: Any, selection: SelectionModel) -> None:
    widget = show(figures.time_over_n())
    box = plot_of(widget)._box
    box.setGeometry(room)  # the room left by a splitter or a small window
    assert all(size > 0 for size in box.viewPixelSize())
    selection.select(processors=8)
    assert plot_of(widget)._target_at(QPointF(10, 10)) is None
