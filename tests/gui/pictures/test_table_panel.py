"""A table on the screen: sorted, searched and selected without Qt asking for invisible cells."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QModelIndex, Qt
from PySide6.QtWidgets import QApplication

from scalegraph.figures.figure import Column, Row, Table
from scalegraph.gui.base.style import stylesheet
from scalegraph.gui.figures.bar_delegate import BarDelegate
from scalegraph.gui.figures.table import panel as table_panel
from scalegraph.gui.figures.table.model import KEY_ROLE, Index, TableModel
from scalegraph.gui.figures.table.panel import TablePanel

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
TREE = Table(
    (Column("name"), Column("time", "s")),
    (
        Row(("main", 3.0), key="main"),
        Row(("solve", 1.0), depth=1, key="solve"),
        Row(("inner", 0.5), depth=2, key="inner"),
        Row(("read", None), depth=1, key="read"),
        Row(("write", 2.0), depth=1, key="write"),
        Row(("other", 9.0), key="other"),
    ),
)


@pytest.fixture
def panel(qtbot: Any) -> Iterator[TablePanel]:
    made = TablePanel(TREE)
    made.resize(500, 400)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def model_of(panel: TablePanel) -> TableModel:
    model = panel.tree.model()
    assert isinstance(model, TableModel)
    return model


def names(panel: TablePanel) -> list[str]:
    return [row.split("\t", 1)[0] for row in panel.as_text().splitlines()[1:]]


def large(rows: int) -> Table:
    columns = (Column("name"), *(Column(f"column {i}", "s") for i in range(8)))
    return Table(columns, tuple(Row((f"row {n}", *(n * 0.001 + i for i in range(8))), key=str(n)) for n in range(rows)))


@pytest.mark.slow
def test_rows_are_sorted_below_their_parents_with_what_is_missing_last(panel: TablePanel) -> None:
    model = model_of(panel)
    model.sort_by(1, DOWN)
    assert names(panel) == ["other", "main", "write", "solve", "inner", "read"]
    model.sort_by(0, UP)
    assert names(panel) == ["main", "read", "solve", "inner", "write", "other"]
    model.sort_by(-1, UP)
    assert names(panel) == [row.key for row in TREE.rows]


def test_sorting_keeps_what_is_selected_and_what_is_folded(panel: TablePanel) -> None:
    model = model_of(panel)
    panel.tree.collapse(model.find("solve"))
    panel.select("write")
    model.sort_by(1, DOWN)
    assert panel.tree.selectionModel().selectedRows()[0].data(KEY_ROLE) == "write"
    assert names(panel) == ["other", "main", "write", "solve", "read"]
    assert not panel.tree.isExpanded(model.find("solve"))


def test_a_search_keeps_the_order_and_finds_rows_by_any_column(panel: TablePanel) -> None:
    model_of(panel).sort_by(1, DOWN)
    panel.filter.setText("r")
    assert names(panel) == ["other", "main", "write", "solve", "inner", "read"]
    panel.filter.setText("0.500")
    assert names(panel) == ["main", "solve", "inner"]
    assert panel.as_text().count("0.500") == 1
    panel.filter.setText("inner nowhere")
    assert names(panel) == []
    panel.filter.clear()
    assert len(names(panel)) == len(TREE.rows)


def test_a_row_that_the_search_leaves_out_is_not_found(panel: TablePanel) -> None:
    model = model_of(panel)
    assert model.find("write").data() == "write"
    model.search("inner")
    assert not model.find("write").isValid()
    assert model.find("solve").isValid()
    assert not model.find("no such key").isValid()


def test_an_index_of_an_earlier_table_is_no_row(panel: TablePanel) -> None:
    """Qt may keep an old index; it must not lead into freed memory."""
    model = model_of(panel)
    old = model.find("other")
    panel.set_table(Table(TREE.columns, TREE.rows[:1]))
    assert old.data() is None
    assert model.rowCount(old) == 0
    assert model.parent(old) == QModelIndex()


asked: list[int] = []


class Counting(TableModel):
    """Records every cell asked for."""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        asked.append(role)
        return super().data(index, role)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [200, 2000])
def test_a_large_table_is_asked_only_for_what_is_seen(rows: int, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_panel, "TableModel", Counting)
    asked.clear()
    panel = TablePanel(large(rows))
    qtbot.addWidget(panel)
    panel.resize(500, 400)
    panel.show()
    panel.select("150")
    QCoreApplication.processEvents()
    assert panel.tree.selectionModel().selectedRows()[0].data() == "row 150"
    assert 0 < len(asked) < 1500  # independent of the number of rows


@pytest.fixture
def sheet(qapp: QApplication) -> Iterator[Callable[[str], None]]:
    """Set an application style sheet, and restore the previous one afterwards."""
    before = qapp.styleSheet()
    yield qapp.setStyleSheet
    qapp.setStyleSheet(before)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", stylesheet(9)], ids=["without a style sheet", "as in the window"])
def test_rows_of_several_lines_are_measured_without_working_out_how_every_cell_is_painted(
    text: str, sheet: Callable[[str], None], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet(text)
    measured: list[Any] = []  # models of the measured cells: tables of other tests may still be open
    work_out = BarDelegate.initStyleOption

    def noting(self: BarDelegate, option: Any, index: Any) -> None:
        if option.rect.isEmpty():
            measured.append(index.model())
        work_out(self, option, index)

    monkeypatch.setattr(BarDelegate, "initStyleOption", noting)
    columns = (Column("line"), *(Column(f"share {i}", "%") for i in range(6)), Column("what to do"))
    said = "This line waits for another processor, which holds the lock that it wants; give each its own. " * 2
    rows = tuple(Row((f"a.c:{n}", *(float(n + i) for i in range(6)), said), key=str(n)) for n in range(60))
    made = TablePanel(Table(columns, rows))
    made.resize(700, 400)
    made.show()
    qtbot.waitExposed(made)
    made.resize(900, 400)
    QCoreApplication.processEvents()
    assert made.tree.rowHeight(model_of(made).index(0, 0)) > 2 * made.fontMetrics().height()  # several lines
    its = [model for model in measured if model is model_of(made)]
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert len(its) <= 2  # one per font height, not one per cell


def test_the_rows_of_a_tree_live_as_long_as_the_tree(panel: TablePanel) -> None:
    assert model_of(panel) in panel.tree.children()
