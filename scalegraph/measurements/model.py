"""A measurement set: values of metrics at call paths, measured at points of a parameter space, repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import pandas as pd

# What a metric counts; "time" is converted to seconds when it is used, by its unit.
MetricKind: TypeAlias = Literal["time", "count", "bytes", "ratio", "other"]
# Whether the value at a call path contains those of the paths below it.
Extent: TypeAlias = Literal["inclusive", "exclusive", "unknown"]

VALUE_COLUMNS = ("point", "call_path", "metric", "repetition", "value")


@dataclass(frozen=True)
class Metric:
    """What was measured. *unit* as the file says it, empty where it says nothing."""

    name: str
    unit: str = ""
    kind: MetricKind = "other"
    extent: Extent = "unknown"
    description: str = ""


@dataclass(frozen=True)
class CallPath:
    """A place of the program: a node of the call tree. *parent* is an index into `MeasurementSet.call_paths`.

    *name* is the last part (``MPI_Waitall``); a parent stands before its children.
    """

    name: str
    parent: int | None = None
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Skipped:
    """What a reader understood as present but did not take in: how many, why, and where first (``file:line``)."""

    what: str
    count: int
    reason: str
    place: str = ""


@dataclass(frozen=True)
class MeasurementSet:
    """Measured values, columnar.

    *points* has one row per measured point, columns *parameters* (numbers or text), index 0, 1, ..; *values* one row a
    value, columns `VALUE_COLUMNS`: positions in *points*, *call_paths* and *metrics*, number of the repetition from 0,
    and the value (float64, as the file has it). Nothing stands for a missing value.
    """

    parameters: tuple[str, ...]
    points: pd.DataFrame
    call_paths: tuple[CallPath, ...]
    metrics: tuple[Metric, ...]
    values: pd.DataFrame
    format: str = ""  # name of the reader
    files: tuple[str, ...] = ()
    title: str = ""
    notes: tuple[str, ...] = ()  # what the file says that people should know
    skipped: tuple[Skipped, ...] = field(default=())

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
