"""Laws, models and their consequences as tables; see `scalegraph.request.results.quantities`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze.fits import Fit, back_test_models, karp_flatt
from scalegraph.analyze.fits.fit import Coefficient
from scalegraph.subjects import fitted_models
from scalegraph.subjects.fitted_models import back_tests, order_of, processors_column
from scalegraph.subjects.study import StudyData

_EFFICIENCIES = (0.25, 0.5, 0.75)


def laws(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return one row for each law and number: value and interval, error, evidence, and T at N = *processors*.

    The default for *processors* is four times the largest N.
    """
    found = fitted_models.laws(data)
    if found is None:
        return pd.DataFrame()
    timed, fits = found
    at = float(processors or fitted_models.FAR * timed.processors.max())
    return pd.DataFrame([row for fit in fits for row in _law_rows(fit, at, best=fit is fits[0] and fit.judged)])


def _law_rows(fit: Fit, at: float, *, best: bool) -> list[dict[str, object]]:
    low, high = fit.band([at]) if fit.judged else ([math.nan], [math.nan])
    shared = {
        "law": fit.law,
        "formula": fit.formula,
        "order": fit.growth,
        "best": best,
        "decided": fit.decided,
        "cv_error": fit.cv_error,
        "adjusted_r2": fit.adjusted_r2,
        "aicc": fit.aicc,
        "evidence": fit.weight,
        "at": at,
        "predicted_s": float(fit.predict([at])[0]),
        "predicted_low_s": float(low[0]),
        "predicted_high_s": float(high[0]),
        "doubt": fit.doubt,
    }
    return [
        {"law": fit.law, "number": entry.name, "value": entry.value, **_ends(fit, entry), **shared}
        for entry in fit.coefficients
    ]


def _ends(fit: Fit, entry: Coefficient) -> dict[str, float]:
    return {"low": entry.low if fit.judged else math.nan, "high": entry.high if fit.judged else math.nan}


def models(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return one row for each call path: model, order, error, doubt, and shares now and at N = *processors*."""
    found = fitted_models.regions(data)
    if found is None:
        return pd.DataFrame()
    made, metric = found
    column = processors_column(data, made)
    place = fitted_models.target_of(made.source.points, processors, column)
    now, then = made.shares(made.source.points.max(axis=0)), made.shares(place)
    low, high = made.models.band(place[None])
    value = made.models.predict(place[None])[:, 0]
    decided = made.models.decided
    rows = [
        {
            "call_path": made.names[i],
            "metric": metric,
            "model": made.models.formula(i),
            "order": made.models.growth(i),
            "share": now[i],
            "share_at_target": then[i],
            "predicted": value[i],
            "predicted_low": low[i, 0],
            "predicted_high": high[i, 0],
            "cv_error": made.models.cv_error[i],
            "adjusted_r2": made.models.adjusted_r2[i],
            "decided": bool(decided[i]),
            "doubt": made.models.doubt(i),
        }
        for i in range(len(made.models))
    ]
    table = pd.DataFrame(rows)
    for name, at in zip(reversed(made.source.parameters), reversed(place.tolist()), strict=True):
        table.insert(4, f"at.{name}", at)
    return table.sort_values(["share_at_target", "predicted"], ascending=False, kind="stable").reset_index(drop=True)


def serial_fraction(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return the Karp-Flatt serial fraction at every N > 1, and its trend per doubling of N."""
    timed = fitted_models.times(data, None, "strong")
    found = None if timed is None else karp_flatt(timed.processors, timed.times)
    if found is None:
        return pd.DataFrame()
    rows = [
        {
            "processors": int(part.processors),
            "serial_fraction": part.value,
            "low": part.low,
            "high": part.high,
            "trend": found.trend,
            "slope": found.slope,
            "slope_low": found.slope_low,
            "slope_high": found.slope_high,
        }
        for part in found.fractions
        if processors is None or int(part.processors) == processors
    ]
    return pd.DataFrame(rows)


def isoefficiency(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return the order of W(N) that keeps an efficiency, for the study's efficiency and some round ones."""
    rows: list[dict[str, object]] = []
    seen: set[float] = set()
    for efficiency in (None, *_EFFICIENCIES):
        found = order_of(data, efficiency)
        if found is None or found[0].target in seen:
            continue
        made, n, _, judged = found
        seen.add(made.target)
        rows.extend(
            {
                "efficiency": made.target,
                "order": entry.order,
                "factor": entry.factor,
                "departure": entry.error,
                "evidence": entry.weight,
                "plausible": entry.plausible,
                "decided": judged.decided,
                "exponent": judged.exponent,
                "exponent_low": judged.low,
                "exponent_high": judged.high,
                "counts": len(n),
            }
            for entry in judged.orders
        )
    return pd.DataFrame(rows)


def back_test(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return each law's prediction for the largest N if that is hidden, next to the actual value."""
    names = ("law", "at", "measured", "predicted", "low", "high", "error", "inside", "best", "formula")
    return _frame(back_tests(data), names)


def back_test_regions(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return the prediction of each call path's model for the largest N (or largest value) if that is hidden."""
    found = fitted_models.regions(data)
    if found is None:
        return pd.DataFrame()
    made, metric = found
    column = processors_column(data, made) or 0
    source = made.source
    tested = back_test_models(source.points, source.values, parameter=column, parameters=source.parameters)
    if tested is None:
        return pd.DataFrame()
    shape = tested.measured.shape
    rows = {
        "call_path": np.repeat(made.names, shape[1]),
        "metric": metric,
        **{f"at.{name}": np.tile(tested.points[:, i], shape[0]) for i, name in enumerate(source.parameters)},
        "measured": tested.measured.ravel(),
        "predicted": tested.predicted.ravel(),
        "low": tested.low.ravel(),
        "high": tested.high.ravel(),
        "error": tested.error.ravel(),
        "inside": tested.inside.ravel() == 1,
        "model": np.repeat([tested.models.formula(i) for i in range(shape[0])], shape[1]),
    }
    return pd.DataFrame(rows).dropna(subset=["measured"]).reset_index(drop=True)


def _frame(found: Sequence[object], names: Sequence[str]) -> pd.DataFrame:
    rows = [{name: getattr(entry, name) for name in names} for entry in found]
    return (
        pd.DataFrame(rows)
        .rename(columns={"measured": "measured_s", "predicted": "predicted_s", "low": "low_s", "high": "high_s"})
        .replace([math.inf, -math.inf], math.nan)
    )
