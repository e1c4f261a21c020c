"""Intervals of what is computed from the times of estimated runs.

Runs are sampled independently, so errors of different runs add in quadrature. Errors within a run do not: its
categories share the visits that were measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze.table import Floats, numbers

_INTERVAL = "interval."
_LOST = ("stall_", "idle_", "prim_")


def combined(*errors: Floats | float) -> Floats:
    """Return the relative half width of a product or quotient of independent numbers with relative *errors*.

    The square root of the sum of squares.

    Shape: that of *errors*. Unit: none (share). Source: JCGM 100:2008 (GUM), 5.1.6, equation 12.
    """
    return np.sqrt(sum(np.square(error) for error in errors))


def costs(runs: pd.DataFrame) -> dict[str, Floats]:
    """Return the half widths of a run's sums over processors: ``stall_error_s``, ``lost_error_s``, and ``time_error``.

    ``lost_error_s`` is that of memory stall, idle time and primitives together: the smaller of two upper bounds, the
    sum of the intervals of these categories, and that of N T_para less the busy time, which is the same quantity.
    ``time_error`` is relative. All are 0 for runs simulated in full.

    Shape: (runs,) each. Unit: s of processor time; none (share). Source: ScaleGraph; standard errors of a sum are at
    most the sum of the standard errors, whatever their correlation.
    """
    clock = np.where(numbers(runs, "clock_hz") > 0, numbers(runs, "clock_hz"), np.nan)
    names = [str(name).removeprefix(_INTERVAL) for name in runs.columns if str(name).startswith(_INTERVAL)]
    busy = _sum(runs, [name for name in names if name.startswith("busy_")])
    lost = _sum(runs, [name for name in names if name.startswith(_LOST)])
    stall = _sum(runs, [name for name in names if name.startswith("stall_")])
    whole = numbers(runs, "processors") * np.nan_to_num(numbers(runs, f"{_INTERVAL}time_cycles"))
    return {
        "time_error": np.nan_to_num(numbers(runs, "time_error")),
        "stall_error_s": np.nan_to_num(stall / clock),
        "lost_error_s": np.nan_to_num(np.minimum(lost, whole + busy) / clock),
    }


def _sum(runs: pd.DataFrame, names: Sequence[str]) -> Floats:
    return sum((np.nan_to_num(numbers(runs, f"{_INTERVAL}{name}")) for name in names), np.zeros(len(runs)))


def spread(rows: pd.DataFrame) -> bool:
    """Return whether a point of *rows* (`metrics.scaling`) has an interval: it was repeated, or is estimated.

    Source: ScaleGraph.
    """
    return bool((numbers(rows, "repetitions") > 1).any() or (numbers(rows, "time_error") > 0).any())


def half_width(rows: pd.DataFrame, column: str) -> Floats:
    """Return half the 95 % interval of *column* of `metrics.scaling` for estimated rows; 0 for others, or if unknown.

    Shape: (rows,). Unit: that of *column*. Source: `intervals`.
    """
    low, high = ("time_min_s", "time_max_s") if column == "time_s" else (f"{column}_low", f"{column}_high")
    estimated = (numbers(rows, "time_error") > 0) | (numbers(rows, "time_one_error") > 0)
    return np.where(estimated, np.nan_to_num(numbers(rows, high) - numbers(rows, low)) / 2, 0.0)


def intervals(runs: pd.DataFrame) -> Mapping[str, Floats]:
    """Return the ends of the 95 % intervals of what `metrics.scaling` derives from estimated times, as columns.

    *runs* has the columns of `costs`, those of the reference as ``time_one_error`` and ``stall_one_error_s``, and the
    metrics. Columns: ``_low`` and ``_high`` of ``speedup`` (a quotient of independent runs: both relative errors in
    quadrature; without an error if the run is its own reference), of ``latency_s`` and ``latency_method1_s`` (absolute
    errors in quadrature), and of ``unit_speed``. The ends of speedups of runs simulated in full stay as they are in
    *runs*. Empty if no run is estimated.

    Shape: (runs,) each. Unit: that of the metric. Source: JCGM 100:2008 (GUM), 5.1.2 and 5.1.6.
    """
    own, one = numbers(runs, "time_error"), np.nan_to_num(numbers(runs, "time_one_error"))
    if not (own > 0).any():
        return {}
    count, time = numbers(runs, "processors"), numbers(runs, "time_s")
    itself = count == numbers(runs, "reference")
    ratio = np.where(itself, 0.0, combined(own, one))
    stalled = np.where(itself, 0.0, np.nan_to_num(numbers(runs, "stall_one_error_s")))
    errors = {
        "speedup": numbers(runs, "speedup") * ratio,
        "latency_s": combined(numbers(runs, "lost_error_s"), stalled) / count,
        "latency_method1_s": np.where(itself, 0.0, combined(time * own, numbers(runs, "t_seq_s") * one / count)),
        "unit_speed": numbers(runs, "unit_speed") * own,
    }
    found: dict[str, Floats] = {}
    for name, error in errors.items():
        value = numbers(runs, name)
        found |= {f"{name}_low": value - error, f"{name}_high": value + error}
    for end in ("speedup_low", "speedup_high"):
        found[end] = np.where((own > 0) | (one > 0), np.maximum(found[end], 0.0), numbers(runs, end))
    return found
