"""Predictions from traces of sample runs: for message-passing programs, and for imported traces."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from scalegraph.base import run as base_run
from scalegraph.base.run import RunRecord
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.doubts import Doubt
from scalegraph.predict.graph import Graph
from scalegraph.predict.instantiate import instantiate
from scalegraph.predict.levels import stall_rates
from scalegraph.predict.lower import SegmentTime, fit_times, lowered
from scalegraph.predict.predicting import Checks, Predicted, Predictor, RegionShare
from scalegraph.predict.regions import Values, values_of
from scalegraph.predict.traced.costs import TracedCosts, traced_costs
from scalegraph.predict.traced.graphs import RankModel, Setting, graph_of, rank_model
from scalegraph.predict.traced.operations import Read
from scalegraph.predict.traced.patterns import SampleTrace, Work, fitting_runs, patterns
from scalegraph.predict.traverse import DeadlockError, traverse
from scalegraph.traces.model import Region

REQUIRED = 2  # sample runs that must share the pattern


@dataclass(frozen=True, eq=False)
class _Traced:
    """The model from traces on one N: the ranks, the costs, the time missing from the graph, and the error."""

    processors: int
    models: tuple[RankModel, ...]
    setting: Setting
    rest: SegmentTime
    checks: Checks


@dataclass
class TracedPredictor(Predictor):
    """Predicts points from sample *runs* with traces; *traces*: by key of the run's point.

    *optional*: keys of runs used only if they do the same as the others, such as small runs for counts. Raises
    `CannotTellError` with a sentence if the pattern of messages changes with the parameters.
    """

    traces: Mapping[str, Read] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    _known: dict[int, _Traced] = field(default_factory=dict)

    needs: ClassVar[str] = "a trace"

    def _usable(self, run: RunRecord) -> bool:
        return run.point.key in self.traces or (run.point.processors == 1 and super()._usable(run))

    def _has_traces(self, processors: int) -> bool:
        return any(run.point.processors == processors and run.point.key in self.traces for run in self.runs)

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*; raises as `Predictor.at`."""
        try:
            return super().at(values, processors)
        except DeadlockError as error:
            raise CannotTellError(f"the messages of the ranks do not match there: {error}") from error

    def graph(self, values: Values, processors: int) -> Graph:
        """Return the thread graph at a point whose N has samples. Raises as `at`."""
        if not self._has_traces(processors):
            return super().graph(values, processors)
        return self._graph(self._with_smaller(self._of(processors), values), values)

    def _from(self, sampled: int, values: Values, processors: int) -> Predicted:
        if not self._has_traces(sampled):
            return super()._from(sampled, values, processors)
        own = self._with_smaller(self._of(sampled), values)
        found = traverse(instantiate(self._graph(own, values), {}, sampled))
        regions, below, above = self._shares(own, values)
        rest = own.rest.at(values, sampled)
        ranks = sum(len(model.members) for model in own.models)
        working = sum(one.time_s for one in regions)
        waiting = rest.time_s + sum(found.waited.values()) / ranks
        waiting = min(waiting, max(0.0, found.time_s - working))
        spread = self.spread(sampled) * found.time_s
        return Predicted(
            processors,
            dict(values),
            found.time_s,
            max(0.0, found.time_s - math.hypot(below, rest.time_s - rest.low_s) - spread),
            found.time_s + math.hypot(above, rest.high_s - rest.time_s) + spread,
            tuple(regions),
            max(0.0, found.time_s - working - waiting),
            waiting,
            processors == sampled,
            found.events,
            "" if self.tested else self.levels.warning(self.runs, values, sampled),
        )

    def _with_smaller(self, own: _Traced, values: Values) -> _Traced:
        """Return *own* with the additional stalls of a sample on smaller caches, if there is one for *values*."""
        run = self.levels.run(values, own.processors)
        if run is None:
            return own
        plain = next(one for one in self.runs if one.point.key == run.point.key)
        each = [_stalls_by_region(one, self.regions) for one in (plain, run)]
        more = {
            region: max(0.0, each[1].get(_named(region), 0.0) - each[0].get(_named(region), 0.0))
            for model in own.models
            for region in model.regions
        }
        return replace(own, models=tuple(model.with_stalls(more) for model in own.models))

    def _shares(self, own: _Traced, values: Values) -> tuple[list[RegionShare], float, float]:
        """Return useful time by region, averaged over ranks, and how far its intervals extend below and above."""
        sums: dict[Region, dict[bool, float]] = {}
        ranks = sum(len(model.members) for model in own.models)
        below = above = 0.0
        for model in own.models:
            part = len(model.members) / ranks
            for (region, stalled), time in model.work_s(values, own.processors).items():
                times = sums.setdefault(region, {False: 0.0, True: 0.0})
                times[stalled] += part * time.time_s
                below = math.hypot(below, part * (time.time_s - time.low_s))
                above = math.hypot(above, part * (time.high_s - time.time_s))
        shares = [
            RegionShare(region.name, region.file, region.line, own.processors > 1, times[False], times[True], "")
            for region, times in sums.items()
        ]
        return sorted(shares, key=lambda share: share.time_s, reverse=True), below, above

    def doubts(self, values: Values, processors: int) -> list[list[Doubt]]:
        """Return the fits behind a predicted time by rank class and region, as `Predictor.doubts`."""
        if not self._has_traces(processors):
            return super().doubts(values, processors)
        own = self._of(processors)
        ranks = sum(len(model.members) for model in own.models)
        found: dict[tuple[int, Work], list[Doubt]] = {}
        for number, model in enumerate(own.models):
            for leaf in model.leaves:
                for key, fit in leaf.work.items():
                    doubt = Doubt(key[0].name, fit, len(model.members) / ranks)
                    found.setdefault((number, key), []).append(doubt)
        return [[Doubt("waiting", own.rest)], *found.values()]

    def _of(self, processors: int) -> _Traced:
        if processors not in self._known:
            self._known[processors] = self._derived_from(
                [run for run in self.runs if run.point.processors == processors]
            )
        return self._known[processors]

    def _derived_from(self, runs: Sequence[RunRecord]) -> _Traced:
        runs = sorted(runs, key=lambda run: (run.point.key in self.optional, run.time_s or 0.0))
        count = sum(run.point.key not in self.optional for run in runs)
        every = [SampleTrace(values_of(run), self.traces[run.point.key]) for run in runs]
        # samples must share the pattern; small runs for counts with another pattern are dropped
        kept = [*every[:count], *fitting_runs([every[0], *every[count:]])[1:]]
        kept.sort(key=lambda run: run.read.time_s)
        found, _ = patterns(kept)
        processors = runs[0].point.processors
        places = [(run.values, processors) for run in kept]
        varied = _varied([values for values, _ in places] + list(self.targets))
        models = tuple(rank_model(pattern, places, varied) for pattern in found)
        costs: TracedCosts = traced_costs([run.read for run in kept])
        last = kept[-1].read
        names = _unique([location.name for location in last.trace.definitions.locations])
        setting = Setting({}, processors, costs, last.members, names)
        own = _Traced(processors, models, setting, fit_times((), places, [0.0] * len(places)), Checks(()))
        times = [traverse(instantiate(self._graph(own, values), {}, processors)).time_s for values, _ in places]
        actual = [run.read.time_s for run in kept]
        left = [max(0.0, real - made) for real, made in zip(actual, times, strict=True)]
        largest = max(
            (time for model in models for leaf in model.leaves for time in leaf.work.values()),
            key=lambda time: time.at(*places[-1]).time_s,
        )
        rest = fit_times(lowered(largest.terms[0], sorted(varied), 2), places, left)
        errors = tuple(
            abs((made + rest.at(*place).time_s) / real - 1.0)
            for made, real, place in zip(times, actual, places, strict=True)
        )
        return _Traced(processors, models, setting, rest, Checks(errors, self._tested(runs)))

    def _checks(self, processors: int) -> Checks:
        return self._of(processors).checks if self._has_traces(processors) else super()._checks(processors)

    def _tested(self, runs: Sequence[RunRecord]) -> float | None:
        """Return the relative error when the largest of *runs* is predicted from the others; None if it cannot be."""
        *rest, largest = sorted(runs, key=lambda run: run.time_s or 0.0)
        if self.tested or len(rest) < REQUIRED:
            return None
        values = values_of(largest)
        try:
            others = TracedPredictor(
                rest,
                self.regions,
                {},
                [values],
                tested=True,
                levels=self.levels,
                traces=self.traces,
                optional=self.optional,
            )
            predicted = others.at(values, largest.point.processors).time_s
        except CannotTellError:
            return None
        return abs(predicted / (largest.time_s or predicted) - 1.0)

    def _graph(self, own: _Traced, values: Values) -> Graph:
        old = own.setting
        setting = Setting(values, old.processors, old.costs, old.members, old.names)
        rest = own.rest.at(values, own.processors).time_s if own.rest.terms else 0.0
        return graph_of(own.models, setting, rest)


_Named: TypeAlias = tuple[str, str, int]


def _named(region: Region | base_run.Region) -> _Named:
    return region.name, region.file, region.line


def _stalls_by_region(run: RunRecord, regions: Sequence[base_run.Region]) -> dict[_Named, float]:
    """Return the stall cycles per busy cycle, summed over ranks, by region."""
    names = {region.id: _named(region) for region in regions}
    known = stall_rates(run).items()
    return {names[number]: stall / busy for number, (busy, stall) in known if busy and number in names}


def _varied(every: Sequence[Values]) -> tuple[str, ...]:
    """Return the parameters that differ, or all if none does."""
    names = sorted(every[0])
    return tuple(name for name in names if len({values[name] for values in every}) > 1) or tuple(names)


def _unique(names: Sequence[str]) -> list[str]:
    """Return *names*, with numbers appended where one is empty or occurs twice."""
    return [
        name if name and names.count(name) == 1 else f"{name or 'location'} {number}"
        for number, name in enumerate(names)
    ]
