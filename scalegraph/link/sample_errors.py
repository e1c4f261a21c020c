"""How far an estimate of a sampled run may be from the truth: the half width of its 95 % interval.

A phase is a stratum. Some of its visits are measured at regular distances; each stands for the visits near it that were
skipped. The interval adds up:

- the **error of sampling**, from the variance of one visit: the larger of half the mean square of successive
  differences (Wolter, Introduction to Variance Estimation, 2007, chapter 8) and the variance of all samples;
- what **skipped visits would have left** in the caches, in two forms. A stretch that was skipped may leave them
  too cold: then the first visit after it differs from the second, and both from those before any was skipped. Or
  visits become cheaper by being simulated, as copies accumulate: then cost follows the number of simulated visits,
  not that of all visits, and is extrapolated to the latter;
- for visits that were **simulated alone** between skipped ones, their difference from those that were not;
- the difference from another estimate, by a line over the work of all visits, and from the work that was skipped.

docs/SIMULATOR_DETAILS.md, "Sampling".
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scalegraph.base.sampling import CONFIDENCE
from scalegraph.runtime.format import CATEGORY_NAMES

STANDS, _WARMS, ALONE, UNLIKE = range(4)  # how a visit was simulated, in the order of the runtime's SAMPLE_HOW
PART = 1024  # work is counted in these fractions of a cycle
_ERRORS = 2.0  # standard errors by which a systematic difference may be larger than it seems
_SIGNIFICANT = 4.0  # F statistic from which a trend counts
_LIKELY = 10.0  # the same for the fits of one that are about equally good
_LEAST_SPREAD, _PREDICTS = 0.01, 0.7  # when work predicts times, as in the runtime (sg_sample_phase.c)
_UNEXPECTED = 1.0  # fraction by which the work of skipped visits must differ from that of samples to be other work
_UNLIKE = 0.2  # of the stalls of visits with other work: skipped visits may have left the caches otherwise
_ENOUGH = 4  # measured visits of a phase, as in the runtime
_LEAST = 6  # visits that determine one
_STEADY = ("ops", "flops", "reads", "writes", "serial_ops")  # counters that do not depend on caches
WAITING = tuple(
    name for name in CATEGORY_NAMES if name.startswith(("idle", "prim")) or name == "stall_contention"
)  # categories


@dataclass(frozen=True)
class Visit:
    """A simulated visit: its number, and its number among the simulated ones; what it cost; what it stands for."""

    how: int
    visit: int
    simulated: int
    work: float
    copies: int
    skipped: int
    skipped_work: float
    values: dict[str, int]


@dataclass(frozen=True)
class Stratum:
    """The simulated visits of a phase after sampling began, in their order.

    *twice*: how many visits may have been counted twice. They were skipped at first and simulated from where they had
    too much work, until the phase was refused: each counts as a skipped visit, and its simulated part counts too.
    """

    visits: tuple[Visit, ...]
    twice: int = 0

    @cached_property
    def used(self) -> tuple[Visit, ...]:
        """The visits that can stand for skipped ones: those simulated alone only until there are enough."""
        found: list[Visit] = []
        for visit in self.visits:
            if visit.how == STANDS or (visit.how == ALONE and len(found) < _ENOUGH):
                found.append(visit)
        return tuple(found)

    @cached_property
    def skips(self) -> bool:
        """Whether visits of the phase were skipped."""
        return any(visit.skipped for visit in self.used)

    @cached_property
    def by_work(self) -> bool:
        """Whether a visit's time is predicted better by its work; the same rule as in the runtime."""
        each = self.spread(by_work=False)
        return each > _LEAST_SPREAD and self.spread(by_work=True) < _PREDICTS * each

    def spread(self, *, by_work: bool) -> float:
        """Return the variation of the time from visit to visit, as a fraction of the mean."""
        times = [visit.values["time_cycles"] / (visit.work if by_work else 1.0) for visit in self.used]
        mean = sum(times) / len(times) if times else 0.0
        return math.sqrt(_successive(times)) / mean if mean > 0 else 0.0

    def half_width(self, name: str, pace: float) -> tuple[float, float]:
        """Return the half width of *name*'s interval: of the random error, and what may be wrong systematically.

        *pace*: the most that a unit of work costs which no sample had.
        """
        wrong = abs(self._accumulated(name)) or (self._moved if name in WAITING else 0.0)
        wrong += self._cold(name) + self._alone(name) + self._twice(name)
        return self._random(name), wrong + self._model(name, pace)

    def _twice(self, name: str) -> float:
        """Return how much the visits cost that may have been counted twice."""
        values = [visit.values[name] for visit in self.used]
        return self.twice * abs(sum(values)) / len(values)

    @cached_property
    def _moved(self) -> float:
        """Waiting that takes the place of cycles which visits save by being simulated: categories add up to the time.

        It counts for each category of waiting that shows no trend of its own.
        """
        if not self.skips:
            return 0.0
        values = self.used[0].values
        processors = sum(values[name] for name in CATEGORY_NAMES) / max(values["time_cycles"], 1)
        return abs(
            processors * self._accumulated("time_cycles") - sum(self._accumulated(name) for name in CATEGORY_NAMES)
        )

    def _costs(self, name: str, visits: Sequence[Visit]) -> np.ndarray:
        return np.array([visit.values[name] / (visit.work if self.by_work else 1.0) for visit in visits])

    def _amounts(self, visits: Sequence[Visit]) -> np.ndarray:
        return np.array([visit.skipped_work if self.by_work else visit.skipped for visit in visits], dtype=float)

    def _random(self, name: str) -> float:
        from scipy.special import stdtrit  # imported late: runs without sampling do not need it

        if len(self.used) < 2 or not self.skips:
            return 0.0
        costs, amounts = self._costs(name, self.used), self._amounts(self.used)
        squares = sum(
            amount * amount * (1 + 1 / visit.skipped)
            for amount, visit in zip(amounts, self.used, strict=True)
            if visit.skipped
        )
        reach = float(stdtrit(len(self.used) - 1, (1 + CONFIDENCE) / 2))
        return reach * math.sqrt(_variance(costs.tolist()) * squares)

    @cached_property
    def _pairs(self) -> tuple[tuple[Visit, Visit], ...]:
        """The first two visits after each skipped stretch."""
        return tuple(
            (first, second)
            for before, first, second in zip(self.visits, self.visits[1:], self.visits[2:], strict=False)
            if first.visit > before.visit + 1 and second.visit == first.visit + 1
        )

    def _by_work(self, name: str, visits: Sequence[Visit]) -> np.ndarray:
        """Return what *visits* cost and, in columns, what a line over their work is made of."""
        values = np.array([visit.values[name] for visit in visits], dtype=float)
        return np.column_stack([values, np.ones(len(values)), [visit.work for visit in visits]])

    def _rest(self, name: str, visits: Sequence[Visit]) -> np.ndarray:
        """Return what *visits* cost more than their work explains."""
        table = self._by_work(name, self.used)
        _, line = _fitted(table[:, 0], table[:, 1:])
        here = self._by_work(name, visits)
        rest: np.ndarray = here[:, 0] - here[:, 1:] @ line
        return rest

    def _steps(self, name: str) -> np.ndarray:
        """Return what the second visit after each skipped stretch costs more than the first."""
        first, second = (self._rest(name, [pair[place] for pair in self._pairs]) for place in (0, 1))
        steps: np.ndarray = second - first
        return steps

    def _cold(self, name: str) -> float:
        """Return what skipped stretches may have added to the visits after them, or taken from the first of these."""
        if not self.skips or not self._pairs:
            return 0.0
        steps, end = self._steps(name), self._pairs[0][0].visit
        first = abs(float(steps.sum()))
        before = self._rest(name, [visit for visit in self.used if visit.visit < end])
        after = self._rest(name, [visit for visit in self.used if visit.visit >= end])
        if len(before) < 2 or len(after) == 0:
            return first
        differs = abs(after.mean() - before.mean()) + _ERRORS * math.hypot(_error(before), _error(after))
        return first + float(min(abs(steps.mean()) + _ERRORS * _error(steps), differs) * self._left_out.sum())

    @cached_property
    def _left_out(self) -> np.ndarray:
        return np.array([visit.skipped for visit in self.used], dtype=float)

    def _accumulated(self, name: str) -> float:
        """Return what skipped visits would cost less if costs follow the number of simulated visits; 0 if constant."""
        if not self.skips or len(self.used) < _LEAST:
            return 0.0
        table = self._by_work(name, self.used)
        simulated = np.array([visit.simulated for visit in self.used], dtype=float)
        visits = np.array([visit.visit for visit in self.used], dtype=float)
        steps = self._steps(name) if self._pairs else np.array([])
        most = float(np.sum(self._left_out * np.abs(table[:, 0])))
        found = []
        for fit in _trends(simulated, table):
            wrong = float(np.sum(self._left_out * (fit(simulated) - fit(visits))))
            found.append(min(max(wrong, -most), most) * self._share(fit, steps))
        return max(found, key=abs, default=0.0)

    def _share(self, fit: _Trend, steps: np.ndarray) -> float:
        """Return how much of the trend can be due to simulating visits: what shows from one visit to the next."""
        if len(steps) < 2:
            return 1.0
        first = np.array([pair[0].simulated for pair in self._pairs], dtype=float)
        expected = float(np.mean(fit(first + 1) - fit(first)))
        if expected == 0:
            return 1.0
        found = float(steps.mean()) + math.copysign(_ERRORS * _error(steps), expected)
        return min(max(found / expected, 0.0), 1.0)

    def _alone(self, name: str) -> float:
        """Return how much visits that were simulated alone may differ from what they would be otherwise."""
        alone = [visit for visit in self.visits if visit.how == ALONE]
        others = [visit for visit in self.used if visit.how == STANDS]
        if len(alone) < 2 or len(others) < 2:
            return 0.0
        found, usual = self._rest(name, alone), self._rest(name, others)
        differs = abs(found.mean() - usual.mean()) + _ERRORS * math.hypot(_error(found), _error(usual))
        return float(differs * len(alone))

    def _model(self, name: str, pace: float) -> float:
        """Return how far the estimate is from that of a line over the work of all visits, and its work from theirs.

        If visits count alike, unexpected work costs at most *pace* a unit: the samples, which have none, do not tell.
        Besides, half a visit: the last one before another phase may be unlike the others.
        """
        if not self.skips:
            return 0.0
        table = self._by_work(name, self.used)
        _, line = _fitted(table[:, 0], table[:, 1:])
        mean = table.mean(axis=0)
        visits, skipped = float(self._left_out.sum()), float(sum(visit.skipped_work for visit in self.used))
        made = sum(visit.copies * visit.values[name] for visit in self.used)
        work = sum(visit.copies * visit.work for visit in self.used)
        alike = made - visits * float(line @ mean[1:])
        most = pace * abs(skipped - work)
        if made == 0 or abs(skipped - work) > _UNEXPECTED * work:
            by_line, other = abs(alike), most
        else:
            slope = float(line[1]) * (skipped - visits * float(mean[2]))
            by_line = abs(alike - math.copysign(min(abs(slope), most), slope))
            other = min(abs(made * (skipped / work - 1)) if work else 0.0, most)
        of_one_category = abs(skipped - work) / PART if name.startswith("busy") else 0.0
        last = self._waiting if name == "idle_finished" else abs(float(mean[0])) / 2
        return last + of_one_category + by_line + other

    @cached_property
    def _waiting(self) -> float:
        """The mean waiting of a visit: that of the run's last one becomes `idle_finished`."""
        idle = [name for name in WAITING if name.startswith("idle")]
        return sum(visit.values[name] for visit in self.used for name in idle) / len(self.used)


