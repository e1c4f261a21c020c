"""Prediction of data-parallel programs: parallel blocks by (2.6) and (2.7), or sizes of data by (4.11).

Coefficients come from the cycles of all processors together, which do not depend on how a block is distributed; the
time is that of the processor with most iterations. Source: semi-empirical paper, 2.2.2 and 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from scalegraph.base import expression
from scalegraph.base.errors import InputError
from scalegraph.base.run import Region, RunRecord
from scalegraph.predict.blocks import Block, Blocks, Event, Part, Segment, Size
from scalegraph.predict.collective_costs import CollectiveCosts
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.doubts import Doubt
from scalegraph.predict.lower import Floats, Growth, SegmentTime, fit_times, iterations
from scalegraph.predict.predicting import Predicted, RegionShare
from scalegraph.predict.regions import Values, clock_of, values_of

Place = tuple[Values, int]  # parameters and N


def busiest(size: int, processors: int, dealt: int | None = None) -> int:
    """Return the iterations of the busiest processor for a block of *size*; unit: none.

    *dealt*: number of elements distributed in blocks (the first processors get one more), of which the last *size* take
    part. Source: semi-empirical paper, 2.2.2; for *dealt* ScaleGraph.
    """
    if dealt is None or size >= dealt:
        return iterations(size, processors)
    small, larger = divmod(dealt, processors)
    last = min(size, small) if small else min(size, 1)
    return max(last, min(small + 1, larger * (small + 1) - (dealt - size)) if larger else 0)


def owned(size: int, processors: int, dealt: int) -> int:
    """Return the iterations of the processor that has the first of the last *size* of *dealt* elements; unit: none."""
    small, larger = divmod(dealt, processors)
    first, in_larger = dealt - size, larger * (small + 1)
    if first >= dealt:
        return 0
    end = (
        (first // (small + 1) + 1) * (small + 1)
        if first < in_larger
        else (in_larger + ((first - in_larger) // small + 1) * small)
    )
    return min(end, dealt) - first


@dataclass(frozen=True)
class Counts:
    """Iterations of a block per pass: in all, of the processor with *most*, and of the *owner* of the pass.

    *beyond*: the share of them whose data have been evicted from the cache since the previous pass.
    """

    total: Floats
    most: Floats
    owner: Floats
    beyond: Floats


@dataclass(frozen=True)
class Cache:
    """The cache of a processor: its *size* in bytes and associativity (*ways*)."""

    size: int
    ways: int = 1

    def lost(self, data: float) -> float:
        """Return the share of *data* bytes that has been evicted when a processor accesses them again in order.

        An LRU set with one line more than its ways keeps none of them; with D bytes in a cache of size C this affects w
        (D/C - 1) of the sets, with w + 1 lines each. Unit: none (ratio). Source: ScaleGraph.
        """
        if data <= self.size:
            return 0.0
        lines = self.ways * data / self.size  # sharing a set
        return min(1.0, (lines - self.ways) * (self.ways + 1) / lines)


def block_counts(block: Block, passes: str, values: Values, processors: int, cache: Cache | None = None) -> Counts:
    """Return the counts of *block* in *passes* of its segment, given the *cache* of each processor."""
    rows = []
    for known in _passes(passes, (values, processors)):
        often, size = _number(block.times, known), _whole(block.size, known)
        dealt = size if block.of is None else _whole(block.of, known)
        most = busiest(size, processors, dealt)
        owner = most if block.of is None else owned(size, processors, dealt)
        if block.by == "owner":
            most = 0
        data = 0.0 if block.data is None or cache is None else _number(block.data, known)
        rows.append((often * size, often * most, often * owner, cache.lost(data) if cache is not None else 0.0))
    total, most_of, owner_of, beyond = np.array(rows, dtype=np.float64).reshape(-1, 4).T
    return Counts(total, most_of, owner_of, beyond)


def _passes(passes: str, place: Place) -> list[dict[str, float]]:
    values, processors = place
    known = {**values, "N": processors}
    return [{**known, "k": float(k)} for k in range(_whole(passes, known))]


def _number(formula: str, known: Mapping[str, float]) -> float:
    return expression.parse(formula, frozenset(known))(known)


def _whole(formula: str, known: Mapping[str, float]) -> int:
    return max(0, round(_number(formula, known)))


@dataclass(frozen=True)
class _Term:
    """Iterations of a block, or only those whose data are *beyond* the cache."""

    block: Block
    beyond: bool

    def of(self, counts: Counts, every: Floats) -> Floats:
        """Return the iterations that count out of *every* one."""
        return counts.beyond * every if self.beyond else every


@dataclass(frozen=True)
class _Fit:
    """The time of a subsegment by *terms*, busy and stalled, summed over all processors."""

    part: Part
    terms: tuple[_Term, ...]
    busy: SegmentTime
    stall: SegmentTime


@dataclass(frozen=True)
class _Fitted:
    """The fits of a segment on one N; *synchronising*: O_syn of (2.7)."""

    segment: Segment
    fits: tuple[_Fit, ...]
    synchronising: SegmentTime


@dataclass(frozen=True)
class _Spent:
    """Seconds of a segment by part, busy and stalled, on the slowest processor of each pass.

    *passes*: the sum of all parts by pass; *low*, *high*: how much less or more it may be.
    """

    parts: tuple[tuple[float, float], ...]
    passes: Floats
    low: float
    high: float

    @property
    def time_s(self) -> float:
        """The sum of all parts."""
        return sum(busy + stall for busy, stall in self.parts)


@dataclass
class SegmentsPredictor:
    """Predicts by (2.6) and (2.7) from sample *runs* on the predicted N, and on one processor if available.

    *costs*: seconds of collective operations by N; *cache*: of each processor, None if no block specifies *data*.
    Raises `InputError` if the samples cannot be used.

    Processors may wait for a collective operation while others still compute. So the lower end of the interval counts
    only the longer one of the operation and the blocks of its pass.
    """

    blocks: Blocks
    runs: Sequence[RunRecord]
    regions: Sequence[Region]
    costs: Mapping[int, CollectiveCosts]
    cache: Cache | None = None
    _fitted: dict[int, tuple[tuple[_Fitted, ...], float]] = field(default_factory=dict)
    _known: dict[object, Counts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        usable(self.runs)
        functions = self._functions()
        for segment in self.blocks.segments:
            try:
                expression.parse(segment.elapsed, frozenset(functions))
            except ValueError as error:
                raise InputError(f"{segment.name}: {error}") from None
            names = {name for part in segment.parts for name in part.regions}
            if missing := names - functions.keys():
                raise InputError(f"{segment.name}: the runs have no function '{min(missing)}'")

    def needed(self, values: Values, processors: int) -> list[RunRecord]:  # noqa: ARG002 - the same for all sizes
        """Return the runs used for a prediction on N = *processors*; raises as `used`."""
        used = self.used(processors)
        return [run for run in self.runs if run.point.processors in used]

    @property
    def sampled(self) -> list[int]:
        """The N of the samples, ascending."""
        return sorted({run.point.processors for run in self.runs})

    def used(self, processors: int) -> list[int]:
        """Return the N whose samples predict N = *processors*; raise `CannotTellError` if there are none."""
        if processors not in self.sampled:
            raise CannotTellError(f"there are no samples on N = {processors}, and the blocks need them")
        return sorted({1, processors} & {*self.sampled})

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*; raises `CannotTellError` without samples there."""
        if processors not in self._fitted:
            used = [run for run in self.runs if run.point.processors in self.used(processors)]
            fitted = tuple(self._fit(segment, used, processors) for segment in self.blocks.segments)
            own = [run for run in used if run.point.processors == processors]
            errors = [
                abs(self._with(fitted, values_of(run), processors).time_s / (run.time_s or 1.0) - 1) for run in own
            ]
            self._fitted[processors] = fitted, sum(errors) / len(errors)
        fitted, error = self._fitted[processors]
        found = self._with(fitted, values, processors)
        spread = error * found.time_s
        return replace(found, low_s=max(0.0, found.low_s - spread), high_s=found.high_s + spread)

    def doubts(self, values: Values, processors: int) -> list[list[Doubt]]:
        """Return the fits behind a predicted time, whose sides add up; raise as `at`. See `next_sample`."""
        self.at(values, processors)
        place, found = (values, processors), []
        for one in self._fitted[processors][0]:
            found.append(Doubt(one.segment.name, one.synchronising))
            spent = self._spent(one.segment, one.fits, place)
            for fit, own in zip(one.fits, spent.parts, strict=True):
                for known, time in zip((fit.busy, fit.stall), own, strict=True):
                    if whole := known.at(*place).time_s:
                        found.append(Doubt(" and ".join(fit.part.regions), known, time / whole))
        return [found]

    def _fit(self, segment: Segment, runs: Sequence[RunRecord], processors: int) -> _Fitted:
        fits = tuple(self._part(segment, part, runs) for part in segment.parts)
        own = [run for run in runs if run.point.processors == processors]
        places = [(values_of(run), processors) for run in own]
        left = [
            max(
                0.0,
                self._elapsed(segment, run)
                - self._spent(segment, fits, place).time_s
                - float(self._events(segment, place).sum()),
            )
            for run, place in zip(own, places, strict=True)
        ]
        passes = Growth(segment.passes, lambda values, n: _number(segment.passes, {**values, "N": n}))
        return _Fitted(segment, fits, fit_times([passes], places, left))

    def _counts(self, block: Block, passes: str, place: Place) -> Counts:
        key = block, passes, tuple(sorted(place[0].items())), place[1]
        if key not in self._known:
            self._known[key] = block_counts(block, passes, *place, self.cache)
        return self._known[key]

    def _part(self, segment: Segment, part: Part, runs: Sequence[RunRecord]) -> _Fit:
        """Return the coefficients of a part, from the summed time of all processors."""
        chosen = self._inside(part.regions)
        places = [(values_of(run), run.point.processors) for run in runs]
        terms = [_Term(block, beyond) for beyond in (False, True) for block in part.blocks if block.data or not beyond]

        def grown(term: _Term) -> Growth:
            def total(values: Values, n: int) -> float:
                counts = self._counts(term.block, segment.passes, (values, n))
                return float(term.of(counts, counts.total).sum())

            return Growth(f"{segment.passes} * {term.block.times} * {term.block.size}", total)

        near = [grown(term) for term in terms if not term.beyond]
        every = [grown(term) for term in terms]
        busy = fit_times(near, places, [_spent(run, chosen, "busy") for run in runs])
        stall = fit_times(every, places, [_spent(run, chosen, "stall") for run in runs])
        return _Fit(part, tuple(terms), busy, stall)

    def _spent(self, segment: Segment, fits: Sequence[_Fit], place: Place) -> _Spent:
        """Return the time of the parts on the slowest processor of each pass: the owner, or the busiest other one."""
        count = len(_passes(segment.passes, place))
        ways = np.zeros((2, len(fits), 2, count))  # busiest or owner, part, busy or stalled, pass
        low = high = 0.0
        for index, fit in enumerate(fits):
            for kind, known in enumerate((fit.busy, fit.stall)):
                for term, coefficient in zip(fit.terms, known.coefficients, strict=False):
                    counts = self._counts(term.block, segment.passes, place)
                    ways[0, index, kind] += coefficient * term.of(counts, counts.most)
                    ways[1, index, kind] += coefficient * term.of(counts, counts.owner)
                found = known.at(*place)
                share = ways[:, index, kind].sum(axis=1).max() / found.time_s if found.time_s else 0.0
                low, high = low + (found.time_s - found.low_s) * share, high + (found.high_s - found.time_s) * share
        owner = ways[1].sum(axis=(0, 1)) > ways[0].sum(axis=(0, 1))
        chosen = np.where(owner, ways[1], ways[0])
        parts = tuple((float(busy), float(stall)) for busy, stall in chosen.sum(axis=-1))
        return _Spent(parts, chosen.sum(axis=(0, 1)), low, high)

    def _inside(self, names: Sequence[str]) -> set[int]:
        """Return the functions *names* and the regions inside them."""
        functions = self._functions()
        chosen = {functions[name] for name in names}
        while more := {region.id for region in self.regions if region.parent in chosen} - chosen:
            chosen |= more
        return chosen

    def _elapsed(self, segment: Segment, run: RunRecord) -> float:
        """Return the seconds of a segment in a run, on the first process."""
        spent = {cost.region: cost.elapsed or 0 for cost in run.regions}
        known = {name: spent.get(number, 0) / clock_of(run) for name, number in self._functions().items()}
        return _number(segment.elapsed, known)

    def _functions(self) -> dict[str, int]:
        """Return the numbers of functions by their names."""
        return {one.name.removeprefix("function "): one.id for one in self.regions if one.kind == "function"}

    def _events(self, segment: Segment, place: Place) -> Floats:
        """Return the seconds of the events in each pass."""
        every = _passes(segment.passes, place)
        if not segment.events:
            return np.zeros(len(every))
        costs = self.costs[place[1]]
        return np.array([sum(_event(event, known, costs) for event in segment.events) for known in every])

    def _with(self, fitted: Sequence[_Fitted], values: Values, processors: int) -> Predicted:
        place = values, processors
        shares, events, low, high = [], 0.0, 0.0, 0.0
        for one in fitted:
            spent, rest = self._spent(one.segment, one.fits, place), one.synchronising.at(*place)
            own = self._events(one.segment, place)
            events += float(own.sum()) + rest.time_s
            low += spent.low + rest.time_s - rest.low_s + float(np.minimum(own, spent.passes).sum())
            high += spent.high + rest.high_s - rest.time_s
            shares += [_share(fit, *times) for fit, times in zip(one.fits, spent.parts, strict=True)]
        time = sum(share.time_s for share in shares) + events
        shares.sort(key=lambda share: share.time_s, reverse=True)
        return Predicted(processors, dict(values), time, max(0.0, time - low), time + high, tuple(shares), events)


