"""Two traces in the window: opened together, compared with one click, excluded, or overlaid."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from scalegraph.figures.figure import LaneTrack
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from tests.gui.trace.test_trace_window import SAMPLES, dock_of, settled

pytestmark = pytest.mark.slow

TRACES = ("billiard-4.sgtrace", "ge2-4.sgtrace")


@pytest.fixture
def both(window: MainWindow, qtbot: Any) -> list[TraceHandle]:
    window.resize(1280, 720)
    window.show()
    paths: list[Path] = [SAMPLES / name for name in TRACES]
    window.open_files(paths)  # as `scalegraph A B` does
    handles = [window.studies.get(str(path.resolve())) for path in paths]
    qtbot.waitUntil(lambda: all(handle is not None and handle.data() is not None for handle in handles))
    settled(window, qtbot)
    return [handle for handle in handles if isinstance(handle, TraceHandle)]


@pytest.fixture
def compared(window: MainWindow, both: list[TraceHandle], qtbot: Any) -> ViewDock:
    assert window.study.area is not None
    buttons = window.study.area.bar.findChildren(QAction, options=Qt.FindChildOption.FindChildrenRecursively)
    next(action for action in buttons if action.text() == "Compare traces").trigger()
    settled(window, qtbot)
    return dock_of(window, "trace-compare")


def panel_of(dock: ViewDock) -> TimelinePanel:
    (panel,) = dock.picture.panels
    assert isinstance(panel, TimelinePanel)
    return panel


def tracks_of(dock: ViewDock) -> list[LaneTrack]:
    return [track for track in panel_of(dock).timeline.tracks if isinstance(track, LaneTrack)]


def test_two_traces_stand_on_one_axis_by_one_click(
    window: MainWindow, compared: ViewDock, both: list[TraceHandle], qtbot: Any
) -> None:
    lengths = [handle.window.length for handle in both]
    panel = panel_of(compared)
    assert len(tracks_of(compared)) == 2
    assert panel.window_.length == pytest.approx(max(lengths))
    ends = sorted(float(track.edges[-1]) for track in tracks_of(compared))
    assert ends == pytest.approx(sorted(lengths))
    figure = compared.figure()
    assert figure is not None
    assert "The time of" in figure.sentence
    table = next(p for p in dock_of(window, "trace-compare-profile").picture.panels if isinstance(p, TablePanel))
    assert len(table.table.rows) > 10


def test_it_zooms_by_itself_and_runs_are_laid_on_one_another_by_share(
    window: MainWindow, compared: ViewDock, both: list[TraceHandle], qtbot: Any
) -> None:
    panel = panel_of(compared)
    panel.setFocus()
    qtbot.keyClick(panel, Qt.Key.Key_W)
    settled(window, qtbot)
    assert not panel.window_.whole
    assert all(handle.window.whole for handle in both)
    assert (panel.timeline.begin, panel.timeline.end) == pytest.approx(panel.window_.shown)
    compared.options.changed.emit("align", "relative")
    settled(window, qtbot)
    panel = panel_of(compared)
    assert panel.window_.whole
    assert panel.window_.length == pytest.approx(100)
    assert [float(track.edges[-1]) for track in tracks_of(compared)] == pytest.approx([100, 100])
    panel.window_.show(50, 60)
    settled(window, qtbot)
    assert panel_of(compared).timeline.begin == pytest.approx(50)


def test_another_trace_is_left_out_in_the_menu(window: MainWindow, compared: ViewDock, qtbot: Any) -> None:
    menus = [menu for menu in compared.findChildren(QMenu) if menu.title() == "Compare with"]
    assert menus
    menus[0].aboutToShow.emit()
    (offered,) = menus[0].actions()
    assert offered.isChecked()
    assert offered.text() in ("billiard on ksr1, N = 4", "ge2 on ksr1, N = 4")
    offered.trigger()
    settled(window, qtbot)
    figure = compared.figure()
    assert figure is not None
    assert "two or more traces" in figure.empty
    menus[0].aboutToShow.emit()
    menus[0].actions()[0].trigger()
    settled(window, qtbot)
    assert len(tracks_of(compared)) == 2


def test_the_replay_goes_through_both_and_can_be_dragged_there(
    window: MainWindow, compared: ViewDock, both: list[TraceHandle], qtbot: Any
) -> None:
    panel, handle = panel_of(compared), compared.handle
    assert isinstance(handle, TraceHandle)

    def line() -> list[float]:
        return [moment.seconds for moment in panel.marks.moments() if moment.kind == "replay"]

    assert line() == []
    handle.replay.seek(handle.window.length / 4)
    assert line() == [pytest.approx(handle.window.length / 4)]
    compared.options.changed.emit("align", "relative")
    settled(window, qtbot)
    assert line() == [pytest.approx(25.0)]  # % of both
    canvas = panel.canvas
    at = [QPoint(round(canvas.places.x(share)), canvas.places.height // 2) for share in (25.0, 75.0)]
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=at[0])
    qtbot.mouseMove(canvas, at[1])
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=at[1])
    assert handle.replay.now == pytest.approx(0.75 * handle.window.length, rel=0.01)
    assert line() == [pytest.approx(75.0, rel=0.01)]
    panel.setFocus()
    panel.window_.show(0.0, 10.0)
    qtbot.keyClick(panel, Qt.Key.Key_Space)  # keeps playing, and the picture follows
    assert panel.window_.shown[0] <= line()[0] <= panel.window_.shown[1]
    qtbot.keyClick(panel, Qt.Key.Key_Space)
    assert not handle.replay.playing
    handle.replay.hide()
    assert line() == []


def test_cursors_on_an_axis_of_shares_measure_shares_and_no_ticks(
    window: MainWindow, compared: ViewDock, qtbot: Any
) -> None:
    panel = panel_of(compared)
    panel.marks.place(0.0001, "A")
    panel.marks.place(0.0003, "B")
    assert "200" in panel.measured.text()
    assert "ticks" not in panel.measured.text()
    compared.options.changed.emit("align", "relative")
    settled(window, qtbot)
    assert not panel.marks.cursors  # they marked moments of another axis
    panel.marks.place(25.0, "A")
    panel.marks.place(40.0, "B")
    assert panel.measured.text().endswith("between them 15.00 %")
    assert panel.measured.isVisible()
