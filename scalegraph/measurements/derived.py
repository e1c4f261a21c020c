"""Metrics that follow from time and processors by arithmetic: speedup, efficiency, cost, ideal time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from scalegraph.base.measures import percent
from scalegraph.base.units import plain, significant
from scalegraph.measurements import names
from scalegraph.measurements.model import Floats, MeasurementSet
from scalegraph.measurements.runs import varies

_NEAR = 0.02  # relative: people round to two digits
_ROUNDING = 0.006  # absolute, for ratios with two decimals
_SPEEDUP = ("speedup", "speed_up", "scaling", "scalability", "acceleration")
_EFFICIENCY = ("efficiency", "parallel_efficiency", "scaling_efficiency", "eff")
_KINDS = {"speedup": _SPEEDUP, "efficiency": _EFFICIENCY, "percent": _EFFICIENCY, "cost": ("cost", "core_seconds")}


def times(measured: MeasurementSet, processors: str, timed: Sequence[str]) -> dict[str, str]:
    """Return those of the metrics *timed* that follow from another one, with an explanation.

    Such is a time times the processors (`cpu time`), the first time over them (`ideal`), and the time of one processor
    that is repeated in every row, if a speedup is its ratio to the other. Where two follow from each other the first in
    the set stays.
    """
    if not _plain(measured, processors) or len(timed) < 2:
        return {}
    counts = np.maximum(measured.points[processors].to_numpy(dtype=np.float64), 1.0)  # 0: the serial program
    values = {name: medians(measured, name) for name in timed}
    made: dict[str, str] = {}
    for name in timed:
        for other in timed:
            if other == name or other in made:
                continue
            base = values[other]
            if _equal(values[name], base * counts):
                made[name] = f"'{name}' is {other} times {processors}"
            elif _equal(values[name], _first(measured, processors, base * counts) / counts):
                made[name] = f"'{name}' is {other} on the fewest {processors}, divided by their number: ideal times"
            elif (gain := _ratio(measured, values[name], base)) and not _equal(
                base, _first(measured, processors, base)
            ):
                made[name] = f"'{name}' is what '{gain}' is relative to: '{gain}' is {name} over {other}"
    return made


def _ratio(measured: MeasurementSet, reference: Floats, spent: Floats) -> str:
    """Return the speedup column that is *reference* over *spent*, empty where none is."""
    gains = [metric.name for metric in measured.metrics if kind_of(metric.name) == "speedup"]
    with np.errstate(all="ignore"):
        return next((name for name in gains if _equal(medians(measured, name), reference / spent)), "")


def parts(measured: MeasurementSet, timed: Sequence[str]) -> list[str]:
    """Return those of *timed* that are 0 at a point where another is not, and never the other way round."""
    if len(measured.call_paths) != 1:
        return []
    value = {name: np.nan_to_num(medians(measured, name), nan=-1.0) for name in timed}
    found = [name for name in timed if (value[name] == 0).any()]
    whole_ = [name for name in timed if name not in found]
    return [name for name in found if any((value[other][value[name] == 0] > 0).any() for other in whole_)]


def gained(measured: MeasurementSet, processors: str, timed: Sequence[str]) -> tuple[str, str] | None:
    """Return the only one of *timed* of which a speedup column was computed, and a note; None if none or several."""
    if len(timed) < 2 or not _plain(measured, processors):
        return None
    made = {}
    for metric in measured.metrics:
        if kind_of(metric.name) != "speedup":
            continue
        gain = medians(measured, metric.name)
        for name in timed:
            spent = medians(measured, name)
            with np.errstate(all="ignore"):
                ratio = _first(measured, processors, spent) / spent
            known = np.isfinite(gain) & np.isfinite(ratio)
            if varies(pd.Series(gain[known])) and _equal(gain, np.where(np.isfinite(gain), ratio, np.nan)):
                made[name] = f"'{name}' was taken as the time, of which '{metric.name}' is the speedup"
    return next(iter(made.items())) if len(made) == 1 else None


def summed(measured: MeasurementSet, processors: str, name: str) -> str:
    """Return why the metric *name* is a sum over the processors, empty where nothing shows it.

    Its name is that of processor time, and a speedup column is that of the metric over the processors.
    """
    words = set(names.plain(name).split("_"))
    if not words & {"cpu", "core", "processor"} or not _plain(measured, processors):
        return ""
    counts = np.maximum(measured.points[processors].to_numpy(dtype=np.float64), 1.0)
    spent = medians(measured, name)
    for metric in measured.metrics:
        gain = medians(measured, metric.name)
        if kind_of(metric.name) != "speedup" or not varies(pd.Series(gain[np.isfinite(gain)])):
            continue
        each = spent / counts
        with np.errstate(all="ignore"):
            if _equal(gain, _first(measured, processors, each) / each) and not _equal(
                gain, _first(measured, processors, spent) / spent
            ):
                return f"'{name}' is a sum over the processors, as '{metric.name}' is that of {name} over {processors}"
    return ""


def suspicious(measured: MeasurementSet, name: str) -> str:
    """Return a remark on a time such as 9999 that may stand for a missing one; empty if there is none."""
    mine = measured.values[measured.values["metric"] == measured.metric(name)]
    values = mine["value"].to_numpy(dtype=np.float64)
    for value in np.unique(values):
        text = str(int(value)) if value.is_integer() else ""
        others = values[values != value]
        if set(text) == {"9"} and len(text) > 2 and len(others) > 1 and value > 20 * others.max():
            return f"'{name}' is {text} in {int((values == value).sum())} of {len(values)} values: no time, perhaps"
    return ""


def whole(measured: MeasurementSet, timed: Sequence[str]) -> str:
    """Return the one of three or more metrics that is the sum of the others, empty if there is none or several."""
    if len(timed) < 3 or len(measured.call_paths) != 1:
        return ""
    values = {name: medians(measured, name) for name in timed}
    total = np.sum(list(values.values()), axis=0)
    found = [name for name in timed if _equal(values[name], total - values[name]) and np.nanmax(values[name]) > 0]
    return found[0] if len(found) == 1 else ""


def longest(measured: MeasurementSet, timed: Sequence[str]) -> str:
    """Return the metric that is the longest at every point, empty if none is."""
    if len(measured.call_paths) != 1:
        return ""
    values = np.array([np.nan_to_num(medians(measured, name), nan=-np.inf) for name in timed])
    most = values.max(axis=0)
    found = [name for name, mine in zip(timed, values, strict=True) if (mine == most).all()]
    return found[0] if len(found) == 1 else ""


def counting(measured: MeasurementSet, candidates: Sequence[str]) -> tuple[str, str] | None:
    """Return which parameter, or product of several, is counted by speedup over efficiency, and an explanation.

    None if there are no such metrics, or if the processors that they count match none of the candidates, or several.
    Processors are counted from 1, or from the fewest.
    """
    if len(candidates) < 2 or len(measured.call_paths) != 1:
        return None
    counts = {name: measured.points[name].to_numpy(dtype=np.float64) for name in candidates}
    counts["*".join(candidates)] = np.prod(list(counts.values()), axis=0)
    gains, shares = ([m for m in measured.metrics if kind_of(m.name) == kind] for kind in ("speedup", "efficiency"))
    for gain in gains:
        for share in shares:
            efficiency = medians(measured, share.name)
            if share.unit == "%" or np.nanmax(efficiency, initial=0.0) > 3:
                efficiency = efficiency / 100
            with np.errstate(all="ignore"):
                ratio = medians(measured, gain.name) / efficiency
            found = [name for name, n in counts.items() if _equal(ratio, n) or _equal(ratio, n / np.min(n))]
            if len(found) == 1:
                return found[0], f"'{gain.name}' over '{share.name}' is that number"
    return None


def remarks(measured: MeasurementSet, processors: str, time: str, follow: Sequence[str]) -> Iterator[str]:
    """Yield remarks on the metrics named speedup, efficiency or cost: what they are, or that they are not that."""
    if not _plain(measured, processors) or time not in [metric.name for metric in measured.metrics]:
        return
    counts = np.maximum(measured.points[processors].to_numpy(dtype=np.float64), 1.0)  # 0: the serial program
    spent = medians(measured, time)
    first = _first(measured, processors, spent, follow)
    least = _first(measured, processors, counts, follow)
    spent[spent <= 0] = np.nan
    overall = _first(measured, processors, spent, measured.parameters)
    forms = {
        "speedup": (first / spent, f"{time} on the fewest {processors} over {time}"),
        "speedup of one": (
            first * least / spent,
            f"{time} on the fewest {processors}, times their number, over {time}",
        ),
        "efficiency": (first * least / spent / counts, f"the speedup over {processors}"),
        "weak": (overall / spent, f"{time} on the fewest {processors} over {time}"),
        "cost": (spent * counts, f"{time} times {processors}"),
    }
    for metric in measured.metrics:
        kind = kind_of(metric.name)
        if not kind or metric.name == time:
            continue
        found = medians(measured, metric.name)
        if metric.unit == "%" or (kind == "efficiency" and np.nanmax(found, initial=0.0) > 3):
            found = found / 100
        known = {name: form for name, form in forms.items() if name.startswith(kind) or (name, kind) == _WEAK}
        told = next((words for value, words in known.values() if _equal(found, value)), "")
        if told:
            yield f"'{metric.name}' follows from the time: it is {told}"
        else:
            yield _differs(metric.name, found, next(iter(known.values())), counts, processors)


_WEAK = ("weak", "efficiency")


def _differs(name: str, found: Floats, form: tuple[Floats, str], counts: Floats, processors: str) -> str:
    value, words = form
    with np.errstate(all="ignore"):
        apart = np.abs(found / value - 1)
    if not np.isfinite(apart).any():
        return f"'{name}' could not be compared with the times"
    worst = int(np.nanargmax(np.where(np.isfinite(apart), apart, -1)))
    return (
        f"'{name}' is not {words}: it differs by up to {percent(float(apart[worst]), 0)}; at {processors} = "
        f"{plain(counts[worst])} it is {significant(found[worst])}, and {significant(value[worst])} by the times, "
        "which views take"
    )


def kind_of(name: str) -> str:
    """Return ``speedup``, ``efficiency``, ``percent`` or ``cost`` by a metric's name, empty for none of these."""
    short = names.plain(name)
    return next((kind for kind, known in _KINDS.items() if short in known or short.startswith(f"{kind}_")), "")


