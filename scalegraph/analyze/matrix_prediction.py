"""Matrices predicted by models: T(N, W) and T_seq(W) are fitted and solved for the work that meets a bound.

This is isospeed.txt IV.A, approach 3, with fitted models in place of a formula. Predictions are never mixed with runs
silently: their cells are ``predicted`` and have an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze import matrix as matrices
from scalegraph.analyze.bounds import Anchor, Bound
from scalegraph.analyze.fits import Models, fit_models
from scalegraph.analyze.fits.terms import columns_at
from scalegraph.analyze.matrix import Matrix, Pair
from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import plain, significant

Latency: TypeAlias = Literal["accounting", "method1"]
DRAWS = 400  # number of draws for intervals
_STEPS = 240  # steps in log W of the search
_DOWN, _UP = 64.0, 4096.0  # search down to 1/64 of the smallest and up to 4096 times the largest size run
_FAR = 4.0  # multiple of the largest size beyond which a note is added
_ROUGH = 0.1  # relative cross-validation error above which a note is added
_FEWEST = 5  # runs on two or more processors needed
_COUNTS = 4  # distinct N > 1 needed to separate growth from fall


@dataclass(frozen=True)
class Curves:
    """Model values over (N, log W), first the chosen models, then the draws: shape (1 + draws, counts, steps)."""

    work: Floats  # (steps,)
    time: Floats
    t_seq: Floats
    latency: Floats
    memory: Floats  # (steps,), NaN if unknown


Modelled: TypeAlias = tuple[Curves, tuple[str, ...]]  # the models, and notes on them


def completed(
    made: Matrix,
    scaling: pd.DataFrame,
    *,
    latency: Latency = "accounting",
    replace_all: bool = False,
    modelled: Callable[[pd.DataFrame, Sequence[int], Latency], Modelled] | None = None,
) -> Matrix:
    """Return *made* with predictions for points without runs, or for every point with *replace_all*.

    *scaling* comes from `metrics.scaling`. T of runs on two or more processors is fitted over (N, W), T_seq and the
    latency likewise (`fits.fit_models`), and solved at each N for the least W that meets the bound. Intervals (95 %)
    come from draws of the coefficients of the models and their plausible rivals. If no model can be fitted, the cells
    stay as they are, with the reason. *modelled*: `models_of`, or a function that returns its cached results.

    Shape: (counts, counts). Unit: none (ratio). Source: ScaleGraph, with the models of Extra-P (Calotoiu and others
    2013).
    """
    wanted = [n for n in made.processors if replace_all or not _known(made, n)]
    if not wanted:
        return made
    try:
        curves, notes = (modelled or models_of)(scaling, wanted, latency)
    except ValueError as error:
        return _without(made, wanted, str(error))
    anchors: dict[int, Anchor] = dict(made.anchors)
    draws: dict[int, tuple[Floats, Floats]] = {}
    largest = float(np.nanmax(numbers(scaling, "work")))
    for index, n in enumerate(wanted):
        met = _met(curves, index, n, made.bound, made.target)
        anchors[n] = _anchor(curves, index, n, met, largest, made)
        draws[n] = _at(curves.work[None, :], met), _at(curves.latency[:, index], met)
    found = [anchors.get(n, Anchor(n, reason=f"no run on {n} processors")) for n in made.processors]
    again = matrices.from_anchors(found, made.metric, made.bound, made.target, work_unit=made.work_unit)
    reasons = {
        pair: made.reasons.get(pair, reason) if not _touches(pair, wanted) else reason
        for pair, reason in again.reasons.items()
    }
    return replace(again, reasons=reasons, intervals=_intervals(again, draws), notes=(*made.notes, *notes))


def _known(made: Matrix, n: int) -> bool:
    return n in made.anchors and made.anchors[n].known


def _touches(pair: Pair, wanted: Sequence[int]) -> bool:
    return bool(set(pair) & set(wanted))


def _without(made: Matrix, wanted: Sequence[int], why: str) -> Matrix:
    """Return *made* with the reason *why* on the points that should have been predicted."""
    anchors = {n: Anchor(n, reason=why) if n in wanted else anchor for n, anchor in made.anchors.items()}
    found = [anchors.get(n, Anchor(n, reason=why)) for n in made.processors]
    again = matrices.from_anchors(found, made.metric, made.bound, made.target, work_unit=made.work_unit)
    return replace(again, notes=made.notes)


def models_of(scaling: pd.DataFrame, counts: Sequence[int], latency: Latency) -> Modelled:
    """Return the models over all *counts*, and notes on them; they do not depend on the bound.

    Shape: of `Curves`. Unit: seconds, bytes. Source: ScaleGraph. Raises: ValueError: too few runs, with the reason.
    """
    work = numbers(scaling, "work")
    rows = scaling[np.isfinite(work) & (work > 0)]
    count, work = numbers(rows, "processors"), numbers(rows, "work")
    many = count > 1
    if many.sum() < _FEWEST or len(set(work[many])) < 2 or len(set(count[many])) < 2:
        raise ValueError(
            f"a prediction needs at least {_FEWEST} runs with known work, of several sizes on several processor counts"
        )
    steps = np.geomspace(work.min() / _DOWN, work.max() * _UP, _STEPS)
    grid = np.column_stack([np.repeat(np.asarray(counts, dtype=float), _STEPS), np.tile(steps, len(counts))])
    shape = (1 + DRAWS, len(counts), _STEPS)
    few = len(set(count[many])) < _COUNTS
    # with few counts, one-processor runs are needed to separate growing from falling terms
    taken = many | few
    lost = np.where(many & _absolute(rows), _latency(rows, latency), np.nan)[taken]
    both = np.stack([numbers(rows, "time_s")[taken], np.where(lost > 0, lost, np.nan)])[:, :, None]
    models = fit_models(np.column_stack([count, work])[taken], both, parameters=("N", "W"), bootstrap=False)
    one = None
    if (~many).sum() >= 2:
        alone = numbers(rows, "time_s")[~many][None, :, None]
        one = fit_models(work[~many], alone, parameters=("W",), bootstrap=False)
    random = np.random.default_rng(1)
    time = _drawn(models, 0, grid, random).reshape(shape)
    if one is not None:
        t_seq = np.broadcast_to(_drawn(one, 0, steps[:, None], random)[:, None, :], shape)
    else:
        t_seq = np.full(shape, np.nan)
    if 1 in counts:
        time = np.where(np.asarray(counts)[None, :, None] == 1, t_seq, time)
    if latency == "method1":
        lost_there = time - t_seq / np.asarray(counts, dtype=float)[None, :, None]
    else:
        lost_there = _drawn(models, 1, grid, random).reshape(shape)
    made = Curves(steps, time, t_seq, lost_there, _memory(rows, steps))
    notes = _said(models, one, latency)
    if few:
        listed = ", ".join(plain(n) for n in sorted(set(count)))
        notes += (f"Runs on N = {listed} alone hardly show how times grow with N; run one more count.",)
    return made, notes


def _absolute(rows: pd.DataFrame) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which rows have one processor as reference; otherwise latency starts at 0 on the fewest processors."""
    known = numbers(rows, "reference")
    return np.isnan(known) | (known <= 1)