@dataclass(frozen=True)
class _Trend:
    """What a visit costs more than a constant and what its work explains: *more* * exp(-number / *length*)."""

    more: float
    length: float

    def __call__(self, number: np.ndarray) -> np.ndarray:
        return self.more * np.exp(-number / self.length)


def _trends(numbers: np.ndarray, table: np.ndarray) -> list[_Trend]:
    """Return the trends over *numbers* that fit the costs in *table* about equally well; none if there is no trend."""
    fits = [_trend(numbers, table, length) for length in np.geomspace(1.0, 16.0 * numbers[-1], 16)]
    least = min(square for square, _ in fits)
    free = len(table) - 4
    without, _ = _fitted(table[:, 0], table[:, 1:])
    if without - least <= _SIGNIFICANT * 2 * least / free:
        return []
    return [fit for square, fit in fits if square <= least * (1 + _LIKELY / free)]


def _trend(numbers: np.ndarray, table: np.ndarray, length: float) -> tuple[float, _Trend]:
    """Return the best trend with *length* towards costs that are not negative, after its sum of squares."""
    basis = np.exp(-numbers / length)
    square, found = _fitted(table[:, 0], np.column_stack([table[:, 1:], basis]))
    if float(np.mean(table[:, 1:] @ found[:-1])) < 0:
        square, found = _fitted(table[:, 0], basis[:, None])
    return square, _Trend(float(found[-1]), length)


