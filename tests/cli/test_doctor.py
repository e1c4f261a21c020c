"""``scalegraph doctor``: what works, what to install, and whether the main task can run."""

import json
from pathlib import Path

import pytest

from scalegraph.cli import checks
from scalegraph.cli.checks import Check
from scalegraph.cli.main import run


@pytest.mark.slow
@pytest.mark.compiler
def test_everything_needed_works_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "simulation of 2 processors" in out
    assert out.rstrip().endswith("Simulations can run here.")
    assert "MISSING" not in out


@pytest.mark.slow
def test_missing_compiler_is_told_with_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert run(["doctor", "--json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert made["usable"] is False
    (compiler,) = [check for check in made["checks"] if check["name"] == "C compiler"]
    assert compiler["state"] == "missing"
    assert "apt-get install gcc libc6-dev" in compiler["advice"]
    assert "simulator library" not in {check["name"] for check in made["checks"]}


def test_cache_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "file" / "below"))
    check = checks._cache()
    assert (check.state, check.needed) == ("missing", True)
    assert "SCALEGRAPH_CACHE" in check.advice


def test_without_a_display_it_points_to_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    check = checks._display()
    assert check.state == "remark"
    assert "scalegraph demo --headless" in check.advice


def test_optional_parts_do_not_fail_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Check("pictures", "remark", "gone", "pip install it"), Check("MPI", "remark", "not used yet")]
    monkeypatch.setattr("scalegraph.cli.doctor.all_checks", lambda: iter(found))
    assert run(["doctor"]) == 0
    assert "pictures: pip install it" in capsys.readouterr().out


def test_dask_has_a_line_that_says_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"distributed": "2026.1.0", "dask_jobqueue": ""}
    monkeypatch.setattr(checks, "_version", there.__getitem__)
    check = checks._dask()
    assert check.state == "remark"
    assert "without dask-jobqueue no jobs for Slurm" in check.found
    there["dask_jobqueue"] = "0.9.0"
    assert checks._dask().found == "distributed 2026.1.0, dask-jobqueue 0.9.0"
    there["distributed"] = ""
    assert "scalegraph[cluster]" in checks._dask().advice