def _share(fit: _Fit, busy_s: float, stall_s: float) -> RegionShare:
    shared = any(block.size not in ("1", "N") for block in fit.part.blocks)
    return RegionShare(" and ".join(fit.part.regions), "", 0, shared, busy_s, stall_s, fit.busy.formula)


def largest_event(blocks: Blocks, places: Sequence[Place]) -> int:
    """Return the largest size in bytes of a collective operation at *places*, 0 if there are none."""
    every = (
        math.ceil(_number(event.bytes, known))
        for segment in blocks.segments
        for event in segment.events
        for place in places
        for known in _passes(segment.passes, place)
    )
    return max(every, default=0)


def _event(event: Event, known: Mapping[str, float], costs: CollectiveCosts) -> float:
    return _number(event.times, known) * costs.seconds(event.collective, _number(event.bytes, known))


def _spent(run: RunRecord, chosen: set[int], kind: str) -> float:
    """Return the summed seconds of all processors in regions, for categories that begin with *kind*."""
    cycles = sum(
        spent
        for cost in run.regions
        if cost.region in chosen
        for name, spent in cost.categories.items()
        if name.startswith(kind)
    )
    return cycles / clock_of(run)


def usable(runs: Sequence[RunRecord]) -> None:
    """Raise `InputError` unless there are runs, all successful and with a time."""
    if not runs:
        raise InputError("there are no sample runs to predict from")
    if bad := [run for run in runs if not run.ok or not run.time_s]:
        raise InputError(f"{bad[0].point.label()}: a sample must have succeeded")


