"""Process grids: parameters whose product is the number of processors, found by name and arithmetic."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from scalegraph.measurements import names
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import varies

_MOST = 12  # parameters searched for factors
_AXIS = re.compile(
    r"^(?:n?p|np|n?procs?|npes?|pes?|n?ranks?|n?tasks?|mpi|dims?|grid|decomp)_?(?:x|y|z|i|j|k|rows?|cols?|r|c|[0-3])$|"
    r"^(?:x|y|z)_?(?:procs?|ranks?|tasks?|pes?)$|^n?p(?:row|col)s?$"
)

_BETWEEN = r"(?:\s*[x\u00d7*\u2217]\s*|\s+by\s+)"  # 2x2, 4 x 4 x 2, 2 by 2
_TEXT = re.compile(rf"\d{{1,9}}(?:{_BETWEEN}\d{{1,9}})+", re.IGNORECASE)
_TUPLE = re.compile(rf"[(\[{{<]\s*\d{{1,9}}(?:(?:\s*[,;]\s*|\s+|{_BETWEEN})\d{{1,9}})+\s*[)\]}}>]", re.IGNORECASE)
_PROCESSES = re.compile(
    r"(?:^|_)(?:n?procs?|process(?:es|ors?)?|n?ranks?|n?tasks?|mpi|n?pes?|decomp(?:osition)?|topo(?:logy)?|layout|"
    r"cart|threads?|cores?|domains?)(?:_|$)"
)


def _is_axis(name: str) -> bool:
    """Whether *name* is a usual name for a side of a process grid: ``px``, ``nprow``, ``procs_y``."""
    return bool(_AXIS.match(names.plain(name)))


def _sides(measured: MeasurementSet) -> list[str]:
    """Return the parameters that may be a side: whole numbers of 1 or more."""
    made = []
    for name in measured.parameters:
        column = measured.points[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=np.float64)
            if ((values >= 1) & (values == np.floor(values)) & (values < 2**31)).all():
                made.append(name)
    return made


def sides(cell: str) -> tuple[int, ...]:
    """Return the sides of a grid written in one cell (``2x2``, ``4 by 2``, ``(2, 2)``), empty for any other cell."""
    text = cell.strip()
    if not (_TEXT.fullmatch(text) or _TUPLE.fullmatch(text)):
        return ()
    return tuple(map(int, re.findall(r"\d+", text)))


def are_written(cells: Sequence[str]) -> bool:
    """Whether all *cells* (at least one) are grids."""
    return bool(cells) and all(map(sides, cells))


def products(column: pd.Series) -> Floats | None:
    """Return the products of a column whose texts are all grids, such as ``2x2``; None for any other column."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return None
    texts = [str(value) for value in column]
    return np.array([math.prod(sides(text)) for text in texts], np.float64) if are_written(texts) else None


def of(measured: MeasurementSet, processors: str) -> tuple[str, ...]:
    """Return the parameters whose product is *processors* at every point, empty if there are none.

    At least two sides must vary, or all must be named like sides: an ``n`` that happens to equal the number of
    processors in weak scaling, and a constant, prove nothing.
    """
    points = measured.points
    if processors not in points or not varies(points[processors]) or processors not in _sides(measured):
        return ()
    counts = points[processors].to_numpy(dtype=np.float64)
    for name in measured.parameters:
        if name != processors and (written := products(points[name])) is not None and (written == counts).all():
            return (name,)
    factors = [name for name in _sides(measured) if name != processors][:_MOST]
    for count in (4, 3, 2):
        for chosen in combinations(factors, count):
            product = points[list(chosen)].to_numpy(dtype=np.float64).prod(axis=1)
            if not (product == counts).all():
                continue
            moving = [name for name in chosen if varies(points[name])]
            if all(map(_is_axis, chosen)):
                return chosen
            if len(moving) == len(chosen) and not any(names.plain(name) in names.SIZES for name in chosen):
                return chosen
    return ()


def counting(measured: MeasurementSet) -> list[str]:
    """Return the text parameters whose grids count processes: by name, by a 1 x 1 grid, or because times fall.

    A 1 x 1 grid cannot be a problem's cells, and no problem takes less time with more cells.
    """
    found = []
    for name in measured.parameters:
        counts = products(measured.points[name])
        if counts is None or not (counts.max() > counts.min() >= 1 and counts.max() < 2**31):
            continue
        size = names.plain(name) in names.SIZES - {"grid", "dims", "dim"}
        if _PROCESSES.search(names.plain(name)) or (not size and (counts.min() == 1 or _fall(measured, counts))):
            found.append(name)
    return found


def _fall(measured: MeasurementSet, counts: Floats) -> bool:
    """Whether times are lower at the largest grids than at the smallest."""
    timed = [index for index, metric in enumerate(measured.metrics) if metric.kind == "time"]
    values = measured.values[measured.values["metric"].isin(timed)]
    there = counts[values["point"]]
    few, many = (values["value"][there == bound] for bound in (counts.min(), counts.max()))
    return bool(len(few) and len(many) and many.median() < few.median())


def alone(measured: MeasurementSet) -> tuple[str, ...]:
    """Return the sides of a process grid, or the one text parameter that holds them.

    Empty if another parameter that varies counts processors, unless it counts nodes.
    """
    others = [name for name in measured.parameters if names.counts_processors(name) and not names.counts_nodes(name)]
    if len(written := counting(measured)) == 1 and not any(
        varies(measured.points[name]) for name in others if name not in written
    ):
        return tuple(written)
    known = _sides(measured)
    chosen = [name for name in known if _is_axis(name)]
    short = {names.plain(name): name for name in known}
    if len(chosen) < 2 and {"p", "q"} <= short.keys():  # as named by HPL and ScaLAPACK
        chosen = [short["p"], short["q"]]
    if len(chosen) < 2 or not any(varies(measured.points[name]) for name in chosen):
        return ()
    return () if any(name not in chosen for name in others) else tuple(chosen)
