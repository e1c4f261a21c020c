"""Misses as cold, capacity, conflict, true and false sharing, by region, line or variable."""

from __future__ import annotations

from pathlib import PurePath

import pandas as pd

from scalegraph.analyze import misses
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NO_MISS = Need("No reference of this run leaves the private caches.")
_TITLE = "Misses by class"
_BARS = 12


def _make(
    data: StudyData, by: object = "region", processors: object = None, size: object = None, bars: int = _BARS
) -> Figure | Need:
    run = common.the_run(data, size, processors)
    total = misses.class_totals(run)
    if not total.sum():
        return _NO_MISS
    table, names = _rows(data, run, str(by))
    words = {name: text for name, (text, _) in cause_words.CLASSES.items()}
    parts = [f"{words[str(name)]} {percent(value / total.sum())}" for name, value in total.items() if value]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        f"Of {si(float(total.sum()), '')} misses on {run.point.processors} processors: {', '.join(parts)}.",
        (
            cause_words.ranked(table.head(bars), names[:bars], cause_words.CLASSES, Axis("misses")),
            _table(table, names, str(by)),
        ),
        notes=(
            (
                f"Run: {run.point.label()}. Sharing is true if a word written by another processor is used before the"
                " line is lost again."
            ),
            *common.run_notes(data),
        ),
        meta={"run": run.point.key},
    )


def _rows(data: StudyData, run: RunRecord, by: str) -> tuple[pd.DataFrame, list[str]]:
    if by == "line":
        table = misses.classes_by_line(run)
        return table, [
            f"{PurePath(str(file)).name}:{line}" for file, line in zip(table["file"], table["line"], strict=False)
        ]
    if by == "variable":
        table = misses.classes_by_variable(run)
        return table, [str(name) for name in table["name"]]
    table = misses.classes_by_region(run, data.regions)
    return table, [common.region_name(row) for row in table.to_dict("records")]


def _table(table: pd.DataFrame, names: list[str], by: str) -> Table:
    known = cause_words.occurring(table, cause_words.CLASSES)
    columns = [Column(by), Column("misses", "", "muted")]
    columns += [Column(cause_words.CLASSES[name][0], "", cause_words.CLASSES[name][1]) for name in known]
    rows = []
    for row, name in zip(table.to_dict("records"), names, strict=True):
        place = f"{row['file']}:{row['line']}" if row.get("file") else ""
        key = str(row["region"]) if by == "region" else place
        values: tuple[float | int | str | None, ...] = (name, int(row["misses"]), *(int(row[one]) for one in known))
        rows.append(Row(values, key=key, tip=f"{name} {place}".strip()))
    return Table(tuple(columns), tuple(rows))


VIEW = View(
    "miss-classes",
    _TITLE,
    "Why lines were not in the cache: first use, capacity, conflicting addresses, data shared by processors, or only a"
    " line shared by them.",
    _make,
    (
        Option(
            "by", "By", "choice", "region", ("region", "line", "variable"), description="what misses are attributed to"
        ),
        common.PROCESSORS,
        common.SIZE,
        Option("bars", "Bars", "int", _BARS, description="how many get a bar", minimum=1),
    ),
    needs=(cause_words.CLASSES_NEEDED, _NO_MISS),
)
