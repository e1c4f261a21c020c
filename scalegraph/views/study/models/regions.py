"""A performance model of every call path, sorted by what dominates at a target."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze.fits.noise import Floats, Indices
from scalegraph.analyze.regionmodels import RegionModels
from scalegraph.base.measures import percent
from scalegraph.base.units import assigned
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.fitted_models import processors_column
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_TITLE = "Models of regions"
NEED = needs.counts("Models need values of call paths at three or more different processor counts or sizes.")


def _make(data: StudyData, metric: object = None, target: object = None, rows: object = 200) -> Figure | Need:
    found = fitted_models.regions(data, metric)
    if found is None:
        return NEED
    made, name = found
    place = fitted_models.target_of(made.source.points, target, processors_column(data, made))
    here = made.source.points.max(axis=0)
    then, now = made.shares(place), made.shares(here)
    value = made.models.predict(place[None])[:, 0]
    order = np.argsort(-np.nan_to_num(np.where(np.isfinite(then), then, value), nan=-np.inf), kind="stable")
    shown = order[: int(str(rows))]
    table = Table(
        _columns(made),
        tuple(_row(made, int(i), float(value[i]), float(now[i]), float(then[i])) for i in shown),
    )
    decided = int(made.models.decided.sum())
    notes = [
        *made.source.notes,
        f"{len(made.models)} models of {name}; the points decide {decided}, up to {_place(made, made.models.far)}.",
        f"Now: at {_place(made, here)}; then: at {_place(made, place)}. Shares: of the whole program, by the models.",
        "Error: each point's, if predicted from the others.",
    ]
    if len(order) > len(shown):
        notes.append(f"Only the {len(shown)} with the most weight are shown.")
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(made, order, now, then, place),
        (table,),
        notes=tuple(notes),
    )


def _place(made: RegionModels, at: Floats) -> str:
    return assigned(zip(made.source.parameters, at, strict=True))


def _columns(made: RegionModels) -> tuple[Column, ...]:
    unit = made.units[0] if len(set(made.units)) == 1 else ""
    whole = f"% of all {made.metrics[0]}" if len(set(made.metrics)) == 1 else "% of the metric's whole"
    return (
        Column("call path"),
        Column("model"),
        Column("order"),
        Column("share now", whole, "muted"),
        Column("share then", whole, "mark"),
        Column("value then", unit),
        Column("error", "% of the values"),
        Column("decided"),
    )


def _row(made: RegionModels, index: int, value: float, now: float, then: float) -> Row:
    models = made.models
    doubt = models.doubt(index)
    return Row(
        (
            made.names[index],
            models.formula(index),
            models.growth(index),
            known(now, 100),
            known(then, 100),
            value if math.isfinite(value) else None,
            100 * float(models.cv_error[index]),
            "no" if doubt else "yes",
        ),
        key=f"path:{int(made.source.call_path[index])}",
        tip=f"{made.names[index]}: {models.formula(index)}\n{doubt}".rstrip(),
    )


def _sentence(made: RegionModels, order: Indices, now: Floats, then: Floats, place: Floats) -> str:
    parts = [int(i) for i in order if not (made.roots[int(i)] and len(order) > 1)] or [int(order[0])]
    first = parts[0]
    share = float(then[first])
    text = f"At {_place(made, place)}"
    if not math.isfinite(share) or len(order) == 1:
        growth = made.models.growth(first)
        way = "does not change" if growth == "1" else f"grows as {growth}"
        return f"{made.names[first]} {way}. {made.models.doubt(first)}".rstrip()
    change = f"{percent(share)} (now {percent(float(now[first]))})"
    text += f" {made.names[first]} has the largest share of all {made.metrics[first]}, {change}"
    growth = made.models.growth(first)
    text += f", growing as {growth}" if growth != "1" else ""
    doubt = made.models.doubt(first)
    return f"{text}. {doubt}".rstrip()


VIEW = View(
    "region-models",
    _TITLE,
    "A performance model of every call path, and which of them dominates on more processors.",
    _make,
    (
        modelling.METRIC,
        modelling.TARGET,
        Option("rows", "Rows", "int", 200, description="how many call paths are shown", minimum=1),
    ),
    needs=(*needs.RUNS_OR_SET, NEED),
    without=True,
)
