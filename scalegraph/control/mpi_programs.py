"""Detects MPI programs, for targets that build these with this computer's MPI library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scalegraph.base.patterns import pattern
from scalegraph.instrument.units import section
from scalegraph.runtime.languages import language_of

_INCLUDES: Final = pattern(r"""^\s*#\s*include\s*[<"]mpi(cxx|\+\+)?\.h[>"]""", re.MULTILINE)
_USES: Final = pattern(
    r"""^\s*(use\s*(,\s*\w+\s*::)?\s*mpi(_f08)?\b|#?\s*include\s*['"]mpif\.h['"])""", re.MULTILINE | re.IGNORECASE
)
_OWN: Final = pattern(r'^\s*#\s*include\s*"(?P<name>[^"\n]+)"', re.MULTILINE)
_DIRECTORY: Final = re.compile(r"-I\s*(\S+)")
_LARGEST: Final = 32 * 2**20
_CALLED: Final = (b"MPI_Init", b"MPI_Init_thread")  # by the monitor, as the library's PMPI_.. functions


def sources_use_mpi(
    sources: Sequence[Path | str], include: Sequence[Path | str], cflags: Sequence[str], where: Path
) -> bool:
    """Return whether one of *sources*, or a header it includes, includes MPI's header or uses its module.

    *include*, *cflags*: where headers are searched, besides the directory of the including file; *where*: base of
    relative names. Preprocessor conditions are not evaluated.
    """
    directories = [where / item for item in (*include, *_DIRECTORY.findall(" ".join(cflags)))]
    seen: set[Path] = set()
    left = [where / source for source in sources if language_of(str(source)) is not None]
    while left:
        path = left.pop()
        if path in seen or not path.is_file() or path.stat().st_size > _LARGEST:
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        fortran = language_of(path.name) == "fortran"
        if _INCLUDES.search(text) or (fortran and _USES.search(text)):
            return True
        left += [place / found["name"] for found in _OWN.finditer(text) for place in (path.parent, *directories)]
    return False


def links_mpi(executable: Path) -> bool:
    """Return whether *executable*, built for this computer, was linked as an MPI program.

    Raises `InputError` if it is not an ELF file.
    """
    names = (section(executable, ".dynstr") or b"").split(b"\0")
    return any(name.endswith(_CALLED) for name in names)
