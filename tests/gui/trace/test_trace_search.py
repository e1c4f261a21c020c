"""Finding something in a trace: type its name, step through its occurrences, list the longest."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.search import TraceSearch
from tests.gui.trace.test_trace_window import dock_of, opened, sample, settled, timeline

pytestmark = pytest.mark.slow

__all__ = ["sample"]
KEY = Qt.Key
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def trace(window: MainWindow, qtbot: Any, sample: Path) -> TraceHandle:
    window.show()
    return opened(window, qtbot, sample)


@pytest.fixture
def search(window: MainWindow, trace: TraceHandle, qtbot: Any) -> TraceSearch:
    assert window.study.area is not None
    window.activateWindow()
    window.actions_["search"].trigger()
    found = window.study.area.search
    qtbot.waitUntil(lambda: QApplication.focusWidget() is found.field)
    qtbot.waitUntil(lambda: found.list is not None and found.list.isVisible())
    return found


def typed(search: TraceSearch, qtbot: Any, text: str, until: str) -> list[str]:
    qtbot.keyClicks(search.field, text)
    qtbot.waitUntil(lambda: search.list is not None and any(until in line for line in search.list.texts()))
    qtbot.waitUntil(lambda: not search._lists.busy)
    assert search.list is not None
    return [" ".join(line.split()) for line in search.list.texts()]


def press(search: TraceSearch, qtbot: Any, key: Any, modifiers: Any = NONE) -> None:
    qtbot.keyClick(search.field, key, modifiers)
    qtbot.waitUntil(lambda: not search._steps.busy and not search._lengths.busy)


def test_a_name_is_found_among_things_of_all_sorts(search: TraceSearch, qtbot: Any) -> None:
    lines = typed(search, qtbot, "barrier", "Waits")
    assert lines == ["Regions (1)", "barrier 12 ×", "Waits (1)", "barrier 9 ×"]
    search.field.clear()
    lines = typed(search, qtbot, "rank 2", "rank 2")
    assert lines[0] == "Locations (1)"
    search.field.clear()
    lines = typed(search, qtbot, "no such thing", "No match")
    assert lines == ["No match"]
    assert search.field.property("fault")


def test_return_and_f3_go_from_one_occurrence_to_the_next(
    window: MainWindow, search: TraceSearch, trace: TraceHandle, qtbot: Any
) -> None:
    typed(search, qtbot, "barrier", "barrier")
    press(search, qtbot, KEY.Key_Return)
    assert search.list is not None
    assert not search.list.isVisible()
    assert search.said.text() == "barrier: 1 of 12 on rank 0"
    selection = window.selection.current
    assert selection.interval == (270, 910)
    assert selection.location == 0
    assert selection.region == 2
    assert selection.line == ("pipeline.c", 20)
    settled(window, qtbot)
    assert timeline(window).canvas.interval == pytest.approx((270e-6, 910e-6))
    window.actions_["find_next"].trigger()
    qtbot.waitUntil(lambda: search.said.text() == "barrier: 2 of 12 on rank 1")
    window.actions_["find_before"].trigger()
    qtbot.waitUntil(lambda: search.said.text() == "barrier: 1 of 12 on rank 0")
    press(search, qtbot, KEY.Key_Return, SHIFT)
    assert search.said.text().startswith("barrier: 12 of 12")
    assert search.said.text().endswith(", from the end again")
    begin, end = trace.window.shown
    assert begin <= trace.seconds(window.selection.current.interval[0])  # type: ignore[index]
    assert end >= trace.seconds(window.selection.current.interval[1])  # type: ignore[index]


def test_a_search_begins_at_the_cursor_or_where_one_looks(
    window: MainWindow, search: TraceSearch, trace: TraceHandle, qtbot: Any
) -> None:
    trace.window.show(0.001, 0.002)
    typed(search, qtbot, "barrier", "barrier")
    press(search, qtbot, KEY.Key_Return)
    assert search.said.text().startswith("barrier: 5 of 12")
    trace.window.fit()
    window.selection.clear()
    trace.marks.place(0.0021)
    search.after.click()
    qtbot.waitUntil(lambda: search.said.text().startswith("barrier: 9 of 12"))


def test_short_occurrences_are_shown_large_enough_to_see(
    window: MainWindow, search: TraceSearch, trace: TraceHandle, qtbot: Any
) -> None:
    typed(search, qtbot, "tag", "Tags")
    press(search, qtbot, KEY.Key_Return)
    assert window.selection.current.interval is not None
    begin, end = (trace.seconds(tick) for tick in window.selection.current.interval)
    assert trace.window.shown[0] <= begin < end <= trace.window.shown[1]
    assert end - begin >= trace.window.width / 40


def test_the_longest_are_listed_and_lead_to_their_places(
    window: MainWindow, search: TraceSearch, trace: TraceHandle, qtbot: Any
) -> None:
    typed(search, qtbot, "barrier", "barrier")
    press(search, qtbot, KEY.Key_Return, CONTROL)
    assert search.list is not None
    qtbot.waitUntil(lambda: search.list.texts()[0].startswith("Longest"))  # type: ignore[union-attr]
    lines = search.list.texts()
    assert lines[0] == "Longest: barrier (12 of 12)"
    assert lines[1].split() == ["640.00", "µs", "rank", "0", "at", "270.00", "µs"]
    press(search, qtbot, KEY.Key_Down)
    press(search, qtbot, KEY.Key_Return)
    assert window.selection.current.interval == (1270, 1910)
    assert search.said.text().startswith("2 longest of 12: 640.00 µs on rank 0")
    assert not search.list.isVisible()


def test_escape_closes_the_list_and_gives_the_keys_back(search: TraceSearch, qtbot: Any, trace: TraceHandle) -> None:
    typed(search, qtbot, "work", "work")
    assert search.list is not None
    press(search, qtbot, KEY.Key_Escape)
    assert not search.list.isVisible()
    press(search, qtbot, KEY.Key_Escape)
    assert not search.field.hasFocus()
    search.field.clear()
    assert search.said.text() == ""
    assert not search.after.isVisible()


def test_only_what_lasts_is_drawn_and_counted(window: MainWindow, trace: TraceHandle, qtbot: Any) -> None:
    assert window.study.area is not None
    bar = window.study.area.trace_bar
    bar.part.setCurrentIndex(bar.part.findData("duration"))
    qtbot.keyClicks(bar.entry, "5e-4")
    qtbot.keyClick(bar.entry, KEY.Key_Return)
    settled(window, qtbot)
    assert bar.chips() == ["500 µs or longer"]
    figure = dock_of(window, "spacetime").figure()
    assert figure is not None
    assert "shorter visits count to their caller" in " ".join(figure.notes)
    assert "main" in timeline(window).key_texts()
    bar.chip("duration").click()
    settled(window, qtbot)
    assert {"busy", "idle"} <= set(timeline(window).key_texts())
