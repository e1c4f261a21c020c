"""The scalability matrix: upper triangular, N down, N' across, 1 on the diagonal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds, reference
from scalegraph.analyze.bounds import Anchor, Bound, RunWay
from scalegraph.analyze.metrics import work_unit
from scalegraph.base.units import plain, significant

Metric: TypeAlias = Literal["latency", "isospeed", "isoefficiency"]
Pair: TypeAlias = tuple[int, int]
# matplotlib's viridis at nine equal steps
_VIRIDIS = ("440154", "472d7b", "3b528b", "2c728e", "21918c", "28ae80", "5ec962", "addc30", "fde725")
_WAYS = ("measured", "computed", "predicted")  # a value gets the weaker way of its two ends

_TITLES: dict[Bound, str] = {
    "efficiency": "efficiency held at {}",
    "time": "time held at {}",
    "memory": "memory per processor held at {}",
    "speed": "average unit speed held at {}",
    "energy": "energy to solution held at {}",
}


@dataclass(frozen=True)
class Matrix:
    """Scalability between every two processor counts N <= N'.

    *values* has one entry per known pair (dimensionless; 1 is ideal), *reasons* one per unknown pair; *ways* says how
    each value was obtained: ``measured`` if both ends are runs, ``computed`` if at least one is interpolated,
    ``predicted`` if at least one comes from a model, or ``imported``. *intervals* hold the 95 % interval of predicted
    values, and for runs the range due to the tolerance of the bound. *anchors* are the underlying points, by N.
    *work_unit* is the unit of their work. *notes* are remarks on the values: their source, doubts about models.
    *saturated*: by N, the value that a search reached when larger problems no longer raised it.
    """

    metric: Metric
    bound: Bound
    target: float
    processors: tuple[int, ...]
    values: Mapping[Pair, float]
    ways: Mapping[Pair, str] = field(default_factory=dict)
    reasons: Mapping[Pair, str] = field(default_factory=dict)
    anchors: Mapping[int, Anchor] = field(default_factory=dict)
    intervals: Mapping[Pair, tuple[float, float]] = field(default_factory=dict)
    work_unit: str = "op"
    notes: tuple[str, ...] = ()
    saturated: Mapping[int, float] = field(default_factory=dict)

    def value(self, n: int, n2: int) -> float | None:
        """Return scale(N, N'); ``None`` if unknown or N > N'.

        Unit: none (ratio). Source: as of `scalability`.
        """
        return self.values.get((n, n2))

    def array(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the matrix, shape (counts, counts), NaN below the diagonal and where unknown.

        Unit: none (ratio). Source: as of `scalability`.
        """
        result = np.full((len(self.processors), len(self.processors)), np.nan)
        for (n, n2), value in self.values.items():
            result[self.processors.index(n), self.processors.index(n2)] = value
        return result

    def frame(self) -> pd.DataFrame:
        """Return the matrix with N as index and N' as columns.

        Shape: (counts, counts). Unit: none (ratio). Source: as of `scalability`.
        """
        names = [str(n) for n in self.processors]
        return pd.DataFrame(self.array(), index=pd.Index(self.processors, name="N"), columns=pd.Index(names))

    def only(self, processors: Sequence[int]) -> Matrix:
        """Return the matrix restricted to these processor counts.

        Shape: (counts of *processors*, the same). Unit: none (ratio). Source: ScaleGraph.
        """
        kept = set(processors)

        def inside(entries: Mapping[Pair, Any]) -> dict[Pair, Any]:
            return {pair: entry for pair, entry in entries.items() if kept.issuperset(pair)}

        return replace(
            self,
            processors=tuple(n for n in self.processors if n in kept),
            values=inside(self.values),
            ways=inside(self.ways),
            reasons=inside(self.reasons),
            anchors={n: anchor for n, anchor in self.anchors.items() if n in kept},
            intervals=inside(self.intervals),
        )

    def row(self, n: int) -> list[tuple[int, float | None]]:
        """Return (N', value) for N' >= *n* (isospeed.txt Fig. 7).

        Shape: one entry for each N'. Unit: none (ratio). Source: as named above.
        """
        return [(n2, self.value(n, n2)) for n2 in self.processors if n2 >= n]

    def residuals(self) -> dict[tuple[int, int, int], float]:
        """Return value(N,N'') / (value(N,N') value(N',N'')) - 1 for every known triple (isospeed.txt II).

        Shape: one entry for each known triple. Unit: none (relative). Source: as named above.
        """
        found = {}
        for a, b, c in combinations(self.processors, 3):
            whole, first, second = self.value(a, c), self.value(a, b), self.value(b, c)
            if whole is not None and first and second:
                found[(a, b, c)] = whole / (first * second) - 1
        return found

    def residual(self) -> float | None:
        """Return the largest relative deviation from multiplicativity; ``None`` without a known triple.

        Unit: none (relative). Source: isospeed.txt II.
        """
        return max((abs(value) for value in self.residuals().values()), default=None)

    def checks(self) -> dict[str, float | None]:
        """Return the checks described in METRICS, each the largest relative deviation; None if nothing can be checked.

        ``multiplicativity`` of value(N,N'') from value(N,N') value(N',N''); ``work`` of a latency ratio at constant
        efficiency from N' W/(N W') (latency-metric.txt eq. 3.13); ``time`` of psi from T/T' (isospeed.txt eq. 2).

        Unit: none (relative). Source: as named for each.
        """
        of_latency = self.metric == "latency" and self.bound == "efficiency"
        return {
            "multiplicativity": self.residual(),
            "work": self.work_residual() if of_latency else None,
            "time": self._time_residual() if self.metric == "isospeed" else None,
        }

    def _time_residual(self) -> float | None:
        found = []
        for (n, n2), value in self.values.items():
            low, high = self.anchors.get(n), self.anchors.get(n2)
            if low and high and low.time_s and high.time_s and n < n2:
                found.append(abs(value / (low.time_s / high.time_s) - 1))
        return max(found, default=None)

    def work_residual(self) -> float | None:
        """Return the largest relative deviation of the values from N' W/(N W').

        By Theorem 2 of latency-metric.txt (eq. 3.13) both are equal if t_c is constant and the efficiencies are exactly
        equal; the deviation shows how far the runs are from that.

        Unit: none (relative). Source: as named above.
        """
        found = []
        for (n, n2), value in self.values.items():
            low, high = self.anchors.get(n), self.anchors.get(n2)
            if low and high and low.work and high.work and n < n2:
                found.append(abs(value / (n2 * low.work / (n * high.work)) - 1))
        return max(found, default=None)

    def _repr_html_(self) -> str:
        """Return the matrix as HTML for notebooks, coloured by value: a star marks predicted, a dash unknown values."""
        held = f"{self.bound} held" + ("" if np.isnan(self.target) else f" at {significant(self.target)}")
        head = "".join(f"<th>{n}</th>" for n in self.processors)
        rows = []
        for n in self.processors:
            cells = "".join(f"<td{_shade(self.value(n, n2))}>{self._cell(n, n2)}</td>" for n2 in self.processors)
            rows.append(f"<tr><th>{n}</th>{cells}</tr>")
        said = [*dict.fromkeys(self.reasons.values()), *self.notes]
        below = "".join(f"<li>{escape(text)}</li>" for text in said)
        return (
            f"<table><caption>scalability by {self.metric}, {held}</caption>"
            f"<thead><tr><th>N \\ N'</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
            + (f"<ul>{below}</ul>" if below else "")
        )

    def _cell(self, n: int, n2: int) -> str:
        value = self.value(n, n2)
        if value is None:
            return "" if n2 < n else "–"
        return significant(value) + ("*" if self.ways.get((n, n2)) == "predicted" else "")

    def to_json(self) -> dict[str, Any]:
        """Return the document of ``scalegraph matrix --json``: null for unknown values, ``reasons`` by "N,N'".

        Shape: lists of (counts, counts). Unit: none (ratio). Source: ScaleGraph.
        """
        array = self.array()
        return {
            "metric": self.metric,
            "bound": self.bound,
            self.bound: self.target,
            "processors": list(self.processors),
            "matrix": [[None if np.isnan(cell) else float(cell) for cell in row] for row in array],
            "work": [self.anchors[n].work if n in self.anchors else None for n in self.processors],
            "work_unit": self.work_unit,
            "ways": {f"{n},{n2}": way for (n, n2), way in self.ways.items() if n < n2},
            "reasons": {f"{n},{n2}": reason for (n, n2), reason in self.reasons.items()},
            "intervals": {f"{n},{n2}": list(ends) for (n, n2), ends in self.intervals.items()},
            "residual": self.residual(),
            "checks": self.checks(),
            "notes": list(self.notes),
        }


def scalability(
    scaling: pd.DataFrame,
    *,
    metric: Metric = "latency",
    bound: Bound = "efficiency",
    target: float | None = None,
    processors: Sequence[int] | None = None,
    tolerance: float = 0.01,
    latency: Literal["accounting", "method1"] = "accounting",
    failures: Mapping[int, str] | None = None,
    searches: Mapping[int, str] | None = None,
    way: RunWay = "runs",
) -> Matrix | None:
    """Return the matrix of *metric* with *bound* held at *target*; ``None`` if no target can be chosen.

    *scaling* comes from `metrics.scaling`. The latency metric is scale(E, (N, N')) = L(W, N)/L(W', N') (scale-graph.txt
    eq. 4, latency-metric.txt eq. 3.7), under the time bound eq. 12; isospeed is psi(N, N') = N' W/(N W') (isospeed.txt
    eq. 1), and isoefficiency the same ratio of W = f(N), the work that keeps the efficiency (latency-metric.txt eq.
    2.2, 3.13). *target* defaults to `bounds.usual_target`; *tolerance* and *latency* as in `bounds.anchors`. *failures*
    (N -> sentence) is appended to the reasons of counts with failed runs; *searches* (N -> sentence) gives the reasons
    of searches that did not meet the bound, which take precedence over those found in the table.

    Shape: (counts, counts). Unit: none (ratio). Source: as named above.
    """
    if target is None:
        target = bounds.usual_target(scaling, bound)
    if target is None:
        return None
    if processors is None:
        # one processor has no latency and always efficiency 1
        first = 1 if metric == "isospeed" else 2
        first = max([first, *(int(n) + 1 for n in reference.others(scaling)[:1])])
        counts = {int(n) for n in scaling["processors"]} | set(failures or {})
        processors = sorted(n for n in counts if n >= first)
    found = bounds.anchors(scaling, bound, target, processors=processors, tolerance=tolerance, latency=latency, way=way)
    said = searches or {}
    found = [a if a.known or a.processors not in said else replace(a, reason=said[a.processors]) for a in found]
    return from_anchors(found, metric, bound, target, failures or {}, work_unit=work_unit(scaling))


def from_anchors(
    found: Sequence[Anchor],
    metric: Metric,
    bound: Bound,
    target: float,
    failures: Mapping[int, str] | None = None,
    *,
    work_unit: str = "op",
) -> Matrix:
    """Return the matrix computed from one point per processor count.

    Shape: (counts, counts). Unit: none (ratio). Source: as of `scalability`.
    """
    value: Callable[[Anchor, Anchor], float | None] = _latency_ratio if metric == "latency" else _psi
    values: dict[Pair, float] = {}
    ways: dict[Pair, str] = {}
    reasons: dict[Pair, str] = {}
    intervals: dict[Pair, tuple[float, float]] = {}
    for index, low in enumerate(found):
        for high in found[index:]:
            pair = (low.processors, high.processors)
            missing = [_why(anchor, failures or {}) for anchor in (low, high) if not anchor.known]
            cell = None if missing else value(low, high)
            if cell is not None:
                values[pair] = 1.0 if low is high else cell
                ways[pair] = max((low.way, high.way), key=_WAYS.index)
                if low is not high and (ends := _ends(low, high, metric, cell)) is not None:
                    intervals[pair] = ends
            else:
                reasons[pair] = "; ".join(dict.fromkeys(missing)) or _no_ratio(low, high, metric)
    return Matrix(
        metric,
        bound,
        target,
        tuple(anchor.processors for anchor in found),
        values,
        ways,
        reasons,
        {anchor.processors: anchor for anchor in found},
        intervals,
        work_unit=work_unit,
    )


def _ends(low: Anchor, high: Anchor, metric: Metric, cell: float) -> tuple[float, float] | None:
    """Return the range of a cell due to the tolerance of its runs; None if they meet the bound exactly."""
    name, own = ("latency_ends", "latency_s") if metric == "latency" else ("work_ends", "work")
    if getattr(low, name) is None and getattr(high, name) is None:
        return None
    factors = [
        (min(ends) / value, max(ends) / value)
        for anchor in (low, high)
        if (value := getattr(anchor, own)) and (ends := getattr(anchor, name) or (value, value)) and min(ends) > 0
    ]
    if len(factors) < 2:
        return None
    (least, most), (least2, most2) = factors
    return cell * least / most2, cell * most / least2


def _why(anchor: Anchor, failures: Mapping[int, str]) -> str:
    failed = failures.get(anchor.processors)
    return f"{anchor.reason} ({failed})" if failed else anchor.reason


def _latency_ratio(low: Anchor, high: Anchor) -> float | None:
    if low.latency_s is None or high.latency_s is None or low.latency_s <= 0 or high.latency_s <= 0:
        return None
    return low.latency_s / high.latency_s


def _psi(low: Anchor, high: Anchor) -> float | None:
    if not low.work or not high.work:
        return None
    return high.processors * low.work / (low.processors * high.work)


def _no_ratio(low: Anchor, high: Anchor, metric: Metric) -> str:
    if metric != "latency":
        return "the work of a run is unknown"
    for anchor in (low, high):
        if anchor.latency_s is None:
            return f"the average latency at N = {anchor.processors} is not known"
        if anchor.latency_s <= 0:
            return f"there is no latency to compare at N = {anchor.processors}: the run is as fast as ideal or faster"
    return "not known"


def from_times(processors: Sequence[int], times: Sequence[float], *, way: str = "imported") -> Matrix:
    """Return psi(N, N') = T_N/T_N' of runs at equal average unit speed (isospeed.txt eq. 2); *times* in seconds.

    Shape: (counts, counts). Unit: none (ratio). Source: as named above.
    """
    at = dict(zip(processors, times, strict=True))
    pairs = [(n, n2) for n in processors for n2 in processors if n <= n2]
    return Matrix(
        "isospeed",
        "speed",
        float("nan"),
        tuple(processors),
        {(n, n2): at[n] / at[n2] for n, n2 in pairs},
        dict.fromkeys(pairs, way),
    )


def average(matrices: Sequence[Matrix]) -> Matrix:
    """Return the mean over a set of efficiencies (latency-metric.txt eq. 3.8, the integral as an average).

    A pair is known only if every matrix has it, since all efficiencies weigh the same. Its way is the weakest of the
    matrices'; the ends of its interval are the means of theirs, as if all erred in the same direction.

    Shape: (counts, counts). Unit: none (ratio). Source: as named above.

    Raises:
        ValueError: *matrices* is empty or they differ in processor counts.

    """
    if not matrices or len({matrix.processors for matrix in matrices}) != 1:
        raise ValueError("an average needs matrices over the same processor counts")
    first = matrices[0]
    values, reasons, ways = {}, {}, {}
    intervals: dict[Pair, tuple[float, float]] = {}
    for n in first.processors:
        for n2 in first.processors:
            if n > n2:
                continue
            cells = [matrix.value(n, n2) for matrix in matrices]
            known = [cell for cell in cells if cell is not None]
            if len(known) == len(cells):
                values[(n, n2)] = sum(known) / len(known)
                each = {matrix.ways.get((n, n2), "computed") for matrix in matrices}
                ways[(n, n2)] = max(each, key=lambda way: _WAYS.index(way) if way in _WAYS else 1)
                ends = [m.intervals.get((n, n2), (cell, cell)) for m, cell in zip(matrices, known, strict=True)]
                if any((n, n2) in matrix.intervals for matrix in matrices):
                    low, high = (sum(side) / len(side) for side in zip(*ends, strict=True))
                    intervals[(n, n2)] = (low, high)
            else:
                at = ", ".join(plain(m.target) for m, cell in zip(matrices, cells, strict=True) if cell is None)
                reasons[(n, n2)] = f"not known at E = {at}"
    return Matrix(
        first.metric,
        first.bound,
        sum(matrix.target for matrix in matrices) / len(matrices),
        first.processors,
        values,
        ways,
        reasons,
        intervals=intervals,
        work_unit=first.work_unit,
        notes=tuple(dict.fromkeys(note for matrix in matrices for note in matrix.notes)),
    )


def common_efficiencies(
    scaling: pd.DataFrame, candidates: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), **options: Any
) -> tuple[float, ...]:
    """Return the *candidates* that the runs meet at a common set of processor counts, for `average`.

    The set is the largest that two of the candidates share.

    *options* as in `bounds.anchors`. Empty unless two candidates share at least two counts above one.

    Shape: (efficiencies,). Unit: none. Source: latency-metric.txt eq. 3.8.
    """
    met = {
        target: frozenset(
            anchor.processors
            for anchor in bounds.anchors(scaling, "efficiency", target, **options)
            if anchor.known and anchor.processors > 1
        )
        for target in candidates
    }
    # the same counts for all, since a pair is known only if every efficiency has it
    most = max((one & other for one, other in combinations(met.values(), 2)), key=len, default=frozenset())
    return tuple(target for target in candidates if len(most) > 1 and met[target] >= most)


