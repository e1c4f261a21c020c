"""MPI programs: where our headers are, the compilers for them and what these answer, how a program is known as one.

``scalegraph-mpicc`` is ``scalegraph-cc`` with our ``mpi.h`` on its include path; there is nothing more to link, as the
simulator's library has the functions. Every object that includes our ``mpi.h``, and the object of the library that
serves Fortran's calls, has a section `MARK`; so has the program that they are linked to.
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
_LINK: Final = "-lm"  # CMake holds that an MPI has a library; ours is linked in any case
# Our library serves these: a library of the host would take their place.
_LIBRARIES: Final = ("mpi", "mpich", "mpicxx", "mpi_cxx", "mpifort", "mpichf90", "mpi_mpifh", "mpi_usempif08", "pmpi")


def include_options(language: Language, *, first: bool) -> tuple[str, ...]:
    """Return the options by which a compiler of *language* finds our headers: before the user's directories, or after.

    Behind them an ``mpi.h`` of the user's own counts, of a program that can be built without MPI. Fortran's headers
    are made when they are first needed.
    """
    if language == "fortran":
        from scalegraph.toolchain.mpi_fortran import fortran_headers

        # mpif.h says nothing of arguments, and gfortran takes the first call's for those of all
        return f"-I{fortran_headers(find_compiler('fortran'), INCLUDE)}", "-fallow-argument-mismatch"
    return (f"-I{INCLUDE}",) if first else ("-isystem", str(INCLUDE))


def is_library(word: str) -> bool:
    """Return whether an option of the linker names an MPI library, which ours stands for."""
    return word.startswith("-l") and word[2:] in _LIBRARIES


def is_mpi(executable: Path) -> bool:
    """Return whether the linked *executable* is an MPI program; raise `InputError` if it is no ELF file."""
    from scalegraph.instrument.units import section

    return section(executable, MARK) is not None


def answer(language: Language, behind: str, words: Sequence[str]) -> str | None:
    """Return what a compiler for MPI answers to *words*, None if they request no answer of it.

    As MPICH's answer: ``-show``, ``-compile_info``, ``-link_info``; as Open MPI's: ``-showme``, with ``:compile``,
    ``:link``, ``:incdirs``, ``:libdirs``, ``:libs``, ``:command``, ``:version``. *behind*: the compiler of ours that
    does the same with the options of the answer.
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
    """Return what *word* requests the compiler for MPI to answer, empty if nothing."""
    if not word.startswith("-"):
        return ""
    plain = word.lstrip("-").replace("-", "_")
    if plain.startswith("showme:"):
        return plain.removeprefix("showme:")
    return {"show": "show", "showme": "show"}.get(plain, plain if plain in ("compile_info", "link_info") else "")
