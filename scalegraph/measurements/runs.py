"""Runs of a measurement set: one for every point and repetition with a known elapsed time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.base.units import as_read, assigned
from scalegraph.measurements import quantities
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.splits import splits_names

ALL = "*"  # the whole program: all call paths together
SIZE = "problem"  # parameter that distinguishes grown problems in weak scaling if no other parameter does
MOST_RUNS = 20_000  # in a study; models use every value of a set, however many
_COUNTS = frozenset({"work_ops", "work_flops", "references", "misses", "invalidations"})


def totals(measured: MeasurementSet, mapping: Mapping, metric: str = "") -> Floats:
    """Return values of a metric for the whole program, shape (points, repetitions); NaN if unknown.

    An empty *metric* means the time. Exclusive values are summed over the call paths below `Mapping.total`; inclusive
    ones and those of unknown extent are taken at that path. With ``*`` as total, the values of all roots are summed.
    """
    name = metric or mapping.time
    index = measured.metric(name)
    grid = measured.grid(index)
    if measured.metrics[index].extent == "exclusive":
        grid = measured.with_inside(grid)
    if mapping.total == ALL:
        roots = list(measured.roots())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = np.where(np.isnan(grid[roots]).all(axis=0), np.nan, np.nansum(grid[roots], axis=0))
    elif mapping.total in measured.paths:
        made = grid[measured.paths.index(mapping.total)]
    else:
        made = np.full(grid.shape[1:], np.nan)
    return made


def make_runs(
    measured: MeasurementSet,
    mapping: Mapping,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _share: None,
) -> tuple[list[RunRecord], dict[str, float]]:
    """Return the runs of a set in order of its points, and bytes of memory by run key if a metric has them.

    None without a parameter that counts processors or a metric of time. 0 processors mean the serial program, which
    becomes the run on one processor if there is no other (else see `serial_times`). If there are more repetitions than
    a study holds, evenly spaced ones are used (`thinned`). Raises `InputError` for an invalid number of processors, a
    negative time, or more points than a study holds.
    """
    if not mapping.processors or not mapping.time:
        return [], {}
    counts = _counts(measured, mapping)
    times = _elapsed(measured, mapping, counts)
    if (times < 0).any():
        point = int(np.argwhere(times < 0)[0][0])
        raise InputError(
            _fault(measured, point, f"a time of {as_read(float(np.nanmin(times[point])))} s; 0 or more was expected")
        )
    parameters = _parameters(measured, mapping, counts)
    times[_beside_one(counts, parameters)] = np.nan
    times[times == 0] = np.nan  # not an elapsed time, as a note of the guess says
    counts = np.maximum(counts, 1.0)
    known = np.argwhere(thinned(times))
    if len(known) > MOST_RUNS:
        message = f"has {len(known)} points with a time; a study holds {MOST_RUNS} runs at most"
        raise InputError(Fault(message, file=_file(measured)))
    others = {
        column: totals(measured, mapping, metric) * scale
        for column, metric in mapping.columns.items()
        if column != quantities.TIME and (scale := _scale(measured, mapping, metric, column)) is not None
    }
    split = _split_of(measured)
    token = cancel or CancelToken()
    title = measured.title or "measurements"
    runs: list[RunRecord] = []
    memory: dict[str, float] = {}
    taken: set[str] = set()
    for number, (point, repetition) in enumerate(known.tolist()):
        if number % 1000 == 0:
            token.check()
            progress(number / len(known))
        made = RunPoint(processors=int(counts[point]), parameters=parameters[point], repetition=repetition)
        while made.key in taken:  # points that differ only in the notation of their numbers
            made = made.model_copy(update={"repetition": made.repetition + 1})
        taken.add(made.key)
        values: dict[str, Any] = {"time_s": float(times[point, repetition])} | _values(others, point, repetition)
        values |= split(point, repetition, made.processors)
        if (used := values.pop("memory_bytes", None)) is not None:
            memory[made.key] = used
        try:
            runs.append(RunRecord(source="imported", program=title, machine="unknown", point=made, **values))
        except ValidationError as error:
            wrong = error.errors()[0]
            what = f"{wrong['loc'][0]} = {wrong['input']}: {wrong['msg'].lower()}" if wrong["loc"] else wrong["msg"]
            raise InputError(_fault(measured, point, what)) from None
    return runs, memory


def _split_of(measured: MeasurementSet) -> Callable[[int, int, int], dict[str, int]]:
    """Return a function from point and repetition to the split into processes and threads, if known."""
    names = splits_names(measured.parameters)
    numbers = measured.points[list(names)].to_numpy() if names else None

    def found(point: int, repetition: int, processors: int) -> dict[str, int]:
        pair = measured.splits.get((point, repetition))
        if pair is None and numbers is not None:
            try:
                pair = (int(numbers[point][0]), int(numbers[point][1]))
            except (TypeError, ValueError, OverflowError):
                pair = None
        if pair is None or pair[0] * pair[1] != processors:
            return {}
        return {"processes": pair[0], "threads_per_process": pair[1]}

    return found


def _scale(measured: MeasurementSet, mapping: Mapping, metric: str, column: str) -> float | None:
    return quantities.factor(measured.metrics[measured.metric(metric)], column, mapping)


def _values(others: dict[str, Any], point: int, repetition: int) -> dict[str, Any]:
    """Return a run's values other than its time, by column: counts as whole numbers."""
    values: dict[str, Any] = {}
    for column, cells in others.items():
        cell = cells[point, repetition] if repetition < cells.shape[1] else np.nan
        if np.isfinite(cell) and cell >= 0:
            values[column] = round(cell) if column in _COUNTS else float(cell)
    return values


