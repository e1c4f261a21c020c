"""Collects a reader's findings into a `MeasurementSet`: columns of numbers, no object per value."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import as_read, assigned
from scalegraph.measurements.model import CallPath, MeasurementSet, Metric, Skipped
from scalegraph.measurements.names import metric_kind

Coordinate: TypeAlias = float | int | str
INTEGERS_EXACT_BELOW = 2.0**53
ROOT, METRIC = "<root>", "value"  # names of an unnamed call path and an unnamed metric


class Collector:
    """The findings so far. Names get positions when they are first seen, in the order of the file."""

    def __init__(self, file: str, parameters: Sequence[str]) -> None:
        """Refuse unnamed or repeated *parameters*; *file* is the name used in faults."""
        self.file = file
        self.parameters = tuple(parameters)
        for name in self.parameters:
            if not name.strip():
                raise InputError(Fault("a parameter has no name; expected one", file=file))
            if self.parameters.count(name) > 1:
                raise InputError(Fault(f"parameter '{name}' appears twice; expected each once", file=file))
        self.call_paths: list[CallPath] = []
        self.metrics: list[Metric] = []
        self.skipped: list[Skipped] = []
        self.points: list[tuple[Coordinate, ...]] = []
        self._children: dict[tuple[int | None, str], int] = {}
        self._by_name: dict[str, int] = {}
        self._by_metric: dict[str, int] = {}
        self._by_point: dict[tuple[Coordinate, ...], int] = {}
        self._keys = (array("q"), array("q"), array("q"), array("q"))  # point, call path, metric, how many values
        self._values = array("d")

    def call_path(self, name: str) -> int:
        """Return the position of ``main->solve``, creating its ancestors. Without a name it is `ROOT`."""
        name = name if name.strip() else ROOT
        known = self._by_name.get(name)
        if known is None:
            position: int | None = None
            for part in split_call_path(name):
                position = self.child(position, part)
            known = self._by_name[name] = cast("int", position)
        return known

    def child(self, parent: int | None, name: str, file: str = "", line: int = 0) -> int:
        """Return the position of *name* below *parent*."""
        known = self._children.get((parent, name))
        if known is None:
            known = self._children[parent, name] = len(self.call_paths)
            self.call_paths.append(CallPath(name, parent, file, line))
        return known

    def metric(self, name: str, unit: str = "", **more: str) -> int:
        """Return the position of metric *name*; *unit* and *more* fields of `Metric` count only the first time."""
        name = name if name.strip() else METRIC
        known = self._by_metric.get(name)
        if known is None:
            known = self._by_metric[name] = len(self.metrics)
            fields = {"kind": metric_kind(name, unit), **more}
            self.metrics.append(Metric(name, unit, **fields))  # type: ignore[arg-type]
        return known

    def point(self, coordinates: tuple[Coordinate, ...]) -> int:
        """Return the position of the point at *coordinates*, one per parameter."""
        known = self._by_point.get(coordinates)
        if known is None:
            known = self._by_point[coordinates] = len(self.points)
            self.points.append(coordinates)
        return known

    def new_point(self, coordinates: tuple[Coordinate, ...]) -> int | None:
        """Return the position of a new point, None if it already exists."""
        return None if coordinates in self._by_point else self.point(coordinates)

    def add(self, point: int, call_path: int, metric: int, values: Sequence[float]) -> None:
        """Add *values*, repetitions of one measurement."""
        points, paths, metrics, counts = self._keys
        points.append(point)
        paths.append(call_path)
        metrics.append(metric)
        counts.append(len(values))
        self._values.extend(values)

    def skip(self, what: str, count: int, reason: str, place: str = "") -> None:
        """Report something that was left out; equal things with the same reason are counted together."""
        for index, known in enumerate(self.skipped):
            if (known.what, known.reason) == (what, reason):
                self.skipped[index] = Skipped(what, known.count + count, reason, known.place)
                return
        self.skipped.append(Skipped(what, count, reason, place))

    def finish(
        self, reader: str, title: str, *, files: Iterable[str] = (), notes: Iterable[str] = (), complete: bool = False
    ) -> MeasurementSet:
        """Return the set. With *complete* it is refused unless every series has a value at every point."""
        counts = np.array(self._keys[3], np.int64)
        point, path, metric = (np.repeat(np.array(column, np.int64), counts) for column in self._keys[:3])
        value = np.array(self._values, np.float64)
        if not len(value):
            raise InputError(Fault("there is no measured value in it", file=self.file))
        series = path * len(self.metrics) + metric
        if complete:
            self._require_every_point(series, point)
        repetition = _running_number(series * len(self.points) + point)
        finite = np.isfinite(value)
        if not finite.all():
            first = int(np.argmin(finite))
            place = f"{self.metrics[metric[first]].name} of {self._name(int(path[first]))} at {self.at(point[first])}"
            self.skip("values", int(len(finite) - finite.sum()), "not finite numbers", f"{self.file}: {place}")
            if not finite.any():
                raise InputError(Fault("none of its values is a finite number", file=self.file))
        columns = {"point": point, "call_path": path, "metric": metric, "repetition": repetition, "value": value}
        return MeasurementSet(
            self.parameters,
            self._table_of_points(),
            tuple(self.call_paths),
            tuple(self.metrics),
            pd.DataFrame({name: column[finite] for name, column in columns.items()}),
            format=reader,
            files=tuple(files) or (self.file,),
            title=title,
            notes=tuple(notes),
            skipped=tuple(self.skipped),
        )

    def at(self, point: int) -> str:
        """Return a point for display: ``p = 4, n = 100``."""
        return assigned(zip(self.parameters, self.points[point], strict=True))

    def _name(self, path: int) -> str:
        parts: list[str] = []
        above: int | None = path
        while above is not None:
            parts.insert(0, self.call_paths[above].name)
            above = self.call_paths[above].parent
        return "->".join(parts)

    def _require_every_point(self, series: NDArray[np.int64], point: NDArray[np.int64]) -> None:
        count = len(self.points)
        measured = np.zeros((len(self.call_paths) * len(self.metrics), count), bool)
        measured[series, point] = True
        partly = measured.any(axis=1) & ~measured.all(axis=1)
        if partly.any():
            first = int(np.argmax(partly))
            path, metric = divmod(first, len(self.metrics))
            missing = self.at(int(np.argmin(measured[first])))
            raise InputError(
                Fault(
                    f"measured at {int(measured[first].sum())} of {count} points; expected a value at every point, "
                    f"and there is none at {missing}",
                    file=self.file,
                    key=f"metric '{self.metrics[metric].name}' of '{self._name(path)}'",
                )
            )
        everywhere = measured.any(axis=0)
        if not everywhere.all():
            missing = self.at(int(np.argmin(everywhere)))
            raise InputError(Fault(f"nothing was measured at point {missing}; expected values", file=self.file))

    def _table_of_points(self) -> pd.DataFrame:
        columns = {
            name: column_of([point[index] for point in self.points]) for index, name in enumerate(self.parameters)
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.points)))


def column_of(values: Sequence[Coordinate]) -> NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]:
    """Return whole numbers as int64, other numbers as float64, anything else as text."""
    if not all(_is_number(value) for value in values):
        return np.array([as_read(float(value)) if _is_number(value) else str(value) for value in values], object)
    numbers = np.array(values, np.float64)
    if bool(np.all(numbers == np.floor(numbers))) and bool(np.all(np.abs(numbers) < INTEGERS_EXACT_BELOW)):
        return numbers.astype(np.int64)
    return numbers


def split_call_path(name: str) -> list[str]:
    """Return the parts of ``main->solve``; C++'s ``operator->`` does not separate; an empty part keeps its place."""
    return re.split(r"(?<!operator)->", name)


def as_number(text: str) -> float | None:
    """Return *text* as a finite number, None if it is not one. ``1_000`` is not, although Python accepts it."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None


def _is_number(value: Coordinate) -> bool:
    return not isinstance(value, str)


def _running_number(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every key how many equal ones precede it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    number = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    result = np.empty(len(keys), np.int64)
    result[order] = number
    return result
