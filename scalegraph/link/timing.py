"""Block times on a machine with a pipeline: computed once for each program and processor."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scalegraph import instrument
from scalegraph.link.build import Build
from scalegraph.machine import Machine
from scalegraph.runtime import format as written
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.unchanged import digest_of

if TYPE_CHECKING:
    from scalegraph.instrument.plain import Plain

_LIMIT_BYTES: Final = 128 * 2**20
_TABLE: Final = "blocks"
LARGE: Final = 4 << 20  # bytes of a program; starting a process takes as long as the times of a small one
_MOST_PROCESSES: Final = 8
_MODULE: Final = "scalegraph.instrument.functions.apart"


def timed_blocks(build: Build, machine: Machine, plain: Plain | None) -> Path:
    """Return the block table of *build* with block times on *machine*; *plain*: see `instrument.timed.timing`.

    The pipeline model takes seconds for a large program, so its results are cached by program, processor and our code,
    and those of a large program by function, too.

    Raises `InputError` if the program is damaged or its architecture has no pipeline model, `WorkError` if the cache
    cannot be written.
    """

    def make(place: Path) -> None:
        if _made_apart(build, machine, plain, place / _TABLE):
            return
        from scalegraph.instrument.timed import timed_table  # imports numpy and the disassembler

        lines = None if plain is None else build.lines
        table = timed_table(build.blocks.read_bytes(), build.executable, machine, lines, plain)
        (place / _TABLE).write_bytes(table)

    parent = cache_root() / "timing"
    directory = parent / digest(build, machine, plain)[:32]
    fresh = not directory.is_dir()
    get_or_make(directory, make)
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=directory)
    return directory / _TABLE


def _made_apart(build: Build, machine: Machine, plain: Plain | None, to: Path) -> bool:
    """Write the table of a large program in a process of its own, with those that it starts; return whether it did.

    If it fails, the caller finds out why.
    """
    processes = len(os.sched_getaffinity(0))
    if build.executable.stat().st_size < LARGE or (plain is not None and build.places is None):
        return False
    asked = {
        "table": str(build.blocks),
        "program": str(build.executable),
        "processor": machine.processor.model_dump(mode="json"),
        "lines": None if plain is None else str(build.places),
        "plain": None if plain is None else [str(plain.executable), str(plain.places)],
        "to": str(to),
        "processes": min(processes, _MOST_PROCESSES),
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", _MODULE],
        input=json.dumps(asked).encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0 and to.is_file()


def timed(build: Build, machine: Machine, plain: Plain | None) -> Path | None:
    """Return the table of `timed_blocks` if it is in the cache."""
    table = cache_root() / "timing" / digest(build, machine, plain)[:32] / _TABLE
    return table if table.is_file() else None


def digest(build: Build, machine: Machine, plain: Plain | None) -> str:
    """Return a digest of everything that the table depends on."""
    processor = machine.processor.model_dump_json(exclude={"count", "clock_mhz"})  # all in cycles of one processor
    total = hashlib.sha256(processor.encode())
    programs = [build.executable, build.blocks, *([] if plain is None else [plain.executable, plain.places])]
    for path in programs:
        total.update(hashlib.sha256(path.read_bytes()).digest())
    total.update(_code().encode())
    return total.hexdigest()


@cache
def _code() -> str:
    """Return a digest of our code that computes the table; every run asks for it."""
    found = Path(instrument.__file__).parent.rglob("*.*")
    return digest_of([*sorted(str(path) for path in found if path.suffix in (".py", ".c", ".h")), written.__file__])
