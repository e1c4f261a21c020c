"""Fixed-size, fixed-time and memory-bounded speedup side by side (Sun and Ni 1990, 1993).

A speedup is the speed on N processors over that on one, where a speed is work per time; the three differ in what is
held constant as N grows. With fixed size it is T(1)/T(N); with fixed time it is W'/W for the largest problem that N
processors solve in the time that one takes; with fixed memory per processor it is the speed for the problem that fills
all memories over that for the problem that fills one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import pandas as pd

from scalegraph.analyze import bounds
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers

Kind: TypeAlias = Literal["fixed-size", "fixed-time", "memory-bounded"]
KINDS: tuple[Kind, ...] = ("fixed-size", "fixed-time", "memory-bounded")


@dataclass(frozen=True)
class Speedups:
    """Speedups of one kind by N. *held* is the constant: the time (s) or bytes per processor; None for the size.

    *ways* as for anchors; *reasons* say why a count has no value. *base* is the point on one processor.
    """

    kind: Kind
    values: Mapping[int, float]
    held: float | None = None
    base: Anchor | None = None
    points: Mapping[int, Anchor] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)


def fixed_size(series: Series) -> Speedups:
    """Return T(1)/T(N) of one problem; the reference is that of `reference.compared`.

    Unit: none (ratio). Source: Amdahl 1967.
    """
    counts, values = numbers(series.rows, "processors"), numbers(series.rows, "speedup")
    found = {int(n): float(value) for n, value in zip(counts, values, strict=True)}
    missing = [n for n, value in found.items() if not math.isfinite(value)]
    known = {n: value for n, value in found.items() if n not in missing}
    return Speedups("fixed-size", known, reasons=dict.fromkeys(missing, "no run of this size on one processor"))


def fixed_time(scaling: pd.DataFrame, series: Series, *, tolerance: float = 0.01) -> Speedups:
    """Return W'/W for the largest problems that N processors solve in the time that one takes for *series*.

    Unit: none (ratio). Source: Gustafson 1988; Sun and Ni 1993, eq. 3.
    """
    one = series.rows[numbers(series.rows, "processors") == 1]
    if one.empty:
        return _without("fixed-time", scaling, "no run of this size on one processor says how long it takes")
    held = float(numbers(one, "time_s")[0])
    return _at(scaling, "fixed-time", "time", held, tolerance)


def memory_bounded(scaling: pd.DataFrame, held: float | None, *, tolerance: float = 0.01) -> Speedups:
    """Return the speed for the problem that takes *held* bytes on each of N processors over that of one processor.

    Unit: none (ratio). Source: Sun and Ni 1993, eq. 8: (W*/T_N(W*))/(W/T_1(W)).
    """
    if held is None:
        why = "neither the machine nor a bound gives the memory of a processor"
        return _without("memory-bounded", scaling, why)
    return _at(scaling, "memory-bounded", "memory", held, tolerance)


def _at(scaling: pd.DataFrame, kind: Kind, bound: bounds.Bound, held: float, tolerance: float) -> Speedups:
    found = {one.processors: one for one in bounds.anchors(scaling, bound, held, tolerance=tolerance)}
    base = found.get(1)
    if base is None or not base.known or not base.work or not base.time_s:
        why = base.reason if base is not None and base.reason else "no run on one processor has this bound"
        return _without(kind, scaling, why, held)
    values, reasons = {}, {}
    speed = base.work / base.time_s
    for n, one in sorted(found.items()):
        if one.known and one.work and one.time_s:
            # with fixed time the ratio of speeds is W'/W, apart from the tolerance of the times
            values[n] = one.work / base.work if kind == "fixed-time" else one.work / one.time_s / speed
        else:
            reasons[n] = one.reason or "the work of a run is unknown"
    return Speedups(kind, values, held, base, found, reasons)


def _without(kind: Kind, scaling: pd.DataFrame, why: str, held: float | None = None) -> Speedups:
    return Speedups(kind, {}, held, reasons=dict.fromkeys(sorted({int(n) for n in scaling["processors"]}), why))
