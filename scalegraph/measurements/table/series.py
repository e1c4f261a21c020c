"""Columns that are series of one measurement: times of several programs side by side, `openmp` and `pthreads`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.measurements import names, rates
from scalegraph.measurements.model import Metric
from scalegraph.measurements.table.layout import NUMBER

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column

PARAMETER = "series"
_SPREAD = 100.0  # ratio between two series of one measurement, at one number of processors
_MEANS = ("mean", "avg", "average", "median", "time", "time_s")
_DEVIATIONS = ("stddev", "std", "stdev", "sd", "deviation", "error", "err", "std_dev", "sigma")


def found(columns: list[Column], rows: Sequence[Sequence[str]], across: str) -> tuple[list[Column], str]:
    """Return the columns, those that are series of times marked, and the parameter whose values are their names.

    Series are at least two columns of fractions with unknown names and similar magnitude, all of which fall from the
    fewest processors to the most. Columns of their deviations go with them. Others are left unchanged.
    """
    counting = [item for item in columns if item.role == "parameter" and names.counts_processors(item.name)]
    if len(counting) != 1 or any(item.role in ("wide", "value", "metric_name", "call_path") for item in columns):
        return columns, ""
    metrics = [item for item in columns if item.role == "metric"]
    if any(item.repetition is not None for item in metrics):
        return columns, ""
    labels = {item.index: _label(item.name) for item in metrics}
    values = [item for item in metrics if labels[item.index][1] != "stddev"]
    if len(values) < 2 or not all(_plain(item, labels[item.index]) for item in values):
        return columns, ""
    if len({labels[item.index][0] for item in values}) < len(values):
        return columns, ""
    if not _fall_alike(counting[0], values, rows):
        return columns, ""
    known = {labels[item.index][0] for item in values}
    parameter = across or PARAMETER
    why = "series of one measurement: fractions of one size that fall as processors are added"
    made = []
    for item in columns:
        label, what = labels.get(item.index, ("", ""))
        if item.role == "metric" and label in known:
            made.append(
                replace(
                    item,
                    name="time" if what != "stddev" else "stddev of time",
                    role="wide",
                    at=label,
                    confidence=0.7,
                    why=why,
                )
            )
        else:
            made.append(item)
    return made, parameter if all(item.role != "metric" for item in made) else ""


def _label(name: str) -> tuple[str, str]:
    """Return a column's series and its role in it: ``triad mean`` is the mean of ``triad``."""
    words = name.strip().rsplit(" ", 1)
    if len(words) == 2:
        last = names.plain(words[1])
        if last in _DEVIATIONS:
            return words[0].strip(), "stddev"
        if last in _MEANS:
            return words[0].strip(), "mean"
    return name.strip(), "stddev" if names.plain(name) in _DEVIATIONS else ""


def _plain(item: Column, label: tuple[str, str]) -> bool:
    """Whether the name of a column of numbers says at most that it is a mean."""
    metric = Metric(label[0], item.unit, names.metric_kind(label[0], item.unit))
    return (
        item.kind == "number"
        and not item.suffix
        and not item.unit
        and metric.kind == "other"
        and not names.is_metric(label[0])
        and rates.per(metric) is None
    )


def _fall_alike(counting: Column, values: Sequence[Column], rows: Sequence[Sequence[str]]) -> bool:
    known = [[_number(row, item.index) for item in (counting, *values)] for row in rows]
    whole = [row for row in known if all(cell is not None and cell > 0 for cell in row)]
    if len(whole) < 2:
        return False
    numbers = [[cell for cell in row if cell is not None] for row in whole]
    first, last = min(numbers, key=lambda row: row[0]), max(numbers, key=lambda row: row[0])
    alike = all(max(row[1:]) <= _SPREAD * min(row[1:]) for row in numbers)
    return first[0] < last[0] and alike and all(b < a for a, b in zip(first[1:], last[1:], strict=True))


def _number(row: Sequence[str], index: int) -> float | None:
    cell = row[index].replace(",", ".") if index < len(row) else ""
    return float(cell.replace("D", "E").replace("d", "e")) if NUMBER.fullmatch(cell) else None
