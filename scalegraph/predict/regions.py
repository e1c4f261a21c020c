"""What the regions of a program cost in sample runs on one N, as functions of the parameters.

A region's time on its representative thread (the one that is busiest there) is its busy cycles, which are counts, and
its memory stalls, which are fitted. Waiting, and what events cost, is no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scalegraph.base.run import Region, RegionCost, RunRecord
from scalegraph.base.units import assigned
from scalegraph.predict.counts import CannotTellError, Count, Sample, fit_count
from scalegraph.predict.forms import best_form
from scalegraph.predict.lower import Estimate, Growth, SegmentTime, fit_times, growths, ranges

Values = Mapping[str, int]
EXCLUSIVE = ("critical", "ordered")  # kinds of regions that one thread at a time runs
_SAME = 0.2  # events that differ by at most so much between samples do so by the data: the largest sample's count
_GOOD = 0.01  # residual of a form by which one thread's part of shared work is regular
_SHARED = 1.3  # all processors together are so much busier than the busiest: they share the work


@dataclass(frozen=True)
class RegionSamples:
    """A region's costs in the runs on one N, in cycles: *busy* and *useful* (with stalls) of the representative.

    *estimated*: the runs whose counts are estimates from samples of repeated phases.
    """

    region: Region
    processors: int
    runs: tuple[Values, ...]
    busy: tuple[int, ...]
    useful: tuple[int, ...]
    summed: tuple[int, ...]  # busy and stall of all processors
    busy_summed: tuple[int, ...]
    misses: tuple[int, ...]
    visits: tuple[int, ...]
    barriers: tuple[int, ...]
    locks: tuple[int, ...]
    estimated: frozenset[int] = frozenset()

    @property
    def counted(self) -> list[list[int]]:
        """The runs that may determine a count: all of them, or else those that were simulated as a whole.

        What visits of a phase do that are all alike is exact in an estimate, too.
        """
        every = list(range(len(self.runs)))
        return [every, [i for i in every if i not in self.estimated]] if self.estimated else [every]

    @property
    def shared(self) -> bool:
        """Whether several processors share the work."""
        largest = max(range(len(self.runs)), key=lambda i: self.busy_summed[i])
        return self.processors > 1 and self.busy_summed[largest] > _SHARED * self.busy[largest]

    @property
    def exclusive(self) -> bool:
        """Whether only one thread may be there at a time."""
        return self.region.kind in EXCLUSIVE


def samples_of(runs: Sequence[RunRecord], regions: Sequence[Region]) -> list[RegionSamples]:
    """Return the costs of every region that has any, over *runs* on one N."""
    found = []
    processors = runs[0].point.processors
    values = tuple(values_of(run) for run in runs)
    costs = [{cost.region: cost for cost in run.regions} for run in runs]
    estimated = frozenset(i for i, run in enumerate(runs) if run.estimated)
    for region in regions:
        own = [cost.get(region.id, RegionCost(region=region.id)) for cost in costs]
        if any(cost.useful_max or cost.counters for cost in own):
            found.append(
                RegionSamples(
                    region,
                    processors,
                    values,
                    tuple(cost.busy_max for cost in own),
                    tuple(cost.useful_max for cost in own),
                    tuple(_group(cost, ("busy", "stall")) for cost in own),
                    tuple(_group(cost, ("busy",)) for cost in own),
                    tuple(cost.counters.get("l1_misses", 0) for cost in own),
                    tuple(cost.counters.get("visits", 0) for cost in own),
                    tuple(cost.counters.get("barriers", 0) for cost in own),
                    tuple(cost.counters.get("locks", 0) for cost in own),
                    estimated,
                )
            )
    return found


def values_of(run: RunRecord) -> dict[str, int]:
    """Return the parameters of *run* that are whole numbers."""
    return {name: value for name, value in run.point.parameters.items() if isinstance(value, int)}


def clock_of(run: RunRecord) -> float:
    """Return the cycles in a second of a run."""
    return run.clock_hz or (run.time_cycles or 0) / (run.time_s or 1.0)


def projected(run: RunRecord, names: Sequence[str]) -> RunRecord:
    """Return *run* with the parameters *names* only: the rest is the same in all runs."""
    values = {name: value for name, value in run.point.parameters.items() if name in names}
    return run.model_copy(update={"point": run.point.model_copy(update={"parameters": values})})


def _group(cost: RegionCost, prefixes: tuple[str, ...]) -> int:
    return sum(cycles for name, cycles in cost.categories.items() if name.startswith(prefixes))


@dataclass(frozen=True)
class RegionTime:
    """The cycles of a region on its representative thread: *busy*, an exact count or a fit, and *stall*, a fit.

    *exact*: the count of busy cycles, None where they depend on the data. *growth* is the form that both have. *more*:
    stall cycles for each busy cycle that a sample has in smaller caches, but not in its own.
    """

    samples: RegionSamples
    growth: Growth
    exact: Count | None
    busy: SegmentTime
    stall: SegmentTime
    more: float = 0.0

    def at(self, values: Values, processors: int) -> tuple[Estimate, Estimate]:
        """Return busy and stall cycles.

        Raises `CannotTellError` where a count is not determined.
        """
        busy = self.busy.at(values, processors)
        if self.exact is not None and processors == self.samples.processors:
            known = float(self.exact(values, processors))
            busy = Estimate(known, known, known)
        stall = self.stall.at(values, processors)
        if self.more:  # references, and so what they stall in the next level, grow as computation does
            stall = stall.plus(busy, self.more)
        return busy, stall

    def with_stalls_of(self, sample: RegionSamples) -> RegionTime:
        """Return the same with what *sample*, one of the runs once more on smaller caches, stalls in addition.

        Fitted stalls go through that run in its own caches: smaller samples may be in another level of the memory.
        """
        own = self.samples.runs.index(sample.runs[0])
        each, stalls = [], []
        for samples, run in ((self.samples, own), (sample, 0)):
            busy, useful = (known[run] for known in _of_representative(samples))
            stalls.append(max(0.0, useful - busy))
            each.append((useful - busy) / busy if busy else 0.0)
        fitted = self.stall.at(sample.runs[0], sample.processors).time_s
        through = stalls[0] / fitted if fitted else 1.0
        return replace(self, more=max(0.0, each[1] - each[0]), stall=self.stall.times(through))

    @property
    def formula(self) -> str:
        """The cycles as an expression of graph files."""
        busy = self.exact.formula if self.exact is not None else self.busy.formula
        return f"{busy} + {self.stall.formula}" if self.stall.formula != "0" else busy


def region_time(samples: RegionSamples, targets: Sequence[Values], *, counted: bool = True) -> RegionTime:
    """Return how the time of a region grows, for use at *targets*.

    Its form is the exact count of its busy cycles if the samples determine that at the targets (and *counted* allows
    it), else the product of powers that fits them best.
    """
    summed = samples.exclusive
    busy, useful = _of_representative(samples)
    stall = [max(0.0, all_ - own) for all_, own in zip(useful, busy, strict=True)]
    places = [(values, samples.processors) for values in samples.runs]
    varied = _varied((*samples.runs, *targets))
    exact = _exact(samples, targets) if counted and not summed else None
    if exact is not None:
        terms = growths(exact, varied)
        fitted = fit_times(terms, places, busy)
    else:
        terms, fitted = _fitted(samples, targets, busy)
    kept = _last_range(samples, terms[0])
    return RegionTime(
        samples,
        terms[0],
        exact,
        fitted,
        fit_times(terms, [places[i] for i in kept], [stall[i] for i in kept]),
    )


def _of_representative(samples: RegionSamples) -> tuple[list[float], list[float]]:
    """Return busy and useful cycles of the representative; of a critical section, of a thread on average."""
    if not samples.exclusive:
        return [*samples.busy], [*samples.useful]
    sums = (samples.busy_summed, samples.summed)
    busy, useful = ([total / samples.processors for total in totals] for totals in sums)
    return busy, useful


def _fitted(
    samples: RegionSamples, targets: Sequence[Values], busy: Sequence[float]
) -> tuple[tuple[Growth, ...], SegmentTime]:
    """Return the terms that the times of a region grow with, and its *busy* cycles on the representative by them.

    How much of shared work one thread gets may be chance, as of tasks and of chunks dealt out dynamically; what all do
    together is not. So that has the degree; where no form of that degree fits one thread, it does its N-th part of
    the whole and some more, which grows less.
    """
    places = [(values, samples.processors) for values in samples.runs]
    varied = _varied((*samples.runs, *targets))
    if not samples.shared or samples.exclusive:
        terms = best_form(places, busy, varied, divided=samples.shared).terms()
        return terms, fit_times(terms, places, busy)
    whole = best_form(places, samples.busy_summed, varied, divided=False)
    terms = best_form(places, busy, varied, divided=True, least=whole.degree, most=whole.degree).terms()
    if fit_times(terms[: max(1, len(places) - 2)], places, busy).residual <= _GOOD:
        return terms, fit_times(terms, places, busy)
    return _by_chance(samples, whole.terms(), _exact_of(samples, samples.busy_summed, targets, divided=False), busy)


def _by_chance(
    samples: RegionSamples, terms: tuple[Growth, ...], exact: Count | None, busy: Sequence[float]
) -> tuple[tuple[Growth, ...], SegmentTime]:
    """Return the N-th part of what all threads do together, and what the busiest does besides, as `_fitted`."""
    places = [(values, samples.processors) for values in samples.runs]
    together = fit_times(terms, places, samples.busy_summed)

    def part(values: Values, processors: int) -> float:
        known = float(exact(values, processors)) if exact is not None else together.at(values, processors).time_s
        return known / processors

    formula = f"({exact.formula if exact is not None else together.formula}) / N"
    more = [max(0.0, own - all_ / samples.processors) for own, all_ in zip(busy, samples.busy_summed, strict=True)]
    rest = fit_times(terms[1:] or terms, places, more)
    rivals = tuple((1.0, *known) for known in rest.rivals)
    found = SegmentTime((Growth(formula, part), *rest.terms), (1.0, *rest.coefficients), 0.0, rivals)
    spread = [found.at(*place).time_s / own - 1.0 for place, own in zip(places, busy, strict=True) if own]
    residual = (sum(error**2 for error in spread) / max(1, len(spread))) ** 0.5
    return terms, replace(found, residual=residual)


def _exact(samples: RegionSamples, targets: Sequence[Values]) -> Count | None:
    return _exact_of(samples, samples.busy, targets, divided=samples.shared)


def _exact_of(
    samples: RegionSamples, counts: Sequence[int], targets: Sequence[Values], *, divided: bool
) -> Count | None:
    """Return the function that gives all *counts* exactly, None if none does or it has no value at *targets*.

    Where some of them are estimates that no function gives, those of whole runs count.
    """
    for runs in samples.counted:
        try:
            count = fit_count([Sample(samples.runs[i], samples.processors, counts[i]) for i in runs], divided=divided)
            for values in targets:
                count(values, samples.processors)
        except CannotTellError:
            continue
        return count if count.degree else None
    return None


def _varied(points: Sequence[Values]) -> tuple[str, ...]:
    """Return the parameters that differ between *points*, all if none does."""
    names = sorted(points[0])
    return tuple(name for name in names if len({values[name] for values in points}) > 1) or tuple(names)


def _last_range(samples: RegionSamples, growth: Growth) -> list[int]:
    """Return the samples whose data are in the same level of the memory as those of the largest, if there are two."""
    counts = [growth.at(values, samples.processors) for values in samples.runs]
    last = ranges(samples.misses, counts)[-1]
    return last if len(last) > 1 else list(range(len(counts)))


@dataclass(frozen=True)
class EventCount:
    """How often each thread meets an event: barriers, critical sections, starts of a parallel region.

    *always*: in the largest sample, where the data decide and it is nearly the same in all; *count* is None then.
    """

    region: Region
    count: Count | None
    always: int = 0

    def at(self, values: Values, processors: int) -> int:
        """Return the count; raise `CannotTellError` where it is not determined, or not whole."""
        if self.count is None:
            return self.always
        found = self.count(values, processors)
        if found.denominator != 1:
            where = assigned([("N", processors), *values.items()])
            raise CannotTellError(f"{self.region.name} has no whole number of events at {where}")
        return int(found)


def event_count(samples: RegionSamples, totals: Sequence[int], threads: int) -> EventCount | None:
    """Return how often each of *threads* meets an event that all met *totals* times in the samples; None if never.

    The samples are in the order of their times. Counts that no function of the parameters gives, but that differ by at
    most a fifth of the largest sample's, depend on the data a little: that sample's is taken. Where some counts are
    estimates that no function gives, those of whole runs count. Raises `CannotTellError` with a sentence when the
    pattern changes with the parameters in no way that is known.
    """
    if not any(totals):
        return None
    what = f"{samples.region.name}, on {samples.processors} processors"
    last = totals[-1]
    alike = all(abs(total - last) <= _SAME * last for total in totals)
    uneven, why = False, ""
    for runs in samples.counted:
        uneven = any(totals[i] % threads for i in runs)
        if uneven:
            why = f"{what}: not all threads meet the event equally often, so the pattern is not regular"
            continue
        known = [Sample(samples.runs[i], samples.processors, totals[i] // threads) for i in runs]
        try:
            return EventCount(samples.region, fit_count(known))
        except CannotTellError as error:
            why = f"how often the event of {what}, happens: {error}"
    if alike and (uneven or len(totals) > 1):
        return EventCount(samples.region, None, max(1, round(last / threads)))
    raise CannotTellError(why)
