"""Isoefficiency order: how fast the problem must grow with N to keep an efficiency."""

from __future__ import annotations

from scalegraph.analyze.bounds import WAY_WORDS
from scalegraph.analyze.fits import Isoefficiency
from scalegraph.base.units import plain, si, significant
from scalegraph.figures.figure import EVIDENCE, Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.palette import rivals
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models, matrices
from scalegraph.subjects.fitted_models import order_of
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_NEED = needs.sizes(
    "An order needs the size that reaches one efficiency on two or more processor counts.", "efficiency"
)
_TITLE = "Isoefficiency order"


def _make(data: StudyData, efficiency: object = None) -> Figure | Need:
    found = order_of(data, efficiency)
    if found is None:
        return _NEED
    made, n, work, judged = found
    ways = [made.anchors[int(count)].way for count in n]
    tips = tuple(
        f"work {si(value, made.work_unit, 6)} at N = {plain(count)}, {WAY_WORDS.get(way, way)}"
        for count, value, way in zip(n, work, ways, strict=True)
    )
    points = Line(
        f"E = {plain(made.target)}",
        tuple(n.tolist()),
        tuple(work.tolist()),
        "efficiency",
        "computed",
        style="thin",
        tips=tips,
        processors=tuple(int(count) for count in n),
    )
    x = modelling.span(float(n.min()), fitted_models.FAR * float(n.max()))
    curves = tuple(
        Line(
            entry.order,
            tuple(x.tolist()),
            tuple(entry.predict(x).tolist()),
            role,
            "predicted",
            style="dashed",
            markers=False,
        )
        for role, entry in zip(rivals("efficiency"), [one for one in judged.orders if one.plausible][:3], strict=False)
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"To keep E = {plain(made.target)}: {judged.sentence}",
        (
            Plot(
                common.processors_axis([int(count) for count in n]),
                Axis("work W", made.work_unit, scale="log10"),
                (points, *curves),
            ),
            _table(judged),
        ),
        notes=(
            common.work_note(data),
            "It is the work of the smallest size that reaches the efficiency: run, or interpolated between runs.",
            "Departure: standard deviation of ln W around the order.",
        ),
    )


def _table(judged: Isoefficiency) -> Table:
    columns = (
        Column("order"),
        Column("factor"),
        Column("departure", "% of the work"),
        Column("evidence", EVIDENCE, "busy"),
        Column("plausible"),
    )
    rows = tuple(
        Row(
            (
                order.order,
                significant(order.factor, 4),
                100 * order.error,
                100 * order.weight,
                "yes" if order.plausible else "no",
            )
        )
        for order in judged.orders
    )
    return Table(columns, rows)


VIEW = View(
    "isoefficiency",
    _TITLE,
    "The work that keeps an efficiency over N, and its order of growth.",
    _make,
    (matrices.EFFICIENCY,),
    group="Models",
    order=350,
    needs=(*modelling.TIMES, _NEED),
    without=True,
)
