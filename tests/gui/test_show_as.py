"""Show as: the list that the user is in stays, tabs differ, and every arrangement is found as it was left."""

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox

from scalegraph import views
from scalegraph.gui.dock.tab_names import tab_name
from scalegraph.gui.dock.view_area import ViewArea
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.shell.main_window import MainWindow

pytestmark = pytest.mark.slow


@pytest.fixture
def area(window: MainWindow, qtbot: Any, model_study: Any) -> ViewArea:
    window.resize(1280, 720)
    window.open_study(model_study())
    qtbot.waitUntil(lambda: window.study.area is not None and bool(window.study.area.docks) and not window.jobs.running)
    assert window.study.area is not None
    return window.study.area


def settle(window: MainWindow, qtbot: Any) -> None:
    QApplication.processEvents()
    qtbot.waitUntil(lambda: not window.jobs.running)
    QApplication.processEvents()


def place(area: ViewArea, name: str) -> ViewDock:
    return next(dock for dock in area.docks if dock.objectName() == name)


def shown(area: ViewArea) -> dict[str, str]:
    return {dock.objectName(): dock.view.name for dock in area.docks}


@pytest.mark.parametrize("width", [430, 470, 510])
def test_the_list_stays_under_the_keys_whatever_it_shows(width: int, area: ViewArea, window: Any, qtbot: Any) -> None:
    assert area.desk is not None
    dock = area.show_view(area.desk.handle, "matrix")
    dock.setFloating(True)
    dock.resize(width, 400)
    settle(window, qtbot)
    combo = dock.options.editor("show_as").editor
    assert isinstance(combo, QComboBox)
    dock.activateWindow()
    combo.setFocus()
    qtbot.waitUntil(combo.hasFocus)
    while combo.currentIndex() + 1 < combo.count():
        at = combo.currentIndex()
        QTest.keyClick(combo, Qt.Key.Key_Down)
        settle(window, qtbot)
        assert combo.currentIndex() == at + 1
        assert combo.isVisible()
        assert QApplication.focusWidget() is combo
    assert dock.view.name == "overestimation"


def test_the_list_below_the_button_stays_under_the_keys(area: ViewArea, window: Any, qtbot: Any) -> None:
    assert area.desk is not None
    dock = area.show_view(area.desk.handle, "matrix")
    settle(window, qtbot)
    bar = dock.options
    bar.menu.popup(dock.mapToGlobal(dock.rect().center()))
    qtbot.waitUntil(bar.menu.isVisible)
    combo = next(editor.editor for editor in bar._below if editor.option.name == "show_as")
    assert isinstance(combo, QComboBox)
    combo.setFocus()
    for choice in ("rows", "surface"):
        QTest.keyClick(combo, Qt.Key.Key_Down)
        settle(window, qtbot)
        assert bar.menu.isVisible()
        assert combo.currentText() == choice
        assert combo.hasFocus()
    assert dock.view.name == "scalability-surface"
    assert [editor.option.name for editor in bar._below] == [option.name for option in dock.view.all_options]
    assert bar.menu.height() >= bar.menu.actions()[0].defaultWidget().sizeHint().height()  # type: ignore[attr-defined]
    bar.menu.close()


def test_tabs_of_the_same_view_differ(area: ViewArea, window: Any, qtbot: Any) -> None:
    window.study.arrange("Lost time")
    settle(window, qtbot)
    assert area.desk is not None
    first = area.show_view(area.desk.handle, "breakdown")
    second = area.show_view(area.desk.handle, "processors")
    settle(window, qtbot)
    first.options.changed.emit("show_as", "processors")
    settle(window, qtbot)
    assert first.view is second.view
    names = [dock.windowTitle() for dock in area.docks]
    assert len(names) == len(set(names))
    assert {first.windowTitle(), second.windowTitle()} == {"Processors", "Processors 2"}
    second.close()
    settle(window, qtbot)
    assert first.windowTitle() == "Processors"