def _latency(rows: pd.DataFrame, latency: Latency) -> Floats:
    method1 = numbers(rows, "latency_method1_s")
    if latency == "method1":
        return method1
    accounted = numbers(rows, "latency_s")
    return np.where(np.isfinite(accounted), accounted, method1)


def _drawn(models: Models, series: int, x: Floats, random: np.random.Generator) -> Floats:
    """Return the chosen model at *x* (points, parameters), then draws of it and its rivals, (1 + DRAWS, points)."""
    share = models.plausible[series]
    ranks = random.choice(len(share), size=DRAWS, p=share)
    result = np.empty((1 + DRAWS, len(x)))
    for rank in {0, *ranks.tolist()}:
        columns = columns_at(models.space[int(models.which[series, rank])], x)
        size = columns.shape[1]
        theta = models.theta[series, rank, :size]
        if rank == 0:
            result[0] = columns @ theta
        mine = np.flatnonzero(ranks == rank)
        freedom, sigma = float(models.freedom[series, rank]), float(models.sigma[series, rank])
        if freedom <= 0 or not math.isfinite(sigma):
            result[1 + mine] = np.nan
            continue
        values, vectors = np.linalg.eigh(models.inverse[series, rank, :size, :size])
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        wide = np.sqrt(freedom / random.chisquare(freedom, len(mine)))
        spread = (random.standard_normal((len(mine), size)) @ root.T) * (sigma * wide)[:, None]
        result[1 + mine] = (theta + spread) @ columns.T
    return result


def _memory(rows: pd.DataFrame, work: Floats) -> Floats:
    """Return the memory (B) of a problem of *work*, interpolated log-linearly between the sizes run."""
    known, size = numbers(rows, "memory_bytes"), numbers(rows, "work")
    good = np.isfinite(known) & (known > 0)
    at, first = np.unique(size[good], return_index=True)
    if len(at) < 2:
        return np.full(len(work), np.nan)
    x, y, wanted = np.log(at), np.log(known[good][first]), np.log(work)
    ends = [(y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])]
    inside = np.interp(wanted, x, y)
    below, above = y[0] + ends[0] * (wanted - x[0]), y[-1] + ends[1] * (wanted - x[-1])
    return np.asarray(np.exp(np.where(wanted < x[0], below, np.where(wanted > x[-1], above, inside))))


