"""Runs of one study on several targets: measured beside simulated, the error of the model, and noise of repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from scalegraph.analyze.metrics import CAUSES
from scalegraph.base.intervals import median_interval
from scalegraph.base.run import Region, RunRecord
from scalegraph.runtime.format import CATEGORY_GROUPS

# What both kinds of runs are compared by: (name, label, categories, palette role). Stalls are part of computing, since
# measured runs do not separate them.
COMPARED: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    (
        "compute_s",
        "computing, memory stalls included",
        tuple(name for name, group in CATEGORY_GROUPS.items() if group in ("busy", "memory_stall")),
        "busy",
    ),
    *CAUSES,
)
_PREEMPTED = "idle_preempted"
_OUTLIER = 3.0  # in median absolute deviations, scaled to the standard deviation of a normal distribution
_SCALE = 1.4826


@dataclass(frozen=True)
class Pair:
    """A simulated run and the measured one of the same size and processors; *runs* are all its repetitions."""

    simulated: RunRecord
    measured: RunRecord
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True)
class Difference:
    """Processor time of a cause in a region, in seconds summed over processors, simulated and measured."""

    region: int | None
    cause: str
    words: str
    role: str
    simulated_s: float
    measured_s: float

    @property
    def difference_s(self) -> float:
        """Measured minus simulated time: positive where the model has too little, negative where it has too much.

        Unit: s. Source: ScaleGraph.
        """
        return self.measured_s - self.simulated_s


def representative(runs: Sequence[RunRecord]) -> RunRecord | None:
    """Return the run with the median time, the faster of two middle ones; None without a successful run.

    Source: ScaleGraph.
    """
    known = sorted((run for run in runs if run.ok), key=lambda run: run.time_s or 0.0)
    return known[(len(known) - 1) // 2] if known else None


def repeated(runs: Iterable[RunRecord]) -> dict[str, list[RunRecord]]:
    """Return the runs by the key of their point without its repetition, in original order.

    Shape: one entry for each point. Source: ScaleGraph.
    """
    found: dict[str, list[RunRecord]] = {}
    for run in runs:
        found.setdefault(run.point.model_copy(update={"repetition": 0}).key, []).append(run)
    return found


def pairs(simulated: Iterable[RunRecord], measured: Iterable[RunRecord]) -> list[Pair]:
    """Return the points both simulated and measured, by size and processors.

    Shape: one for each size and processor count. Source: ScaleGraph.
    """
    real = {_same(group[0]): group for group in repeated(measured).values()}
    found = []
    for run in simulated:
        group = real.get(_same(run))
        middle = representative(group) if group else None
        if run.ok and group and middle is not None and not run.point.repetition:
            found.append(Pair(run, middle, tuple(group)))
    return sorted(found, key=lambda pair: (str(sorted(pair.simulated.point.parameters.items())), _processors(pair)))


def _processors(pair: Pair) -> int:
    return pair.simulated.point.processors


def _same(run: RunRecord) -> str:
    return run.point.model_copy(update={"target": "", "repetition": 0}).key


def differences(pair: Pair) -> list[Difference]:
    """Return the simulated and measured processor time of the whole run by cause, in the order of `COMPARED`.

    Shape: one for each cause. Unit: s. Source: ScaleGraph.
    """
    return _compared(None, pair, pair.simulated.categories, pair.measured.categories)


def missed(pair: Pair, regions: Sequence[Region]) -> list[Difference]:
    """Return the processor time of every cause in every region, largest difference first.

    A measured run merges cheap regions into the enclosing ones, so regions missing from it are merged likewise in the
    simulated run.

    Shape: one for each region and cause. Unit: s. Source: ScaleGraph.
    """
    mine = {cost.region: dict(cost.categories) for cost in pair.measured.regions}
    parents = {region.id: region.parent or 0 for region in regions}
    model: dict[int, dict[str, int]] = {}
    for cost in pair.simulated.regions:
        at = cost.region
        while at not in mine and at != 0:
            at = parents.get(at, 0)
        whole = model.setdefault(at, {})
        for name, cycles in cost.categories.items():
            whole[name] = whole.get(name, 0) + cycles
    found = [
        one
        for region in sorted({*mine, *model})
        for one in _compared(region, pair, model.get(region, {}), mine.get(region, {}))
    ]
    return sorted(found, key=lambda one: -abs(one.difference_s))


def _compared(region: int | None, pair: Pair, simulated: dict[str, int], measured: dict[str, int]) -> list[Difference]:
    if not (pair.simulated.clock_hz and pair.measured.clock_hz and (measured or simulated)):
        return []  # a run that was only timed
    return [
        Difference(
            region,
            name,
            words,
            role,
            sum(simulated.get(category, 0) for category in categories) / pair.simulated.clock_hz,
            sum(measured.get(category, 0) for category in categories) / pair.measured.clock_hz,
        )
        for name, words, categories, role in COMPARED
    ]


@dataclass(frozen=True)
class Noise:
    """The repetitions of one point. *low_s* to *high_s* is the interval of the median, *sure* its confidence."""

    runs: tuple[RunRecord, ...]
    median_s: float
    low_s: float
    high_s: float
    sure: float
    outliers: tuple[RunRecord, ...]

    @property
    def width(self) -> float:
        """Half the interval relative to the median.

        Unit: none (share). Source: ScaleGraph.
        """
        return (self.high_s - self.low_s) / 2 / self.median_s if self.median_s else math.nan


def noise(runs: Iterable[RunRecord]) -> list[Noise]:
    """Return the noise of each measured point, in original order.

    An outlier is further from the median than three times the scaled median absolute deviation.

    Shape: one for each point. Unit: s. Source: ScaleGraph.
    """
    found = []
    for group in repeated(run for run in runs if run.ok and run.source == "measured").values():
        times = [run.time_s or 0.0 for run in group]
        middle = median(times)
        spread = median(abs(time - middle) for time in times) * _SCALE
        far = tuple(run for run, time in zip(group, times, strict=True) if abs(time - middle) > _OUTLIER * spread)
        low, high, sure = median_interval(times)
        found.append(Noise(tuple(group), middle, low, high, sure, far if spread > 0 else ()))
    return found


def taken(run: RunRecord) -> tuple[float, int | None]:
    """Return the largest share of a processor's time taken by other programs, and that processor.

    Shape: (share, processor); the processor is None if nothing was taken. Unit: none. Source: ScaleGraph.
    """
    shares = run.processor_categories.get(_PREEMPTED, [])
    if not shares or not run.time_cycles:
        return 0.0, None
    most = max(range(len(shares)), key=shares.__getitem__)
    return shares[most] / run.time_cycles, most if shares[most] else None
