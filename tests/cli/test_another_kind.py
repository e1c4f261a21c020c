"""A file of another kind than a command accepts is named for what it is."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.store import Manifest, Study

TRACES = Path(__file__).parents[2] / "traces"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a file of every kind."""
    Study.create(tmp_path / "a.sgstudy", Manifest.new(title="a")).close()
    shutil.copy(TRACES / "pipeline.sgtrace", tmp_path)
    (tmp_path / "times.csv").write_text("p,time\n1,2.0\n2,1.1\n")
    (tmp_path / "times.json").write_text(json.dumps({"params": {"p": 4}, "value": 1.5}) + "\n")
    (tmp_path / "work.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "own.toml").write_text((resource_dir("machines") / "ksr1.toml").read_text())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "name", "what"),
    [
        ("trace info", "a.sgstudy", "is a study; a trace was expected"),
        ("trace info", "times.csv", "is a file of measurements; a trace was expected"),
        ("trace info", "times.json", "is a file of measurements; a trace was expected"),
        ("trace info", "work.c", "is a source; a trace was expected"),
        ("trace info", "own.toml", "is the description of a machine; a trace was expected"),
        ("import -o b.sgstudy", "pipeline.sgtrace", "is a trace; a file of measurements was expected"),
        ("import -o b.sgstudy", "work.c", "is a source; a file of measurements was expected"),
        ("import -o b.sgstudy", "own.toml", "is the description of a machine; a file of measurements was expected"),
        ("matrix", "pipeline.sgtrace", "is a trace; a file of measurements was expected"),
        ("run", "a.sgstudy", "is a study; a request was expected"),
        ("run", "work.c", "is a source; a request was expected"),
        ("run", "times.csv", "is a file of measurements; a request was expected"),
        ("run", "pipeline.sgtrace", "is a trace; a request was expected"),
    ],
)
def test_the_message_says_what_the_file_is(call: Any, files: Path, command: str, name: str, what: str) -> None:
    code, _, err = call(*command.split(), name)
    assert code == 2
    assert err.strip() == f"scalegraph: {name}: {what}"
    assert not (files / "b.sgstudy").exists()