@dataclass(frozen=True)
class Sizes:
    """A program by the sizes of its data, eq. (4.11): T_P = sum of c_x F_x / min(P, F_x), and c_WAC / min(P, wac).

    *coefficients*: normalised total times c_x of *sizes* in s, then c_WAC; *wac*: weighted average constant size;
    *residual*: root mean square of the relative errors at the samples.
    """

    sizes: tuple[Size, ...]
    coefficients: tuple[float, ...]
    wac: int
    residual: float

    def terms_s(self, values: Values, processors: int) -> tuple[float, ...]:
        """Return the time for each size, and for data of constant size, in s."""
        row = _row(self.sizes, self.wac, (values, processors))
        return tuple(c * own for c, own in zip(self.coefficients, row, strict=True))


def _row(sizes: Sequence[Size], wac: int, place: Place) -> list[float]:
    values, processors = place
    known = {**values, "N": processors}
    row = []
    for one in sizes:
        size = _number(one.size, known)
        row.append(_number(one.times, known) * size / min(processors, size) if size > 0 else 0.0)
    return [*row, 1.0 / min(processors, wac)]


def fit_sizes(sizes: Sequence[Size], samples: Sequence[Place], times_s: Sequence[float]) -> Sizes:
    """Return the non-negative coefficients that best fit the times of sample runs, by relative error.

    *samples*: parameters and N of each run, *times_s* their times in s. The weighted average constant size is the one
    in 1 .. largest N with the smallest residual; ties go to the smaller. Raises `CannotTellError` with fewer samples
    than unknowns. Source: semi-empirical paper (4.11).
    """
    if len(samples) < len(sizes) + 1:
        raise CannotTellError(f"{len(sizes) + 1} unknown times need as many samples, there are {len(samples)}")
    times = np.asarray(times_s, dtype=np.float64)
    best: Sizes | None = None
    for wac in sorted({min(wac, n) for wac in range(1, max(n for _, n in samples) + 1) for _, n in samples}):
        matrix = np.array([_row(sizes, wac, place) for place in samples]) / times[:, None]
        scale = np.linalg.norm(matrix, axis=0)
        scale[scale == 0] = 1.0
        found, residual = scipy.optimize.nnls(matrix / scale, np.ones(len(times)))
        residual /= math.sqrt(len(times))
        if best is None or residual < best.residual * (1 - 1e-9):
            best = Sizes(tuple(sizes), tuple(map(float, found / scale)), wac, float(residual))
    if best is None:
        raise CannotTellError("there are no samples")
    return best


