"""The lower level of a prediction: segment times for other parameters and N, from a few sample runs.

A segment's time is a sum of terms c_g F_g(chi, N): the F_g come from exact counts, the c_g >= 0 from measured times.
Source: semi-empirical paper, 2.2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from scalegraph.predict.counts import CannotTellError, Count

Floats = npt.NDArray[np.float64]
_RISE = 1.5  # rise of misses per iteration from one size to the next that means that data have outgrown a memory level
_AS_GOOD = 2.0  # a fit with fewer terms is a rival if its residual is at most this much larger
_EXACT = 1e-6
_SMALL = 0.1  # share of the largest time below which errors of a time count less than proportionally


def scaled(time_s: float, count: float, sampled: float) -> float:
    """Return the time of a subsegment with *count* iterations, from its time with *sampled* iterations.

    Unit: s. Raises `CannotTellError` if the sample has no iterations. Source: semi-empirical paper (2.3).
    """
    if sampled <= 0:
        raise CannotTellError("the sample run has no iteration of this segment")
    return count / sampled * time_s


def iterations(size: int, processors: int) -> int:
    """Return the iterations of the busiest of *processors* for a parallel block of *size*.

    Unit: none. Source: semi-empirical paper, 2.2.2.
    """
    return math.ceil(size / min(size, processors)) if size else 0


def data_parallel(size: int, processors: int, sampled: int, sample_processors: int) -> int:
    """Return the ratio of a parallel block's time to that in the sample run.

    *size* and *sampled*: iterations of the block, here and in the sample. Unit: none (ratio). Raises `CannotTellError`
    if the sample has no iterations. Source: semi-empirical paper (2.6).
    """
    if sampled <= 0:
        raise CannotTellError("the sample run has no iteration of this segment")
    if size == 0:
        return 0
    above, below = size * min(sample_processors, sampled), sampled * min(processors, size)
    return -(-above // below)


def cluster(concurrent_s: float, exclusive_s: float, events_s: float, threads: int) -> float:
    """Return the time of a cluster from the times of its representative thread.

    *concurrent_s*: segments; *exclusive_s*: critical sections, which are serialised; *events_s*: events. Unit: s.
    Source: semi-empirical paper (2.5).
    """
    return concurrent_s + threads * exclusive_s + events_s


@dataclass(frozen=True)
class Growth:
    """How a part of a segment grows: a function of parameters and N, with its formula."""

    formula: str
    at: Callable[[Mapping[str, int], int], float]


def growths(count: Count, parameters: Sequence[str] = ()) -> tuple[Growth, ...]:
    """Return the groups of subsegments in a loop nest with *count* iterations.

    These are the innermost body, and what is done once per inner loop: F, F/n, F/n^2, .. down to the nest's depth;
    *parameters*: those that differ between the samples, by default all. Source: semi-empirical paper, 2.2.1.
    """
    names = tuple(parameters) or count.parameters
    return lowered(Growth(count.formula, lambda values, n: float(count(values, n))), names, count.degree)


def lowered(most: Growth, parameters: Sequence[str], degree: int) -> tuple[Growth, ...]:
    """Return the growth *most* of a nest of *degree* loops and those of its outer loops, largest first."""
    found = [most]
    for size in range(1, max(1, degree) + 1):
        for names in itertools.combinations_with_replacement(parameters, size):
            if len(set(names)) < len(names) and len(parameters) > 1:
                continue
            found.append(_divided(most, names))
    return tuple(found)


def _divided(most: Growth, names: tuple[str, ...]) -> Growth:
    text = f"({most.formula}) / ({' * '.join(names)})"
    return Growth(text, lambda values, n: most.at(values, n) / math.prod(values[name] for name in names))


@dataclass(frozen=True)
class Estimate:
    """A predicted time with an interval, in seconds."""

    time_s: float
    low_s: float
    high_s: float

    def plus(self, other: Estimate, times: float = 1.0) -> Estimate:
        """Return the sum with *times* times another."""
        mine, its = (self.time_s, self.low_s, self.high_s), (other.time_s, other.low_s, other.high_s)
        return Estimate(*(own + times * one for own, one in zip(mine, its, strict=True)))


@dataclass(frozen=True)
class SegmentTime:
    """The time of a segment: coefficients c_g in seconds for *terms*; eq. (2.4) with solved parameters.

    *residual*: root mean square of the relative errors at the samples; *rivals*: coefficients of fits that the samples
    do not rule out (one sample less, one term less). *samples*: parameters, N and time of the fitted runs.
    """

    terms: tuple[Growth, ...]
    coefficients: tuple[float, ...]
    residual: float
    rivals: tuple[tuple[float, ...], ...]
    samples: tuple[tuple[tuple[Mapping[str, int], int], float], ...] = ()

    def with_sample(self, place: tuple[Mapping[str, int], int], time_s: float) -> SegmentTime:
        """Return the fit with another sample, or itself if it keeps no samples; raise as `fit_times`."""
        if not self.samples:
            return self
        places, times = zip(*self.samples, (place, time_s), strict=True)
        return fit_times(self.terms, places, times)

    def at(self, values: Mapping[str, int], processors: int) -> Estimate:
        """Return the time at *values* on N = *processors* in s, with the interval spanned by its rivals.

        Raises `CannotTellError` if a count is not determined. Source: semi-empirical paper (2.4).
        """
        row = [term.at(values, processors) if self._used(i) else 0.0 for i, term in enumerate(self.terms)]
        times = [float(np.dot(row, known)) for known in (self.coefficients, *self.rivals)]
        spread = 2.0 * self.residual * times[0]
        return Estimate(times[0], max(0.0, min(times) - spread), max(times) + spread)

    def times(self, factor: float) -> SegmentTime:
        """Return the time multiplied by *factor*."""
        rivals = tuple(tuple(factor * one for one in known) for known in self.rivals)
        return replace(self, coefficients=tuple(factor * one for one in self.coefficients), rivals=rivals)

    def _used(self, term: int) -> bool:
        return any(known[term] for known in (self.coefficients, *self.rivals))

    @property
    def formula(self) -> str:
        """The time in seconds as an expression for graph files."""
        parts = [
            f"{coefficient!r} * ({term.formula})"
            for coefficient, term in zip(self.coefficients, self.terms, strict=True)
            if coefficient
        ]
        return " + ".join(parts) or "0"


def fit_times(
    terms: Sequence[Growth], samples: Sequence[tuple[Mapping[str, int], int]], times_s: Sequence[float]
) -> SegmentTime:
    """Return the coefficients c_g >= 0 of *terms* that best fit the times of sample runs, by relative error.

    *samples*: parameters and N of each run; *times_s*: the segment's times there. At most as many terms are used as
    there are samples, the fastest growing first. Raises `CannotTellError` without samples, or if they have no
    iterations. Source: semi-empirical paper, 2.2.1 and (2.4).
    """
    if not samples:
        raise CannotTellError("no sample run has this segment")
    matrix = np.array([[term.at(values, n) for term in terms[: len(samples)]] for values, n in samples])
    times = np.asarray(times_s, dtype=np.float64)
    known_samples = tuple(zip(samples, map(float, times_s), strict=True))
    if not times.any():
        return SegmentTime(tuple(terms), (0.0,) * len(terms), 0.0, (), known_samples)
    if not matrix.any():
        raise CannotTellError("the sample runs have no iteration of this segment")
    largest = int(np.argmax(matrix[:, 0]))
    every = [i for i in range(len(samples)) if i != largest]  # never predict from smaller samples alone
    best = _solved(matrix, times)
    residual = _residual(matrix, times, best)
    others = [_solved(np.delete(matrix, i, 0), np.delete(times, i)) for i in every if len(every) > 1]
    for term in np.flatnonzero(best):
        fewer = matrix.copy()
        fewer[:, term] = 0.0
        known = _solved(fewer, times)
        if fewer.any() and _residual(fewer, times, known) <= max(_AS_GOOD * residual, _EXACT):
            others.append(known)
    padding = (0.0,) * (len(terms) - matrix.shape[1])
    rivals = tuple((*map(float, known), *padding) for known in others)
    return SegmentTime(tuple(terms), (*map(float, best), *padding), residual, rivals, known_samples)


def solve(matrix: Floats, times: Floats) -> float:
    """Return the residual of the best non-negative coefficients; *matrix*: terms (columns) at each sample (rows).

    Unit: none (relative). Source: ScaleGraph.
    """
    return _residual(matrix, times, _solved(matrix, times)) if times.any() else 0.0


def _solved(matrix: Floats, times: Floats) -> Floats:
    """Return non-negative coefficients that minimise relative errors (for small times, relative to the largest)."""
    weights = 1.0 / _scale(times)
    weighted = matrix * weights[:, None]
    scale = np.linalg.norm(weighted, axis=0)
    scale[scale == 0] = 1.0
    found, _ = scipy.optimize.nnls(weighted / scale, times * weights)
    return np.asarray(found / scale, dtype=np.float64)


def _scale(times: Floats) -> Floats:
    """Return the scale of errors: each time, or a share of the largest if that is more."""
    return np.asarray(np.maximum(times, _SMALL * times.max(initial=1e-30)), dtype=np.float64)


def _residual(matrix: Floats, times: Floats, known: Floats) -> float:
    relative = (matrix @ known - times) / _scale(times)
    return float(np.sqrt(np.mean(relative**2)))


def ranges(misses: Sequence[float], counts: Sequence[float]) -> list[list[int]]:
    """Return the samples grouped by the memory level that holds their data, smallest counts first.

    A new group starts where misses per iteration rise clearly from one sample to the next: the data have outgrown a
    cache. *misses* and *counts* (iterations) of each sample. Unit: positions. Source: semi-empirical paper, section 5.
    """
    order = sorted(range(len(counts)), key=lambda i: counts[i])
    found: list[list[int]] = []
    before = math.inf
    for i in order:
        rate = misses[i] / counts[i] if counts[i] else 0.0
        if found and rate <= _RISE * before:
            found[-1].append(i)
        else:
            found.append([i])
        before = rate if rate else before
    return found
