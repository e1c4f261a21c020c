"""Laws of speedup fitted to one series of times, best first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scalegraph.analyze.fits import deciding, select, spread
from scalegraph.analyze.fits.curve import Curve
from scalegraph.analyze.fits.fit import CONFIDENCE, Fit
from scalegraph.analyze.fits.laws import LAWS, STRONG, WEAK, Law, Scaling, formula
from scalegraph.analyze.fits.linear import Solution, left_out_error, solve
from scalegraph.analyze.fits.noise import Flags, Floats, Sample, condense
from scalegraph.base.measures import percent
from scalegraph.base.text import listed
from scalegraph.base.units import plain, si

_JUDGED = 3  # different N
_TWO = "Two processor counts do not suffice to tell one law from another: measure on a third, the larger the better."


@dataclass(frozen=True)
class _Raw:
    """A fitted law: *bounded* obeys its bounds, *solution* does not; *columns* counts the nonzero coefficients."""

    law: Law
    sample: Sample
    design: Floats
    solution: Solution
    bounded: Solution
    theta: Floats
    columns: int


def fit_laws(
    processors: Sequence[float] | Floats,
    times: Sequence[Sequence[float]] | Floats,
    *,
    scaling: Scaling = "strong",
    confidence: float = CONFIDENCE,
    seed: int = 1,
) -> list[Fit]:
    """Return every law that the points can determine, best first.

    *processors* (points,), *times* (points,) or (points, repetitions) in seconds, NaN for missing repetitions. Noise is
    taken as relative. Laws are ordered by `select.criterion`: likelihood, where every further coefficient must be
    significant at 5 %; laws with an adjusted R2 below 0 come last. Fewer than two different processor counts give an
    empty list. Only the best law's band includes the doubt about the law.

    Shape: one entry for each law. Unit: s. Source: as each law names, see `laws`.
    """
    n = np.asarray(processors, dtype=np.float64)
    values = np.asarray(times, dtype=np.float64)
    values = values.reshape(len(n), -1) if len(n) else np.empty((0, 1))
    good = (n >= 1) & np.isfinite(values).any(axis=1)
    n, values = n[good], np.where(values[good] > 0, values[good], np.nan)
    kept = np.isfinite(values).any(axis=1)
    n, values = n[kept], values[kept]
    if len(np.unique(n)) < 2:
        return []
    raw = [
        _fit(law, n, values)
        for law in (STRONG if scaling == "strong" else WEAK)
        if len(law.columns) <= len(np.unique(n))
    ]
    return _judged([entry for entry in raw if entry is not None], n, values, confidence, seed)


def _fit(law: Law, n: Floats, values: Floats) -> _Raw | None:
    sample = condense((n[:, None] / values if law.kind == "rate" else values)[None])
    design = law.basis(n[:, None])
    weight = (sample.count * sample.weight)[0]
    free = solve(design, sample.mean[0], weight)
    if not bool(free.valid):
        return None
    best, used = free, tuple(range(design.shape[1]))
    if (free.theta < 0).any():
        best, used = _bounded(design, sample.mean[0], weight)
    theta = np.zeros(design.shape[1])
    theta[list(used)] = best.theta
    if any(ratio.bottom is not None and float(np.dot(ratio.bottom, theta)) == 0 for ratio in law.numbers):
        return None  # no time on one processor determines it
    return _Raw(law, sample, design, free, best, theta, len(used))


def _bounded(design: Floats, y: Floats, weight: Floats) -> tuple[Solution, tuple[int, ...]]:
    """Return the least-squares solution with non-negative coefficients, and which coefficients are positive."""
    found: list[tuple[float, tuple[int, ...], Solution]] = []
    for size in range(1, design.shape[1] + 1):
        for used in itertools.combinations(range(design.shape[1]), size):
            part = solve(design[:, list(used)], y, weight)
            if bool(part.valid) and (part.theta >= 0).all():
                found.append((float(part.squares), used, part))
    least = min(found, key=lambda entry: entry[0])
    return least[2], least[1]


def _judged(raw: Sequence[_Raw], n: Floats, values: Floats, confidence: float, seed: int) -> list[Fit]:
    """Return the fits with criterion, intervals, rivals and doubt, best first."""
    frugal = min(raw, key=lambda entry: _misfit(entry) / max(len(n) - entry.columns, 0.5))
    pooled = spread.repeats_explain(frugal.sample, np.array([_misfit(frugal)]), frugal.columns)
    scores = [_score(entry, pooled) for entry in raw]
    order = sorted(range(len(raw)), key=lambda i: (_useless(raw[i]), scores[i], len(raw[i].law.columns)))
    shares = select.evidence(np.array([math.inf if _useless(raw[i]) else scores[i] for i in range(len(raw))]))
    fits = [_made(raw[i], pooled, float(shares[i]), confidence, seed) for i in order]
    lead = _with_doubt_about_itself(fits[0], n, values)
    ranked = [raw[i] for i in order]
    if len(np.unique(n)) < _JUDGED:
        return [replace(fit, decided=False, judged=False, doubt=_TWO) for fit in fits]
    return [_best(lead, fits, ranked, n), *(replace(fit, decided=False, doubt=_against(fit, lead)) for fit in fits[1:])]


def _useless(entry: _Raw) -> bool:
    """Return whether a law explains less than a constant would: its adjusted R2 is below 0."""
    return _r2(entry) < 0


def _r2(entry: _Raw) -> float:
    return float(select.adjusted_r2(entry.sample, np.array([_misfit(entry)]), entry.columns)[0])


def _with_doubt_about_itself(fit: Fit, n: Floats, values: Floats) -> Fit:
    own = {name: getattr(fit.curve, name) for name in Curve.__dataclass_fields__}
    return replace(fit, curve=deciding.PredictiveCurve(**own, places=n, values=condense(values[None])))


def _misfit(entry: _Raw) -> float:
    return float(entry.bounded.squares)


def _score(entry: _Raw, pooled: Flags) -> float:
    columns = np.array(float(len(entry.law.columns)))
    return float(select.criterion(entry.sample, np.array([_misfit(entry)]), columns, pooled)[0])


def _made(entry: _Raw, pooled: Flags, weight: float, confidence: float, seed: int) -> Fit:
    law, sample, columns = entry.law, entry.sample, entry.design.shape[1]
    found = spread.scale(sample, entry.solution.squares[None], columns)
    stacked = Solution(*(np.asarray(getattr(entry.solution, name))[None] for name in Solution.__annotations__))
    drawn = spread.pivots(entry.design[None], sample, stacked, found, seed=seed)
    curve = Curve(
        law.basis,
        entry.theta,
        entry.solution.theta,
        entry.solution.inverse,
        float(found.sigma[0]),
        float(found.freedom[0]),
        float(spread.noise(sample, found)[0]),
        confidence,
        spread.one_pivots(drawn, 0),
        law.kind,
        0.0,
    )
    numbers = law.coefficients(curve)
    weights = (sample.count * sample.weight)[0]
    return Fit(
        law.name,
        law.title,
        formula(law, numbers),
        numbers,
        curve,
        float(left_out_error(entry.bounded, sample.mean[0], weights)),
        _r2(entry),
        float(select.akaike(sample, np.array([_misfit(entry)]), np.array(float(columns)), pooled)[0]),
        sample.mean.shape[1],
        law.growth(tuple(entry.theta)),
        weight,
        reach=float(select.plausible(sample, np.array(float(columns)), pooled)[0]),
    )


def _best(fit: Fit, fits: Sequence[Fit], raw: Sequence[_Raw], n: Floats) -> Fit:
    """Return the best *fit* with its plausible rivals and the sentence on what the points leave open.

    *raw* are the laws of *fits*, in the same order.
    """
    largest = float(n.max())
    far = select.HORIZON * largest
    # a law with as many coefficients as points passes through all of them: no residual contradicts it
    plausible = [other.curve.freedom <= 0 or _close(fit, other) for other in fits[1:]]
    told = _predicting(raw, fit, n)
    unlike = [float(select.differ(fit.predict([far]), other.predict([far]))[0]) > select.ALIKE for other in fits[1:]]
    names = tuple(other.law for other, close in zip(fits[1:], plausible, strict=True) if close)
    different = len(np.unique(n))
    doubtful = replace(fit, decided=False, rivals=names)
    if different < max(deciding.LEAST_PLACES, raw[0].columns + deciding.SPARE):
        return replace(doubtful, doubt=f"{different} points are too few to decide on a law; measure more.")
    if said := select.poor(fit.cv_error, fit.title):
        return replace(doubtful, doubt=said)
    if apart := [o for o, close, differs in zip(fits[1:], plausible, unlike, strict=True) if close and differs]:
        return replace(doubtful, doubt=_cannot_tell(fit, apart, largest))
    if not told[0]:
        return replace(doubtful, doubt=f"Fitted to the others, {fit.title} does not predict those at the largest N.")
    if equal := [o for o, well, differs in zip(fits[1:], told[1:], unlike, strict=True) if well and differs]:
        return replace(doubtful, doubt=_as_good_ahead(fit, equal, largest))
    if not (isinstance(fit.curve, deciding.PredictiveCurve) and fit.curve.settled(far)):
        return replace(doubtful, doubt=_unsettled(fit, far))
    return replace(fit, rivals=names, settled=_settled([LAWS[name].title for name in names], far))


def _predicting(raw: Sequence[_Raw], best: Fit, n: Floats) -> list[bool]:
    """Return which laws, fitted without the largest N, predict the measurements there."""
    hidden, noise = deciding.far_end(n), (best.curve.sigma, best.curve.freedom)
    return [deciding.predicts(entry.design, entry.sample, hidden, noise, _bounded) for entry in raw]


def _settled(alike: Sequence[str], far: float) -> str:
    if not alike:
        return "The points distinguish it from the other laws."
    verbs = "explains the points as well and predicts" if len(alike) == 1 else "explain the points as well and predict"
    return f"{listed(alike)} {verbs} the same up to N = {plain(far)}, within {percent(select.ALIKE)}."


def _as_good_ahead(fit: Fit, equal: Sequence[Fit], largest: float) -> str:
    return (
        f"{listed([other.title for other in equal])} {'predicts' if len(equal) == 1 else 'predict'} the largest N from"
        f" the others as well as {fit.title}, and {'differs' if len(equal) == 1 else 'differ'} from it beyond:"
        f" measure at N > {plain(largest)}."
    )


def _unsettled(fit: Fit, far: float) -> str:
    low, high = fit.band([far])
    return (
        f"These points also allow times more than {percent(select.ALIKE)} off {fit.title} at N = {plain(far)}:"
        f" there T is between {si(float(low[0]), 's')} and {si(float(high[0]), 's')} (95\u00a0%)."
    )


def _close(fit: Fit, other: Fit) -> bool:
    """Return whether *fit* beats *other* by only weak evidence: less than about 20 : 1 with many points."""
    return other.weight > 0 and math.log(max(fit.weight, 1e-300) / max(other.weight, 1e-300)) * 2 < fit.reach


def _against(fit: Fit, best: Fit) -> str:
    if fit.curve.freedom <= 0:
        return "It has as many parameters as there are points, so it cannot be judged."
    if fit.adjusted_r2 < 0:
        return "It explains less than a constant time would."
    if _close(best, fit):
        return f"As plausible as {best.title}, which has the better criterion."
    if fit.cv_error < 2 * best.cv_error and len(fit.curve.theta) > len(best.curve.theta):
        return f"Explains no more than {best.title} does with fewer parameters."
    return f"The points contradict it: {best.title} is {select.odds(best.weight, fit.weight)} times as likely."


def _cannot_tell(fit: Fit, apart: Sequence[Fit], largest: float) -> str:
    far = select.HORIZON * largest
    other = max(apart, key=lambda rival: rival.weight)
    share = float(select.differ(fit.predict([far]), other.predict([far]))[0])
    names = " or ".join(rival.title for rival in apart)
    place = telling(fit, other, largest)
    what = f"measure at N >= {plain(place)}" if place else "their noise hides that: repeat the measurements"
    return (
        f"These points cannot distinguish {fit.title} from {names}: "
        f"at N = {plain(far)} they differ by {percent(share)}; {what}."
    )


def telling(fit: Fit, other: Fit, largest: float) -> float | None:
    """Return the least N beyond the points, in powers of 2, where one measurement would tell the laws apart.

    There they differ by more than 2 %, and by more than four standard deviations of the mean of three repetitions
    predicted by *fit*. ``None`` if that takes more than 64 times the largest N.

    Unit: processors. Source: ScaleGraph.
    """
    place = largest
    for _ in range(6):
        place *= 2
        at = np.array([[place]])
        first, second = float(fit.predict(at)[0]), float(other.predict(at)[0])
        if abs(first - second) > max(4 * fit.curve.noise * abs(first) / math.sqrt(3), 0.02 * abs(first)):
            return place
    return None
