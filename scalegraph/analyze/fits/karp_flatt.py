"""The experimentally determined serial fraction (Karp and Flatt 1990) at every N, and its trend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from scalegraph.analyze.fits import spread
from scalegraph.analyze.fits.curve import Basis, Curve, student
from scalegraph.analyze.fits.fit import CONFIDENCE
from scalegraph.analyze.fits.linear import Solution, solve
from scalegraph.analyze.fits.noise import Floats, condense
from scalegraph.base.units import plain, significant

Trend: TypeAlias = Literal["grows", "falls", "stays", "varies", "unknown"]
_ALIKE = (0.005, 0.25)  # fractions that differ by less (absolute, or relative to their mean) count as equal


@dataclass(frozen=True)
class SerialFraction:
    """e = (1/S - 1/N)/(1 - 1/N) with S = T(1)/T(N), and its interval."""

    processors: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class KarpFlatt:
    """Serial fractions of a fixed-size series. *slope* is their change per doubling of N, with its interval.

    *trend* is ``grows`` or ``falls`` if the interval of the slope and the two ends agree; otherwise ``stays`` if the
    fractions are equal within their intervals or a quarter, ``varies`` if not, ``unknown`` for fewer than three N.
    """

    fractions: tuple[SerialFraction, ...]
    trend: Trend
    slope: float
    slope_low: float
    slope_high: float
    sentence: str


def karp_flatt(
    processors: Sequence[float] | Floats, times: Sequence[Sequence[float]] | Floats, *, confidence: float = CONFIDENCE
) -> KarpFlatt | None:
    """Return the serial fraction at every N > 1; None without times on one processor and on more.

    *times* (points, repetitions) in seconds, NaN for missing ones. Intervals of the fractions are Fieller's for the
    ratio of two means, with the relative noise of all repetitions; NaN without repetitions. The trend is that of T(N) =
    T1 (1/N + (e + slope log2 N)(1 - 1/N)), fitted to all points at once, since every e depends on T(1).

    Shape: (points,) of its arrays. Unit: none (share). Source: Karp and Flatt 1990; intervals Fieller 1954.
    """
    n = np.asarray(processors, dtype=np.float64)
    values = np.asarray(times, dtype=np.float64)
    values = values.reshape(len(n), -1) if len(n) else np.empty((0, 1))
    good = (n >= 1) & np.isfinite(values).any(axis=1)
    n, values = n[good], values[good]
    if not (n == 1).any() or not (n > 1).any():
        return None
    order = np.argsort(n)
    n, values = n[order], values[order]
    sample = condense(values[None])
    mean, count = sample.mean[0], sample.count[0]
    noise = _noise(float(sample.within[0]), float(sample.freedom[0]))
    reach = student(1 - (1 - confidence) / 2, float(sample.freedom[0]))
    one = int(np.flatnonzero(n == 1)[0])
    fractions = tuple(
        _fraction(
            float(n[i]), float(mean[i] / mean[one]), _ratio_error(noise, float(count[i]), float(count[one]), reach)
        )
        for i in range(len(n))
        if n[i] > 1
    )
    trend, slope = _trend(n, values, confidence)
    change = fractions[-1].value - fractions[0].value
    if trend == "stays" and not _alike(fractions):
        trend = "varies"
    if (trend == "grows" and change <= 0) or (trend == "falls" and change >= 0):
        trend = "varies"  # the first and last fractions contradict the slope
    return KarpFlatt(fractions, trend, *slope, _sentence(fractions, trend))


def _noise(within: float, freedom: float) -> float:
    return math.sqrt(within / freedom) if freedom > 0 else math.nan


def _ratio_error(noise: float, count: float, count_one: float, reach: float) -> tuple[float, float]:
    """Return factors that bound a ratio of two means: Fieller's interval for equal relative noise."""
    if not math.isfinite(noise) or not math.isfinite(reach):
        return math.nan, math.nan
    top, bottom = (reach * noise) ** 2 / count, (reach * noise) ** 2 / count_one
    if bottom >= 1 or top >= 1:
        return 0.0, math.inf
    root = math.sqrt(max(top + bottom - top * bottom, 0.0))
    return (1 - root) / (1 - bottom), (1 + root) / (1 - bottom)


