"""The window is built part by part behind a splash screen."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor
from shiboken6 import isValid

from scalegraph.gui import app
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.starting.first import Starting
from scalegraph.gui.study.navigator import Navigator

pytestmark = pytest.mark.slow


def parts(window: MainWindow) -> set[str]:
    names = ("actions_", "start", "request", "navigator", "whatif", "files", "panels", "palette_")
    return {name for name in names if name in vars(window)}


def test_the_first_picture_is_there_before_the_window_and_says_what_comes(qtbot: Any, tmp_path: Path) -> None:
    starting = Starting(tmp_path / "window.ini")
    with qtbot.waitSignal(starting.ready) as ready:
        starting.begin()
        assert starting.picture.isVisible()
        image = starting.picture.pixmap().toImage()
        assert len({image.pixelColor(x, y).name() for x in range(0, 380, 4) for y in range(0, 200, 4)}) > 3
        assert image.pixelColor(1, 1) != QColor("transparent")
    window = ready.args[0]
    assert isinstance(window, MainWindow)
    window.show()
    starting.end()
    qtbot.waitUntil(lambda: not window.jobs.running)
    assert window.page == "start"
    assert not isValid(starting.picture) or not starting.picture.isVisible()
    window.close()
    window.deleteLater()


def test_the_window_is_made_one_part_in_a_turn(qtbot: Any, tmp_path: Path) -> None:
    whole = app.make_window(None, tmp_path / "whole.ini")
    window = app.make_window(None, tmp_path / "window.ini", at_once=False)
    made: list[object] = []
    window.made.connect(made.append)
    there = [len(parts(window))]
    while not made:
        turn_queue()._turn()
        there.append(len(parts(window)))
    assert there[0] == 0
    assert parts(window) == parts(whole)
    assert max(after - before for before, after in pairwise(there)) <= 3
    assert made == [None]
    for each in (whole, window):
        each.show()
        qtbot.waitUntil(lambda each=each: not each.jobs.running)
        each.close()
        each.deleteLater()
    QCoreApplication.processEvents()


def test_a_part_that_cannot_be_made_ends_the_start_with_its_fault(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_values: object) -> None:
        raise ValueError("no panel")

    monkeypatch.setattr(Navigator, "__init__", fail)
    starting = Starting(tmp_path / "window.ini")
    with qtbot.waitSignal(starting.failed) as failed:
        starting.begin()
    assert str(failed.args[0]) == "no panel"
    assert not isValid(starting.picture) or not starting.picture.isVisible()
