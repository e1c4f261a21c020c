"""Views as windows: open, follow the selection, arrange, compare, maximise, save, export."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMainWindow, QTabBar

from scalegraph import views
from scalegraph.base.errors import WorkError
from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.view_area import ViewArea
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.subjects.study import SourceText, StudyData
from scalegraph.views import View
from tests.analyze import synthetic
from tests.gui.pictures import view_figures as figures

pytestmark = pytest.mark.slow


class Handle(QObject):
    """An open study as views see it, without a file."""

    subject = "study"
    changed = Signal()
    failed = Signal(str)

    def __init__(self, key: str, data: StudyData | None) -> None:
        super().__init__()
        self.key = self.title = key
        self.error = ""
        self._data = data

    def data(self) -> StudyData | None:
        return self._data

    study = data

    def land(self, data: StudyData) -> None:
        self._data = data
        self.changed.emit()


@pytest.fixture(scope="module")
def data() -> StudyData:
    return StudyData.from_runs(
        synthetic.grid((1, 2, 4, 8), (256, 1024)),
        manifest={"title": "model", "bound": "efficiency", "efficiency": 0.5},
        sources=(SourceText("model.c", synthetic.SOURCE, synthetic.SOURCE),),
        regions=synthetic.REGIONS,
    )


@pytest.fixture
def selection() -> SelectionModel:
    return SelectionModel()


@pytest.fixture
def jobs(qapp: Any) -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.cancel_all()
    assert made.join(60_000)


@pytest.fixture
def settings(tmp_path: Path, qapp: Any) -> Settings:
    return Settings(tmp_path / "window.ini")


@pytest.fixture
def make_area(
    qtbot: Any, selection: SelectionModel, jobs: Jobs, settings: Settings
) -> Iterator[Callable[[], ViewArea]]:
    made: list[ViewArea] = []

    def act() -> ViewArea:
        area = ViewArea(
            Context(selection, Theme("light"), jobs, settings, lambda: [desk.handle for desk in area._desks.values()])
        )
        area.resize(1280, 720)
        area.show()
        qtbot.waitExposed(area)
        made.append(area)
        return area

    yield act
    qtbot.waitUntil(lambda: not jobs.running)
    for area in made:
        area.close()
        area.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def area(make_area: Callable[[], ViewArea]) -> ViewArea:
    return make_area()


@pytest.fixture
def study(data: StudyData) -> Any:
    return Handle("billiard", data)


@pytest.fixture
def settle(qtbot: Any, jobs: Jobs) -> Callable[[], None]:
    """Wait until every visible view has been drawn."""

    def act() -> None:
        QCoreApplication.processEvents()  # views that just became visible ask for their figures
        qtbot.waitUntil(lambda: not len(turn_queue()) and not jobs.running)
        QCoreApplication.processEvents()  # lay out what was drawn last

    return act


def names(area: ViewArea) -> list[str]:
    return [dock.view.name for dock in area.docks]


def dock_of(area: ViewArea, name: str) -> ViewDock:
    return next(dock for dock in area.docks if dock.view.name == name)


def test_a_study_opens_with_the_overview_drawn(area: ViewArea, study: Any, settle: Any) -> None:
    area.show_study(study)
    settle()
    assert names(area)[0] == "matrix"
    figure = dock_of(area, "matrix").figure()
    assert figure is not None
    assert figure.panels


@pytest.mark.few(25)
@pytest.mark.parametrize("name", list(views.registry()))
def test_every_view_can_be_opened_and_says_something(name: str, area: ViewArea, study: Any, settle: Any) -> None:
    dock = area.show_view(study, name)
    settle()
    figure = dock.figure()
    assert figure is not None
    assert figure.panels or dock.picture.state_text() == figure.empty != ""


def test_latency_is_drawn_in_a_unit_of_time_and_data_movement_over_n(area: ViewArea, study: Any, settle: Any) -> None:
    """Fig. 10 of the Scale-Graph paper and Fig. 5 of the latency-metric paper."""
    latency, movement = area.show_view(study, "latency"), area.show_view(study, "data-movement")
    settle()
    assert area.show_view(study, "latency") is latency
    latency.options.changed.emit("per", "time")
    settle()
    drawn = latency.figure()
    assert drawn is not None
    assert "in a unit of time" in drawn.title
    assert isinstance(latency.panels[0], PlotPanel)
    moved = movement.figure()
    assert moved is not None
    assert moved.sentence.endswith("packets/µs.")


def test_a_view_that_is_open_comes_to_the_front_instead_of_a_second_one(area: ViewArea, study: Any) -> None:
    first = area.show_view(study, "time")
    area.show_view(study, "speedup")
    assert area.show_view(study, "time") is first
    assert names(area) == ["time", "speedup"]


def test_a_click_in_one_view_is_followed_by_all_views_of_the_study(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, selection: SelectionModel
) -> None:
    area.resize(1280, 1000)
    area.show_study(study)
    area.apply_arrangement("Lost time")
    settle()
    overheads = dock_of(area, "overheads").picture.panels[0]
    assert isinstance(overheads, PlotPanel)
    place = overheads.place_of(4)
    assert place is not None
    pos = overheads.canvas().mapFrom(overheads, place)
    qtbot.mouseClick(overheads.canvas(), Qt.MouseButton.LeftButton, pos=pos)
    assert (selection.current.processors, selection.current.study) == (4, "billiard")
    settle()
    sentence = dock_of(area, "processors").figure()
    assert sentence is not None
    assert "4 processors" in sentence.sentence  # a view without its own N shows the selected one


def test_a_click_on_a_point_marks_n_in_the_matrix_which_keeps_its_cells(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, selection: SelectionModel
) -> None:
    area.show_study(study)
    for name in ("matrix", "matrix-row", "speedup"):
        area.show_view(study, name)
        settle()
    before = {name: dock_of(area, name).figure() for name in ("matrix", "matrix-row", "speedup")}
    plot = dock_of(area, "speedup").picture.panels[0]
    assert isinstance(plot, PlotPanel)
    place = plot.place_of(8)
    assert place is not None
    pos = plot.canvas().mapFrom(plot, place)
    qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=pos)
    assert selection.current.processors == 8
    for name, figure in before.items():
        dock = area.show_view(study, name)
        settle()
        assert dock.figure() is figure, name  # not even redrawn


def test_an_option_changes_what_the_view_shows_and_a_wrong_value_is_marked(
    area: ViewArea, study: Any, settle: Any, qtbot: Any
) -> None:
    dock = area.show_view(study, "processors")
    settle()
    editor = dock.options.editor("processors")
    assert [editor.editor.itemText(i) for i in range(editor.editor.count())] == ["as selected", "1", "2", "4", "8"]
    editor.editor.setCurrentIndex(2)
    settle()
    assert dock.chosen == {"processors": 2}
    assert "2 processors" in dock.figure().sentence
    matrix = area.show_view(study, "matrix")
    settle()
    matrix.options.editor("efficiency").editor.setValue(0.25)
    settle()
    assert matrix.chosen == {"efficiency": 0.25}
    assert "efficiency 0.25" in str(matrix.figure())
    field = matrix.options.editor("time").editor
    field.setText("very good")
    field.editingFinished.emit()
    assert field.property("fault")
    assert "expected a number" in field.toolTip()
    assert matrix.chosen == {"efficiency": 0.25}


def test_views_follow_when_a_run_lands_and_keep_the_old_picture_meanwhile(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, data: StudyData
) -> None:
    dock = area.show_view(study, "runs")
    settle()
    before = dock.figure()
    assert len(before.panels[0].rows) == 8
    with qtbot.waitSignal(dock.drawing.drawn):
        study.land(StudyData.from_runs(synthetic.grid((1, 2, 4, 8, 16), (256, 1024))))
        assert dock.figure() is before
        assert dock.picture.state_text() == ""
    assert len(dock.figure().panels[0].rows) == 10


def test_a_study_that_is_still_read_says_so_and_one_that_cannot_be_read_says_why(area: ViewArea, qtbot: Any) -> None:
    handle: Any = Handle("slow", None)
    dock = area.show_view(handle, "time")
    assert dock.picture.state_text() == "Reading the study …"
    handle.error = "slow.sgstudy: is not a study"
    handle.failed.emit(handle.error)
    assert dock.picture.state_text() == "slow.sgstudy: is not a study"


@pytest.fixture
def made_view(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make a function of the test build the view ``time``."""

    def act(make: Callable[..., Any]) -> None:
        view = View("time", "Time", "", make)
        monkeypatch.setattr(views, "get", lambda name: view)

    return act


