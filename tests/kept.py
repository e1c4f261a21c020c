"""Executables that a test compiles itself, kept with the builds of the product: see `BUILDS` in conftest."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import find_compiler

PROGRAMS = "programs"


def kept(target: Path, inputs: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """Return *target*, made by an earlier session from the same *inputs*, or now by *make*.

    Inputs are words of commands, and files by name and content: whatever the executable depends on, except the compiler
    and the product, on which all kept builds depend. *make* gets the path that it writes; what it writes beside that
    is kept, too. The copy at *target* is the test's own.
    """
    place = cache_root() / PROGRAMS
    if not place.is_symlink():  # a script, or a test with a cache of its own
        make(target)
        return target
    digest = hashlib.sha256(f"{find_compiler().identity}\0{target.name}\0".encode())
    for one in inputs:
        name, content = (one.name, one.read_bytes()) if isinstance(one, Path) else (one, b"")
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    entry = get_or_make(place / digest.hexdigest()[:24], lambda where: make(where / target.name))
    for path in entry.iterdir():
        if not path.name.startswith("."):
            shutil.copy2(path, target.parent)
    return target
