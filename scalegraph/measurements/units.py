"""The unit of the elapsed time: as the file says, as a rate implies, or asked."""

from __future__ import annotations

import re
from collections.abc import Mapping as Table
from dataclasses import replace
from typing import Any

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import significant
from scalegraph.measurements import derived, names, rates
from scalegraph.measurements.mapping import CYCLES, SECONDS, Question
from scalegraph.measurements.model import MeasurementSet, Metric

_FACTOR = re.compile(r"(?:x\s*|\*\s*)?(?:10\s*(?:\^|\*\*)\s*|1[eE])(?P<power>[+-]?\d{1,2})\s*(?P<unit>[A-Za-z]+)")
_NEAR = 0.05  # relative
_DAYS = 1e6  # a time that is unlikely to be in seconds


def by_rate(measured: MeasurementSet, time: str, processors: str, answers: dict[str, Any]) -> MeasurementSet:
    """Put the unit of *time* implied by a rate into *answers*; return the set with a remark on that."""
    unit = measured.metrics[measured.metric(time)].unit
    if unit or not processors or "unit" in answers:
        return measured
    decided = rates.unit_of(measured, time, processors) or _of_clock(measured, time) or _per(measured, time, processors)
    if decided is None:
        return measured
    answers["unit"] = decided[0]
    remark = f"'{time}' is in {decided[0]}, {decided[1]}; --unit says another"
    return replace(measured, remarks=(*measured.remarks, remark))


def _of_clock(measured: MeasurementSet, time: str) -> tuple[str, str] | None:
    """Return seconds if `real`, `user` and `sys` are there, as the command `time` prints them, and *time* is `real`."""
    known = {metric.name.lower(): metric.name for metric in measured.metrics if not metric.unit}
    if not known.keys() >= {"real", "user", "sys"} or len(measured.call_paths) != 1:
        return None
    one, other = derived.medians(measured, time), derived.medians(measured, known["real"])
    alike = np.isfinite(one) & np.isfinite(other)
    if not alike.any() or (np.abs(one - other)[alike] > _NEAR * np.maximum(one, other)[alike]).any():
        return None
    return "s", "as real, user and sys are what the command time prints"


def _per(measured: MeasurementSet, time: str, processors: str) -> tuple[str, str] | None:
    """Return seconds if a rate is per second of *time* by its name (``cpu_second`` beside ``cpu time``).

    The rate times the time must be the same at all points, or that for each processor.
    """
    words = set(names.plain(time).split("_"))
    counts = measured.points[processors].to_numpy(dtype=np.float64)
    for name in rates.rates(measured):
        each = rates.each_of(measured.metrics[measured.metric(name)])
        if (
            each in words
            and re.search(rf"{each}[_\s-]*s(ec(onds?)?)?$", name.lower())
            and len(measured.call_paths) == 1
        ):
            work = derived.medians(measured, name) * derived.medians(measured, time)
            for form in (work, work / np.maximum(counts, 1.0)):
                known = form[np.isfinite(form)]
                if len(known) > 1 and 0 < known.max() <= (1 + _NEAR) * known.min():
                    return "s", f"as '{name}' is per second of it, and their product is the work"
    return None


def unit_of(
    measured: MeasurementSet, time: str, said: Table[str, Any], questions: list[Question], *, asked: bool
) -> str:
    """Return the unit of the metric *time*; if nothing states it, ask, with a guess from its largest value."""
    at = measured.metric(time)
    metric = measured.metrics[at]
    largest = float(measured.values["value"][measured.values["metric"] == at].max())
    unit = str(said["unit"]) if "unit" in said else metric.unit
    if unit.lower() in CYCLES:
        if asked and not said.get("clock_hz"):
            questions.append(Question("clock_hz", f"'{metric.name}' is in cycles", "--clock HZ"))
        return unit
    if "unit" in said:
        _check_unit(metric, unit)
        return unit
    if (named := _named(metric.unit)) is not None:
        return named
    if metric.unit.lower() in SECONDS:
        return metric.unit
    if asked:
        what = f"is in '{metric.unit}', which is not a known unit of time" if metric.unit else "has no unit"
        because = "" if metric.unit else "is the unit that most people leave out"
        units = ("s", "ms", "us", "ns", "min", "h")
        if any(map(str.isdigit, metric.unit)):  # `x1000 s`: none of these is likely
            questions.append(Question("unit", f"'{metric.name}' {what}", "--unit U, with numbers in that unit"))
            return ""
        if largest >= _DAYS:
            units, because = (
                ("us", "ms", "s", "ns", "min", "h"),
                f"is likely, as {significant(largest, 3)} s would be days",
            )
        questions.append(Question("unit", f"'{metric.name}' {what}", f"--unit {units[0]}", units, because))
    return ""


def _named(unit: str) -> str | None:
    """Return the name of a unit with a factor: ``ms`` for ``10^-3 s``; None if it has none."""
    found = _FACTOR.fullmatch(unit.strip())
    if found is None or found["unit"].lower() not in SECONDS:
        return None
    value = 10.0 ** int(found["power"]) * SECONDS[found["unit"].lower()]
    return next((name for name in ("s", "ms", "us", "ns", "ks") if abs(SECONDS[name] / value - 1) < 1e-9), None)


def _check_unit(metric: Metric, said: str) -> None:
    """Refuse a unit that contradicts that of the file."""
    known = SECONDS.get((_named(metric.unit) or metric.unit).lower())
    if known is not None and known != SECONDS.get(said.lower()):
        message = f"'{metric.name}' is in {metric.unit} according to the file, not in {said}"
        raise InputError(Fault(message, key="--unit"))
