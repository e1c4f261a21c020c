"""The monitor as an archive that is linked into native programs, built on first use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalegraph.base.errors import BuildError
from scalegraph.runtime.cache import cache_root, get_or_make
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.library import SOURCES

_OWN: Final = Path(__file__).parent
_FORMAT: Final = SOURCES / "ground" / "sg_format.h"
_MPI: Final = "sgm_mpi"  # prefix of the sources that need mpi.h
_FLAGS: Final = (
    *("-std=gnu11", "-O2", "-g", "-fno-pic", "-fno-pie", "-fvisibility=hidden", "-fno-strict-aliasing"),
    *("-Wall", "-Wextra", "-D_GNU_SOURCE"),
)
# Entry points that shared libraries call too: exported so that the program's come before the libraries' own.
_EXPORTED: Final = ("pthread_*", "sem_wait", "*sleep", "GOMP_*", "omp_*", "MPI_*", "PMPI_*", "__scalegraph_*")


@dataclass(frozen=True)
class Monitor:
    """The built monitor. *link*: the words that link it into a program, before libraries; *digest*: of its sources."""

    link: tuple[str, ...]
    digest: str


def monitor(compiler: Compiler, mpi: Sequence[str] = ()) -> Monitor:
    """Return the monitor built by *compiler*; *mpi*: options that find this computer's ``mpi.h``, for MPI programs.

    Raises `BuildError` if it does not compile, which is a fault of ScaleGraph or of the compiler.
    """
    digest = hashlib.sha256("\0".join([compiler.identity, *_FLAGS, *mpi]).encode())
    for path in (*sorted(_OWN.glob("*.[ch]")), _FORMAT):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    place = cache_root() / "monitor" / digest.hexdigest()[:24]
    get_or_make(place, lambda where: _build(compiler, where, mpi))
    objects = sorted(str(path) for path in place.glob("*.o"))
    exported = [f"-Wl,--export-dynamic-symbol={name}" for name in _EXPORTED]
    return Monitor((*objects, *exported, "-ldl", "-lpthread"), digest.hexdigest())


def _build(compiler: Compiler, where: Path, mpi: Sequence[str]) -> None:
    for source in sorted(_OWN.glob("*.c")):
        of_mpi = source.name.startswith(_MPI)
        if of_mpi and not mpi:
            continue
        ours = ["-fopenmp", f"-I{_FORMAT.parent}", f"-I{_OWN}", *(mpi if of_mpi else ())]
        result = compiler.run([*_FLAGS, *ours, "-c", str(source), "-o", str(where / f"{source.stem}.o")])
        if result.returncode != 0:
            raise BuildError(f"the monitor's own source {source.name} does not compile here", result.stderr)