def _met(curves: Curves, index: int, n: int, bound: Bound, target: float) -> Floats:
    """Return the position among the steps where the bound is met (1 + draws,); NaN if it is not.

    The least W where the value rises past the target, or else where it falls past it, as for runs.
    """
    time = curves.time[:, index]
    with np.errstate(all="ignore"):
        value = {
            "efficiency": curves.t_seq[:, index] / (n * time),
            "time": time,
            "speed": curves.work / (n * time),
            "memory": np.broadcast_to(curves.memory / n, time.shape),
        }[bound]
    # a model whose time is not positive is invalid there
    value = np.where((time > 0) & np.isfinite(value) & (value > 0), value, np.nan)
    above: np.ndarray[Any, np.dtype[np.bool_]] = np.asarray(value >= target)
    pair = np.isfinite(value[:, 1:]) & np.isfinite(value[:, :-1])
    before, after = above[:, :-1], above[:, 1:]
    rises, falls = np.asarray(pair & after & ~before), np.asarray(pair & ~after & before)
    crossing = np.where(np.any(rises, axis=1, keepdims=True), rises, falls)
    first = crossing.argmax(axis=1)
    line = np.arange(len(value))
    with np.errstate(all="ignore"):
        low, high = np.log(value[line, first]), np.log(value[line, first + 1])
        share = (math.log(target) - low) / (high - low)
    return np.where(crossing.any(axis=1), first + share, np.nan)


def _at(values: Floats, place: Floats) -> Floats:
    """Return *values* ((1 + draws or 1, steps)) at *place* (1 + draws,), interpolated in logarithms where positive."""
    left = np.clip(np.nan_to_num(place).astype(int), 0, values.shape[1] - 2)
    share = place - left
    line = np.arange(len(place)) if len(values) > 1 else np.zeros(len(place), dtype=int)
    low, high = values[line, left], values[line, left + 1]
    with np.errstate(all="ignore"):
        curved = np.exp((1 - share) * np.log(low) + share * np.log(high))
    return np.asarray(np.where((low > 0) & (high > 0), curved, (1 - share) * low + share * high))


def _anchor(curves: Curves, index: int, n: int, met: Floats, largest: float, made: Matrix) -> Anchor:
    if math.isnan(met[0]):
        tried = made.anchors[n].runs_tried if n in made.anchors else 0
        if made.bound == "efficiency" and not np.isfinite(curves.t_seq[0]).any():
            why = "a prediction of the efficiency needs runs of two sizes or more on one processor"
            return Anchor(n, reason=why, runs_tried=tried)
        return Anchor(
            n, reason=f"the model for N = {n} does not meet the bound on the {made.bound} at any size", runs_tried=tried
        )
    work, time, t_seq, lost = (
        float(_at(one, met[:1])[0])
        for one in (
            curves.work[None, :],
            curves.time[:1, index],
            curves.t_seq[:1, index],
            curves.latency[:1, index],
        )
    )
    far = work / largest
    label = "model of T(N, W)" + (f", at {significant(far)} times the largest work run" if far > _FAR else "")
    memory = float(_at(curves.memory[None, :], met[:1])[0]) / n
    return Anchor(
        n,
        "predicted",
        work=work,
        latency_s=lost if math.isfinite(lost) else None,
        time_s=time,
        efficiency=t_seq / (n * time) if math.isfinite(t_seq) else None,
        unit_speed=work / (n * time),
        memory_per_processor=memory if math.isfinite(memory) else None,
        labels=(label,),
    )


def _intervals(made: Matrix, draws: dict[int, tuple[Floats, Floats]]) -> dict[Pair, tuple[float, float]]:
    """Return the central 95 % of the values over the draws; a draw in which N' never meets the bound counts as 0."""
    found: dict[Pair, tuple[float, float]] = {}
    for (n, n2), way in made.ways.items():
        if way != "predicted" or n == n2:
            continue
        (work, lost), (work2, lost2) = (_of(made.anchors[m], draws.get(m)) for m in (n, n2))
        with np.errstate(all="ignore"):
            value = lost / lost2 if made.metric == "latency" else n2 * work / (n * work2)
        value = np.where(np.isnan(work2) & ~np.isnan(work), 0.0, value)[1:]
        good = value[np.isfinite(value) & (value >= 0)]
        if len(good) >= DRAWS // 2:
            low, high = np.quantile(good, (0.025, 0.975))
            middle = made.values[(n, n2)]
            found[(n, n2)] = (min(float(low), middle), max(float(high), middle))
    return found


def _of(anchor: Anchor, drawn: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    """Return work and latency over the draws; those of a run are constant."""
    if drawn is not None:
        return drawn
    every = np.ones(1 + DRAWS)
    missing = math.nan
    return every * (anchor.work or missing), every * (anchor.latency_s or missing)


def _said(models: Models, one: Models | None, latency: Latency) -> tuple[str, ...]:
    """Return notes: formulas, errors and doubts of the models."""
    named = [("T(N, W)", models, 0)]
    if latency == "accounting":
        named.append(("L(W, N)", models, 1))
    if one is not None:
        named.append(("T_seq(W)", one, 0))
    said = []
    for name, fitted, series in named:
        error = float(fitted.cv_error[series])
        text = f"Model: {name} = {fitted.formula(series)} s, cross-validated error {percent(error)}"
        said.append(text + (" - too rough to rely on." if not error <= _ROUGH else "."))
        doubt = fitted.doubt(series)
        if doubt:
            said.append(f"{name}: {doubt}")
    return tuple(said)
