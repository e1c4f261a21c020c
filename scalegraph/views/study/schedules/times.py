"""Time over N under each schedule (adaptive-loop-scheduling.txt Figs. 1 to 6)."""

from __future__ import annotations

from scalegraph.figures.figure import Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.option import Option
from scalegraph.subjects.schedule_runs import ScheduleRuns, saving
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.schedules import words
from scalegraph.views.view import View

_TITLE = "Time by schedule"


def _make(data: StudyData, most: int = 8) -> Figure:
    runs = words.the_runs(data)
    advice = runs.every_advice()[-1]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        words.verdict(advice),
        (_plot(runs, most), _table(runs)),
        notes=(
            *((f"The {most} fastest of {len(runs.names)} are drawn.",) if most < len(runs.names) else ()),
            *words.notes(data, runs),
        ),
    )


def _plot(runs: ScheduleRuns, most: int) -> Plot:
    drawn = [*runs.names[:most], *((WRITTEN,) if WRITTEN not in runs.names[:most] else ())]
    lines = []
    for index, name in enumerate(drawn):
        counts = tuple(n for n in runs.counts if (name, n) in runs.runs)
        times = tuple(runs.runs[name, n].time_s or 0.0 for n in counts)
        tips = tuple(
            f"{words.said(name)}, N = {n}\nelapsed time: {common.exact(time, 's')}"
            for n, time in zip(counts, times, strict=True)
        )
        own = name == WRITTEN
        lines.append(
            Line(
                words.said(name),
                tuple(map(float, counts)),
                times,
                "muted" if own else f"series:{index}",
                "simulated",
                style="dashed" if own else "solid",
                tips=tips,
                processors=counts,
            )
        )
    return Plot(common.processors_axis(runs.counts), Axis("elapsed time", "s"), tuple(lines))


def _table(runs: ScheduleRuns) -> Table:
    last = runs.counts[-1]
    columns = (
        Column("schedule"),
        *(Column(f"N = {n}", "s") for n in runs.counts),
        Column(f"saved of the time as written on {last}", "%"),
    )
    written = runs.runs[WRITTEN, last]
    rows = []
    for name in runs.names:
        found = [runs.runs.get((name, n)) for n in runs.counts]
        saved = 100 * saving(written, found[-1]) if found[-1] is not None else None
        rows.append(Row((words.said(name), *(run.time_s if run else None for run in found), saved), tip=name))
    return Table(columns, tuple(rows))


VIEW = View(
    "schedules",
    _TITLE,
    "How long the program takes over N with its worksharing loops under each schedule.",
    _make,
    (Option("most", "Curves", "int", 8, description="how many curves", minimum=1, maximum=40),),
    needs=(words.NEED,),
)