def test_a_view_that_fails_says_so_and_is_drawn_on_a_second_try(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, made_view: Any
) -> None:
    answers = [WorkError("the runs have no time"), figures.time_over_n()]

    def make(_data: StudyData) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    made_view(make)
    dock = area.show_view(study, "time")
    settle()
    assert dock.picture.state_text() == "the runs have no time"
    qtbot.mouseClick(dock.picture.retry_button, Qt.MouseButton.LeftButton)
    settle()
    assert dock.picture.state_text() == ""
    assert dock.figure().title == "Execution time over N"


def test_views_are_built_outside_of_the_windows_thread_and_old_answers_are_dropped(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, made_view: Any
) -> None:
    gate, threads, count = threading.Event(), [], 0

    def make(_data: StudyData) -> Any:
        nonlocal count
        count += 1
        mine = count
        threads.append(threading.get_ident())
        gate.wait(60)
        return replace(figures.time_over_n(), sentence=f"answer {mine}")

    made_view(make)
    dock = area.show_view(study, "time")
    shown: list[str] = []
    dock.picture.shown.connect(lambda figure: shown.append(figure.sentence))
    qtbot.waitUntil(lambda: count == 1)
    dock.drawing.refresh()
    dock.drawing.refresh()
    gate.set()
    settle()
    assert shown == ["answer 2"]
    assert threading.get_ident() not in threads


