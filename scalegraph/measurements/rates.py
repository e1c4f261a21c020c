"""Rates instead of times: GFlop/s, cells/s, it/s; the time is the work over the rate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

import numpy as np
import pandas as pd

from scalegraph.measurements import names, quantities
from scalegraph.measurements.mapping import SECONDS, Mapping, Question
from scalegraph.measurements.model import Floats, MeasurementSet, Metric, Skipped
from scalegraph.measurements.runs import varies

TIME = "time by rate"  # the computed metric
_PREFIX = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_PER = re.compile(r"^\s*(?P<what>.*?\S)\s*(?:/|[_\s]per[_\s]|[_\s]p[_\s])\s*(?P<unit>[A-Za-z]+)\s*$")
_SHORT = re.compile(r"^(?P<what>[kmgtp]?(?:flop|lup|up|tep|cell|int|op)s?)s$|^(?P<known>[kmgtp]i?b)ps$", re.IGNORECASE)
_KNOWN = {"fps": "frame", "tps": "transaction", "qps": "query", "rps": "request", "iops": "operation"}
# `Mop/s total`, `avg GFlop/s`: the same rate; `Mop/s/thread`, `cells/cpu_second`: per processor
_AROUND = re.compile(
    r"^(?:total|avg|average|mean|median|max|min|aggregate|sustained|peak)[_\s]+(?=\S)|"
    r"[_\s]+(?:total|avg|average|mean|median|max|min|aggregate|all)$",
    re.IGNORECASE,
)
_EACH = r"(?:cpu|core|thread|proc(?:ess(?:or)?)?|rank|task|pe|worker|gpu|device|node|host)"
_EACH_UNIT = re.compile(
    rf"(?P<slash>/|[_\s]per[_\s])\s*(?P<each>{_EACH})[_\s\-]*(?P<unit>s|sec|seconds?|hours?|h)$", re.IGNORECASE
)
_EACH_AFTER = re.compile(rf"\s*(?:/|[_\s]per[_\s]|\bper\s)\s*(?P<each>{_EACH})$", re.IGNORECASE)
_LETTERS = re.compile(r"^(?P<prefix>[kmgtp]?)(?P<what>flops?|flop)$", re.IGNORECASE)
_PREFIXED = re.compile(
    r"(?P<prefix>[kmgtp]?)(?P<binary>i(?=b|op))?[_ ]?(?P<stem>b|bytes?|bits?|flops?|lups?|ops?|teps?|cells?|updates?)",
    re.IGNORECASE,
)
_NAMED = frozenset(
    {"throughput", "rate", "performance", "bandwidth", "perf", "fom", "figure_of_merit", "bw", "total_throughput"}
)
_ROUNDED = 0.02  # of rates and times as people round them
_RISING = 0.3  # exponent in the processor count above which a rate cannot be per processor: caches gain less
_NO_WORK = re.compile(r"miss|fault|invalid|error|watt|joule|energy|switch|interrupt", re.IGNORECASE)


def per(metric: Metric) -> tuple[str, float] | None:
    """Return what a rate counts and its time in seconds: ``("GFlop", 1.0)``; None for other metrics."""
    if metric.kind == "time" or _NO_WORK.search(metric.name):
        return None
    for said in (metric.unit, metric.name):
        text = _parted(said)[0]
        if text.lower() in _KNOWN:
            return _KNOWN[text.lower()], 1.0
        found = _PER.match(text)
        spent = found is not None and (names.is_time(found["what"]) or found["what"].lower() in SECONDS)  # hours/ns
        if found and found["unit"].lower() in SECONDS and not spent:
            return found["what"], SECONDS[found["unit"].lower()]
        if found and found["unit"].lower() == "day":  # ns/day in molecular dynamics
            return found["what"], 86400.0
        if (found := _SHORT.match(text.strip())) and text.strip().lower() not in ("flops", "ops", "cells", "ints"):
            return found["what"] or found["known"], 1.0
    if (inverse := metric.name.strip().removeprefix("1/")) != metric.name.strip() and names.is_time(inverse.strip()):
        return "the work", 1.0
    if names.plain(_parted(metric.name)[0]) in _NAMED and metric.kind != "ratio" and not metric.unit:
        return "the work", 1.0
    return None


def factor(one: str, other: str) -> float | None:
    """Return the factor from numbers in the rate *one* to numbers in *other*: 0.001 from MB/s to GB/s; None for none.

    ``Mi`` is 2 to the 20, ``M`` 10 to the 6. There is none from bits to bytes, and for other times than seconds.
    """
    scales, stems = [], set()
    for unit in (one, other):
        what, seconds = per(Metric("", unit)) or ("", 0.0)
        found = _PREFIXED.fullmatch(what)
        if found is None or seconds != 1.0:
            return None
        scales.append(("kmgtp".find(found["prefix"].lower() or " ") + 1, bool(found["binary"])))
        stems.add(found["stem"] if len(found["stem"]) == 1 else found["stem"].lower().removesuffix("s"))
    if len(stems) > 1:
        return None
    (power, binary), (other_power, other_binary) = scales
    if not binary and not other_binary:
        return float(f"1e{3 * (power - other_power)}")  # exactly the number that it is written as
    return float((1024 if binary else 1000) ** power / (1024 if other_binary else 1000) ** other_power)


def _parted(text: str) -> tuple[str, str]:
    """Split a rate's text: the rate without its context, and what it is per: ``cells/cpu_second``, ``cpu``."""
    text = _AROUND.sub("", text.strip())
    if found := _EACH_UNIT.search(text):
        return f"{text[: found.start()]}{found['slash']}{found['unit']}", found["each"].lower()
    if found := _EACH_AFTER.search(text):
        return text[: found.start()].strip(), found["each"].lower()
    return text, ""


