"""Parameters that say nothing new: a processor's share of a size, the nodes that a number of ranks fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.measurements import grids, names
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import varies

_ROUNDED = 0.02  # shares are whole numbers, so that share times processors is not quite the size


def following(measured: MeasurementSet, processors: str, grid: Sequence[str]) -> tuple[str, ...]:
    """Return the parameters that follow from the number of *processors* and the others, in the order of the set.

    Such a parameter distinguishes no problems, and with it no run would have another of the same problem on more
    processors: a number times *processors* that stays the same for one problem (``n_local``), and another count of
    processors that never falls while *processors* rises (``nodes`` beside ``ranks``). The sides of a *grid* of
    processes (`grids.of`) are such.
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
        groups = [rows for _, rows in points.groupby(others, dropna=False)] if others else [points]
        groups = [rows for rows in groups if len(set(rows[processors])) > 1]
        if not groups:
            continue
        layout = names.counts_processors(name)
        if all(_share(rows, name, processors) or (layout and _rises(rows, name, processors)) for rows in groups):
            found.append(name)
    return tuple(name for name in measured.parameters if name in found)


def named_without_counts(measured: MeasurementSet, processors: str) -> MeasurementSet:
    """Return the set with texts that hold the number of *processors* at one place (``heat_p4``) without it.

    So a job's or a file's name, which differs at every number of processors, tells no problems apart, or only those
    that the rest of it tells apart: ``heat_p#``.
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
    """Whether *name* counts the nodes that one of the *others* fills: never more, and the same for the same number."""
    points = measured.points
    return names.counts_nodes(name) and any(
        bool((points[other] >= points[name]).all()) and _rises(points, name, other)
        for other in others
        if not names.counts_nodes(other)
    )


def _share(rows: pd.DataFrame, name: str, processors: str) -> bool:
    """Whether the parameter is what each processor has of one size."""
    values = rows[name].to_numpy(dtype=np.float64)
    counts = rows[processors].to_numpy(dtype=np.float64)
    sizes = values * counts
    middle = float(np.median(sizes))
    return bool((values > 0).all() and (np.abs(sizes - middle) <= np.maximum(_ROUNDED * middle, counts / 2)).all())


def _rises(rows: pd.DataFrame, name: str, processors: str) -> bool:
    """Whether each number of processors has one value, and more processors have no less."""
    each = rows.groupby(processors)[name].agg(["min", "max"])
    return bool((each["min"] == each["max"]).all() and each["min"].is_monotonic_increasing)
