"""Generalized speedup: parallel speed over sequential speed, for problems that do not fit on one processor.

A speed is work per time, W/T. If the sequential speed is that of the same problem, this is the usual speedup. With one
sequential speed for all sizes, two runs are equally efficient exactly if they have the same average unit speed
(isospeed.txt III).
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from scalegraph.analyze import isospeed
from scalegraph.analyze.table import numbers

Sequential: TypeAlias = Literal["asymptotic", "fastest", "same-size"]
SEQUENTIAL: tuple[Sequential, ...] = get_args(Sequential)
_COLUMNS = ("parallel_speed", "sequential_speed", "generalized_speedup", "generalized_efficiency")


def generalized_speedup(scaling: pd.DataFrame, sequential: Sequential = "asymptotic") -> pd.DataFrame:
    """Return generalized speedup = parallel speed / sequential speed (isospeed.txt eq. 4) for every run.

    *scaling* comes from `metrics.scaling`. Columns: ``label``, ``processors``, ``work``; ``parallel_speed`` W/T_para;
    ``sequential_speed``; ``generalized_speedup``, ``generalized_efficiency`` (the former over N); and ``speedup``
    T_seq/T_para of the same problem. *sequential* selects the sequential speed: ``asymptotic`` is r_inf of one
    processor (the speed of its fastest run if the fit is in doubt), ``fastest`` that of its fastest run, ``same-size``
    that of its run of the same problem, which gives the usual speedup. NaN where a run or its work is missing.

    Shape: (runs,), index of *scaling*. Unit: speeds in operations/s; ratios have none. Source: as named above.
    """
    count, time, work = (numbers(scaling, name) for name in ("processors", "time_s", "work"))
    with np.errstate(all="ignore"):
        parallel = np.where(work > 0, work / time, np.nan)
        same = np.where(numbers(scaling, "reference") <= 1, work / numbers(scaling, "t_seq_s"), np.nan)
    single = sequential_speed(scaling, sequential)
    reference = same if sequential == "same-size" else np.full(len(scaling), np.nan if single is None else single)
    with np.errstate(all="ignore"):
        speedup = parallel / reference
    values = (parallel, reference, speedup, speedup / count)
    made = scaling[["label", "processors", "work"]].copy()
    for name, column in zip(_COLUMNS, values, strict=True):
        made[name] = column
    return made.assign(speedup=numbers(scaling, "speedup"))


def sequential_speed(scaling: pd.DataFrame, sequential: Sequential = "asymptotic") -> float | None:
    """Return the sequential speed for all sizes; ``None`` without one-processor runs, or for ``same-size``.

    Unit: operations/s. Source: isospeed.txt III (r_inf); see `generalized_speedup`.
    """
    if scaling.empty or sequential == "same-size":
        return None
    half = isospeed.reference_speed(scaling)
    if half is None or sequential == "asymptotic":
        return None if half is None else 2 * half
    return float(numbers(isospeed.curve(scaling, 1), "unit_speed").max())
