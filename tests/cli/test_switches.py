"""An option suggested by a message about measurements is accepted by the command that prints it."""

from pathlib import Path

import pytest

from scalegraph.cli.main import run

READERS = {
    "analyze": ("--what", "speedup"),
    "matrix": (),
    "export": ("--view", "speedup", "-o", "speedup.csv"),
    "report": ("-o", "report.html"),
}


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "times.csv"
    rows = [f"{p},{n},{n / p + p / 2 - 0.5}" for n in (10, 40, 160, 640) for p in (1, 2, 4)]
    path.write_text("\n".join(["procs,n,runtime", *rows]) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("command", READERS)
def test_a_command_takes_the_unit_that_it_asks_for(
    command: str, measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(measured), *READERS[command]]) == 2
    said = capsys.readouterr().err
    assert "--unit s" in said
    code = run([command, str(measured), "--unit", "s", *READERS[command]])
    assert "no such option" not in capsys.readouterr().err
    assert code == 0


@pytest.mark.slow
def test_matrix_keeps_its_own_time_and_says_others_by_mapping(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["matrix", str(measured), "--unit", "s", "--mapping", "time=runtime"]) == 0
    assert run(["matrix", str(measured), "--unit", "parsec"]) == 2
    assert "parsec" in capsys.readouterr().err
