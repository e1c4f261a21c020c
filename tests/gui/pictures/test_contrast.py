"""Text over translucent bars in tables, trees and source is legible: 4.5 to 1 in both themes (WCAG 2)."""

from typing import Any

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractItemView, QTreeWidget, QTreeWidgetItem

from scalegraph.figures import palette
from scalegraph.figures.figure import Column, Row, Source, SourceLine, Table
from scalegraph.gui.base.theme import Theme, ThemeName
from scalegraph.gui.figures.region_bar import BarDelegate, ShareRole
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.table.panel import TablePanel

pytestmark = pytest.mark.slow

GROUPS = [f"{group}:{i}" for group in palette._CATEGORIES for i in range(9)]
ROLES = [*palette._ROLES, *GROUPS, *(f"series:{i}" for i in range(16)), "ink", "muted", "#FFFFFF", "#000000"]


def contrasts(image: QImage, left: int, width: int, y: int, text: QColor) -> list[float]:
    """Return the contrast of *text* with each background colour in a row of pixels."""
    return [palette.contrast(image.pixelColor(x, y).name(), text.name()) for x in range(left, left + width)]


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest, qapp: Any) -> Any:
    name: ThemeName = request.param
    made = Theme(name)
    made.apply()
    yield made
    Theme("light").apply()


def test_numbers_over_the_bars_of_a_table_can_be_read(theme: Theme, qtbot: Any) -> None:
    columns = tuple(Column(f"c{i}", bar_role=role) for i, role in enumerate(ROLES))
    rows = tuple(Row(tuple(1.0 for _ in ROLES)) for _ in range(3))  # odd and even rows
    panel = TablePanel(Table(columns, rows), theme.name)
    qtbot.addWidget(panel)
    panel.resize(90 * len(ROLES), 200)
    panel.show()
    qtbot.waitExposed(panel)
    tree: QAbstractItemView = panel.tree
    image = tree.viewport().grab().toImage()
    text, paper, bars = tree.palette().text().color(), tree.palette().base().color(), 0
    for row in range(len(rows)):
        for column, role in enumerate(ROLES):
            cell = tree.visualRect(tree.model().index(row, column))
            seen = contrasts(image, cell.left() + 5, 6, cell.center().y(), text)
            assert min(seen) >= 4.5, (role, row, seen)
            bars += image.pixelColor(cell.left() + 5, cell.center().y()) != paper
    assert bars > len(ROLES)


@pytest.mark.parametrize("role", ["idle", "time"])
def test_numbers_over_the_bars_of_the_navigator_can_be_read(theme: Theme, qtbot: Any, role: str) -> None:
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    tree.setRootIsDecorated(False)
    tree.setItemDelegateForColumn(0, BarDelegate(theme, tree, role))
    item = QTreeWidgetItem(["1"])
    item.setData(0, ShareRole, 1.0)
    tree.addTopLevelItem(item)
    tree.show()
    qtbot.waitExposed(tree)
    cell, image = tree.visualItemRect(item), tree.viewport().grab().toImage()
    assert image.pixelColor(cell.right() - 20, cell.center().y()) != tree.palette().base().color()
    assert min(contrasts(image, cell.right() - 30, 20, cell.center().y(), tree.palette().text().color())) >= 4.5


@pytest.mark.parametrize("role", ["time", "miss", "idle:6", "ink", "#FFFFFF"])
def test_numbers_over_the_bars_beside_program_text_can_be_read(theme: Theme, qtbot: Any, role: str) -> None:
    lines = tuple(SourceLine(i, "x = 1;", "", (1.0,)) for i in range(1, 4))
    panel = SourcePanel(Source("a.c", (Column("cost", "s", role),), lines), theme.name)
    qtbot.addWidget(panel)
    panel.resize(600, 200)
    panel.show()
    qtbot.waitExposed(panel)
    image = panel.margin.grab().toImage()
    text = QColor(palette.ink(theme.name))
    assert min(contrasts(image, 4, 6, 8, text)) >= 4.5
