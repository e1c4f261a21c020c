"""Line tables of large executables: made in a process of their own, while this one makes the block table."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_LARGE: Final = 4 << 20  # bytes of an executable; starting a process takes as long as the lines of a small one
_MODULE: Final = "scalegraph.instrument.declared"


@contextmanager
def places_beside(executable: Path, root: str, to: Path) -> Iterator[None]:
    """Write the places of *executable* to *to*, at the latest when the context ends; *root*: see `declared.places`.

    If the process fails, they are made here, so that the caller sees what is wrong.
    """
    if executable.stat().st_size < _LARGE or (os.cpu_count() or 1) < 2:
        yield
        _write(executable, root, to)
        return
    command = [sys.executable, "-m", _MODULE, str(executable), root, str(to)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing) as worker:
        try:
            yield
        except BaseException:
            worker.kill()
            raise
    if worker.returncode != 0:
        _write(executable, root, to)


def _write(executable: Path, root: str, to: Path) -> None:
    from scalegraph.instrument.declared import places
    from scalegraph.instrument.places import save

    save(places(executable, root), to)
