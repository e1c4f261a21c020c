"""An MPI program in the window with the real engine: from the request panel to a scalability matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import Qt

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.figures.figure import Grid
from scalegraph.gui.queue import panel
from scalegraph.gui.queue.state import RunItem
from scalegraph.gui.request.form import BoundForm
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.store import Study
from tests.gui.conftest import RUNS_MS

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def _grid(dock: Any) -> Grid | None:
    figure = dock.figure()
    return next((panel for panel in figure.panels if isinstance(panel, Grid)), None) if figure is not None else None


def _values(dock: Any) -> list[float]:
    grid = _grid(dock)
    cells = [cell for row in grid.cells for cell in row if cell is not None] if grid is not None else []
    return [cell.values[0] for cell in cells if cell.values[0] is not None]


def test_an_mpi_program_goes_from_the_request_panel_to_a_matrix(real: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    real.go("request")
    real.request.program.choose("burg")
    few = {"processors": "1, 2, 4", "method": "II", "bounds": (BoundForm("efficiency", "0.8"),)}
    points = tuple((name, "720" if name == "points" else value) for name, value in real.request.model.form.parameters)
    real.request.model.edit("few runs", parameters=points, **few)
    qtbot.waitUntil(lambda: real.request.can_run)
    assert real.request.model.form.machine == "ncube2"  # from the program's own request
    assert "threads_per_process" not in real.request.side.toml.toPlainText()
    real.request.side.run.click()
    qtbot.waitUntil(lambda: real.study is not None and not real.jobs.running, timeout=RUNS_MS)
    area = real.study.area  # type: ignore[union-attr]
    dock = area.show_view(real.study.handle, "matrix")  # type: ignore[union-attr, arg-type]
    # A matrix drawn while the study still grows is followed by one of all runs: 2 to 2, 2 to 4, 4 to 4.
    qtbot.waitUntil(lambda: len(_values(dock)) == 3 and not real.jobs.running, timeout=RUNS_MS)
    assert min(_values(dock)) < 1
    for name in ("breakdown", "overheads", "pop", "message-costs", "topology"):
        shown = area.show_view(real.study.handle, name)  # type: ignore[union-attr, arg-type]
        qtbot.waitUntil(lambda shown=shown: shown.figure() is not None and not real.jobs.running, timeout=RUNS_MS)
        assert shown.figure().sentence
    studies = list(tmp_path.rglob("*.sgstudy"))
    with Study.open(studies[0]) as study:
        runs = study.runs()
        assert {(run.processes, run.threads_per_process) for run in runs} == {(1, 1), (2, 1), (4, 1)}
        assert all(run.categories["prim_send"] > 0 for run in runs if run.point.processors > 1)


def _traced_of(real: MainWindow, words: str) -> Any:
    tree = real.navigator.studies_tree
    top = tree.topLevelItem(0)
    items = [top.child(index) for index in range(top.childCount())] if top is not None else []
    return next((item for item in items if item.text(0) == words), None)


def test_an_mpi_program_goes_from_the_request_panel_to_its_spacetime_diagram_and_matrix(
    real: MainWindow, qtbot: Any
) -> None:
    real.go("request")
    choice = real.request.program.choice
    choice.setCurrentIndex(choice.findData("halo2d"))
    choice.activated.emit(choice.currentIndex())
    points = tuple((name, {"size": "24", "steps": "3"}.get(name, value)) for name, value in _parameters(real))
    real.request.model.edit("a small grid", parameters=points)
    processors = real.request.machine.editors["processors"]
    processors.setFocus()
    processors.selectAll()
    qtbot.keyClicks(processors, "1, 4")
    trace = real.request.trace
    qtbot.keyClick(trace.on, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: real.request.can_run and "[trace]" in real.request.side.toml.toPlainText())
    assert real.request.model.form.machine == "ncube2"
    qtbot.mouseClick(real.request.side.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: real.study is not None and not real.jobs.running, timeout=RUNS_MS)
    words = "trace of 4 processors"
    qtbot.waitUntil(lambda: _traced_of(real, words) is not None, timeout=RUNS_MS)
    tree = real.navigator.studies_tree
    item = _traced_of(real, words)
    tree.scrollToItem(item)
    qtbot.mouseClick(
        tree.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, tree.visualItemRect(item).center()
    )
    qtbot.waitUntil(lambda: isinstance(real.study.handle, TraceHandle) and real.study.handle.data() is not None)
    assert real.study.handle.title.endswith("N = 4")
    real.study.show_view("spacetime")
    qtbot.waitUntil(lambda: _figure(real, "spacetime") is not None and not real.jobs.running, timeout=RUNS_MS)
    timeline = _figure(real, "spacetime").panels[0]
    lanes = timeline.tracks[0]
    assert lanes.names == ("rank 0", "rank 1", "rank 2", "rank 3")
    drawn = {overlay.name: overlay for overlay in lanes.overlays}
    assert any("MPI_Finalize" in tip for tip in drawn["collectives"].tips)
    assert any("rank 0 to rank 1" in tip for tip in drawn["message"].tips)
    real.study.show_view("communication-matrix")
    qtbot.waitUntil(
        lambda: _figure(real, "communication-matrix") is not None and not real.jobs.running, timeout=RUNS_MS
    )
    grid = next(panel for panel in _figure(real, "communication-matrix").panels if isinstance(panel, Grid))
    sent = {
        (row, column)
        for row, cells in enumerate(grid.cells)
        for column, cell in enumerate(cells)
        if cell is not None and cell.values[0]
    }
    assert {(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1), (2, 3), (3, 2)} <= sent  # neighbours of a 2 x 2 grid
    assert (0, 3) not in sent


def _parameters(real: MainWindow) -> tuple[tuple[str, str], ...]:
    return real.request.model.form.parameters


def _figure(real: MainWindow, name: str) -> Any:
    area = real.study.area
    docks = area.docks if area is not None else ()
    return next((dock.figure() for dock in docks if dock.view.name == name), None)


def test_the_queue_shows_what_each_rank_printed() -> None:
    parts = ((1, 6), (0, 12), (1, 2))
    text = "one 1\nzero\nzero 2\n1\n"
    record = RunRecord(
        source="simulated",
        program="p",
        machine="m",
        point=RunPoint(processors=2),
        processes=2,
        stdout=text,
        stdout_ranks=parts,
    )
    shown = panel._run_text(RunItem(record.point, record=record))
    assert "── standard output ──\none 1\nzero\nzero 2\n1" in shown
    assert "── rank 0 ──\nzero\nzero 2\n── rank 1 ──\none 1\n1" in shown
    cut = record.model_copy(update={"stdout": text[:-1]})
    assert "rank 0" not in panel._run_text(RunItem(cut.point, record=cut))


def test_threads_a_process_are_said_beside_the_processors(real: MainWindow, qtbot: Any) -> None:
    real.go("request")
    real.request.program.choose("burg")
    machine = real.request.machine
    assert not machine.processes.isVisible()
    real.request.model.edit("hybrid", processors="1, 4, 16", threads_per_process="4", machine="server-2x32-inorder")
    assert machine.processes.text() == "MPI processes x threads: 1 x 1, 1 x 4, 4 x 4"
    real.request.model.edit("wrong", processors="1, 6")
    qtbot.waitUntil(lambda: any("multiple of 4" in item.fault.text() for item in machine.fields))
    assert not real.request.can_run
