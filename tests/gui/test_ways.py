"""What a view lacks is one click away: its button opens the request panel, queue or What if panel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from scalegraph.base.run import RunPoint, TraceFile
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.request.form import read
from scalegraph.gui.request.widgets import Choice
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.study.page import StudyPage
from scalegraph.store import Study
from scalegraph.traces.container import write_container
from tests.gui.conftest import record
from tests.gui.test_first_minutes import SHIPPED, one_size, shown
from tests.gui.trace.test_trace_window import opened, settled
from tests.views import traces

pytestmark = pytest.mark.slow(2)

LEFT = Qt.MouseButton.LeftButton


def press(window: MainWindow, qtbot: Any, view: str, text: str) -> None:
    """Show *view* in the first window and press its button *text*."""
    press_in(window.study, window, qtbot, view, text)


def press_in(page: StudyPage, window: MainWindow, qtbot: Any, view: str, text: str) -> None:
    """Show *view* on *page* and press its button *text*."""
    area = page.area
    assert area is not None
    assert window.study.handle is not None
    dock = area.show_view(window.study.handle, view)  # type: ignore[arg-type]
    assert isinstance(dock, ViewDock)
    qtbot.waitUntil(lambda: dock.figure() is not None and not window.jobs.running)
    qtbot.waitUntil(lambda: any(b.text() == text and b.isVisible() for b in dock.findChildren(QPushButton)))
    (found,) = [button for button in dock.findChildren(QPushButton) if button.text() == text and button.isVisible()]
    qtbot.mouseClick(found, LEFT)


def test_miss_classes_are_collected_by_the_runs_of_the_study_itself(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    press(window, qtbot, "miss-classes", "Collect miss classes and run again")
    qtbot.waitUntil(lambda: bool(window.session.submitted))
    (request,) = window.session.submitted
    assert request.collect.classes
    assert request.program.name == "ge1"
    assert request.processors == (1, 2, 4)
    (entry,) = window.runner.entries
    assert entry.path == path
    assert "classes" in window.study.banner.text
    qtbot.waitUntil(lambda: not window.runner.busy)


def test_another_instrumentation_is_planned_as_a_study_of_its_own(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "bare.sgstudy"
    one_size(path, {**SHIPPED, "collect": {"regions": False}}, counts=())
    with Study.open(path, write=True) as study:
        for n in (1, 2, 4):
            study.add_run(record(RunPoint(processors=n, parameters={}), regions=()))
    shown(window, qtbot, path)
    press(window, qtbot, "profile", "Collect regions")
    assert window.page == "request"
    assert window.request.model.form.regions
    assert window.request.side.study_path() not in (None, path)
    assert not window.session.submitted


def test_monitoring_is_planned_as_a_study_of_its_own_and_shown(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    """Scale-Graph paper, 4.1: software or hardware monitoring, and what it perturbs."""
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    press(window, qtbot, "monitoring", "Monitor by software")
    assert window.page == "request"
    assert window.request.model.form.monitor == "software"
    assert window.request.side.study_path() not in (None, path)
    watched = tmp_path / "watched.sgstudy"
    one_size(watched, SHIPPED, counts=())
    with Study.open(watched, write=True) as study:
        for n in (1, 2, 4):
            run = record(RunPoint(processors=n, parameters={}))
            study.add_run(run.model_copy(update={"processor_categories": {"prim_monitor": [3_000] * n}}))
    shown(window, qtbot, watched)
    assert window.study.area is not None
    dock = window.study.area.show_view(window.study.handle, "monitoring")  # type: ignore[arg-type]
    assert isinstance(dock, ViewDock)
    qtbot.waitUntil(lambda: dock.figure() is not None and not window.jobs.running)
    figure = dock.figure()
    assert figure is not None
    assert figure.sentence.startswith("Monitoring makes ")


def test_the_request_chooses_who_monitors(window: MainWindow, qtbot: Any) -> None:
    window.go("request")
    model = window.request.model
    window.request.program.choose("ge1")
    (choice,) = [
        found
        for found in window.findChildren(Choice)
        if found.accessibleName() == "Monitoring on the simulated machine"
    ]
    assert choice.currentData() == "none"
    choice.chosen.emit("hardware")
    request, faults = read(model.form)
    assert not faults
    assert request is not None
    assert request.collect.monitor == "hardware"
    model.undo_stack.undo()
    assert choice.currentData() == "none"


def test_calls_are_planned_as_a_trace_of_the_same_runs(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    press(window, qtbot, "flame", "Run with trace")
    assert window.page == "request"
    assert window.request.trace.on.isChecked()
    assert window.request.trace.kinds["regions"].isChecked()
    assert window.request.side.study_path() == path
    assert "regions" in window.request.banner.text
    qtbot.waitUntil(lambda: window.request.can_run)
    assert not window.session.submitted


def test_free_synchronisation_is_chosen_in_the_what_if_panel(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    window.whatif.auto.setChecked(False)
    press(window, qtbot, "pop", "Run with free synchronisation")
    assert window.whatif.isVisible()
    assert window.whatif.ideals["sync"].isChecked()
    assert window.whatif.state.ideals == ("sync",)


def test_the_hottest_lines_are_chosen_in_the_what_if_panel(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    window.whatif.auto.setChecked(False)
    press(window, qtbot, "virtual-speedup", "Run with faster lines")
    assert window.whatif.isVisible()
    assert window.whatif.sweep.isChecked()


def test_a_button_in_a_further_window_acts_in_the_first(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    second = window.windows.open()
    qtbot.waitUntil(lambda: second.study.area is not None and not window.jobs.running)
    press_in(second.study, window, qtbot, "what-if", "Open the What if panel")
    assert window.whatif.isVisible()
    second.close()


def test_the_what_if_panel_is_opened(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    window.panels.want("whatif", False)
    press(window, qtbot, "what-if", "Open the What if panel")
    assert window.whatif.isVisible()
    assert window.whatif.state.empty


@pytest.mark.parametrize(
    ("view", "text", "counts", "wanted"),
    [
        ("speedup", "Add processor counts", (2, 4), "1, 2, 4, 8"),
        ("time", "Add N = 1", (2, 4), "1, 2, 4"),
    ],
)
def test_processor_counts_are_added_to_the_request(
    window: MainWindow, qtbot: Any, tmp_path: Path, view: str, text: str, counts: tuple[int, ...], wanted: str
) -> None:
    asked = {**SHIPPED, "processors": list(counts), "reference": False}
    path = one_size(tmp_path / "one.sgstudy", asked, counts=counts)
    shown(window, qtbot, path)
    press(window, qtbot, view, text)
    assert window.page == "request"
    assert window.request.model.form.processors == wanted
    assert window.request.side.study_path() == path
    qtbot.waitUntil(lambda: window.request.can_run)


def test_a_study_without_runs_shows_its_request(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    shown(window, qtbot, one_size(tmp_path / "none.sgstudy", SHIPPED, counts=()))
    press(window, qtbot, "speedup", "Show the request")
    assert window.page == "request"
    assert window.request.model.form.program == "ge1"


def trace_of(path: Path) -> Path:
    """Write the trace of a simulated run without counters."""
    path.parent.mkdir(exist_ok=True)
    with traces.halves().trace as trace:
        write_container(trace, path, lambda _share: None)
    return path


@pytest.mark.parametrize("known", ["open", "beside"])
def test_what_a_trace_lacks_is_planned_in_the_request_of_its_study(
    window: MainWindow, qtbot: Any, tmp_path: Path, known: str
) -> None:
    study = one_size(tmp_path / "one.sgstudy", SHIPPED, counts=())
    trace = trace_of(tmp_path / "one.traces" / "4.sgtrace")
    file = TraceFile(path="one.traces/4.sgtrace", bytes=1, counts={}, asked="x")
    with Study.open(study, write=True) as kept:
        kept.add_run(record(RunPoint(processors=4, parameters={}), trace=file))
    if known == "open":
        shown(window, qtbot, study)
    opened(window, qtbot, trace)
    press(window, qtbot, "counters", "Run with trace")
    qtbot.waitUntil(lambda: window.page == "request")
    assert window.request.model.form.program == "ge1"
    assert window.request.trace.on.isChecked()
    assert window.request.trace.kinds["counters"].isChecked()
    assert window.request.side.study_path() == study


def test_of_a_trace_whose_study_is_not_known_the_choice_in_the_request_panel_is_named(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    opened(window, qtbot, trace_of(tmp_path / "loose" / "4.sgtrace"))
    press(window, qtbot, "counters", "Run with trace")
    assert window.page == "study"
    assert "choose Trace and 'counters' in the request panel" in window.study.banner.text
    settled(window, qtbot)


def test_a_message_about_a_fault_goes_with_the_next_action_of_its_page(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    banner = window.study.banner
    window.pages.say_fault("the file is damaged")
    assert banner.text == "the file is damaged"
    window.actions_["back"].setEnabled(True)
    window.actions_["back"].trigger()
    assert not banner.text
    banner.show_remark("worth knowing")
    window.actions_["clear_selection"].setEnabled(True)
    window.actions_["clear_selection"].trigger()
    assert banner.text == "worth knowing"


@pytest.mark.parametrize(
    ("view", "options", "text", "held"),
    [
        ("overestimation", {}, "Add sizes with the time and the efficiency held", {"time", "efficiency"}),
        ("latency-sources", {"held": "memory"}, "Add sizes with the memory held", {"memory"}),
        ("parallelism", {}, "Add sizes with the efficiency held", {"efficiency"}),
        ("sequential", {}, "Add sizes with the efficiency held", {"efficiency"}),
        ("isoefficiency", {}, "Add sizes with the efficiency held", {"efficiency"}),
    ],
)
def test_what_is_to_be_held_is_put_into_the_request(
    window: MainWindow, qtbot: Any, tmp_path: Path, view: str, options: Any, text: str, held: set[str]
) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    area = window.study.area
    assert area is not None
    dock = area.show_view(window.study.handle, view)  # type: ignore[arg-type]
    assert isinstance(dock, ViewDock)
    dock.set_options(options)
    press(window, qtbot, view, text)
    assert window.page == "request"
    form = window.request.model.form
    assert {bound.kind for bound in form.bounds} == {"problem_size", *held}
    assert form.method  # something grows
    qtbot.waitUntil(lambda: window.request.can_run)
    assert not window.session.submitted


def test_a_comparison_of_one_study_opens_another(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    asked: list[str] = []

    def ask(_parent: Any, title: str, *_: Any) -> tuple[list[str], str]:
        asked.append(title)
        return [], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", ask)
    window.study.arrange("Compare")
    press(window, qtbot, "compare", "Open a second study…")
    assert len(asked) == 1


def test_program_text_that_is_not_beside_a_trace_is_found_in_a_chosen_folder(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, bare = tmp_path / "project", tmp_path / "bare"
    (home / "src").mkdir(parents=True)
    bare.mkdir()
    (home / "src" / "work.c").write_text("int main(void) {\n" + "  solve();\n" * 9 + "}\n")
    trace = trace_of(tmp_path / "loose" / "4.sgtrace")
    folders = [bare, home]
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folders.pop(0)))
    handle = opened(window, qtbot, trace)
    press(window, qtbot, "trace-source", "Choose the folder of the sources…")
    qtbot.waitUntil(lambda: "work.c" in window.study.banner.text)
    again = window.study.banner.findChildren(QPushButton)
    qtbot.mouseClick(next(one for one in again if one.text() == "Choose another folder…"), LEFT)

    def text() -> list[str]:
        area = window.study.area
        assert area is not None
        dock = next(dock for dock in area.docks if dock.view.name == "trace-source")
        figure = dock.figure()
        return [line.text for panel in figure.panels for line in panel.lines] if figure else []  # type: ignore[union-attr]

    qtbot.waitUntil(lambda: "  solve();" in text())
    window.actions_["undo"].trigger()
    qtbot.waitUntil(lambda: not text())
    window.actions_["redo"].trigger()
    qtbot.waitUntil(lambda: "  solve();" in text())
    settled(window, qtbot)
    window.close_study(handle.key)
    opened(window, qtbot, trace)
    assert window.study.area is not None
    window.study.area.show_view(window.study.handle, "trace-source")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: "  solve();" in text())
    settled(window, qtbot)
