"""A trace in the window, in use: drop it, zoom in, click a wait, reach the line, export."""

import csv
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from scalegraph.base.cancel import checkpoint
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.request.imports import traces as opening
from scalegraph.subjects import trace_dependencies as trace_dependencies
from scalegraph.traces import reading
from scalegraph.traces.container import write_container

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[3] / "traces"
NONE, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A trace with its program's source beside it."""
    path = tmp_path / "pipeline.sgtrace"
    path.write_bytes((SAMPLES / path.name).read_bytes())
    (tmp_path / "pipeline.c").write_text("".join(f"int line_{number};\n" for number in range(1, 31)))
    return path


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    action, buttons = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    window.dropEvent(QDropEvent(QPointF(10, 10), action, data, buttons, NONE))


def settled(window: MainWindow, qtbot: Any) -> None:
    area = window.study.area

    def still() -> bool:
        docks = [dock for dock in (area.docks if area else ()) if not dock.visibleRegion().isEmpty()]
        return not window.jobs.running and not any(dock.drawing.stale for dock in docks)

    qtbot.waitUntil(still)


def opened(window: MainWindow, qtbot: Any, path: Path) -> TraceHandle:
    drop(window, path)
    handle = window.studies.get(str(path.resolve()))
    assert isinstance(handle, TraceHandle)
    qtbot.waitUntil(lambda: handle.data() is not None or bool(handle.error))
    settled(window, qtbot)
    return handle


def dock_of(window: MainWindow, name: str) -> ViewDock:
    assert window.study.area is not None
    return next(dock for dock in window.study.area.docks if dock.view.name == name)


def timeline(window: MainWindow) -> TimelinePanel:
    panel = dock_of(window, "spacetime").picture.panels[0]
    assert isinstance(panel, TimelinePanel)
    return panel


def press(panel: TimelinePanel, kind: QEvent.Type, at: QPointF, modifiers: Any = NONE) -> None:
    button = Qt.MouseButton.LeftButton
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else button
    QApplication.sendEvent(panel.canvas, QMouseEvent(kind, at, panel.canvas.mapToGlobal(at), button, held, modifiers))


def drag(panel: TimelinePanel, start: QPointF, end: QPointF, modifiers: Any = NONE) -> None:
    press(panel, QEvent.Type.MouseButtonPress, start, modifiers)
    for part in (0.3, 0.7, 1.0):
        press(panel, QEvent.Type.MouseMove, start + part * (end - start), modifiers)
    press(panel, QEvent.Type.MouseButtonRelease, end, modifiers)


def click(panel: TimelinePanel, at: QPointF) -> None:
    press(panel, QEvent.Type.MouseButtonPress, at)
    press(panel, QEvent.Type.MouseButtonRelease, at)


def wheel(panel: TimelinePanel, at: QPointF, notches: int) -> None:
    turn = QPoint(0, 120 * notches)
    phase = Qt.ScrollPhase.NoScrollPhase
    there = panel.canvas.mapToGlobal(at)
    event = QWheelEvent(at, there, QPoint(), turn, Qt.MouseButton.NoButton, NONE, phase, False)
    QApplication.sendEvent(panel.canvas, event)


@pytest.fixture
def shown(window: MainWindow, qtbot: Any, sample: Path) -> Iterator[TraceHandle]:
    window.resize(1280, 1200)  # high enough for values over time below the lanes
    yield opened(window, qtbot, sample)
    settled(window, qtbot)


def test_a_dropped_trace_opens_with_its_timeline(window: MainWindow, shown: TraceHandle) -> None:
    assert window.page == "study"
    assert "4 processes" in window.study.header.verdict.accessibleDescription()
    assert "pipeline" in window.windowTitle()
    panel = timeline(window)
    assert panel.canvas.picture is not None
    assert {"busy", "idle"} <= set(panel.key_texts())
    assert window.actions_["arrange_Timeline"].isEnabled()
    assert not window.actions_["arrange_Overview"].isEnabled()
    assert shown.path in window.settings.recent()
    tree = window.navigator.regions_tree
    assert {tree.topLevelItem(row).text(0) for row in range(tree.topLevelItemCount())} == {"main", "work", "barrier"}


