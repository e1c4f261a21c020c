"""A quantity over processors and work, interpolated between the runs, for contour maps (isospeed.txt Fig. 5)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from scalegraph.analyze.table import Floats, numbers

_OVERLAP = 0.95  # minimum overlap of the size ranges of neighbouring counts, in log W
_BETWEEN, _ROWS = 49, 121  # columns and rows of a triangulated map


@dataclass(frozen=True)
class WorkField:
    """*values* of a quantity at [work][columns]; NaN outside the range of the runs.

    *processors* are the counts run; *columns* are these plus intermediate ones where neighbours ran different sizes.
    *runs* are the source rows, with the quantity as column ``value`` and the work as ``work``.
    """

    processors: tuple[int, ...]
    columns: tuple[float, ...]
    work: tuple[float, ...]
    values: Floats
    runs: pd.DataFrame


def over_work(scaling: pd.DataFrame, column: str, most_rows: int = 80) -> WorkField | None:
    """Return *column* of `metrics.scaling` over (N, W), interpolated in log W between runs at each N.

    Counts with a single size are left out; ``None`` if fewer than two counts have more. The nodes are the sizes run, or
    *most_rows* even steps of log W if there are more. A search runs different sizes at each N: then the map is
    triangulated in (log N, log W), so that contours continue from count to count.

    Shape: `values` is (sizes, columns). Unit: that of *column*. Source: isospeed.txt Fig. 5; interpolation
    ScaleGraph's.
    """
    value, work = numbers(scaling, column), numbers(scaling, "work")
    known = np.isfinite(value) & np.isfinite(work) & (work > 0)
    rows = scaling[known].assign(value=value[known], work=work[known]).sort_values(["processors", "work"])
    # a count with one size belongs to another series of the study, and would leave gaps on both sides
    rows = rows[rows.groupby("processors")["work"].transform("nunique") >= 2]
    counts = sorted({int(n) for n in rows["processors"]})
    if len(counts) < 2:
        return None
    apart = _apart(rows, counts)
    nodes = _nodes(numbers(rows, "work"), most_rows, even=apart)
    columns = np.unique([*counts, *np.geomspace(counts[0], counts[-1], _BETWEEN)]) if apart else np.array(counts, float)
    grid = _triangles(rows, columns, nodes) if apart else np.full((len(nodes), len(counts)), np.nan)
    for count in counts:
        mine = rows[rows["processors"] == count]
        at = np.log(numbers(mine, "work"))
        inside = (np.log(nodes) >= at[0] - 1e-9) & (np.log(nodes) <= at[-1] + 1e-9)
        index = int(np.flatnonzero(columns == count)[0])
        grid[inside, index] = np.interp(np.log(nodes[inside]), at, numbers(mine, "value"))
    places = tuple(float(place) for place in columns)
    return WorkField(tuple(counts), places, tuple(float(w) for w in nodes), grid, rows.reset_index(drop=True))


def _apart(rows: pd.DataFrame, counts: list[int]) -> bool:
    """Return whether the sizes of some neighbouring counts do not overlap, which would break contours."""
    ends = [np.log(numbers(rows[rows["processors"] == n], "work")[[0, -1]]) for n in counts]
    return any(
        min(one[1], two[1]) - max(one[0], two[0]) < _OVERLAP * max(one[1] - one[0], two[1] - two[0])
        for one, two in itertools.pairwise(ends)
    )


def _triangles(rows: pd.DataFrame, columns: Floats, nodes: Floats) -> Floats:
    """Return the values at *nodes* and *columns*, interpolated linearly between the nearest runs.

    NaN above the line through the largest size of each count and below that through the smallest.
    """
    places = np.column_stack([np.log(numbers(rows, "processors")), np.log(numbers(rows, "work"))])
    made = scipy.interpolate.LinearNDInterpolator(places, numbers(rows, "value"), rescale=True)
    across, up = np.meshgrid(np.log(columns), np.log(nodes))
    ends = rows.groupby("processors")["work"].agg(["min", "max"])
    counts = np.log(ends.index.to_numpy(dtype=np.float64))
    least, most = (np.interp(across, counts, np.log(ends[name].to_numpy(dtype=np.float64))) for name in ("min", "max"))
    return np.where((up >= least - 1e-9) & (up <= most + 1e-9), made(across, up), np.nan)


def _nodes(work: Floats, most: int, *, even: bool) -> Floats:
    """Return the sizes in order, merging those equal up to rounding; evenly spaced ones if *even*."""
    if even:
        return np.geomspace(work.min(), work.max(), _ROWS)
    ordered = np.unique(work)
    kept = ordered[np.concatenate([[True], np.diff(np.log(ordered)) > 1e-9])]
    return kept if len(kept) <= most else np.geomspace(kept[0], kept[-1], most)
