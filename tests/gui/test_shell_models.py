"""Parts of the window that work without a window: selection, form, texts, queue, palette, opening."""

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scalegraph.base import events
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.gui.base.display import unreachable
from scalegraph.gui.inspect.explain import explain
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.gui.request import text
from scalegraph.gui.request.form import CUSTOM, BoundForm, RequestForm, for_program, of_request, read
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.plan import dots
from scalegraph.gui.shell.command_palette import score
from scalegraph.gui.state.loss import region_losses
from scalegraph.gui.state.selection_state import Selection, SelectionState
from scalegraph.request import Session
from scalegraph.request.imports.kinds import kind_of
from scalegraph.request.model import programs
from scalegraph.request.model.request import Request


def test_selection_walks_back_and_forward() -> None:
    state, seen = SelectionState(), []
    end = state.subscribe(seen.append)
    state.select(processors=8)
    state.select(region=3)
    state.back()
    assert state.current == Selection(processors=8)
    state.forward()
    assert state.current == Selection(processors=8, region=3)
    state.clear()
    assert state.current.empty
    end()
    state.select(processors=1)
    assert seen[-1].empty


def test_another_study_keeps_n_but_neither_region_nor_cell() -> None:
    state = SelectionState()
    state.select(study="a")
    state.select(processors=8, region=3, cell=(2, 4))
    state.select(study="b")
    assert state.current == Selection(study="b", processors=8)


def test_a_cell_and_an_n_are_not_selected_at_once_unless_both_are_named() -> None:
    state = SelectionState()
    state.select(processors=8)
    state.select(cell=(2, 4))
    assert state.current == Selection(cell=(2, 4))
    state.select(processors=4)
    assert state.current == Selection(processors=4)
    state.select(processors=4, cell=(2, 4))
    assert state.current == Selection(processors=4, cell=(2, 4))


def test_no_way_leads_back_to_a_closed_study() -> None:
    state = SelectionState()
    for study in "abab":
        state.select(study=study)
    state.forget("b")
    while state.can_go_back:
        state.back()
        assert state.current.study != "b"


def test_selecting_the_same_again_is_no_step() -> None:
    state = SelectionState()
    state.select(processors=8)
    state.select(processors=8)
    state.back()
    assert not state.can_go_back


@pytest.mark.parametrize(
    ("typed", "read_as"),
    [("1, 2,4", (1, 2, 4)), ("8 4 4", (4, 8)), ("1-4,16", (1, 2, 3, 4, 16)), ("64;32", (32, 64))],
)
def test_processor_counts_are_read_as_people_type_them(typed: str, read_as: tuple[int, ...]) -> None:
    assert text.processors(typed) == read_as


@pytest.mark.parametrize("typed", ["", "zwei", "0", "-3", "4-1", "1,2,x", "2.5", "1-99999999", "²"])
def test_what_is_no_processor_count_is_refused_in_a_sentence(typed: str) -> None:
    with pytest.raises(ValueError, match=r"processor count|range"):
        text.processors(typed)


@pytest.mark.slow
@given(st.floats(min_value=1e-9, max_value=1e9), st.integers(min_value=1, max_value=2**50))
def test_quantities_are_read_as_they_are_written(seconds: float, size: int) -> None:
    assert text.duration(text.duration_text(seconds)) == seconds
    assert text.size(text.size_text(size)) == size


_PARAMETERS = st.one_of(st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False), st.text())


@pytest.mark.slow
@given(st.one_of(_PARAMETERS, st.lists(_PARAMETERS, min_size=2, max_size=4).map(tuple)))
@example("007")
@example("a,b")
@example('"')
@example((1234567.5, "1e3"))
def test_parameters_are_read_as_they_are_written(value: Value | tuple[Value, ...]) -> None:
    read = text.values(text.values_text(value))
    assert read == value
    assert [type(item) for item in _items(read)] == [type(item) for item in _items(value)]


def test_a_wrong_quotation_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="write a backslash twice"):
        text.values(r'"\q"')


def _items(value: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("typed", ["", "x", "5 parsecs", "-1 s", "1e", "nan"])
def test_what_is_no_duration_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="a time, like"):
        text.duration(typed)


def test_a_whole_number_written_with_an_exponent_stays_whole() -> None:
    assert text.values("1e6") == 1_000_000
    assert isinstance(text.values("1e6"), int)
    assert text.values("10, 20") == (10, 20)
    assert text.values("0.5") == 0.5


@pytest.mark.parametrize("name", programs.names())
def test_defaults_of_every_shipped_program_can_run(name: str) -> None:
    request, faults = read(for_program(name, programs.load(name).program))
    assert request is not None
    assert not faults
    assert not Session().check(request)


