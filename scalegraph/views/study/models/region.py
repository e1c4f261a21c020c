"""The model of one call path over one parameter, with its band and rivals."""

from __future__ import annotations

from typing import Literal

import numpy as np

from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.fits.terms import columns_at
from scalegraph.analyze.regionmodels import RegionModels
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.measures import percent
from scalegraph.base.units import assigned, plain, significant
from scalegraph.figures.figure import Axis, Figure, Line, Origin, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.fitted_models import processors_column
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.models import modelling
from scalegraph.views.study.models.regions import NEED
from scalegraph.views.view import View

_NO_MODEL = Need("'{path}' has no values of {metric} at three or more different points, so there is no model of it.")
_TITLE = "Model of a call path"
_RIVALS = 2


def _make(
    data: StudyData, call_path: object = None, metric: object = None, over: object = None, target: object = None
) -> Figure | Need:
    found = fitted_models.regions(data, metric)
    if found is None:
        return NEED
    made, name = found
    index = _series(made, data, call_path)
    if index is None:
        return _NO_MODEL.of(path=call_path, metric=name)
    column = _column(made, over, processors_column(data, made))
    points = made.source.points
    far = float(str(target)) if target else fitted_models.FAR * float(points[:, column].max())
    held = _held(made, index, column)
    places = np.tile(held, (49, 1))
    places[:, column] = modelling.span(float(points[:, column].min()), max(far, float(points[:, column].max())))
    parameter = made.source.parameters[column]
    counts = column == processors_column(data, made)
    x = Axis("processors N" if counts else parameter, scale="log2")
    pairs = zip(made.source.parameters, held, strict=True)
    others = assigned(pair for i, pair in enumerate(pairs) if i != column)
    models = made.models
    end = np.array(held)
    end[column] = far
    low, high = models[index].band(end[None])
    value = float(models[index].predict(end[None])[0])
    unit = made.units[index]
    y = Axis(name, unit, scale=_scale(made, index))
    words = f"{significant(value)} {unit}".rstrip()
    sentence = (
        f"{made.names[index]}: {models.formula(index)}; at {parameter} = {plain(far)} it gives {words}"
        f" ({modelling.interval(float(low[0]), float(high[0]))}). {models[index].doubt or models[index].settled}"
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (Plot(x, y, _lines(made, index, column, held, places, counts=counts, origin=common.data_origin(data))),),
        notes=tuple(
            note
            for note in (
                f"Shown for {others}." if others else "",
                *made.source.notes,
                f"The band is the {percent(models.confidence)} interval, plausible rivals included.",
                f"Error of left-out points: {percent(float(models.cv_error[index]))}.",
            )
            if note
        ),
        meta={"call_path": str(int(made.source.call_path[index]))},
    )


def _series(made: RegionModels, data: StudyData, path: object) -> int | None:
    """Return the series of *path* (a name, the end of a name, or ``path:`` and a number), else the dominant one.

    None when the set has the call path, but there is no model of it.

    Raises:
        InputError: there is no such call path.

    """
    if not path:
        share = made.shares(fitted_models.target_of(made.source.points, None, processors_column(data, made)))
        inner = np.where(np.array(made.roots) & (len(made.models) > 1), -1.0, np.nan_to_num(share, nan=0.0))
        return int(np.argmax(inner))
    wanted = str(path)
    for index, name in enumerate(made.names):
        if wanted in (name, f"path:{int(made.source.call_path[index])}"):
            return index
    ends = [index for index, name in enumerate(made.names) if name.endswith(f"->{wanted}")]
    if len(ends) == 1:
        return ends[0]
    if data.measured is not None and wanted in data.measured.paths:
        return None
    raise InputError(Fault(f"no call path '{wanted}'{near(wanted, made.names)}", key="call_path"))


def _column(made: RegionModels, over: object, processors: int | None) -> int:
    if not over:
        return processors or 0
    names = made.source.parameters
    if str(over) not in names:
        raise InputError(Fault(f"no parameter '{over}'{near(str(over), names)}; known: {', '.join(names)}", key="over"))
    return names.index(str(over))


def _held(made: RegionModels, index: int, column: int) -> Floats:
    """Return the values of the other parameters at which the series has most points; ties go to the largest."""
    known = np.isfinite(made.source.values[index]).any(axis=1)
    points = made.source.points[known]
    others = np.delete(points, column, axis=1)
    places, count = np.unique(others, axis=0, return_counts=True)
    best = places[np.flatnonzero(count == count.max())[-1]]
    return np.insert(best, column, points[:, column].max())


def _scale(made: RegionModels, index: int) -> Literal["log10", "linear"]:
    return "log10" if np.nanmin(made.source.values[index]) > 0 else "linear"


def _lines(
    made: RegionModels, index: int, column: int, held: Floats, places: Floats, *, counts: bool, origin: Origin
) -> tuple[Line, ...]:
    points, values = made.source.points, made.source.values[index]
    others = np.delete(points, column, axis=1)
    here = (others == np.delete(held, column)).all(axis=1) & np.isfinite(values).any(axis=1)
    order = np.argsort(points[here, column])
    x, there = points[here, column][order], values[here][order]
    mean, low, high = np.nanmean(there, axis=1), np.nanmin(there, axis=1), np.nanmax(there, axis=1)
    repeated = bool((np.isfinite(there).sum(axis=1) > 1).any())
    values_there = Line(
        "values",
        tuple(x.tolist()),
        tuple(mean.tolist()),
        "time",
        origin,
        tuple(low.tolist()) if repeated else (),
        tuple(high.tolist()) if repeated else (),
        style="thin",
        processors=tuple(int(n) for n in x) if counts else (),
    )
    fit = made.models[index]
    at = tuple(places[:, column].tolist())
    band_low, band_high = fit.band(places)
    predicted = fit.predict(places)
    ends = (
        ((), ()) if not np.isfinite(band_low + band_high).all() else (_positive(band_low, values), band_high.tolist())
    )
    lines = [
        values_there,
        Line(
            fit.title,
            at,
            tuple(predicted.tolist()),
            "series:1",
            "predicted",
            tuple(ends[0]),
            tuple(ends[1]),
            style="dashed",
            markers=False,
        ),
    ]
    models = made.models
    for number, rank in enumerate(np.flatnonzero(models.plausible[index])[1 : 1 + _RIVALS]):
        hypothesis = models.space[int(models.which[index, rank])]
        theta = models.theta[index, rank, : len(hypothesis) + 1]
        curve = columns_at(hypothesis, places) @ theta
        text = models.term_text(index, int(rank))
        role = f"series:{2 + number}"
        lines.append(Line(text, at, tuple(curve.tolist()), role, "predicted", style="dashed", markers=False))
    return tuple(lines)


def _positive(low: Floats, values: Floats) -> list[float]:
    """Return the lower edge of a band, clipped to stay positive, so that it shows on a logarithmic axis."""
    least = float(np.nanmin(values))
    kept: list[float] = (np.maximum(low, 1e-3 * least) if least > 0 else low).tolist()
    return kept


VIEW = View(
    "region-model",
    _TITLE,
    "One call path over one parameter: values, model, band, and the rivals that the points do not exclude.",
    _make,
    (
        Option(
            "call_path",
            "Call path",
            "text",
            description="its name or the end of it; otherwise the one that dominates",
            follows=True,
        ),
        modelling.METRIC,
        Option("over", "Over", "text", description="the parameter across; otherwise processors, or the first"),
        Option("target", "Predict up to", "float", description="otherwise four times the largest value", minimum=0.0),
    ),
    needs=(*needs.RUNS_OR_SET, NEED, _NO_MODEL),
    without=True,
)
