"""The thread graph in the window: open a graph file; a click on a segment leads to its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow

from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.figures.diagram.canvas import DiagramCanvas
from scalegraph.gui.figures.diagram.panel import DiagramPanel
from scalegraph.gui.shell.main_window import MainWindow
from tests.views.test_thread_graph import GRAPH

pytestmark = pytest.mark.slow


@pytest.fixture
def dock(window: MainWindow, qtbot: Any, tmp_path: Path) -> ViewDock:
    """The view of a graph file, beside the source it names."""
    (tmp_path / "rows.c").write_text("read();\n#pragma omp parallel\nrow();\n")
    path = tmp_path / "rows.graph.toml"
    path.write_text(GRAPH)
    window.resize(1280, 720)
    window.open_files([path])
    qtbot.waitUntil(lambda: window.study.area is not None and bool(window.study.area.docks))
    assert window.study.area is not None
    found: ViewDock = next(one for one in window.study.area.docks if one.view.name == "thread-graph")
    qtbot.waitUntil(lambda: found.figure() is not None and not window.jobs.running)
    return found


def _number(panel: DiagramPanel, begin: str) -> int:
    return next(number for number, one in enumerate(panel.diagram.items) if one.name.startswith(begin))


def test_a_click_and_the_keys_choose_a_segment_and_show_its_line(
    window: MainWindow, dock: ViewDock, qtbot: Any
) -> None:
    (panel,) = (one for one in dock.picture.panels if isinstance(one, DiagramPanel))
    canvas = panel.canvas
    row = _number(panel, "row")
    qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=canvas.place(row).toPoint())
    region = window.selection.current.region
    data = dock.handle.study()
    assert data is not None
    assert next(one.line for one in data.regions if one.id == region) == 3
    assert "rows.c:3" in panel.words.text()
    assert "time in s: 1e-3 / N" in panel.words.text()
    assert row in canvas.marked
    qtbot.keyClick(canvas, Qt.Key.Key_Home)
    while canvas.at != _number(panel, "read"):
        qtbot.keyClick(canvas, Qt.Key.Key_Down)
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert next(one.line for one in data.regions if one.id == window.selection.current.region) == 1
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert window.selection.current.region is None


@pytest.mark.parametrize("others", [(), ("runs",)])
def test_a_click_shows_the_source_beside_a_graph_that_it_was_a_tab_of(
    window: MainWindow, dock: ViewDock, qtbot: Any, others: tuple[str, ...]
) -> None:
    area = window.study.area
    assert area is not None
    area.apply_arrangement(area.arranging.names()[0])
    docks = {one.view.name: one for one in area.docks}
    graph, source = docks["thread-graph"], docks["source"]
    desk = graph.parentWidget()
    assert isinstance(desk, QMainWindow)
    source.picture.setFocus()
    for name in others:
        area.show_view(graph.handle, name)  # stays in the source's place
    desk.tabifyDockWidget(graph, source)
    graph.raise_()
    qtbot.waitUntil(lambda: source.visibleRegion().isEmpty() and not graph.visibleRegion().isEmpty())
    (panel,) = (one for one in graph.picture.panels if isinstance(one, DiagramPanel))
    qtbot.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=panel.canvas.place(_number(panel, "row")).toPoint())
    qtbot.waitUntil(lambda: not source.visibleRegion().isEmpty() and not graph.visibleRegion().isEmpty())
    assert source not in desk.tabifiedDockWidgets(graph)
    assert min(source.width(), graph.width()) > 250
    assert "rows.c:3" in panel.words.text()


def test_the_diagram_zooms_moves_and_fits(dock: ViewDock, qtbot: Any) -> None:
    (panel,) = (one for one in dock.picture.panels if isinstance(one, DiagramPanel))
    canvas = panel.canvas
    before = canvas.scale
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    assert canvas.scale > before
    at = canvas.place(1)
    qtbot.keyClick(canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.place(1).x() < at.x()
    qtbot.keyClick(canvas, Qt.Key.Key_F)
    wide, high = canvas.diagram.size
    assert wide * canvas.scale <= canvas.width()
    assert high * canvas.scale <= canvas.height()


def test_a_diagram_that_followed_a_choice_fits_again_when_it_gets_more_room(dock: ViewDock, qtbot: Any) -> None:
    (panel,) = (one for one in dock.picture.panels if isinstance(one, DiagramPanel))
    canvas = DiagramCanvas(panel.diagram, "light")
    qtbot.addWidget(canvas)
    canvas.resize(300, 80)
    canvas.show()
    last = len(panel.diagram.items) - 1
    canvas.show_item(last)
    assert canvas.place(0).y() < 0 <= canvas.place(last).y() < canvas.height()
    canvas.resize(1200, 900)
    assert all(canvas.rect().contains(canvas.place(item).toPoint()) for item in range(last + 1))
    qtbot.keyClick(canvas, Qt.Key.Key_Plus)
    zoomed = canvas.scale
    canvas.resize(1100, 800)
    assert canvas.scale == zoomed
