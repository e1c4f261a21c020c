"""Predictions from measured runs: medians of repetitions, by call path or region if measured.

Measured times are not exact counts, so they are all fitted; their noise widens the interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low, stdev
from typing import ClassVar, Final

import numpy as np
import scipy

from scalegraph.analyze.calltree import of_set
from scalegraph.base.run import Region, RegionCost, RunRecord
from scalegraph.measurements.mapping import Mapping as Meaning
from scalegraph.measurements.model import MeasurementSet
from scalegraph.predict.levels import Place, place_of
from scalegraph.predict.predicting import Predictor
from scalegraph.predict.regions import EXCLUSIVE, Values, values_of

_CLOCK_HZ: Final = 1e9  # measured times are rounded to nanoseconds
_LEAST: Final = 0.01  # call paths with a smaller share of the time in all samples are merged
_SIDE: Final = 0.95  # one-sided level: an interval of 90 %
_OF_MEDIAN: Final = 1.2533  # ratio of the standard errors of median and mean, for normally distributed times
_WHOLE: Final = "the program"
_OTHERS: Final = "other call paths"

Profile = tuple[MeasurementSet, Meaning]


@dataclass(frozen=True)
class MeasuredSamples:
    """Measured runs as samples: one per point, the median of its repetitions.

    *regions*: those named by the costs; *repeated*: all runs by point; *noise*: by N, the relative uncertainty of a
    median at 90 %.
    """

    runs: tuple[RunRecord, ...]
    regions: tuple[Region, ...]
    repeated: Mapping[Place, tuple[RunRecord, ...]]
    noise: Mapping[int, float]


def measured_samples(
    runs: Sequence[RunRecord], regions: Sequence[Region] = (), profile: Profile | None = None
) -> MeasuredSamples:
    """Return the measured *runs* with a time as samples, restricted to the parameters that predictions use.

    Runs with costs of *regions* in cycles keep them. Others get a region for each call path of *profile*, in proportion
    to its time, or one for the whole program. Source: ScaleGraph.
    """
    repeated: dict[Place, list[RunRecord]] = {}
    for run in runs:
        if run.time_s:
            repeated.setdefault(place_of(values_of(run), run.point.processors), []).append(run)
    medians = [_median(own) for own in repeated.values()]
    if not all(run.regions and run.time_cycles for run in medians):
        regions, medians = _with_paths(medians, profile)
    noise: dict[int, list[float]] = {}
    for (_, processors), own in repeated.items():
        noise.setdefault(processors, []).append(_noise([run.time_s or 0.0 for run in own]))
    return MeasuredSamples(
        tuple(medians),
        tuple(regions),
        {place: tuple(own) for place, own in repeated.items()},
        {n: math.sqrt(sum(one**2 for one in own) / len(own)) for n, own in noise.items()},
    )


def _median(runs: Sequence[RunRecord]) -> RunRecord:
    middle = median_low(run.time_s or 0.0 for run in runs)
    return next(run for run in runs if run.time_s == middle)


def _noise(times_s: Sequence[float]) -> float:
    """Return the relative uncertainty of a median of repetitions; 0 without repetitions."""
    if len(times_s) < 2:
        return 0.0
    error = _OF_MEDIAN * stdev(times_s) / math.sqrt(len(times_s))
    return float(scipy.special.stdtrit(len(times_s) - 1, _SIDE)) * error / median_low(times_s)


def _with_paths(runs: Sequence[RunRecord], profile: Profile | None) -> tuple[tuple[Region, ...], list[RunRecord]]:
    """Return a region for each call path, and *runs* with their times divided in proportion."""
    found = [_shares(run, profile) for run in runs]
    if any(one is None for one in found) or not found:
        found = [{_WHOLE: 1.0} for _ in runs]
    shares = [one for one in found if one is not None]
    names = sorted({name for own in shares for name, share in own.items() if share >= _LEAST})
    regions = tuple(
        Region(id=number, kind="function", name=name, file="", line=0)
        for number, name in enumerate((*names, _OTHERS), start=1)
    )
    made = []
    for run, own in zip(runs, shares, strict=True):
        known = [own.get(name, 0.0) for name in names]
        cycles = round((run.time_s or 0.0) * _CLOCK_HZ)
        parts = [round(share * cycles) for share in (*known, max(0.0, 1.0 - sum(known)))]
        costs = tuple(
            RegionCost(region=region.id, categories={"busy": part}, busy_max=part, useful_max=part)
            for region, part in zip(regions, parts, strict=True)
            if part
        )
        made.append(run.model_copy(update={"time_cycles": cycles, "clock_hz": _CLOCK_HZ, "regions": costs}))
    return regions, made


def _shares(run: RunRecord, profile: Profile | None) -> dict[str, float] | None:
    """Return the share of the time in each call path, None if unknown."""
    if profile is None or not profile[1].time:
        return None
    measured, meaning = profile
    point = _point_of(run, measured, meaning)
    if point is None:
        return None
    tree, _ = of_set(measured, measured.metric(meaning.time), point)
    whole = float(np.sum(tree.own))
    if whole <= 0:
        return None
    return {measured.paths[i]: float(own) / whole for i, own in enumerate(tree.own) if own > 0}


def _point_of(run: RunRecord, measured: MeasurementSet, meaning: Meaning) -> int | None:
    """Return the set's point from which *run* was made."""
    values: Mapping[str, object] = run.point.parameters
    for index, row in enumerate(measured.points.to_dict("records")):
        same = all(row.get(name) == value for name, value in values.items() if name in row)
        if same and row.get(meaning.processors) in (run.point.processors, None):
            return index
    return None


@dataclass
class MeasuredPredictor(Predictor):
    """Predicts points from measured *runs* (`MeasuredSamples.runs`) by fits alone; raises as `Predictor`.

    *repeated* and *noise*: as `MeasuredSamples` has them.
    """

    repeated: Mapping[Place, tuple[RunRecord, ...]] = field(default_factory=dict)
    noise: Mapping[int, float] = field(default_factory=dict)
    exact: ClassVar[bool] = False

    def needed(self, values: Values, processors: int) -> list[RunRecord]:
        """Return all repetitions of the samples used for a prediction on N = *processors*."""
        every = super().needed(values, processors)
        places = (place_of(values_of(run), run.point.processors) for run in every)
        return [run for place in places for run in self.repeated.get(place, ())]

    def _accounted(self, runs: Sequence[RunRecord], predicted: Sequence[float]) -> Sequence[float]:  # noqa: ARG002
        """Return the measured time in regions: the error of fits is noise, not waiting."""
        exclusive = {region.id for region in self.regions if region.kind in EXCLUSIVE}
        return [
            sum(cost.useful_max * (run.point.processors if cost.region in exclusive else 1) for cost in run.regions)
            / self.clock_hz
            for run in runs
        ]

    def spread(self, processors: int) -> float:
        """Return the relative uncertainty of a time at 90 %: that for exact runs combined with the noise of medians.

        Unit: none (ratio). Source: ScaleGraph.
        """
        return math.hypot(super().spread(processors), self.noise.get(processors, 0.0))
