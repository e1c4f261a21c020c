"""Maps and surfaces in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.figures.field.panel import FieldPanel
from scalegraph.gui.figures.surface import SurfacePanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from tests.gui.pictures import view_figures as figures

pytestmark = pytest.mark.slow


@pytest.fixture
def selection() -> SelectionModel:
    return SelectionModel()


@pytest.fixture
def show(qtbot: Any, selection: SelectionModel) -> Iterator[Any]:
    kept: list[FigureWidget] = []

    def act(figure: Any) -> FigureWidget:
        widget = FigureWidget(Context(selection, Theme("light")))
        kept.append(widget)
        widget.resize(800, 500)
        widget.show_figure(figure)
        widget.show()
        qtbot.waitExposed(widget)
        QCoreApplication.processEvents()
        return widget

    yield act
    for widget in kept:
        widget.close()
        widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def field(show: Any) -> FieldPanel:
    panel = show(figures.speed_field()).panels[0]
    assert isinstance(panel, FieldPanel)
    return panel


def test_the_pointer_says_the_value_between_runs_and_a_run_says_its_own(field: FieldPanel, qtbot: Any) -> None:
    run = field.place_of(4)
    assert run is not None
    at = field.canvas().mapFrom(field, run)
    QTest.mouseMove(field.canvas(), at + QPoint(0, -24))
    qtbot.waitUntil(lambda: "Unit speed:" in QToolTip.text())
    QTest.mouseMove(field.canvas(), at)
    qtbot.waitUntil(lambda: "run 4a" in QToolTip.text())


def test_a_click_on_a_run_of_the_map_selects_its_processors(
    field: FieldPanel, selection: SelectionModel, qtbot: Any
) -> None:
    run = field.place_of(8)
    assert run is not None
    qtbot.mouseClick(field.canvas(), Qt.MouseButton.LeftButton, pos=field.canvas().mapFrom(field, run))
    assert selection.current.processors == 8


def test_iso_lines_are_named_in_the_unit_of_the_scale(field: FieldPanel) -> None:
    assert field.iso_texts() == ["2", "4", "8", "10", "6"]


def test_an_iso_line_follows_pointer_and_keys_and_asks_for_its_value(field: FieldPanel, qtbot: Any) -> None:
    told: list[tuple[str, float, bool]] = []
    field.handle_moved.connect(lambda option, value, last: told.append((option, value, last)))
    place = field.place_of_handle("speed")
    assert place is not None
    field._grab(field._box.mapSceneToView(field._canvas.mapToScene(place)))
    field._drag(field._box.mapSceneToView(QPointF(field._canvas.mapToScene(place + QPoint(60, 0)))), False)
    field._drag(field._box.mapSceneToView(QPointF(field._canvas.mapToScene(place + QPoint(60, 0)))), True)
    assert [last for _, _, last in told] == [False, True]
    assert told[-1][0] == "speed"
    assert told[-1][1] < 6e6  # processors are slower on the right
    qtbot.keyPress(field, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyRelease(field, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert told[-1][2]
    assert told[-1][1] > 6e6  # one step from the view's own value


def test_a_surface_is_turned_by_pointer_and_keys_and_f_turns_it_back(show: Any, qtbot: Any) -> None:
    panel = show(figures.speed_surface()).panels[0]
    assert isinstance(panel, SurfacePanel)
    home = panel.view_from
    QTest.mousePress(panel, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(300, 200))
    QTest.mouseMove(panel, QPoint(380, 230))
    QTest.mouseRelease(panel, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(380, 230))
    qtbot.keyClick(panel, Qt.Key.Key_Left)
    assert panel.view_from != home
    assert panel.turned
    assert "degrees" in panel.accessibleDescription()
    qtbot.keyClick(panel, Qt.Key.Key_F)
    assert panel.view_from == home
    assert "Unit speed" in panel.words_at(0, 0)
