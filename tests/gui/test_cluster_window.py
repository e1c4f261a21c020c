"""Runs on a cluster, in the window: address field, test button, and the workers in the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from scalegraph.base import events
from scalegraph.base.errors import LinkLost
from scalegraph.base.run import RunPoint
from scalegraph.gui.queue.model import WHERE
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.study import studies
from scalegraph.link.cluster.places import Where, parse
from scalegraph.request.run import remote, watching
from scalegraph.store import Study
from tests.gui.conftest import record

pytestmark = pytest.mark.slow

LEFT = Qt.MouseButton.LeftButton
ADDRESS = "tcp://head:8786"


class Elsewhere:
    """Replaces `Session.elsewhere`: the window's session, with workers that start its runs in turn."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.places: list[Where] = []

    @contextmanager
    def __call__(self, where: Where, _path: Any, emit: Any, _cancel: Any = None, **_more: Any) -> Iterator[Any]:
        self.places.append(where)
        if where.rest == "//nobody:1":
            raise LinkLost(f"{where.address}: no Dask scheduler answers there")
        emit(events.Workers(where.address, 2, 4))
        emit(events.Note(f"{where.address}: 2 workers, 4 runs side by side"))
        yield self

    def submit(self, request: Any, path: Any, emit: Any, *rest: Any, **more: Any) -> Any:
        def placed(event: events.Event) -> None:
            if isinstance(event, events.RunStarted):
                event = replace(event, where=f"node{event.point.processors % 2}:40001")
            emit(event)

        return self._session.submit(request, path, placed, *rest, **more)


