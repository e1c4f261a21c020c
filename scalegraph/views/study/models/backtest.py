"""Back-test: the laws' predictions for the largest N, fitted to the other runs."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.fits import BackTest, fit_laws
from scalegraph.analyze.repetitions import Timed
from scalegraph.base.measures import percent
from scalegraph.base.units import plain, si
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.fitted_models import back_tests
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_NEED = needs.counts("A back-test that hides {counts} needs at least two more processor counts of one problem.")
_TITLE = "Back-test"


def _make(data: StudyData, size: object = None, scaling: object = "auto", hide: object = 1) -> Figure | Need:
    found = back_tests(data, size, scaling, hide)
    timed = fitted_models.times(data, size, scaling)
    if not found or timed is None:
        return _NEED.of(counts=hide)
    places = sorted({test.at for test in found})
    kept = timed.processors < places[0]
    fits = fit_laws(timed.processors[kept], timed.times[kept], scaling=timed.scaling)
    best = next(test for test in found if test.best and test.at == places[-1])
    x = modelling.span(float(timed.processors.min()), float(timed.processors.max()))
    low, high = fits[0].band(x, float(timed.repetitions))
    values = fits[0].predict(x)
    rest = [fit for fit in fits[1:3] if fit.law in fits[0].rivals]
    lines = (
        _points("runs used", timed, kept, "time"),
        _points("runs hidden", timed, ~kept, "ink"),
        Line(
            fits[0].title,
            tuple(x.tolist()),
            tuple(values.tolist()),
            "series:1",
            "predicted",
            *modelling.floor_band(low, high, values),
            style="dashed",
            markers=False,
        ),
        *(
            Line(
                fit.title,
                tuple(x.tolist()),
                tuple(fit.predict(x).tolist()),
                f"series:{2 + i}",
                "predicted",
                style="dashed",
                markers=False,
            )
            for i, fit in enumerate(rest)
        ),
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(best),
        (
            Plot(common.processors_axis([int(n) for n in timed.processors]), Axis("time", "s", scale="log10"), lines),
            _table(found),
        ),
        notes=(
            "Intervals are for the mean of as many new repetitions as were run, if the law holds.",
            "The largest N are hidden from the fit.",
        ),
    )


def _points(name: str, timed: Timed, these: np.ndarray[tuple[int], np.dtype[np.bool_]], role: str) -> Line:
    n, mean = timed.processors[these], timed.mean[these]
    tips = tuple(f"{si(value, 's', 6)} at N = {plain(at)}" for at, value in zip(n, mean, strict=True))
    return Line(
        name,
        tuple(n.tolist()),
        tuple(mean.tolist()),
        role,
        common.origin_of(timed.source),
        style="thin",
        tips=tips,
        processors=tuple(int(at) for at in n),
    )


def _sentence(best: BackTest) -> str:
    way = "more" if best.error > 0 else "less"
    inside = "inside" if best.inside else "outside"
    return (
        f"Without N = {plain(best.at)}, {best.title} would have been chosen; it predicts"
        f" {si(best.predicted, 's')} there,"
        f" {percent(abs(best.error))} {way} than the run's {si(best.measured, 's')}, which is {inside} its"
        " interval."
    )


def _table(found: list[BackTest]) -> Table:
    rows = tuple(
        Row(
            (
                int(test.at),
                test.title,
                test.measured,
                test.predicted,
                100 * test.error,
                known(test.low),
                known(test.high),
                "yes" if test.inside else "no",
            ),
            key=f"{test.law}@{plain(test.at)}",
            tip=test.formula,
        )
        for test in found
    )
    columns = (
        Column("N"),
        Column("law"),
        Column("run", "s"),
        Column("predicted", "s"),
        Column("error", "% of the time run"),
        Column("from", "s"),
        Column("to", "s"),
        Column("inside"),
    )
    return Table(columns, rows)


VIEW = View(
    "back-test",
    _TITLE,
    "Laws fitted without the largest N: their predictions there, and the times of the runs.",
    _make,
    (
        common.SIZE,
        modelling.SCALING,
        Option("hide", "Hide", "int", 1, description="how many of the largest N are hidden", minimum=1),
    ),
    needs=(*modelling.TIMES, _NEED),
    without=True,
)
