"""A trace that plays and has marks, in use: play, slide, step, loop, moment view, bookmarks, cursors."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QToolTip
from shiboken6 import isValid

from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.replay_bar import ReplayBar

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[3] / "traces"
SHIFT = Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def settled(window: MainWindow, qtbot: Any) -> None:
    area = window.study.area
    assert area is not None

    def still() -> bool:
        docks = [dock for dock in area.docks if not dock.visibleRegion().isEmpty()]
        return not window.jobs.running and not any(dock.drawing.stale for dock in docks)

    qtbot.waitUntil(still)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "pipeline.sgtrace"
    path.write_bytes((SAMPLES / path.name).read_bytes())
    return path


@pytest.fixture
def shown(window: MainWindow, qtbot: Any, sample: Path) -> Iterator[TraceHandle]:
    window.resize(1280, 1200)  # high enough for values over time below the lanes
    handle = window.open_trace(sample)
    qtbot.waitUntil(lambda: handle.data() is not None)
    settled(window, qtbot)
    yield handle
    if isValid(handle):
        handle.replay.hide()
    settled(window, qtbot)


@pytest.fixture
def clock(shown: TraceHandle) -> list[float]:
    """The replay's clock, which moves only when the test says so."""
    now = [0.0]
    shown.replay._clock = lambda: now[0]
    shown.replay._timer.stop()
    shown.replay._timer.setInterval(10_000_000)
    return now


def panel_of(window: MainWindow, name: str = "spacetime") -> Any:
    assert window.study.area is not None
    dock = next(dock for dock in window.study.area.docks if dock.view.name == name)
    return dock.picture.panels[0]


def bar_of(window: MainWindow) -> ReplayBar:
    assert window.study.area is not None
    return window.study.area.replay_bar


def line(panel: TimelinePanel) -> list[float]:
    return [moment.seconds for moment in panel.marks.moments() if moment.kind == "replay"]


def test_space_plays_a_line_through_all_time_views_and_the_window_scrolls_along(
    window: MainWindow, shown: TraceHandle, clock: list[float], qtbot: Any
) -> None:
    panel, other = panel_of(window), panel_of(window, "utilisation")
    shown.window.show(0.0, 0.001)
    assert line(panel) == []
    panel.setFocus()
    qtbot.keyClick(panel, Qt.Key.Key_Space)
    assert shown.replay.playing
    clock[0] = 10.0  # half of the usual time: the visible time plays in 20 s
    shown.replay.tick()
    assert line(panel) == line(other) == [pytest.approx(0.0005)]
    assert shown.window.shown == (0.0, 0.001)
    clock[0] = 25.0  # one long pause, as from slow drawing: the position follows the clock
    shown.replay.tick()
    assert line(panel) == [pytest.approx(0.00125)]
    begin, end = shown.window.shown
    assert begin < 0.00125 < end
    assert end - begin == pytest.approx(0.001)
    qtbot.keyClick(panel, Qt.Key.Key_Space)
    clock[0] = 30.0
    shown.replay.tick()
    assert line(panel) == [pytest.approx(0.00125)]
    assert bar_of(window).moment.text() == "1.250 ms"
    qtbot.mouseClick(bar_of(window).end, LEFT)
    assert line(panel) == []


