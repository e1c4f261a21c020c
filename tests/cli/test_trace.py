from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph.cli.main import run


def test_info_names_the_file_that_was_asked_for(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("billiard-4.sgtrace", "pipeline.prv"):
        assert run(["trace", "info", str(root / "traces" / name)]) == 0
        assert capsys.readouterr().out.startswith(f"{name}: ")


def test_info_says_what_is_in_a_trace(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", "info", str(root / "traces" / "pipeline.json")]) == 0
    said = capsys.readouterr().out
    assert "4 locations" in said
    assert "calls" in said
    assert run(["trace", "info", "--json", str(root / "traces" / "ring.trf")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["counts"]["messages"] == 2
    assert data["format"] == "picl"


def test_check_ends_with_1_where_a_trace_contradicts_itself(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", "check", str(root / "traces" / "pipeline.sgtrace")]) == 0
    assert "no contradiction" in capsys.readouterr().out
    path = tmp_path / "a.json"
    path.write_text('[{"ph":"B","name":"f","ts":5,"pid":1,"tid":1}]')
    assert run(["trace", "check", str(path)]) == 1
    assert "enters a region that is never left ('f')" in capsys.readouterr().out
    assert run(["trace", "check", "--json", str(path)]) == 1
    assert json.loads(capsys.readouterr().out)["violations"][0]["rule"] == "enter_without_leave"


def test_convert_writes_another_format_and_keeps_the_source(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.prv"
    assert run(["trace", "convert", str(root / "traces" / "pipeline.sgtrace"), "-o", str(out)]) == 0
    capsys.readouterr()
    assert run(["trace", "info", "--json", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["calls"] == 56
    assert run(["trace", "convert", str(out), "-o", str(out)]) == 2
    assert "choose another name" in capsys.readouterr().err


def test_a_damaged_trace_is_refused_or_read_in_part(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.trf"
    path.write_text((root / "traces" / "ring.trf").read_text()[:-10])
    assert run(["trace", "info", str(path)]) == 2
    assert f"{path}:12: a record was expected" in capsys.readouterr().err
    assert run(["trace", "info", "--partial", "--json", str(path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["counts"]["calls"] == 11
    assert len(data["damage"]) == 1


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace", "--list-formats"]) == 0
    assert "Paraver trace" in capsys.readouterr().out
