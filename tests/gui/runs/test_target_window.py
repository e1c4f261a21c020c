"""From the request panel to a comparison: simulate a program, measure it on this computer, view both."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QThreadPool
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from scalegraph import views
from scalegraph.gui.base.jobs import Jobs, Latest
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.request.destination import TargetSection
from scalegraph.gui.request.form import BoundForm, RequestForm, of_request, read
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request import Session
from scalegraph.request.model.request import Request
from tests.gui.conftest import RUNS_MS

PROGRAM = """
#include <stdio.h>
static double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) { printf("%g\\n", sum(1000000)); return 0; }
"""


@pytest.fixture
def section(qtbot: QtBot) -> TargetSection:
    model = RequestModel()
    made = TargetSection(model)
    made.set_test(Latest(Jobs(made), "test", made))
    qtbot.addWidget(made)
    model.changed.connect(made.show_form)
    model.edit("program", sources=("p.c",))
    return made


def test_the_picker_offers_every_target_and_says_what_it_measures(section: TargetSection, qtbot: QtBot) -> None:
    section.show()
    assert section.choice.findData("host") >= 0
    assert not section.editors["target.until"].isVisible()  # the simulator needs no repetitions
    section.model.edit("target", target="host")
    assert section.editors["target.until"].isVisible()
    assert "elapsed time" in section.measures.text()
    section.test.click()
    qtbot.waitUntil(lambda: section.test.isEnabled())
    assert "processor" in section.found.text() or "compiler" in section.found.text()
    QThreadPool.globalInstance().waitForDone()


def test_the_settings_of_the_chosen_target_are_named_and_completed(section: TargetSection) -> None:
    section.show()
    section.model.edit("target", target="slurm", target_settings=(("shared", ""),))
    assert "ranks_per_node: " in section.settings.toolTip()
    (value,) = [field for field in section.settings.findChildren(QLineEdit) if field.placeholderText() == "no"]
    assert "other jobs may use the node" in value.toolTip()
    (name,) = [field for field in section.settings.findChildren(QLineEdit) if field.completer() is not None]
    model = name.completer().model()
    assert "partition" in {model.data(model.index(row, 0)) for row in range(model.rowCount())}
    section.model.edit("target", target="mpi")
    assert "hostfile: " in section.settings.toolTip()
    assert "partition" not in section.settings.toolTip()


def test_what_is_typed_becomes_the_request_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    form = RequestForm(
        sources=("p.c",), directory=str(tmp_path), target="host", until="2 %", pin="spread", warm_up="0", processors="1"
    )
    request, faults = read(form)
    assert faults == []
    assert request is not None
    assert request.target.model_dump(exclude_defaults=True) == {
        "name": "host",
        "until": 2.0,
        "pin": "spread",
        "warm_up": 0,
    }
    again = of_request(request)
    assert (again.target, again.until, again.pin, again.warm_up) == ("host", "2 %", "spread", "0")
    assert Request.model_validate(request.model_dump(mode="json")) == request


@pytest.mark.slow
def test_a_program_that_was_simulated_and_measured_is_compared(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    path = tmp_path / "s.sgstudy"
    for target in ("simulated", "host"):
        form = RequestForm(
            sources=("p.c",), directory=str(tmp_path), target=target, warm_up="0", processors="1", machine="ksr1"
        )
        request, faults = read(form)
        assert request is not None
        assert faults == []
        Session().submit(request, path).close()
    data = Session().study_data(path)
    for name in ("simulated-measured", "model-misses", "noise"):
        figure = views.get(name).build(data)
        assert not figure.empty, figure.empty
        assert figure.sentence


SIZED = """
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    double sum = 0;
    int n = atoi(words[1]);
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += i * 0.5;
    printf("%g\\n", sum);
    return 0;
}
"""


def ended(window: MainWindow, qtbot: QtBot, number: int) -> None:
    """Wait until the request with that *number* has ended."""
    window.request.side.run.click()
    runner = window.runner
    qtbot.waitUntil(
        lambda: len(runner.entries) > number and all(runner.over(entry) for entry in runner.entries),
        timeout=RUNS_MS,
    )
    assert {entry.phase for entry in runner.entries} == {"done"}, [entry.message for entry in runner.entries]


@pytest.mark.slow
@pytest.mark.compiler
def test_a_click_on_another_target_leads_from_the_panel_to_the_comparison(
    real: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "sums.c"
    source.write_text(SIZED, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_a, **_k: ([str(source)], ""))
    qtbot.mouseClick(real.start.sources, Qt.MouseButton.LeftButton)
    real.request.model.edit(
        "small", machine="ksr1", processors="1", bounds=(BoundForm(),), args="{n}", parameters=(("n", "2000"),)
    )
    qtbot.waitUntil(lambda: real.request.can_run)
    ended(real, qtbot, 0)
    real.go("request")
    target = real.request.target
    real.request.form_area.ensureWidgetVisible(target.choice)
    target.choice.setCurrentIndex(target.choice.findData("host"))
    target.choice.activated.emit(target.choice.currentIndex())
    assert real.request.model.form.target == "host"
    assert target.editors["target.disturbed"].isVisible()
    target.editors["target.warm_up"].setText("0")
    target.editors["target.warm_up"].textEdited.emit("0")
    qtbot.mouseClick(target.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: target.test.isEnabled() and bool(target.found.text()), timeout=RUNS_MS)
    assert "processor" in target.found.text()
    qtbot.waitUntil(lambda: real.request.can_run)
    ended(real, qtbot, 1)
    handle = real.study.handle
    area = real.study.area
    assert area is not None
    real.go("study")
    dock = area.show_view(handle, "simulated-measured")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: dock.figure() is not None and not dock.figure().empty, timeout=RUNS_MS)
    assert "measured" in dock.figure().sentence


@pytest.mark.slow
@pytest.mark.compiler
def test_a_comparison_opens_with_all_its_columns_in_a_small_window(
    real: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "s.sgstudy"
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    for target in ("simulated", "host"):
        form = RequestForm(
            sources=("p.c",), directory=str(tmp_path), target=target, warm_up="0", processors="1", machine="ksr1"
        )
        request, _faults = read(form)
        assert request is not None
        Session().submit(request, path).close()
    handle = real.open_study(path)
    qtbot.waitUntil(lambda: real.study.area is not None and bool(real.study.area.docks), timeout=RUNS_MS)
    area = real.study.area
    assert area is not None
    qtbot.waitUntil(lambda: not real.jobs.running)
    others = [dock for dock in area.docks if dock.isVisible()]
    for name in ("simulated-measured", "model-misses", "noise"):
        dock = area.show_view(handle, name)
        qtbot.waitUntil(lambda dock=dock: dock.figure() is not None and not dock.figure().empty, timeout=RUNS_MS)
        (table,) = dock.findChildren(TablePanel)
        header = table.tree.header()
        qtbot.waitUntil(lambda header=header, table=table: 0 < header.length() <= table.tree.viewport().width())
    area.show_view(handle, "time")
    qtbot.waitUntil(lambda: all(dock.isVisible() for dock in others))


@pytest.mark.slow
def test_editors_of_all_sections_begin_at_one_place(window: MainWindow, choose: Callable[..., None]) -> None:
    choose()
    window.request.model.edit("target", target="slurm", target_settings=(("partition", "night"),))
    window.request.layout().activate()
    shown = [
        field
        for section in window.request.sections
        for field in section.fields
        if field.beside and field.title.isVisible() and field.isVisible()
    ]
    QApplication.processEvents()
    places = {field.editor.mapTo(window, QPoint(0, 0)).x() for field in shown}
    assert len(shown) > 12
    assert len(places) == 1
