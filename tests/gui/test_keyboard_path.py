"""Without a mouse: from a program to its answer, culprit, what-if and export; and what a screen reader is told."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.views import ways
from tests.gui.test_first_minutes import SHIPPED, SOURCE, one_size, pick, shown

pytestmark = pytest.mark.slow

Key = Qt.Key
MOST_STEPS = 80  # presses of Tab that may be needed to reach a widget
UNTOLD = {QAccessible.Role.NoRole, QAccessible.Role.Border}


def press(key: Qt.Key, modifiers: Any = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the focus is."""
    focus = QApplication.focusWidget()
    assert focus is not None
    QTest.keyClick(focus, key, modifiers)


def type_(text: str) -> None:
    QTest.keyClicks(QApplication.focusWidget(), text)


def show(window: MainWindow, qtbot: Any, words: str, view: str) -> None:
    """Show a view with the palette and wait until it is drawn."""
    press(Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(window.palette_.isVisible)
    type_(words)
    press(Key.Key_Return)
    area = window.study.area
    assert area is not None
    qtbot.waitUntil(lambda: not window.jobs.running and area.current_dock().view.name == view)
    qtbot.waitUntil(lambda: not window.jobs.running and bool(area.current_dock().panels))


def tab_to(reached: Callable[[QWidget], bool]) -> QWidget:
    """Press Tab until *reached* accepts the widget with the focus; return it."""
    for _ in range(MOST_STEPS):
        focus = QApplication.focusWidget()
        if focus is not None and reached(focus):
            return focus
        press(Key.Key_Tab)
    raise AssertionError("Tab does not lead there")


def told(root: QWidget) -> Iterator[tuple[QWidget, str, QAccessible.Role, str]]:
    """Yield each widget of *root* that keys reach, with what a screen reader is told: name, role and value."""
    for widget in root.findChildren(QWidget):
        reached = widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isVisible() and widget.isEnabled()
        if reached and widget.focusProxy() is None and widget.window() is root.window():
            said = QAccessible.queryAccessibleInterface(widget)
            name, value = (said.text(what) for what in (QAccessible.Text.Name, QAccessible.Text.Value))
            yield widget, name, said.role(), value


def all_are_told(root: QWidget, least: int) -> None:
    """Check that everything that keys reach has a name and a role; there are at least *least* of them."""
    found = list(told(root))
    unnamed = [f"{type(widget).__name__}: {role.name}" for widget, name, role, _ in found if not name.strip()]
    assert not unnamed
    assert not [type(widget).__name__ for widget, _, role, _ in found if role in UNTOLD]
    assert len(found) >= least


def test_the_way_from_a_program_to_an_export_needs_no_mouse(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    pick(monkeypatch, tmp_path / "mine.c")
    window.activateWindow()
    all_are_told(window, 5)
    tab_to(lambda focus: focus is window.start.sources)
    press(Key.Key_Space)
    qtbot.waitUntil(lambda: window.page == "request" and window.request.can_run)
    all_are_told(window, 15)
    press(Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: entry.ended and window.page == "study" and not window.jobs.running)
    area = window.study.area
    assert area is not None
    qtbot.waitUntil(lambda: not window.jobs.running and any(dock.figure() is not None for dock in area.docks))
    assert area.isAncestorOf(QApplication.focusWidget()), "the answer has the focus"
    all_are_told(window, 15)
    plot = next(panel for dock in area.docks for panel in dock.panels if isinstance(panel, PlotPanel))
    said = QAccessible.queryAccessibleInterface(plot)
    assert said.role() == QAccessible.Role.Chart
    assert said.text(QAccessible.Text.Name).startswith("Plot of")
    assert said.text(QAccessible.Text.Description)
    # the culprit
    show(window, qtbot, "execution profile", "profile")
    tab_to(lambda focus: focus is area.current_dock().panels[0].tree)
    for _ in range(3):
        press(Key.Key_Down)
    assert window.selection.current.region is not None
    # what-if
    press(Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.whatif.isAncestorOf(QApplication.focusWidget()))
    all_are_told(window.whatif, 10)
    window.whatif._later.setInterval(0)
    ideal = next(iter(window.whatif.ideals.values()))
    tab_to(lambda focus: focus is ideal)
    press(Key.Key_Space)
    assert ideal.isChecked()
    asked = len(window.session.submitted)
    if not window.whatif.auto.isChecked():
        tab_to(lambda focus: getattr(focus, "text", str)() == "Run")
        press(Key.Key_Space)
    qtbot.waitUntil(lambda: window.whatif.entry is not None and window.whatif.entry.ended and not window.jobs.running)
    assert window.session.submitted[asked - 1 :][-1].what_if
    # export
    target = tmp_path / "picture.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    show(window, qtbot, "execution profile", "profile")  # the faked runs answer no what-if
    press(Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), ExportDialog))
    dialog = QApplication.activeModalWidget()
    dialog.activateWindow()  # as the desktop does
    qtbot.waitUntil(lambda: dialog.isAncestorOf(QApplication.focusWidget()))
    all_are_told(dialog, 5)
    values = {name: value for _, name, _, value in told(dialog)}
    assert any(value.startswith("PNG") for value in values.values()), values
    tab_to(lambda focus: focus is dialog.save_button)
    press(Key.Key_Space)
    qtbot.waitUntil(target.is_file)
    qtbot.waitUntil(lambda: not window.jobs.running)
    if dialog.isVisible():
        press(Key.Key_Escape)


def test_add_sizes_leads_the_focus_to_what_is_missing_else_to_run(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    window.way_commands.go(ways.ADD_SIZES)
    qtbot.waitUntil(lambda: window.request.can_run and not window.jobs.running)
    assert QApplication.focusWidget() is window.request.side.run
    (tmp_path / "mine.c").write_text(SOURCE)
    own = {"program": {"sources": [str(tmp_path / "mine.c")]}, "processors": [1, 2, 4], "machine": {"name": "ksr1"}}
    shown(window, qtbot, one_size(tmp_path / "own.sgstudy", own))
    window.way_commands.go(ways.ADD_SIZES)
    qtbot.waitUntil(lambda: bool(QApplication.focusWidget().property("fault")))
    said = QAccessible.queryAccessibleInterface(QApplication.focusWidget())
    assert said.text(QAccessible.Text.Name) == "Parameter n: value"
    assert said.text(QAccessible.Text.Description)
