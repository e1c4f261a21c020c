"""Files from others cannot cause writes, because names in them are only data; commands write only where told."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.errors import InputError
from scalegraph.request import Session
from scalegraph.store import Study
from tests.security.test_names import hostile_study

REQUEST = 'processors = [1]\n[program]\nname = "ge1"\n[machine]\nname = "ksr1"\n'
TRACE = {"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 5, "name": "f"}]}


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """A file of each kind that a command reads."""
    made = {"study": hostile_study(tmp_path / "s.sgstudy", "x")}
    for name, text in (
        ("request", REQUEST),
        ("trace", json.dumps(TRACE)),
        ("c", "int main(void) { return 0; }\n"),
        ("table", "p,time\n1,8\n2,4.5\n4,2.6\n8,1.9\n"),
    ):
        made[name] = tmp_path / f"x.{ {'request': 'toml', 'trace': 'json', 'table': 'csv'}.get(name, name) }"
        made[name].write_text(text)
    return made


WRITING = {
    "simulate": (("simulate", "c", "-p", "1", "-o"), ".sgstudy"),
    "simulate --junit": (("simulate", "c", "-p", "1", "--assert", "N > 0", "--junit"), ".xml"),
    "simulate --trace-output": (("simulate", "c", "-p", "1", "--trace", "--trace-output"), ""),
    "run": (("run", "request", "-o"), ".sgstudy"),
    "run --junit": (("run", "request", "--assert", "N > 0", "--junit"), ".xml"),
    "import": (("import", "table", "-o"), ".sgstudy"),
    "report": (("report", "study", "-o"), ".html"),
    "instrument": (("instrument", "c", "-o"), ".c"),
    "calibrate": (("machines", "calibrate", "-o"), ".toml"),
    "demo": (("demo", "--headless", "-o"), ""),
    **{f"matrix {e}": (("matrix", "study", "-o"), e) for e in (".png", ".csv", ".tex", ".md", ".json", ".parquet")},
    **{f"analyze {e}": (("analyze", "study", "--what", "time", "-o"), e) for e in (".csv", ".tex", ".md", ".parquet")},
    **{f"compare {e}": (("compare", "study", "study", "-o"), e) for e in (".svg", ".json")},
    **{f"export {e}": (("export", "study", "--view", "time", "-o"), e) for e in (".png", ".svg", ".pdf", ".csv")},
    **{f"export trace {e}": (("export", "trace", "--view", "gantt", "-o"), e) for e in (".png", ".parquet")},
    **{f"convert {e}": (("trace", "convert", "trace", "-o"), e) for e in (".sgtrace", ".prv", ".otf2", ".json")},
}


@pytest.mark.parametrize("name", WRITING)
def test_no_directory_is_made_for_what_a_command_writes(
    name: str, inputs: dict[str, Path], tmp_path: Path, call: Any
) -> None:
    words, ending = WRITING[name]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    target = tmp_path / "missing" / "dir" / f"x{ending}"
    code, out, err = call(*(inputs.get(word, word) if i else word for i, word in enumerate(words)), target)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert f"there is no directory '{target.parent}'" in err
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.slow
def test_the_interface_for_notebooks_makes_no_directory_either(inputs: dict[str, Path], tmp_path: Path) -> None:
    session = Session()
    target = tmp_path / "missing" / "x.sgstudy"
    with pytest.raises(InputError, match="there is no directory"):
        session.submit(session.load(inputs["request"]), target)
    with Study.open(inputs["study"]) as study:
        with pytest.raises(InputError, match="there is no directory"):
            session.save_as(study, target)
        with pytest.raises(InputError, match="there is no directory"):
            session.export(study, "time", target.with_suffix(".csv"))
    assert not target.parent.exists()


ESCAPING = ("../escaped", "/tmp/scalegraph-escaped", "../../escaped.c", "a/../../escaped", "escaped\0x", "~/escaped")


@pytest.mark.slow
@pytest.mark.parametrize("name", ESCAPING)
def test_names_in_a_study_are_not_written_to(name: str, tmp_path: Path, call: Any) -> None:
    place = tmp_path / "a" / "b" / "c"
    place.mkdir(parents=True)
    study = hostile_study(place / "s.sgstudy", name)
    call("report", study, "--views", "source,profile,time", "-o", place / "x.html")
    for view in ("source", "profile", "time"):
        call("export", study, "--view", view, "-o", place / f"{view}.csv")
    call("analyze", study, "--what", "runs")
    Session().save_as(study, place / "copy.sgstudy")
    outside = [path for path in tmp_path.rglob("*escaped*") if not path.is_relative_to(place)]
    assert outside == []
    assert not Path("/tmp/scalegraph-escaped").exists()
    assert {path.name for path in place.iterdir()} <= {
        "s.sgstudy",
        "x.html",
        "source.csv",
        "profile.csv",
        "time.csv",
        "copy.sgstudy",
    }


@pytest.mark.parametrize("ending", [".sgtrace", ".prv", ".otf2", ".json"])
def test_names_in_a_trace_are_not_written_to(ending: str, tmp_path: Path, call: Any) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    events = [
        {"ph": "X", "pid": name, "tid": name, "ts": i, "dur": 5, "name": name, "cat": name, "args": {"file": name}}
        for i, name in enumerate(ESCAPING)
    ]
    source = place / "x.json"
    source.write_text(json.dumps({"traceEvents": events}))
    target = place / f"out{ending}"
    assert call("trace", "convert", source, "-o", target)[0] == 0
    assert [path for path in tmp_path.rglob("*") if "escaped" in path.name] == []
    assert all(path.name.startswith(("x.json", "out")) for path in place.iterdir())


@pytest.mark.slow
def test_a_link_in_the_place_of_the_output_is_replaced_not_followed(tmp_path: Path, call: Any) -> None:
    study = hostile_study(tmp_path / "s.sgstudy", "x")
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    link = tmp_path / "x.csv"
    link.symlink_to(kept)
    assert call("export", study, "--view", "time", "-o", link)[0] == 0
    assert kept.read_text() == "mine"
    assert not link.is_symlink()


@pytest.mark.parametrize("target", ["fifo", "/dev/null", "directory"])
def test_what_is_no_file_is_not_replaced(target: str, tmp_path: Path, call: Any) -> None:
    study = hostile_study(tmp_path / "s.sgstudy", "x")
    path = Path(target) if target.startswith("/") else tmp_path / f"{target}.csv"
    if target == "fifo":
        os.mkfifo(path)
    elif target == "directory":
        path.mkdir()
    link = tmp_path / "to.csv"
    link.symlink_to(path)
    code, _, err = call("export", study, "--view", "time", "-o", link)
    assert code in (1, 2)
    assert len([line for line in err.splitlines() if not line.startswith("see:")]) == 1
    assert path.exists()
    assert not path.is_file()


@pytest.mark.slow
def test_lines_of_the_environment_do_not_configure_the_simulator(tmp_path: Path, call: Any) -> None:
    path = tmp_path / "r.toml"
    text = f'env = {{ OMP_SCHEDULE = "static\\nrun.result_path {tmp_path}/escaped" }}'
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    path.write_text(REQUEST.replace('name = "ge1"\n', f'sources = ["a.c"]\n{text}\n', 1))
    code, _, err = call("run", path)
    assert code in (1, 2)
    assert "an error of ScaleGraph itself" not in err
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize(
    "text",
    [
        'args = ["a\\u0000b"]',
        'env = { "A=B" = "c" }',
        'env = { "" = "c" }',
        'env = { A = "\\u0000" }',
        'cwd = "a\\u0000"',
        'include = ["\\u0000"]',
        'cflags = ["-D\\u0000"]',
        'stdin = "\\u0000"',
    ],
)
def test_what_no_process_can_be_given_is_a_fault_of_the_request(text: str, tmp_path: Path, call: Any) -> None:
    path = tmp_path / "r.toml"
    path.write_text(REQUEST.replace('name = "ge1"\n', f'name = "ge1"\n{text}\n', 1))
    code, _, err = call("run", path)
    assert code == 2
    assert len(err.splitlines()) == 1