def test_closing_a_view_while_it_is_drawn_leaves_nothing_behind(
    area: ViewArea, study: Any, settle: Any, qtbot: Any, made_view: Any
) -> None:
    gate, started = threading.Event(), threading.Event()

    def make(_data: StudyData) -> Any:
        started.set()
        gate.wait(60)
        return figures.time_over_n()

    made_view(make)
    dock = area.show_view(study, "time")
    qtbot.waitUntil(started.is_set)
    dock.close()
    gate.set()
    settle()
    assert area.docks == []


@pytest.mark.parametrize("name", ["Overview", "Scalability", "Lost time", "Models", "Isospeed", "Regions"])
def test_arrangements_place_their_views_in_sight(name: str, area: ViewArea, study: Any, settle: Any) -> None:
    area.resize(1280, 1000)
    area.show_study(study)
    area.apply_arrangement(name)
    settle()
    assert len(area.docks) >= 4
    tops = [dock for dock in area.docks if not dock.visibleRegion().isEmpty()]
    assert len(tops) >= 3
    for dock in tops:
        assert dock.width() >= 300
        assert dock.height() >= 180
    assert area.width() == 1280


def test_number_keys_arrange(area: ViewArea, study: Any, qtbot: Any) -> None:
    area.show_study(study)
    qtbot.keyClick(area, Qt.Key.Key_3)
    assert "source" in names(area)


