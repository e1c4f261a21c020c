"""Weak scaling: a problem that grows with the processors, and how constant its time stays."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze import estimates
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import PARAMETER, numbers, parameter_columns
from scalegraph.measurements.runs import SIZE, varies


def grown_series(scaling: pd.DataFrame) -> Series | None:
    """Return the runs of a weak-scaling set by N: one problem per N, growing with N.

    If there are several sets (other text parameters, or several sizes on every N), the one with most processor counts,
    ties going to the smallest sizes; ``None`` for fewer than two N.

    Shape: one row for each N. Source: ScaleGraph.
    """
    if scaling.empty:
        return None
    column = f"{PARAMETER}{SIZE}"
    names = parameter_columns(scaling)
    sizes = [column] if column in names else [name for name in names if pd.api.types.is_numeric_dtype(scaling[name])]
    sizes = [name for name in sizes if varies(scaling[name])]
    others = [name for name in names if name not in sizes]
    groups = [rows for _, rows in scaling.groupby(others, dropna=False)] if others else [scaling]
    rows = max(groups, key=lambda part: part["processors"].nunique()).sort_values(["processors", *sizes], kind="stable")
    rows = rows.drop_duplicates("processors").reset_index(drop=True)
    return Series(rows, "work grows with N", "processors") if len(rows) > 1 else None


def efficiencies(found: Series) -> pd.DataFrame:
    """Return the weak-scaling metrics of *found*, one row per N, by N.

    Columns: ``problem``, ``label``, ``processors``, ``keys``, ``time_s``; ``weak_efficiency`` E = T(N0)/T(N), 1 on the
    fewest processors N0; ``scaled_speedup`` S = N E; ``serial_share`` s = (N - S)/(N - N0), the share of the time on N
    processors that Gustafson's law S = N - s (N - N0) calls serial (Gustafson 1988, for N0 = 1), NaN on N0. ``_low``
    and ``_high`` of the first two are the ends of their 95 % intervals: relative errors of estimated times in
    quadrature.

    Shape: one row for each N. Unit: s; ratios have none. Source: as named above.
    """
    rows = found.rows.sort_values("processors").reset_index(drop=True)
    count, time = numbers(rows, "processors"), numbers(rows, "time_s")
    made = rows[["problem", "label", "processors", "keys", "time_s"]].copy()
    with np.errstate(all="ignore"):
        speedup = count * time[0] / time
        made["weak_efficiency"] = time[0] / time
        made["scaled_speedup"] = speedup
        error = np.nan_to_num(numbers(rows, "time_error"))
        error = np.where(count > count[0], estimates.combined(error, error[0]), 0.0)
        for name, values in (("weak_efficiency", time[0] / time), ("scaled_speedup", speedup)):
            made[f"{name}_low"], made[f"{name}_high"] = values * np.maximum(1 - error, 0.0), values * (1 + error)
        made["serial_share"] = np.where(count > count[0], (count - speedup) / (count - count[0]), np.nan)
    return made
