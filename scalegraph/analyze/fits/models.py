"""Performance models in normal form, of one to three parameters, fitted to many series at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from scalegraph.analyze.fits import select, shortlist, spread, terms
from scalegraph.analyze.fits.candidates import Candidate, Slot, candidates
from scalegraph.analyze.fits.fit import CONFIDENCE
from scalegraph.analyze.fits.linear import Solution, left_out_error, solve
from scalegraph.analyze.fits.modelset import RIVALS, SEARCHED, Models
from scalegraph.analyze.fits.noise import Flags, Floats, Indices, Sample, condense
from scalegraph.analyze.fits.terms import Factor, Hypothesis

# Number of best factors combined for each parameter, by the number of parameters.
_KEEP = {1: 12, 2: 5, 3: 2}
_PAIR_FALLING = {1: "-1 -1/2 -2/3 -2", 2: "-1 -1/2", 3: "-1"}
_PAIR_GROWING = {
    1: ("1/2", "1", "3/2", "2"),
    2: ("1/2", "1", "2"),
    3: ("1",),
}
# Searching over many exponents finds growth in noise, so the first term must be significant at the first level, each
# further one at the second; both levels are divided by the square of the number of parameters.
LEVELS = (0.005, 0.02)
_CHUNK = 4_000_000  # numbers in one batch of designs


@dataclass(frozen=True)
class _Space:
    """The search space: factors of every slot with their values at the points, the shortlists, and the candidates."""

    factors: dict[Slot, list[Factor]]
    values: dict[Slot, Floats]  # (factors, points)
    far: dict[Slot, Floats]  # (factors,)
    picked: dict[Slot, Indices]  # (series, length of the shortlist)
    fall: Flags  # (series, parameters)
    candidates: list[Candidate]


def fit_models(
    points: Sequence[Sequence[float]] | Floats,
    values: Floats,
    *,
    parameters: Sequence[str] = (),
    falling: bool | None = None,
    confidence: float = CONFIDENCE,
    bootstrap: bool = True,
    seed: int = 1,
) -> Models:
    """Return the model of every series.

    *points* has shape (points,) or (points, parameters), all values positive; *values* (series, points, repetitions) or
    (series, points), NaN where missing. *falling* allows (True) or forbids (False) falling terms; None decides per
    series and parameter. *bootstrap* computes intervals of coefficients by bootstrap if there are enough repetitions;
    all others use Student's t.

    Shape: one model for each series. Unit: that of *values*. Source: performance model normal form (Calotoiu and others
    2013).

    Raises:
        ValueError: more than three parameters, mismatched shapes, or a point with a coordinate of 0 or less.

    """
    x = np.asarray(points, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    y = np.asarray(values, dtype=np.float64)
    y = y[:, :, None] if y.ndim == 2 else y
    _check(x, y)
    names = tuple(parameters) or (("N",) if x.shape[1] == 1 else tuple(f"x{i + 1}" for i in range(x.shape[1])))
    sample = condense(y)
    space = _space(x, sample, falling)
    tried = _tried(x, sample, space)
    return _collected(names, x, sample, space, tried, confidence, seed if bootstrap else None)


def _check(x: Floats, y: Floats) -> None:
    if not 1 <= x.shape[1] <= 3:
        raise ValueError(f"models have one to three parameters, not {x.shape[1]}")
    if y.ndim != 3 or y.shape[1] != len(x):
        raise ValueError(f"values of shape (series, {len(x)}, repetitions) were expected, not {y.shape}")
    if not (np.isfinite(x) & (x > 0)).all():
        raise ValueError("every parameter must be above 0 at every point")


def _space(x: Floats, sample: Sample, falling: bool | None) -> _Space:
    many = x.shape[1]
    factors: dict[Slot, list[Factor]] = {}
    picked: dict[Slot, Indices] = {}
    fall = np.zeros((len(sample.mean), many), dtype=bool)
    for parameter in range(many):
        column = x[:, parameter]
        along = shortlist.lines(x, parameter)
        if falling is not False:
            fall[:, parameter] = True if falling else shortlist.falls(x, sample, parameter, along)
        every = terms.usable((*terms.growing(), *terms.falling()), column)
        if not every:
            continue
        allowed = shortlist.allowed(every, fall[:, parameter])
        factors[parameter, 0] = every
        picked[parameter, 0] = shortlist.ranked(x, sample, parameter, every, allowed, _KEEP[many])
        if fall[:, parameter].any() and len(np.unique(column)) >= 4:
            for kind, pair in ((1, _pair_falling(many)), (2, _pair_growing(many))):
                kept = terms.usable(pair, column)
                factors[parameter, kind] = kept
                picked[parameter, kind] = np.tile(np.arange(len(kept)), (len(sample.mean), 1))
    values = {slot: np.stack([f.at(x[:, slot[0]]) for f in found]) for slot, found in factors.items() if found}
    far = {
        slot: np.array([f.at(np.array([select.HORIZON * x[:, slot[0]].max()]))[0] for f in found])
        for slot, found in factors.items()
        if found
    }
    sizes = {slot: picked[slot].shape[1] for slot in values}
    return _Space(factors, values, far, picked, fall, candidates(many, sizes))


def _pair_falling(parameters: int) -> list[Factor]:
    return [Factor(Fraction(power)) for power in _PAIR_FALLING[parameters].split()]


def _pair_growing(parameters: int) -> list[Factor]:
    return [Factor(Fraction(0), 1), *(Factor(Fraction(power)) for power in _PAIR_GROWING[parameters])]


@dataclass(frozen=True)
class _Tried:
    """The best candidates of each series: *order* (series, `RIVALS`) holds their positions, *scores* their scores."""

    order: Indices
    scores: Floats
    pooled: Flags


def _tried(x: Floats, sample: Sample, space: _Space) -> _Tried:
    series, tried = len(sample.mean), len(space.candidates)
    squares = np.full((series, tried), np.inf)
    unusual = np.zeros((series, tried))
    columns = np.array([len(candidate.form) + 1 for candidate in space.candidates])
    weight = sample.count * sample.weight
    for size in sorted(set(columns)):
        group = np.flatnonzero(columns == size)
        step = max(1, _CHUNK // (len(group) * len(x) * int(size)))
        for start in range(0, series, step):
            part = np.arange(start, min(series, start + step))
            design, far, oddness, possible = _designs(part, [space.candidates[i] for i in group], space, len(x))
            found = solve(design, sample.mean[part, None], weight[part, None])
            below = (np.einsum("sgc,sgc->sg", found.theta, far) < 0) & np.all(sample.mean[part] >= 0, axis=1)[:, None]
            good = np.asarray(found.valid & possible & ~below & ~_idle(design, found, sample.mean[part], weight[part]))
            squares[np.ix_(part, group)] = np.where(good, found.squares, np.inf)
            unusual[np.ix_(part, group)] = oddness
    return _ordered(sample, squares, columns, unusual, x.shape[1])


def _designs(
    part: Indices, group: Sequence[Candidate], space: _Space, points: int
) -> tuple[Floats, Floats, Floats, Flags]:
    """Return designs (series, group, points, columns), their rows far away, oddness, and which ones are possible."""
    size = len(group[0].form) + 1
    design = np.ones((len(part), len(group), points, size))
    far = np.ones((len(part), len(group), size))
    unusual = np.zeros((len(part), len(group)))
    possible = np.ones((len(part), len(group)), dtype=bool)
    oddness = {slot: np.array([f.oddness for f in found]) for slot, found in space.factors.items()}
    for index, candidate in enumerate(group):
        choice = dict(candidate.choices)
        at = {slot: space.picked[slot][part, pick] for slot, pick in choice.items()}
        for column, product in enumerate(candidate.form, start=1):
            for slot in product:
                design[:, index, :, column] *= space.values[slot][at[slot]]
                far[:, index, column] *= space.far[slot][at[slot]]
        for slot, where in at.items():
            unusual[:, index] += oddness[slot][where]
            if slot[1]:
                possible[:, index] &= space.fall[part, slot[0]]
    return design, far, unusual, possible


def _idle(design: Floats, found: Solution, mean: Floats, weight: Floats) -> Flags:
    """Return which fits have a term that contributes less than 0.05 % everywhere (as in Extra-P), (series, group)."""
    scale = np.where(weight > 0, np.maximum(np.abs(mean), 1e-300), np.inf)
    with np.errstate(over="ignore"):  # relative to a value near zero, a term counts as infinitely large
        share = np.abs(design[..., 1:] * found.theta[..., None, 1:]) / scale[:, None, :, None]
    return np.asarray((share.max(axis=2) < 5e-4).any(axis=-1))


def _ordered(sample: Sample, squares: Floats, columns: Indices, unusual: Floats, parameters: int) -> _Tried:
    """Return the best candidates by criterion; the criterion depends on whether repetitions explain the best one."""
    few = columns <= 3
    best = np.where(few[None], squares, np.inf).argmin(axis=1)
    least = np.take_along_axis(squares, best[:, None], axis=1)[:, 0]
    pooled = spread.repeats_explain(sample, least, columns[best].astype(np.float64))
    first, more = (level / parameters**2 for level in LEVELS)
    scores = select.criterion(sample, squares, columns[None].astype(np.float64), pooled, first, more) + unusual
    order = np.argsort(scores, axis=1, kind="stable")[:, :RIVALS]
    return _Tried(order, np.take_along_axis(scores, order, axis=1), pooled)


def _hypothesis(candidate: Candidate, series: int, space: _Space) -> Hypothesis:
    choice = dict(candidate.choices)
    products = []
    for product in candidate.form:
        parts = [(slot[0], space.factors[slot][int(space.picked[slot][series, choice[slot]])]) for slot in product]
        products.append(tuple(sorted(parts, key=lambda part: part[0])))
    return tuple(products)


def _spent(columns: int) -> float:
    """Return the degrees of freedom used by a model with *columns* coefficients, including their exponents."""
    return columns + (columns - 1) * SEARCHED


def _collected(
    names: tuple[str, ...],
    x: Floats,
    sample: Sample,
    space: _Space,
    tried: _Tried,
    confidence: float,
    seed: int | None,
) -> Models:
    """Return the models, solving every kept candidate again with all its statistics."""
    series, kept = tried.order.shape
    registry: dict[Hypothesis, int] = {}
    which = np.full((series, kept), -1, dtype=np.int64)
    for row in range(series):
        for rank in range(kept):
            if np.isfinite(tried.scores[row, rank]) or rank == 0:
                hypothesis = _hypothesis(space.candidates[tried.order[row, rank]], row, space)
                which[row, rank] = registry.setdefault(hypothesis, len(registry))
    made = Models.empty(names, x, sample, list(registry), which, tried.scores, tried.pooled, confidence)
    weight = sample.count * sample.weight
    for number, hypothesis in enumerate(made.space):
        rows, ranks = np.nonzero(which == number)
        design = terms.columns_at(hypothesis, x)
        part = sample.only(rows)
        found = solve(design[None], part.mean, weight[rows])
        made.take(rows, ranks, found, spread.scale(part, found.squares, _spent(design.shape[1])), part)
        first = ranks == 0
        if first.any():
            chosen = Solution(*(getattr(found, name)[first] for name in Solution.__annotations__))
            lead = part.only(np.flatnonzero(first))
            made.judge(rows[first], chosen, left_out_error(chosen, lead.mean, weight[rows[first]]), lead)
            if seed is not None:
                made.draw(rows[first], np.broadcast_to(design, (int(first.sum()), *design.shape)), chosen, lead, seed)
    return made