def test_the_clock_itself_moves_the_line_and_it_stops_at_the_end(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    shown.replay.set_speed(shown.window.length / 0.05)
    qtbot.mouseClick(bar_of(window).buttons["play"], LEFT)
    assert shown.replay.playing
    qtbot.waitUntil(lambda: not shown.replay.playing)
    assert line(panel_of(window)) == [pytest.approx(0.003)]
    assert bar_of(window).slider.value() == bar_of(window).slider.maximum()


def test_the_slider_goes_over_the_run_or_the_selected_interval(
    window: MainWindow, shown: TraceHandle, clock: list[float], qtbot: Any
) -> None:
    bar = bar_of(window)
    bar.slider.setValue(bar.slider.maximum() // 3)
    assert line(panel_of(window)) == [pytest.approx(0.001, rel=1e-3)]
    window.selection.select(study=shown.key, interval=(2000, 2500))
    assert "selected interval of 500.0 µs" in bar.slider.toolTip()
    bar.slider.setValue(bar.slider.maximum() // 2)
    assert line(panel_of(window)) == [pytest.approx(0.00225)]
    qtbot.mouseClick(bar.buttons["loop"], LEFT)
    shown.replay.set_speed(0.001)
    qtbot.mouseClick(bar.buttons["play"], LEFT)
    clock[0] = 0.5
    shown.replay.tick()
    assert line(panel_of(window)) == [pytest.approx(0.00225)]  # once round
    assert shown.replay.playing
    window.selection.clear()
    assert shown.replay.state.end == pytest.approx(0.003)


def test_the_line_is_dragged_in_the_picture_and_does_not_run_away_meanwhile(
    window: MainWindow, shown: TraceHandle, clock: list[float], qtbot: Any
) -> None:
    bar_of(window).slider.setValue(bar_of(window).slider.maximum() // 3)
    panel, other = panel_of(window), panel_of(window, "utilisation")
    canvas = panel.canvas

    def pixel(seconds: float) -> QPoint:
        return QPoint(round(canvas.places.x(seconds)), canvas.places.height // 2)

    qtbot.mouseMove(canvas, pixel(0.0015))
    assert canvas.cursor().shape() == Qt.CursorShape.ArrowCursor
    qtbot.mouseMove(canvas, pixel(0.001))
    assert canvas.cursor().shape() == Qt.CursorShape.SizeHorCursor
    shown.replay.play()
    qtbot.mousePress(canvas, LEFT, pos=pixel(0.001))
    qtbot.mouseMove(canvas, pixel(0.002))
    clock[0] += 5.0  # the button is held for 5 s
    shown.replay.tick()
    width = shown.window.width / canvas.places.width
    there = pytest.approx(0.002, abs=2 * width)
    assert line(panel) == line(other) == [there]
    assert shown.window.whole  # the picture was not dragged
    assert bar_of(window).slider.value() / bar_of(window).slider.maximum() == pytest.approx(2 / 3, abs=0.01)
    assert window.study.area is not None
    assert window.study.area.undo_stack is not None
    assert not window.study.area.undo_stack.canUndo()  # as with the slider
    qtbot.mouseRelease(canvas, LEFT, pos=pixel(0.002))
    assert line(panel) == [there]
    clock[0] += 1.0
    shown.replay.tick()
    assert line(panel)[0] > 0.002  # it keeps playing


def test_the_speed_is_chosen_as_time_of_the_run_in_a_second(
    window: MainWindow, shown: TraceHandle, clock: list[float]
) -> None:
    speed = bar_of(window).speed
    assert speed.currentText() == "Usual: 200 µs per second"
    row = speed.findText("real time")
    speed.setCurrentIndex(row)
    speed.activated.emit(row)
    assert shown.replay.speed == 1.0
    assert speed.currentText() == "real time"
    speed.activated.emit(0)
    assert shown.replay.speed == pytest.approx(0.003 / 20, rel=0.5)


def test_steps_go_from_change_to_change(window: MainWindow, shown: TraceHandle, qtbot: Any) -> None:
    panel = panel_of(window)
    panel.setFocus()
    shown.replay.seek(0.0001)
    for _press in range(2):
        qtbot.keyClick(panel, Qt.Key.Key_Period)
    settled(window, qtbot)
    assert line(panel) == [pytest.approx(0.00027)]  # rank 0 enters the barrier
    qtbot.keyClick(panel, Qt.Key.Key_Comma)
    settled(window, qtbot)
    assert line(panel) == [pytest.approx(0.00021)]
    qtbot.mouseClick(bar_of(window).buttons["step_on"], LEFT)
    settled(window, qtbot)
    assert line(panel) == [pytest.approx(0.00027)]


def test_now_says_what_every_location_does_and_follows_the_line(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    shown.replay.seek(0.0001)
    qtbot.mouseClick(bar_of(window).now, LEFT)
    settled(window, qtbot)
    table = panel_of(window, "moment")
    assert isinstance(table, TablePanel)
    assert [row.values[2] for row in table.table.rows] == ["work (pipeline.c:12)"] * 4
    shown.replay.seek(0.0005)
    settled(window, qtbot)
    first = panel_of(window, "moment").table.rows[0].values
    assert (first[2], first[3], first[4]) == ("barrier (pipeline.c:20)", "barrier", "rank 3")
    table.row_chosen.emit("location:2")
    assert window.selection.current.location == 2


def test_b_sets_a_bookmark_that_is_listed_named_kept_and_brought_back(
    window: MainWindow, shown: TraceHandle, qtbot: Any, sample: Path
) -> None:
    panel = panel_of(window)
    panel.setFocus()
    shown.replay.seek(0.001)
    qtbot.keyClick(panel, Qt.Key.Key_B)
    window.selection.select(study=shown.key, interval=(2000, 2500))
    qtbot.keyClick(panel, Qt.Key.Key_B)
    drawn = [moment for moment in panel_of(window, "utilisation").marks.moments() if moment.kind == "bookmark"]
    assert [(moment.seconds, moment.until) for moment in drawn] == [
        (pytest.approx(0.001), None),
        (pytest.approx(0.002), pytest.approx(0.0025)),
    ]
    bar = bar_of(window)
    assert bar.buttons["bookmarks"].text() == "Bookmarks (2)"
    qtbot.keyClick(panel, Qt.Key.Key_B, SHIFT)
    tree = bar.bookmarks.tree
    assert bar.bookmarks.isVisible()
    item = tree.topLevelItem(1)
    assert item is not None
    item.setText(0, "late phase")
    assert [mark.name for mark in shown.bookmarks.all] == ["Bookmark 1", "late phase"]
    window.selection.clear()
    item = tree.topLevelItem(1)
    assert item is not None
    tree.itemClicked.emit(item, 1)
    assert window.selection.current.interval == (2000, 2500)
    assert shown.window.shown == pytest.approx((0.00175, 0.00275))
    tree.clearSelection()
    item.setSelected(True)
    qtbot.mouseClick(bar.bookmarks.delete, LEFT)
    assert [mark.name for mark in shown.bookmarks.all] == ["Bookmark 1"]
    window.actions_["undo"].trigger()
    assert [mark.name for mark in shown.bookmarks.all] == ["Bookmark 1", "late phase"]
    window.actions_["redo"].trigger()
    window.actions_["undo"].trigger()
    bar.bookmarks.close()
    settled(window, qtbot)
    window.close_study(shown.key)
    again = window.open_trace(sample)
    qtbot.waitUntil(lambda: again.data() is not None)
    assert [mark.name for mark in again.bookmarks.all] == ["Bookmark 1", "late phase"]
    settled(window, qtbot)


def test_bookmarks_are_exported_and_added_and_a_wrong_file_is_refused(
    window: MainWindow, shown: TraceHandle, qtbot: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    shown.bookmarks.add(500, 600, "kept")
    opened = bar_of(window).bookmarks
    qtbot.mouseClick(bar_of(window).buttons["bookmarks"], LEFT)
    path = tmp_path / "mine.bookmarks.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(path), ""))
    qtbot.mouseClick(opened.export, LEFT)
    assert "Written to" in opened.said.text()
    shown.bookmarks.remove(shown.bookmarks.all)
    assert not opened.empty.isHidden()
    qtbot.mouseClick(opened.load, LEFT)
    assert opened.said.text() == "1 added."
    assert [mark.name for mark in shown.bookmarks.all] == ["kept"]
    path.write_text("{}")
    qtbot.mouseClick(opened.load, LEFT)
    assert "holds no bookmarks" in opened.said.text()
    opened.close()


def test_the_menu_the_palette_and_the_sheet_offer_replay_bookmarks_and_measuring(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    window.palette_.open(window.actions_.all())
    window.palette_.entry.setText("cursor")
    assert "Set a measuring cursor" in window.palette_.names()
    assert "Select between the cursors" not in window.palette_.names()  # there are no cursors yet
    window.palette_.leave()
    window.actions_["trace_cursor"].trigger()
    shown.marks.place(0.002, "A")
    shown.marks.place(0.0025, "B")
    window.actions_["trace_between"].trigger()
    assert window.selection.current.interval == (2000, 2500)
    settled(window, qtbot)
    qtbot.waitUntil(lambda: any(part.title == "Interval" for part in window.inspector.parts()))
    parts = {part.title: part for part in window.inspector.parts()}
    rows = {fact.name for fact in parts["Locations"].facts}
    assert rows == {"rank 0", "rank 1", "rank 2", "rank 3"}
    window.actions_["trace_next_bookmark"].trigger()
    assert not window.actions_["trace_next_bookmark"].isEnabled()
    window.close_study(shown.key)
    assert not window.actions_["trace_play"].isEnabled()
    QToolTip.hideText()


def test_a_silent_stretch_says_so_and_leads_to_where_something_happens(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    panel, data = panel_of(window), shown.data()
    assert data is not None
    times = sorted({float(data.seconds(int(t))) for t in data.trace.columns("calls", ("time",))["time"]})
    before, after = max(pairwise(times), key=lambda pair: pair[1] - pair[0])
    assert panel.note.isHidden()
    part = (after - before) / 4
    shown.window.show(before + part, after - part)
    settled(window, qtbot)
    assert panel.note.isVisible()
    assert panel_of(window, "utilisation").note.isHidden()  # shown once, at the lanes
    assert panel.canvas.rect().contains(panel.note.geometry())
    qtbot.mouseClick(panel.note.after, LEFT)
    begin, end = shown.window.shown
    assert begin < after < end
    assert end - begin == pytest.approx(2 * part)
    assert panel.note.isHidden()  # at once, before the next picture
    shown.window.back()
    assert shown.window.shown == pytest.approx((before + part, after - part))
    panel.setFocus()
    qtbot.keyClick(panel, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: shown.window.shown[0] < before < shown.window.shown[1])
    settled(window, qtbot)
    qtbot.keyClick(panel, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: shown.window.shown[0] < after < shown.window.shown[1])


def test_the_next_event_of_the_selected_location_is_shown_and_after_the_last_the_end(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    panel, data = panel_of(window), shown.data()
    assert data is not None
    calls = data.trace.columns("calls", ("time", "location"))
    window.selection.select(study=shown.key, location=2)
    shown.window.show(0.0, 20e-6)
    panel.setFocus()
    came = data.trace.columns("messages", ("received", "receiver"))
    ticks = [*calls["time"][calls["location"] == 2].tolist(), *came["received"][came["receiver"] == 2].tolist()]
    mine = sorted(float(data.seconds(tick)) for tick in ticks)
    first = next(time for time in mine if time > 20e-6)
    qtbot.keyClick(panel, Qt.Key.Key_N, SHIFT)
    qtbot.waitUntil(lambda: shown.window.shown[0] < first < shown.window.shown[1])
    shown.window.show(shown.window.length - 20e-6, shown.window.length)
    qtbot.keyClick(panel, Qt.Key.Key_N)
    settled(window, qtbot)
    assert shown.window.shown[1] == shown.window.length
