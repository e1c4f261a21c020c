"""Reports of single runs: one point, with the parameters that the name of the file or its directory says."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.errors import InputError
from scalegraph.measurements.names import counts_processors
from scalegraph.measurements.readers._names import parse_names


def named_point(path: Path, counted: str, count: int) -> dict[str, float]:
    """Return the parameters of the run at *path*: those of its name (``app.p4.n10.r1.txt``), else of its directory's.

    Where none of them counts processors *counted* does, with *count* as the file says.
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