@pytest.fixture
def elsewhere(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Elsewhere:
    made = Elsewhere(window.session)
    monkeypatch.setattr(window.session, "elsewhere", made)
    window.request.side.where._connect = made
    return made


@pytest.fixture
def ready(window: MainWindow, qtbot: Any, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that types a cluster's address into a request that can run."""
    path = tmp_path / "r.toml"
    path.write_text('processors = [1, 2, 3]\n[program]\nname = "billiard"\n[machine]\nname = "ksr1"\n')
    window.go("request")
    window.request.load(path)
    qtbot.waitUntil(lambda: window.request.can_run)
    return window.request.side.where.entry.setText


def test_a_request_runs_on_the_workers_that_are_named(
    window: MainWindow, qtbot: Any, elsewhere: Elsewhere, ready: Callable[[str], None]
) -> None:
    ready(f"{ADDRESS}")
    qtbot.mouseClick(window.request.side.run, LEFT)
    qtbot.waitUntil(lambda: bool(window.runner.entries) and window.runner.over(window.runner.entries[0]))
    assert elsewhere.places == [parse(ADDRESS)]
    assert not window.queue.tree.isColumnHidden(WHERE)
    model, entry = window.queue.model, window.runner.entries[0]
    top = model.index_of(entry)
    assert top.siblingAtColumn(WHERE).data() == f"{ADDRESS}, 2 workers"
    shown = [model.index(row, WHERE, top).data() for row in range(model.rowCount(top))]
    assert shown == ["node1:40001", "node0:40001", "node1:40001"]
    window.queue.tree.setCurrentIndex(top)
    said = window.queue.output.toPlainText()
    assert "node0:40001: 1 run done" in said
    assert "node1:40001: 2 runs done" in said
    again = window.runner.retry(entry)
    assert again is not None
    qtbot.waitUntil(lambda: window.runner.over(again))
    assert elsewhere.places == [parse(ADDRESS)] * 2


def test_without_an_address_the_runs_are_on_this_computer(
    window: MainWindow, qtbot: Any, elsewhere: Elsewhere, ready: Callable[[str], None]
) -> None:
    ready(" ")
    assert not window.request.side.where.test.isEnabled()
    qtbot.mouseClick(window.request.side.run, LEFT)
    qtbot.waitUntil(lambda: bool(window.runner.entries) and window.runner.over(window.runner.entries[0]))
    assert elsewhere.places == []
    assert window.queue.tree.isColumnHidden(WHERE)
    assert window.queue.model.index_of(window.runner.entries[0]).siblingAtColumn(WHERE).data() == "this computer"


def test_a_wrong_address_is_reported_at_its_field_and_nothing_starts(
    window: MainWindow, qtbot: Any, elsewhere: Elsewhere, ready: Callable[[str], None]
) -> None:
    field = window.request.side.where
    for text, sentence in (
        ("slurn:", "did you mean 'slurm'"),
        ("slurm: partitoin=night", "did you mean 'partition'"),
        ("slurm: 'night", "no closing quotation"),
    ):
        ready(text)
        qtbot.mouseClick(window.request.side.run, LEFT)
        assert sentence in field.fault.text()
        assert field.fault.isVisible()
    ready("local:2")
    assert not field.fault.isVisible()
    assert window.runner.entries == []
    assert elsewhere.places == []


def test_the_test_button_says_what_answers(
    window: MainWindow, qtbot: Any, elsewhere: Elsewhere, ready: Callable[[str], None]
) -> None:
    field = window.request.side.where
    ready(ADDRESS)
    qtbot.mouseClick(field.test, LEFT)
    qtbot.waitUntil(lambda: field.found.text() == f"{ADDRESS}: 2 workers, 4 runs side by side")
    ready("tcp://nobody:1")
    assert not field.found.isVisible()
    qtbot.mouseClick(field.test, LEFT)
    qtbot.waitUntil(lambda: "no Dask scheduler answers there" in field.fault.text())
    assert field.test.isEnabled()


def test_a_study_that_another_process_works_on_grows_in_the_window(
    window: MainWindow, qtbot: Any, model_study: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "_WATCH_MS", 20)
    other: list[int | None] = [1]  # the process that writes; the test writes in its place
    monkeypatch.setattr(watching, "writer", lambda _path: other[0])
    path = model_study(processors=(1, 2))
    later = [RunPoint(processors=n, parameters={"n": 100}) for n in (4, 8)]
    before = path.stat().st_mtime_ns
    with Study.open(path, write=True) as writer:
        writer.set_facts(remote.FACT, {"on": "local:2", "ids": {point.key: "scalegraph-0" for point in later}})
        window.open_study(path)
        handle = window.studies.get(str(path.resolve()))
        assert handle is not None
        qtbot.waitUntil(lambda: handle.verdict().startswith("2 of 4 runs; the rest is under way at local:2"))
        writer.add_run(record(later[0]))
        qtbot.waitUntil(lambda: len(handle.data().runs) == 3 and handle.verdict().startswith("3 of 4 runs"))
        writer.add_run(record(later[1]))
        other[0] = None
    qtbot.waitUntil(lambda: len(handle.data().runs) == 4 and "under way" not in handle.verdict())
    assert path.stat().st_mtime_ns > before
    with Study.open(path, write=True):  # a watcher must not lock others out
        pass


def test_a_run_whose_worker_is_lost_counts_for_the_worker_that_ends_it() -> None:
    entry = QueueEntry("model", Path("x"), None, where=parse(ADDRESS))
    one, two = RunPoint(processors=1), RunPoint(processors=2)
    for event in (
        events.Planned((one, two)),
        events.Workers(ADDRESS, 2, 2),
        events.RunStarted(one, "a:1"),
        events.RunStarted(two, "b:1"),
        events.Workers(ADDRESS, 1, 1),
        events.RunStarted(one, "b:1"),
    ):
        entry.apply(event)
    assert entry.place() == f"{ADDRESS}, 1 worker"
    entry.apply(events.Workers(ADDRESS, 3, 3, idle=2))
    assert entry.place() == f"{ADDRESS}, 3 workers, 2 idle"
    assert entry.worker_lines() == ["a:1: 0 runs done", "b:1: 0 runs done, now N = 2; N = 1"]
    entry.apply(events.RunFinished(one, record(one), 1, 2))
    assert entry.worker_lines() == ["a:1: 0 runs done", "b:1: 1 run done, now N = 2"]
    entry.apply(events.Done(1, 0, cancelled=True))
    assert entry.place() == f"{ADDRESS}, 3 workers"
    assert entry.worker_lines() == ["a:1: 0 runs done", "b:1: 1 run done"]
