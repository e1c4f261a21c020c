"""What the chunks of a loop tell: who executed what when, load, iteration times, locality and the type of the loop."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from scalegraph.base.loops import CENTRAL, LoopCost
from scalegraph.base.run import RunRecord

STATES = {-1: "light", 0: "normal", 1: "heavy"}
BINS = 64
BALANCED = 0.25  # coefficient of variation of the iteration times up to which a loop counts as balanced
ALIKE = 0.7  # correlation of iteration times from which they count as predictable
# (whether the loop is inside a sequential loop, its load) -> type in the paper, section 3.2.
TYPES = {
    (True, "balanced"): "I",
    (True, "predictable"): "II",
    (True, "unpredictable"): "III",
    (False, "balanced"): "IV",
    (False, "predictable"): "V",
    (False, "unpredictable"): "VI",
}


def history(run: RunRecord, loop: LoopCost) -> pd.DataFrame:
    """Return the recorded chunks of *loop* in *run*, by the time they ended.

    ``from`` says whose share a chunk came from: ``own``, ``member`` and its number, or ``central``; ``k`` is the
    chunk-size control used, ``k_before`` that of the member's previous chunk (0: none).

    Shape: one row for each chunk. Unit: s. Source: ScaleGraph.
    """
    second, chunks = run.clock_hz or 1.0, loop.history
    table = pd.DataFrame(
        {
            "execution": list(chunks.execution),
            "processor": list(chunks.processor),
            "member": list(chunks.member),
            "owner": list(chunks.owner),
            "first": list(chunks.first),
            "size": list(chunks.count),
            "step": list(chunks.step),
            "k": list(chunks.control),
            "state": [STATES.get(state, "") for state in chunks.state],
            "begin_s": np.asarray(chunks.begin, dtype=np.float64) / second,
            "end_s": np.asarray(chunks.end, dtype=np.float64) / second,
            "stall_s": np.asarray(chunks.stall, dtype=np.float64) / second,
        }
    )
    own = table["owner"] == table["member"]
    named = "member " + table["owner"].astype(str)
    table["from"] = np.where(table["owner"] == CENTRAL, "central", np.where(own, "own", named))
    before = table.groupby(["execution", "member"])["k"].shift(1)
    table["k_before"] = before.fillna(0).astype(int)
    return table


def load(run: RunRecord, loop: LoopCost) -> pd.DataFrame:
    """Return the work of each processor in *loop*: iterations and chunks by origin, and its time.

    ``working_s`` time in iterations without memory stalls, ``stall_s``, ``asking_s`` obtaining chunks without lock
    waits, ``lock_s``, ``ending_s`` waiting at the end for the last processor.

    Shape: one row for each participating processor. Unit: s; counts. Source: ScaleGraph.
    """
    second, none = run.clock_hz or 1.0, (0,) * len(loop.processor)
    body, stall, asking, lock, ending = (
        np.asarray(getattr(loop, name), dtype=np.float64) / second
        for name in ("body", "stall", "asking", "lock", "ending")
    )
    origins = ("own", "other", "central")
    return pd.DataFrame(
        {
            "processor": list(loop.processor),
            **{f"{origin}_chunks": list(loop.chunks.get(origin, none)) for origin in origins},
            **{f"{origin}_iterations": list(loop.taken.get(origin, none)) for origin in origins},
            "working_s": body - stall,
            "stall_s": stall,
            "asking_s": asking - lock,
            "lock_s": lock,
            "ending_s": ending,
        }
    )


def whole_executions(loop: LoopCost) -> list[int]:
    """Return the executions whose chunks were all recorded.

    Shape: (executions,), ascending. Unit: 1. Source: ScaleGraph.
    """
    sums: dict[int, int] = {}
    for execution, count in zip(loop.history.execution, loop.history.count, strict=True):
        sums[execution] = sums.get(execution, 0) + count
    return sorted(execution for execution, count in sums.items() if count == loop.iterations)


def profile(run: RunRecord, loop: LoopCost, bins: int = BINS) -> pd.DataFrame:
    """Return the time of an iteration over the index space and over executions.

    A chunk's time is divided evenly over its iterations; ``work_s`` is without memory stalls. ``first``, ``last``: the
    range of iterations averaged in a row.

    Shape: one row for each fully recorded execution and each of at most *bins* equal parts of the index space.
    Unit: s. Source: ScaleGraph.
    """
    second, chunks, count = run.clock_hz or 1.0, loop.history, loop.iterations
    parts = max(1, min(bins, count))
    edges = np.floor(np.linspace(0, count, parts + 1))
    wanted = {execution: at for at, execution in enumerate(whole_executions(loop))}
    time, work, weight = (np.zeros((len(wanted), parts)) for _ in range(3))
    for at, execution in enumerate(chunks.execution):
        if execution not in wanted:
            continue
        begin, size, step = chunks.first[at], chunks.count[at], chunks.step[at]
        inside = np.clip(np.minimum(edges[1:], begin + size * step) - np.maximum(edges[:-1], begin), 0, None) / step
        each = (chunks.end[at] - chunks.begin[at]) / size / second
        stall = min(chunks.stall[at] / size / second, each)
        row = wanted[execution]
        time[row] += inside * each
        work[row] += inside * (each - stall)
        weight[row] += inside
    with np.errstate(invalid="ignore"):
        means, works = time / weight, work / weight
    numbers = np.repeat(np.array(list(wanted), dtype=np.int64), parts)
    return pd.DataFrame(
        {
            "execution": numbers,
            "first": np.tile(edges[:-1], len(wanted)).astype(int),
            "last": np.tile(edges[1:] - 1, len(wanted)).astype(int),
            "time_s": means.ravel(),
            "work_s": works.ravel(),
        }
    )


@dataclass(frozen=True)
class Locality:
    """How far iterations stay on their processor (section 3.1, taking an iteration's index as its data).

    *rate*: share of a processor's iterations that it also had in the previous execution; NaN with one execution.
    *strength*: number of iterations that a processor gets again, out of *mean*.
    """

    rate: float
    mean: float
    executions: int

    @property
    def strength(self) -> int:
        """Affinity strength: the rate times the mean, rounded down; 0 if unknown.

        Unit: iterations. Source: adaptive-loop-scheduling.txt section 3.1.
        """
        return math.floor(self.rate * self.mean) if math.isfinite(self.rate) else 0


def locality(loop: LoopCost) -> Locality:
    """Return locality rate and affinity strength of *loop*, from who ran which iteration in each execution.

    A processor's data set D(i) in execution i is its set of iterations; rate = 1 - sum |D(i) - D(i-1)| / sum |D(i)|
    over consecutive fully recorded executions, D(0) = D(1). Unit: iterations. Source: adaptive-loop-scheduling.txt
    section 3.1; there D is in bytes.
    """
    whole = whole_executions(loop)
    members = max(1, loop.members)
    mean = loop.iterations / members
    consecutive = [number for number in whole if number - 1 in whole]
    if not consecutive or not loop.iterations or loop.iterations > 1 << 24:
        return Locality(math.nan, mean, len(whole))
    moved, before = 0, _owners(loop, consecutive[0] - 1)
    last = consecutive[0] - 1
    for number in consecutive:
        before = before if last == number - 1 else _owners(loop, number - 1)
        now = _owners(loop, number)
        moved += int(np.count_nonzero(now != before))
        before, last = now, number
    total = (len(consecutive) + 1) * loop.iterations
    return Locality(1 - moved / total, mean, len(whole))


@dataclass(frozen=True)
class LineLocality:
    """How far the data of iterations stays on its processor (section 3.1, taking cache lines as data).

    *rate*: share of the lines used by a processor's iterations that it also used in the previous execution; NaN if
    lines were not collected or there was only one execution. *mean*: lines of a processor in one execution.
    """

    rate: float
    mean: float

    @property
    def strength(self) -> int:
        """Affinity strength: the rate times the mean, rounded down; 0 if unknown.

        Unit: lines. Source: adaptive-loop-scheduling.txt section 3.1.
        """
        return math.floor(self.rate * self.mean) if math.isfinite(self.rate) else 0


def line_locality(loop: LoopCost) -> LineLocality:
    """Return locality rate and affinity strength of *loop* by the cache lines used on each processor.

    D(i) is the set of lines that a processor uses in execution i; rate = 1 - sum |D(i) - D(i-1)| / sum |D(i)|,
    D(0) = D(1). Unit: lines. Source: adaptive-loop-scheduling.txt section 3.1; there D is in bytes.
    """
    total, executions = sum(loop.lines), sum(loop.entered)
    mean = total / executions if total and executions else math.nan
    rate = 1 - sum(loop.fresh) / total if total and loop.executions > 1 else math.nan
    return LineLocality(rate, mean)


def _owners(loop: LoopCost, execution: int) -> npt.NDArray[np.int64]:
    """Return the processor that executed each iteration."""
    found = np.full(loop.iterations, -1)
    chunks = loop.history
    for at, number in enumerate(chunks.execution):
        if number == execution:
            first, step = chunks.first[at], chunks.step[at]
            found[first : first + chunks.count[at] * step : step] = chunks.processor[at]
    return found


@dataclass(frozen=True)
class LoopType:
    """The type of a loop: whether *repeated* in a sequential loop, and its *load*, judged by *spread* and *alike*."""

    repeated: bool
    load: str  # balanced, predictable, unpredictable; empty if no execution was fully recorded
    spread: float
    alike: float

    @property
    def number(self) -> str:
        """The paper's number, I to VI; empty if unknown. Source: adaptive-loop-scheduling.txt section 3.2."""
        return TYPES.get((self.repeated, self.load), "")

    @property
    def words(self) -> str:
        """The type in words. Source: adaptive-loop-scheduling.txt section 3.2."""
        if not self.load:
            return "type unknown: no execution was recorded completely"
        again = "executed again and again, so that its data may stay in caches" if self.repeated else "executed once"
        how = {
            "balanced": "all iterations take about the same time",
            "predictable": "iteration times vary in a predictable pattern",
            "unpredictable": "iteration times vary unpredictably",
        }[self.load]
        return f"type {self.number}: {again}; {how}"


def loop_type(run: RunRecord, loop: LoopCost) -> LoopType:
    """Return the type of *loop* by its iteration times without memory stalls.

    Balanced: their standard deviation is at most `BALANCED` of the mean. Predictable: the profiles of consecutive
    executions correlate by `ALIKE` or more; for a loop executed once, the times of neighbouring parts do. Source:
    adaptive-loop-scheduling.txt section 3.2; the limits are ScaleGraph's.
    """
    table = profile(run, loop)
    repeated = loop.executions > 1
    if table.empty:
        return LoopType(repeated, "", math.nan, math.nan)
    rows = table.pivot_table(index="execution", columns="first", values="work_s").to_numpy()
    means = rows.mean(axis=1)
    spread = float(np.mean(rows.std(axis=1) / np.where(means > 0, means, 1)))
    pairs = list(itertools.pairwise(rows))
    if not pairs:
        pairs = [(rows[0][:-1], rows[0][1:])]
    alike = float(np.mean([_correlation(one, other) for one, other in pairs]))
    load = "balanced" if spread <= BALANCED else "predictable" if alike >= ALIKE else "unpredictable"
    return LoopType(repeated, load, spread, alike)


def _correlation(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    if len(one) < 2 or not one.std() or not other.std():
        return 1.0 if len(one) == len(other) and np.allclose(one, other) else 0.0
    return float(np.corrcoef(one, other)[0, 1])


def kinds(run: RunRecord) -> pd.DataFrame:
    """Return locality and type of each loop of *run*: ``locality_rate``, ``affinity_strength``, ``type``, ``words``.

    Shape: one row for each loop. Unit: iterations; lines for ``line_rate``, ``line_strength`` and ``lines`` (of a
    processor in one execution), which need a run that collects miss classes. Source: adaptive-loop-scheduling.txt
    section 3.
    """
    rows = []
    for loop in run.loops:
        found, kind, lines = locality(loop), loop_type(run, loop), line_locality(loop)
        rows.append(
            {
                "loop": loop.place,
                "used": loop.schedule,
                "executions": loop.executions,
                "kept": found.executions,
                "locality_rate": found.rate,
                "affinity_strength": found.strength if math.isfinite(found.rate) else None,
                "line_rate": lines.rate,
                "line_strength": lines.strength if math.isfinite(lines.rate) else None,
                "lines": lines.mean,
                "spread": kind.spread,
                "alike": kind.alike,
                "type": kind.number,
                "words": kind.words,
            }
        )
    return pd.DataFrame(rows)
