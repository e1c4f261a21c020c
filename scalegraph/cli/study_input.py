"""INPUT of a command: a study file, or measurements that are read as one."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.store import Study

_SUFFIX = ".sgstudy"


def open_input(path: Path) -> Study:
    """Return the study at *path*; measurements, of a file or directory, become a study in memory.

    Raises `StoreError` or `InputError` saying what was expected, and how to answer what cannot be guessed.
    """
    if not path.exists():
        raise InputError(Fault("no such file; a study (.sgstudy) or measurements were expected", file=str(path)))
    if path.suffix.lower() == _SUFFIX or _is_database(path):
        return Study.open(path)
    from scalegraph.cli.interrupt import interruptible
    from scalegraph.cli.progress import share_bar
    from scalegraph.measurements.mapping import Unanswered
    from scalegraph.request.imports import open_measurements

    try:
        with interruptible() as token, share_bar(f"reading {path.name}") as progress:
            return open_measurements([path], cancel=token, progress=progress)
    except Unanswered as error:
        hint = Fault(f"`scalegraph import {path} ..` takes these options and makes a study of it", severity="remark")
        raise InputError([*error.faults, hint]) from None


def _is_database(path: Path) -> bool:
    """Whether the file is a study under another name."""
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def known_endings() -> tuple[str, ...]:
    """Return the endings of the files that can be written."""
    from scalegraph.views import render

    return tuple(f".{ending}" for ending in render.FORMATS)
