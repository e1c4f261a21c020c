"""An MPI program in the window, with the real engine: from the request panel to a scalability matrix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from scalegraph.figures.figure import Grid
from scalegraph.gui import app
from scalegraph.gui.request.form import BoundForm
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request import Session
from scalegraph.store import Study

PATIENCE_MS = 240_000

pytestmark = pytest.mark.compiler


@pytest.fixture
def real(qtbot: Any, tmp_path: Path) -> Iterator[MainWindow]:
    """The window as users have it: it builds programs and runs them."""
    app.make_application()
    made = app.make_window(Session(), tmp_path / "window.ini")
    made.show()
    qtbot.waitUntil(lambda: not made.jobs.running)
    yield made
    made.close()
    qtbot.waitUntil(lambda: not made.jobs.running and not made.isVisible(), timeout=PATIENCE_MS)
    assert made.jobs.join(PATIENCE_MS)
    with qtbot.waitSignal(made.destroyed):
        made.deleteLater()


def _grid(dock: Any) -> Grid | None:
    figure = dock.figure()
    return next((panel for panel in figure.panels if isinstance(panel, Grid)), None) if figure is not None else None


def test_an_mpi_program_goes_from_the_request_panel_to_a_matrix(real: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    real.go("request")
    real.request.program.choose("burg")
    few = {"processors": "1, 2, 4", "method": "II", "bounds": (BoundForm("efficiency", "0.8"),)}
    points = tuple((name, "720" if name == "points" else value) for name, value in real.request.model.form.parameters)
    real.request.model.edit("few runs", parameters=points, **few)
    qtbot.waitUntil(lambda: real.request.can_run)
    assert real.request.model.form.machine == "ncube2"  # the program's own request names it
    assert "threads_per_process" not in real.request.side.toml.toPlainText()
    real.request.side.run.click()
    qtbot.waitUntil(lambda: real.study is not None and not real.jobs.running, timeout=PATIENCE_MS)
    area = real.study.area  # type: ignore[union-attr]
    dock = area.show_view(real.study.handle, "matrix")  # type: ignore[union-attr, arg-type]
    qtbot.waitUntil(lambda: _grid(dock) is not None and not real.jobs.running, timeout=PATIENCE_MS)
    grid = _grid(dock)
    assert grid is not None
    values = [cell.values[0] for row in grid.cells for cell in row if cell is not None and cell.values[0] is not None]
    assert len(values) == 3  # 2 to 2, 2 to 4, 4 to 4
    assert min(values) < 1
    for name in ("breakdown", "overheads", "pop", "message-costs", "topology"):
        shown = area.show_view(real.study.handle, name)  # type: ignore[union-attr, arg-type]
        qtbot.waitUntil(lambda shown=shown: shown.figure() is not None and not real.jobs.running, timeout=PATIENCE_MS)
        assert shown.figure().sentence
    studies = list(tmp_path.rglob("*.sgstudy"))
    with Study.open(studies[0]) as study:
        runs = study.runs()
        assert {(run.processes, run.threads_per_process) for run in runs} == {(1, 1), (2, 1), (4, 1)}
        assert all(run.categories["prim_send"] > 0 for run in runs if run.point.processors > 1)


def test_threads_a_process_are_said_beside_the_processors(real: MainWindow, qtbot: Any) -> None:
    real.go("request")
    real.request.program.choose("burg")
    machine = real.request.machine
    assert not machine.processes.isVisible()
    real.request.model.edit("hybrid", processors="1, 4, 16", threads_per_process="4", machine="server-2x32")
    assert machine.processes.text() == "MPI processes x threads: 1 x 1, 1 x 4, 4 x 4"
    real.request.model.edit("wrong", processors="1, 6")
    qtbot.waitUntil(lambda: any("multiple of 4" in item.fault.text() for item in machine.fields))
    assert not real.request.can_run
