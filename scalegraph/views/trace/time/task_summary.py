"""The share of execution time of each task or phase (ParaGraph's task summary; isospeed.txt Figs. 11, 12)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalegraph.analyze.trace import phases as analysis
from scalegraph.analyze.trace import tasks
from scalegraph.base.measures import exact, percent
from scalegraph.base.units import si
from scalegraph.figures.columns import known
from scalegraph.figures.figure import LOCATIONS_TIME, Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import phase_choice
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.views import ways
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.sums import place
from scalegraph.views.view import View

_NOT_HERE = Need("No {what} in {words}: choose a longer time, or other phases.")
_TITLE = "Task summary"
_BARS = 40
_NO_TASKS = Need(
    "This trace has no tasks.",
    ways.traced("tasks"),
    "If the program makes some, run it with tasks in its trace; or choose phases.",
    "Record tasks, or choose phases.",
)


def _make(
    data: TraceData, of: object = "auto", phases: object = "auto", depth: object = None, **options: object
) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    what = str(of)
    if what == "auto":
        what = "phases" if data.trace.count("calls") or not data.trace.count("tasks") else "tasks"
    if what == "tasks" and not data.trace.count("tasks"):
        return _NO_TASKS
    if what == "phases" and not data.trace.count("calls"):
        return trace_sums.CALLS_CHOSEN
    made: list[tuple[str, Window, pd.DataFrame]] = []
    how = ""
    for number, one in enumerate((data, *data.others)):
        window = chosen if not number else trace_window.window(one, region=options.get("region"))
        if not window.locations or not window.end > window.begin:
            continue
        table, reported = _summary(window, what, phases, depth)
        how = how or reported
        made.append((one.name or f"trace {number + 1}", window, table))
    if not made or _told(made[0][2]).empty:
        return _NOT_HERE.of(what="task ran" if what == "tasks" else "phase", words=chosen.words)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(*made[0]),
        (_plot(made), *(_table(name if len(made) > 1 else "", table, what) for name, _, table in made)),
        notes=trace_sums.notes(chosen, f"{how[0].upper()}{how[1:]}." if how else "", trace_common.of_others(chosen)),
    )


def _summary(chosen: Window, what: str, by: object, depth: object) -> tuple[pd.DataFrame, str]:
    """Return a row per phase or kind of task with its share of the time, and the word for a row."""
    trace = chosen.data.trace
    if what == "tasks":
        table = tasks.task_times(trace, chosen.begin, chosen.end, chosen.locations)
        if chosen.regions is not None:
            table = table[table["region"].isin(list(chosen.regions))]
        return table.rename(columns={"ran": "visits"}), "explicit tasks by the place where they are created"
    found = phase_choice.found(chosen, by, depth)
    return analysis.phase_times(found, trace, chosen.begin, chosen.end, len(chosen.locations)), f"phases: {found.how}"


def _told(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of *table* except that of the remaining time."""
    return table[table["phase"] >= 0] if "phase" in table.columns else table


def _plot(made: list[tuple[str, Window, pd.DataFrame]]) -> Plot:
    """Return a bar per task; with several traces, grouped by task."""
    names = list(dict.fromkeys(str(name) for _, _, table in made for name in table["name"]))[:_BARS]
    shares = [table.groupby("name", sort=False)["share"].sum() for _, _, table in made]
    if len(made) == 1:
        heights = tuple(100 * float(shares[0].get(name, 0.0)) for name in names)
        tips = tuple(f"{name}: {exact(height, '%')}" for name, height in zip(names, heights, strict=True))
        return Plot(
            Axis("task", scale="category", categories=tuple(names)),
            Axis("share of execution time", "%"),
            bars=Bars(tuple(float(n) for n in range(len(names))), (("share", "time", heights),), (tips,)),
        )
    categories = tuple(name for name, _, _ in made)
    return Plot(
        Axis("", scale="category", categories=categories),
        Axis("share of execution time", "%", limits=(0.0, 100.0)),
        bars=Bars(
            tuple(float(n) for n in range(len(made))),
            tuple(
                (
                    name,
                    "muted" if name == "rest" else f"name:{number}",
                    tuple(100 * float(share.get(name, 0.0)) for share in shares),
                )
                for number, name in enumerate(names)
            ),
            tuple(
                tuple(
                    f"{trace}, {name}: {exact(100 * float(share.get(name, 0.0)), '%')}"
                    for trace, share in zip(categories, shares, strict=True)
                )
                for name in names
            ),
        ),
    )


def _table(name: str, table: pd.DataFrame, what: str) -> Table:
    whose = name.replace(",", "")  # a tab's name ends at the first comma
    return Table(
        (
            Column(f"task of {whose}" if whose else "task"),
            Column("ran" if what == "tasks" else "visits"),
            Column("time", "s"),
            Column("share", LOCATIONS_TIME, "time"),
            Column("least", "s"),
            Column("mean", "s"),
            Column("most", "s"),
            Column("imbalance"),
            Column("place"),
        ),
        tuple(_row(row) for row in table.to_dict("records")),
    )


def _row(row: dict[Any, Any]) -> Row:
    return Row(
        (
            str(row["name"]),
            int(row["visits"]) or None,
            float(row["time_s"]),
            known(100 * float(row["share"])),
            *(known(float(row[name])) for name in ("least_s", "mean_s", "most_s", "imbalance")),
            place(str(row["file"]), int(row["line"])),
        ),
        key=str(row["region"]),
    )


def _sentence(_name: str, chosen: Window, table: pd.DataFrame) -> str:
    named = _told(table).sort_values("share", ascending=False, kind="stable")
    first = named.iloc[0]
    text = (
        f"Of {si(chosen.seconds, 's')} on {trace_sums.located(chosen.data.trace, len(chosen.locations))},"
        f" {first['name']} takes {percent(float(first['share']))}"
    )
    if len(named) > 1:
        text += f", {named['name'].iloc[1]} {percent(float(named['share'].iloc[1]))}"
    rest = 1 - float(named["share"].sum())
    return text + (f"; {percent(rest)} is in none." if rest > 0.005 else ".")


VIEW = View(
    "task-summary",
    _TITLE,
    "The share of execution time in each task or phase of the program; of several traces side by side.",
    _make,
    (
        *trace_window.COMMON,
        Option(
            "of",
            "Of",
            "choice",
            "auto",
            ("auto", "phases", "tasks"),
            description="phases of the program or explicit tasks; otherwise what the trace has",
        ),
        phase_choice.PHASES,
        phase_choice.DEPTH,
    ),
    group="Where the time goes",
    order=70,
    needs=(_NO_TASKS, trace_sums.CALLS_CHOSEN, _NOT_HERE),
    several=True,
    subject="trace",
)