def _fraction(n: float, ratio: float, factors: tuple[float, float]) -> SerialFraction:
    def serial(share: float) -> float:
        return (share - 1 / n) / (1 - 1 / n)

    return SerialFraction(n, serial(ratio), serial(ratio * factors[0]), serial(ratio * factors[1]))


def _trend(n: Floats, values: Floats, confidence: float) -> tuple[Trend, tuple[float, float, float]]:
    """Return how e changes with N, and its slope per doubling of N with an interval."""
    unknown: tuple[Trend, tuple[float, float, float]] = ("unknown", (math.nan, math.nan, math.nan))
    if len(np.unique(n)) < 3:
        return unknown

    def basis(x: Floats) -> Floats:
        at = x[:, 0]
        return np.stack([1 / at, 1 - 1 / at, np.log2(at) * (1 - 1 / at)], axis=1)

    sample = condense(values[None])
    found = solve(basis(n[:, None])[None], sample.mean, sample.count * sample.weight)
    error = spread.scale(sample, found.squares, 3)
    if not found.valid[0] or error.freedom[0] <= 0:
        return unknown
    drawn = spread.pivots(basis(n[:, None])[None], sample, found, error)
    curve = _curve(basis, found, error, confidence, spread.one_pivots(drawn, 0))
    low, high = curve.interval(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    slope = float(found.theta[0, 2] / found.theta[0, 0])
    edge = 1e-6  # change of the serial fraction per doubling that counts as none
    trend: Trend = "grows" if low > edge else "falls" if high < -edge else "stays"
    return trend, (slope, low, high)


def _alike(fractions: Sequence[SerialFraction]) -> bool:
    """Return whether one value fits all fractions: within every interval, or close to all of them."""
    low, high = (max(part.low for part in fractions), min(part.high for part in fractions))
    values = [part.value for part in fractions]
    least, share = _ALIKE
    return low <= high or max(values) - min(values) <= max(least, share * abs(sum(values) / len(values)))


def _course(fractions: Sequence[SerialFraction]) -> str:
    """Return the course of the fractions with all turns: ``falls from 0.29 at N = 2 to 0.06 at N = 4, rises ..``."""
    values = [part.value for part in fractions]
    turns = [0]
    for i in range(1, len(values) - 1):
        if (values[i] - values[turns[-1]]) * (values[i + 1] - values[i]) < 0:
            turns.append(i)
    turns.append(len(values) - 1)
    at = [f"{significant(values[i], 2)} at N = {plain(fractions[i].processors)}" for i in turns]
    ways = ["rises" if values[b] > values[a] else "falls" for a, b in itertools.pairwise(turns)]
    legs = [f"{way} to {place}" for way, place in zip(ways, at[1:], strict=True)]
    most = 3
    if len(legs) > most:
        low, high = (fractions[values.index(pick(values))] for pick in (min, max))
        ends = [f"{significant(end.value, 2)} at N = {plain(end.processors)}" for end in (low, high)]
        return f"goes up and down between {ends[0]} and {ends[1]}"
    return f"{ways[0]} from {at[0]} to {at[1]}" + "".join(f", then {leg}" for leg in legs[1:])


def _curve(basis: Basis, found: Solution, error: spread.Scale, confidence: float, pivots: Floats | None) -> Curve:
    theta, freedom = found.theta[0], float(error.freedom[0])
    return Curve(basis, theta, theta, found.inverse[0], float(error.sigma[0]), freedom, 0.0, confidence, pivots)


def _sentence(fractions: Sequence[SerialFraction], trend: Trend) -> str:
    first, last = fractions[0], fractions[-1]
    ends = [f"{significant(end.value, 2)} at N = {plain(end.processors)}" for end in (first, last)]
    span = f"from {ends[0]} to {ends[1]}"
    if trend == "grows":
        return (
            f"The serial fraction grows with N, {span}: overhead that grows with the processors (synchronisation,"
            " communication, imbalance) costs more than serial code."
        )
    if trend == "falls":
        return f"The serial fraction falls with N, {span}: processors bring more than their share, as more cache does."
    if trend == "stays":
        return f"The serial fraction stays about the same, {span}: as serial code by Amdahl's law."
    if trend == "varies":
        return (
            f"The serial fraction {_course(fractions)}: it differs from N to N, without a trend that these points"
            " establish, so no one share of serial code explains the times."
        )
    return f"The serial fraction goes {span}; two points or no spare ones cannot show a trend."
