"""Times over N and the laws fitted to them, extrapolated beyond the largest N run."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze.fits import Fit
from scalegraph.analyze.fits.laws import LAWS
from scalegraph.analyze.fits.noise import Floats
from scalegraph.analyze.repetitions import Timed
from scalegraph.base.measures import exact, percent
from scalegraph.base.units import plain, si, significant, thousands
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_NOT_FITTED = Need("{law} cannot be fitted to these {points} points; these can: {known}.")
_TITLE = "Fit and prediction"
_RIVALS = 2
_ROLES = ("series:1", "series:2", "series:3", "series:4")


def _make(
    data: StudyData,
    size: object = None,
    scaling: object = "auto",
    law: object = "best",
    quantity: object = "time",
    target: object = None,
) -> Figure | Need:
    found = fitted_models.laws(data, size, scaling)
    if found is None:
        return modelling.NEED
    timed, fits = found
    chosen = next((fit for fit in fits if fit.law == law), None) if law != "best" else fits[0]
    if chosen is None:
        known = ", ".join(fit.law for fit in fits)
        return _NOT_FITTED.of(law=LAWS[str(law)].title, points=len(timed.processors), known=known)
    rivals = (fit for fit in fits if fit is not chosen and (fit.law in fits[0].rivals or not fit.judged))
    shown = [chosen, *rivals][: 1 + _RIVALS]
    last = float(timed.processors.max())
    far = float(str(target)) if target else fitted_models.FAR * last
    places = modelling.span(float(timed.processors.min()), max(far, last))
    speedup = quantity == "speedup"
    one = _one(timed, chosen) if speedup else 0.0
    lines = [
        _measured(timed, one),
        *(
            _law(fit, places, role, one, band=fit is chosen and fit.judged)
            for fit, role in zip(shown, _ROLES, strict=False)
        ),
    ]
    unit = "" if speedup else "s"
    words = ("scaled speedup N T(1)/T(N)" if timed.scaling == "weak" else "speedup T(1)/T(N)") if speedup else "time"
    counts = [int(n) for n in timed.processors]
    axis = common.processors_axis([*counts, *_further(counts, far)])
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(chosen, far),
        (
            Plot(
                axis,
                Axis(words, unit, scale="log10" if not speedup else "log2"),
                tuple(lines),
                marks=_marks(chosen, one),
            ),
        ),
        notes=_notes(chosen, timed, fits),
    )


def _one(timed: Timed, fit: Fit) -> float:
    """Return T(1): from the run if there is one, else from the law."""
    at = np.flatnonzero(timed.processors == 1)
    return float(timed.mean[at[0]]) if len(at) else float(fit.predict([1.0])[0])


def _speedup(times: Floats, places: Floats, one: float, weak: bool) -> Floats:
    with np.errstate(all="ignore"):
        return np.asarray((places if weak else 1.0) * one / times)


def _measured(timed: Timed, one: float) -> Line:
    mean, low, high = timed.mean, np.nanmin(timed.times, axis=1), np.nanmax(timed.times, axis=1)
    weak = timed.scaling == "weak"
    if one:
        mean, low, high = (_speedup(part, timed.processors, one, weak) for part in (mean, high, low))
    repeated = timed.repetitions > 1
    counts = np.isfinite(timed.times).sum(axis=1)
    tips = tuple(
        f"{'speedup ' + exact(value) if one else exact(value, 's')} at N = {plain(n)}"
        + (f", mean of {count} repetitions" if count > 1 else "")
        for value, n, count in zip(mean, timed.processors, counts, strict=True)
    )
    return Line(
        "runs",
        tuple(timed.processors.tolist()),
        tuple(mean.tolist()),
        "time",
        common.origin_of(timed.source),
        tuple(low.tolist()) if repeated else (),
        tuple(high.tolist()) if repeated else (),
        style="thin",
        tips=tips,
        processors=tuple(int(n) for n in timed.processors),
    )


def _law(fit: Fit, places: Floats, role: str, one: float, *, band: bool) -> Line:
    values = fit.predict(places)
    low, high = fit.band(places)
    weak = LAWS[fit.law].scaling == "weak"
    if one:
        low, high = (_speedup(np.maximum(part, 1e-300), places, one, weak) for part in (high, low))
        values = _speedup(values, places, one, weak)
    ends = modelling.floor_band(low, high, values) if band else ((), ())
    return Line(
        fit.title,
        tuple(places.tolist()),
        tuple(values.tolist()),
        role,
        "predicted",
        *ends,
        style="dashed",
        markers=False,
    )


def _further(counts: list[int], far: float) -> list[int]:
    found, place = [], counts[-1] * 2
    while place <= far:
        found.append(place)
        place *= 2
    return found


def _marks(fit: Fit, one: float) -> tuple[Mark, ...]:
    peak = next((entry for entry in fit.coefficients if entry.name == "p*"), None)
    if peak is None or not math.isfinite(peak.value):
        return ()
    value = float(fit.predict([peak.value])[0])
    words = f"fastest at {thousands(peak.value)} ({modelling.interval(peak.low, peak.high, 2)})"
    return (Mark(words, x=peak.value, y=one / value if one else value),)


def _sentence(fit: Fit, far: float) -> str:
    low, high = fit.band([far])
    value = float(fit.predict([far])[0])
    text = f"{fit.title}: {fit.formula}; at N = {plain(far)} it gives {si(value, 's')}"
    if not fit.judged:
        return f"{fit.doubt} {text}; other laws give other times."
    if math.isfinite(float(low[0])) and math.isfinite(float(high[0])):
        text += f" ({si(max(float(low[0]), 0.0), 's')} to {si(float(high[0]), 's')})"
    return f"{text}. {fit.doubt or fit.settled}"


def _notes(fit: Fit, timed: Timed, fits: list[Fit]) -> tuple[str, ...]:
    how = "repetitions" if timed.repetitions > 1 else "the residuals of the law, as there are no repetitions"
    kinds = {
        "weak": "Weak scaling: the problem grows as N.",
        "strong": f"Strong scaling of {timed.label or 'one problem'}.",
    }
    if not fit.judged:
        return kinds[timed.scaling], f"{len(fits)} laws were fitted; the view Laws shows all of them."
    share = percent(fit.curve.confidence)
    holds = (
        "that include other curves the points allow (sums of up to three terms that fall or grow with N)"
        if fit is fits[0]
        else "that assume the law"
    )
    first = f"Bands are {share} intervals {holds}; the noise comes from {how}."
    numbers = "; ".join(
        f"{entry.name} = {significant(entry.value, 3)} ({modelling.interval(entry.low, entry.high)})"
        for entry in fit.coefficients
    )
    return (
        first,
        f"{numbers}.",
        kinds[timed.scaling],
        f"{len(fits)} laws were fitted; the view Laws shows all of them.",
    )


VIEW = View(
    "fit",
    _TITLE,
    "Times with the laws fitted to them (Amdahl, Gustafson, Universal Scalability, ..), and their predictions.",
    _make,
    (
        common.SIZE,
        modelling.SCALING,
        Option("law", "Law", "choice", "best", ("best", *LAWS), description="the one with a band; its rivals stay"),
        Option("quantity", "Show", "choice", "time", ("time", "speedup"), description="time or speedup"),
        modelling.TARGET,
    ),
    needs=(*modelling.TIMES, modelling.NEED, _NOT_FITTED),
    without=True,
)
