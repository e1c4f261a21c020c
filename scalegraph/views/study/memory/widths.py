"""Copies invalidated per write (latency-metric.txt Fig. 9)."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import causes
from scalegraph.base.measures import exact, percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts(
    "Invalidation widths need a simulated run in which a write invalidates a copy elsewhere.", needs.run_with("widths")
)
_TITLE = "Invalidation widths"
_SINGLE = 8  # wider ones are grouped by powers of two


def _make(data: StudyData, processors: object = None, size: object = None) -> Figure:
    run = common.the_run(data, size, processors)
    table = causes.widths(run)
    total = float(table.to_numpy().sum())
    binned = table.groupby([_bin(int(width)) for width in table.index], sort=False).sum()
    single = float(table[table.index == 1].to_numpy().sum()) / total
    sentence = (
        f"On {run.point.processors} processors a write that invalidates any copies invalidates"
        f" {significant(causes.average_width(run))} on average; {percent(single)} of them invalidate one."
    )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {run.point.processors}",
        sentence,
        (_plot(binned, total, run), _table(data, size)),
        notes=("Writes that find no copy elsewhere are not counted.", *common.run_notes(data)),
        meta={"run": run.point.key},
    )


def _bin(width: int) -> str:
    if width <= _SINGLE:
        return str(width)
    low = 1 << (width - 1).bit_length() - 1
    return f"{low + 1}-{2 * low}"


def _plot(binned: pd.DataFrame, total: float, run: RunRecord) -> Plot:
    stacks, tips = [], []
    for name in cause_words.occurring(binned, cause_words.CAUSES):
        words, role = cause_words.CAUSES[name]
        counts = [float(value) for value in binned[name]]
        stacks.append((words, role, tuple(100 * count / total for count in counts)))
        tips.append(
            tuple(
                f"{width} copies, {words}: {exact(count)} writes\n{run.point.label()}"
                for width, count in zip(binned.index, counts, strict=True)
            )
        )
    return Plot(
        Axis("copies invalidated by one write", scale="category", categories=tuple(map(str, binned.index))),
        Axis("share of these writes", "%"),
        bars=Bars(tuple(float(i) for i in range(len(binned))), tuple(stacks), tuple(tips)),
    )


def _table(data: StudyData, size: object) -> Table:
    """Return the shares of widths for each N of the series, all causes together."""
    series = series_.chosen_series(data, size)
    runs = [] if series is None else [data.by_key.get(str(keys).split(",")[0]) for keys in series.rows["keys"]]
    wide = ("1", "2", "3", "4", "5 to 8", "more")
    rows = []
    for run in runs:
        if run is None or not run.widths:
            continue
        table = causes.widths(run).sum(axis=1)
        bounds = (1, 2, 3, 4, 8, float("inf"))
        lower = (0, *bounds[:-1])
        shares = [
            100 * float(table[(table.index > low) & (table.index <= high)].sum()) / float(table.sum())
            for low, high in zip(lower, bounds, strict=True)
        ]
        rows.append(Row((run.point.processors, *shares, causes.average_width(run)), key=run.point.key))
    columns = (Column("N"), *(Column(name, "% of writes") for name in wide), Column("average"))
    return Table(columns, tuple(rows))


VIEW = View(
    "widths",
    _TITLE,
    "The number of copies that one write invalidates, by cause, and its change with N.",
    _make,
    (common.PROCESSORS, common.SIZE),
    needs=(_NEED,),
)
