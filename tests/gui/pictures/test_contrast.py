"""Numbers and their bars in tables, trees and source: a bar is below its number, so no bar ends inside a digit."""

from typing import Any

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractItemView, QTreeWidget, QTreeWidgetItem

from scalegraph.figures import palette
from scalegraph.figures.figure import Column, Row, Source, SourceLine, Table
from scalegraph.gui.base.theme import Theme, ThemeName
from scalegraph.gui.base.tints import line_tint
from scalegraph.gui.figures.region_bar import BarDelegate, ShareRole
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.table.panel import TablePanel

pytestmark = pytest.mark.slow

GROUPS = [f"{group}:{i}" for group in palette._CATEGORIES for i in range(9)]
ROLES = [*palette._ROLES, *GROUPS, *(f"series:{i}" for i in range(1, 6))]
SHARES = (1.0, 0.7, 0.4)


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest, qapp: Any) -> Any:
    name: ThemeName = request.param
    made = Theme(name)
    made.apply()
    yield made
    Theme("light").apply()


def bar_in(image: QImage, cell: QRect, role: str, theme: str) -> QRect:
    """Return the rectangle of the pixels of *cell* in the colour of *role*'s bars."""
    wanted = line_tint(role, theme).rgb()
    found = [
        (x, y)
        for x in range(cell.left(), cell.right() + 1)
        for y in range(cell.top(), cell.bottom() + 1)
        if image.pixelColor(x, y).rgb() == wanted
    ]
    if not found:
        return QRect()
    left, top = min(x for x, _ in found), min(y for _, y in found)
    return QRect(left, top, max(x for x, _ in found) - left + 1, max(y for _, y in found) - top + 1)


def text_bottom(cell: QRect, metrics: Any) -> float:
    """Return where the digits of a vertically centred line end."""
    return float(cell.center().y() + metrics.height() / 2 - metrics.descent())


def test_bars_of_a_table_are_below_their_numbers(theme: Theme, qtbot: Any) -> None:
    columns = tuple(Column(f"c{i}", bar_role=role) for i, role in enumerate(ROLES))
    rows = tuple(Row(tuple(share for _ in ROLES)) for share in SHARES)
    panel = TablePanel(Table(columns, rows), theme.name)
    qtbot.addWidget(panel)
    panel.resize(90 * len(ROLES), 200)
    panel.show()
    qtbot.waitExposed(panel)
    tree: QAbstractItemView = panel.tree
    image = tree.viewport().grab().toImage()
    for row, share in enumerate(SHARES):
        for column, role in enumerate(ROLES):
            cell = tree.visualRect(tree.model().index(row, column))
            bar = bar_in(image, cell, role, theme.name)
            assert bar.height() == 4, (role, row)
            assert bar.width() == pytest.approx(share * (cell.width() - 6), abs=2)
            assert bar.top() >= text_bottom(cell, tree.fontMetrics()), (role, row)


@pytest.mark.parametrize("role", ["idle", "time"])
def test_bars_of_the_navigator_are_below_their_numbers(theme: Theme, qtbot: Any, role: str) -> None:
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    tree.setRootIsDecorated(False)
    tree.setItemDelegateForColumn(0, BarDelegate(theme, tree, role))
    item = QTreeWidgetItem(["0.5"])
    item.setData(0, ShareRole, 0.5)
    tree.addTopLevelItem(item)
    tree.show()
    qtbot.waitExposed(tree)
    cell, image = tree.visualItemRect(item), tree.viewport().grab().toImage()
    bar = bar_in(image, cell, role, theme.name)
    assert bar.height() == 4
    assert bar.width() == pytest.approx(0.5 * cell.width(), abs=4)
    assert bar.top() >= text_bottom(cell, tree.fontMetrics())


@pytest.mark.parametrize("role", ["time", "miss", "idle:6"])
def test_bars_beside_program_text_are_below_their_numbers(theme: Theme, qtbot: Any, role: str) -> None:
    lines = tuple(SourceLine(i, "x = 1;", "", (1.0 / i,)) for i in range(1, 4))
    panel = SourcePanel(Source("a.c", (Column("cost", "s", role),), lines), theme.name)
    qtbot.addWidget(panel)
    panel.resize(600, 200)
    panel.show()
    qtbot.waitExposed(panel)
    image = panel.margin.grab().toImage()
    editor = panel.editor
    line = editor.blockBoundingGeometry(editor.firstVisibleBlock()).translated(editor.contentOffset())
    first = QRect(0, int(line.top()), panel.margin.widths()[0], round(line.height()))
    bar = bar_in(image, first, role, theme.name)
    assert bar.height() == 3
    assert bar.bottom() <= first.bottom()
    assert bar.top() >= text_bottom(first, panel.margin.fontMetrics()) - 1
