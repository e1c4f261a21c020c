"""Nothing calls a deleted object: a closed view is not moved, painted or updated."""

import weakref
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal
from PySide6.QtGui import QUndoCommand
from PySide6.QtWidgets import QWidget
from shiboken6 import delete

from scalegraph import views
from scalegraph.gui.base.jobs import Jobs, Latest
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.undo import UndoStack
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.trace.handle import TraceHandle
from tests.gui.trace.test_trace_window import dock_of, sample, settled, shown  # noqa: F401 - fixtures

TIMED = [view.name for view in views.registry("trace").values() if view.window]


class Sender(QObject):
    """Outlives its receiver."""

    moved = Signal(float, float)
    changed = Signal()


@pytest.mark.few(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", TIMED)
def test_a_closed_view_is_not_asked_to_follow_the_time(
    name: str,
    window: MainWindow,
    shown: TraceHandle,  # noqa: F811
    qtbot: Any,
) -> None:
    assert window.study.area is not None
    window.study.area.show_view(shown, name)
    settled(window, qtbot)
    dock_of(window, name).close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    shown.window.zoom(0.5)  # an exception in a slot fails the test
    shown.marks.place(0.001, "A")
    shown.replay.seek(0.001)
    window.selection.select(study=shown.key, location=1, region=1, interval=(0, 500))
    settled(window, qtbot)


def test_what_is_tied_ends_with_its_receiver(qtbot: Any) -> None:
    sender, receiver = Sender(), QObject()
    told: list[tuple[float, ...]] = []
    act = tied(receiver, lambda *values: told.append(values))
    sender.moved.connect(act)
    sender.changed.connect(act)
    sender.moved.emit(1, 2)
    sender.changed.emit()
    act(3)
    delete(receiver)
    sender.moved.emit(4, 5)
    sender.changed.emit()
    act(6)
    assert told == [(1.0, 2.0), (), (3,)]


def test_an_answer_does_not_reach_a_panel_that_is_gone(qtbot: Any) -> None:
    jobs, panel = Jobs(), QWidget()
    told: list[object] = []
    Latest(jobs, "asking", panel).ask(lambda _reporter: 1, told.append, told.append)
    delete(panel)
    qtbot.waitUntil(lambda: not jobs.running)
    assert told == []
    assert jobs.join(60_000)


def test_threads_that_nothing_refers_to_any_more_end_with_their_last_work(qapp: Any) -> None:
    for _ in range(5):  # the end of the work must not be what keeps its parent alive
        jobs = Jobs()
        alive = weakref.ref(jobs)
        jobs.start("asking", lambda _reporter: 1)
        while jobs.running:  # `waitUntil` would delete the work before its parent
            QCoreApplication.processEvents()
        assert jobs.join(60_000)
        del jobs
        assert alive() is None
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_what_a_window_holds_does_not_call_it_while_it_is_taken_apart(qtbot: Any) -> None:
    told: list[int] = []
    window = QWidget()
    stack = UndoStack(window)
    stack.indexChanged.connect(tied(window, told.append))
    stack.push(QUndoCommand("step"))
    assert told == [1]
    delete(window)  # deletes the stack, which is emptied first
    assert told == [1]
