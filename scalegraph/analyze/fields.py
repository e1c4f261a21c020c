"""A quantity over processors and work: the runs, and what is between them, for contour maps (isospeed.txt Fig. 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.table import Floats, numbers


@dataclass(frozen=True)
class WorkField:
    """*values* of a quantity at [work][processors]; NaN where the runs on either side do not reach.

    *runs* are the rows it rests on, with the quantity as column ``value`` and the work as ``work``.
    """

    processors: tuple[int, ...]
    work: tuple[float, ...]
    values: Floats
    runs: pd.DataFrame


def over_work(scaling: pd.DataFrame, column: str, most_rows: int = 80) -> WorkField | None:
    """Return *column* of `metrics.scaling` over (N, W), linear in log W between the runs on each N; never beyond them.

    Counts with a single size are left out; ``None`` where fewer than two counts have more. The nodes are at the
    sizes that were run, or at *most_rows* even steps of log W if there are more.

    Shape: `values` is (sizes, counts). Unit: that of *column*. Source: isospeed.txt Fig. 5; interpolation ScaleGraph's.
    """
    value, work = numbers(scaling, column), numbers(scaling, "work")
    known = np.isfinite(value) & np.isfinite(work) & (work > 0)
    rows = scaling[known].assign(value=value[known], work=work[known]).sort_values(["processors", "work"])
    # a count with one size belongs to another series of the study, and would leave a gap on both sides
    rows = rows[rows.groupby("processors")["work"].transform("nunique") >= 2]
    counts = sorted({int(n) for n in rows["processors"]})
    if len(counts) < 2:
        return None
    nodes = _nodes(numbers(rows, "work"), most_rows)
    grid = np.full((len(nodes), len(counts)), np.nan)
    for index, count in enumerate(counts):
        mine = rows[rows["processors"] == count]
        at = np.log(numbers(mine, "work"))
        inside = (np.log(nodes) >= at[0] - 1e-9) & (np.log(nodes) <= at[-1] + 1e-9)
        grid[inside, index] = np.interp(np.log(nodes[inside]), at, numbers(mine, "value"))
    return WorkField(tuple(counts), tuple(float(w) for w in nodes), grid, rows.reset_index(drop=True))


def _nodes(work: Floats, most: int) -> Floats:
    """Return the sizes in order, those that differ by less than rounding as one."""
    ordered = np.unique(work)
    kept = ordered[np.concatenate([[True], np.diff(np.log(ordered)) > 1e-9])]
    return kept if len(kept) <= most else np.geomspace(kept[0], kept[-1], most)
