"""Rows for each processor of a run (``rank`` 0, 1, .. beside ``np``): a run takes as long as the slowest of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.measurements import names
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.runs import varies

_MEMBERS = names.words(
    "rank thread process proc pe core cpu gpu device worker task node image locale id tid pid gid myid index number"
)


def joined(measured: MeasurementSet, processors: str, sizes: Sequence[str]) -> MeasurementSet:
    """Return the set with one point for all processors of a run, and a remark; unchanged if none are numbered.

    A parameter numbers them if its name says so (``rank``, ``thread_id``) and at every number of processors its values
    are exactly 0, 1, .. or 1, 2, .. up to that number. Times are the longest of them, counts their sum, and other
    metrics their mean. *sizes*: never such numbers.
    """
    numbering = next((name for name in measured.parameters if _numbers(measured, processors, name)), "")
    if not numbering or numbering in sizes:
        return measured
    rest = [name for name in measured.parameters if name != numbering]
    fewer = measured.points[rest]
    code = fewer.groupby(rest, sort=False, dropna=False).ngroup().to_numpy(dtype=np.int64)
    kinds = np.array([metric.kind for metric in measured.metrics], object)
    values = measured.values.assign(point=code[measured.values["point"]])
    kind = kinds[values["metric"].to_numpy(dtype=np.int64)]
    keys = ["point", "call_path", "metric", "repetition"]
    parts = [
        values[chosen].groupby(keys, sort=False)["value"].agg(how).reset_index()
        for chosen, how in (
            (kind == "time", "max"),
            ((kind == "count") | (kind == "bytes"), "sum"),
            (np.isin(kind, ("other", "ratio")), "mean"),
        )
        if chosen.any()
    ]
    remark = f"'{numbering}' numbers the {processors} of each run: its time is that of the slowest of them"
    return replace(
        measured,
        points=fewer.drop_duplicates().reset_index(drop=True),
        parameters=tuple(rest),
        values=pd.concat(parts, ignore_index=True),
        remarks=(*measured.remarks, remark),
    )


def _numbers(measured: MeasurementSet, processors: str, name: str) -> bool:
    """Whether *name* numbers the processors of each run."""
    points = measured.points
    if name == processors or processors not in points or not varies(points[processors]):
        return False
    if names.counts_processors(name) and names.plain(name).endswith("s"):  # `threads` beside `ranks`
        return False
    if not _MEMBERS & set(names.plain(name).split("_")):
        return False
    if any(not pd.api.types.is_integer_dtype(points[one].dtype) for one in (name, processors)):
        return False
    others = [one for one in measured.parameters if one != name]
    groups = points.groupby(others, dropna=False)[name].agg(["min", "max", "count", "nunique"]).reset_index()
    first, counts = int(groups["min"].min()), groups[processors]
    whole = (groups["min"] == first) & (groups["max"] == counts - 1 + first) & (groups["nunique"] == counts)
    return first in (0, 1) and bool(whole.all()) and bool((groups["count"] == counts).all())
