"""Latency sources ML, IT, PT and their categories over N (scale-graph.txt eq. 5-7, Fig. 13)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from scalegraph.analyze import bounds
from scalegraph.analyze.bounds import BOUNDS, Bound
from scalegraph.analyze.matrix import bound_words
from scalegraph.analyze.metrics import CAUSES, overheads
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import plain, si
from scalegraph.figures.figure import Axis, Bars, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TEXT = "Latency sources need simulated runs of a problem on one processor and on more"
_NEED = needs.counts(f"{_TEXT}.", record=needs.NOT_RECORDED)
_TITLE = "Latency sources"
_HELD = ("size", "efficiency", "time", "memory")
_OF_HELD = {held: needs.sizes(f"{_TEXT}, with the {held} held.", held, record=needs.NOT_RECORDED) for held in _HELD[1:]}
_SOURCES = (
    ("ml_s", "memory latency ML", "memory_stall"),
    ("it_s", "idle time IT", "idle"),
    ("pt_s", "primitives PT", "primitive"),
)


def _make(data: StudyData, held: object = "size", size: object = None, detail: object = "sources") -> Figure | Need:
    rows, title = rows_held(data, str(held), size)
    if rows is None or not np.isfinite(numbers(rows, "latency_s")).any():
        return _NEED if held == "size" else _OF_HELD[str(held)]
    rows = rows[rows["processors"] > 1].reset_index(drop=True)
    counts = tuple(int(n) for n in rows["processors"])
    bars = Bars(tuple(float(i) for i in range(len(rows))), *_stacks(rows, detail == "causes"), counts)
    total = common.curve(rows, "latency_s", "L", "ink", unit="s")
    line = replace(total, x=bars.x, style="thin")
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(rows, title),
        (
            Plot(
                Axis("processors N", scale="category", categories=tuple(str(n) for n in counts)),
                Axis("latency of a processor", "s"),
                (line,),
                bars,
            ),
        ),
        notes=(
            "ML is memory stall in excess of the one-processor run's; below 0 it is a gain from more cache.",
            *common.run_notes(data),
        ),
    )


def rows_held(data: StudyData, held: str, size: object) -> tuple[pd.DataFrame | None, str]:
    """Return the rows of a fixed *size*, or the runs nearest to the bound *held*, and words for what is constant."""
    if held == "size":
        series = series_.chosen_series(data, size)
        return (None, "") if series is None else (series.rows, series.label or "this problem")
    bound: Bound = next(name for name in BOUNDS if name == held)
    goal = matrices.held_at(data, bound)
    if goal is None:
        return None, ""
    target, tolerance = goal
    keys = []
    for anchor in bounds.anchors(data.one_program, bound, target, tolerance=tolerance):
        near = data.one_program[data.one_program["keys"].isin(anchor.keys)]
        if anchor.processors > 1 and not near.empty:
            column = {"efficiency": "efficiency", "time": "time_s", "memory": "memory_bytes"}[held]
            wanted = target * anchor.processors if held == "memory" else target
            keys.append(str(near.iloc[int(np.argmin(np.abs(numbers(near, column) - wanted)))]["keys"]))
    rows = data.one_program[data.one_program["keys"].isin(keys)].sort_values("processors").reset_index(drop=True)
    unit = {"time": "s", "memory": "B"}.get(held)
    words = bound_words(bound, si(target, unit) if unit else plain(target))
    return (rows if len(rows) else None), f"{words} (nearest runs)"


def _stacks(
    rows: pd.DataFrame, causes: bool
) -> tuple[tuple[tuple[str, str, tuple[float, ...]], ...], tuple[tuple[str, ...], ...]]:
    count = numbers(rows, "processors")
    if causes:
        table = overheads(rows)
        parts = [("memory stall", "memory_stall", numbers(table, "stall_s"))]
        parts += [(words, role, numbers(table, column)) for column, words, _, role in CAUSES]
    else:
        parts = [(words, role, numbers(rows, column) / count) for column, words, role in _SOURCES]
    parts = [part for part in parts if np.nanmax(np.abs(part[2]), initial=0.0) > 0]
    labels = common.run_labels(rows)
    tips = tuple(
        tuple(
            f"{words}: {common.exact(float(value), 's')} for each processor\n{label}"
            for value, label in zip(values, labels, strict=True)
        )
        for words, _, values in parts
    )
    return tuple((words, role, tuple(float(value) for value in values)) for words, role, values in parts), tips


def _sentence(rows: pd.DataFrame, title: str) -> str:
    last = rows.iloc[-1]
    parts = sorted(((float(last[column]), words) for column, words, _ in _SOURCES), reverse=True)
    total = sum(value for value, _ in parts)
    share = f", {percent(parts[0][0] / total)} of the latency" if total > 0 else ""
    return f"{title}: on {int(last['processors'])} processors most is lost to {parts[0][1]}{share}."


VIEW = View(
    "latency-sources",
    _TITLE,
    "Memory latency, idle time and parallel primitives over N, for a fixed size or with a bound held.",
    _make,
    (
        Option("held", "Held constant", "choice", "size", _HELD, description="what stays constant while N grows"),
        common.SIZE,
        Option("detail", "Detail", "choice", "sources", ("sources", "causes"), description="ML, IT, PT, or each cause"),
    ),
    needs=(_NEED, *_OF_HELD.values()),
)
