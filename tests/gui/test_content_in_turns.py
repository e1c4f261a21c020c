"""Content is added to and removed from the window in turns of the event loop, and is complete afterwards."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from scalegraph import views
from scalegraph.gui.base.retire import retire
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from tests.gui.pictures import view_figures as figures
from tests.gui.test_turns import settle

pytestmark = pytest.mark.slow


@pytest.fixture
def widget(qtbot: Any) -> FigureWidget:
    made = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(made)
    made.resize(800, 500)
    made.show()
    return made


def turn() -> None:
    """Let one turn of the queue pass, and Qt delete what is due."""
    turn_queue()._turn()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_panels_of_a_figure_are_made_one_in_a_turn_and_shown_together(widget: FigureWidget) -> None:
    widget.show_figure(figures.time_over_n())
    while len(turn_queue()):
        turn()
    before, told = list(widget.panels), []
    both = figures.combined()
    widget.show_in_turns(both, {}, lambda: told.append(widget.figure))
    made = []
    while widget._coming is not None:
        made.append(widget._coming.count())
        assert widget.panels == before  # the old content is still complete
        assert widget.figure is not both
        assert before[0].isVisible()
        turn()
    assert made == [1, 2]
    assert told == [both]
    assert len(widget.panels) == len(both.panels) == 2
    assert widget.focusProxy() is widget.panels[0]
    while len(turn_queue()):
        turn()
    assert not any(isValid(panel) for panel in before)


def test_a_newer_figure_takes_the_place_of_one_that_is_being_made(widget: FigureWidget) -> None:
    told: list[str] = []
    widget.show_in_turns(figures.combined(), {}, lambda: told.append("first"))
    half = widget._coming
    assert half is not None
    newer = figures.time_over_n()
    widget.show_in_turns(newer, {}, lambda: told.append("second"))
    while len(turn_queue()):
        turn()
    assert told == ["second"]
    assert widget.figure is newer
    assert len(widget.panels) == 1
    assert not isValid(half)


def test_a_figure_that_fails_drops_the_one_that_is_being_made(widget: FigureWidget) -> None:
    told: list[str] = []
    widget.show_in_turns(figures.combined(), {}, lambda: told.append("first"))
    widget.show_failed("It cannot be drawn.")
    while len(turn_queue()):
        turn()
    assert not told
    assert not widget.panels
    assert widget.state_text() == "It cannot be drawn."


def test_what_retires_is_out_of_sight_at_once_and_goes_in_turns(qtbot: Any) -> None:
    top = QWidget()
    qtbot.addWidget(top)
    parts = [QWidget(top) for _ in range(3)]
    top.show()
    for part in parts:
        part.setObjectName("part")
        retire(part)
    assert not any(part.isVisible() or part.objectName() for part in parts)
    there = []
    while len(turn_queue()):
        turn()
        there.append(sum(map(isValid, parts)))
    assert there == [2, 1, 0]


def test_views_that_an_arrangement_takes_away_are_deleted_one_in_a_turn(
    window: MainWindow, model_study: Callable[..., Path], qtbot: Any
) -> None:
    window.open_study(model_study())
    settle(window, qtbot)
    area = window.study.area
    assert area is not None
    for name in ("speedup", "overheads", "breakdown", "latency", "profile", "verdicts"):
        window.study.show_view(name)
        settle(window, qtbot)
    before = list(area.docks)
    window.study.arrange("Scalability")
    leaving = [dock for dock in before if dock not in area.docks]
    assert len(leaving) > 3
    assert not any(dock.isVisible() for dock in leaving)
    assert all(map(isValid, leaving))
    while any(map(isValid, leaving)):
        there = sum(map(isValid, leaving))
        turn()
        assert there - sum(map(isValid, leaving)) <= 1
    settle(window, qtbot)
    kept = {dock.view.name for dock in area.docks}
    assert kept == {"matrix", "matrix-row", "speedup", "time", "latency"} & set(views.registry("study"))


def test_a_view_that_was_taken_away_leaves_its_place_to_a_new_one_at_once(
    window: MainWindow, model_study: Callable[..., Path], qtbot: Any
) -> None:
    window.open_study(model_study())
    settle(window, qtbot)
    area = window.study.area
    assert area is not None
    kept, state = {dock.objectName() for dock in area.docks}, area.save_state()
    assert area.apply_state(state)  # closes all views and opens the state's, which have the same names
    assert {dock.objectName() for dock in area.docks} == kept
    settle(window, qtbot)
    assert {dock.objectName() for dock in area.docks if isValid(dock)} == kept
    shown = [dock for dock in area.docks if not dock.visibleRegion().isEmpty()]
    assert shown
    assert all(dock.figure() is not None for dock in shown)


def test_views_come_back_in_one_layout_however_many_there_are(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    window.open_study(model_study())
    settle(window, qtbot)
    area, handle = window.study.area, window.study.handle
    assert area is not None
    assert handle is not None
    for name in list(views.registry())[:24]:
        area.show_view(handle, name)
    settle(window, qtbot)
    dock = area.current_dock()
    assert dock is not None
    seen = {one.view.name for one in area.docks if not one.visibleRegion().isEmpty()}
    area.maximise(dock)
    settle(window, qtbot)
    asked: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "minimumSizeHint":
            asked.append(frame.f_code.co_filename)

    sys.setprofile(note)
    area.maximise(dock)
    sys.setprofile(None)
    assert 0 < len(asked) < 60 * len(area.docks)
    settle(window, qtbot)
    assert {one.view.name for one in area.docks if not one.visibleRegion().isEmpty()} == seen
