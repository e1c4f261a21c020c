"""The window asks before running code from a file, however the run was started."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from scalegraph.base.run import RunPoint
from scalegraph.gui.commands.way_commands import kept_request
from scalegraph.gui.consent.dialog import ConsentDialog
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.request.consent import approved
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import resolved
from scalegraph.store import Study
from tests.gui.conftest import _study, record

pytestmark = pytest.mark.slow

LEFT = Qt.MouseButton.LeftButton
COMMAND = "make all && ./fetch --and run"


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A request file with a build command."""
    path = tmp_path / "theirs.toml"
    body = f'executable = "p"\nbuild = {json.dumps(COMMAND)}'
    path.write_text(f'processors = [1, 2]\n[program]\n{body}\n[machine]\nname = "ksr1"\n')
    return path


def load(window: MainWindow, qtbot: Any, path: Path) -> None:
    window.go("request")
    window.request.load(path)
    qtbot.waitUntil(lambda: window.request.can_run)


def asked(window: MainWindow, qtbot: Any) -> ConsentDialog:
    qtbot.waitUntil(lambda: any(dialog.isVisible() for dialog in window.findChildren(ConsentDialog)))
    return next(dialog for dialog in window.findChildren(ConsentDialog) if dialog.isVisible())


def test_a_loaded_request_shows_its_command_and_runs_after_consent(
    window: MainWindow, qtbot: Any, theirs: Path, tmp_path: Path
) -> None:
    load(window, qtbot, theirs)
    window.request.start()
    dialog = asked(window, qtbot)
    assert f"build command: {COMMAND}" in dialog.text.toPlainText()
    assert str(theirs) in "".join(
        label.text() for label in dialog.findChildren(type(dialog.layout().itemAt(1).widget()))
    )
    assert window.session.submitted == []
    entry = window.runner.entries[0]
    assert not entry.ended
    qtbot.mouseClick(dialog.run_button, LEFT)
    qtbot.waitUntil(lambda: window.runner.over(entry) and not window.jobs.running)
    assert entry.phase == "done"
    assert len(window.session.submitted) == 1
    window.request.start()  # again: the answer is remembered
    qtbot.waitUntil(lambda: len(window.session.submitted) == 2)
    qtbot.waitUntil(lambda: window.runner.over(window.runner.entries[1]) and not window.jobs.running)


@pytest.mark.parametrize("way", ["button", "escape", "return", "queue"])
def test_without_consent_nothing_runs(way: str, window: MainWindow, qtbot: Any, theirs: Path) -> None:
    load(window, qtbot, theirs)
    window.request.start()
    dialog = asked(window, qtbot)
    entry = window.runner.entries[0]
    if way == "button":
        qtbot.mouseClick(dialog.stop_button, LEFT)
    elif way == "queue":
        window.runner.cancel(entry)
        dialog.reject()
    else:
        qtbot.keyClick(dialog, Qt.Key.Key_Escape if way == "escape" else Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.runner.over(entry))
    assert entry.phase == "cancelled"
    assert "not trusted" in entry.message
    assert window.session.submitted == []


def test_a_typed_request_does_not_ask(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "p").write_text("")
    window.go("request")
    window.request.model.edit(
        "typed", built=True, executable="p", build=COMMAND, directory=str(tmp_path), processors="1", program=""
    )
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.start()
    qtbot.waitUntil(lambda: len(window.session.submitted) == 1)
    qtbot.waitUntil(lambda: window.runner.over(window.runner.entries[0]) and not window.jobs.running)


def foreign(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    request = Request.model_validate(
        {
            "program": {"sources": ("a.c",), "directory": str(tmp_path)},
            "machine": {"name": "ksr1"},
            "processors": (1, 2),
        }
    )
    path = tmp_path / "theirs.sgstudy"
    with _study(path, request) as study:
        for n in (1, 2):
            study.add_run(record(RunPoint(processors=n)))
    return path


def opened(window: MainWindow, qtbot: Any, path: Path) -> Any:
    handle = window.open_study(path)
    qtbot.waitUntil(lambda: handle.study() is not None and not window.jobs.running)
    return handle


def test_what_if_runs_of_a_study_of_others_ask(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    opened(window, qtbot, foreign(tmp_path))
    window.actions_["toggle_whatif"].trigger()
    qtbot.waitUntil(window.whatif.isVisible)
    window.whatif.auto.setChecked(True)
    window.whatif._later.setInterval(0)
    window.whatif.ask_ideal("contention")
    dialog = asked(window, qtbot)
    assert "sources: a.c" in dialog.text.toPlainText()
    dialog.reject()
    qtbot.waitUntil(lambda: not window.jobs.running)
    assert window.session.submitted == []


Start = Callable[[MainWindow, Any, Any], None]


def show_in_panel(window: MainWindow, qtbot: Any, handle: Any) -> None:
    window.request.show_request(handle.study().manifest["request"], handle.title, handle.path, processors="1, 2, 4")
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.start()


def run_again(window: MainWindow, _qtbot: Any, handle: Any) -> None:
    request = kept_request(window, handle.study(), handle.title)
    window.runner.submit(request, handle.path, "again")


@pytest.mark.parametrize("start", [show_in_panel, run_again])
def test_a_request_that_a_study_keeps_asks(start: Start, window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    handle = opened(window, qtbot, foreign(tmp_path))
    start(window, qtbot, handle)
    dialog = asked(window, qtbot)
    assert window.session.submitted == []
    dialog.accept()
    qtbot.waitUntil(lambda: len(window.session.submitted) == 1)
    qtbot.waitUntil(lambda: window.runner.over(window.runner.entries[0]) and not window.jobs.running)


@pytest.mark.parametrize("reopened", [False, True])
def test_edits_of_what_was_run_here_do_not_ask(reopened: bool, window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = foreign(tmp_path)
    if reopened:  # approved on this computer before, as stored in the study
        kept = Request.model_validate(Study.open(path).manifest.request)
        approved(resolved(kept), None)
    else:
        window.request._own.add(path.resolve())
    handle = opened(window, qtbot, path)
    window.request.show_request(handle.study().manifest["request"], handle.title, handle.path)
    window.request.model.edit("arguments", args="-n 7", processors="1, 2, 4")
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.start()
    qtbot.waitUntil(lambda: len(window.session.submitted) == 1)
    qtbot.waitUntil(lambda: window.runner.over(window.runner.entries[0]) and not window.jobs.running)


def test_closing_the_window_is_no_consent(window: MainWindow, qtbot: Any, theirs: Path) -> None:
    load(window, qtbot, theirs)
    window.request.start()
    asked(window, qtbot)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert window.session.submitted == []
