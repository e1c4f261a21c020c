"""Parameters that distinguish problems: sizes do, numbers that each run yields (iterations, checksums) do not."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

import numpy as np
import pandas as pd

from scalegraph.base.speeds import speeds
from scalegraph.measurements import grids
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import varies

_ALONE = 0.5  # share of points that have another of their problem; below it a parameter may not be a size
_TOGETHER = 0.9  # the same share without the parameter; above it the parameter is to blame
_GROWTH = 0.3  # minimum exponent in the processors with which a size of weak scaling grows (an edge of a cube: 1/3)


def question(measured: MeasurementSet, processors: str, left: Sequence[str], *, weak: bool) -> Question | None:
    """Return the question about parameters that differ in nearly every run, None if there are none.

    *left*: the parameters other than processor counts. A size that grows with the processors is not in question.
    *weak*: the user said that this is weak scaling, so that texts may be names of the grown problems.
    """
    numeric = [name for name in left if _varying_number(measured.points[name])]
    if not weak and (texts := splitting_texts(measured, processors, left)):
        return _of_texts(measured, processors, left, texts)
    found = next((([name]) for name in numeric if _splits(measured, processors, left, [name])), [])
    if not found:
        many = [name for name in numeric if measured.points[name].nunique() > _ALONE * len(measured.points)]
        found = many if len(many) > 1 and _splits(measured, processors, left, many) else []
    if not found:
        return None
    kept = [name for name in left if name not in found and pd.api.types.is_numeric_dtype(measured.points[name].dtype)]
    without, whole = ",".join(kept) or "none", ",".join([*kept, *found])
    listed = " and ".join(f"'{name}'" for name in found)
    verb = "differs" if len(found) == 1 else "differ"
    what = "it is a result" if len(found) == 1 else "they are results"
    size = "it is a size" if len(found) == 1 else "they are sizes"
    message = (
        f"{listed} {verb} at nearly every number of processors, so that hardly two runs are of one problem: a size of "
        "the problem, or a result of the run"
    )
    switch = f"--sizes {quote(without)} if {what}, or --sizes {quote(whole)} if {size}"
    return Question("sizes", message, switch, (without, whole))


def splitting_texts(measured: MeasurementSet, processors: str, left: Sequence[str]) -> list[str]:
    """Return the first text parameter that leaves hardly two runs of one problem, empty if there is none.

    A grid of cells that grows with the processors (``64x64``) is a size, and not in question; nor are speeds of as many
    stations as there are processors (``4*1+2*2.5``).
    """
    points = measured.points
    texts = [name for name in left if varies(points[name]) and not pd.api.types.is_numeric_dtype(points[name].dtype)]
    cells = {name: grids.products(points[name]) for name in texts}
    growing = [
        name
        for name, sizes in cells.items()
        if sizes is not None and _grows(points.assign(**{name: sizes}), processors, name)
    ]
    texts = [name for name in texts if name not in growing and not _are_speeds(points[name], points[processors])]
    return next(([name] for name in texts if _keeps_apart(measured, processors, left, [name])), [])


def _are_speeds(texts: pd.Series, processors: pd.Series) -> bool:
    try:
        return all(len(speeds(str(text))) in (1, count) for text, count in zip(texts, processors, strict=True))
    except ValueError:
        return False


def _of_texts(measured: MeasurementSet, processors: str, left: Sequence[str], found: Sequence[str]) -> Question:
    points = measured.points
    kept = [name for name in left if pd.api.types.is_numeric_dtype(points[name].dtype)]
    without, whole = ",".join(kept) or "none", ",".join([*kept, *found])
    message = (
        f"the texts of '{found[0]}' differ at nearly every number of processors, so that hardly two runs are of one "
        "problem: a remark on the run, or the problem's name"
    )
    switch = f"--sizes {quote(without)} if it is a remark, or --sizes {quote(whole)} if it names the problem"
    rest = [processors, *(name for name in left if name not in found)]
    choices = (whole, without) if points.duplicated(rest).any() else (without, whole)  # names tell these apart
    return Question("sizes", message, switch, choices)


def _varying_number(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype)) and varies(column)


def _splits(measured: MeasurementSet, processors: str, left: Sequence[str], names: Sequence[str]) -> bool:
    """Whether *names* separate runs that would be of one problem, and do not grow with the processors."""
    if not _keeps_apart(measured, processors, left, names):
        return False
    points = measured.points
    others = [name for name in left if name not in names]
    groups = [rows for _, rows in points.groupby(others, dropna=False)] if others else [points]
    return not any(all(_grows(rows, processors, name) for rows in groups) for name in names)


def _keeps_apart(measured: MeasurementSet, processors: str, left: Sequence[str], names: Sequence[str]) -> bool:
    others = [name for name in left if name not in names]
    points = measured.points
    return _shared(points, processors, left) < _ALONE and _shared(points, processors, others) > _TOGETHER


def _shared(points: pd.DataFrame, processors: str, names: Sequence[str]) -> float:
    """Return the share of points whose problem, distinguished by *names*, ran on several processor counts."""
    if not names:
        return float(varies(points[processors]))
    counts = points.groupby(list(names), dropna=False)[processors].transform("nunique")
    return float((counts > 1).mean()) if len(points) else 0.0


def _grows(rows: pd.DataFrame, processors: str, name: str) -> bool:
    """Whether a parameter never falls while processors rise, and grows like a size of weak scaling."""
    each = rows.groupby(processors)[name].agg(["min", "max"])
    if len(each) < 2:
        return True
    counts = each.index.to_numpy(dtype=np.float64)
    first, last = float(each["min"].iloc[0]), float(each["max"].iloc[-1])
    growth = (counts[-1] / max(counts[0], 1.0)) ** _GROWTH
    steady = bool((each["min"] == each["max"]).all() and each["min"].is_monotonic_increasing)
    return steady and first > 0 and last / first >= growth
