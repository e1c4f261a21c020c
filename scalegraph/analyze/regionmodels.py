"""Performance models of every call path and metric of a measurement set, and the dominant ones at a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.fits import Models, fit_models
from scalegraph.analyze.fits.noise import Floats, Indices
from scalegraph.base.units import assigned
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import MeasurementSet

# With more call paths, intervals of coefficients use Student's t instead of the slower bootstrap.
_BOOTSTRAPPED = 2000
LEAST_POINTS = 3  # parameters with fewer different values are not modelled


@dataclass(frozen=True)
class ModelInput:
    """Series for `fit_models`: *points* (points, parameters), *values* (series, points, repetitions), NaN if missing.

    *call_path* and *metric* are the positions of each series in the set. *fixed* holds the parameters left out, with
    the value whose points were used; *notes* say what was left out.
    """

    parameters: tuple[str, ...]
    points: Floats
    values: Floats
    call_path: Indices
    metric: Indices
    fixed: dict[str, object]
    notes: tuple[str, ...] = ()


def model_input(
    measured: MeasurementSet, meaning: Mapping | None, metrics: Sequence[str] | None = None
) -> ModelInput | None:
    """Return the series of *metrics* (default all) over up to three parameters; None if no parameter varies enough.

    Numeric parameters with three or more different values are used, processors first, then sizes, then the rest. Other
    parameters are fixed at the value with most points. Points with a parameter of 0 or less are left out.

    Shape: `values` is (series, points, repetitions). Unit: that of each metric. Source: Extra-P (Calotoiu and others
    2013).
    """
    chosen, rows, fixed = _parameters(measured, meaning)
    if not chosen:
        return None
    numeric = rows[list(chosen)].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    positive = np.isfinite(numeric).all(axis=1) & (numeric > 0).all(axis=1)
    notes = (
        [] if positive.all() else [f"{int((~positive).sum())} points have a parameter of 0 or less and are left out."]
    )
    if fixed:
        notes.append(f"Only the points with {assigned(fixed.items())} are used.")
    places, point_of = np.unique(numeric[positive], axis=0, return_inverse=True)
    if len(places) < LEAST_POINTS:
        return None
    place = np.full(int(max(measured.points.index.max(), 0)) + 1, -1, dtype=np.int64)
    place[rows.index.to_numpy()[positive]] = point_of.ravel()
    wanted = range(len(measured.metrics)) if metrics is None else [measured.metric(name) for name in metrics]
    return _cube(measured, chosen, places, place, list(wanted), fixed, tuple(notes))


def _parameters(
    measured: MeasurementSet, meaning: Mapping | None
) -> tuple[tuple[str, ...], pd.DataFrame, dict[str, object]]:
    """Return the parameters to model, the points to use, and the values of the fixed parameters."""
    rows = measured.points
    processors = meaning.processors if meaning else ""
    sizes = meaning.sizes if meaning else ()
    order = [name for name in (processors, *sizes, *measured.parameters) if name in measured.parameters]
    varying = []
    for name in dict.fromkeys(order):
        numbers = pd.to_numeric(rows[name], errors="coerce")
        if numbers.notna().all() and numbers[numbers > 0].nunique() >= LEAST_POINTS:
            varying.append(name)
    chosen = tuple(varying[:3])
    fixed: dict[str, object] = {}
    for name in measured.parameters:
        if name not in chosen and _varies(rows[name]):
            value = rows[name].value_counts().index[0]
            fixed[name] = value
            rows = rows[rows[name] == value]
    still = tuple(name for name in chosen if pd.to_numeric(rows[name]).nunique() >= LEAST_POINTS)
    for name in chosen:
        if name not in still and _varies(rows[name]):
            value = rows[name].value_counts().index[0]
            fixed[name] = value
            rows = rows[rows[name] == value]
    return still, rows, fixed


def _varies(values: pd.Series) -> bool:
    return len(set(values)) > 1


def _cube(
    measured: MeasurementSet,
    parameters: tuple[str, ...],
    points: Floats,
    place: Indices,
    metrics: list[int],
    fixed: dict[str, object],
    notes: tuple[str, ...],
) -> ModelInput | None:
    values = measured.values
    at = place[values["point"].to_numpy()]
    metric = values["metric"].to_numpy(dtype=np.int64)
    good = (at >= 0) & np.isin(metric, metrics) & np.isfinite(values["value"].to_numpy())
    path = values["call_path"].to_numpy(dtype=np.int64)[good]
    at, metric, number = at[good], metric[good], values["value"].to_numpy(dtype=np.float64)[good]
    if not len(number):
        return None
    many = len(measured.metrics)
    pairs, series = np.unique(path * many + metric, return_inverse=True)
    cell = series.ravel() * len(points) + at
    # values of the same cell are repetitions, whatever their number in the file: points may have been merged
    order = np.argsort(cell, kind="stable")
    ranked = cell[order]
    start = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    repetition = np.arange(len(ranked)) - np.repeat(start, np.diff(np.r_[start, len(ranked)]))
    cube = np.full((len(pairs) * len(points), int(repetition.max()) + 1), np.nan)
    cube[ranked, repetition] = number[order]
    shaped = cube.reshape(len(pairs), len(points), -1)
    covered = np.isfinite(shaped).any(axis=2).sum(axis=1)
    kept = covered >= LEAST_POINTS
    if not kept.any():
        return None
    if not kept.all():
        notes = (
            *notes,
            f"{int((~kept).sum())} of {len(kept)} call paths have values at fewer than {LEAST_POINTS} points.",
        )
    return ModelInput(parameters, points, shaped[kept], pairs[kept] // many, pairs[kept] % many, fixed, notes)


@dataclass(frozen=True)
class RegionModels:
    """Models of all series of a set. *names* are the full call paths, *metrics* the metrics of the series."""

    source: ModelInput
    models: Models
    names: tuple[str, ...]
    metrics: tuple[str, ...]
    units: tuple[str, ...]
    inclusive: tuple[bool, ...]
    roots: tuple[bool, ...]

    def shares(self, target: Floats) -> Floats:
        """Return the share of each series in the program at *target* (parameters,), NaN if unknown.

        For exclusive metrics the whole is the sum over all call paths; for inclusive ones, over the roots.

        Shape: (series,). Unit: none (share). Source: Extra-P (Calotoiu and others 2013).
        """
        value = np.maximum(self.models.predict(np.asarray(target)[None])[:, 0], 0.0)
        result = np.full(len(value), np.nan)
        metrics = np.array(self.metrics)
        for metric in dict.fromkeys(self.metrics):
            part = metrics == metric
            whole = part & (np.array(self.roots) | ~np.array(self.inclusive))
            total = float(value[whole].sum())
            if total > 0:
                result[part] = value[part] / total
        return result


def region_models(
    measured: MeasurementSet, meaning: Mapping | None, metrics: Sequence[str] | None = None, *, confidence: float = 0.95
) -> RegionModels | None:
    """Return the models of *metrics* (default all) at every call path; None if there is nothing to model.

    Shape: one model for each call path and metric. Unit: that of each metric. Source: `fits.fit_models`.
    """
    source = model_input(measured, meaning, metrics)
    if source is None:
        return None
    models = fit_models(
        source.points,
        source.values,
        parameters=source.parameters,
        confidence=confidence,
        bootstrap=len(source.values) <= _BOOTSTRAPPED,
    )
    described = [measured.metrics[index] for index in source.metric]
    return RegionModels(
        source,
        models,
        tuple(measured.paths[index] for index in source.call_path),
        tuple(metric.name for metric in described),
        tuple(metric.unit for metric in described),
        tuple(metric.extent == "inclusive" for metric in described),
        tuple(measured.call_paths[index].parent is None for index in source.call_path),
    )
