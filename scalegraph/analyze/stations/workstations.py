"""Networks of workstations with different speeds: weighted speedup, efficiency and latency; physical and power scaling.

After X. Zhang and Y. Yan, Modeling and Characterizing Parallel Computing Performance on Heterogeneous Networks of
Workstations (SPDP 1995), and scale-graph.txt section 7: a network grows physically (more stations), in power (faster
stations), or both. The parameter ``speeds`` of a run says how fast its stations are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds
from scalegraph.analyze.matrix import Matrix, from_anchors
from scalegraph.analyze.table import PARAMETER, Floats, numbers, parameter_columns
from scalegraph.base.speeds import speeds as read
from scalegraph.base.units import plain

SPEEDS = f"{PARAMETER}speeds"


def speeds_of(value: object, processors: int) -> Floats:
    """Return the speed of each station from ``4*1+2*2.5``, ``1 1 2``, ``1, 1, 2``, or one number for all *processors*.

    Raises `ValueError` naming what was expected, also if the number of speeds is not *processors*.

    Shape: (stations,). Unit: as written (relative, or operations/s). Source: ScaleGraph.
    """
    number = isinstance(value, int | float | np.number)
    found = read(str(float(value))) if number else read(str(value))  # type: ignore[arg-type]
    if len(found) == 1:
        found = found * processors
    if len(found) != processors:
        raise ValueError(f"'{value}' are the speeds of {len(found)} stations; {processors} were expected")
    return np.array(found)


def weights(speeds: Sequence[float] | Floats, reference: float | None = None) -> Floats:
    """Return the power weights W_i = S_i/max_j S_j of stations, or S_i/*reference* for a given reference station.

    Shape: (stations,). Unit: none (ratio). Source: Zhang and Yan 1995.
    """
    known = np.asarray(speeds, dtype=np.float64)
    return np.asarray(known / (known.max() if reference is None else reference), dtype=np.float64)


def heterogeneity(speeds: Sequence[float] | Floats) -> float:
    """Return H = sum_i (1 - W_i)/n: 0 if all stations are equal.

    Unit: none. Source: Zhang and Yan 1995.
    """
    return float(np.mean(1 - weights(speeds)))


def weighted_work(work: float, speeds: Sequence[float] | Floats) -> Floats:
    """Return the work of each station in proportion to its speed, so that all finish together.

    Shape: (stations,). Unit: operations. Source: Zhang and Yan 1995.
    """
    share = weights(speeds)
    return np.asarray(work * share / share.sum(), dtype=np.float64)


def table(scaling: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of every run with known station speeds, by configuration and work.

    *scaling* comes from `metrics.scaling`. Columns: ``configuration`` (stations and speeds in words), ``processors`` n,
    ``speed`` mean speed of a station, ``work``; ``heterogeneity`` H; ``power`` sum_i W_i, with W_i relative to the
    fastest station of the run; ``power_n`` the same relative to the slowest station of the study, the power-equivalent
    N; ``time_s`` T, ``time_fastest_s`` the time of the run's fastest station alone; ``speedup`` SP = T_fastest/T, at
    most ``power``; ``efficiency`` E = SP/sum_i W_i; ``latency_s`` L = T - T_fastest/sum_i W_i. The time of one station
    alone is that of its one-processor run of the same problem; otherwise that of another station, scaled by their
    speeds. Runs whose problem never ran on one station have NaN. Raises `ValueError` for a text that is not a list of
    speeds.

    Shape: one row for each run. Unit: s; ratios have none. Source: Zhang and Yan 1995, latency-metric.txt 6.1.
    """
    if SPEEDS not in scaling.columns:
        return pd.DataFrame()
    rows = scaling[scaling[SPEEDS].notna()].reset_index(drop=True)
    count, time = numbers(rows, "processors").astype(int), numbers(rows, "time_s")
    speeds = [speeds_of(value, int(n)) for value, n in zip(rows[SPEEDS], count, strict=True)]
    if not speeds:
        return pd.DataFrame()
    slowest = min(float(each.min()) for each in speeds)
    alone = _alone(rows, speeds)
    power = np.array([float(weights(each).sum()) for each in speeds])
    made = pd.DataFrame(
        {
            "configuration": [words(each) for each in speeds],
            "processors": count,
            "speed": [float(each.mean()) for each in speeds],
            "work": numbers(rows, "work"),
            "heterogeneity": [heterogeneity(each) for each in speeds],
            "power": power,
            "power_n": [float(weights(each, slowest).sum()) for each in speeds],
            "time_s": time,
            "time_fastest_s": alone,
            "speedup": alone / time,
            "efficiency": alone / time / power,
            "latency_s": time - alone / power,
            "label": rows["label"],
            "keys": rows["keys"] if "keys" in rows.columns else "",
        }
    )
    return made.sort_values(["power_n", "processors", "work"], kind="stable").reset_index(drop=True)


def words(speeds: Floats) -> str:
    """Return the stations in words: ``4 x 1 + 2 x 2.5``.

    Source: ScaleGraph.
    """
    found, counts = np.unique(speeds, return_counts=True)
    return " + ".join(f"{n} x {plain(float(speed))}" for speed, n in zip(found, counts, strict=True))


def _alone(rows: pd.DataFrame, speeds: list[Floats]) -> Floats:
    """Return the time of each run's problem on its fastest station alone."""
    names = [name for name in parameter_columns(rows) if name != SPEEDS]
    problem = list(rows[names].astype(str).itertuples(index=False, name=None)) if names else [()] * len(rows)
    time = numbers(rows, "time_s")
    known: dict[tuple[str, ...], dict[float, float]] = {}
    for at, each in enumerate(speeds):
        if len(each) == 1 and np.isfinite(time[at]):
            known.setdefault(problem[at], {})[float(each[0])] = float(time[at])
    result = np.full(len(rows), np.nan)
    for at, each in enumerate(speeds):
        ones, fastest = known.get(problem[at], {}), float(each.max())
        if fastest in ones:
            result[at] = ones[fastest]
        elif ones:
            near = min(ones, key=lambda speed: abs(np.log(speed / fastest)))
            result[at] = ones[near] * near / fastest
    return result


def scalability(found: pd.DataFrame, efficiency: float | None = None) -> tuple[Matrix, tuple[str, ...]] | None:
    """Return scale(E, (NOW, NOW')) = L_E(W, NOW)/L_E(W', NOW') of configurations by power, and their names.

    *found* comes from `table`. Rows and columns are positions of configurations from 1, in the order of the
    power-equivalent N; those of one station, which have no latency, are left out. *efficiency* defaults to the round
    one that most configurations meet. ``None`` for fewer than two configurations, or if they meet none.

    Shape: (configurations, the same). Unit: none (ratio). Source: latency-metric.txt eq. 3.7 with configurations.
    """
    rows = found[(found["processors"] > 1) & np.isfinite(numbers(found, "efficiency"))] if len(found) else found
    names = tuple(dict.fromkeys(rows["configuration"])) if len(rows) else ()
    if len(names) < 2:
        return None
    place = {name: index for index, name in enumerate(names, 1)}
    table_ = rows.assign(
        processors=[place[name] for name in rows["configuration"]],
        reference=1.0,
        unit_speed=np.nan,
        memory_bytes=np.nan,
        latency_method1_s=np.nan,
        work_unit="op",
    )
    held = efficiency or bounds.usual_target(table_.assign(processors=table_["processors"] + 1), "efficiency")
    if held is None:
        return None
    return from_anchors(bounds.anchors(table_, "efficiency", held), "latency", "efficiency", held), names


def grid(found: pd.DataFrame, work: float | None = None) -> tuple[float, pd.DataFrame] | None:
    """Return a work and the efficiency of equal stations at it: one row per speed, one column per number of stations.

    *work* defaults to the one run on most configurations, ties going to the largest. ``None`` if no work was run on two
    speeds and two numbers of stations.

    Shape: (speeds, stations), NaN where not run. Unit: none (efficiency); of the work operations. Source:
    scale-graph.txt section 7 (physical and power scaling).
    """
    if found.empty:
        return None
    rows = found[(found["heterogeneity"] < 1e-12) & np.isfinite(numbers(found, "efficiency"))]
    works = rows.groupby("work").size()
    chosen = work if work is not None else max(works.index, key=lambda w: (works[w], w), default=None)
    if chosen is None:
        return None
    mine = rows[np.abs(rows["work"] / chosen - 1) < 1e-9]
    made = mine.pivot_table(index="speed", columns="processors", values="efficiency", aggfunc="median")
    return (float(chosen), made) if min(made.shape) > 1 else None
