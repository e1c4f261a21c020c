"""The command line: exit codes, messages and suggestions, and fast start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli import main as entry

PROGRAM = [sys.executable, "-m", "scalegraph"]


@pytest.mark.slow
def test_help_needs_no_library_that_is_slow_to_load() -> None:
    code = (
        "import sys; from scalegraph.cli.main import run; run(['--help']); "
        "slow = {'pandas', 'numpy', 'matplotlib', 'PySide6', 'pydantic', 'rich'} & set(sys.modules); "
        "assert slow <= {'pydantic'}, slow"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in entry.COMMANDS:
        assert name in done.stdout


@pytest.mark.parametrize("name", list(entry.COMMANDS))
def test_every_command_has_help(call: Any, name: str) -> None:
    code, out, _ = call(name, "--help")
    assert code == 0
    assert "Usage: scalegraph" in out


def test_version(call: Any) -> None:
    assert call("--version")[:2] == (0, "scalegraph, version 0.1.0\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["matrx"], "unknown command or file 'matrx'; did you mean 'matrix'?"),
        (["--versoin"], "unknown option '--versoin'; did you mean '--version'?"),
        (["matrix", "x.sgstudy", "--efficency", "1"], "did you mean '--efficiency'?"),
        (["matrix", "none.sgstudy"], "none.sgstudy: no such file"),
        (["matrix", "none.sgstudy", "--efficiency", "2"], "2"),
        (["matrix", "none.sgstudy", "--time", "1"], "--time: is given, but --bound is efficiency"),
        (["matrix", "none.sgstudy", "-o", "x.pgn"], "did you mean '.png'?"),
        (["matrix", "none.sgstudy", "--bound", "all"], "-o FILE was expected"),
        (["run", "none.toml"], "none.toml: no such file"),
        (["run"], "missing argument"),
        (["export"], "a study or a trace was expected"),
        (["export", "x.sgstudy", "--view", "time", "-o", "a.png", "--size", "4"], "as in 16x10"),
        (["analyze", "x.sgstudy"], "--what NAME or --assert STATEMENT was expected"),
        (["machines", "show", "ksr"], "did you mean 'ksr1'?"),
        (["machines", "check", "none.toml"], "none.toml: no such file"),
        (["import", "none.csv"], "none.csv: no such file"),
        (["demo", "--headless"], "demo --headless -o DIR"),
        (["demo", "-o", "x"], "is for --headless"),
        (["none.sgstudy"], "none.sgstudy: no such file"),
    ],
)
def test_bad_usage_is_a_sentence_and_exit_code_2(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(*arguments)
    assert code == 2, err
    assert expected in err
    assert err.startswith("scalegraph: ")
    assert out == ""


def test_all_faults_of_a_request_with_their_lines(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('processors = [0]\nprocesors = 1\n[program]\nname = "biliard"\n')
    code, _, err = call("run", path)
    assert code == 2
    assert [line.split(" ")[1] for line in err.splitlines()] == [f"{path}:1:15:", f"{path}:2:1:", f"{path}:4:1:"]


@pytest.mark.slow
def test_without_a_display_one_sentence_says_what_works() -> None:
    env = {
        key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    for arguments in ([], ["demo"]):
        done = subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 1
        assert "demo --headless -o DIR" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_without_qt_one_sentence_says_what_to_install(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    for name in list(sys.modules):
        if name.startswith(("PySide6", "scalegraph.gui")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "PySide6", None)
    code, _, err = call()
    assert code == 1
    assert "pip install PySide6-Essentials" in err


def test_an_error_of_our_own_goes_to_a_file(call: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("the roof is on fire\nand more")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(entry.cli, "main", broken)
    code, _, err = call("machines")
    assert code == 1
    assert len(err.splitlines()) == 1
    assert "the roof is on fire" in err
    (log,) = tmp_path.glob("scalegraph-error-*.log")
    assert "Traceback" in log.read_text()


def test_an_interrupt_ends_with_130(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry.cli, "main", interrupted)
    assert call("machines")[0] == 130


@pytest.mark.slow
def test_a_reader_that_goes_away_gets_no_complaint() -> None:
    first = subprocess.Popen([*PROGRAM, "analyze", "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdout
    assert first.stderr
    first.stdout.close()
    assert first.stderr.read() == b""
    first.stderr.close()
    first.wait()


@pytest.mark.slow
def test_machines_are_listed_shown_and_checked(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("machines")
    assert code == 0
    assert "ksr1" in out
    code, text, _ = call("machines", "show", "ksr1", "--toml")
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    assert call("machines", "check", mine)[0] == 0
    mine.write_text(text.replace("clock_mhz", "clock_mzh"))
    code, _, err = call("machines", "check", mine)
    assert code == 2
    assert "did you mean 'clock_mhz'" in err
