"""Advice on the next run: the point that narrows a chosen confidence interval most for its cost.

The interval is that of the predicted time at a target point, including doubt about the law: where plausible rival laws
predict values outside the best law's band, the interval includes them. A new measurement narrows the best law's band as
linear theory says (`Fit.narrowed`), and removes the rivals' part as far as it tells the laws apart: two laws whose
predictions differ by z standard deviations of the measurement are confused with probability 2 Phi(-z/2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import scipy

from scalegraph.analyze.fits import Fit, fit_laws, fit_models
from scalegraph.analyze.fits.curve import Curve
from scalegraph.analyze.series import main_series
from scalegraph.analyze.table import PARAMETER, Floats, numbers, parameter_columns, usable
from scalegraph.base.units import significant

Cost: TypeAlias = Literal["elapsed", "processor", "host"]
COSTS: tuple[Cost, ...] = ("elapsed", "processor", "host")
_REACH = 4  # candidates go up to this multiple of the largest count run
_ALONG = 0.02  # size/processors ratios that differ by no more count as equal
_LEAST_NOISE = 1e-3  # relative; uncertainty assumed for a repetition even if runs never varied


@dataclass(frozen=True)
class Model:
    """The model of a study's time over processors and, where several sizes were run, over size.

    *size* names the parameter that makes the problem larger, empty if there is only one problem; *along* lists
    parameters proportional to it (and their ratio to *size*), *fixed* those that do not change, *whole* those that are
    whole numbers in all runs. *points* (points, 1 or 2) are the points measured; *best* and *rivals* the laws that fit
    them.
    """

    size: str
    points: Floats
    best: Fit
    rivals: tuple[Fit, ...] = ()
    along: tuple[tuple[str, float], ...] = ()
    fixed: tuple[tuple[str, object], ...] = ()
    whole: tuple[str, ...] = ()

    def band(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the interval of the time at *x* (points, 1 or 2), in seconds, including the rivals.

        A rival with as many coefficients as points has no band and is ignored.

        Shape: two arrays (points,). Unit: s. Source: Akaike weights over Student's t (Burnham and Anderson 2002).
        """
        bands = [fit.band(x) for fit in (self.best, *self.rivals) if fit is self.best or fit.curve.freedom > 0]
        return np.min([low for low, _ in bands], axis=0), np.max([high for _, high in bands], axis=0)

    def time(self, goal: Sequence[float]) -> float:
        """Return the predicted time in seconds at one point (N, or N and size).

        Unit: s. Source: ScaleGraph.
        """
        return float(self.best.predict(np.array([goal], dtype=np.float64))[0])

    def parameters(self, row: Floats) -> dict[str, object]:
        """Return the program's parameters at one point.

        Unit: that of each parameter. Source: ScaleGraph.
        """
        found = dict(self.fixed)
        if self.size:
            size = float(row[1])
            found[self.size] = self._value(self.size, size)
            found |= {name: self._value(name, size * ratio) for name, ratio in self.along}
        return found

    def interval(self, goal: Sequence[float]) -> float:
        """Return the relative width of the interval at one point; NaN or infinite where there is no interval.

        Unit: none (ratio). Source: ScaleGraph.
        """
        low, high = self.band(np.array([goal], dtype=np.float64))
        value = self.time(goal)
        return float(high[0] - low[0]) / value if value > 0 else math.nan

    def _value(self, name: str, value: float) -> int | float:
        """Return a value of parameter *name* as programs accept it: whole if it always was, else with twelve digits."""
        near = abs(value - round(value)) < 1e-6 * max(1.0, abs(value))
        return round(value) if near or name in self.whole else float(f"{value:.12g}")


def _plain(value: Any) -> object:
    """Return a table cell as a plain Python number or string."""
    return value.item() if hasattr(value, "item") else value


def half_width(width: float) -> str:
    """Return the relative *width* of an interval as text, half of it on each side: ``±2.1 %``.

    Source: ScaleGraph.
    """
    return f"\u00b1{significant(50 * width, 2)}\u00a0%"


