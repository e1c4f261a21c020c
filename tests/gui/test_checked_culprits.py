"""Culprits are checked in the background: the main results come first, and Cancel ends the check."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunRecord
from scalegraph.gui import app
from scalegraph.gui.request.form import for_sources
from scalegraph.link import Job, Simulated
from scalegraph.request import Session

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = """
static double a[64];
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
int main(void)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int i = 0; i < 64; i++)
        a[i] = work(500);
    return a[3] == 42;
}
"""


def test_a_click_on_cancel_ends_the_check_and_keeps_the_results(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checking = threading.Event()
    run = Simulated.run

    def held(self: Simulated, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        if not job.point.variant:
            return run(self, job, cancel)
        checking.set()
        assert cancel is not None
        cancel.wait(240)
        cancel.check()
        raise AssertionError("nobody cancelled the check")

    monkeypatch.setattr(Simulated, "run", held)
    (tmp_path / "chunk.c").write_text(PROGRAM, encoding="utf-8")
    app.make_application()
    window = app.make_window(Session(), tmp_path / "window.ini")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: not window.jobs.running)
    window.go("request")
    window.request.model.set(for_sources((str(tmp_path / "chunk.c"),)), "a program")
    window.request.model.edit("two counts", processors="1, 4")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.runs.editors["verify"].isChecked()
    qtbot.mouseClick(window.request.side.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(checking.is_set, timeout=120_000)
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.data() is not None, timeout=120_000)
    qtbot.waitUntil(lambda: "processors" in window.study.header.verdict.accessibleDescription(), timeout=120_000)
    assert not entry.ended
    window.queue.tree.setCurrentIndex(window.queue.model.index_of(entry))
    qtbot.mouseClick(window.queue.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: entry.ended)
    assert entry.phase == "cancelled"
    with Session().open(entry.path) as study:
        assert sorted(one.point.processors for one in study.runs()) == [1, 4]
        assert not study.variants()
    window.close()
    qtbot.waitUntil(lambda: not window.jobs.running)
