"""The trace section of the request panel: off at first, live in plan and request file, errors beside fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from PySide6.QtCore import Qt

from scalegraph.gui.request.form import of_request, read
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request.model.request import USUAL_TRACE, Request

pytestmark = pytest.mark.slow

Choose = Callable[..., None]


def test_runs_are_traced_only_when_asked(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose()
    section = window.request.trace
    assert not section.on.isChecked()
    assert not section.editors["trace.limit"].isVisible()
    toml = window.request.side.toml
    assert "[trace]" not in toml.toPlainText()
    window.request.form_area.ensureWidgetVisible(section.on)
    qtbot.keyClick(section.on, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "[trace]" in toml.toPlainText())
    assert section.editors["trace.limit"].isVisible()
    assert "3 runs write traces of at most 1 GiB each" in window.request.side.notes.text()
    section.kinds["chunks"].click()
    section.kinds["locks"].click()
    section.editors["trace.limit"].selectAll()
    qtbot.keyClicks(section.editors["trace.limit"], "64 MiB")
    section.editors["trace.processors"].setFocus()
    qtbot.keyClicks(section.editors["trace.processors"], "4")
    qtbot.waitUntil(lambda: "1 run writes a trace of at most 64 MiB" in window.request.side.notes.text())
    request = window.request._request
    assert request is not None
    assert request.trace is not None
    assert request.trace.what == ("regions", "waits", "tasks", "chunks", "shares", "counters", "messages")
    assert (request.trace.processors, request.trace.limit) == ((4,), 64 * 2**20)
    qtbot.keyClick(section.editors["trace.processors"], Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.request.model.form.trace_processors == ""


def test_faults_stand_beside_their_field(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose()
    window.request.model.edit("x", trace=True, trace_begin="2 s", trace_end="1 s", trace_interval="often")
    section = window.request.trace
    faults = {item.keys[-1]: item.fault for item in section.fields}
    qtbot.waitUntil(lambda: faults["trace.interval"].isVisible())
    assert "as in" not in faults["trace.interval"].text()
    assert "'often'" in faults["trace.interval"].text()
    window.request.model.edit("x", trace_interval="")
    qtbot.waitUntil(lambda: "'1 s': a time after '2 s' was expected" in faults["trace.end"].text())
    assert not window.request.can_run


def test_a_request_with_a_trace_is_saved_and_loaded_again(
    window: MainWindow, qtbot: Any, choose: Choose, tmp_path: Path
) -> None:
    choose()
    window.request.model.edit("x", trace=True, trace_what=("waits",), trace_region="move", trace_end="5e6 cycles")
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.save(tmp_path / "r.toml")
    form = window.request.model.form
    window.request.model.edit("x", trace=False)
    window.request.load(tmp_path / "r.toml")
    assert replace(window.request.model.form, directory="") == form


def test_the_form_of_a_request_reads_back_as_it() -> None:
    for trace in (
        None,
        {},
        {"begin": 0.5, "limit": "100 MB", "processors": [2, 4], "interval": "10 us", "sizes": "base", "runs": "all"},
    ):
        request = Request.model_validate({"program": {"name": "billiard"}, "trace": trace})
        form = of_request(request)
        assert form.trace_what == USUAL_TRACE
        again, faults = read(form)
        assert not faults
        assert again is not None
        assert again.trace == request.trace