def test_wheel_and_keys_zoom_and_move_and_f_shows_all(window: MainWindow, shown: TraceHandle, qtbot: Any) -> None:
    panel = timeline(window)
    at = panel.canvas.point_of(0.001, 2)
    moment = panel.canvas.places.seconds(at.x())
    wheel(panel, at, 3)
    assert shown.window.width == pytest.approx(0.003 * 0.8**3)
    assert panel.canvas.places.seconds(at.x()) == pytest.approx(moment)  # at once, before the sharp picture
    settled(window, qtbot)
    drawn = panel.timeline
    assert (drawn.begin, drawn.end) == pytest.approx(shown.window.shown, abs=2e-6)
    before = shown.window.shown
    qtbot.keyClick(window.study.area, Qt.Key.Key_W)  # keys work wherever the focus is among the views
    assert shown.window.width < before[1] - before[0]
    shown.window.show(*before)
    panel.setFocus()
    qtbot.keyClick(panel, Qt.Key.Key_D)
    assert shown.window.shown[0] > before[0]
    qtbot.keyClick(panel, Qt.Key.Key_A)
    qtbot.keyClick(panel, Qt.Key.Key_W)
    assert shown.window.width < before[1] - before[0]
    qtbot.keyClick(panel, Qt.Key.Key_S)
    qtbot.keyClick(panel, Qt.Key.Key_F)
    assert shown.window.whole
    shown.window.back()
    assert not shown.window.whole


def test_dragging_moves_the_time_of_every_time_view(window: MainWindow, shown: TraceHandle, qtbot: Any) -> None:
    shown.window.show(0.001, 0.002)
    settled(window, qtbot)
    panel = timeline(window)
    start = panel.canvas.point_of(0.0015, 1)
    drag(panel, start, start + QPointF(-0.25 * panel.canvas.places.width, 0))
    assert shown.window.shown == pytest.approx((0.00125, 0.00225))
    settled(window, qtbot)
    other = dock_of(window, "utilisation").figure()
    assert other is not None
    assert other.panels[0].begin == pytest.approx(0.00125, abs=2e-6)  # type: ignore[union-attr]


