"""Time over the values of a schedule's parameter (adaptive-loop-scheduling.txt Fig. 7: alpha)."""

from __future__ import annotations

from scalegraph.base.run import RunRecord
from scalegraph.figures.figure import Axis, Column, Figure, Line, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.schedule_runs import schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.schedules import words
from scalegraph.views.view import View

_TITLE = "Parameters of schedules"


def _with_parameters(data: StudyData, **_: object) -> bool:
    found = schedule_runs(data)
    return found is not None and any("," in name for name in found.names)


_NEED = Need(
    "No schedule with parameters has been run yet.",
    ways.SWEEP_ALPHA,
    "Compare schedules with parameters, as in EA,alpha=4; EA,alpha=32; EA,alpha=N/P.",
    "Schedules can be changed only for a program that ScaleGraph can run.",
    met=_with_parameters,
)


def _make(data: StudyData, processors: int | None = None) -> Figure:
    runs = words.the_runs(data)
    count = words.the_count(runs, processors)
    swept: dict[str, dict[str, RunRecord]] = {}
    for name, run in runs.records(count).items():
        schedule, comma, value = words.said(name).partition(",")
        if comma:
            swept.setdefault(schedule, {})[value] = run
    values = sorted({one for found in swept.values() for one in found}, key=_rank)
    best = min(
        ((run.time_s or 0.0, schedule, name) for schedule, found in swept.items() for name, run in found.items()),
        default=(0.0, "", ""),
    )
    written = runs.runs[WRITTEN, count].time_s or 0.0
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {count}",
        f"On {count} processors {best[1]} with {best[2]} takes least time, {common.seconds(best[0])};"
        f" as written the program takes {common.seconds(written)}.",
        (_plot(swept, values, written), _table(swept, values)),
        notes=words.notes(data, runs),
    )


def _rank(value: str) -> tuple[str, float, str]:
    """Sort key: numbers ascending, then values that depend on N and P."""
    name, _, number = value.rpartition("=")
    try:
        return name, float(number), ""
    except ValueError:
        return name, float("inf"), number


def _plot(swept: dict[str, dict[str, RunRecord]], values: list[str], written: float) -> Plot:
    lines = []
    for index, (schedule, found) in enumerate(sorted(swept.items())):
        here = [value for value in values if value in found]
        times = tuple(found[value].time_s or 0.0 for value in here)
        tips = tuple(
            f"{schedule},{value}\nelapsed time: {common.exact(time, 's')}"
            for value, time in zip(here, times, strict=True)
        )
        x = tuple(float(values.index(value)) for value in here)
        lines.append(Line(schedule, x, times, f"series:{index}", "simulated", tips=tips))
    return Plot(
        Axis("parameter", scale="category", categories=tuple(values)),
        Axis("elapsed time", "s"),
        tuple(lines),
        marks=(Mark(words.AS_WRITTEN, y=written),),
    )


def _table(swept: dict[str, dict[str, RunRecord]], values: list[str]) -> Table:
    columns = (Column("schedule"), *(Column(value, "s") for value in values))
    rows = [
        Row((schedule, *(found[value].time_s if value in found else None for value in values)))
        for schedule, found in sorted(swept.items())
    ]
    return Table(columns, tuple(rows))


VIEW = View(
    "schedule-parameters",
    _TITLE,
    "Time over the values of a schedule's parameter, such as alpha of the adaptive schedules.",
    _make,
    (common.PROCESSORS,),
    needs=(words.NEED, _NEED),
)
