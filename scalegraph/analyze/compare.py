"""Studies side by side: curves over the same processors, and one matrix minus another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from scalegraph.analyze.estimates import half_width
from scalegraph.analyze.matrix import Matrix, Pair
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers


def curves(series: Sequence[Series], column: str) -> pd.DataFrame:
    """Return *column* (of `metrics.scaling`) for each of *series* by processor count.

    The index ``processors`` (ascending) holds all counts of any series; one column per series, named by its position;
    NaN where it did not run. If a series has a count several times, the first is used.

    Shape: (counts, series). Unit: that of *column*. Source: ScaleGraph.
    """
    found = {}
    for position, item in enumerate(series):
        rows = item.rows.drop_duplicates("processors")
        found[position] = pd.Series(numbers(rows, column), index=rows["processors"].astype(int))
    table = pd.DataFrame(found, columns=pd.Index(range(len(series)))).sort_index()
    table.index.name = "processors"
    return table


def reaches(series: Sequence[Series], column: str) -> pd.DataFrame:
    """Return half the 95 % interval of *column* in the layout of `curves`: 0 for exact runs, NaN where there is none.

    Shape: (counts, series). Unit: that of *column*. Source: `estimates.half_width`.
    """
    widths = [Series(one.rows.assign(reach=half_width(one.rows, column)), one.label, one.axis) for one in series]
    return curves(widths, "reach")


def beside(table: pd.DataFrame) -> pd.DataFrame:
    """Return the `curves` with each one's difference from the first and its ratio to it.

    Columns: those of *table*, then ``difference.<position>`` and ``ratio.<position>`` for all but the first.

    Shape: (counts, 3 series - 2). Unit: that of *table*; ratios have none. Source: ScaleGraph.
    """
    made = table.copy()
    base = table[table.columns[0]]
    with np.errstate(all="ignore"):
        for position in table.columns[1:]:
            made[f"difference.{position}"] = table[position] - base
            made[f"ratio.{position}"] = table[position] / base
    return made


def crossings(table: pd.DataFrame) -> list[tuple[float, int]]:
    """Return the crossings of two curves: (processors, position of the curve that is above from there on).

    Crossings are interpolated in log N between two counts; curves that only touch do not cross.

    Shape: one entry for each crossing. Unit: processors. Source: ScaleGraph.
    """
    both = table[list(table.columns[:2])].dropna()
    gap = (both[both.columns[1]] - both[both.columns[0]]).to_numpy(dtype=np.float64)
    counts = both.index.to_numpy(dtype=np.float64)
    found = []
    signed = [index for index in range(len(gap)) if gap[index] != 0]
    for low, high in pairwise(signed):
        if gap[low] * gap[high] < 0:
            share = gap[low] / (gap[low] - gap[high])
            at = np.exp(np.log(counts[low]) + share * (np.log(counts[high]) - np.log(counts[low])))
            found.append((float(at), 1 if gap[high] > 0 else 0))
    return found


@dataclass(frozen=True)
class Difference:
    """Second matrix minus first, for pairs known in both; *reasons* say why others are missing."""

    processors: tuple[int, ...]
    first: dict[Pair, float]
    second: dict[Pair, float]
    values: dict[Pair, float]
    reasons: dict[Pair, str]

    @property
    def largest(self) -> float:
        """Largest absolute difference off the diagonal, NaN if there is none.

        Unit: none (difference of ratios). Source: ScaleGraph.
        """
        return max((abs(value) for (n, n2), value in self.values.items() if n < n2), default=float("nan"))


def difference(first: Matrix, second: Matrix, names: tuple[str, str] = ("first", "second")) -> Difference:
    """Return *second* minus *first* over the processor counts of either.

    Shape: (counts, counts). Unit: none (difference of ratios). Source: ScaleGraph.
    """
    counts = tuple(sorted({*first.processors, *second.processors}))
    values: dict[Pair, float] = {}
    reasons: dict[Pair, str] = {}
    for n in counts:
        for n2 in (count for count in counts if count >= n):
            low, high = first.value(n, n2), second.value(n, n2)
            if low is not None and high is not None:
                values[n, n2] = high - low
                continue
            missing = [
                f"{name}: {matrix.reasons.get((n, n2), 'not run on these processors')}"
                for name, matrix, value in zip(names, (first, second), (low, high), strict=True)
                if value is None
            ]
            reasons[n, n2] = "; ".join(missing)
    return Difference(counts, dict(first.values), dict(second.values), values, reasons)
