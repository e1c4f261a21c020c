"""The report in the window: its texts, its path, and errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QFileDialog

from scalegraph.base.errors import WorkError
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.shell.reports import ReportDialog
from scalegraph.request.results import report

pytestmark = pytest.mark.slow


def test_a_report_is_written_with_what_is_said_of_it(
    window: MainWindow, qtbot: Any, model_study: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[Path, report.About]] = []

    def write(data: Any, path: Path, **options: Any) -> None:
        assert len(data.table) == 4
        assert options["request"] is not None
        if path.name == "full.html":
            raise WorkError("full.html: the disk is full")
        written.append((path, options["about"]))

    monkeypatch.setattr(report, "write", write)
    assert not window.actions_["write_report"].isEnabled()
    window.open_study(model_study())
    qtbot.waitUntil(lambda: window.actions_["write_report"].isEnabled() and not window.jobs.running)
    window.actions_["write_report"].trigger()
    dialog = window.findChild(ReportDialog)
    assert dialog is not None
    assert not dialog.show_file.isVisibleTo(dialog)
    dialog.author.setText("A. Author ")
    dialog.note.setPlainText("A quiet night.")
    chosen = [(str(tmp_path / "r"), "PDF to hand in (*.pdf)"), (str(tmp_path / "full.html"), "")]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: chosen.pop(0))
    with qtbot.waitSignal(dialog.written):
        dialog.save.click()
    assert written == [(tmp_path / "r.pdf", report.About(author="A. Author", note="A quiet night."))]
    assert dialog.show_file.isVisibleTo(dialog)
    dialog.save.click()
    qtbot.waitUntil(lambda: not window.jobs.running and dialog.save.isEnabled())
    assert "the disk is full" in dialog.said
    dialog.reject()