@dataclass(frozen=True)
class Advice:
    """A possible next run.

    *seconds* is its predicted time, *cost* its cost in the unit asked for (seconds or processor-seconds); *now* and
    *then* are the relative width of the interval at the target, before and (expected) after the run; *tells* is how
    many standard deviations the rivals are apart there; *again* says whether the point was measured already.
    """

    processors: int
    parameters: Mapping[str, object]
    seconds: float
    cost: float
    now: float
    then: float
    tells: float
    again: bool

    @property
    def worth(self) -> float:
        """Reduction of the interval's relative width per unit of cost.

        Unit: 1/s of the chosen cost. Source: ScaleGraph.
        """
        return (self.now - self.then) / self.cost


def model_of(table: pd.DataFrame, scaling: pd.DataFrame) -> Model | None:
    """Return the model of a study's time; ``None`` if it has too few points for any law.

    *table* is the run table, *scaling* its `metrics.scaling`. If three or more sizes were run on three or more counts,
    time is modelled over both; otherwise by a law of the fixed size with the most points.

    Source: ScaleGraph.
    """
    runs = usable(table)
    return _over_sizes(runs) or _over_processors(runs, scaling)


def _over_processors(runs: pd.DataFrame, scaling: pd.DataFrame) -> Model | None:
    main = main_series(scaling)
    if main is None:
        return None
    first = main.rows.iloc[0]
    names = parameter_columns(runs)
    same = runs[[bool(keep) for keep in _equal(runs, first, names)]]
    counts, values = _repeated(same, [])
    fits = fit_laws(counts[:, 0], values)
    if not fits or len(counts) < 3:
        return None
    rivals = tuple(fit for fit in fits[1:] if fit.law in fits[0].rivals)
    fixed = tuple((name.removeprefix(PARAMETER), _plain(first[name])) for name in names if not pd.isna(first[name]))
    return Model("", counts, fits[0], rivals, fixed=fixed)


