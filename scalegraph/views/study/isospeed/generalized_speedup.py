"""Generalized speedup over N: parallel over sequential speed, also for sizes never run on one processor."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd

from scalegraph.analyze import generalized
from scalegraph.analyze.generalized import SEQUENTIAL, Sequential
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.analyze.table import numbers
from scalegraph.base.units import plain, si, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE = "Generalized speedup"
_MOST = 6  # curves for single sizes
_LARGEST = "largest on each N"
_SPOKEN: dict[str, str] = {
    "asymptotic": "one processor's asymptotic speed",
    "fastest": "the fastest run on one processor",
    "same-size": "one processor with the same problem",
}


def _known(data: StudyData, **_: object) -> bool:
    table = generalized.generalized_speedup(data.one_program)
    rows = table[np.isfinite(numbers(table, "generalized_speedup"))]
    return len(set(rows["processors"])) > 1


_NEED = needs.sizes(
    "A generalized speedup needs runs on one processor and on another count, with the operations of each known.",
    "speed",
    met=_known,
)


def _make(data: StudyData, sequential: object = "asymptotic") -> Figure | Need:
    kind = cast("Sequential", str(sequential))
    table = generalized.generalized_speedup(data.one_program, kind)
    values = data.one_program.assign(**{name: table[name] for name in table.columns if name.startswith("generalized")})
    rows = values[np.isfinite(numbers(values, "generalized_speedup"))]
    if len(set(rows["processors"])) < 2:
        return _NEED
    curves = _curves(rows)
    counts = sorted({int(n) for n in rows["processors"]})
    ends = (float(counts[0]), float(counts[-1]))
    ideal = Line("ideal", ends, ends, "ideal", "computed", style="thin", markers=False)
    one = Line("ideal", ends, (1.0, 1.0), "ideal", "computed", style="thin", markers=False)
    axis = common.processors_axis(counts)
    top = max(1.0, float(numbers(rows, "generalized_efficiency").max())) * 1.04
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(rows, kind),
        (
            Plot(axis, Axis("generalized speedup", scale="log2"), (*_lines(curves, "generalized_speedup"), ideal)),
            Plot(
                axis,
                Axis("generalized speedup / N", limits=(0.0, top)),
                (*_lines(curves, "generalized_efficiency"), one),
            ),
        ),
        notes=(*_notes(data, kind), common.work_note(data), *common.run_notes(data)),
    )


def _curves(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the curves by name: evenly chosen sizes that ran on many counts, and the work that grows with N."""
    unit = work_unit(rows)
    ordered = rows.sort_values(["processors", "work"], kind="stable")
    groups = [part for _, part in ordered.groupby("problem", sort=True) if len(set(part["processors"])) > 1]
    most = max((len(part) for part in groups), default=0)
    groups = [part for part in groups if 2 * len(part) >= most]
    groups.sort(key=lambda part: float(part["work"].median()))
    if len(groups) > _MOST:
        groups = [groups[round(i * (len(groups) - 1) / (_MOST - 1))] for i in range(_MOST)]
    named = [(f"work {si(float(part['work'].median()), unit)}", part) for part in groups]
    largest = ordered.drop_duplicates("processors", keep="last")
    grown = largest[largest["work"] >= largest["work"].cummax()]  # smaller ones belong to another series
    return [*named, (_LARGEST, grown)] if len(set(grown["problem"])) > 1 or not named else named


def _lines(curves: list[tuple[str, pd.DataFrame]], column: str) -> tuple[Line, ...]:
    words = column.replace("_", " ")
    made = []
    for position, (name, rows) in enumerate(curves):
        line = common.curve(rows, column, words, f"series:{position}")
        made.append(replace(line, name=name, style="dashed" if name == _LARGEST else "solid"))
    return tuple(made)


def _sentence(rows: pd.DataFrame, kind: Sequential) -> str:
    most = rows[rows["processors"] == rows["processors"].max()]
    best = most.loc[most["generalized_speedup"].idxmax()]
    usual = float(best["speedup"])
    text = (
        f"On {int(best['processors'])} processors {best['label'] or 'the fastest run'} computes"
        f" {significant(float(best['generalized_speedup']))} times as fast as {_SPOKEN[kind]}"
    )
    if kind != "same-size" and np.isfinite(usual):
        text += f"; its usual speedup is {significant(usual)}"
    return f"{text}."


def _notes(data: StudyData, kind: Sequential) -> tuple[str, ...]:
    speed = generalized.sequential_speed(data.one_program, kind)
    if speed is None:
        return ("Generalized speedup = parallel speed/sequential speed of the same problem: the usual speedup.",)
    unit = speed_unit(work_unit(data.one_program))
    shown = si(speed, unit) if unit else plain(speed)
    text = f"Generalized speedup = (W/T)/({shown}): runs of equal unit speed are equally efficient."
    return (text,)


VIEW = View(
    "generalized-speedup",
    _TITLE,
    "Parallel speed over sequential speed, also for sizes never run on one processor.",
    _make,
    (
        Option(
            "sequential",
            "Sequential speed",
            "choice",
            "asymptotic",
            SEQUENTIAL,
            description="what the parallel speed is divided by: r_inf of one processor, its fastest run, or its run of"
            " the same problem",
            words=("asymptotic (r_inf)", "fastest run", "same problem"),
        ),
    ),
    group="Isospeed",
    order=230,
    needs=(_NEED,),
)
