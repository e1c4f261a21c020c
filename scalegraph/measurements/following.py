"""Redundant parameters: a processor's share of a size, the number of nodes that the ranks fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.measurements import grids, names
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import varies

_ROUNDED = 0.02  # shares are whole numbers, so share times processors is not exactly the size


def following(measured: MeasurementSet, processors: str, grid: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that follow from the number of *processors* and the others, in the order of the set.

    Such a parameter must not distinguish problems: otherwise no problem would have runs on several processor counts. It
    is a number that multiplied by *processors* stays the same for one problem (``n_local``), or another processor count
    that never falls while *processors* rises (``nodes`` next to ``ranks``). The sides of a *grid* of processes
    (`grids.of`) are redundant, too.
    """
    found: list[str] = list(grid)
    points = measured.points
    for name in measured.parameters:
        column = points[name]
        if (
            name == processors
            or name in found
            or not pd.api.types.is_numeric_dtype(column.dtype)
            or column.nunique() < 2
        ):
            continue
        others = [other for other in measured.parameters if other not in (processors, name, *found)]
        layout = names.counts_processors(name)
        if layout:  # nodes and the ranks on them, which change together
            others = [one for one in others if not (names.counts_processors(one) and _together(points, name, one))]
        groups = [rows for _, rows in points.groupby(others, dropna=False)] if others else [points]
        groups = [rows for rows in groups if len(set(rows[processors])) > 1]
        if not groups:
            continue
        if all(_share(rows, name, processors) or (layout and _rises(rows, name, processors)) for rows in groups):
            found.append(name)
    return tuple(name for name in measured.parameters if name in found)


def _together(points: pd.DataFrame, name: str, other: str) -> bool:
    """Whether each value of one parameter comes with one value of the other only."""
    pairs = len(points[[name, other]].drop_duplicates())
    return bool(pairs == points[name].nunique() == points[other].nunique())


def named_without_counts(measured: MeasurementSet, processors: str) -> MeasurementSet:
    """Return the set with the number of *processors* removed from texts that hold it at one place (``heat_p4``).

    The name of a job or file, which differs for every number of processors, then distinguishes no problems, or only by
    the rest of it: ``heat_p#``.
    """
    points = measured.points
    if processors not in points or not varies(points[processors]):
        return measured
    counts = [str(int(count)) for count in points[processors].to_numpy(dtype=np.float64)]
    made, changed = points.copy(), []
    for name in measured.parameters:
        if pd.api.types.is_numeric_dtype(points[name].dtype) or not varies(points[name]):
            continue
        texts = [str(text) for text in points[name]]
        if grids.products(points[name]) is None and (found := names.without_counts(texts, counts)):
            made[name] = found
            changed.append(name)
    if not changed:
        return measured
    remark = f"the texts of {', '.join(changed)} hold the number of processors, which was taken out of them (#)"
    return replace(measured, points=made, remarks=(*measured.remarks, remark))


def filled(measured: MeasurementSet, name: str, others: Sequence[str]) -> bool:
    """Whether *name* counts the nodes filled by one of the *others*: never more, and always equal for equal counts."""
    points = measured.points
    return names.counts_nodes(name) and any(
        bool((points[other] >= points[name]).all()) and _rises(points, name, other)
        for other in others
        if not names.counts_nodes(other)
    )


def _share(rows: pd.DataFrame, name: str, processors: str) -> bool:
    """Whether the parameter is each processor's share of one size."""
    values = rows[name].to_numpy(dtype=np.float64)
    counts = rows[processors].to_numpy(dtype=np.float64)
    sizes = values * counts
    middle = float(np.median(sizes))
    rounded = counts / 2 if (values == np.floor(values)).all() else np.zeros(len(counts))
    alike = rows.groupby(processors)[name].nunique().max() == 1
    near = np.abs(sizes - middle) <= np.maximum(_ROUNDED * middle, rounded)
    return bool(alike and (values > 0).all() and near.all())


def _rises(rows: pd.DataFrame, name: str, processors: str) -> bool:
    """Whether each number of processors has one value, which never falls as processors are added."""
    each = rows.groupby(processors)[name].agg(["min", "max"])
    return bool((each["min"] == each["max"]).all() and each["min"].is_monotonic_increasing)
