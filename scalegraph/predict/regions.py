"""The costs of program regions in sample runs on one N, as functions of the parameters.

A region's time on its representative thread (the busiest one there) is its busy cycles, which are counts, plus its
memory stalls, which are fitted. Waiting and the costs of events are not included.
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
EXCLUSIVE = ("critical", "ordered")  # kinds of regions executed by one thread at a time
# relative difference up to which varying event counts are taken as data dependent, using the largest sample's
_SAME = 0.2
_GOOD = 0.01  # residual below which one thread's part of shared work counts as regular
_SHARED = 1.3  # if all processors together are this much busier than the busiest one, they share the work


@dataclass(frozen=True)
class RegionSamples:
    """A region's costs in the runs on one N, in cycles: *busy* and *useful* (with stalls) of the representative.

    *estimated*: runs whose counts are estimated by sampling repeated phases.
    """

    region: Region
    processors: int
    runs: tuple[Values, ...]
    busy: tuple[int, ...]
    useful: tuple[int, ...]
    summed: tuple[int, ...]  # busy and stall cycles summed over processors
    busy_summed: tuple[int, ...]
    misses: tuple[int, ...]
    visits: tuple[int, ...]
    barriers: tuple[int, ...]
    locks: tuple[int, ...]
    estimated: frozenset[int] = frozenset()

    @property
    def counted(self) -> list[list[int]]:
        """Sets of runs that may determine a count: first all, then only those simulated completely.

        Estimated runs are tried too, because identical visits of a phase are extrapolated exactly.
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
        """Whether only one thread at a time executes it."""
        return self.region.kind in EXCLUSIVE


def samples_of(runs: Sequence[RunRecord], regions: Sequence[Region]) -> list[RegionSamples]:
    """Return the costs of every region with any, over *runs* on one N."""
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
    """Return the cycles per second of a run."""
    return run.clock_hz or (run.time_cycles or 0) / (run.time_s or 1.0)


def projected(run: RunRecord, names: Sequence[str]) -> RunRecord:
    """Return *run* with only the parameters *names*: the others are the same in all runs."""
    values = {name: value for name, value in run.point.parameters.items() if name in names}
    return run.model_copy(update={"point": run.point.model_copy(update={"parameters": values})})


def _group(cost: RegionCost, prefixes: tuple[str, ...]) -> int:
    return sum(cycles for name, cycles in cost.categories.items() if name.startswith(prefixes))


@dataclass(frozen=True)
class RegionTime:
    """The cycles of a region on its representative thread: *busy*, an exact count or a fit, and *stall*, a fit.

    *exact*: the count of busy cycles, None if data dependent. *growth* is the form of both. *more*: additional stall
    cycles per busy cycle that a sample has on smaller caches.
    """

    samples: RegionSamples
    growth: Growth
    exact: Count | None
    busy: SegmentTime
    stall: SegmentTime
    more: float = 0.0

    def at(self, values: Values, processors: int) -> tuple[Estimate, Estimate]:
        """Return busy and stall cycles.

        Raises `CannotTellError` if a count is not determined.
        """
        busy = self.busy.at(values, processors)
        if self.exact is not None and processors == self.samples.processors:
            known = float(self.exact(values, processors))
            busy = Estimate(known, known, known)
        stall = self.stall.at(values, processors)
        if self.more:  # references, and so stalls in the next level, grow like computation
            stall = stall.plus(busy, self.more)
        return busy, stall

    def with_stalls_of(self, sample: RegionSamples) -> RegionTime:
        """Return the same with the additional stalls of *sample*, one of the runs repeated on smaller caches.

        Fitted stalls are rescaled to match that run on its own caches: smaller samples may be in another memory level.
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
        """The cycles as an expression for graph files."""
        busy = self.exact.formula if self.exact is not None else self.busy.formula
        return f"{busy} + {self.stall.formula}" if self.stall.formula != "0" else busy


def region_time(samples: RegionSamples, targets: Sequence[Values], *, counted: bool = True) -> RegionTime:
    """Return how the time of a region grows, for use at *targets*.

    Its form is the exact count of its busy cycles if the samples determine that at the targets (and *counted* allows
    it), otherwise the product of powers that fits best.
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
    """Return busy and useful cycles of the representative; for a critical section, the mean per thread."""
    if not samples.exclusive:
        return [*samples.busy], [*samples.useful]
    sums = (samples.busy_summed, samples.summed)
    busy, useful = ([total / samples.processors for total in totals] for totals in sums)
    return busy, useful


def _fitted(
    samples: RegionSamples, targets: Sequence[Values], busy: Sequence[float]
) -> tuple[tuple[Growth, ...], SegmentTime]:
    """Return the growth terms of a region's times, and a fit of the *busy* cycles of its representative.

    One thread's part of shared work may be random, as for tasks and dynamically scheduled chunks; the total is not. So
    the total determines the degree; if no form of that degree fits one thread, its time is 1/N of the total plus a part
    that grows more slowly.
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
    """Return 1/N of the total of all threads, plus the excess of the busiest one, in the form of `_fitted`."""
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
    """Return the function that gives all *counts* exactly; None if there is none or it is undefined at *targets*.

    If counts include estimates and no function fits, only those of complete runs are used.
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
    """Return the parameters that differ between *points*, or all if none does."""
    names = sorted(points[0])
    return tuple(name for name in names if len({values[name] for values in points}) > 1) or tuple(names)


def _last_range(samples: RegionSamples, growth: Growth) -> list[int]:
    """Return the samples in the same memory level as the largest one, if there are at least two."""
    counts = [growth.at(values, samples.processors) for values in samples.runs]
    last = ranges(samples.misses, counts)[-1]
    return last if len(last) > 1 else list(range(len(counts)))


@dataclass(frozen=True)
class EventCount:
    """How often each thread reaches an event: barriers, critical sections, starts of a parallel region.

    *always*: the count of the largest sample, if counts depend slightly on the data; *count* is None then.
    """

    region: Region
    count: Count | None
    always: int = 0

    def at(self, values: Values, processors: int) -> int:
        """Return the count; raise `CannotTellError` if it is not determined, or not an integer."""
        if self.count is None:
            return self.always
        found = self.count(values, processors)
        if found.denominator != 1:
            where = assigned([("N", processors), *values.items()])
            raise CannotTellError(f"{self.region.name} has no whole number of events at {where}")
        return int(found)


def event_count(samples: RegionSamples, totals: Sequence[int], threads: int) -> EventCount | None:
    """Return how often each of *threads* reaches an event with *totals* over all threads in the samples; None if never.

    The samples are in the order of their times. If counts follow no function of the parameters but differ from the
    largest sample's by at most a fifth, they depend slightly on the data, and that sample's is used. If counts include
    estimates and no function fits, only those of complete runs are used. Raises `CannotTellError` with a sentence if
    the pattern changes with the parameters in an unknown way.
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
            why = f"{what}: not all threads reach the event equally often, so the pattern is irregular"
            continue
        known = [Sample(samples.runs[i], samples.processors, totals[i] // threads) for i in runs]
        try:
            return EventCount(samples.region, fit_count(known))
        except CannotTellError as error:
            why = f"how often the event of {what}, happens: {error}"
    if alike and (uneven or len(totals) > 1):
        return EventCount(samples.region, None, max(1, round(last / threads)))
    raise CannotTellError(why)
