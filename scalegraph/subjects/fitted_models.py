"""Laws and models fitted to a study, computed once and shared by views of models and quantities."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.fits import BackTest, Fit, Isoefficiency, back_test, fit_laws, isoefficiency_order
from scalegraph.analyze.fits.laws import Scaling
from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.matrix import Matrix
from scalegraph.analyze.regionmodels import RegionModels, region_models
from scalegraph.analyze.repetitions import Timed, timed, weak_series
from scalegraph.analyze.weak import grown_series
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.subjects import fitted_models, matrices
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData

FAR = 4.0  # predictions extend to this multiple of the largest N


def times(data: StudyData, size: object = None, scaling: object = "auto") -> Timed | None:
    """Return the times that laws are fitted to; None when the study has none.

    Raises:
        InputError: *size* names nothing that was run.

    """
    grows = data.meaning is not None and data.meaning.scaling == "weak"
    kind: Scaling = "weak" if scaling == "weak" or (scaling == "auto" and grows) else "strong"
    series = series_.chosen_series(data, size)
    if series is None and kind == "weak" and grows:
        series = grown_series(data.one_program)
    if kind == "weak" and not grows:
        series = weak_series(data.one_program)
    if series is None and scaling == "auto" and not size:
        series = weak_series(data.one_program)
        kind = "weak" if series is not None else kind
    return None if series is None else timed(data.table, series, kind)


def laws(data: StudyData, size: object = None, scaling: object = "auto") -> tuple[Timed, list[Fit]] | None:
    """Return times and the laws fitted to them, best first; None when there is nothing to fit."""

    def make() -> tuple[Timed, list[Fit]] | None:
        found = times(data, size, scaling)
        fits = [] if found is None else fit_laws(found.processors, found.times, scaling=found.scaling)
        return (found, fits) if found is not None and fits else None

    return data.once(f"laws {size} {scaling}", make)


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
        reported = data.meaning.time if data.meaning is not None else ""
        times_there = [entry.name for entry in measured.metrics if entry.kind == "time"]
        chosen = reported if reported in names else (times_there or names)[0]
    found = data.once(f"regions {chosen}", lambda: region_models(measured, data.meaning, [chosen]))
    return None if found is None else (found, chosen)


def target_of(points: Floats, target: object, processors: int | None) -> Floats:
    """Return the point to predict: the largest value of every parameter, with *target* for *processors* (a column)."""
    place = points.max(axis=0).copy()
    column = 0 if processors is None else processors
    place[column] = float(str(target)) if target else FAR * place[column]
    return np.asarray(place)


def order_of(data: StudyData, efficiency: object = None) -> tuple[Matrix, Floats, Floats, Isoefficiency] | None:
    """Return the matrix at *efficiency*, N and W of the counts that reach it, and the order; None if too few do."""
    target = None if efficiency is None else float(str(efficiency))
    made = matrices.matrix(data, "efficiency", target=target)
    if made is None:
        return None
    known = [(n, a.work) for n, a in made.anchors.items() if a.known and a.work is not None and n > 1]
    n, work = (
        (np.array(column, dtype=np.float64) for column in zip(*known, strict=True)) if known else (np.empty(0),) * 2
    )
    found = isoefficiency_order(n, work)
    return None if found is None else (made, n, work, found)


def processors_column(data: StudyData, made: RegionModels) -> int | None:
    """Return the parameter of the models that counts processors."""
    name = data.meaning.processors if data.meaning is not None else ""
    return made.source.parameters.index(name) if name in made.source.parameters else None


def back_tests(data: StudyData, size: object = None, scaling: object = "auto", hide: object = 1) -> list[BackTest]:
    """Return the back-test of the laws; empty if too few points would be left."""
    timed = fitted_models.times(data, size, scaling)
    if timed is None or len(timed.processors) - int(str(hide)) < 2:
        return []
    return back_test(timed.processors, timed.times, hide=int(str(hide)), scaling=timed.scaling)
