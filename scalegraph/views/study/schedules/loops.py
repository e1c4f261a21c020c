"""Loops x schedules: each loop's time under each schedule, relative to its time as written."""

from __future__ import annotations

from scalegraph.base.measures import percent
from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.figures.way import Need
from scalegraph.subjects.loop_schedules import WRITTEN, LoopTimes
from scalegraph.subjects.schedule_runs import schedule_runs
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.schedules import words
from scalegraph.views.view import View

_TITLE = "Loops by schedule"
_LOOPS = 10


def _has_loops(data: StudyData, **_: object) -> bool:
    found = schedule_runs(data)
    return found is not None and any(advice.loops for advice in found.every_advice())


_NEED = Need(
    "No worksharing loop of these runs has a time of its own.",
    ways.COLLECT_REGIONS,
    "Run with regions: they tell the loops apart.",
    met=_has_loops,
)


def _make(data: StudyData, processors: int | None = None) -> Figure:
    runs = words.the_runs(data)
    count = words.the_count(runs, processors)
    advice = runs.advice(count)
    loops = advice.loops if advice is not None else ()
    names = tuple(name for name in runs.names if (name, count) in runs.runs)
    clock = runs.runs[WRITTEN, count].clock_hz or 1.0
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {count}",
        _sentence(loops, count),
        (_grid(loops[:_LOOPS], names, clock),),
        notes=(
            "Time of the loop with the barrier at its end, relative to its time as written: below 1 is faster.",
            *((f"The {_LOOPS} longest of {len(loops)} loops.",) if len(loops) > _LOOPS else ()),
            *words.notes(data, runs),
        ),
    )


def _sentence(loops: tuple[LoopTimes, ...], count: int) -> str:
    most = max(loops, key=lambda loop: loop.saved)
    if not most.saved:
        return f"On {count} processors every loop is best as written."
    share = percent(most.saved / most.cycles[WRITTEN])
    return (
        f"On {count} processors the loop at {most.loop} gains most: under {words.said(most.best)} {share} of its time."
    )


def _grid(loops: tuple[LoopTimes, ...], names: tuple[str, ...], clock: float) -> Grid:
    ratios = [[loop.cycles[name] / loop.cycles[WRITTEN] for loop in loops] for name in names]
    cells = tuple(
        tuple(
            Cell(
                (ratio,),
                tip=f"{loop.loop}, {words.said(name)}\ntime: {common.exact(loop.cycles[name] / clock, 's')}"
                + ("\nthe best" if name == loop.best else ""),
            )
            for loop, ratio in zip(loops, row, strict=True)
        )
        for name, row in zip(names, ratios, strict=True)
    )
    away = min(max(abs(ratio - 1) for row in ratios for ratio in row) or 1.0, 1.0)
    return Grid(
        "schedule",
        "loop",
        tuple(words.said(name) for name in names),
        tuple(loop.loop for loop in loops),
        cells,
        ("time / time as written",),
        limits=(1 - away, 1 + away),
    )


VIEW = View(
    "schedule-loops",
    _TITLE,
    "The time of each worksharing loop under each schedule: which loop needs which.",
    _make,
    (common.PROCESSORS,),
    needs=(words.NEED, _NEED),
)
