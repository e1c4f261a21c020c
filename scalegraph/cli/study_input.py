"""INPUT of a command: a study file, or measurements that are read as one."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import Fault, InputError
from scalegraph.store import Study


def open_input(path: Path) -> Study:
    """Return the study at *path*; measurements, of a file or directory, become a study in memory.

    Raises `StoreError` or `InputError` saying what was expected, and how to answer what cannot be guessed.
    """
    if not path.exists():
        raise InputError(Fault("no such file; a study (.sgstudy) or measurements were expected", file=str(path)))
    from scalegraph.cli.interrupt import interruptible
    from scalegraph.cli.progress import share_bar
    from scalegraph.measurements.mapping import Unanswered
    from scalegraph.request import imports

    if imports.is_study(path):
        return Study.open(path)
    try:
        with interruptible() as token, share_bar(f"reading {path.name}") as progress:
            return imports.opened([path], cancel=token, progress=progress)
    except Unanswered as error:
        hint = Fault(f"`scalegraph import {path} ..` takes these options and makes a study of it", severity="remark")
        raise InputError([*error.faults, hint]) from None


def known_endings() -> tuple[str, ...]:
    """Return the endings of the files that can be written."""
    from scalegraph.views import render

    return tuple(f".{ending}" for ending in render.FORMATS)
