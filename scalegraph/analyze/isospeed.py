"""Average unit speed: its curves over time, its asymptote with an interval, and psi predicted from parts of the time.

W is the work of a problem (operations), N the processor count, T the elapsed time; the average unit speed is W/(N T)
(isospeed.txt Definition 2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.units import significant

CONFIDENCE = 0.95
_FAR = 0.7  # share of the asymptote: if no run reaches it, the fit is an extrapolation
_ABOVE = 1.02  # share of the asymptote: if a run exceeds it, speeds fall towards the asymptote
_ROUGH = 0.1  # relative error above which the fit is doubtful


@dataclass(frozen=True)
class AsymptoticSpeed:
    """The speed that N processors approach as the problem grows, per processor (isospeed.txt III after Hockney).

    *speed* is r_inf with the interval *low* to *high* (operations/s; *high* may be infinite), *half_work* the W at
    which half of it is reached (n_1/2; negative if the speed falls as the problem grows), *fastest* the highest speed
    of a run, *error* the relative standard deviation of the fit, *sizes* the number of sizes fitted. *doubt* says in a
    sentence why the number is unreliable; empty if it is not.
    """

    processors: int
    speed: float
    low: float
    high: float
    half_work: float
    fastest: float
    error: float
    sizes: int
    doubt: str = ""


def curve(scaling: pd.DataFrame, processors: int) -> pd.DataFrame:
    """Return the runs on *processors* with known work, in that order: a curve of unit speed over time (Fig. 4).

    *scaling* comes from `metrics.scaling`; its columns stay. Rows without time, work or unit speed are left out.

    Shape: one row for each run. Unit: as in `metrics.scaling`. Source: isospeed.txt Fig. 4.
    """
    rows = scaling[scaling["processors"] == processors]
    work, speed = numbers(rows, "work"), numbers(rows, "unit_speed")
    known = np.isfinite(work) & (work > 0) & np.isfinite(speed) & (speed > 0)
    return rows[known].sort_values("work", kind="stable").reset_index(drop=True)


def asymptotic_speed(rows: pd.DataFrame) -> AsymptoticSpeed | None:
    """Return the asymptote of the unit speed of *rows*, one `curve`; ``None`` for fewer than two sizes.

    N T = W_0/r + W/r is fitted by least squares with relative errors, so the unit speed r W/(W + W_0) tends to r, and
    W_0 is the half-performance size. The interval is Student's t on the slope.

    Unit: operations/s for each processor; W_0 in operations. Source: isospeed.txt III.
    """
    if rows.empty or rows["work"].nunique() < 2:
        return None
    count = int(rows["processors"].iloc[0])
    work, total = numbers(rows, "work"), count * numbers(rows, "time_s")
    weight = np.sqrt(np.nan_to_num(numbers(rows, "repetitions"), nan=1.0)) / total
    design = np.column_stack([np.ones(len(work)), work]) * weight[:, None]
    solution, *_ = np.linalg.lstsq(design / _scale(design), total * weight, rcond=None)
    start, slope = (float(value) for value in solution / _scale(design))
    fitted = start + slope * work
    fastest = float(numbers(rows, "unit_speed").max())
    if not slope > 0:
        return AsymptoticSpeed(
            count,
            math.inf,
            fastest,
            math.inf,
            math.inf,
            fastest,
            math.nan,
            len(rows),
            "time does not grow with the work, so the speed has no visible asymptote",
        )
    freedom = len(work) - 2
    error = float(np.sqrt(np.sum((fitted / total - 1) ** 2) / freedom)) if freedom > 0 else math.nan
    low, high = _interval(design, slope, error, freedom)
    doubt = _doubt(rows, start, fastest * slope, error)
    return AsymptoticSpeed(count, 1 / slope, low, high, start / slope, fastest, error, len(rows), doubt)


def _scale(design: Floats) -> Floats:
    """Return the norms of the columns, which differ by many orders of magnitude."""
    return np.asarray(np.linalg.norm(design, axis=0))


def _interval(design: Floats, slope: float, error: float, freedom: int) -> tuple[float, float]:
    if freedom < 1:
        return 0.0, math.inf
    scale = _scale(design)
    inverse = np.linalg.pinv((design / scale).T @ (design / scale))
    spread = error * math.sqrt(float(inverse[1, 1])) / float(scale[1])
    reach = float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2)) * spread
    return 1 / (slope + reach), 1 / (slope - reach) if slope > reach else math.inf


def _doubt(rows: pd.DataFrame, start: float, share: float, error: float) -> str:
    sizes = len(rows)
    if sizes < 3:
        return f"{sizes} sizes fit any such line: a third size is needed for an interval"
    if start < 0 and share > _ABOVE:
        return "the speed falls as the problem grows, so it approaches the asymptote from above"
    if error > _ROUGH:
        return f"the runs deviate from the fit by {significant(100 * error, 2)} %: the speed is not constant"
    if share < _FAR:
        return f"the fastest run reaches {significant(100 * share, 2)} % of it: run larger sizes"
    return ""


def asymptotes(scaling: pd.DataFrame) -> list[AsymptoticSpeed]:
    """Return the asymptote at every processor count with two or more sizes, by N.

    Shape: one entry for each processor count. Unit: operations/s for each processor. Source: `asymptotic_speed`.
    """
    counts = sorted({int(n) for n in scaling["processors"]}) if not scaling.empty else []
    found = [asymptotic_speed(curve(scaling, n)) for n in counts]
    return [one for one in found if one is not None]


def reference_speed(scaling: pd.DataFrame) -> float | None:
    """Return half of the asymptotic speed of one processor (isospeed.txt III, r_1/2); ``None`` if unknown.

    If the fit is in doubt, half of the highest speed of a one-processor run is returned.

    Unit: operations/s. Source: as named above.
    """
    rows = curve(scaling, 1)
    if rows.empty:
        return None
    found = asymptotic_speed(rows)
    if found is not None and not found.doubt:
        return found.speed / 2
    return float(numbers(rows, "unit_speed").max()) / 2


def predicted_psi(compute_s: float, overhead_s: float, overhead2_s: float, speed: float, speed2: float) -> float:
    """Return psi(N, N') from parts of the time (isospeed.txt eq. 5 and 9, Theorems 1 and 2).

    *compute_s* t_cN and *overhead_s* t_oN are for W on N processors, *overhead2_s* t_oN' for W' on N' (seconds);
    *speed* mu(W/N) and *speed2* mu(W'/N') are one processor's speeds with its share of the work (operations/s). The
    load is assumed balanced. Raises `ValueError` if a time or speed is not positive (*compute_s* and *overhead_s* may
    be 0).

    Unit: none (ratio). Source: as named above.
    """
    if not (overhead2_s > 0 and speed > 0 and speed2 > 0 and compute_s >= 0 and overhead_s >= 0):
        raise ValueError("psi needs positive speeds and a positive overhead on N' processors")
    return compute_s / overhead2_s * (1 - speed / speed2) + overhead_s / overhead2_s
