"""What a newcomer meets: the ways to an own program, the answer of its first runs, the demonstration."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QPushButton

from scalegraph.gui.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
SOURCE = "int main(void) { return 0; }\n"


def pick(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Let every dialog that asks for files answer with *paths*."""
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_a, **_k: ([str(path) for path in paths], ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(paths[0]), ""))


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), actions, data, LEFT, none))


def test_the_request_panel_begins_with_the_ways_to_a_program_of_ones_own(window: MainWindow) -> None:
    window.go("request")
    program = window.request.program
    first = [button.text() for button in program.findChildren(QPushButton) if button.isVisible()][:3]
    assert first == ["Choose source files…", "Executable…", "Build command…"]
    assert program.own.y() < program.choice.parentWidget().y()
    words = [program.choice.itemText(index) for index in range(program.choice.count())]
    heading = words.index("Shipped programs")
    assert heading == 3
    assert all("of your own" in text for text in words[:heading])
    assert set(words[heading + 1 :]) == {found.program.title for found in window.session.programs()}
    assert not program.choice.model().index(heading, 0).flags() & Qt.ItemFlag.ItemIsEnabled


def test_a_source_that_is_chosen_on_the_start_page_can_run_at_once(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    pick(monkeypatch, tmp_path / "mine.c")
    qtbot.mouseClick(window.start.sources, LEFT)
    assert window.page == "request"
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.side.count.text().startswith("7 runs")
    assert 'name = "server-2x32"' in window.request.side.toml.toPlainText()
    assert not window.request.program.own.isVisible()


def test_a_source_that_is_dropped_on_the_start_page_can_run_at_once(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    assert window.page == "start"
    drop(window, tmp_path / "mine.c")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.model.form.sources == (str(tmp_path / "mine.c"),)


def test_an_executable_of_ones_own_is_chosen_in_the_panel(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick(monkeypatch, tmp_path / "prog")
    (tmp_path / "prog").write_bytes(b"\x7fELF" + bytes(12) + b"\x02\0")
    window.go("request")
    window.request.program.choose("\0executable")
    assert window.request.model.form.built
    assert window.request.model.form.executable == str(tmp_path / "prog")
    assert window.request.model.form.machine == "server-2x32"
