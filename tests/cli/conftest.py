"""Fixtures for the tests of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli import main as entry


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command line here: (exit code, standard output, standard error)."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = entry.run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return code, out, err

    return run