def _equal(runs: pd.DataFrame, row: pd.Series, names: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    keep = np.ones(len(runs), dtype=bool)
    for name in names:
        keep &= (runs[name] == row[name]).to_numpy() | (runs[name].isna().to_numpy() & bool(pd.isna(row[name])))
    return keep


def _over_sizes(runs: pd.DataFrame) -> Model | None:
    names = [name for name in parameter_columns(runs) if pd.to_numeric(runs[name], errors="coerce").notna().all()]
    if len(names) < len(parameter_columns(runs)):
        return None
    varying = [name for name in names if len(set(runs[name])) > 1]
    if not varying:
        return None
    size = varying[0]
    base = numbers(runs, size)
    along = []
    for name in varying[1:]:
        ratios = numbers(runs, name) / base
        if not np.allclose(ratios, ratios[0], rtol=0.02):
            return None
        along.append((name.removeprefix(PARAMETER), float(np.median(ratios))))
    points, values = _repeated(runs, [size])
    if len(np.unique(points[:, 0])) < 3 or len(np.unique(points[:, 1])) < 3 or len(points) < 7 or (points <= 0).any():
        return None
    if np.ptp(np.log(points[:, 1]) - np.log(points[:, 0])) < _ALONG:
        return None  # weak scaling: the size follows N, so the effects of the two on the time cannot be separated
    best = fit_models(points, values[None], parameters=("N", size.removeprefix(PARAMETER)))[0]
    fixed = tuple((name.removeprefix(PARAMETER), _plain(runs[name].iloc[0])) for name in names if name not in varying)
    whole = tuple(name.removeprefix(PARAMETER) for name in varying if _all_whole(numbers(runs, name)))
    return Model(size.removeprefix(PARAMETER), points, best, (), tuple(along), fixed, whole)


def _all_whole(values: Floats) -> bool:
    return bool((values == np.round(values)).all())


def _repeated(runs: pd.DataFrame, sizes: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the distinct points (points, 1 + sizes) and their times (points, repetitions), NaN where missing."""
    keys = np.stack([numbers(runs, "processors"), *(numbers(runs, name) for name in sizes)], axis=1)
    points, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = pd.Series(which).groupby(which).cumcount().to_numpy()
    values = np.full((len(points), int(order.max()) + 1 if len(order) else 0), np.nan)
    values[which, order] = numbers(runs, "time_s")
    return points, values


def candidates(model: Model, most: int | None = None) -> Floats:
    """Return points (points, 1 or 2) that could be run next: those measured, points between, and up to four times N.

    *most* is the largest processor count that can be run.

    Unit: processors; the second column is that of the size. Source: ScaleGraph.
    """
    limit = most or _REACH * float(model.points[:, 0].max())
    axes = [_spread(model.points[:, 0], min(limit, _REACH * float(model.points[:, 0].max())))]
    if model.size:
        axes.append(_spread(model.points[:, 1], 2 * float(model.points[:, 1].max())))
    found = np.array(list(itertools.product(*axes)), dtype=np.float64)
    return found[found[:, 0] <= limit]


def _spread(values: Floats, most: float) -> list[float]:
    """Return the values, the geometric means of neighbours, and doublings up to *most*.

    Means are rounded to whole numbers if all *values* are whole, otherwise to three digits.
    """
    known = [float(value) for value in np.unique(values)]
    middles = [(a * b) ** 0.5 for a, b in itertools.pairwise(known)]
    between = [float(round(x)) if _all_whole(values) else float(f"{x:.3g}") for x in middles]
    beyond, last = [], known[-1]
    while 2 * last <= most:
        last *= 2
        beyond.append(last)
    return sorted({*known, *between, *beyond})


def advise(
    model: Model,
    target: Sequence[float],
    at: Floats | None = None,
    *,
    cost: Cost = "elapsed",
    host: Mapping[tuple[float, ...], float] | None = None,
    repetitions: float = 1.0,
    most: int | None = None,
    again: bool = True,
) -> list[Advice]:
    """Return what to run next to predict the time at *target* (N, or N and size), best value for its cost first.

    *at* are the candidates (`candidates` if not given); *cost* is elapsed seconds, processor-seconds or, with *host*
    (host seconds of a measured point), what the simulation takes, scaled from the nearest measured point by predicted
    processor time. Candidates that do not narrow the interval by as much as `half_width` shows are left out, and
    without *again* those that were measured (a simulated run says the same every time).

    Shape: one entry for each candidate kept. Unit: as in `Advice`. Source: ScaleGraph.
    """
    rows = candidates(model, most) if at is None else np.asarray(at, dtype=np.float64)
    goal = np.asarray([target], dtype=np.float64)
    value, now = model.time(target), model.interval(target)
    own_low, own_high = Curve.band(model.best.curve, goal)
    if not np.isfinite(now):
        return []
    own = float(own_high[0] - own_low[0]) / value
    seconds = model.best.predict(rows)
    costs = _costs(model, rows, seconds, cost, host or {})
    narrowed = model.best.narrowed(rows, goal, repetitions)
    apart = _apart(model, rows, seconds, repetitions)
    then = narrowed * min(own, now) + max(0.0, now - own) * 2 * scipy.special.ndtr(-apart / 2)
    known = {tuple(point) for point in model.points.tolist()}
    found = [
        Advice(
            int(row[0]),
            model.parameters(row),
            float(seconds[index]),
            float(costs[index]),
            now,
            float(then[index]),
            float(apart[index]),
            tuple(row.tolist()) in known,
        )
        for index, row in enumerate(rows)
        if seconds[index] > 0 and costs[index] > 0
        if then[index] < now and half_width(float(then[index])) != half_width(now)
        if again or tuple(row.tolist()) not in known
    ]
    return sorted(found, key=lambda entry: -entry.worth)


def _apart(model: Model, rows: Floats, seconds: Floats, repetitions: float) -> Floats:
    """Return by how many standard deviations of a measurement the rivals lie outside the best law's band."""
    low, high = model.band(rows)
    own_low, own_high = Curve.band(model.best.curve, rows)
    further = np.maximum(own_low - low, high - own_high)
    noise = max(model.best.curve.noise, _LEAST_NOISE) * seconds / np.sqrt(repetitions)
    wide = np.hypot((own_high - own_low) / 4, noise)  # half a 95 % interval is about two standard deviations
    return np.asarray(np.nan_to_num(np.maximum(further, 0.0) / wide))


def _costs(model: Model, rows: Floats, seconds: Floats, cost: Cost, host: Mapping[tuple[float, ...], float]) -> Floats:
    work = seconds * rows[:, 0]
    if cost == "elapsed":
        return seconds
    if cost == "processor" or not host:
        return work
    known = np.array(list(host), dtype=np.float64)
    spent = np.array(list(host.values()), dtype=np.float64)
    rate = spent / np.maximum(model.best.predict(known) * known[:, 0], 1e-12)
    nearest = np.abs(np.log(rows[:, None, 0]) - np.log(known[None, :, 0])).argmin(axis=1)
    return np.asarray(work * rate[nearest])
