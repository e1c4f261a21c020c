"""Predictions: the parallel time with its interval, and where it is spent, from sample runs on one or more N."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import scipy

from scalegraph.base.errors import InputError
from scalegraph.base.run import Region, RunRecord
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.derive import REST, EventCosts, Structure, derive, graph_at
from scalegraph.predict.doubts import Doubt
from scalegraph.predict.graph import Graph
from scalegraph.predict.instantiate import instantiate
from scalegraph.predict.levels import Levels, Place, place_of
from scalegraph.predict.lower import SegmentTime, fit_times, lowered
from scalegraph.predict.regions import RegionTime, Values, clock_of, samples_of, values_of
from scalegraph.predict.traverse import Traversal, traverse

_TESTED = 2  # samples needed to predict another
_SIDE = 0.95  # one-sided level: an interval of 90 %
_ONE_SIDE = 0.3  # relative uncertainty if there are samples on only one other N


@dataclass(frozen=True)
class RegionShare:
    """The contribution of a region to the parallel time, in s; *shared*: whether the processors share its work."""

    name: str
    file: str
    line: int
    shared: bool
    busy_s: float
    memory_stall_s: float
    formula: str

    @property
    def time_s(self) -> float:
        """Busy and stall time."""
        return self.busy_s + self.memory_stall_s


@dataclass(frozen=True)
class Predicted:
    """The predicted parallel time at a point, in s, with an interval.

    *regions*: most expensive first; *events_s*: starts of parallel regions, barriers and locks; *waiting_s*: waiting
    for slower threads. These add up to the time.
    """

    processors: int
    values: Values
    time_s: float
    low_s: float
    high_s: float
    regions: tuple[RegionShare, ...] = ()
    events_s: float = 0.0
    waiting_s: float = 0.0
    sampled: bool = True  # there are samples on this N
    events: int = 0
    warning: str = ""  # warning that the data outgrow a memory level that holds those of all samples

    def efficiency(self, one_s: float) -> float:
        """Return the efficiency, given the time on one processor. Unit: none (ratio)."""
        return one_s / (self.processors * self.time_s)

    def latency_s(self, one_s: float) -> float:
        """Return L(W,N) = T_para - T_1/N, given the time on one processor. Unit: s. Source: latency-metric.txt."""
        return self.time_s - one_s / self.processors


@dataclass(frozen=True)
class Checks:
    """Relative errors of the model for one N: at the samples, and of the largest one when *left_out* (or None)."""

    samples: tuple[float, ...]
    left_out: float | None = None


@dataclass(frozen=True)
class _Own:
    """The model from samples on one N: the structure, the time outside regions, and its errors there."""

    structure: Structure
    rest: SegmentTime
    checks: Checks


@dataclass
class Predictor:
    """Predicts points from sample *runs*; *targets* are the parameters that will be predicted.

    *costs*: of events by N, for the samples' N and those to predict. Raises `CannotTellError` with a sentence if the
    samples do not determine the pattern of events, `InputError` if they cannot be used.
    """

    runs: Sequence[RunRecord]
    regions: Sequence[Region]
    costs: Mapping[int, EventCosts]
    targets: Sequence[Values]
    tested: bool = False  # is itself a back-test
    levels: Levels = field(default_factory=Levels)
    needs: ClassVar[str] = "regions and cycles"
    exact: ClassVar[bool] = True  # busy cycles are exact counts
    _own: dict[tuple[int, bool], _Own] = field(default_factory=dict)
    _seen: dict[Place, _Own] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.runs:
            raise InputError("there are no sample runs to predict from")
        bad = [run for run in self.runs if not run.ok or not self._usable(run)]
        if bad:
            raise InputError(f"{bad[0].point.label()}: a sample must have succeeded, with {self.needs}")

    def _usable(self, run: RunRecord) -> bool:
        return bool(run.time_cycles and run.regions)

    def needed(self, values: Values, processors: int) -> list[RunRecord]:
        """Return the runs used for the prediction at *values* on N = *processors*; raises as `at`.

        These are the samples, and those on smaller caches: its own, and those that decided which caches are reduced.
        """
        used = self.used(processors)
        places = {place_of(values_of(run), run.point.processors) for run in self.runs}
        places |= {place_of(values, n) for n in used}
        shrunk = [run for place, run in (self.levels.shrunk or {}).items() if place in places]
        every = {id(run): run for run in (*self.runs, *shrunk, *self.levels.others)}
        return [run for run in every.values() if run.point.processors in used]

    @property
    def sampled(self) -> list[int]:
        """The N of the samples, ascending."""
        return sorted({run.point.processors for run in self.runs})

    @property
    def clock_hz(self) -> float:
        """Cycles per second."""
        return clock_of(self.runs[0])

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*.

        Raises `CannotTellError` if a count is not determined, `DeadlockError` for a graph that deadlocks.
        """
        if processors in self.sampled:
            return self._from(processors, values, processors)
        near = self._neighbours(processors)
        found = [self._from(n, values, processors) for n in near]
        if len(found) == 1:
            only = found[0]
            return _moved(only, only.time_s, only.low_s * (1 - _ONE_SIDE), only.high_s * (1 + _ONE_SIDE))
        (first, second), (low, high) = found, near
        share = math.log(processors / low) / math.log(high / low)
        time = max(first.time_s + (second.time_s - first.time_s) * share, 0.5 * min(first.time_s, second.time_s))
        nearest = first if share < 0.5 else second
        edges = [time, *(edge for one in found for edge in (one.low_s, one.high_s))]
        return _moved(nearest, time, min(edges), max(edges))

    def _from(self, sampled: int, values: Values, processors: int) -> Predicted:
        """Return the prediction for *processors* by the samples on N = *sampled*."""
        own = self._with_stalls(self._model(sampled, counted=sampled == processors), values)
        return self._with(own, values, processors)

    def _with_stalls(self, own: _Own, values: Values) -> _Own:
        """Return *own* with the additional stalls of a sample on smaller caches, if there is one for *values*."""
        sampled = own.structure.processors
        run = self.levels.run(values, sampled)
        if run is None:
            return own
        place = place_of(values, sampled)
        if place not in self._seen:
            found = {one.region.id: one for one in samples_of([run], self.regions)}
            times = {
                number: time.with_stalls_of(found[number]) if number in found else time
                for number, time in own.structure.times.items()
            }
            self._seen[place] = replace(own, structure=replace(own.structure, times=times))
        return self._seen[place]

    def graph(self, values: Values, processors: int) -> Graph:
        """Return the thread graph at a point whose N has samples. Raises as `at`."""
        own = self._with_stalls(self._model(processors, counted=True), values)
        rest = own.rest.at(values, processors).time_s
        return graph_at(own.structure, values, processors, self._cost(processors), self.clock_hz, rest)

    def times(self, processors: int) -> Mapping[int, RegionTime]:
        """Return how the time of each region (by number) grows, on an N with samples. Raises as `at`."""
        return self._model(processors, counted=True).structure.times

    def used(self, processors: int) -> list[int]:
        """Return the N whose samples predict N = *processors*; raise `CannotTellError` if there are none."""
        return [processors] if processors in self.sampled else self._neighbours(processors)

    def doubts(self, values: Values, processors: int) -> list[list[Doubt]]:
        """Return the fits behind a predicted time by region, on an N with samples; see `next_sample`."""
        own = self._with_stalls(self._model(processors, counted=True), values)
        found = [[Doubt("waiting", own.rest)]]
        for time in own.structure.times.values():
            scale = (processors if time.samples.exclusive else 1) / self.clock_hz
            fits = [(time.stall, 1.0)] if time.exact is not None else [(time.busy, 1.0 + time.more), (time.stall, 1.0)]
            found.append([Doubt(time.samples.region.name, fit, scale * times) for fit, times in fits])
        return found

    def _neighbours(self, processors: int) -> list[int]:
        """Return the sampled N from which to predict another N: one on each side, or else the two nearest.

        Raises `CannotTellError` if all samples are on one processor, which does all the work itself.
        """
        if self.sampled == [1]:
            raise CannotTellError(
                "all samples are on one processor, and do not show which work would be shared; samples on two or "
                "more were expected"
            )
        below = [n for n in self.sampled if 1 < n < processors]
        above = [n for n in self.sampled if n > max(1, processors)]
        if below and above:
            return [below[-1], above[0]]
        return below[-2:] or above[:2] or self.sampled

    def _cost(self, processors: int) -> EventCosts:
        return self.costs.get(processors, EventCosts())

    def _model(self, processors: int, *, counted: bool) -> _Own:
        key = (processors, counted)
        if key not in self._own:
            self._own[key] = self._derived(processors, counted=counted)
        return self._own[key]

    def _derived(self, processors: int, *, counted: bool) -> _Own:
        runs = sorted(
            (run for run in self.runs if run.point.processors == processors), key=lambda r: r.time_cycles or 0
        )
        structure = derive(runs, self.regions, self.targets, counted=counted and self.exact)
        if not structure.times:
            raise CannotTellError("no region of the samples has a time")
        places = [(values_of(run), processors) for run in runs]
        graphs = [graph_at(structure, values, n, self._cost(n), self.clock_hz) for values, n in places]
        predicted = [traverse(instantiate(graph, {}, processors)).time_s for graph in graphs]
        actual = [(run.time_cycles or 0) / self.clock_hz for run in runs]
        left = [max(0.0, real - own) for real, own in zip(actual, self._accounted(runs, predicted), strict=True)]
        parts = [(sum(part.time_s for part in one.at(*places[-1])), one.growth) for one in structure.times.values()]
        terms = lowered(max(parts, key=lambda part: part[0])[1], sorted(places[-1][0]), 2)
        rest = fit_times(terms, places, left)
        errors = tuple(
            abs((own + rest.at(*place).time_s) / real - 1.0)
            for own, real, place in zip(predicted, actual, places, strict=True)
        )
        return _Own(structure, rest, Checks(errors, self._back_test(runs)))

    def _accounted(self, runs: Sequence[RunRecord], predicted: Sequence[float]) -> Sequence[float]:  # noqa: ARG002
        """Return the time in s accounted for in sample *runs*: here that *predicted* for regions and events."""
        return predicted

    def _checks(self, processors: int) -> Checks:
        """Return the errors of the model for N = *processors*. Raises as `at`."""
        return self._model(processors, counted=True).checks

    def spread(self, processors: int) -> float:
        """Return the relative uncertainty, at 90 %, of a time predicted from samples on N = *processors*.

        It combines the errors at the samples and of the largest samples left out, over all N, by Student's t
        distribution; at least the error of the largest sample on that N; and the uncertainty of the samples' own times
        if these are estimates. Unit: none (ratio). Source: ScaleGraph.
        """
        if self.tested:
            return 0.0
        samples: list[float] = []
        left_out: list[float] = []
        for n in self.sampled:
            try:
                checks = self._checks(n)
            except CannotTellError:
                continue
            samples += checks.samples
            left_out += [checks.left_out] if checks.left_out is not None else []
        freedom = max(1, len(left_out) or len(samples))
        own = self._checks(processors).left_out or 0.0
        model = max(own, float(scipy.special.stdtrit(freedom, _SIDE)) * math.hypot(_mean(samples), _mean(left_out)))
        return math.hypot(model, max(run.time_error for run in self.runs if run.point.processors == processors))

    def _back_test(self, runs: Sequence[RunRecord]) -> float | None:
        """Return the relative error when the largest of *runs* is predicted from the others; None if it cannot be."""
        *rest, largest = runs
        if self.tested or len(rest) < _TESTED:
            return None
        values, processors = values_of(largest), largest.point.processors
        others = replace(self, runs=rest, targets=[values], tested=True, _own={}, _seen={})
        try:
            predicted = others.at(values, processors).time_s
        except CannotTellError:
            return None
        return abs(predicted / (largest.time_s or predicted) - 1.0)

    def _with(self, own: _Own, values: Values, processors: int) -> Predicted:
        rest = own.rest.at(values, processors)
        graph = graph_at(own.structure, values, processors, self._cost(processors), self.clock_hz, rest.time_s)
        found = traverse(instantiate(graph, {}, processors))
        below, above = rest.time_s - rest.low_s, rest.high_s - rest.time_s
        shares = []
        for time in own.structure.times.values():
            region, parts = time.samples.region, time.at(values, processors)
            turns = processors if time.samples.exclusive else 1
            below = math.hypot(below, turns * sum(part.time_s - part.low_s for part in parts) / self.clock_hz)
            above = math.hypot(above, turns * sum(part.high_s - part.time_s for part in parts) / self.clock_hz)
            busy, stall = (turns * part.time_s / self.clock_hz for part in parts)
            shares.append(
                RegionShare(region.name, region.file, region.line, time.samples.shared, busy, stall, time.formula)
            )
        spread = self.spread(own.structure.processors) * found.time_s
        shares.sort(key=lambda share: share.time_s, reverse=True)
        return Predicted(
            processors,
            dict(values),
            found.time_s,
            max(0.0, found.time_s - below - spread),
            found.time_s + above + spread,
            tuple(shares),
            _events(found, shares),
            found.spent.get(REST, 0.0),
            processors == own.structure.processors,
            found.events,
            "" if self.tested else self.levels.warning(self.runs, values, own.structure.processors),
        )


def _mean(errors: Sequence[float]) -> float:
    """Return the root mean square."""
    return math.sqrt(sum(error**2 for error in errors) / len(errors)) if errors else 0.0


def _events(found: Traversal, shares: Sequence[RegionShare]) -> float:
    """Return the time of events: what is neither in regions nor waiting."""
    regions = sum(share.time_s for share in shares)
    return max(0.0, found.time_s - regions - found.spent.get(REST, 0.0))


def _moved(found: Predicted, time_s: float, low_s: float, high_s: float) -> Predicted:
    """Return a prediction for an N without samples: the parts of the nearest one, scaled to the time."""
    factor = time_s / found.time_s if found.time_s else 1.0
    regions = tuple(
        RegionShare(
            one.name, one.file, one.line, one.shared, one.busy_s * factor, one.memory_stall_s * factor, one.formula
        )
        for one in found.regions
    )
    return Predicted(
        found.processors,
        found.values,
        time_s,
        low_s,
        high_s,
        regions,
        found.events_s * factor,
        found.waiting_s * factor,
        sampled=False,
        events=found.events,
        warning=found.warning,
    )
