"""Loop schedules in the window with the real engine: from the start page to the advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from scalegraph.gui.request.form import BoundForm
from scalegraph.gui.shell.main_window import MainWindow
from tests.gui.conftest import RUNS_MS
from tests.views.test_schedule_views import HEAVY, SOURCE

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def test_a_source_goes_from_the_start_page_to_the_advice(
    real: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "loops.c"
    source.write_text(SOURCE)
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_a, **_k: ([str(source)], ""))
    qtbot.mouseClick(real.start.sources, Qt.MouseButton.LeftButton)
    assert real.page == "request"
    real.request.model.edit("few runs", machine="ksr1", processors="2, 8", bounds=(BoundForm(),))
    compare = real.request.runs.editors["schedules.compare"]
    compare.setText("dynamic,9; ZZ")
    compare.textEdited.emit("dynamic,9; ZZ")
    qtbot.waitUntil(lambda: any("there is no schedule 'ZZ'" in item.fault.text() for item in real.request.runs.fields))
    assert not real.request.can_run
    compare.setText("dynamic,4; FAC2")
    compare.textEdited.emit("dynamic,4; FAC2")
    qtbot.waitUntil(lambda: real.request.can_run)
    assert 'compare = ["dynamic,4", "FAC2"]' in real.request.side.toml.toPlainText()
    real.request.runs.editors["schedules.advise"].click()
    qtbot.waitUntil(lambda: "advise = false" in real.request.side.toml.toPlainText())
    real.request.model.undo_stack.undo()
    assert real.request.runs.editors["schedules.advise"].isChecked()
    qtbot.waitUntil(lambda: "advise" not in real.request.side.toml.toPlainText() and real.request.can_run)
    real.request.side.run.click()
    qtbot.waitUntil(lambda: real.study is not None and not real.jobs.running, timeout=RUNS_MS)
    area = real.study.area
    assert area is not None
    shown = {dock.view.name for dock in area.docks if not dock.visibleRegion().isEmpty()}
    assert shown == {"schedules", "schedule-advice"}  # two large views in a small window
    dock = area.show_view(real.study.handle, "schedule-advice")  # type: ignore[arg-type]
    # The figure drawn before the run that confirms the advice is followed by one with it.
    confirmed = f"request: {HEAVY}="
    qtbot.waitUntil(
        lambda: dock.figure() is not None and any(confirmed in note for note in dock.figure().notes), timeout=RUNS_MS
    )
    assert "processors" in dock.figure().sentence
