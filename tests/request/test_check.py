"""Every fault of a request is reported at once, at its place in the input; a valid one survives a round trip."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalegraph.base import toml
from scalegraph.base.errors import Fault, InputError
from scalegraph.request import Request, Session, check, load_request
from scalegraph.request.model import programs
from scalegraph.store import Manifest


def faults_of(tmp_path: Path, text: str) -> list[Fault]:
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_request(path)
    assert all(fault.file for fault in caught.value.faults)
    return list(caught.value.faults)


def said(tmp_path: Path, text: str) -> list[tuple[int | None, str]]:
    return [(fault.line, fault.message) for fault in faults_of(tmp_path, text)]


def test_all_faults_of_the_form_at_once(tmp_path: Path) -> None:
    text = """
processors = [1, 0]
procesors = 3
schedule = "fast"
[program]
naem = "x"
sources = ["p.c"]
[[bound]]
kind = "efficiency"
[[bound]]
kind = "colour"
[limits]
time_s = -1
"""
    found = dict(said(tmp_path, text))
    assert set(found) == {2, 3, 4, 6, 7, 8, 11, 13}  # p.c does not exist, either
    assert "did you mean 'processors'" in found[3]
    assert "did you mean 'name'" in found[6]
    assert "needs a value" in found[8]


def test_all_faults_of_the_meaning_at_once(tmp_path: Path) -> None:
    text = """processors = [2, 5000]
