"""How fast the problem must grow with N to keep an efficiency, and which order that is."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.bounds import WAY_WORDS
from scalegraph.analyze.fits import Isoefficiency, isoefficiency_order
from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.matrix import Matrix
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import EVIDENCE, Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.palette import rivals
from scalegraph.views import common, needs
from scalegraph.views.data import StudyData
from scalegraph.views.study.models import modelling
from scalegraph.views.study.scalability import matrices
from scalegraph.views.view import View

_TITLE = "Isoefficiency order"


def order_of(data: StudyData, efficiency: object = None) -> tuple[Matrix, Floats, Floats, Isoefficiency] | None:
    """Return the matrix at *efficiency*, N and W of the counts that reach it, and the order; None for too few."""
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


def _make(data: StudyData, efficiency: object = None) -> Figure:
    found = order_of(data, efficiency)
    if found is None:
        text = "An order needs the size that reaches one efficiency on two or more processor counts."
        return modelling.no_laws("isoefficiency", _TITLE, data, needs.sizes(text, "efficiency"))
    made, n, work, judged = found
    ways = [made.anchors[int(count)].way for count in n]
    tips = tuple(
        f"W = {si(value, made.work_unit, 6)} at N = {count:g}, {WAY_WORDS.get(way, way)}"
        for count, value, way in zip(n, work, ways, strict=True)
    )
    points = Line(
        f"E = {made.target:g}", tuple(n.tolist()), tuple(work.tolist()), "efficiency", "computed",
        style="thin", tips=tips, processors=tuple(int(count) for count in n),
    )  # fmt: skip
    x = modelling.span(float(n.min()), modelling.FAR * float(n.max()))
    curves = tuple(
        Line(entry.order, tuple(x.tolist()), tuple(entry.predict(x).tolist()), role, "predicted",
             style="dashed", markers=False)
        for role, entry in zip(rivals("efficiency"), [one for one in judged.orders if one.plausible][:3], strict=False)
    )  # fmt: skip
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
    table = Table(
        (
            Column("order"),
            Column("factor"),
            Column("departure", "% of the work"),
            Column("evidence", EVIDENCE, "busy"),
            Column("plausible"),
        ),
        rows,
    )
    return Figure(
        "isoefficiency",
        f"{_TITLE}: {common.study_title(data)}",
        f"To keep E = {made.target:g}: {judged.sentence}",
        (
            Plot(
                common.processors_axis([int(count) for count in n]),
                Axis("work W", made.work_unit, scale="log10"),
                (points, *curves),
            ),
            table,
        ),
        notes=(
            "W is that of the least size that reaches the efficiency: run, or interpolated between runs.",
            "Departure: standard deviation of ln W around the order.",
        ),
    )


VIEW = View(
    "isoefficiency",
    _TITLE,
    "Models",
    "The work that keeps an efficiency over N, and the order in which it must grow.",
    _make,
    (matrices.EFFICIENCY,),
    order=350,
)