@pytest.mark.parametrize("subject", ["study", "trace"])
def test_different_views_have_different_names_in_tabs(subject: Any) -> None:
    names = [tab_name(view) for view in views.registry(subject).values()]
    assert sorted(names) == sorted(set(names))
    assert max(map(len, names)) <= 20


def test_each_arrangement_keeps_what_is_shown_in_it(area: ViewArea, window: Any, qtbot: Any) -> None:
    for name in ("Scalability", "Lost time", "Overview"):
        window.study.arrange(name)
        settle(window, qtbot)
    before = shown(area)
    chosen = next(dock for dock in area.docks if dock.view.family is not None)
    at = chosen.objectName()
    other = next(member for member in chosen.view.members if member.name not in before.values())
    assert other.family is not None
    chosen.options.changed.emit("show_as", other.family.choice_of(other.name))
    for name in ("Models", "Scalability", "Overview"):
        window.study.arrange(name)
        settle(window, qtbot)
        wanted = other.name if name == "Overview" else at
        assert shown(area).get(at, wanted) == wanted, name
    assert shown(area) == {**before, at: other.name}
    assert area.undo_stack is not None
    area.undo_stack.undo()
    settle(window, qtbot)
    assert shown(area) == before
    area.undo_stack.redo()
    window.study.arrange("Models")
    area.undo_stack.undo()  # of what is out of sight
    window.study.arrange("Overview")
    settle(window, qtbot)
    assert shown(area) == before


def test_each_arrangement_is_remembered_in_the_settings(
    area: ViewArea, window: MainWindow, qtbot: Any, model_study: Any
) -> None:
    window.study.arrange("Scalability")
    settle(window, qtbot)
    place(area, "matrix").options.changed.emit("show_as", "average")
    window.study.arrange("Models")
    settle(window, qtbot)
    handle = window.study.handle
    assert handle is not None
    window.close_study(handle.key)
    window.open_study(handle.path)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: bool(area.docks))
    settle(window, qtbot)
    assert "matrix" not in shown(area)
    window.study.arrange("Scalability")
    settle(window, qtbot)
    assert shown(area)["matrix"] == "average-scalability"


def test_a_view_that_is_put_back_is_in_front_and_has_the_keys(area: ViewArea, window: Any, qtbot: Any) -> None:
    assert area.desk is not None
    area.apply_arrangement("Overview")
    settle(window, qtbot)
    for click in (True, False):
        dock = area.show_view(area.desk.handle, "speedup")
        settle(window, qtbot)
        for floating in (True, False):
            if click:
                dock.title.float.click()
            else:
                window.actions_["float_view"].trigger()
            settle(window, qtbot)
            assert dock.isFloating() is floating
        window.activateWindow()
        settle(window, qtbot)
        assert not dock.visibleRegion().isEmpty()
        focus = window.focusWidget()
        assert focus is not None
        assert dock.isAncestorOf(focus)


def test_the_keys_stay_in_the_views_when_one_is_closed(area: ViewArea, window: Any, qtbot: Any) -> None:
    assert area.desk is not None
    dock = area.show_view(area.desk.handle, "speedup")
    settle(window, qtbot)
    dock.take_focus()
    dock.title.close_button.click()
    settle(window, qtbot)
    assert dock not in area.docks
    assert any(other.isAncestorOf(window.focusWidget()) for other in area.docks)


def test_the_palette_gives_the_keys_back_to_the_view(area: ViewArea, window: Any, qtbot: Any) -> None:
    assert area.desk is not None
    dock = area.show_view(area.desk.handle, "speedup")
    settle(window, qtbot)
    dock.take_focus()
    before = window.focusWidget()
    assert dock.isAncestorOf(before)
    for key in (Qt.Key.Key_Escape, Qt.Key.Key_Return):
        window.actions_["palette"].trigger()
        QTest.keyClicks(window.palette_.entry, "dark")
        QTest.keyClick(window.palette_.entry, key)
        assert not window.palette_.isVisible()
        assert window.focusWidget() is before