def test_compare_shows_the_curves_of_both_studies_together_and_each_by_itself(
    area: ViewArea, study: Any, data: StudyData, settle: Any
) -> None:
    area.show_study(study)
    assert "needs a second study" in area.apply_arrangement("Compare")
    other: Any = Handle("gauss", data)
    area.show_study(other)
    assert area.apply_arrangement("Compare") == ""
    settle()
    by_study = {key: [d for d in area.docks if d.handle.key == key] for key in ("gauss", "billiard")}
    alone = [d for d in by_study["gauss"] if not d.view.several]
    assert [d.view.name for d in alone] == [d.view.name for d in by_study["billiard"]]
    together = dock_of(area, "compare")
    assert [handle.key for handle in together.compared.handles()] == ["billiard"]
    figure = together.figure()
    assert figure is not None
    assert figure.panels, figure.empty
    assert together.x() < alone[0].x()
    assert by_study["billiard"][0].windowTitle() == "Time: billiard"
    title = by_study["billiard"][0].title
    assert title._study.text() == "billiard" or title._name.text().startswith("Time: b"), title._name.text()


def test_views_of_one_study_never_stand_among_those_of_another(
    area: ViewArea, study: Any, data: StudyData, settle: Any
) -> None:
    area.show_study(study)
    area.apply_arrangement("Models")
    area.maximise(dock_of(area, "fit"))
    settle()
    other: Any = Handle("gauss", data)
    area.show_study(other)
    area.apply_arrangement("Regions")
    area.maximise(dock_of(area, "verdicts"))
    settle()
    area.apply_arrangement("Isospeed")
    settle()
    seen = {dock.handle.key for dock in area.findChildren(ViewDock) if dock.isVisible()}
    assert seen == {"gauss"}
    area.show_study(study)
    settle()
    assert {dock.handle.key for dock in area.findChildren(ViewDock) if dock.isVisible()} == {"billiard"}
    assert "fit" in names(area)


def test_a_study_can_be_left_out_of_the_comparison(
    area: ViewArea, study: Any, data: StudyData, settle: Any, qtbot: Any
) -> None:
    area.show_study(study)
    other: Any = Handle("gauss", data)
    area.show_study(other)
    area.apply_arrangement("Compare")
    settle()
    together = dock_of(area, "compare")
    menu = together.title.more.menu()
    assert menu is not None
    compared = next(action.menu() for action in menu.actions() if action.text() == "Compare with")
    compared.aboutToShow.emit()
    compared.actions()[0].trigger()
    settle()
    assert together.compared.handles() == []
    assert "two or more studies" in together.picture.state_text()


def drag(panel: PlotPanel, option: str, by: QPoint, steps: int = 4) -> None:
    """Drag the line of *option* with the pointer in several moves, and release it."""
    canvas = panel.canvas()
    start = panel.place_of_handle(option)
    assert start is not None
    QTest.mouseMove(canvas, start)
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, steps + 1):
        place = QPointF(start + by * step / steps)
        move = QMouseEvent(
            QEvent.Type.MouseMove,
            place,
            QPointF(canvas.mapToGlobal(place.toPoint())),
            Qt.MouseButton.NoButton,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        QCoreApplication.sendEvent(canvas, move)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start + by)


@pytest.fixture
def held(
    area: ViewArea, study: Any, settle: Any, monkeypatch: pytest.MonkeyPatch
) -> tuple[ViewDock, ViewDock, PlotPanel]:
    """The matrix beside a plot with a line at the constant efficiency, both drawn."""
    monkeypatch.setitem(pg.CONFIG_OPTIONS, "mouseRateLimit", -1)  # a test drags faster than a hand
    area.resize(1800, 1100)  # room for both panels of the speedup
    area.show_study(study)
    speedup = area.show_view(study, "speedup")
    settle()
    panel = next(
        panel
        for panel in speedup.picture.panels
        if isinstance(panel, PlotPanel) and any(handle.option == "efficiency" for handle in panel.handles())
    )
    assert panel.isVisible()
    return dock_of(area, "matrix"), speedup, panel