def each_of(metric: Metric) -> str:
    """Return what a rate is per, from its name: ``core`` for ``GFlop/s per core``; empty for a total rate."""
    return _parted(metric.unit)[1] or _parted(metric.name)[1]


def rates(measured: MeasurementSet) -> list[str]:
    """Return the metrics that are rates."""
    return [metric.name for metric in measured.metrics if per(metric) is not None]


def chosen(measured: MeasurementSet, said: str, questions: list[Question]) -> str:
    """Return the rate from which to compute times, empty if a time was measured or there is no rate.

    *said*: the metric named as the time. If there are several rates, the user is asked; per-processor rates come last.
    """
    found = rates(measured)
    whole = [name for name in found if not each_of(measured.metrics[measured.metric(name)])]
    if said:
        return said if said in found else ""
    if any(metric.kind == "time" for metric in measured.metrics) or not found:
        return ""
    if len(whole) == 1:
        return whole[0]
    if len(found) > 1:
        message = f"no time was measured, and {', '.join(found[:6])} are all rates"
        questions.append(Question("time", message, f"--time {quote(found[0])}", tuple(found)))
        return ""
    return found[0]


def timed(measured: MeasurementSet, name: str, processors: str, *, grows: bool) -> MeasurementSet:
    """Return the set with the metric `TIME` (s), the work over the rate *name*, and a remark on it.

    The work is a parameter named like the rate's unit (``cells`` for ``cells/s``), or the metric of floating-point
    operations; otherwise one unit of work, times the processors if the problem *grows* with them. So speedups are
    ratios of rates. Rates of 0 give no time and are counted as left out.
    """
    index = measured.metric(name)
    metric = measured.metrics[index]
    what, seconds = per(metric) or ("the work", 1.0)
    rows = measured.values[measured.values["metric"] == index]
    rate = rows["value"].to_numpy(dtype=np.float64)
    each = each_of(metric)
    if each and _rises(measured, rows, rate, _counting(measured, each, processors)):
        name_of = f"'{name}', which rises with the processors as that of all does, and not as that of each {each}"
    elif each:
        counted = _counting(measured, each, processors)
        rate = rate * np.maximum(measured.points[counted].to_numpy(dtype=np.float64)[rows["point"]], 1.0)
        name_of = f"'{name}' times {counted}, as it is that of each {each}"
    else:
        name_of = f"'{name}'"
    work, words = _work(measured, rows, what, processors, grows=grows)
    good = (rate > 0) & np.isfinite(work) & (work > 0)
    made = rows[good].assign(metric=len(measured.metrics), value=(work * seconds)[good] / rate[good])
    skipped = measured.skipped
    if not good.all():
        skipped = (*skipped, Skipped("rates", int((~good).sum()), f"{name} of 0, or its work, gives no time"))
    remark = f"times are the work over the rate {name_of}, {words}: speedups are ratios of rates"
    return replace(
        measured,
        metrics=(*measured.metrics, Metric(TIME, "s", "time", "inclusive", remark)),
        values=pd.concat([measured.values, made], ignore_index=True),
        skipped=skipped,
        remarks=(*measured.remarks, remark),
    )


