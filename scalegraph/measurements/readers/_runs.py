"""Reports of single runs: one point, with the parameters in the name of the file or its directory."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import InputError
from scalegraph.measurements.names import counts_processors
from scalegraph.measurements.readers._names import parse_names


def named_point(path: Path, counted: str, count: int) -> dict[str, float]:
    """Return the parameters of the run at *path*: from its name (``app.p4.n10.r1.txt``), otherwise its directory's.

    If none of them counts processors, *counted* does, with *count* from the file.
    """
    absolute = path.absolute()
    for name in (absolute.name if path.is_dir() else absolute.stem, absolute.parent.name):
        try:
            found = parse_names([name], str(absolute.parent))[0].parameters
        except InputError:
            continue
        if "." in name:
            return found if any(map(counts_processors, found)) else {counted: count, **found}
    return {counted: count}