def serial_times(measured: MeasurementSet, mapping: Mapping, runs: Sequence[RunRecord]) -> dict[str, float]:
    """Return the time (s) of the serial program of each run's problem by key of the run.

    That is the median at 0 processors, if the problem also ran on 1; empty without such points.
    """
    if not mapping.processors or not mapping.time:
        return {}
    counts = _counts(measured, mapping)
    if (counts > 0).all():
        return {}
    parameters = _parameters(measured, mapping, counts)
    serial = np.flatnonzero(_beside_one(counts, parameters))
    if not len(serial):
        return {}
    times = _elapsed(measured, mapping, counts)
    measured_there = [point for point in serial if np.isfinite(times[point]).any()]
    found = {_problem(parameters[point]): float(np.nanmedian(times[point])) for point in measured_there}
    made = {run.point.key: found.get(_problem(run.point.parameters)) for run in runs}
    return {key: time for key, time in made.items() if time is not None}


def _elapsed(measured: MeasurementSet, mapping: Mapping, counts: Floats) -> Floats:
    """Return the elapsed seconds, shape (points, repetitions); NaN if unknown."""
    elapsed = mapping.columns.get(quantities.TIME)
    seconds = _scale(measured, mapping, elapsed, quantities.TIME) if elapsed else None
    times = totals(measured, mapping, elapsed or mapping.time) * (mapping.seconds if seconds is None else seconds)
    if elapsed is None and mapping.summed:
        times = times / np.maximum(counts, 1.0)[:, np.newaxis]
    return times


def _problem(parameters: dict[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(parameters.items()))


def _beside_one(counts: Floats, parameters: list[dict[str, Value]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which points are of the serial program (0 processors) and have one on 1 processor of the same problem."""
    if (counts > 0).all():
        return np.zeros(len(counts), dtype=bool)
    ones = {_problem(mine) for mine, count in zip(parameters, counts, strict=True) if count == 1}
    return np.array([n == 0 and _problem(mine) in ones for mine, n in zip(parameters, counts, strict=True)], dtype=bool)


def thinned(times: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which *times* (points, repetitions) become runs: all known ones, or as many of each point as fit."""
    known = np.isfinite(times)
    points = int(known.any(axis=1).sum())
    if int(known.sum()) <= MOST_RUNS or not points:
        return known
    each = max(1, MOST_RUNS // points)
    rank = known.cumsum(axis=1) - 1
    total = known.sum(axis=1, keepdims=True)
    step = np.maximum(1, -(-total // each))
    chosen: np.ndarray[Any, np.dtype[np.bool_]] = known & (rank % step == 0)
    return chosen


def varies(column: pd.Series) -> bool:
    """Whether a parameter has several values."""
    return len(column) > 0 and bool((column != column.iloc[0]).any())


def _counts(measured: MeasurementSet, mapping: Mapping) -> Floats:
    column = measured.points[mapping.processors]
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise InputError(_fault(measured, 0, f"{mapping.processors} is a text; a number of processors was expected"))
    counts = column.to_numpy(dtype=np.float64)
    least = 0 if (counts >= 1).any() else 1  # 0 among others: the serial program
    wrong = np.flatnonzero(~((counts >= least) & (counts == np.floor(counts)) & (counts <= 2**31)))
    if len(wrong):
        value = f"{mapping.processors} = {as_read(counts[wrong[0]])}"
        raise InputError(_fault(measured, int(wrong[0]), f"{value}; a whole number of processors was expected"))
    return counts


def _parameters(measured: MeasurementSet, mapping: Mapping, counts: Floats) -> list[dict[str, Value]]:
    """Return the parameters of every point other than the processors."""
    names = [name for name in measured.parameters if name not in (mapping.processors, *mapping.follow)]
    rows: list[dict[Any, Any]] = measured.points[names].to_dict("records") if names else [{} for _ in counts]
    made = [{str(name): _value(value) for name, value in row.items()} for row in rows]
    if mapping.scaling == "weak" and not any(varies(measured.points[name]) for name in names):
        least = counts[counts > 0].min()
        for row, count in zip(made, np.maximum(counts, least), strict=True):
            row[SIZE] = _value(count / least)
    return made


def _value(value: Any) -> Value:
    plain = value.item() if hasattr(value, "item") else value
    return int(plain) if isinstance(plain, float) and plain.is_integer() and abs(plain) < 2**53 else plain


def _file(measured: MeasurementSet) -> str:
    return measured.files[0] if measured.files else measured.title


def _fault(measured: MeasurementSet, point: int, message: str) -> Fault:
    row = measured.points.iloc[point]
    where = assigned((name, row[name]) for name in measured.parameters)
    return Fault(message, file=_file(measured), key=f"point {where}" if where else "")