def unit_of(measured: MeasurementSet, time: str, processors: str) -> tuple[str, str] | None:
    """Return the unit of the metric *time* implied by a rate, and an explanation; None if none implies it.

    The rate's work must be in the set: a parameter of its name, or floating-point operations.
    """
    spent = measured.values[measured.values["metric"] == measured.metric(time)]
    for name in rates(measured):
        metric = measured.metrics[measured.metric(name)]
        what, seconds = per(metric) or ("", 1.0)
        work, words = _work(measured, spent, what, processors, grows=False)
        if each_of(metric) or not words.startswith("which is"):
            continue
        rate = _aligned(measured, spent, name)
        with np.errstate(all="ignore"):
            ratio = work * seconds / rate / spent["value"].to_numpy(dtype=np.float64)
        ratio = ratio[np.isfinite(ratio) & (ratio > 0)]
        for unit in ("s", "ms", "us", "ns", "min", "h"):
            if len(ratio) > 1 and (np.abs(ratio / SECONDS[unit] - 1) < _ROUNDED).all():
                return unit, f"so it is the work, {words}, over '{name}'"
    return None


def _rises(measured: MeasurementSet, rows: pd.DataFrame, rate: Floats, processors: str) -> bool:
    """Whether a rate is much larger on the most processors than on the fewest, so that it cannot be per processor."""
    counts = np.maximum(measured.points[processors].to_numpy(dtype=np.float64)[rows["point"]], 1.0)
    good = rate > 0
    if not good.any() or counts[good].max() == counts[good].min():
        return False
    few, many = counts[good].min(), counts[good].max()
    gain = np.median(rate[good & (counts == many)]) / np.median(rate[good & (counts == few)])
    return bool(gain >= (many / few) ** _RISING)


def _work(
    measured: MeasurementSet, rows: pd.DataFrame, what: str, processors: str, *, grows: bool
) -> tuple[Floats, str]:
    """Return the work of every row of values in units of the rate, and an explanation."""
    points = measured.points
    same = [name for name in measured.parameters if names.plain(name) == names.plain(what) and name != processors]
    if same and pd.api.types.is_numeric_dtype(points[same[0]].dtype):
        return points[same[0]].to_numpy(dtype=np.float64)[rows["point"]], f"which is '{same[0]}'"
    if (letters := _LETTERS.match(what)) and (counted := _operations(measured)):
        scale = quantities.factor(measured.metrics[measured.metric(counted)], "work_flops", Mapping())
        grid = _aligned(measured, rows, counted) * (np.nan if scale is None else scale)
        if np.isfinite(grid).any():
            return grid / _PREFIX.get(letters["prefix"].lower(), 1.0), f"which is '{counted}'"
    if grows:
        counts = points[processors].to_numpy(dtype=np.float64)[rows["point"]]
        return np.maximum(counts, 1.0), f"which grows with {processors}"
    one = what if what == "the work" else f"1 {what}"
    return np.ones(len(rows)), f"here of {one} at every number of processors"


def _counting(measured: MeasurementSet, each: str, processors: str) -> str:
    """Return the parameter that counts what a rate is per, otherwise the processor count."""
    if each in ("node", "host", "gpu", "device"):
        word = {"host": "node"}.get(each, each)
        known = [name for name in measured.parameters if names.counts_processors(name) and word in names.plain(name)]
        numeric = [name for name in known if pd.api.types.is_numeric_dtype(measured.points[name].dtype)]
        if len(numeric) == 1 and "_per_" not in names.plain(numeric[0]):
            return numeric[0]
    return processors


def _operations(measured: MeasurementSet) -> str:
    """Return the metric that counts floating-point operations, empty if there is none."""
    known = ("flops", "flop", "fp_ops", "work_flops", "papi_fp_ops", "papi_dp_ops")
    return next(
        (each.name for each in measured.metrics if each.kind == "count" and names.plain(each.name) in known), ""
    )


def _aligned(measured: MeasurementSet, rows: pd.DataFrame, metric: str) -> Floats:
    """Return the values of a metric at the points, call paths and repetitions of *rows*; NaN if there is none."""
    keys = ["point", "call_path", "repetition"]
    other = measured.values[measured.values["metric"] == measured.metric(metric)].set_index(keys)["value"]
    found: Floats = other.reindex(pd.MultiIndex.from_frame(rows[keys])).to_numpy(dtype=np.float64)
    return found


def grown(measured: MeasurementSet, processors: str, left: Sequence[str]) -> bool:
    """Whether each problem, distinguished by *left*, ran on only one number of processors, and so grows with them."""
    others = [name for name in left if varies(measured.points[name])]
    if not others:
        return False
    return int(measured.points.groupby(others, dropna=False)[processors].nunique().max()) == 1
