"""Hostile files: each tries to create a marker file, and a test checks whether it did."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli import main as entry
from scalegraph.request.model.request import Request
from scalegraph.store import Manifest, Study


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start every test without approvals, including those of other tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command line here: (exit code, standard output, standard error)."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = entry.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """The file that code would create if it ran without consent."""
    return tmp_path / "it-ran"


def foreign_study(path: Path, program: dict[str, Any], counts: tuple[int, ...] = (1, 2, 4)) -> Path:
    """Write a study as if from another computer, with enough runs for advice and a request with *program*."""
    request = Request.model_validate({"program": program, "machine": {"name": "ksr1"}, "processors": counts})
    kept = request.model_dump(mode="json", exclude_defaults=True)
    manifest = Manifest.new(title="theirs", request=kept, program="theirs", machine="ksr1", machine_values={})
    with Study.create(path, manifest) as study:
        for n in counts:
            study.add_run(
                RunRecord(
                    source="simulated",
                    program="theirs",
                    machine="ksr1",
                    point=RunPoint(processors=n),
                    status="ok",
                    clock_hz=20e6,
                    time_s=1.0 / n + 0.01 * n,
                )
            )
    return path


def values_of(path: Path, query: str) -> list[Any]:
    """Return the first column of the results of *query* in the study at *path*."""
    with sqlite3.connect(path) as connection:
        return [row[0] for row in connection.execute(query)]
