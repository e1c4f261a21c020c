"""Isospeed-efficiency: scalability of heterogeneous processors, by their marked speeds.

X.-H. Sun, Y. Chen, M. Wu, Scalability of Heterogeneous Computing (ICPP 2005): C is the sum of the marked speeds of the
processors, the speed-efficiency is E_S = (W/T)/C, and psi(C, C') = C' W/(C W') at equal E_S. For equal processors it is
isospeed (isospeed.txt eq. 1-3).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds
from scalegraph.analyze.matrix import Matrix, from_anchors
from scalegraph.analyze.stations.workstations import SPEEDS, speeds_of, words
from scalegraph.analyze.table import Floats, numbers


def table(scaling: pd.DataFrame) -> pd.DataFrame:
    """Return marked speed and speed-efficiency of every run with known work, by configuration and work.

    *scaling* comes from `metrics.scaling`. The relative speeds of the processors are the runs' parameter ``speeds``;
    without it all are equal. The marked speed of a processor is its relative speed times the highest speed per relative
    speed reached by a one-processor run, or just the relative speed without such a run. Columns: ``configuration`` in
    words, ``processors``, ``relative_speed`` the sum of the relative speeds, ``marked_speed`` C, ``work`` W, ``time_s``
    T, ``achieved_speed`` W/T, ``speed_efficiency`` W/(T C), ``label``, ``keys``. Raises `ValueError` for a text that is
    not a list of speeds.

    Shape: one row for each run. Unit: work/s; the efficiency has none if a one-processor run gives the marked speed.
    Source: Sun, Chen, Wu 2005, Definitions 1 to 4.
    """
    known = scaling[np.isfinite(numbers(scaling, "work")) & np.isfinite(numbers(scaling, "time_s"))]
    if known.empty:
        return pd.DataFrame()
    rows = known.reset_index(drop=True)
    count, work, time = numbers(rows, "processors").astype(int), numbers(rows, "work"), numbers(rows, "time_s")
    given = rows[SPEEDS] if SPEEDS in rows.columns else pd.Series([None] * len(rows))
    # equal processors need no list: a study may claim billions of them
    speeds = [None if pd.isna(text) else speeds_of(text, int(n)) for text, n in zip(given, count, strict=True)]
    relative = np.array([float(n if each is None else each.sum()) for each, n in zip(speeds, count, strict=True)])
    alone = (work / time / relative)[count == 1]
    marked = relative * (float(alone.max()) if len(alone) else 1.0)
    with np.errstate(all="ignore"):
        efficiency = work / time / marked
    made = pd.DataFrame(
        {
            "configuration": [
                f"{n} x 1" if each is None else words(each) for each, n in zip(speeds, count, strict=True)
            ],
            "processors": count,
            "relative_speed": relative,
            "marked_speed": marked,
            "work": work,
            "time_s": time,
            "achieved_speed": work / time,
            "speed_efficiency": efficiency,
            "label": rows["label"],
            "keys": rows["keys"] if "keys" in rows.columns else "",
        }
    )
    return made.sort_values(["marked_speed", "processors", "work"], kind="stable").reset_index(drop=True)


def scalability(found: pd.DataFrame, efficiency: float | None = None) -> tuple[Matrix, tuple[str, ...]] | None:
    """Return psi(C, C') of configurations by marked speed, and their names.

    *found* comes from `table`. Rows and columns are positions of configurations, from 1. *efficiency* is the
    speed-efficiency held constant; by default one that most configurations meet. ``None`` for fewer than two
    configurations, or if they meet none.

    Shape: (configurations, the same). Unit: none (ratio). Source: Sun, Chen, Wu 2005, Definition 5.
    """
    names = tuple(dict.fromkeys(found["configuration"])) if len(found) else ()
    if len(names) < 2:
        return None
    place = {name: index for index, name in enumerate(names, 1)}
    speed = {
        place[name]: float(value) for name, value in zip(found["configuration"], found["marked_speed"], strict=True)
    }
    rows = found.assign(
        processors=[place[name] for name in found["configuration"]],
        unit_speed=found["speed_efficiency"],
        efficiency=np.nan,
        latency_s=np.nan,
        latency_method1_s=np.nan,
        memory_bytes=np.nan,
        reference=1.0,
        work_unit="op",
    )
    held = efficiency or _usual(rows)
    if held is None:
        return None
    made = from_anchors(bounds.anchors(rows, "speed", held), "isospeed", "speed", held)
    values = {pair: _psi(made, speed, *pair) for pair in made.values}
    return replace(made, values=values), names


def _psi(made: Matrix, speed: dict[int, float], low: int, high: int) -> float:
    work, work2 = made.anchors[low].work, made.anchors[high].work
    assert work, "a pair that has a value has work"
    assert work2
    return 1.0 if low == high else speed[high] * work / (speed[low] * work2)


def _usual(rows: pd.DataFrame) -> float | None:
    """Return the speed-efficiency, among the runs' own, that most configurations meet; the median of these."""
    curves = [numbers(part.sort_values("work"), "unit_speed") for _, part in rows.groupby("processors", sort=True)]
    candidates = sorted({float(value) for curve in curves for value in curve if np.isfinite(value)})
    met = [sum(_meets(curve, wanted) for curve in curves) for wanted in candidates]
    best = [wanted for wanted, number in zip(candidates, met, strict=True) if number == max(met)]
    return best[len(best) // 2] if met and max(met) > 1 else None


def _meets(curve: Floats, wanted: float) -> bool:
    return bool(np.nanmin(curve) <= wanted <= np.nanmax(curve))
