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
from scalegraph.measurements.model import MeasurementSet, Metric

_AGAIN = re.compile(r" \(\d+\)$")  # the name of a second column of one name
_NEAR = 0.05  # relative: people round a time in minutes to one digit
_MIDDLE = ("median", "mean", "average", "avg")
_CLOCK = names.words(  # the time on the clock from start to end
    "elapsed elapsed_time wall walltime wall_time wallclock wall_clock wallclock_time real real_time runtime run_time "
    "execution_time exec_time duration laufzeit"
)
_SERIAL = frozenset({"serial", "seq", "sequential"})
_LEAST, _MOST = frozenset({"min", "minimum"}), frozenset({"max", "maximum"})
_OF_PROCESSORS = frozenset({"user", "system", "sys", "cpu"})
_BOUNDS = _LEAST | _MOST
_ROUNDED = 0.001  # relative


def contradiction(measured: MeasurementSet, time: str) -> Question | None:
    """Return the question which column is the time if another time of the whole run differs from *time*.

    Such has the same name, in another unit, or another name of the time on the clock (``elapsed_s`` and ``wall_ms``).
    """
    first = measured.metrics[measured.metric(time)]
    if first.unit.lower() not in SECONDS:
        return None
    seconds = derived.medians(measured, time) * SECONDS[first.unit.lower()]
    for other in measured.metrics:
        scale = SECONDS.get(other.unit.lower())
        again = _AGAIN.sub("", other.name) == time and other.unit != first.unit
        if other.name == time or scale is None or not (again or {names.plain(time), names.plain(other.name)} <= _CLOCK):
            continue
        values = derived.medians(measured, other.name) * scale
        known = np.flatnonzero(np.isfinite(seconds) & np.isfinite(values))
        apart = np.abs(seconds[known] - values[known]) > _NEAR * np.maximum(seconds[known], values[known])
        if not apart.any():
            continue
        at = int(known[np.flatnonzero(apart)[0]])
        if again:
            what = f"'{time}' is there in {first.unit} and in {other.unit} ('{other.name}'), and they contradict"
        else:
            what = f"'{time}' and '{other.name}' are both the time on the clock by their names, and contradict"
        message = f"{what} each other: {significant(seconds[at])} s and {significant(values[at])} s in one row"
        switch = f"--time {quote(time)} or --time {quote(other.name)}"
        return Question("time", message, switch, (time, other.name))
    return None


def named(measured: MeasurementSet, timed: list[Metric], notes: list[str]) -> list[Metric]:
    """Return the metrics *timed*, or in their place the mean or median beside minimum and maximum without a name.

    These are of the time on the clock if all of *timed* are parts of the processors' time, as of hyperfine.
    """
    words = {names.plain(metric.name).removesuffix("_time") for metric in timed}
    known = {names.plain(metric.name): metric for metric in measured.metrics if metric.kind != "time"}
    middle = next((known[word] for word in (*_MIDDLE[1:], _MIDDLE[0]) if word in known), None)
    if not words or not words <= _OF_PROCESSORS or middle is None or not _BOUNDS & known.keys():
        return timed
    listed = " and ".join(metric.name for metric in timed)
    notes.append(f"'{middle.name}' was taken as the time, as {listed} are of all processors together")
    return [middle]


def spread(measured: MeasurementSet, processors: str, timed: Sequence[str]) -> tuple[str, str] | None:
    """Return which of *timed* is the time if they are the least, the mean and the most of one time, and why.

    Of repeated runs it is the mean. Of the processors of one run it is the most, as all wait for the slowest: then the
    three are equal on one processor and differ on several. None if nothing tells which of the two they are.
    """
    parts = {name: set(names.plain(name).split("_")) for name in timed}
    stems = {frozenset(words - _BOUNDS - set(_MIDDLE)) for words in parts.values()}
    least, most = ([name for name in timed if parts[name] & ends] for ends in (_LEAST, _MOST))
    inner = [name for word in _MIDDLE for name in timed if word in parts[name]]
    if len(stems) != 1 or not (least or most) or not inner or {*least, *most, *inner} != set(timed):
        return None
    value = derived.medians(measured, inner[0])
    apart = np.zeros(len(value), bool)
    for name in (*least, *most):
        over = (derived.medians(measured, name) / value - 1) * (-1 if name in least else 1)
        if (over < -_ROUNDED).any():
            return None
        apart |= over > _ROUNDED
    counts = pd.to_numeric(measured.points[processors], errors="coerce") if processors in measured.points else None
    alone = np.zeros(len(value), bool) if counts is None else counts.to_numpy(float) == 1
    words = {word for metric in measured.metrics for word in names.plain(metric.name).split("_")}
    within = bool(alone.any() and not apart[alone].any() and apart[~alone].any())
    repeated = bool(words & names.SPREADS) or bool(apart[alone].any())
    if within == repeated or (within and not most):
        return None
    taken = most[0] if within else inner[0]
    listed = ", ".join(name for name in timed if name != taken)
    why = f"{listed} are of the processors of the same run" if within else f"{listed} are of the same runs"
    return taken, f"'{taken}' was taken as the time; {why}"


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
