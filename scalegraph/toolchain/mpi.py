"""MPI programs: our headers, the compilers for them and their answers, and how to recognise an MPI program.

``scalegraph-mpicc`` is ``scalegraph-cc`` with our ``mpi.h`` on its include path; nothing more needs linking, as the
simulator's library has the functions. Every object that includes our ``mpi.h``, and the library object that serves
Fortran's calls, has a section `MARK`; so does a program linked from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import scalegraph
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.languages import Language

INCLUDE: Final = Path(scalegraph.__file__).parent / "runtime" / "include"
MARK: Final = ".scalegraph.mpi"
NAMES: Final[dict[Language, str]] = {
    "c": "scalegraph-mpicc",
    "c++": "scalegraph-mpicxx",
    "fortran": "scalegraph-mpifort",
}
_LINK: Final = "-lm"  # CMake expects MPI to have a library; ours is always linked
# Our library replaces these: a library of the host would take its place.
_LIBRARIES: Final = ("mpi", "mpich", "mpicxx", "mpi_cxx", "mpifort", "mpichf90", "mpi_mpifh", "mpi_usempif08", "pmpi")


def include_options(language: Language, *, first: bool) -> tuple[str, ...]:
    """Return the options by which a compiler of *language* finds our headers: before the user's directories, or after.

    Placed after, the user's own ``mpi.h`` takes precedence, in a program that can be built without MPI. Fortran's
    headers are made on first use.
    """
    if language == "fortran":
        from scalegraph.toolchain.mpi_fortran import fortran_headers

        # mpif.h does not declare arguments, so gfortran takes those of the first call for all
        return f"-I{fortran_headers(find_compiler('fortran'), INCLUDE)}", "-fallow-argument-mismatch"
    return (f"-I{INCLUDE}",) if first else ("-isystem", str(INCLUDE))


def is_library(word: str) -> bool:
    """Return whether a linker option names an MPI library, which ours replaces."""
    return word.startswith("-l") and word[2:] in _LIBRARIES


def is_mpi(executable: Path) -> bool:
    """Return whether the linked *executable* is an MPI program; raise `InputError` if it is not an ELF file."""
    from scalegraph.instrument.units import section

    return section(executable, MARK) is not None


def answer(language: Language, behind: str, words: Sequence[str]) -> str | None:
    """Return the MPI compiler's answer to *words*, None if they ask for none.

    As in MPICH: ``-show``, ``-compile_info``, ``-link_info``; as in Open MPI: ``-showme``, with ``:compile``,
    ``:link``, ``:incdirs``, ``:libdirs``, ``:libs``, ``:command``, ``:version``. *behind*: the compiler of ours that
    does the same with the options in the answer.
    """
    found = next((word for word in words if _asked(word)), None)
    if found is None:
        return None
    what = _asked(found)
    options = " ".join(include_options(language, first=True))
    others = " ".join(word for word in words if not _asked(word))
    places = " ".join(word.removeprefix("-I") for word in options.split() if word.startswith("-I"))
    answers = {
        "show": " ".join(filter(None, (behind, options, others, _LINK))),
        "compile_info": f"{behind} {options} -c",
        "link_info": f"{behind} {_LINK}",
        "compile": options,
        "link": _LINK,
        "incdirs": places,
        "libdirs": "",
        "libs": _LINK.removeprefix("-l"),
        "command": behind,
        "version": f"{NAMES[language]}: ScaleGraph {scalegraph.__version__}",
    }
    return answers[what].strip() if what in answers else f"{NAMES[language]}: no answer to {found}"


def _asked(word: str) -> str:
    """Return the information that *word* requests from the MPI compiler, empty if none."""
    if not word.startswith("-"):
        return ""
    plain = word.lstrip("-").replace("-", "_")
    if plain.startswith("showme:"):
        return plain.removeprefix("showme:")
    return {"show": "show", "showme": "show"}.get(plain, plain if plain in ("compile_info", "link_info") else "")