def test_dragging_the_line_of_efficiency_changes_the_matrix_and_is_one_step_of_undo(
    area: ViewArea, held: tuple[ViewDock, ViewDock, PlotPanel], settle: Any
) -> None:
    matrix, speedup, panel = held
    before = matrix.figure()
    assert before is not None
    drag(panel, "efficiency", QPoint(0, 24))
    settle()
    value = speedup.option("efficiency")
    assert isinstance(value, float)
    assert matrix.option("efficiency") == value
    after = matrix.figure()
    assert after is not None
    assert after.panels != before.panels
    assert f"{value:g}" in next(handle.text for handle in panel.handles())
    stack = area.undo_stack
    assert stack is not None
    assert stack.count() == 1
    stack.undo()
    settle()
    assert matrix.option("efficiency") is None
    assert matrix.figure() is not None
    assert matrix.figure().panels == before.panels  # type: ignore[union-attr]
    stack.redo()
    settle()
    assert matrix.option("efficiency") == value


def test_the_line_moves_by_keys_as_well(
    area: ViewArea, held: tuple[ViewDock, ViewDock, PlotPanel], settle: Any, qtbot: Any
) -> None:
    matrix, _speedup, panel = held
    start = panel.handles()[0].value
    for _ in range(3):
        qtbot.keyPress(panel, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyRelease(panel, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    settle()
    value = matrix.option("efficiency")
    assert isinstance(value, float)
    assert 0.02 < start - value < 0.4
    assert area.undo_stack is not None
    assert area.undo_stack.count() == 1


def test_a_double_click_on_the_title_maximises_and_another_shows_all_again(
    area: ViewArea, study: Any, settle: Any, qtbot: Any
) -> None:
    area.show_study(study)
    settle()
    dock = dock_of(area, "matrix")
    width = dock.width()
    qtbot.mouseDClick(dock.title, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dock.width() > 1200)
    assert not dock_of(area, "overheads").isVisible()
    qtbot.mouseDClick(dock.title, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dock.width() == width)
    assert dock_of(area, "overheads").isVisible()


def test_tiling_gives_every_view_a_place_of_its_own(area: ViewArea, study: Any, settle: Any, qtbot: Any) -> None:
    for name in ("time", "speedup", "latency", "runs"):
        area.show_view(study, name)
    qtbot.mouseClick(area.bar.tile, Qt.MouseButton.LeftButton)
    settle()
    qtbot.waitUntil(lambda: all(not dock.visibleRegion().isEmpty() for dock in area.docks))
    assert len({(dock.x(), dock.y()) for dock in area.docks}) == 4


def test_a_view_can_be_floated_and_brought_back(area: ViewArea, study: Any, settle: Any, qtbot: Any) -> None:
    dock = area.show_view(study, "time")
    settle()
    qtbot.mouseClick(dock.title.float, Qt.MouseButton.LeftButton)
    assert dock.isFloating()
    assert dock.windowTitle() == "Execution time — billiard"
    qtbot.mouseClick(dock.title.float, Qt.MouseButton.LeftButton)
    assert not dock.isFloating()


def test_places_and_options_are_remembered_per_study(
    make_area: Callable[[], ViewArea], study: Any, settle: Any, settings: Settings
) -> None:
    area = make_area()
    area.show_study(study)
    area.apply_arrangement("Scalability")
    dock_of(area, "matrix").set_options({"bound": "time"})
    settle()
    widths = {dock.view.name: dock.width() for dock in area.docks if not dock.visibleRegion().isEmpty()}
    settings.set_bytes(f"places/{study.key}", area.save_state())
    again = make_area()
    again.show_study(study)
    settle()
    assert sorted(names(again)) == sorted(names(area))
    assert dock_of(again, "matrix").chosen == {"bound": "time"}
    assert {n: dock_of(again, n).width() for n in widths} == pytest.approx(widths, abs=12)


def test_show_as_shows_the_same_data_otherwise_and_is_one_step_of_undo(area: ViewArea, study: Any, settle: Any) -> None:
    dock = area.show_view(study, "matrix")
    dock.set_options({"efficiency": 0.25, "bound": "time"})
    settle()
    choice = dock.options.editor("show_as")
    choice.editor.setCurrentText("rows")
    settle()
    figure = dock.figure()
    assert figure is not None
    assert figure.view == "matrix-row"
    assert (dock.windowTitle(), choice.value()) == ("Rows", "rows")
    assert dock.chosen == {"efficiency": 0.25}  # of the rows' options, only those that the new view also has
    assert dock.options.editor("show_as") is choice
    stack = area.undo_stack
    assert stack is not None
    stack.undo()
    settle()
    assert (dock.view.name, dock.chosen) == ("matrix", {"efficiency": 0.25, "bound": "time"})
    assert choice.value() == "matrix"


def test_two_views_of_a_family_stand_side_by_side_and_places_keep_their_names(
    area: ViewArea, study: Any, settle: Any
) -> None:
    area.show_study(study)
    area.apply_arrangement("Scalability")
    settle()
    dock_of(area, "matrix").options.changed.emit("show_as", "rows")
    assert names(area).count("matrix-row") == 2
    dock_of(area, "speedup").options.changed.emit("show_as", "costs")
    state = area.save_state()
    assert {item["view"] for item in json.loads(state.data())["docks"]} == {"matrix-row", "latency", "costs", "time"}
    area.apply_arrangement("Overview")
    assert sorted(names(area)) == ["matrix", "overheads", "runs", "speedup", "time"]
    assert area.apply_state(state)
    settle()
    assert sorted(names(area)) == ["costs", "latency", "matrix-row", "matrix-row", "time"]


def test_views_of_a_family_have_names_of_their_own_also_after_others_were_closed(area: ViewArea, study: Any) -> None:
    """Undo and places go by name."""
    other = area.show_view(study, "time")
    for choice in ("rows", "surface", "average"):
        area.show_view(study, "matrix").options.changed.emit("show_as", choice)
        if choice == "surface":
            other.close()
    held = [dock.objectName() for dock in area.docks]
    assert len(set(held)) == len(held) == 3
    assert area.undo_stack is not None
    area.undo_stack.undo()
    assert names(area) == ["matrix-row", "scalability-surface", "matrix"]


@pytest.mark.parametrize(
    "state", [b"", b"not json", b'{"version": 99, "docks": [1]}', b'{"version": 1, "docks": [{}]}']
)
def test_remembered_places_that_cannot_be_read_give_the_overview(
    state: bytes, area: ViewArea, study: Any, settings: Settings
) -> None:
    settings.set_bytes(f"places/{study.key}", QByteArray(state))
    area.show_study(study)
    assert "matrix" in names(area)


def test_each_study_has_its_own_desk(area: ViewArea, study: Any, data: StudyData, settle: Any) -> None:
    area.show_study(study)
    area.apply_arrangement("Lost time")
    mine = names(area)
    other: Any = Handle("gauss", data)
    area.show_study(other)
    assert {dock.handle for dock in area.docks} == {other}
    area.show_study(study)
    settle()
    assert names(area) == mine
    area.forget("gauss")
    assert names(area) == mine


def test_closing_the_study_in_view_leaves_an_empty_area_that_says_what_to_do(area: ViewArea, study: Any) -> None:
    area.show_study(study)
    area.forget(study.key)
    assert area.docks == []
    assert area.apply_arrangement("Overview") == "No study is open."


@pytest.fixture
def dialog(area: ViewArea, jobs: Jobs, qtbot: Any) -> Iterator[ExportDialog]:
    made = ExportDialog(figures.time_over_n(), "billiard time", jobs)
    with qtbot.waitSignal(made.previewed):
        made.show()
    yield made
    made.close()
    made.deleteLater()


@pytest.mark.parametrize(
    ("ending", "start"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("csv", None), ("tex", None), ("json", b"{")],
)
def test_export_writes_the_chosen_format_to_the_chosen_file(
    ending: str, start: bytes | None, dialog: ExportDialog, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    proposed: list[str] = []

    def choose(_parent: Any, _title: str, path: str, _filter: str) -> tuple[str, str]:
        proposed.append(Path(path).name)
        return str(tmp_path / "out"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    with qtbot.waitSignal(dialog.previewed):
        dialog.format.setCurrentIndex(-1)
        dialog.format.setCurrentIndex(dialog.format.findData(ending))
    with qtbot.waitSignal(dialog.saved):
        qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    written = tmp_path / f"out.{ending}"
    assert proposed == [f"billiard-time.{ending}"]
    assert written.read_bytes().startswith(start or b"")
    assert written.stat().st_size > 50
    assert str(written) in dialog.said()


def test_the_preview_shows_what_is_written(dialog: ExportDialog, qtbot: Any) -> None:
    with qtbot.waitSignal(dialog.previewed):
        dialog.natural.setChecked(False)
        dialog.width_cm.setValue(20.0)
        dialog.height_cm.setValue(8.0)
    assert dialog.preview_size().width() / dialog.preview_size().height() == pytest.approx(2.5, rel=0.02)
    with qtbot.waitSignal(dialog.previewed):
        dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    assert "simulated on KSR-1" in dialog.preview_text()


def test_an_export_that_cannot_be_written_says_why_where_the_user_is(
    dialog: ExportDialog, qtbot: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    path = tmp_path / "no such folder" / "a.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    qtbot.mouseClick(dialog.save_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "no such folder" in dialog.said())
    assert dialog.save_button.isEnabled()


def test_copying_puts_picture_numbers_or_latex_on_the_clipboard(area: ViewArea, study: Any, settle: Any) -> None:
    dock = area.show_view(study, "matrix")
    settle()
    clipboard = QGuiApplication.clipboard()
    dock.furnish().copy_picture.trigger()
    assert clipboard.image().width() > 200
    dock.furnish().copy_text.trigger()
    assert "," in clipboard.text()
    dock.furnish().copy_latex.trigger()
    assert "\\begin{tabular}" in clipboard.text()


def test_an_empty_view_cannot_be_exported(area: ViewArea, settle: Any) -> None:
    handle: Any = Handle("one", StudyData.from_runs([synthetic.run(1)]))
    dock = area.show_view(handle, "matrix")
    settle()
    assert dock.picture.state_text() != ""
    assert not dock.furnish().export.isEnabled()


def _tabs(area: ViewArea) -> list[tuple[str, ...]]:
    """Return the texts of visible dock tabs, by bar."""
    bars = [bar for bar in area.findChildren(QTabBar) if isinstance(bar.parent(), QMainWindow) and bar.isVisible()]
    return sorted(tuple(bar.tabText(i) for i in range(bar.count())) for bar in bars if bar.count())


def test_no_tabs_of_before_stay_in_sight(qtbot: Any, area: ViewArea, study: Any, data: StudyData) -> None:
    other = Handle("another", data)
    area.resize(1280, 1000)
    area.show_study(study)
    area.apply_arrangement("Cache and memory")
    qtbot.waitUntil(lambda: len(_tabs(area)) == 4)
    before = _tabs(area)
    for dock in area.docks[:3]:
        area.maximise(dock)
        QCoreApplication.processEvents()
        area.maximise(dock)
        qtbot.waitUntil(lambda: _tabs(area) == before)
    area.show_study(other)
    area.apply_arrangement("Regions")
    qtbot.waitUntil(lambda: bool(_tabs(area)) and not set(_tabs(area)) & set(before))
    there = _tabs(area)
    area.show_study(study)
    qtbot.waitUntil(lambda: _tabs(area) == before)
    area.show_study(other)
    qtbot.waitUntil(lambda: _tabs(area) == there)