def _plain(measured: MeasurementSet, processors: str) -> bool:
    return (
        processors in measured.points
        and len(measured.call_paths) == 1
        and pd.api.types.is_numeric_dtype(measured.points[processors].dtype)
        and varies(measured.points[processors])
    )


def medians(measured: MeasurementSet, name: str) -> Floats:
    """Return the median of a metric at every point, NaN where it has no value."""
    grid = measured.grid(measured.metric(name))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Floats = np.nanmedian(grid, axis=1)
    return found


def _first(measured: MeasurementSet, processors: str, values: Floats, follow: Sequence[str] = ()) -> Floats:
    """Return for every point the value on the fewest processors of its problem."""
    others = [name for name in measured.parameters if name not in (processors, *follow)]
    table = measured.points.assign(**{"\0value": values}).sort_values(processors, kind="stable")
    if not others:
        return np.full(len(values), table["\0value"].iloc[0])
    made = table.groupby(others, dropna=False, sort=False)["\0value"].transform("first")
    found: Floats = made.sort_index().to_numpy(dtype=np.float64)
    return found


def _equal(found: Floats, expected: Floats) -> bool:
    """Whether at least two points have both values, and all of these agree within rounding."""
    known = np.isfinite(found) & np.isfinite(expected)
    if known.sum() < 2:
        return False
    apart = np.abs(found[known] - expected[known])
    return bool((apart <= np.maximum(_NEAR * np.abs(expected[known]), _ROUNDING)).all())