@dataclass
class SizesPredictor:
    """Predicts by (4.11) from samples on several N; raises as `fit_sizes` and `usable`."""

    blocks: Blocks
    runs: Sequence[RunRecord]
    model: Sizes = field(init=False)

    def __post_init__(self) -> None:
        usable(self.runs)
        places = [(values_of(run), run.point.processors) for run in self.runs]
        self.model = fit_sizes(self.blocks.sizes, places, [run.time_s or 0.0 for run in self.runs])

    def needed(self, values: Values, processors: int) -> Sequence[RunRecord]:  # noqa: ARG002 - all samples for all
        """Return the runs used for any prediction: all samples."""
        return self.runs

    @property
    def sampled(self) -> list[int]:
        """The N of the samples, ascending."""
        return sorted({run.point.processors for run in self.runs})

    def used(self, processors: int) -> list[int]:  # noqa: ARG002 - as the other way has it
        """Return the N whose samples predict any N: all."""
        return self.sampled

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*."""
        terms = self.model.terms_s(values, processors)
        names = [*(one.size for one in self.blocks.sizes), f"constant size {self.model.wac}"]
        shares = [
            RegionShare(f"data of size {name}", "", 0, index < len(self.blocks.sizes), time, 0.0, "")
            for index, (name, time) in enumerate(zip(names, terms, strict=True))
        ]
        shares.sort(key=lambda share: share.time_s, reverse=True)
        time = sum(terms)
        spread = 2 * self.model.residual * time
        return Predicted(processors, dict(values), time, max(0.0, time - spread), time + spread, tuple(shares))