[program]
name = "billiard"
args = ["{num_ball}"]
[parameters]
num_bals = 10
num_steps = -1
[scaling]
method = "V"
[machine]
name = "ksr"
"""
    found = said(tmp_path, text)
    lines = {line for line, _ in found}
    assert lines == {4, 6, 7, 9, 11}
    messages = dict(found)
    assert "did you mean 'num_balls'" in messages[6]
    assert "at least 0" in messages[7]
    assert "I, II, III, IV" in messages[9]
    assert "did you mean 'ksr1'" in messages[11]


def test_too_many_processors_for_the_machine(tmp_path: Path) -> None:
    (line, message), *_ = said(tmp_path, 'processors = [4, 2000]\n[program]\nname = "ge1"\n')
    assert line == 1
    assert message == "2000: machine 'ksr1' has 1 to 1088 processors"


def test_threads_of_a_process_find_no_place_on_nodes_of_one_processor(tmp_path: Path) -> None:
    text = 'processors = [1, 4, 64]\n[machine]\nname = "ncube2"\n[program]\nname = "ge1"\nthreads_per_process = 4\n'
    (line, message), *_ = said(tmp_path, text)
    assert line == 1
    assert message.startswith("4, 64: the threads of a process share one node, and a node of machine 'ncube2' has 1 ")
    assert "use an MPI program, or a machine with shared memory" in message


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('[scaling]\nmethod = "I"\n[bound]\nkind = "efficiency"\nvalue = 0.5', "method I grows nothing"),
        ('[bound]\nkind = "efficiency"\nvalue = 1.5', "between 0 and 1"),
        ('[bound]\nkind = "problem_size"\nvalue = 1', "takes no value"),
        ('[scaling]\nmethod = "III"\n[bound]\nkind = "memory"\nvalue = 1000', "changes the memory"),
        ('[scaling]\ngrow = { num_bals = "N" }\n[bound]\nkind = "growth"', "did you mean 'num_balls'"),
        ('[scaling]\ngrow = { num_balls = "1 / N" }\n[bound]\nkind = "growth"', "falls while N rises"),
        ('[scaling]\ngrow = { num_balls = "N - 1" }\n[bound]\nkind = "growth"', "is 0 at N = 1"),
        ('[scaling]\ngrow = { num_balls = "M" }\n[bound]\nkind = "growth"', "uses 'M'"),
        ('[scaling]\nmethod = "IV"\ngrow = { num_balls = "N" }', "not both"),
        ('[machine]\nname = "ksr1"\noverrides = { clock = "x" }', "clock"),
    ],
)
def test_what_does_not_fit_together_is_said(tmp_path: Path, more: str, expected: str) -> None:
    found = said(tmp_path, f'[program]\nname = "billiard"\n{more}\n')
    assert any(expected in message for _, message in found), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[program]\nname = "biliard"\n', "did you mean 'billiard'"),
        ('[program]\nname = "none.toml"\n', "no such file"),
        ('[program]\nsources = ["none.c"]\n', "no such file"),
        ('[program]\nname = "ge1"\nstdin = "none"\n', "no such file"),
        (
            'reference = false\n[program]\nname = "ge1"\n[bound]\nkind = "efficiency"\nvalue = 0.5\n',
            "the bound 'efficiency' compares with one processor; 'reference = true' was expected",
        ),
        ('[program]\nname = "ge1"\nsources = ["p.c"]\n', "not more than one of them"),
        ("[program]\n", "either 'name'"),
        ("[program\n", "TOML"),
        ("", "is missing"),
    ],
)
def test_programs_that_are_not_there(tmp_path: Path, text: str, expected: str) -> None:
    assert any(expected in message for _, message in said(tmp_path, text))


def test_names_in_a_file_are_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "deep"
    inner.mkdir()
    (inner / "p.c").write_text("int main(void) { return 0; }\n")
    (inner / "r.toml").write_text('[program]\nsources = ["p.c"]\n')
    monkeypatch.chdir(tmp_path)
    request = load_request(Path("deep/r.toml"))
    assert request.program.directory == str(inner)
    assert check(request) == []


def test_a_request_takes_what_it_leaves_out_from_its_program(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text('[program]\nname = "ge1"\n')
    request = load_request(tmp_path / "r.toml")
    assert request.bound[0].kind == "efficiency"
    assert request.scaling.method == programs.load("ge1").program.request.scaling.method


@pytest.mark.slow
def test_every_shipped_program_and_request_can_run() -> None:
    for described in programs.available():
        body = described.program.request.model_dump()
        request = Request.model_validate(body | {"program": {"name": described.name}})
        assert check(request) == []
        assert Session().plan(request).points or Session().plan(request).searches


def test_a_programs_description_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(
        'title = "x"\nsources = ["x.c"]\nmemory = "8 * m"\n[[parameter]]\nname = "n"\ntitle = "n"\ndefault = 5\n'
        '[[method]]\nname = "II"\ngrow = { m = "N" }\n'
    )
    with pytest.raises(InputError, match=r"uses 'm'.*grows 'm'"):
        programs.load(str(tmp_path / "x.toml"))


@pytest.mark.parametrize("arg", ["{", "{n", "{m}", "{}"])
def test_a_placeholder_that_is_no_parameter_is_refused(arg: str) -> None:
    with pytest.raises(ValueError, match="not a parameter"):
        programs.fill((arg,), {"n": 3}, 4)


def test_placeholders_are_filled_and_braces_kept() -> None:
    assert programs.fill(("{n}x{e}", "{{n}}", "-v", "{N}"), {"n": 3, "e": 0.1}, 4) == ("3x0.1", "{n}", "-v", "4")
    assert programs.fill(programs.verbatim(("{a}", "-t{N}")), {}, 4) == ("{a}", "-t4")
    assert programs.fill(("{N}",), {"N": 9}, 4) == ("9",)
    assert programs.fill_count("{0:4}, {N}", 4) == "{0:4}, 4"


names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=20)
values = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False, allow_infinity=False), texts)
bounds = st.one_of(
    st.just({"kind": "problem_size"}),
    st.just({"kind": "growth"}),
    st.builds(
        lambda e, t: {"kind": "efficiency", "value": e, "tolerance": t}, st.floats(0.01, 0.99), st.floats(0.01, 0.5)
    ),
    st.builds(
        lambda v, p: {"kind": "memory", "value": v, "processors": p}, st.floats(1, 1e9), st.lists(st.integers(1, 64))
    ),
)
requests = st.fixed_dictionaries(
    {
        "program": st.fixed_dictionaries(
            {"sources": st.lists(texts.filter(bool), min_size=1, max_size=3)},
            optional={
                "args": st.lists(texts, max_size=3),
                "cflags": st.lists(texts, max_size=3),
                "env": st.dictionaries(names, texts, max_size=3),
                "stdin": texts,
            },
        )
    },
    optional={
        "title": texts,
        "processors": st.lists(st.integers(1, 1024), min_size=1, max_size=8),
        "parameters": st.dictionaries(names, st.one_of(values, st.lists(values, min_size=1, max_size=3)), max_size=4),
        "scaling": st.fixed_dictionaries({"grow": st.dictionaries(names, st.just("sqrt(N)"), max_size=2)}),
        "machine": st.fixed_dictionaries({"name": names, "overrides": st.dictionaries(names, texts, max_size=2)}),
        "bound": st.lists(bounds, min_size=1, max_size=3),
        "repetitions": st.integers(1, 9),
        "schedule": st.sampled_from(["", "static", "dynamic,4"]),
        "collect": st.fixed_dictionaries({"lines": st.booleans()}),
    },
)


@pytest.mark.slow
@settings(deadline=None)
@given(requests)
def test_a_request_survives_its_file(data: dict[str, Any]) -> None:
    request = Request.model_validate(data)
    assert toml.load_model(Request, request.to_toml(), "r.toml") == request


@pytest.mark.slow
@settings(deadline=None)
@given(requests)
def test_checking_any_request_never_crashes(data: dict[str, Any]) -> None:
    for fault in check(Request.model_validate(data)):
        assert fault.message


@pytest.mark.slow
def test_the_core_works_without_qt() -> None:
    program = """