def test_a_form_reads_back_as_the_request_it_was_made_of() -> None:
    first, _ = read(for_program("billiard", programs.load("billiard").program))
    assert first is not None
    bounds = (BoundForm("efficiency", "0.4", "0.1", "7"), BoundForm("memory", "2 MiB"), BoundForm("time", "3 ms"))
    form = of_request(first)
    more = {"bounds": bounds, "method": CUSTOM, "grow": (("num_balls", "N"),), "timed": " move "}
    changed = RequestForm(**(form.__dict__ | more))
    request, faults = read(changed)
    assert request is not None
    assert not faults
    assert request.timed == "move"
    assert read(of_request(request)) == (request, [])


def test_numbers_of_a_request_pass_the_panel_to_the_last_digit() -> None:
    first, _ = read(for_program("billiard", programs.load("billiard").program))
    assert first is not None
    fine = {
        "bound": [
            {"kind": "efficiency", "value": 0.123456789, "tolerance": 0.0123456789},
            {"kind": "memory", "value": 8_589_934_593},
            {"kind": "time", "value": 61.23456789},
        ],
        "limits": {"time_s": 3601.0000001, "memory_bytes": 8_589_934_593},
    }
    request = Request.model_validate(first.model_dump(by_alias=True) | fine)
    assert read(of_request(request)) == (request, [])


def test_arguments_at_a_count_and_paths_with_blanks_pass_the_panel_for_a_shipped_program() -> None:
    first, _ = read(for_program("billiard", programs.load("billiard").program))
    assert first is not None
    program = {"args_at": {2: "100 20"}, "stdin": " in", "directory": "/home/me/my work ", "cwd": "of runs "}
    request = first.model_copy(update={"program": first.program.model_copy(update=program)})
    assert read(of_request(request)) == (request, [])


def test_every_fault_of_what_was_typed_comes_with_its_key() -> None:
    form = for_program("billiard", programs.load("billiard").program)
    broken = RequestForm(
        **(
            form.__dict__
            | {
                "processors": "1, x",
                "parameters": (("num_balls", ""),),
                "bounds": (BoundForm("efficiency", "half"), BoundForm("time", "3 parsecs")),
                "time_s": "soon",
                "repetitions": "many",
            }
        )
    )
    _request, faults = read(broken)
    keys = {fault.key for fault in faults}
    assert keys == {
        "processors",
        "parameters.num_balls",
        "bound.0.value",
        "bound.1.value",
        "limits.time_s",
        "repetitions",
    }


def test_typing_in_one_field_is_one_step_of_undo(qapp: object) -> None:
    model = RequestModel()
    for typed in ("1", "1,", "1,2"):
        model.edit("change of processors", typing="processors", processors=typed)
    model.finish_typing()
    model.edit("change of processors", typing="processors", processors="1,2,4")
    model.edit("choice", machine="cerberus")
    assert model.undo_stack.count() == 3
    model.undo_stack.undo()
    model.undo_stack.undo()
    assert model.form.processors == "1,2"
    model.undo_stack.undo()
    assert model.form == RequestForm()
    for _ in range(3):
        model.undo_stack.redo()
    assert (model.form.machine, model.form.processors) == ("cerberus", "1,2,4")


def _points(*counts: int) -> tuple[RunPoint, ...]:
    return tuple(RunPoint(processors=n, parameters={"n": 100 * n, "k": 3}) for n in counts)


def test_plan_is_drawn_over_the_parameter_that_varies() -> None:
    made = dots(_points(1, 2, 4))
    assert (made.x, made.y, made.size_name, made.fixed) == ((1, 2, 4), (100.0, 200.0, 400.0), "n", 3)
    assert dots(()).x == ()


def test_queue_follows_the_events_of_a_request() -> None:
    now = [0.0]
    entry = QueueEntry("model", Path("x"), None, clock=lambda: now[0])
    points = _points(1, 2, 4)
    entry.apply(events.Planned(points, 12.0))
    entry.apply(events.RunStarted(points[0]))
    assert entry.phase == "running"
    now[0] = 2.0
    assert entry.left_s() == pytest.approx(10.0)
    entry.apply(
        events.RunFinished(
            points[0], RunRecord(source="simulated", program="m", machine="k", point=points[0]), 1, 3, 8.0
        )
    )
    entry.apply(events.RunSkipped(points[1], 2, 3))
    entry.apply(events.RunFailed(points[2], "deadlock", None, 3, 3, 0.0))
    entry.apply(events.Done(2, 1))
    assert entry.phase == "done"
    assert entry.said() == "3 of 3 runs, 1 failed"
    assert [run.phase for run in entry.runs.values()] == ["done", "kept", "failed"]


