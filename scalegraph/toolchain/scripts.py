"""The wrappers as files in a directory, for builds that we start: found whether or not they are installed."""

from __future__ import annotations

import hashlib
import shlex
import sys
from pathlib import Path

import scalegraph
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.toolchain import mpi
from scalegraph.toolchain.wrapper import ALSO, NAMES


def wrapper_directory() -> Path:
    """Return a directory with the compiler wrappers of this ScaleGraph, under all their names."""
    root = Path(scalegraph.__file__).parent.parent
    start = (
        f'PYTHONPATH={shlex.quote(str(root))}"${{PYTHONPATH:+:$PYTHONPATH}}" '
        f"exec {shlex.quote(sys.executable)} -P -m scalegraph.toolchain"
    )
    names = [*NAMES.items(), *ALSO.items(), *((f"mpi-{language}", name) for language, name in mpi.NAMES.items())]
    directory = cache_root() / "wrappers" / hashlib.sha256(f"{start}{names}".encode()).hexdigest()[:16]

    def write(place: Path) -> None:
        for language, name in names:
            module = "start" if language == "c" else f"wrapper {language}"
            (place / name).write_text(f'#!/bin/sh\n{start}.{module} "$@"\n', encoding="utf-8")
            (place / name).chmod(0o755)

    return get_or_make(directory, write)
