"""The language of a source file, by its name, by the rules of compilers."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final, Literal, TypeAlias

Language: TypeAlias = Literal["c", "c++", "fortran"]

# -x value -> language; "assembler" and preprocessed text are compiled unchanged.
_SOURCES: Final[dict[Language, tuple[str, ...]]] = {
    "c": (".c",),
    "c++": (".cpp", ".cc", ".cxx", ".C", ".c++", ".cp", ".CPP"),
    "fortran": (
        ".f",
        ".for",
        ".ftn",
        ".f90",
        ".f95",
        ".f03",
        ".f08",
        ".F",
        ".FOR",
        ".FTN",
        ".F90",
        ".F95",
        ".F03",
        ".F08",
        ".fpp",
        ".FPP",
    ),
}
_BY_SUFFIX: Final = {suffix: language for language, suffixes in _SOURCES.items() for suffix in suffixes}
SOURCE_SUFFIXES: Final = tuple(_BY_SUFFIX)
PLAIN: Final = (".i", ".ii", ".s", ".S", ".sx")  # compiled unchanged: preprocessed text and assembler
LINKED: Final = (".o", ".a", ".so", ".lo", ".obj")  # read only by the linker
FIXED_FORM: Final = (".f", ".for", ".ftn", ".F", ".FOR", ".FTN", ".fpp", ".FPP")
EXPECTED: Final = "C (.c), C++ (.cpp .cc .cxx), Fortran (.f .f90 .F90), assembler (.s .S), objects and archives (.o .a)"


def language_of(name: str) -> Language | None:
    """Return the language of the source *name*, None if its extension is not that of a source."""
    return _BY_SUFFIX.get(PurePath(name).suffix)


def is_program_part(name: str) -> bool:
    """Return whether *name* may be listed among a program's sources: a source, assembler, an object or an archive."""
    return language_of(name) is not None or PurePath(name).suffix in (*PLAIN, *LINKED)


def is_executable(path: Path) -> bool:
    """Return whether the file at *path* is an ELF executable, whatever its name (``cg.S`` may be one)."""
    try:
        with path.open("rb") as stream:
            head = stream.read(18)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and head[16:17] in (b"\x02", b"\x03")  # fixed-address or PIE, but no object
