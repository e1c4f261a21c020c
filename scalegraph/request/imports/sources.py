"""Program text of a trace in a folder that the user names: which of its files hold what the regions name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from scalegraph.base.cancel import CancelToken

if TYPE_CHECKING:  # the window imports this before it is shown, and must not wait for numpy
    from scalegraph.traces.model import Trace

MOST_FILES: Final = 200_000  # that are viewed below a folder: a home directory ends after some seconds
_NEVER: Final = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


def named(trace: Trace) -> list[str]:
    """Return the files that regions with a line name, as the trace names them, sorted."""
    return sorted({region.file for region in trace.definitions.regions if region.file and region.line > 0})


def below(trace: Trace, folder: Path, cancel: CancelToken | None = None) -> Mapping[str, Path]:
    """Return where the files that regions of *trace* name are at or below *folder*, by the name in the trace.

    A file is found by its name. Where several have it, the one that shares most of the named path's end is chosen, of
    those the one least deep, of those the first by path. Names that no file has are left out, also those behind the
    first `MOST_FILES` files.
    """
    wanted = {name: _parts(name) for name in named(trace)}
    by_last: dict[str, list[str]] = {}
    for name, parts in wanted.items():
        by_last.setdefault(parts[-1], []).append(name)
    best: dict[str, tuple[tuple[int, int, str], Path]] = {}
    for file in _files(folder, cancel):
        for name in by_last.get(file.name, ()):
            rank = (-_shared(wanted[name], file.parts), len(file.parts), str(file))
            if name not in best or rank < best[name][0]:
                best[name] = (rank, file)
    return {name: file for name, (_rank, file) in sorted(best.items())}


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a path as any system writes it."""
    return PurePosixPath(name.replace("\\", "/")).parts or (name,)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many parts are the same from the end."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _files(folder: Path, cancel: CancelToken | None) -> Iterator[Path]:
    count = 0
    for home, folders, files in os.walk(folder):  # what cannot be listed is left out
        if cancel is not None:
            cancel.check()
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        for name in files:
            count += 1
            if count > MOST_FILES:
                return
            yield Path(home, name)
