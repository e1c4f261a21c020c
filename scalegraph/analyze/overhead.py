"""Components of the time: the speed mu(w) of one processor with work w, and the overhead t_o of N processors.

isospeed.txt III: T_N = t_c + t_o, with t_c = W/(N mu(W/N)) for a balanced load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze import isospeed
from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import significant

_SPREAD = 0.1  # relative variation from which an overhead depends on the work
_BALANCED = 0.1  # relative deviation of t_c from W/(N mu)


@dataclass(frozen=True)
class SequentialTime:
    """T_1(w) of one processor, interpolated and extrapolated linearly between the runs; *work* ascending."""

    work: Floats
    time: Floats

    def __call__(self, work: float) -> float:
        """Return T_1 (s) of *work* operations.

        Unit: s. Source: isospeed.txt III.
        """
        x, y = self.work, self.time
        if work < x[0]:
            slope = float((y[1] - y[0]) / (x[1] - x[0]))
            below = float(y[0] + slope * (work - x[0]))
            return below if slope >= 0 and y[0] - slope * x[0] >= 0 else float(y[0] * work / x[0])
        if work > x[-1]:
            slope = float((y[-1] - y[-2]) / (x[-1] - x[-2]))
            return float(y[-1] + slope * (work - x[-1])) if slope > 0 else float(y[-1] * work / x[-1])
        return float(np.interp(work, x, y))

    def speed(self, work: float) -> float:
        """Return mu(w) = w/T_1(w).

        Unit: operations/s. Source: isospeed.txt III.
        """
        return work / self(work)

    @property
    def grows(self) -> bool:
        """Whether the speed increases with the work from run to run, as Theorem 1 assumes.

        Source: isospeed.txt III, Theorem 1.
        """
        return bool((self.work[1:] * self.time[:-1] > self.work[:-1] * self.time[1:]).all())


@dataclass(frozen=True)
class Overhead:
    """t_o(N, W) in seconds per processor, by *at*; *words* names its source, *doubts* lists doubts about it."""

    at: Callable[[int, float], float]
    words: str
    doubts: tuple[str, ...] = ()


def sequential_time(scaling: pd.DataFrame) -> SequentialTime | None:
    """Return T_1(w) from the one-processor runs; ``None`` for fewer than two sizes.

    Unit: s over operations. Source: isospeed.txt III.
    """
    rows = isospeed.curve(scaling, 1)
    work, first = np.unique(numbers(rows, "work"), return_index=True)
    return SequentialTime(work, numbers(rows, "time_s")[first]) if len(work) > 1 else None


def measured(scaling: pd.DataFrame, one: SequentialTime, *, of_work: bool) -> Overhead:
    """Return t_o from runs: primitives, idle time and extra memory stall per processor, by the accounts.

    For runs without accounts it is T - W/(N mu(W/N)). With *of_work*, t_o(N, W) is linear between the sizes on N, as
    Theorem 2 assumes; otherwise it is the median over the sizes on N, as for Theorem 1. It is 0 on one processor; for N
    without runs it comes from a least-squares line over log2 N through the other counts. Raises `ValueError` with a
    reason if there are too few runs.

    Unit: s for each processor. Source: isospeed.txt III; accounts: scale-graph.txt eq. 5.
    """
    found, accounted, doubts = _of_runs(scaling, one)
    if not found:
        raise ValueError("no run on two or more processors gives an overhead: that needs times and known work")

    def on(n: int, work: float) -> float:
        sizes, values = found[n]
        if not of_work:
            return float(np.median(values))
        return _along(sizes, values, work)

    def at(n: int, work: float) -> float:
        if n == 1:
            return 0.0
        if n in found:
            return on(n, work)
        counts = sorted(found)
        if len(counts) < 2:
            raise ValueError(f"the overhead on {n} processors needs runs on two or more counts, or a formula")
        slope, start = np.polyfit(np.log2(counts), [on(m, work) for m in counts], 1)
        return float(start + slope * np.log2(n))

    if not of_work:
        doubts += tuple(_varies(n, values) for n, (_, values) in found.items() if _relative(values) > _SPREAD)[:1]
    how = "by the accounts (idle, primitives, additional stall)" if accounted else "as T - W/(N mu(W/N))"
    listed = ", ".join(str(n) for n in sorted(found))
    return Overhead(at, f"overhead of the runs on N = {listed} {how}", doubts)


def by_formula(formula: Callable[[Mapping[str, float]], float], text: str, known: Mapping[str, float]) -> Overhead:
    """Return t_o by a formula in N, W (operations) and *known* values such as alpha and beta.

    Unit: s for each processor. Source: isospeed.txt eq. 10, where alpha and beta are those of a message.
    """

    def at(n: int, work: float) -> float:
        return formula({"N": float(n), "W": work, **known})

    said = ", ".join(f"{name} = {significant(value)}" for name, value in known.items())
    return Overhead(at, f"overhead t_o = {text} s" + (f" with {said}" if said else ""))


def _of_runs(
    scaling: pd.DataFrame, one: SequentialTime
) -> tuple[dict[int, tuple[Floats, Floats]], bool, tuple[str, ...]]:
    """Return sizes and overheads on each N, whether all have accounts, and how well the load is balanced."""
    work, time, count = (numbers(scaling, name) for name in ("work", "time_s", "processors"))
    accounts = numbers(scaling, "latency_s")
    usable = np.isfinite(work) & (work > 0) & np.isfinite(time) & (count > 1)
    computing = np.full(len(work), np.nan)
    computing[usable] = [one(w / n) for w, n in zip(work[usable], count[usable], strict=True)]
    value = np.where(np.isfinite(accounts), accounts, time - computing)
    usable &= np.isfinite(value)
    found = {}
    for n in np.unique(count[usable]):
        rows = np.flatnonzero(usable & (count == n))
        rows = rows[np.argsort(work[rows], kind="stable")]
        sizes, first = np.unique(work[rows], return_index=True)
        found[int(n)] = sizes, value[rows][first]
    whole = usable & np.isfinite(accounts)
    doubts: tuple[str, ...] = ()
    if whole.any():
        apart = float(np.max(np.abs(computing[whole] / np.maximum(time - accounts, 1e-300)[whole] - 1)))
        if apart > _BALANCED:
            what = f"t_c of the accounts departs from W/(N mu(W/N)) by up to {percent(apart)}"
            doubts = (f"{what}: the load is not balanced, or mu differs in parallel runs",)
    return found, bool(whole.sum() == usable.sum()), doubts


def _along(x: Floats, y: Floats, at: float) -> float:
    """Return the value at *at* on the line through its neighbours, extrapolated but not below 0."""
    if len(x) < 2:
        return float(y[0])
    place = int(np.clip(np.searchsorted(x, at), 1, len(x) - 1))
    slope = (y[place] - y[place - 1]) / (x[place] - x[place - 1])
    value = float(y[place - 1] + slope * (at - x[place - 1]))
    return value if x[0] <= at <= x[-1] else max(value, 0.0)


def _relative(values: Floats) -> float:
    middle = float(np.median(values))
    return float((values.max() - values.min()) / abs(middle)) if middle else 0.0


def _varies(n: int, values: Floats) -> str:
    low, high = significant(float(values.min())), significant(float(values.max()))
    return (
        f"the overhead on N = {n} varies with the work, {low} to {high} s: Theorem 2 does not assume that it"
        " is constant"
    )
