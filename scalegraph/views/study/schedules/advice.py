"""The best schedule of each loop, its gain, and the confidence in it."""

from __future__ import annotations

from scalegraph.figures.figure import Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.schedule_runs import Advice, saving
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.schedules import words
from scalegraph.views.view import View

_TITLE = "Advised schedules"


def _make(data: StudyData, processors: int | None = None) -> Figure:
    runs = words.the_runs(data)
    count = words.the_count(runs, processors)
    advice = runs.advice(count)
    assert advice is not None  # counts are those with advice
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {count}",
        f"{words.verdict(advice)} {words.confirmed(advice)}",
        (_gains(runs.every_advice()), _loops(advice)),
        notes=(
            *((f"As loop schedule of a request: {advice.fastest}",) if advice.fastest != WRITTEN else ()),
            words.interval(runs.every_advice()),
            *words.notes(data, runs),
        ),
    )


def _gains(found: list[Advice]) -> Plot:
    counts = tuple(advice.processors for advice in found)
    lines = [_line("fastest schedule", "series:0", found, [advice.gain for advice in found])]
    ran = [advice for advice in found if advice.run is not None]
    if ran:
        lines.append(_line(words.EACH_BEST, "series:1", ran, [saving(a.written, a.run) for a in ran if a.run]))
    return Plot(common.processors_axis(counts), Axis("saved of the time as written", "%"), tuple(lines))


def _line(name: str, role: str, found: list[Advice], gains: list[float]) -> Line:
    counts = tuple(advice.processors for advice in found)
    values = tuple(100 * gain for gain in gains)
    tips = tuple(
        f"{name}, N = {advice.processors}\n{words.said(advice.fastest) if name != words.EACH_BEST else advice.together}"
        f"\nsaved: {common.exact(value, '%')}"
        for advice, value in zip(found, values, strict=True)
    )
    return Line(name, tuple(map(float, counts)), values, role, "simulated", tips=tips, processors=counts)


def _loops(advice: Advice) -> Table:
    clock = advice.written.clock_hz or 1.0
    columns = (
        Column("loop"),
        Column("best schedule"),
        Column("time as written", "s"),
        Column("time then", "s"),
        Column("saved of the loop", "%"),
        Column("saved of the program", "%"),
    )
    whole = advice.written.time_cycles or 1
    rows = [
        Row(
            (
                loop.loop,
                words.said(loop.best),
                loop.cycles[WRITTEN] / clock,
                loop.cycles[loop.best] / clock,
                100 * loop.saved / loop.cycles[WRITTEN],
                100 * loop.saved / whole,
            ),
            key=loop.loop,
            tip=f"{loop.loop}={words.said(loop.best)}" if loop.best != WRITTEN else "best as written",
        )
        for loop in advice.loops
    ]
    return Table(columns, tuple(rows))


VIEW = View(
    "schedule-advice",
    _TITLE,
    "The best schedule of each loop, the whole program's gain according to a run, and the N for which it holds.",
    _make,
    (common.PROCESSORS,),
    needs=(words.NEED,),
)
