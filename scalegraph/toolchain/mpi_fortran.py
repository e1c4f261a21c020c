"""Fortran's headers for MPI, generated from ``mpi.h`` with the user's gfortran: others cannot read its modules."""

from __future__ import annotations

import hashlib
from pathlib import Path

from scalegraph.base.errors import BuildError
from scalegraph.runtime.cache import cache_root, get_or_make, tidy
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.mpi import header, modules

_LIMIT_BYTES = 16 * 2**20


def fortran_headers(compiler: Compiler, include: Path) -> Path:
    """Return the directory with ``mpif.h`` and the modules ``mpi`` and ``mpi_f08`` for *compiler*.

    *include*: directory of our ``mpi.h``, their source. Raises `BuildError` if they do not compile, which is a fault of
    ScaleGraph or of the compiler.
    """
    text = header.text_of(include)
    constants, functions = header.constants(text), [*modules.more_functions(), *header.functions(text)]
    sources = {
        "mpi.f90": modules.module_mpi(constants, functions),
        "mpi_f08.f90": modules.module_f08(constants, functions),
    }
    included = modules.mpif(constants)
    digest = hashlib.sha256("\0".join([compiler.identity, included, *sources.values()]).encode()).hexdigest()
    parent = cache_root() / "fortran-mpi"
    directory = parent / digest[:24]
    fresh = not directory.is_dir()

    def write(place: Path) -> None:
        (place / "mpif.h").write_text(included, encoding="utf-8")
        for name, source in sources.items():
            (place / name).write_text(source, encoding="utf-8")
            made = compiler.run(["-w", "-c", name, "-o", "unused.o"], cwd=place)
            if made.returncode != 0:
                raise BuildError(f"ScaleGraph's own {name} does not compile with {compiler.command[0]}", made.stderr)
        (place / "unused.o").unlink()

    get_or_make(directory, write)
    if fresh:
        tidy(parent, _LIMIT_BYTES, keep=directory)
    return directory
