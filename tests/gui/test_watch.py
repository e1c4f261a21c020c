"""The watch over random input measures stalls as a user feels them: between two polls for events."""

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer

from tests.gui.monkey.steps import Unblock
from tests.gui.monkey.watch import Watch


@pytest.fixture
def watch() -> Watch:
    """A watch that counts every stretch, however short."""
    return Watch(-1.0)


def test_what_is_done_in_one_go_is_one_stretch(qtbot: Any, watch: Watch) -> None:
    watch.stretch(lambda: None)
    assert len(watch.stalls) == 1


def test_a_loop_that_looks_for_events_ends_a_stretch(qtbot: Any, watch: Watch) -> None:
    def press_and_release() -> None:
        for _ in range(2):  # as QTest does after each event
            QCoreApplication.processEvents()

    watch.stretch(press_and_release)
    assert len(watch.stalls) == 3
    watch.stretch(lambda: None)
    assert len(watch.stalls) == 4


def test_only_what_waits_in_a_loop_of_its_own_is_ended(
    qtbot: Any, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[int] = []
    monkeypatch.setattr("tests.gui.monkey.steps.close_popup", lambda: closed.append(1))
    unblock = Unblock(watch)
    for _ in range(5):  # on a slow machine the timer is due at every poll
        unblock._look()
    assert not closed
    loop = QEventLoop()
    ends = QTimer(interval=0)

    def look() -> None:
        unblock._look()
        if closed:
            loop.quit()

    ends.timeout.connect(look)
    ends.start()
    loop.exec()
    assert closed
