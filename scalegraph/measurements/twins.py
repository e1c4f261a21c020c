"""One time in several columns: in seconds and in milliseconds, or as the mean, the least and the most of its runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

import numpy as np
import pandas as pd

from scalegraph.base.units import significant
from scalegraph.measurements import derived, names
from scalegraph.measurements.mapping import SECONDS, Question
from scalegraph.measurements.model import MeasurementSet

_AGAIN = re.compile(r" \(\d+\)$")  # the name of a second column of one name
_NEAR = 0.05  # relative: people round a time in minutes to one digit
_MIDDLE = ("median", "mean", "average", "avg")
_SERIAL = frozenset({"serial", "seq", "sequential"})
_BOUNDS = frozenset({"min", "minimum", "max", "maximum"})


def contradiction(measured: MeasurementSet, time: str) -> Question | None:
    """Return the question which column is the time if another of the name of *time*, in another unit, differs."""
    first = measured.metrics[measured.metric(time)]
    if first.unit.lower() not in SECONDS:
        return None
    seconds = derived.medians(measured, time) * SECONDS[first.unit.lower()]
    for other in measured.metrics:
        scale = SECONDS.get(other.unit.lower())
        if other.name == time or _AGAIN.sub("", other.name) != time or scale is None or other.unit == first.unit:
            continue
        again = derived.medians(measured, other.name) * scale
        known = np.flatnonzero(np.isfinite(seconds) & np.isfinite(again))
        apart = np.abs(seconds[known] - again[known]) > _NEAR * np.maximum(seconds[known], again[known])
        if not apart.any():
            continue
        at = int(known[np.flatnonzero(apart)[0]])
        message = (
            f"'{time}' is there in {first.unit} and in {other.unit} ('{other.name}'), and they contradict each other: "
            f"{significant(seconds[at])} s and {significant(again[at])} s in one row"
        )
        switch = f"--time {quote(time)} or --time {quote(other.name)}"
        return Question("time", message, switch, (time, other.name))
    return None


def middle(measured: MeasurementSet, timed: Sequence[str]) -> tuple[str, str] | None:
    """Return the mean or median among *timed*, if the others are the least and the most of it, and an explanation."""
    parts = {name: set(names.plain(name).split("_")) for name in timed}
    stems = {frozenset(words - _BOUNDS - set(_MIDDLE)) for words in parts.values()}
    bounds = [name for name in timed if parts[name] & _BOUNDS]
    inner = [name for word in _MIDDLE for name in timed if word in parts[name]]
    if len(stems) != 1 or not bounds or not inner or set(bounds) | set(inner) != set(timed):
        return None
    value = derived.medians(measured, inner[0])
    for name in bounds:
        other = derived.medians(measured, name)
        known = np.isfinite(value) & np.isfinite(other)
        least = bool(parts[name] & {"min", "minimum"})
        if (other > value * 1.001 if least else other < value * 0.999)[known].any():
            return None
    listed = ", ".join(name for name in timed if name != inner[0])
    return inner[0], f"'{inner[0]}' was taken as the time; {listed} are of the same runs"


def bases(measured: MeasurementSet, processors: str, timed: Sequence[str]) -> dict[str, str]:
    """Return those of *timed* to which a speedup is relative, with a note: the time is another one.

    Such is a time that is called serial beside one that is not, or that a speedup column divides by the time.
    """
    follow = derived.times(measured, processors, timed)
    called = [name for name in timed if set(names.plain(name).split("_")) & _SERIAL]
    counts = pd.to_numeric(measured.points[processors], errors="coerce") if processors in measured.points else None
    if 0 < len(called) < len(timed) and counts is not None and not (counts <= 1).all():
        follow.update(dict.fromkeys(called, ""))
    made = {}
    for name in timed:
        if name in called and name in follow:
            made[name] = f"'{name}' is the time of the serial program by its name; it was not taken as the time"
        elif "is relative to" in follow.get(name, ""):
            made[name] = f"{follow[name]}; it was not taken as the time"
    return made if len(made) < len(timed) else {}
