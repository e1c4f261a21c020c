"""What processors lose under each schedule, by cause."""

from __future__ import annotations

from typing import Final

import pandas as pd

from scalegraph.base.run import RunRecord
from scalegraph.figures.figure import Axis, Column, Figure, Plot, Row, Table
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.option import Option
from scalegraph.subjects.schedule_runs import ScheduleRuns
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.memory import cause_words
from scalegraph.views.study.schedules import words
from scalegraph.views.view import View

_TITLE = "Losses by schedule"
# The three overheads that a schedule trades (adaptive-loop-scheduling.txt, section 1), and the rest.
_ALLOCATION: Final = ("prim_schedule", "idle_lock", "prim_lock")
_IMBALANCE: Final = ("idle_barrier", "idle_finished")
_PARTS: Final = (
    ("obtaining iterations and waiting for queues", "primitive"),
    ("imbalance: waiting at barriers", "idle"),
    ("communication: memory stall", "memory_stall"),
    ("all else that is lost", "muted"),
)


def parts(run: RunRecord) -> tuple[float, ...]:
    """Return the average loss per processor in seconds: allocation, imbalance, memory stall, rest."""
    groups = CATEGORY_GROUPS
    sums = [0.0] * len(_PARTS)
    for name, cycles in run.categories.items():
        if groups[name] == "busy":
            continue
        stall = 2 if groups[name] == "memory_stall" else 3
        sums[0 if name in _ALLOCATION else 1 if name in _IMBALANCE else stall] += cycles
    each = (run.clock_hz or 1.0) * run.point.processors
    return tuple(cycles / each for cycles in sums)


def _make(data: StudyData, processors: int | None = None, most: int = 12) -> Figure:
    runs = words.the_runs(data)
    count = words.the_count(runs, processors)
    advice = runs.advice(count)
    records = runs.records(count)
    shown = sorted(records, key=lambda name: (records[name].time_s or 0.0, name))[:most]
    if WRITTEN not in shown:
        shown.append(WRITTEN)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {count}",
        words.verdict(advice) if advice is not None else "",
        (_plot(records, shown), _table(runs, count)),
        notes=(
            "Average loss per processor in seconds; the rest of the time it computes.",
            *words.notes(data, runs),
        ),
    )


def _plot(records: dict[str, RunRecord], shown: list[str]) -> Plot:
    losses = pd.DataFrame([parts(records[name]) for name in shown], columns=[text for text, _ in _PARTS])
    names = [words.said(name) for name in shown]
    return cause_words.ranked(
        losses, names, {text: (text, role) for text, role in _PARTS}, Axis("lost by a processor", "s")
    )


def _table(runs: ScheduleRuns, count: int) -> Table:
    columns = (
        Column("schedule"),
        Column("elapsed time", "s"),
        *(Column(text, "s", role) for text, role in _PARTS),
        Column("chunks"),
    )
    records = runs.records(count)
    rows = [
        Row((words.said(name), run.time_s, *parts(run), run.counters.get("chunks")), tip=name)
        for name, run in sorted(records.items(), key=lambda item: (item[1].time_s or 0.0, item[0]))
    ]
    return Table(columns, tuple(rows))


VIEW = View(
    "schedule-losses",
    _TITLE,
    "The loss per processor under each schedule: obtaining iterations, imbalance, communication.",
    _make,
    (
        common.PROCESSORS,
        Option("most", "Bars", "int", 12, description="how many schedules are drawn", minimum=1, maximum=40),
    ),
    needs=(words.NEED,),
)
