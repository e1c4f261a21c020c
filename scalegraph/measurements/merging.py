"""Merges several sets with the same parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


def merged(sets: Sequence[MeasurementSet]) -> MeasurementSet:
    """Return one set with the points, call paths and metrics of all; further values at the same place are repetitions.

    Raises `InputError` if parameters differ, or a metric has another unit or extent in another file.
    """
    if len(sets) == 1:
        return sets[0]
    first = sets[0]
    for other in sets[1:]:
        if set(other.parameters) != set(first.parameters):
            theirs = ", ".join(other.parameters) or "none"
            ours = ", ".join(first.parameters) or "none"
            message = f"has the parameters {theirs}; {ours} were expected, as in {_file(first)}"
            raise InputError(Fault(message, file=_file(other)))
    names = list(first.parameters)
    metrics: dict[str, Metric] = {}
    paths: list[CallPath] = []
    known: dict[tuple[int | None, str], int] = {}
    parts = []
    offset = 0
    for number, one in enumerate(sets):
        own_metrics = np.array([_metric(metric, metrics, one) for metric in one.metrics], dtype=np.int64)
        own_paths = np.array(_paths(one, paths, known), dtype=np.int64)
        table = one.values
        parts.append(
            pd.DataFrame(
                {
                    "point": table["point"].to_numpy(dtype=np.int64) + offset,
                    "call_path": own_paths[table["call_path"]],
                    "metric": own_metrics[table["metric"]],
                    "repetition": table["repetition"].to_numpy(dtype=np.int64),
                    "value": table["value"].to_numpy(),
                    "set": number,
                }
            )
        )
        offset += len(one.points)
    stacked = pd.concat([one.points[names] for one in sets], ignore_index=True)
    points, code = _points(stacked, names)
    values = pd.concat(parts, ignore_index=True)
    values["point"] = code[values["point"]]
    values["repetition"] = renumbered(values["point"], values["set"], values["repetition"])
    return MeasurementSet(
        parameters=first.parameters,
        points=points,
        call_paths=tuple(paths),
        metrics=tuple(metrics.values()),
        values=values.drop(columns="set"),
        format=first.format,
        files=tuple(file for one in sets for file in one.files),
        title=first.title,
        notes=tuple(dict.fromkeys(note for one in sets for note in one.notes)),
        remarks=tuple(dict.fromkeys(remark for one in sets for remark in one.remarks)),
        skipped=tuple(skipped for one in sets for skipped in one.skipped),
    )


def _file(one: MeasurementSet) -> str:
    return one.files[0] if one.files else one.title


def _metric(metric: Metric, metrics: dict[str, Metric], one: MeasurementSet) -> int:
    known = metrics.setdefault(metric.name, metric)
    if (known.unit, known.extent) != (metric.unit, metric.extent):
        message = (
            f"metric '{metric.name}' is {metric.extent}, in '{metric.unit}', but in the files before {known.extent}, "
            f"in '{known.unit}'; the same was expected"
        )
        raise InputError(Fault(message, file=_file(one)))
    return list(metrics).index(metric.name)


def _paths(one: MeasurementSet, paths: list[CallPath], known: dict[tuple[int | None, str], int]) -> list[int]:
    """Return the positions of *one*'s call paths among *paths*, which grow; siblings with the same name stay apart."""
    place: list[int] = []
    seen: dict[tuple[int | None, str], int] = {}
    for path in one.call_paths:
        parent = None if path.parent is None else place[path.parent]
        again = seen.get((parent, path.name), 0)
        seen[parent, path.name] = again + 1
        key = (parent, f"{path.name}\0{again}")
        if key not in known:
            known[key] = len(paths)
            paths.append(CallPath(path.name, parent, path.file, path.line))
        place.append(known[key])
    return place


def _points(stacked: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, Ints]:
    if not names:
        return pd.DataFrame(index=pd.RangeIndex(1)), np.zeros(len(stacked), dtype=np.int64)
    code = stacked.groupby(names, sort=False, dropna=False).ngroup().to_numpy().astype(np.int64)
    return stacked.drop_duplicates().reset_index(drop=True), code


def renumbered(points: ArrayLike, parts: ArrayLike, repetitions: ArrayLike) -> Ints:
    """Return repetitions numbered so that those of a later part follow those of an earlier one at the same point.

    Shape (values,) of all: *parts* are the sets or points that the values come from.
    """
    table = pd.DataFrame({"point": np.asarray(points), "part": np.asarray(parts), "at": np.asarray(repetitions)})
    most = table.groupby(["point", "part"], sort=True)["at"].max() + 1
    before = most.groupby(level="point").cumsum() - most
    key = pd.MultiIndex.from_frame(table[["point", "part"]])
    made: Ints = (table["at"].to_numpy() + before.reindex(key).to_numpy()).astype(np.int64)
    return made
