"""Predictions in the window with the real engine: from a source on the start page to the predicted curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel

from scalegraph.figures.figure import Plot, Table
from scalegraph.gui.request.form import BoundForm
from scalegraph.gui.shell.main_window import MainWindow
from tests.gui.conftest import RUNS_MS
from tests.predict.test_command import STEPS

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def typed(entry: Any, text: str) -> None:
    entry.setText(text)
    entry.textEdited.emit(text)


def test_a_source_goes_from_samples_to_the_predicted_curve(
    real: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "steps.c"
    source.write_text(STEPS)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_a, **_k: ([str(source)], ""))
    qtbot.mouseClick(real.start.sources, Qt.MouseButton.LeftButton)
    real.request.model.edit(
        "small", machine="ksr1", processors="4", bounds=(BoundForm(),), args="{n}", parameters=(("n", "48"),)
    )
    section = real.request.predict
    assert not section.at.isVisible()
    real.request.form_area.ensureWidgetVisible(section.on)
    section.on.click()
    assert section.at.text() == "n = 96, 192"
    assert dict(real.request.model.form.parameters)["n"] == "12, 24, 48"
    typed(section.at, "n = many")
    qtbot.waitUntil(lambda: any("whole numbers was expected" in item.fault.text() for item in section.fields))
    assert not real.request.can_run
    typed(section.at, "n = 96")
    real.request.model.edit("one size", parameters=(("n", "48"),))
    table = real.request.parameters.tables["parameters"]
    qtbot.waitUntil(lambda: any("two or more sample sizes" in said.text() for said in table.findChildren(QLabel)))
    real.request.model.edit("sizes", parameters=(("n", "24, 40, 48"),))
    qtbot.waitUntil(lambda: real.request.can_run)
    assert "at = {n = [96]}" in real.request.side.toml.toPlainText()
    assert "1 point is predicted from the runs" in real.request.side.notes.text()
    assert any("predicted, not run" in text for text in real.request.side.plan._dots.labels)
    section.editors["predict.verify"].click()
    qtbot.waitUntil(lambda: "verify = true" in real.request.side.toml.toPlainText() and real.request.can_run)
    real.request.side.run.click()
    qtbot.waitUntil(lambda: bool(real.runner.entries) and real.runner.over(real.runner.entries[0]), timeout=RUNS_MS)
    entry = real.runner.entries[0]
    assert entry.phase == "done", entry.message
    assert entry.finished == entry.total
    assert any("n = 96: predicted" in note for note in entry.notes)
    handle = real.study.handle
    qtbot.waitUntil(lambda: bool(handle.study().predictions.points), timeout=RUNS_MS)
    area = real.study.area
    assert area is not None
    dock = area.show_view(handle, "predicted")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: dock.figure() is not None and "was run too" in dock.figure().sentence, timeout=RUNS_MS)
    plot, table = dock.figure().panels
    assert isinstance(plot, Plot)
    assert isinstance(table, Table)
    predicted = next(line for line in plot.lines if line.origin == "predicted")
    run = next(line for line in plot.lines if line.origin == "simulated")
    assert predicted.x == (96.0,)
    assert predicted.low[0] < predicted.y[0] < predicted.high[0]
    assert {24.0, 40.0, 48.0, 96.0} <= set(run.x)
    assert run.y[-1] == pytest.approx(predicted.y[0], rel=0.05)
    errors = area.show_view(handle, "prediction-errors")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: errors.figure() is not None and len(errors.figure().panels) == 2, timeout=RUNS_MS)
    real.actions_["predict_larger"].trigger()
    assert real.page == "request"
    assert section.at.text() == "n = 96"
    qtbot.waitUntil(lambda: section.at.hasFocus() and not section.editors["predict.verify"].visibleRegion().isEmpty())
