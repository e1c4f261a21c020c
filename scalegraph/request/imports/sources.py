"""Finds the program text of a trace in a folder that the user names, by the files that regions name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from scalegraph.base.cancel import CancelToken

if TYPE_CHECKING:  # the window imports this before it is shown, and must not wait for numpy
    from scalegraph.traces.model import Trace

MOST_FILES: Final = 200_000  # searched below a folder: for a home directory this takes some seconds
_NEVER: Final = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})


def named(trace: Trace) -> list[str]:
    """Return the files named by regions with a line, as in the trace, sorted."""
    return sorted({region.file for region in trace.definitions.regions if region.file and region.line > 0})


def below(trace: Trace, folder: Path, cancel: CancelToken | None = None) -> Mapping[str, Path]:
    """Return the paths, at or below *folder*, of the files that regions of *trace* name, by the name in the trace.

    Files are found by their base name. Among several the best match is the one that shares most of the end of the path,
    then the least deep, then the first by path. Names without a file are left out, as are files beyond the first
    `MOST_FILES`.
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
    """Return the parts of a path in the notation of any system."""
    return PurePosixPath(name.replace("\\", "/")).parts or (name,)


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Return how many parts are equal, from the end."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _files(folder: Path, cancel: CancelToken | None) -> Iterator[Path]:
    count = 0
    for home, folders, files in os.walk(folder):  # directories that cannot be listed are skipped
        if cancel is not None:
            cancel.check()
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        for name in files:
            count += 1
            if count > MOST_FILES:
                return
            yield Path(home, name)
