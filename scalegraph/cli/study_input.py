"""INPUT of a command: a study file, or a table of runs that is read as one."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.store import Study

ENDINGS = (".png", ".svg", ".pdf", ".csv", ".tex", ".json")


def open_input(path: Path) -> Study:
    """Return the study at *path*; a table of runs (.csv) becomes a study in memory.

    Raises `StoreError` or `InputError` saying what was expected.
    """
    if not path.exists():
        raise InputError(Fault("no such file; a study (.sgstudy) was expected", file=str(path)))
    if path.suffix.lower() == ".csv":
        from scalegraph.request.tables import read_runs

        return read_runs(path)
    return Study.open(path)


def known_endings() -> tuple[str, ...]:
    """Return the endings of the files that can be written."""
    return ENDINGS