import sys
sys.modules["PySide6"] = sys.modules["pyqtgraph"] = None
from scalegraph.request import Session, Request
from scalegraph.request.imports import tables
from scalegraph.request.results import data, quantities
from scalegraph.request.run import submit
session = Session()
session.machines(), session.programs(), session.views()
request = Request.model_validate({"program": {"name": "ge2"}})
assert session.check(request) == []
session.plan(request)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_faults_of_form_and_of_meaning_are_told_together(tmp_path: Path) -> None:
    file = tmp_path / "request.toml"
    file.write_text(
        'titel = "t"\nprocessors = [1, 0, 4000]\n[program]\nname = "ge3"\n[machine]\nname = "ksr1"\n'
        '[[bound]]\nkind = "eficiency"\n[[bound]]\nkind = "efficiency"\nvalue = 1.5\n'
    )
    with pytest.raises(InputError) as caught:
        load_request(file)
    places = [(fault.line, fault.key.split(".")[0]) for fault in caught.value.faults]
    assert {(1, "titel"), (2, "processors"), (4, "program"), (8, "bound"), (9, "bound")} <= set(places)
    assert any("4000" in str(fault) and fault.line == 2 for fault in caught.value.faults)


def test_a_request_that_names_no_machine_gets_that_of_its_program() -> None:
    own = Request.model_validate({"program": {"sources": ["a.c"]}})
    assert (own.machine.name, own.processors) == ("server-2x32", (1, 2, 4, 8, 16, 32, 64))
    assert 'name = "server-2x32"' in own.to_toml()
    few = Request.model_validate({"program": {"executable": "a"}, "processors": [1, 3]})
    assert (few.machine.name, few.processors) == ("server-2x32", (1, 3))
    shipped = Request.model_validate({"program": {"name": "ge1"}, "machine": {"overrides": {"processor.count": 4}}})
    assert (shipped.machine.name, shipped.machine.overrides) == ("ksr1", {"processor.count": "4"})
    assert shipped.processors == (1, 2, 4, 8, 16, 32)


def test_a_kept_request_without_a_machine_means_the_one_that_the_study_was_run_on() -> None:
    kept = Manifest(program="a", machine="ksr1", request={"program": {"sources": ["a.c"]}})
    assert Request.model_validate(kept.request).machine.name == "ksr1"
    own = Manifest(program="a", machine="mine", request={"program": {"name": "a"}, "machine": {"path": "mine.toml"}})
    assert own.request["machine"] == {"path": "mine.toml"}


def test_a_number_of_a_program_that_is_given_as_text_is_one_fault_of_its_parameter(tmp_path: Path) -> None:
    faults = check(Request.model_validate({"program": {"name": "billiard"}, "parameters": {"num_steps": "many"}}))
    assert [fault.key for fault in faults if fault.severity == "error"] == ["parameters.num_steps"]