def _fitted(values: np.ndarray, columns: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the sum of squares and the factors of the combination of *columns* that is closest to *values*."""
    scales = np.maximum(np.abs(columns).max(axis=0), 1e-300)
    found = np.linalg.lstsq(columns / scales, values, rcond=1e-9)[0] / scales
    return float(np.sum((values - columns @ found) ** 2)), found


def _successive(values: Sequence[float]) -> float:
    """Return the variance of *values* from successive differences; 0 for a single value."""
    steps = [(b - a) ** 2 for a, b in itertools.pairwise(values)]
    return sum(steps) / (2 * len(steps)) if steps else 0.0


def _variance(values: Sequence[float]) -> float:
    """Return the variance of *values*, the larger of two estimates, so that a trend counts in full; 0 for one value."""
    return max(_successive(values), statistics.variance(values)) if len(values) > 1 else 0.0


def _error(values: np.ndarray) -> float:
    """Return the standard error of the mean of *values*; 0 for one value."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _paces(strata: Sequence[Stratum]) -> dict[str, float]:
    """Return the most that a unit of work costs which no sample had, for each number: twice what it does on average.

    A processor that does it alone makes all others wait.
    """
    visits = [visit for stratum in strata for visit in stratum.visits]
    work = sum(visit.work for visit in visits) or 1.0
    sums = {name: sum(visit.values[name] for visit in visits) for name in visits[0].values} if visits else {}
    occupied = sum(sums.get(name, 0) for name in CATEGORY_NAMES if name.startswith(("busy", "stall")))
    processors = _processors(visits)
    sums |= {name: round(occupied * processors) for name in WAITING if name.startswith("idle")} | {
        "time_cycles": occupied
    }
    if "ops" in sums:
        sums["serial_ops"] = sums["ops"]
    return {name: 2 * most / work for name, most in sums.items()}


def _unlike(visits: Sequence[Visit], name: str) -> float:
    """Return how far *name* may be off because *visits*, which stand for no others, came after skipped ones."""
    stalls = sum(visit.values[kind] for visit in visits for kind in CATEGORY_NAMES if kind.startswith("stall"))
    if name == "time_cycles":
        return _UNLIKE * stalls
    if name.startswith("idle"):
        return _UNLIKE * stalls * _processors(visits)
    steady = name.startswith("busy") or name in _STEADY
    return 0.0 if steady else _UNLIKE * abs(sum(visit.values[name] for visit in visits))


def _processors(visits: Sequence[Visit]) -> float:
    """Return the number of processors: categories add up to it times the time."""
    cycles = sum(visit.values[name] for visit in visits for name in CATEGORY_NAMES)
    return cycles / max(sum(visit.values["time_cycles"] for visit in visits), 1)


def intervals(strata: Sequence[Stratum], unlike: Sequence[Visit], names: Sequence[str]) -> dict[str, float]:
    """Return the half widths of the intervals of *names* that phases have counted.

    *unlike*: visits that stand for no others, since they have more work.
    """
    found = {}
    paces = _paces(strata)
    for name in names:
        pace = paces.get(name)
        if not pace:
            continue
        widths = [stratum.half_width(name, pace) for stratum in strata if stratum.used]
        wrong = sum(wrong for _, wrong in widths) + _unlike(unlike, name)
        found[name] = math.hypot(*(random for random, _ in widths)) + wrong
    return found