def test_an_interval_that_is_selected_is_followed_and_escape_lets_it_go(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    panel = timeline(window)
    drag(panel, panel.canvas.point_of(0.0005, 0), panel.canvas.point_of(0.0015, 0), SHIFT)
    begin, end = window.selection.current.interval or (0, 0)
    assert abs(begin - 500) < 5
    assert abs(end - 1500) < 5
    settled(window, qtbot)
    assert "Interval" in [part.title for part in window.inspector.parts()]
    assert panel.canvas.interval is not None
    window.study.show_view("trace-profile")
    settled(window, qtbot)
    figure = dock_of(window, "trace-profile").figure()
    assert figure is not None
    assert "1.00 ms" in figure.sentence
    qtbot.keyClick(panel, Qt.Key.Key_Z)
    assert shown.window.shown == pytest.approx((begin / 1e6, end / 1e6))
    qtbot.keyClick(panel, Qt.Key.Key_Escape)
    assert window.selection.current.interval is None
    assert panel.canvas.interval is None


def test_a_click_on_a_lane_selects_location_and_region_and_shows_its_line(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    panel = timeline(window)
    click(panel, panel.canvas.point_of(0.0001, 3))
    qtbot.waitUntil(lambda: window.selection.current.region is not None)
    settled(window, qtbot)
    chosen = window.selection.current
    assert (chosen.location, chosen.region, chosen.line) == (3, 1, ("pipeline.c", 12))
    assert panel.canvas.locations == {3}
    source = dock_of(window, "trace-source").picture.panels[0]
    assert isinstance(source, SourcePanel)
    assert source.marked_lines() == [12]
    assert any("work" in part.title for part in window.inspector.parts())


def test_a_click_on_a_wait_goes_there_and_arrives_at_the_line(
    window: MainWindow, shown: TraceHandle, qtbot: Any
) -> None:
    window.study.show_view("waits")
    settled(window, qtbot)
    tables = [panel for panel in dock_of(window, "waits").picture.panels if isinstance(panel, TablePanel)]
    keys = [(table, row.key) for table in tables for row in table.table.rows if row.key.startswith("at:")]
    table, key = keys[0]
    table.row_chosen.emit(key)
    settled(window, qtbot)
    _, begin, end, location, region = key.split(":")[:5]
    chosen = window.selection.current
    assert chosen.interval == (int(begin), int(end))
    assert (chosen.location, chosen.region) == (int(location), int(region))
    low, high = shown.window.shown
    assert low <= int(begin) / 1e6 < int(end) / 1e6 <= high
    assert not shown.window.whole
    source = dock_of(window, "trace-source").picture.panels[0]
    assert isinstance(source, SourcePanel)
    assert source.marked_lines() == [20]


def test_a_filter_is_a_chip_and_can_be_undone(window: MainWindow, shown: TraceHandle, qtbot: Any) -> None:
    assert window.study.area is not None
    bar = window.study.area.trace_bar
    bar.part.setCurrentIndex(1)
    bar.entry.setText("0-9")
    qtbot.keyClick(bar.entry, Qt.Key.Key_Return)
    assert bar.entry.property("fault")
    bar.entry.setText("1,2")
    qtbot.keyClick(bar.entry, Qt.Key.Key_Return)
    settled(window, qtbot)
    assert bar.chips() == ["locations 1,2"]
    assert timeline(window).timeline.tracks[0].names == ("rank 1", "rank 2")  # type: ignore[union-attr]
    window.actions_["undo"].trigger()
    settled(window, qtbot)
    assert bar.chips() == []
    assert len(timeline(window).timeline.tracks[0].names) == 4  # type: ignore[union-attr]
    window.actions_["redo"].trigger()
    qtbot.mouseClick(bar.chip("locations"), Qt.MouseButton.LeftButton)
    assert shown.filter.current.empty


def test_two_cursors_measure(window: MainWindow, shown: TraceHandle, qtbot: Any) -> None:
    panel = timeline(window)
    panel.menu_at(0.0005).actions()
    panel.marks.place(0.0005, "A")
    panel.marks.place(0.0015, "B")
    assert window.study.area is not None
    measured = window.study.area.trace_bar.measured
    assert measured.text().endswith("1.000 ms = 1\u202f000 ticks")
    start = QPointF(panel.canvas.places.x(0.0015), 40)
    drag(panel, start, QPointF(panel.canvas.places.x(0.002), 40))
    assert shown.marks.cursors["B"] == pytest.approx(0.002, abs=1e-5)
    panel.setFocus()
    qtbot.keyClick(panel, Qt.Key.Key_C, SHIFT)
    assert measured.isHidden()


def test_a_trace_view_is_exported(
    window: MainWindow, shown: TraceHandle, qtbot: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    dock = dock_of(window, "spacetime")
    dock.furnish().export.trigger()
    dialog = next(one for one in window.findChildren(ExportDialog) if one.isVisible())
    for ending in ("png", "svg", "csv"):
        path = tmp_path / f"picture.{ending}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, path=path, **_k: (str(path), ""))
        dialog.format.setCurrentIndex(dialog.format.findData(ending))
        with qtbot.waitSignal(dialog.saved):
            dialog.save()
        assert path.stat().st_size > 500
    with (tmp_path / "picture.csv").open() as file:
        assert len(list(csv.reader(file))) > 10
    dialog.reject()


def test_a_damaged_file_says_what_is_wrong_and_gives_what_can_be_read(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    whole = (SAMPLES / "pipeline.prv").read_bytes()
    path = tmp_path / "cut.prv"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    handle = opened(window, qtbot, path)
    assert handle.error
    assert str(path.name) in window.study.banner.text
    window.study.banner._go()  # the button offers this
    qtbot.waitUntil(lambda: handle.data() is not None)
    settled(window, qtbot)
    assert "only part of it could be read" in window.study.header.verdict.accessibleDescription()
    assert "damaged" in window.study.banner.text


def test_a_format_whose_library_is_missing_says_what_to_install(
    window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    handle = opened(window, qtbot, SAMPLES / "pipeline.otf2")
    assert "pip install otf2" in handle.error
    assert window.study.banner.text == handle.error
    shown = [button.text() for button in window.study.banner.findChildren(QPushButton) if not button.isHidden()]
    assert shown == ["Try again", "Dismiss"]
    pytest.importorskip("_otf2")
    monkeypatch.undo()
    window.study.banner._go()
    qtbot.waitUntil(lambda: handle.data() is not None or bool(handle.error))
    assert handle.error == ""
    settled(window, qtbot)


def test_reading_is_stopped(window: MainWindow, qtbot: Any, sample: Path, monkeypatch: Any) -> None:
    def slow(_path: Path, cancel: Any = None, progress: Any = None, *, partial: bool = False, **_more: Any) -> Any:
        assert not partial
        progress(0.4)
        while True:
            cancel.check()

    monkeypatch.setattr(window.session, "open_trace", slow)
    drop(window, sample)
    handle = window.studies.get(str(sample.resolve()))
    assert isinstance(handle, TraceHandle)
    qtbot.waitUntil(lambda: handle.share == 0.4)
    qtbot.mouseClick(window.study._state.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "cancelled" in window.study.header.verdict.accessibleDescription())
    window.close_study(handle.key)
    assert window.page == "start"


def test_waiting_for_another_window_that_converts_is_said_and_can_be_stopped(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    path = SAMPLES / "ring.trf"
    entry = tmp_path / "cache" / "traces" / opening._digest(path, partial=False)
    entry.parent.mkdir(parents=True)
    state = window.study._state
    with FileLock(entry.parent / f".{entry.name}.lock", is_singleton=False):
        handle = window.open_trace(path)
        qtbot.waitUntil(lambda: "Waiting for another ScaleGraph that converts ring.trf, for" in state.text())
        assert not state.bar.isVisible()
        qtbot.mouseClick(state.stop, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: "cancelled" in window.study.header.verdict.accessibleDescription())
        handle.refresh()
        qtbot.waitUntil(lambda: "Waiting" in state.text())
    qtbot.waitUntil(lambda: handle.data() is not None)
    settled(window, qtbot)


def test_the_trace_of_a_run_shows_the_text_that_its_study_keeps(
    window: MainWindow, qtbot: Any, model_study: Any
) -> None:
    study = model_study()
    home = study.with_suffix(".traces")
    home.mkdir()
    with reading.read(SAMPLES / "pipeline.sgtrace") as trace:
        for number, region in enumerate(trace.definitions.regions):
            changed = {"file": "model.c", "line": number + 1}
            trace.definitions.regions[number] = type(region)(**{**vars(region), **changed})
        write_container(trace, home / "n4.sgtrace", lambda _share: None)
    handle = opened(window, qtbot, home / "n4.sgtrace")
    data = handle.data()
    assert data is not None
    assert "line_5" in str(data.text("model.c"))


def test_a_closed_view_ends_its_analysis_and_says_how_far_it_is(
    window: MainWindow, qtbot: Any, shown: TraceHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    del shown
    begun, ended, pause = threading.Event(), threading.Event(), threading.Event()

    def endless(*_given: object) -> None:
        try:
            checkpoint(0.4)
            begun.set()
            while True:
                checkpoint()
                pause.wait(0.001)
        finally:
            ended.set()

    monkeypatch.setattr(trace_dependencies, "wait_states_in", endless)
    window.study.show_view("waits")
    dock = dock_of(window, "waits")
    dock.drawing.refresh()  # it may have existed before
    qtbot.waitUntil(begun.is_set)
    qtbot.waitUntil(lambda: "40\u00a0%" in dock.title.progress)
    dock.close()
    qtbot.waitUntil(ended.is_set)


@pytest.mark.parametrize(
    ("view", "trace", "told"),
    [
        ("utilisation", "billiard-4.sgtrace", {"busy", "idle", "memory stall"}),
        ("gantt", "billiard-4.sgtrace", {"busy", "overhead", "idle"}),
    ],
)
def test_every_picture_over_time_says_what_its_colours_are(
    window: MainWindow, qtbot: Any, view: str, trace: str, told: set[str]
) -> None:
    window.resize(1280, 900)
    opened(window, qtbot, SAMPLES / trace)
    settled(window, qtbot)
    window.study.show_view(view)
    settled(window, qtbot)
    panel = dock_of(window, view).picture.panels[0]
    assert isinstance(panel, TimelinePanel)
    assert told <= set(panel.key_texts())


def test_speeds_over_time_say_which_colour_is_the_slowest_and_the_fastest(window: MainWindow, qtbot: Any) -> None:
    window.resize(1280, 900)
    opened(window, qtbot, SAMPLES / "ge2-4.sgtrace")
    settled(window, qtbot)
    window.study.show_view("speed")
    settled(window, qtbot)
    panel = dock_of(window, "speed").picture.panels[0]
    assert isinstance(panel, TimelinePanel)
    assert [text.endswith("flop/s") for text in panel.key_texts()] == [True, True]


def test_the_time_of_a_trace_of_a_part_of_a_run_is_not_called_the_whole_run(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    with reading.read(SAMPLES / "pipeline.sgtrace") as trace:
        trace.meta.properties["time_cycles"] = str(4 * (trace.meta.end - trace.meta.begin))
        write_container(trace, tmp_path / "part.sgtrace", lambda _share: None)
    handle = opened(window, qtbot, tmp_path / "part.sgtrace")
    area = window.study.area
    assert area is not None
    assert area.trace_bar.shown.toolTip().endswith("the traced 3.00 ms of a run of 12.0 ms")
    handle.window.show(0.0, 0.0015)
    assert area.trace_bar.shown.toolTip().endswith("50\u00a0% of what was traced")
