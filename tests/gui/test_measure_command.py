"""The page that measures a command: input becomes a request, and points appear as they arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from scalegraph.base.events import Done, Planned, RunFinished
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.usage import Usage
from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.measure import live
from scalegraph.gui.measure.form import CommandForm, of_request, read, what_n_sets
from scalegraph.gui.measure.page import CommandPage
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.request import Session
from scalegraph.request.model.origin import Origin
from scalegraph.subjects.study import StudyData
from scalegraph.views import ways
from scalegraph.views.study.losses.breakdown import VIEW as BREAKDOWN


def run(processors: int, repetition: int, time_s: float) -> RunRecord:
    return RunRecord(
        source="measured",
        program="p",
        machine="host",
        point=RunPoint(processors=processors, repetition=repetition, target="host"),
        time_s=time_s,
        usage=Usage(wall_s=time_s, user_s=time_s, system_s=0, peak_memory_bytes=10_000_000),
    )


def test_what_is_typed_is_a_request_and_back() -> None:
    form = CommandForm(
        command="mpirun -np {N} ./app {n}",
        processors="1, 2, 4",
        repetitions="3",
        until="2 %",
        grow="n=1000*N",
        time_from=r"took (\S+) s",
        parameters="m=1, 2",
        directory="/tmp",
        target="slurm",
        settings="partition=batch",
    )
    request, faults = read(form)
    assert not faults
    assert request is not None
    assert request.processors == (1, 2, 4)
    assert (request.repetitions, request.target.until, request.bound[0].kind) == (3, 2.0, "growth")
    assert request.parameters == {"m": (1, 2), "n": 1000}
    assert of_request(request) == form


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"processors": "x"}, "processors"),
        ({"repetitions": "many"}, "repetitions"),
        ({"grow": "n"}, "scaling.grow"),
        ({"grow": "n=M"}, "scaling.grow"),
        ({"until": "x"}, "target.until"),
        ({"command": " "}, "program.command"),
        ({"time_from": "(x)", "rate_from": "(x)"}, "program"),
    ],
)
def test_a_fault_names_its_field(changes: dict[str, str], key: str) -> None:
    request, faults = read(CommandForm(**({"command": "true"} | changes)))
    assert request is None
    assert [fault.key for fault in faults] == [key]


def test_what_n_sets_is_said() -> None:
    assert "{nodes} and {N}" in what_n_sets(CommandForm(command="srun -N {nodes} -n {N} a {n}"))
    assert "OMP_NUM_THREADS" in what_n_sets(CommandForm(command="./a"))


def test_points_have_medians_with_intervals() -> None:
    found = live.points([run(1, at, time) for at, time in enumerate((1.0, 1.2, 1.1))] + [run(2, 0, 0.6)])
    assert [(p.processors, p.median_s, p.low_s, p.high_s) for p in found] == [(1, 1.1, 1.0, 1.2), (2, 0.6, None, None)]
    line, ideal = live.plot(found).lines
    assert (line.y, line.low, line.high) == ((1.1, 0.6), (1.0, 0.6), (1.2, 0.6))
    assert ideal.name == "ideal"
    assert "Fastest on N = 2" in live.sentence(found)
    assert [row.values[0] for row in live.table(found).rows] == [1, 2]


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> CommandPage:
    jobs = Jobs()
    made = CommandPage(Session(), jobs, Theme("light"), Settings(tmp_path / "settings.ini"))
    made._jobs = jobs  # type: ignore[attr-defined]
    qtbot.addWidget(made)
    return made


def typed(page: CommandPage, qtbot: QtBot, **fields: str) -> None:
    for name, text in fields.items():
        page._entries[name].setText(text)
        page._entries[name].textEdited.emit(text)
    qtbot.waitUntil(lambda: not page._timer.isActive() and not page._checker.busy)


@pytest.mark.slow
def test_points_come_while_the_command_runs(page: CommandPage, qtbot: QtBot, tmp_path: Path) -> None:
    typed(page, qtbot, command="true {N}", processors="1, 2", repetitions="2")
    assert page.can_run
    wanted: list[Any] = []
    page.run_wanted.connect(lambda *args: wanted.append(args))
    page.start()
    request, path, _title = wanted[0]
    assert request.program.command == "true {N}"
    entry = QueueEntry("x", path, request)
    page.follow(entry)
    points = tuple(RunPoint(processors=n, repetition=r, target="host") for n in (1, 2) for r in (0, 1))
    entry.apply(Planned(points, None, 4))
    for number, point in enumerate(points[:3], 1):
        record = run(point.processors, point.repetition, 1.0 / point.processors)
        entry.apply(RunFinished(point, record, number, 4))
        page.changed(entry)
    assert not page.can_run
    assert not page.halt.isHidden()
    line = page.points.plot.plot.lines[0]
    assert line.x == (1.0, 2.0)
    assert line.low == (1.0, 0.5)
    assert "3 of 4 runs" in page.state.text()
    entry.apply(Done(4, 0))
    page.changed(entry)
    assert page.can_run
    assert not page.open.isHidden()


@pytest.mark.slow
def test_a_command_of_a_file_stays_one_whatever_is_edited(page: CommandPage, qtbot: QtBot) -> None:
    """Consent covers the author's command; changed counts do not make it the user's own."""
    request, _faults = read(CommandForm(command="true {N}"))
    assert request is not None
    page.show_loaded(request.with_origin(Origin("file", "theirs.toml")))
    typed(page, qtbot, repetitions="2")
    wanted: list[Any] = []
    page.run_wanted.connect(lambda *args: wanted.append(args))
    page.start()
    assert wanted[0][0].origin == Origin("file", "theirs.toml")
    assert wanted[0][0].repetitions == 2


@pytest.mark.slow
def test_a_fault_is_shown_at_its_field(page: CommandPage, qtbot: QtBot) -> None:
    typed(page, qtbot, command="nosuchprogram {N}", processors="x")
    assert not page.can_run
    said = {field.title.text(): field.fault.text() for field in page.fields if field.fault.text()}
    assert "is not a processor count" in said["Counts N"]
    typed(page, qtbot, processors="1")
    said = {field.title.text(): field.fault.text() for field in page.fields if field.fault.text()}
    assert said == {"Command": "'nosuchprogram': no such program in PATH"}


def test_a_view_of_the_inside_says_what_would_show_it() -> None:
    data = StudyData.from_runs([run(1, 0, 1.0), run(2, 0, 0.6)], manifest={"request": {"program": {"command": "a"}}})
    assert ways.is_command(data)
    figure = BREAKDOWN.build(data)
    assert "without looking inside" in figure.empty
    assert "scalegraph measure SOURCES" in figure.empty
    assert not figure.ways
