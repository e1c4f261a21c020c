"""What the views of models share: the times they are fitted to, the fits, and how they are said and drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from scalegraph.analyze.fits import Fit, fit_laws
from scalegraph.analyze.fits.laws import Scaling
from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.regionmodels import RegionModels, region_models
from scalegraph.analyze.repetitions import Timed, timed, weak_series
from scalegraph.analyze.weak import grown_series
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import significant
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.views import common, ways
from scalegraph.views.data import StudyData
from scalegraph.views.view import Option

Made = TypeVar("Made")
FAR = 4.0  # predictions reach to so many times the largest N

SCALING = Option(
    "scaling",
    "Scaling",
    "choice",
    "auto",
    ("auto", "strong", "weak"),
    description="strong: one problem on all N; weak: the problem grows as N; auto: as the study says, else strong",
)
TARGET = Option(
    "target", "Predict for N", "float", description="otherwise four times the largest N that was run", minimum=1
)
METRIC = Option(
    "metric",
    "Metric",
    "text",
    description="name of a metric of the set; otherwise its time, or its first",
    follows=True,
)
NEED = Need(
    "Laws need times of one problem on two or more processor counts (three give more).",
    ways.ADD_COUNTS,
    record="Measure more of them, and import all of it together.",
)


def remembered(data: StudyData, key: str, make: Callable[[], Made]) -> Made:
    """Return what *make* returns, made once for *data* and *key*: several views show the same fits."""
    if key not in data.memo:
        data.memo[key] = make()
    made: Made = data.memo[key]
    return made


def times(data: StudyData, size: object = None, scaling: object = "auto") -> Timed | None:
    """Return the times that laws are fitted to; None when the study has none.

    Raises:
        InputError: *size* names nothing that was run.

    """
    grows = data.meaning is not None and data.meaning.scaling == "weak"
    kind: Scaling = "weak" if scaling == "weak" or (scaling == "auto" and grows) else "strong"
    series = common.chosen_series(data, size)
    if series is None and kind == "weak" and grows:
        series = grown_series(data.scaling)
    if kind == "weak" and not grows:
        series = weak_series(data.scaling)
    if series is None and scaling == "auto" and not size:
        series = weak_series(data.scaling)
        kind = "weak" if series is not None else kind
    return None if series is None else timed(data.table, series, kind)


def laws(data: StudyData, size: object = None, scaling: object = "auto") -> tuple[Timed, list[Fit]] | None:
    """Return times and the laws fitted to them, best first; None when there is nothing to fit."""

    def make() -> tuple[Timed, list[Fit]] | None:
        found = times(data, size, scaling)
        fits = [] if found is None else fit_laws(found.processors, found.times, scaling=found.scaling)
        return (found, fits) if found is not None and fits else None

    return remembered(data, f"laws {size} {scaling}", make)


def regions(data: StudyData, metric: object = None) -> tuple[RegionModels, str] | None:
    """Return the models of every call path for *metric*, and its name; None when there is nothing to model.

    Raises:
        InputError: there is no such metric.

    """
    measured = data.measured
    if measured is None or not measured.metrics:
        return None
    names = [entry.name for entry in measured.metrics]
    if metric:
        chosen = str(metric)
        if chosen not in names:
            raise InputError(
                Fault(f"no metric '{chosen}'{near(chosen, names)}; known: {', '.join(names)}", key="metric")
            )
    else:
        told = data.meaning.time if data.meaning is not None else ""
        times_there = [entry.name for entry in measured.metrics if entry.kind == "time"]
        chosen = told if told in names else (times_there or names)[0]
    found = remembered(data, f"regions {chosen}", lambda: region_models(measured, data.meaning, [chosen]))
    return None if found is None else (found, chosen)


def no_laws(view: str, title: str, data: StudyData, need: str | Need = NEED) -> Figure:
    """Return the empty state of a view of laws: what is missing, and how to get it."""
    if data.table.empty and data.measured is not None:
        text = (
            "Laws are over processor counts and elapsed time, which nothing of this set is known to be:"
            " say so when it is imported. Models of regions are over its parameters as they are."
        )
        return Figure(view, title, empty=text)
    return common.empty(view, title, data, need)


def target_of(points: Floats, target: object, processors: int | None) -> Floats:
    """Return the point that is predicted: the largest of every parameter, *processors* (a column) at *target*."""
    place = points.max(axis=0).copy()
    column = 0 if processors is None else processors
    place[column] = float(str(target)) if target else FAR * place[column]
    return np.asarray(place)


def span(low: float, high: float, count: int = 49) -> Floats:
    """Return places from *low* to *high*, evenly in logarithms."""
    return np.geomspace(low, high, count)


def interval(low: float, high: float, digits: int = 3) -> str:
    """Return an interval for people: ``0.1 to 0.2``; an end that is not bounded is said so."""
    ends = ["unbounded" if not math.isfinite(end) else significant(end, digits) for end in (low, high)]
    return f"{ends[0]} to {ends[1]}"


def floor_band(low: Floats, high: Floats, values: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return a band as a curve's low and high; none when it has no bounds. Times are above 0."""
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return (), ()
    least = 1e-3 * float(np.abs(values[np.isfinite(values)]).min(initial=np.inf))
    return tuple(np.maximum(low, least).tolist()), tuple(high.tolist())
