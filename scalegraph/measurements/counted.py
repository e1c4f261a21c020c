"""The question of which parameter counts processors, if no name says so but times or numbers suggest one."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

import numpy as np

from scalegraph.measurements import derived, evidence, names, rates
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import varies

_FORMATS = frozenset({"table", "program-output", "log-directory"})  # others name their parameters for models over them
_MOST = 2**24  # processors
_GAIN = 1.2
_MEANS = frozenset({"mean", "average", "avg", "median"})
_MIDDLES = frozenset({"mean", "median", "average", "avg"})  # of repeated runs, under a name without the time
NONE = "none"


def question(measured: MeasurementSet, fits: Sequence[str]) -> Question | None:
    """Return the question about *fits*, parameters with whole numbers from 1; None if none seems to count processors.

    One does if times fall (or rates rise) from its smallest to its largest value, as for no problem size; or if its
    values begin at 1 and double, and its name is not that of a size.
    """
    if measured.format not in _FORMATS:
        return None
    falling, doubling = [], []
    for name in fits:
        counts = measured.points[name].to_numpy(dtype=np.float64)
        if not varies(measured.points[name]) or counts.max() > _MOST or names.is_of_device_or_loop(name):
            continue
        if names.plain(name).startswith(("log2", "log10", "log_", "ln_")):
            continue
        if _falls(measured, counts):
            falling.append(name)
        elif _doubles(counts) and names.plain(name) not in names.SIZES and _timed(measured):
            doubling.append(name)
    found = falling or doubling
    if not found:
        return None
    one = found[0]
    because = "has shorter times, or higher rates, where it is larger" if falling else "begins at 1 and doubles"
    listed = " or ".join(f"'{name}'" for name in found)
    message = f"no name says which parameter counts the processors; {listed} may"
    switch = f"--processors {quote(one)}, or --processors {NONE} for models over the parameters alone"
    return Question("processors", message, switch, (*found, NONE), because)


def which(measured: MeasurementSet, several: Sequence[str]) -> Question:
    """Return the question which of *several* parameters counts the processors, the likeliest first."""
    factors = evidence.factors_of(measured, several)
    product = "*".join(factors)
    levels = {name: int(measured.points[name].nunique()) for name in several}
    ordered = sorted(several, key=lambda name: -levels[name])
    clear = levels[ordered[0]] > levels[ordered[1]]
    because = (
        evidence.split(measured, factors)
        or evidence.both_count(measured, factors, several)
        or evidence.processes_of_threads(measured, factors)
    )
    if because:
        ordered = [product, *ordered]
    else:
        because = f"has {levels[ordered[0]]} different values, more than the others" if clear else ""
        ordered = [*ordered, product]
    other = "" if ordered[0] == product else " for their product"
    switch = f"--processors {quote(ordered[0])}, or --processors {quote(ordered[1] if not other else product)}{other}"
    message = f"{', '.join(several[:-1])} and {several[-1]} may each count the processors"
    return Question("processors", message, switch, tuple(ordered), because)


def constant(measured: MeasurementSet, processors: str, follow: Sequence[str]) -> list[str]:
    """Return a note on each count of processors that is the same in all runs and was not multiplied: ``ppn`` is 48."""
    if processors not in measured.points:
        return []
    parts = {part.strip() for part in processors.split("*")}
    made = []
    for name in measured.parameters:
        column = measured.points[name]
        if name in parts or name in follow or not names.counts_processors(name) or not len(column) or varies(column):
            continue
        if isinstance(count := column.iloc[0].item() if hasattr(column.iloc[0], "item") else "", int) and count > 1:
            product = quote(f"{processors}*{name}")
            made.append(
                f"processors are counted by {processors}; '{name}' is {count} in every run, and --processors {product} "
                f"counts {count} for each"
            )
    return made


def of_device(measured: MeasurementSet, name: str) -> Question | None:
    """Return the question about threads beside a varying number of blocks: those of each block of a device."""
    if "threads" not in names.plain(name).split("_"):
        return None
    beside = [
        other
        for other in measured.parameters
        if other != name and names.is_of_device(other) and varies(measured.points[other])
    ]
    if not beside:
        return None
    message = f"'{name}' beside '{beside[0]}' may be the threads of each block of a device, or processors"
    switch = f"--processors {quote(name)}, or --processors {NONE} for models over the parameters alone"
    return Question("processors", message, switch, (NONE, name))


def spent(measured: MeasurementSet, processors: str) -> Question | None:
    """Return the question which metric is the time, or a rate, if no name says it but one falls or rises.

    Falls (rises) from the fewest *processors* to the most, that is. None if no metric of unknown kind does.
    """
    if measured.format not in _FORMATS or not varies(measured.points[processors]):
        return None
    counts = measured.points[processors].to_numpy(dtype=np.float64)
    falling, rising = (
        [measured.metrics[at].name for at, _ in _unknown(measured) if _changes(measured, at, counts, rises=rises)]
        for rises in (False, True)
    )
    mean = next((name for name in falling if _MEANS & set(names.plain(name).split("_"))), "")
    if whole := mean or (derived.longest(measured, falling) if len(falling) > 1 else ""):
        falling = [whole, *(name for name in falling if name != whole)]
    found = falling or rising
    if not found:
        return None
    listed = " or ".join(f"'{name}'" for name in (*falling, *rising)[:4])
    message = f"no name says which column is the time, or a rate; {listed} may be it"
    if falling and rising:
        return Question("time", message, f"--time {quote(falling[0])} or --rate {quote(rising[0])}")
    if falling:
        return Question("time", message, f"--time {quote(found[0])}", tuple(found), "falls as processors are added")
    because = "rises as processors are added, as a rate does"
    return Question("rate", message, f"--rate {quote(found[0])} or --time {quote(found[0])}", tuple(found), because)


def _timed(measured: MeasurementSet) -> list[tuple[int, bool]]:
    """Return the metrics that are times, or else rates, or else unknown; each with whether more is better."""
    times = [(index, False) for index, metric in enumerate(measured.metrics) if metric.kind == "time"]
    return times or [(measured.metric(name), True) for name in rates.rates(measured)] or _unknown(measured)


def _unknown(measured: MeasurementSet) -> list[tuple[int, bool]]:
    """Return the metrics that may be times, as their names say nothing."""
    return [
        (index, False)
        for index, metric in enumerate(measured.metrics)
        if metric.kind == "other" and not metric.unit and "/" not in metric.name
        if not names.is_metric(metric.name) or names.plain(metric.name) in _MIDDLES
    ]


def _falls(measured: MeasurementSet, counts: Floats) -> bool:
    """Whether the median time is lower, or the median rate higher, at the largest of *counts* than at the smallest."""
    return any(_changes(measured, metric, counts, rises=rises) for metric, rises in _timed(measured))


def _changes(measured: MeasurementSet, metric: int, counts: Floats, *, rises: bool) -> bool:
    """Whether the median of *metric* falls, or *rises*, by a fifth from the smallest of *counts* to the largest."""
    values = measured.values[measured.values["metric"] == metric]
    there = counts[values["point"]]
    few, many = (values["value"][there == bound].median() for bound in (counts.min(), counts.max()))
    return bool(few > 0 and many > 0 and (many / few > _GAIN if rises else few / many > _GAIN))


def _doubles(counts: Floats) -> bool:
    steps = np.unique(counts)
    return bool(len(steps) > 2 and steps[0] == 1 and (steps[1:] / steps[:-1] == 2).all())
