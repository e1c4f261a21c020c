"""All laws fitted to the times of one problem, side by side."""

from __future__ import annotations

import math

from scalegraph.analyze.fits import Fit
from scalegraph.analyze.fits.fit import Coefficient
from scalegraph.analyze.fits.select import ALIKE, differ
from scalegraph.base.measures import percent
from scalegraph.base.units import plain, significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import EVIDENCE, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_TITLE = "Laws"


def _make(data: StudyData, size: object = None, scaling: object = "auto", target: object = None) -> Figure | Need:
    found = fitted_models.laws(data, size, scaling)
    if found is None:
        return modelling.NEED
    timed, fits = found
    far = float(str(target)) if target else fitted_models.FAR * float(timed.processors.max())
    best = fits[0]
    rivals = ", ".join(fit.title for fit in fits if fit.law in best.rivals)
    sentence = f"{best.title} explains the times best. {best.doubt}".rstrip()
    if not best.judged:
        sentence = best.doubt
    elif not best.doubt:
        sentence += (
            f" Equally plausible, and close to it up to N = {plain(far)}: {rivals}."
            if rivals
            else " No other law is plausible."
        )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (_table(fits, far), _numbers(fits)),
        notes=(
            "Error: each point's, if predicted from the others. Evidence: Akaike weight among these laws.",
            "A further coefficient counts only if it is significant at 5 %.",
            f"Intervals hold with {percent(best.curve.confidence)} if the law holds.",
        ),
    )


def _table(fits: list[Fit], far: float) -> Table:
    columns = (
        Column("law"),
        Column("verdict"),
        Column("T(N) in s"),
        Column("order"),
        Column("error", "% of the time run", "mark"),
        Column("adjusted R²"),
        Column("evidence", EVIDENCE, "busy"),
        Column(f"T({plain(far)})", "s"),
        Column("from", "s"),
        Column("to", "s"),
    )
    return Table(columns, tuple(_row(fit, fits[0], far) for fit in fits))


def _row(fit: Fit, best: Fit, far: float) -> Row:
    low, high = fit.band([far]) if fit.judged else ([math.nan], [math.nan])
    return Row(
        (
            fit.title,
            _verdict(fit, best, far),
            fit.formula.removeprefix("T(N) = "),
            fit.growth,
            100 * fit.cv_error,
            known(fit.adjusted_r2),
            100 * fit.weight,
            known(fit.predict([far])[0]),
            known(low[0]),
            known(high[0]),
        ),
        key=fit.law,
        tip=f"{fit.title}: {fit.formula}\n{fit.doubt}".rstrip(),
    )


def _verdict(fit: Fit, best: Fit, far: float) -> str:
    if not fit.judged:
        return "open"
    if fit is best or fit.law in best.rivals:
        return "best" if fit is best else "plausible"
    alike = float(differ(fit.predict([far]), best.predict([far]))[0]) <= ALIKE
    return "no better" if alike and len(fit.curve.theta) > len(best.curve.theta) else "contradicted"


def _numbers(fits: list[Fit]) -> Table:
    rows = []
    for fit in fits:
        rows.append(Row((fit.title, "", "", "", ""), key=fit.law))
        rows.extend(
            Row(
                (entry.name, *(_text(v) for v in _interval(fit, entry)), entry.meaning),
                1,
                f"{fit.law}.{entry.name}",
                f"{entry.name}: {entry.meaning}",
            )
            for entry in fit.coefficients
        )
    return Table((Column("number"), Column("value"), Column("from"), Column("to"), Column("meaning")), tuple(rows))


def _interval(fit: Fit, entry: Coefficient) -> tuple[float, float, float]:
    return (entry.value, entry.low, entry.high) if fit.judged else (entry.value, -math.inf, math.inf)


def _text(value: float) -> str:
    return significant(value, 4) if math.isfinite(value) else "unbounded"


VIEW = View(
    "laws",
    _TITLE,
    "All laws side by side: formula, error, evidence, prediction, and every number with its interval.",
    _make,
    (common.SIZE, modelling.SCALING, modelling.TARGET),
    needs=(*modelling.TIMES, modelling.NEED),
    without=True,
)
