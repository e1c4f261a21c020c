"""The unit of the elapsed time: as the file says, as a rate implies, or asked."""

from __future__ import annotations

import re
from collections.abc import Mapping as Table
from dataclasses import replace
from typing import Any

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import significant
from scalegraph.measurements import rates
from scalegraph.measurements.mapping import CYCLES, SECONDS, Question
from scalegraph.measurements.model import MeasurementSet, Metric

_FACTOR = re.compile(r"(?:x\s*|\*\s*)?(?:10\s*(?:\^|\*\*)\s*|1[eE])(?P<power>[+-]?\d{1,2})\s*(?P<unit>[A-Za-z]+)")
_DAYS = 1e6  # a time that is unlikely to be in seconds


def by_rate(measured: MeasurementSet, time: str, processors: str, answers: dict[str, Any]) -> MeasurementSet:
    """Put the unit of *time* implied by a rate into *answers*; return the set with a remark on that."""
    unit = measured.metrics[measured.metric(time)].unit
    if unit or not processors or "unit" in answers or (decided := rates.unit_of(measured, time, processors)) is None:
        return measured
    answers["unit"] = decided[0]
    remark = f"'{time}' is in {decided[0]}, {decided[1]}"
    return replace(measured, remarks=(*measured.remarks, remark))


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
    return next((name for name in ("s", "ms", "us", "ns") if abs(SECONDS[name] / value - 1) < 1e-9), None)


def _check_unit(metric: Metric, said: str) -> None:
    """Refuse a unit that contradicts that of the file."""
    known = SECONDS.get((_named(metric.unit) or metric.unit).lower())
    if known is not None and known != SECONDS.get(said.lower()):
        message = f"'{metric.name}' is in {metric.unit} according to the file, not in {said}"
        raise InputError(Fault(message, key="--unit"))
