"""Links and memory modules: utilisation, and how long transactions wait for them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.misses import resource_costs
from scalegraph.base.measures import exact, percent
from scalegraph.base.run import RunRecord
from scalegraph.figures.figure import ELAPSED_TIME, Axis, Cell, Column, Figure, Grid, Panel, Plot, Row, Table
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts("Modules and links need a simulated run that uses the network.", needs.run_with("resources"))
_TITLE = "Modules and links"
_MOST, _ROWS = 16, 200


def _make(
    data: StudyData, show: object = "ranked", processors: object = None, size: object = None, most: int = _MOST
) -> Figure:
    run = common.the_run(data, size, processors)
    costs = resource_costs(run)
    panels: tuple[Panel, ...] = (_heat(data, size, most),) if show == "over N" else _ranked(costs, most)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}" + ("" if show == "over N" else f", N = {run.point.processors}"),
        _sentence(costs, run),
        panels,
        notes=(
            *(() if show == "over N" else (f"Run: {run.point.label()}.",)),
            "Busy: share of the run's time; waiting: the average wait of a transaction.",
            *common.run_notes(data),
        ),
        meta={"run": run.point.key},
    )


def _sentence(costs: pd.DataFrame, run: RunRecord) -> str:
    parts = []
    for kind in ("module", "link"):
        mine = costs[costs["kind"] == kind]
        if mine.empty:
            continue
        first, mean = mine.iloc[0], float(mine["busy"].mean())
        parts.append(
            f"the busiest {kind} is {first['name']}, {percent(float(first['busy']))} of the time"
            f" (mean of those in use {percent(mean)})"
        )
    return f"On {run.point.processors} processors {' and '.join(parts)}."


def _ranked(costs: pd.DataFrame, most: int) -> tuple[Plot, Table]:
    shown = costs.head(most).assign(percent=lambda table: 100 * table["busy"])
    names = [str(name) for name in shown["name"]]
    plot = cause_words.ranked(shown, names, {"percent": ("busy", "memory_stall")}, Axis("busy", ELAPSED_TIME))
    columns = (
        Column("name"),
        Column("kind"),
        Column("busy", ELAPSED_TIME, "memory_stall"),
        Column("transactions", "", "muted"),
        Column("waiting", "cycles", "primitive"),
        Column("side by side"),
    )
    rows = tuple(
        Row(
            (
                str(row["name"]),
                str(row["kind"]),
                100 * float(row["busy"]),
                int(row["transactions"]),
                float(row["wait"]),
                int(row["units"]),
            )
        )
        for row in costs.head(_ROWS).to_dict("records")
    )
    return (plot, Table(columns, rows))


def _heat(data: StudyData, size: object, most: int) -> Grid:
    """Return the busiest resources in all runs of the series, with their utilisation by N."""
    series = series_.chosen_series(data, size)
    found = [] if series is None else [data.by_key.get(str(keys).split(",")[0]) for keys in series.rows["keys"]]
    runs = [run for run in found if run is not None and run.resources]
    busy = {run.point.processors: resource_costs(run).set_index("name") for run in runs}
    peak = pd.concat([table["busy"] for table in busy.values()], axis=1).max(axis=1) if busy else pd.Series(dtype=float)
    names = [str(name) for name in peak.sort_values(ascending=False, kind="stable").head(most).index]
    cells = tuple(tuple(_cell(table, name, n) for n, table in busy.items()) for name in names)
    limit = float(np.nanmax([peak.max(), 0.01])) if len(peak) else 1.0
    return Grid(
        "",
        "processors N",
        tuple(names),
        tuple(str(n) for n in busy),
        cells,
        (f"busy, {ELAPSED_TIME}",),
        limits=(0.0, 100 * limit),
        column_processors=tuple(busy),
    )


def _cell(table: pd.DataFrame, name: str, n: int) -> Cell:
    if name not in table.index:
        return Cell((0.0,), tip=f"{name} on {n} processors: not used")
    row = table[table.index == name].to_dict("records")[0]
    value = 100 * float(row["busy"])
    tip = (
        f"{name} on {n} processors: busy {exact(value, '%')}, {int(row['transactions'])} transactions, each waits"
        f" {exact(float(row['wait']), 'cycles')}"
    )
    return Cell((value,), tip=tip)


VIEW = View(
    "hot-spots",
    _TITLE,
    "How busy each link and memory module is, its transactions, and how long they wait.",
    _make,
    (
        Option("show", "Show", "choice", "ranked", ("ranked", "over N"), description="one run, or a heat map over N"),
        common.PROCESSORS,
        common.SIZE,
        Option("most", "Most", "int", _MOST, description="how many of the busiest", minimum=1),
    ),
    group="Cache and memory",
    order=150,
    needs=(_NEED,),
)