def test_no_more_runs_are_done_than_planned_when_some_are_run_again() -> None:
    entry = QueueEntry("model", Path("x"), None)
    points = _points(1, 2)
    record = RunRecord(source="simulated", program="m", machine="k", point=points[0])
    entry.apply(events.Planned(points))
    entry.apply(events.RunStarted(points[0]))
    entry.apply(events.RunFinished(points[0], record, 1, 2))
    entry.apply(events.RunFinished(points[1], record, 2, 2))
    entry.apply(events.Planned(points, None, 3))
    assert entry.said() == "2 of 3 runs"
    entry.apply(events.RunFinished(points[0], record, 3, 3))
    assert entry.said() == "3 of 3 runs"


def test_a_cancelled_request_leaves_no_run_waiting() -> None:
    entry = QueueEntry("model", Path("x"), None)
    points = _points(1, 2)
    entry.apply(events.Planned(points))
    entry.apply(events.RunStarted(points[0]))
    entry.stop()
    assert entry.phase == "stopping"
    entry.apply(events.Done(0, 0, cancelled=True))
    assert entry.phase == "cancelled"
    assert {run.phase for run in entry.runs.values()} == {"cancelled"}


def test_palette_prefers_words_and_beginnings() -> None:
    names = ["Save request", "Show instrumentation", "Clear finished requests", "Light theme", "Quit"]
    best = min((n for n in names if score("si", n) is not None), key=lambda n: score("si", n) or 0.0)
    assert best == "Show instrumentation"
    assert score("quit", "Quit") < (score("qt", "Quit") or 0.0)  # type: ignore[operator]
    assert score("xyz", "Quit") is None


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.c", "int main(void){return 0;}", "source"),
        ("a.toml", "processors = [1]\n[program]\nname='ge1'", "request"),
        ("a.toml", "name='m'\n[processor]\ncount=4", "machine"),
        ("a.toml", "= broken", "request"),
        ("a.sgstudy", "not a study", "study"),
    ],
)
def test_a_file_is_told_by_its_content(tmp_path: Path, name: str, content: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert kind_of(path) == kind


@pytest.mark.parametrize("name", ["picture.png", "gone.c", "."])
def test_what_cannot_be_opened_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"expected|no such file|cannot be read"):
        kind_of(tmp_path / name)


def test_a_display_that_does_not_answer_is_noticed_without_qt(tmp_path: Path) -> None:
    assert "nothing answers" in unreachable({"DISPLAY": ":4711"})
    assert "nothing answers" in unreachable({"WAYLAND_DISPLAY": "w-0", "XDG_RUNTIME_DIR": str(tmp_path)})
    assert unreachable({}) == ""


@pytest.mark.slow
def test_inspector_puts_the_numbers_into_the_formula(model_study: Callable[..., Path]) -> None:
    with_session = Session()
    data = with_session.study_data(model_study())
    parts = explain(data, Selection(processors=4, region=2))
    facts = {fact.name: fact for part in parts for fact in part.facts}
    assert facts["efficiency E"].formula.startswith("T1 / (N T) = 3.200 ms / (4 ×")
    assert "Simulated on ksr1" in parts[0].origin
    assert facts["kind"].value == "barrier"
    cell = explain(data, Selection(cell=(2, 4)))
    assert any(part.title.startswith("Scalability 2 → 4") or "No bound" in part.origin for part in cell)
    assert explain(data, Selection(processors=3))[0].origin == "No run on this N succeeded."
    with_session.close()


@pytest.mark.slow
def test_region_tree_shows_what_the_selected_n_loses(model_study: Callable[..., Path]) -> None:
    with_session = Session()
    data = with_session.study_data(model_study())
    n, losses = region_losses(data, None)
    assert n == 8
    shares = {loss.name: loss.share for loss in losses}
    assert shares["program"] == pytest.approx(1.0)
    assert shares["barrier"] > 0.9
    assert region_losses(data, 2)[0] == 2
    with_session.close()


@pytest.mark.slow
def test_only_jobs_starts_threads(root: Path) -> None:
    for path in sorted((root / "scalegraph" / "gui").rglob("*.py")):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        assert "processEvents" not in attributes, path
        if path.name != "jobs.py":
            assert not {"QThread", "QThreadPool", "QRunnable", "Thread"} & (names | attributes), path


def test_a_program_description_of_ones_own_is_told_from_a_request(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\nsources = ["mine.c"]\n')
    assert kind_of(path) == "program"
