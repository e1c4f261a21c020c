"""Links objects into a program, with the simulator in place of the OpenMP and sanitizer run-time libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError
from scalegraph.runtime.compiler import Compiler
from scalegraph.runtime.languages import Language
from scalegraph.runtime.library import OWN_DATA, Library
from scalegraph.toolchain.complaints import in_users_terms, of_linker
from scalegraph.toolchain.inlining import SLOTS

_MPI_NAME = re.compile(rb"\0P?(MPI|mpi)_[A-Za-z]")  # among the names of symbols
_MISSES_MPI = re.compile(r"undefined reference to `P?(MPI|mpi)_")


@cache
def fixed_places() -> tuple[str, ...]:
    """Return the options that give static data and code fixed addresses.

    The addresses of static data decide which variables share a cache line, a page and a cache set, so they must not
    depend on the size of our own code. 27 MiB are for code, 16 for constants, 16 for initialised variables; zeroed ones
    come last. All are low, as in native programs, because programs map memory at addresses of their choice. Our own
    code has no zeroed variables (compile.flags), whose size would shift the program's last ones in .bss (names of
    critical sections, Fortran common blocks); nor strings that the linker would merge with the program's. Our variables
    come before all that: the ranks of an MPI program share them, and have private copies of the rest.
    """
    return (
        f"-Wl,--section-start={SLOTS}=0x1d00000",
        f"-Wl,--section-start={OWN_DATA}=0x1f00000",
        "-Wl,--section-start=.rodata=0x2000000",
        "-Wl,-Tdata=0x3000000",
        "-Wl,-Tbss=0x4000000",
    )


def link(
    compiler: Compiler,
    runtime: Library,
    arguments: Sequence[str],
    target: Path,
    *,
    names: Mapping[Path, str],
    cwd: Path,
    cancel: CancelToken,
) -> str:
    """Link objects and libraries (*arguments*, in the user's order) into the program *target*; return the messages.

    *names*: the sources of temporary objects. Static data gets fixed addresses, unless the program is too large for
    them or places its data itself. Raises `BuildError` with the linker's output.
    """

    def linked(*places: str) -> subprocess.CompletedProcess[str]:
        served = [str(runtime.mpi(cancel))] if mpi else []
        ours = [*served, str(runtime.archive), *runtime.link_flags]
        command = [*places, "-no-pie", *compiler.linking, *arguments, *ours, "-o", str(target)]
        return compiler.run(command, cwd=cwd, cancel=cancel)

    mpi = any(_calls_mpi(cwd / word) for word in arguments if word.endswith(".o"))
    result = linked(*fixed_places())
    if result.returncode != 0 and not mpi and _MISSES_MPI.search(result.stderr):  # called by an archive or library
        mpi = True
        result = linked(*fixed_places())
    if result.returncode != 0:
        result = linked()
    output = in_users_terms(result.stderr, names, cwd)
    if result.returncode != 0:
        raise BuildError(of_linker(output), _without_ours(output, runtime))
    return output


def _calls_mpi(item: Path) -> bool:
    """Whether the object *item* names an MPI function, as called from C or Fortran."""
    try:
        return _MPI_NAME.search(item.read_bytes()) is not None
    except OSError:  # the linker reports it
        return False


def link_host(
    compiler: Compiler,
    arguments: Sequence[str],
    target: Path,
    *,
    names: Mapping[Path, str],
    cwd: Path,
    cancel: CancelToken,
    observed: Sequence[str] = (),
) -> str:
    """Link objects and libraries (*arguments*) into the native program *target*; return the messages.

    *observed*: words that link the monitor (`runtime.monitor.library`).

    Raises `BuildError` with the linker's output.
    """
    openmp = () if compiler.clang else ("-fopenmp",)
    command = ["-no-pie", *compiler.linking, *observed, *arguments, *openmp, "-o", str(target)]
    result = compiler.run(command, cwd=cwd, cancel=cancel)
    output = in_users_terms(result.stderr, names, cwd)
    if result.returncode != 0:
        raise BuildError(of_linker(output), output)
    return output


def driver(languages: Collection[Language]) -> Language:
    """Return the language whose compiler links a program of *languages*: C++ before Fortran before C."""
    return "c++" if "c++" in languages else "fortran" if "fortran" in languages else "c"


def libraries(languages: Collection[Language]) -> tuple[str, ...]:
    """Return the libraries that the linking compiler does not add by itself.

    This includes the mathematics library, which is part of the simulator: a program that links there must link for all
    targets.
    """
    return ("-lgfortran", "-lm") if {"c++", "fortran"} <= set(languages) else ("-lm",)


def _without_ours(output: str, runtime: Library) -> str:
    """Return the linker's *output* without lines about our library, which the user did not write.

    The error that ``main``, which our library calls, is missing stays.
    """
    lines = output.splitlines(keepends=True)
    kept = [line for line in lines if str(runtime.archive) not in line and not line.startswith("sg_")]
    if any("undefined reference to `main'" in line for line in lines):
        kept.insert(0, "undefined reference to `main'\n")
    return "".join(kept) if len(kept) < len(lines) else output
