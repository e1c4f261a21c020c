"""psi predicted at constant speed from times: a straight line of T over log2 N (isospeed.txt IV.B).

The times at which the runs on each N have the given speed come from approach 2; the line extrapolates them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy

from scalegraph.analyze import matrix as matrices
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.matrix import Matrix, Pair
from scalegraph.base.units import significant

CONFIDENCE = 0.95
_FEWEST = 3  # times needed so that the line can be tested


def over_log2(made: Matrix, up_to: int | None = None) -> Matrix:
    """Return *made*, psi at constant speed, with T(N) = a + b log2 N where no run meets the speed.

    The line is fitted by least squares to the times of the points of *made*, with *up_to* only to those with N <=
    *up_to*; larger counts are then predicted even if there are runs. Intervals (95 %) are Student's t for a new point.
    With fewer than three known times the cells stay empty, with the reason. With the times of Table II for N <= 64 this
    gives the 0.03409 s that the paper prints for N = 128.

    Shape: (counts, counts). Unit: none (ratio); times in s. Source: isospeed.txt IV.B, Table II.
    """
    known = {
        n: anchor.time_s
        for n, anchor in made.anchors.items()
        if anchor.known and anchor.time_s and (up_to is None or n <= up_to)
    }
    wanted = [n for n in made.processors if n not in known]
    if made.bound != "speed":
        return _refused(made, "a line of T over log2 N holds at a constant speed: choose the metric isospeed")
    if not wanted:
        return made
    if len(known) < _FEWEST:
        why = f"a line of T over log2 N needs {_FEWEST} counts or more that meet the speed, not {len(known)}"
        again = _again(made, {n: Anchor(n, reason=why) for n in wanted})
        return replace(again, notes=(*again.notes, f"{why[0].upper()}{why[1:]}."))
    x = np.log2(np.array(list(known), dtype=float))
    y = np.array(list(known.values()), dtype=float)
    slope, start = (float(value) for value in np.polyfit(x, y, 1))
    freedom = len(x) - 2
    error = math.sqrt(float(np.sum((y - start - slope * x) ** 2)) / freedom)
    reach = float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * error
    spread = float(np.sum((x - x.mean()) ** 2))
    anchors, ends = {}, {n: (time, time) for n, time in known.items()}
    for n in wanted:
        time = start + slope * math.log2(n)
        if time <= 0:
            anchors[n] = Anchor(n, reason=f"the line of T over log2 N is not above 0 at N = {n}")
            continue
        wide = reach * math.sqrt(1 + 1 / len(x) + (math.log2(n) - float(x.mean())) ** 2 / spread)
        ends[n] = (time - wide, time + wide)
        anchors[n] = _at(n, time, made.target)
    counts = ", ".join(map(str, sorted(known)))
    note = (
        f"Model: T(N) = {significant(start, 4)} + {significant(slope, 4)} log2 N s at the speed held, by least squares"
        f" through N = {counts}; residual {significant(error, 2)} s."
    )
    again = _again(made, anchors)
    return replace(again, intervals=_intervals(again, ends), notes=(*again.notes, note))


def _at(n: int, time: float, speed: float) -> Anchor:
    """Return the point on *n* processors that takes *time* at *speed*: W = N T speed."""
    return Anchor(
        n, "predicted", work=n * time * speed, time_s=time, unit_speed=speed, labels=("line of T over log2 N",)
    )


def _refused(made: Matrix, why: str) -> Matrix:
    return _again(made, {n: Anchor(n, reason=why) for n in made.processors})


def _again(made: Matrix, changed: Mapping[int, Anchor]) -> Matrix:
    """Return *made* recomputed with some points replaced."""
    found = [
        changed.get(n) or made.anchors.get(n, Anchor(n, reason=f"no run on {n} processors")) for n in made.processors
    ]
    again = matrices.from_anchors(found, made.metric, made.bound, made.target, work_unit=made.work_unit)
    return replace(again, notes=made.notes)


def _intervals(made: Matrix, ends: Mapping[int, tuple[float, float]]) -> dict[Pair, tuple[float, float]]:
    found = {}
    for (n, n2), way in made.ways.items():
        (low, high), (low2, high2) = ends[n], ends[n2]
        if way == "predicted" and n != n2 and low2 > 0:  # otherwise there is no upper end
            found[(n, n2)] = (max(low, 0.0) / high2, high / low2)
    return found
