"""Invalidated copies by cause over N, and copies invalidated per write (latency-metric.txt Table IV)."""

from __future__ import annotations

import math

from scalegraph.analyze import causes
from scalegraph.analyze.series import Series
from scalegraph.base.measures import percent
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts(
    "Invalidations by cause need simulated runs of one problem on two or more processor counts.",
    needs.series(causes.is_known),
    record=needs.NOT_RECORDED,
)
_TITLE = "Invalidations by cause"


def _make(data: StudyData, size: object = None) -> Figure:
    series = common.the_series(data, size)
    parts = causes.invalidations(series.rows)
    last = parts.iloc[-1]
    total = float(last.sum())
    share = float(last["barrier"] + last["lock"]) / total if total else 0.0
    sentence = (
        f"{series.label or 'This problem'}: {si(total, '')} copies invalidated at N = {series.processors[-1]},"
        f" {percent(share)} of them by barriers and locks."
        if total
        else f"{series.label or 'This problem'}: no copies are invalidated."
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (cause_words.stacked(series.rows, parts, Axis("copies invalidated")), _table(data, series)),
        notes=(
            "Width: copies invalidated per write, averaged over writes that invalidate any.",
            *common.run_notes(data),
        ),
    )


def _table(data: StudyData, series: Series) -> Table:
    """Return Table IV: invalidations, those by barriers and locks with shares, and the average width."""
    parts = causes.invalidations(series.rows)
    columns = ("N", "all", "by barriers", "by locks", "average width")
    units = ("", "", "% of all", "% of all", "copies")
    rows = []
    for row, (_, part) in zip(series.rows.to_dict("records"), parts.iterrows(), strict=True):
        total = float(part.sum())
        run = data.by_key.get(str(row["keys"]).split(",")[0])
        width = causes.average_width(run) if run is not None else float("nan")
        values = (
            int(row["processors"]),
            int(total) if math.isfinite(total) else None,
            100 * float(part["barrier"]) / total if total else None,
            100 * float(part["lock"]) / total if total else None,
            float(significant(width, 4)) if math.isfinite(width) else None,
        )
        rows.append(Row(values, key=str(row["keys"]), tip=common.run_label(row)))
    return Table(tuple(Column(name, unit) for name, unit in zip(columns, units, strict=True)), tuple(rows))


VIEW = View(
    "invalidations",
    _TITLE,
    "Invalidated copies of lines by the cause of the write, and their average width, for each N.",
    _make,
    (common.SIZE,),
    needs=(_NEED,),
)
