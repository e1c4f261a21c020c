"""Points where the available runs meet a bound at each N: an efficiency, time, memory, speed or energy.

METRICS, "three ways to a matrix": a run within tolerance of the bound is *measured*; between two runs on either side
the point is *computed* by interpolation in log W (isospeed.txt IV.A, approach 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze import isospeed
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.analyze.reference import comparable
from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.units import si, significant

Bound: TypeAlias = Literal["efficiency", "time", "memory", "speed", "energy"]
Way: TypeAlias = Literal["measured", "computed", "predicted", ""]
RunWay: TypeAlias = Literal["measured", "computed", "runs"]  # ways that need only the runs
# Names of the ways for display. "measured" is the name used by the command line and JSON for a point that is itself a
# run, whether the run was measured or simulated.
WAY_WORDS = {
    "measured": "from runs",
    "computed": "interpolated between runs",
    "predicted": "predicted by models",
    "imported": "as imported",
}

# bound -> (column of the runs, name, unit, whether the tolerance is relative)
_BOUNDS: dict[Bound, tuple[str, str, str, bool]] = {
    "efficiency": ("efficiency", "E", "", False),
    "time": ("time_s", "T", "s", True),
    "memory": ("memory_per_processor", "memory per processor", "B", True),
    "speed": ("unit_speed", "average unit speed", "", True),  # in operations or another unit, see `metrics.work_unit`
    "energy": ("energy_j", "energy to solution", "J", True),
}
BOUNDS: tuple[Bound, ...] = tuple(_BOUNDS)
_ROUND_EFFICIENCIES = [0.5, 0.25, 0.75, 0.8, 0.2, 0.1, 0.9, 0.4, 0.6, 0.3, 0.7, 0.05]
_CARRIED = ("work", "latency", "time_s", "efficiency", "unit_speed", "memory_per_processor", "energy_j")


@dataclass(frozen=True)
class Anchor:
    """The point at N = *processors* that meets the bound; fields are ``None`` if unknown, and *reason* says why.

    *latency_s* is in seconds per processor, *work* in operations of the one-processor run, *unit_speed* in operations/s
    per processor. *labels* and *keys* name the run, or the two runs the point lies between. If the point is a run that
    meets the bound only within the tolerance, *work_ends* and *latency_ends* are the values at either end of the
    tolerance, extrapolated from that run log-linearly; ``None`` if the run meets the bound exactly, or nothing shows
    how the values change.
    """

    processors: int
    way: Way = ""
    reason: str = ""
    work: float | None = None
    latency_s: float | None = None
    time_s: float | None = None
    efficiency: float | None = None
    unit_speed: float | None = None
    memory_per_processor: float | None = None
    energy_j: float | None = None
    labels: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    runs_tried: int = 0
    work_ends: tuple[float, float] | None = None
    latency_ends: tuple[float, float] | None = None

    @property
    def known(self) -> bool:
        """Whether the bound is met at this count.

        Source: ScaleGraph.
        """
        return self.way != ""


# Columns of equal length. Dragging a line recomputes matrices at every step, and slicing a table would cost ten times
# as much.
_Rows: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]


def _taken(rows: _Rows, which: np.ndarray[Any, np.dtype[Any]]) -> _Rows:
    """Return the rows selected by a mask or by positions."""
    return {name: values[which] for name, values in rows.items()}


def _prepared(scaling: pd.DataFrame, latency: str) -> _Rows:
    count = numbers(scaling, "processors")
    column = "latency_method1_s" if latency == "method1" else "latency_s"
    value = numbers(scaling, column)
    if latency != "method1":
        # a measured run without accounting still has method 1
        value = np.where(np.isfinite(value), value, numbers(scaling, "latency_method1_s"))
    kept = {name: numbers(scaling, name) for name in ("work", "time_s", "efficiency", "unit_speed", "energy_j")}
    named = {name: scaling[name].to_numpy() for name in ("processors", "label", "keys")}
    memory = numbers(scaling, "memory_bytes") / count
    usable = comparable(scaling)
    kept["efficiency"] = np.where(usable, kept["efficiency"], np.nan)
    return {**named, **kept, "latency": np.where(usable, value, np.nan), "memory_per_processor": memory}


def anchors(
    scaling: pd.DataFrame,
    bound: Bound,
    target: float,
    *,
    processors: Sequence[int] | None = None,
    tolerance: float = 0.01,
    latency: Literal["accounting", "method1"] = "accounting",
    way: RunWay = "runs",
) -> list[Anchor]:
    """Return for each processor count the point where *bound* equals *target*.

    *scaling* comes from `metrics.scaling`; *target* is an efficiency (0 to 1), seconds, bytes per processor,
    operations/s per processor, or joules. *tolerance* is absolute for an efficiency and relative otherwise.

    The least W that meets the bound is wanted (isoefficiency, latency-metric.txt 2.1), which is where `request.search`
    stops; larger sizes on a plateau change nothing. So the runs are scanned by rising W: the first one within
    *tolerance* is taken as it is, unless the value crosses the target upwards between two neighbours before it; then W
    and L are interpolated linearly in their logarithms between those two. If the value never crosses upwards, the first
    downward crossing is used. With *way* ``measured`` only runs within tolerance count, ``computed`` always
    interpolates (isospeed.txt IV.A, approaches 1 and 2), and ``runs`` does as described above. No count serves as its
    own reference: N = 1 has E = 1 and L = 0 by definition.

    Shape: one entry for each processor count. Unit: as in `Anchor`. Source: latency-metric.txt 2.1, isospeed.txt IV.A.
    """
    rows = _prepared(scaling, latency)
    of_work = work_unit(scaling)
    counts = sorted({int(n) for n in rows["processors"]} if processors is None else set(processors))
    return [
        _anchor(_taken(rows, rows["processors"] == count), count, bound, target, max(tolerance, 0.0), way, of_work)
        for count in counts
    ]


def _anchor(
    rows: _Rows, count: int, bound: Bound, target: float, tolerance: float, way: RunWay, of_work: str
) -> Anchor:
    column, words, unit, relative = _BOUNDS[bound]
    unit = speed_unit(of_work) if bound == "speed" else unit
    value, work = rows[column], rows["work"]
    if not len(work):
        return Anchor(count, reason=f"no run on {count} processors")
    usable = np.isfinite(value) & np.isfinite(work) & (work > 0)
    if not usable.any():
        return Anchor(count, reason=_unusable(bound, count, value), runs_tried=len(work))
    places = np.flatnonzero(usable)
    rows = _taken(rows, places[np.argsort(work[places], kind="stable")])
    value, work = rows[column], rows["work"]
    distance = np.abs(value - target) / (abs(target) if relative and target else 1.0)
    near = np.flatnonzero(distance <= tolerance) if way != "computed" else np.flatnonzero(distance <= 1e-12)
    pair = _bracket(value, work, target) if way != "measured" else None
    if len(near) and (pair is None or near[0] <= pair[1] or value[pair[0]] > target):
        return _with_ends(_at_run(rows, int(near[0]), count), rows, int(near[0]), column, target, tolerance, relative)
    if way == "measured" and _bracket(value, work, target) is not None:
        return Anchor(count, reason=f"no run at N = {count} meets {words} within the tolerance", runs_tried=len(work))
    if pair is None:
        goal = f"{words} = {si(target, unit) if unit else format(target, 'g')}"
        return Anchor(
            count, reason=_out_of_reach(rows, value, target, count, goal, (unit, of_work)), runs_tried=len(work)
        )
    # the bounded quantity has its target value exactly, whatever interpolation gives for the others
    return replace(_between(rows, value, pair, target, count), **{column: target})  # type: ignore[arg-type]


def _unusable(bound: Bound, count: int, value: Floats) -> str:
    if bound == "memory" and not np.isfinite(value).any():
        return "the memory use of runs is unknown: the program's description gives no memory per size"
    if bound == "energy" and not np.isfinite(value).any():
        return f"no run on {count} processors has an energy: its machine file gives no power"
    return f"no run on {count} processors has a one-processor run of the same size, so its work is not known"


def _out_of_reach(rows: _Rows, value: Floats, target: float, count: int, goal: str, units: tuple[str, str]) -> str:
    unit, of_work = units

    def shown(number: float) -> str:
        return significant(number) if not unit else si(number, unit)

    below = bool((value < target).all())
    verb = "reaches" if below else "gets down to"
    place = int(np.argmax(value)) if below else int(np.argmin(value))
    label = str(rows["label"][place]) or f"W = {si(float(rows['work'][place]), of_work)}"
    edge = "smallest" if place == 0 else "largest"
    extreme = place in (0, len(value) - 1) and len(value) > 1
    which = f"the {edge} size tried, {label}," if extreme else f"the nearest, {label},"
    if len(value) == 1:
        which = f"the only size tried, {label},"
    return f"no run at N = {count} {verb} {goal}: {which} gives {shown(float(value[place]))}"


def _at_run(rows: _Rows, place: int, count: int) -> Anchor:
    row = {name: values[place] for name, values in rows.items()}
    return Anchor(
        count,
        "measured",
        work=_known(row["work"]),
        latency_s=_known(row["latency"]),
        time_s=_known(row["time_s"]),
        efficiency=_known(row["efficiency"]),
        unit_speed=_known(row["unit_speed"]),
        memory_per_processor=_known(row["memory_per_processor"]),
        energy_j=_known(row["energy_j"]),
        labels=(str(row["label"]),),
        keys=(str(row["keys"]),),
        runs_tried=len(rows["work"]),
    )


def _with_ends(
    anchor: Anchor, rows: _Rows, place: int, column: str, target: float, tolerance: float, relative: bool
) -> Anchor:
    """Return *anchor*, which is a run, with the range of its work and latency over the tolerance."""
    value, work = rows[column], rows["work"]
    if len(work) < 2 or value[place] == target:
        return anchor
    # prefer the neighbour on the other side of the target: the bound is met between the two
    others = [i for i in (place - 1, place + 1) if 0 <= i < len(work) and value[i] != value[place]]
    if not others:
        return anchor
    beyond = [i for i in others if (value[i] - target) * (value[place] - target) < 0]
    other = (beyond or others)[0]
    away = tolerance * (abs(target) if relative and target else 1.0)
    shares = [(end - value[place]) / (value[other] - value[place]) for end in (target - away, target + away)]
    shares = [min(max(float(share), -1.0), 1.0) for share in shares]

    def ends(name: str) -> tuple[float, float] | None:
        at = [_mix(float(rows[name][place]), float(rows[name][other]), share) for share in shares]
        known = [one for one in (*at, float(rows[name][place])) if one is not None and math.isfinite(one)]
        return (min(known), max(known)) if len(known) == len(at) + 1 else None

    return replace(anchor, work_ends=ends("work"), latency_ends=ends("latency"))


def _bracket(value: Floats, work: Floats, target: float) -> tuple[int, int] | None:
    """Return the first neighbours between which the value rises past *target*, else the first where it falls."""
    above = value >= target
    for before in (False, True):
        for index in np.flatnonzero((above[:-1] == before) & (above[1:] != before) & (work[1:] > work[:-1])):
            return int(index), int(index) + 1
    return None


def _between(rows: _Rows, value: Floats, pair: tuple[int, int], target: float, count: int) -> Anchor:
    low, high = ({name: values[place] for name, values in rows.items()} for place in pair)
    share = (target - float(value[pair[0]])) / (float(value[pair[1]]) - float(value[pair[0]]))
    mixed = {name: _mix(float(low[name]), float(high[name]), share) for name in _CARRIED}
    return Anchor(
        count,
        "computed",
        work=mixed["work"],
        latency_s=mixed["latency"],
        time_s=mixed["time_s"],
        efficiency=mixed["efficiency"],
        unit_speed=mixed["unit_speed"],
        memory_per_processor=mixed["memory_per_processor"],
        energy_j=mixed["energy_j"],
        labels=(str(low["label"]), str(high["label"])),
        keys=(str(low["keys"]), str(high["keys"])),
        runs_tried=len(rows["work"]),
    )


def _mix(low: float, high: float, share: float) -> float | None:
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if low > 0 and high > 0:
        return math.exp((1 - share) * math.log(low) + share * math.log(high))
    return (1 - share) * low + share * high  # a latency below 0 (cache effects) has no logarithm


def _known(value: object) -> float | None:
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None


def usual_target(scaling: pd.DataFrame, bound: Bound) -> float | None:
    """Return a target that the runs meet at as many processor counts as possible; ``None`` if there is none.

    For efficiencies the round values 0.5, 0.25, 0.75, ... are tried in that order; for a speed, half of the asymptotic
    one-processor speed (`isospeed.reference_speed`) if two counts meet it. Otherwise the runs' own values are tried,
    and the median of the best ones is returned.

    Unit: that of the bound. Source: ScaleGraph.
    """
    column, _, _, relative = _BOUNDS[bound]
    rows = _prepared(scaling, "accounting")
    value, count, work = rows[column], rows["processors"], rows["work"]
    known = np.isfinite(value) & np.isfinite(work)
    if bound == "speed":
        wanted = isospeed.reference_speed(scaling)
        curves = _curves(value, count, work, known)
        if wanted is not None and sum(_meets(curve, wanted, True) for curve in curves) > 1:
            return wanted
        return _most_met(curves, _spread(value[known])) or wanted
    known &= count > 1
    if not known.any():
        return None
    curves = _curves(value, count, work, known)
    if bound == "efficiency":
        met = [sum(_meets(curve, target, relative) for curve in curves) for target in _ROUND_EFFICIENCIES]
        return _ROUND_EFFICIENCIES[met.index(max(met))] if max(met) else None
    return _most_met(curves, _spread(value[known]))


def _curves(value: Floats, count: Floats, work: Floats, known: np.ndarray[Any, np.dtype[np.bool_]]) -> list[Floats]:
    """Return the values at each processor count, ordered by work."""
    order = np.lexsort((work, count))
    return [value[order][known[order] & (count[order] == n)] for n in np.unique(count[known])]


def _spread(values: Floats) -> list[float]:
    spread = sorted({float(f"{number:.3g}") for number in values})
    return spread[:: max(1, len(spread) // 60)]


def _most_met(curves: Sequence[Floats], candidates: Sequence[float]) -> float | None:
    """Return the median of the *candidates* that most curves meet; ``None`` if no curve meets any."""
    met = [sum(_meets(curve, target, True) for curve in curves) for target in candidates]
    best = [target for target, number in zip(candidates, met, strict=True) if number == max(met)]
    return best[len(best) // 2] if met and max(met) > 0 else None


def _meets(curve: Floats, target: float, relative: bool) -> bool:
    away = curve - target
    near = float(np.abs(away).min()) <= 0.01 * (target if relative else 1.0)
    return near or bool((away[1:] * away[:-1] <= 0).any())
