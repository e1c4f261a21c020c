"""The first build of the simulator shows its progress: files compiled, and the time left."""

from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.events import Building, build_sink
from scalegraph.gui.queue.progress_note import ProgressNote
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.shell.main_window import MainWindow

HALF = Building("the simulator, once for this version", 120, 245, 80.0)
WORDS = "building the simulator, once for this version: 120 of 245 files, 1 min 20 s left"


@pytest.mark.slow
def test_a_build_that_no_request_asked_for_is_in_the_status_bar_until_it_is_done(
    window: MainWindow, qtbot: Any
) -> None:
    (note,) = window.findChildren(ProgressNote)
    build_sink()(HALF)
    qtbot.waitUntil(lambda: note.text() == WORDS and not note.isHidden())
    build_sink()(Building(HALF.program, 245, 245))
    qtbot.waitUntil(note.isHidden)


def test_a_request_that_waits_for_the_build_says_so(tmp_path: Path) -> None:
    entry = QueueEntry("a program", tmp_path / "a.sgstudy", None)
    entry.apply(HALF)
    assert (entry.phase, entry.said()) == ("building", WORDS)
    entry.apply(Building("p.c"))
    assert entry.said() == "compiling"
