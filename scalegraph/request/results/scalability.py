"""Matrices, unit speeds and predictions as tables; see `scalegraph.request.results.quantities`."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds, causes, isospeed, metrics, miss_latency_prediction, series
from scalegraph.analyze.bounds import Bound
from scalegraph.analyze.matrix import Matrix, Metric, over_estimation
from scalegraph.analyze.table import numbers
from scalegraph.base.units import plain
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData


def matrix(bound: Bound, metric: Metric = "latency", way: str = "runs") -> _Matrix:
    """Return a function for the matrix of *metric* with *bound* held at its default value."""
    return _Matrix(bound, metric, way)


class _Matrix:
    """N down, N' across; see `analyze.matrix`."""

    def __init__(self, bound: Bound, metric: Metric, way: str) -> None:
        self._bound, self._metric, self._way = bound, metric, way

    def __call__(self, data: StudyData, _processors: int | None) -> pd.DataFrame:
        made = matrices.matrix(data, self._bound, metric=self._metric, way=self._way)
        return pd.DataFrame() if made is None else made.frame().reset_index()


def cells(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return one row for each pair N < N': value, way and interval, predicted where the runs give nothing."""
    made = matrices.matrix(data, "efficiency", way="best")
    return pd.DataFrame() if made is None else _cells(made, processors)


def _cells(made: Matrix, processors: int | None) -> pd.DataFrame:
    rows = []
    for n in made.processors:
        for n2 in made.processors:
            if n < n2 and processors in (None, n, n2):
                low, high = made.intervals.get((n, n2), (np.nan, np.nan))
                value, way = made.value(n, n2), made.ways.get((n, n2), "")
                why = made.reasons.get((n, n2), "")
                rows.append({"n": n, "n2": n2, "value": value, "way": way, "low": low, "high": high, "reason": why})
    return pd.DataFrame(rows)


def average(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return the matrix averaged over the efficiencies that the runs meet (latency-metric.txt eq. 3.8)."""
    found = matrices.averaged(data)
    if found is None:
        return pd.DataFrame()
    over = ", ".join(plain(one.target) for one in found[1])
    return found[0].frame().reset_index().assign(average_over=f"E = {over}")


def overestimation(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return the overestimation by the time bound (scale-graph.txt eq. 12 and 13); see `over_estimation`."""
    bounded = matrices.matrix(data, "time")
    return pd.DataFrame() if bounded is None else over_estimation(bounded, matrices.matrix(data, "efficiency"))


def unit_speed(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return W, T_para and W/(N T_para) of every run with known work, by N and W (isospeed.txt Fig. 4)."""
    scaling = data.one_program
    counts = sorted({int(n) for n in scaling["processors"]}) if not scaling.empty else []
    parts = [isospeed.curve(scaling, n) for n in counts if processors in (None, n)]
    names = ["processors", "label", "work", "work_unit", "time_s", "unit_speed", "efficiency"]
    kept = [part[names] for part in parts if len(part)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame()


def asymptotic_speed(data: StudyData, processors: int | None) -> pd.DataFrame:
    """Return the asymptotic unit speed at every N with its interval, and the default speed to hold."""
    usual = bounds.usual_target(data.one_program, "speed")
    unit = metrics.speed_unit(metrics.work_unit(data.scaling))
    found = [one for one in isospeed.asymptotes(data.one_program) if processors in (None, one.processors)]
    return pd.DataFrame([asdict(one) | {"unit": unit, "usually_held": usual} for one in found])


def predicted_processors(data: StudyData, _processors: int | None) -> pd.DataFrame:
    """Return L_max and the processors at which miss latencies reach it, for every fixed size (Tables V, VI)."""
    rows = []
    for item in series.fixed_size(data.scaling):
        if not causes.is_known(item.rows):
            continue
        latency = causes.miss_latency(item.rows)
        found = miss_latency_prediction.predict(
            item.processors,
            numbers(item.rows, "time_s"),
            *(numbers(latency, name) for name in ("program", "computation", "synchronisation")),
        )
        if found is None:
            continue
        row: dict[str, object] = {"label": item.label, "l_max_cycles": found.l_max, "fastest": found.fastest}
        row["minimum_reached"] = found.reached
        for name in ("optimistic", "pessimistic", "predicted"):
            reach = getattr(found, name)
            row |= {name: reach.processors, f"{name}_low": reach.low, f"{name}_high": reach.high}
            row[f"{name}_words"] = reach.words
        rows.append(row)
    return pd.DataFrame(rows)
