"""A measurement set: values of metrics at call paths, measured repeatedly at points of a parameter space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.base.errors import Fault
from scalegraph.base.units import significant, thousands

# What a metric counts; "time" is converted to seconds when used, by its unit.
MetricKind: TypeAlias = Literal["time", "count", "bytes", "ratio", "other"]
# Whether the value at a call path includes those of the paths below it.
Extent: TypeAlias = Literal["inclusive", "exclusive", "unknown"]

VALUE_COLUMNS = ("point", "call_path", "metric", "repetition", "value")
MOST_REPETITIONS = 1_000_000
LEAST, MOST = 1e-150, 1e150  # of nonzero numbers: squares and products of others over- or underflow
_RANGE = "a number from 1e-150 to 1e150, or 0, was expected"

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Metric:
    """A measured quantity. *unit* as in the file, empty if not given."""

    name: str
    unit: str = ""
    kind: MetricKind = "other"
    extent: Extent = "unknown"
    description: str = ""


@dataclass(frozen=True)
class CallPath:
    """A place of the program: a node of the call tree. *parent* is an index into `MeasurementSet.call_paths`.

    *name* is the last part (``MPI_Waitall``); a parent is before its children.
    """

    name: str
    parent: int | None = None
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Skipped:
    """Data that a reader recognised but left out: how much, why, and where it first occurs (``file:line``)."""

    what: str
    count: int
    reason: str
    place: str = ""

    def __str__(self) -> str:
        place = f", first at {self.place}" if self.place else ""
        return f"{self.what} ({thousands(self.count)}): {self.reason}{place}"


@dataclass(frozen=True)
class MeasurementSet:
    """Measured values, columnar.

    *points* has one row per measured point, columns *parameters* (numbers or text), index 0, 1, ..; *values* one row a
    value, columns `VALUE_COLUMNS`: positions in *points*, *call_paths* and *metrics*, number of the repetition from 0,
    and the value (float64, as in the file). Missing values have no row.
    """

    parameters: tuple[str, ...]
    points: pd.DataFrame
    call_paths: tuple[CallPath, ...]
    metrics: tuple[Metric, ...]
    values: pd.DataFrame
    format: str = ""  # name of the reader
    files: tuple[str, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()  # the file's notes for users
    skipped: tuple[Skipped, ...] = field(default=())
    remarks: tuple[str, ...] = ()  # how its points or values were derived, stated with every number that relies on it
    # (point, repetition) -> processes and threads of each, if the points no longer show it; not kept in studies
    splits: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict, compare=False)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Full name of every call path: ``main->solve->MPI_Waitall``."""
        names: list[str] = []
        for path in self.call_paths:
            names.append(path.name if path.parent is None else f"{names[path.parent]}->{path.name}")
        return tuple(names)

    def roots(self) -> Iterator[int]:
        """Yield the call paths without a parent."""
        return (index for index, path in enumerate(self.call_paths) if path.parent is None)

    def metric(self, name: str) -> int:
        """Return the position of metric *name*; raise `KeyError` if there is none."""
        for index, metric in enumerate(self.metrics):
            if metric.name == name:
                return index
        raise KeyError(name)

    def grid(self, metric: int) -> Floats:
        """Return the values of a metric, shape (call paths, points, repetitions); NaN if there is none."""
        mine = self.values[self.values["metric"] == metric]
        repetitions = int(mine["repetition"].max()) + 1 if len(mine) else 1
        grid = np.full((len(self.call_paths), len(self.points), repetitions), np.nan)
        grid[mine["call_path"], mine["point"], mine["repetition"]] = mine["value"]
        return grid

    def with_inside(self, grid: Floats) -> Floats:
        """Return the sums of *grid* (exclusive values by call path first) including everything below each path.

        Missing values count as 0 if others exist; NaN if nothing is known at or below the path.
        """
        total = np.nan_to_num(grid)
        known = ~np.isnan(grid)
        for index in range(len(self.call_paths) - 1, -1, -1):
            parent = self.call_paths[index].parent
            if parent is not None:
                total[parent] += total[index]
                known[parent] |= known[index]
        return np.where(known, total, np.nan)

    def without_inside(self, grid: Floats) -> Floats:
        """Return *grid* (inclusive values by call path first) minus the sums of the paths directly below each path."""
        own = grid.copy()
        below = np.nan_to_num(grid)
        for index, path in enumerate(self.call_paths):
            if path.parent is not None:
                own[path.parent] -= below[index]
        return own


def beyond(measured: MeasurementSet) -> Fault | None:
    """Return what is wrong with the first number whose square or product over- or underflows; None if there is none."""
    file = measured.files[0] if measured.files else measured.title
    for name in measured.parameters:
        column = measured.points[name]
        if pd.api.types.is_numeric_dtype(column.dtype):
            size = np.abs(column.to_numpy(dtype=float, na_value=np.nan))
            wrong = np.flatnonzero((size > MOST) | ((size < LEAST) & (size > 0)))
            if len(wrong):
                return Fault(f"{name} = {significant(column.iloc[wrong[0]])}; {_RANGE}", file=file)
    values = measured.values["value"].to_numpy()
    size = np.abs(values)
    wrong = np.flatnonzero((size > MOST) | ((size < LEAST) & (size > 0)))
    if len(wrong):
        metric = measured.metrics[int(measured.values["metric"].iloc[wrong[0]])].name
        return Fault(f"{metric} = {significant(values[wrong[0]])}; {_RANGE}", file=file)
    return None


def check(measured: MeasurementSet) -> None:
    """Raise `ValueError` with a sentence if *measured* does not meet the specification of `MeasurementSet`."""
    if tuple(measured.points.columns) != measured.parameters:
        raise ValueError("its points have other columns than its parameters")
    for name in measured.parameters:
        _check_parameter(name, measured.points[name])
    for index, path in enumerate(measured.call_paths):
        if path.parent is not None and not 0 <= path.parent < index:
            raise ValueError(f"its call path {index} comes before its parent")
    table = measured.values
    if tuple(table.columns) != VALUE_COLUMNS:
        raise ValueError(f"its values have other columns than {', '.join(VALUE_COLUMNS)}")
    limits = (len(measured.points), len(measured.call_paths), len(measured.metrics), MOST_REPETITIONS)
    for name, limit in zip(VALUE_COLUMNS[:4], limits, strict=True):
        if not pd.api.types.is_integer_dtype(table[name].dtype):
            raise ValueError(f"its values have no whole number as {name}")
        if len(table) and not (table[name].min() >= 0 and table[name].max() < limit):
            raise ValueError(f"its values name a {name} that is not there")
    if table["value"].dtype != np.float64:
        raise ValueError("its values are not numbers")


def _check_parameter(name: str, column: pd.Series) -> None:
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        if not np.isfinite(column.to_numpy(dtype=float, na_value=np.nan)).all():
            raise ValueError(f"its parameter {name} is not known at every point")
    elif not column.map(lambda cell: isinstance(cell, str)).all():
        raise ValueError(f"its parameter {name} holds neither numbers nor texts")