def over_estimation(time: Matrix, efficiency: Matrix | None = None) -> pd.DataFrame:
    """Return by how much the time bound overestimates (scale-graph.txt 6.4.1), one row for each pair N < N'.

    Columns: ``n``, ``n2``; ``latency_ratio`` the measured L/L' under the time bound; ``eq12`` (1 - E)/(1 - E') and
    ``eq13`` E'/E from the efficiencies of the two runs; ``efficiency_conserved`` the value at constant efficiency (NaN
    if unknown) and ``excess`` latency_ratio - efficiency_conserved. All dimensionless.

    Shape: one row for each pair. Unit: none (ratios). Source: as named above.
    """
    rows = []
    for n, n2 in combinations(time.processors, 2):
        low, high = time.anchors.get(n), time.anchors.get(n2)
        e, e2 = (low.efficiency if low else None), (high.efficiency if high else None)
        held = efficiency.value(n, n2) if efficiency else None
        value = time.value(n, n2)
        rows.append(
            {
                "n": n,
                "n2": n2,
                "latency_ratio": _nan(value),
                "eq12": _nan((1 - e) / (1 - e2) if e is not None and e2 is not None and e2 < 1 else None),
                "eq13": _nan(e2 / e if e and e2 is not None else None),
                "efficiency_conserved": _nan(held),
                "excess": _nan(value - held if value is not None and held is not None else None),
            }
        )
    names = ["n", "n2", "latency_ratio", "eq12", "eq13", "efficiency_conserved", "excess"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def _nan(value: float | None) -> float:
    return float("nan") if value is None else value


def bound_words(bound: Bound, target: str) -> str:
    """Return the bound as text: ``efficiency held at 0.5``.

    Source: ScaleGraph.
    """
    return _TITLES[bound].format(target)


def _shade(value: float | None) -> str:
    """Return the style attribute of a cell: viridis from 0 to 1, with readable text."""
    if value is None or not np.isfinite(value):
        return ""
    place = min(max(value, 0.0), 1.0) * (len(_VIRIDIS) - 1)
    low = min(int(place), len(_VIRIDIS) - 2)
    pairs = ((int(_VIRIDIS[low][i : i + 2], 16), int(_VIRIDIS[low + 1][i : i + 2], 16)) for i in (0, 2, 4))
    red, green, blue = (round(a + (place - low) * (b - a)) for a, b in pairs)
    text = "#000" if 0.299 * red + 0.587 * green + 0.114 * blue > 128 else "#fff"
    return f' style="background:#{red:02x}{green:02x}{blue:02x};color:{text}"'
