"""Grids of processes: parameters whose product is the number of processors, by their names and by arithmetic."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pandas as pd

from scalegraph.measurements import names
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import varies

_MOST = 12  # parameters among which factors are searched
_AXIS = re.compile(
    r"^(?:n?p|np|n?procs?|npes?|pes?|n?ranks?|n?tasks?|mpi|dims?|grid|decomp)_?(?:x|y|z|i|j|k|rows?|cols?|r|c|[0-3])$|"
    r"^(?:x|y|z)_?(?:procs?|ranks?|tasks?|pes?)$|^n?p(?:row|col)s?$"
)

_TEXT = re.compile(r"\s*\d{1,9}(?:\s*[x×*]\s*\d{1,9})+\s*", re.IGNORECASE)  # 2x2, 4 x 4 x 2


def _is_axis(name: str) -> bool:
    """Whether *name* is one that people give to a side of a grid of processes: ``px``, ``nprow``, ``procs_y``."""
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


def of(measured: MeasurementSet, processors: str) -> tuple[str, ...]:
    """Return the parameters whose product is *processors* at every point, empty where none are.

    At least two sides must vary, or all are named as sides are: of ``n`` that happens to be the number of processors
    in weak scaling, and a constant, nothing follows.
    """
    points = measured.points
    if processors not in points or not varies(points[processors]) or processors not in _sides(measured):
        return ()
    counts = points[processors].to_numpy(dtype=np.float64)
    for name in measured.parameters:
        if name != processors and (written := _written(points[name])) is not None and (written == counts).all():
            return (name,)
    sides = [name for name in _sides(measured) if name != processors][:_MOST]
    for count in (4, 3, 2):
        for chosen in combinations(sides, count):
            product = points[list(chosen)].to_numpy(dtype=np.float64).prod(axis=1)
            if not (product == counts).all():
                continue
            moving = [name for name in chosen if varies(points[name])]
            if all(map(_is_axis, chosen)):
                return chosen
            if len(moving) == len(chosen) and not any(names.plain(name) in names.SIZES for name in chosen):
                return chosen
    return ()


def _written(column: pd.Series) -> Floats | None:
    """Return the products of a column whose texts are all grids, as ``2x2``; None for any other."""
    texts = [str(value) for value in column]
    if not all(_TEXT.fullmatch(text) for text in texts):
        return None
    return np.array([math.prod(int(side) for side in re.findall(r"\d+", text)) for text in texts], np.float64)


def alone(measured: MeasurementSet) -> tuple[str, ...]:
    """Return the sides of a grid of processes where no parameter but they, or nodes, counts processors."""
    sides = [name for name in _sides(measured) if _is_axis(name)]
    short = {names.plain(name): name for name in _sides(measured)}
    if len(sides) < 2 and {"p", "q"} <= short.keys():  # as HPL and ScaLAPACK call them
        sides = [short["p"], short["q"]]
    if len(sides) < 2 or not any(varies(measured.points[name]) for name in sides):
        return ()
    others = [
        name
        for name in measured.parameters
        if name not in sides and names.counts_processors(name) and not names.counts_nodes(name)
    ]
    return () if others else tuple(sides)
