"""Each processor's time and iterations in a loop."""

from __future__ import annotations

from scalegraph.analyze.loops import chunks
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.figures.figure import Axis, Column, Figure, Row, Table
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.memory import cause_words
from scalegraph.views.study.schedules import choice
from scalegraph.views.view import View

_TITLE = "Load of a loop by processor"
_MOST = 64
_WORDS = {
    "working_s": ("iterations", "busy"),
    "stall_s": ("memory stall", "memory_stall"),
    "asking_s": ("obtaining chunks", "primitive:1"),
    "lock_s": ("waiting for queues", "idle:4"),
    "ending_s": ("waiting for the last processor", "idle"),
}
_COUNTS = {
    "own_iterations": "own iterations",
    "other_iterations": "of others",
    "central_iterations": "of a central queue",
    "own_chunks": "own chunks",
    "other_chunks": "chunks of others",
    "central_chunks": "chunks of a central queue",
}


def _make(
    data: StudyData, schedule: object = None, loop: object = None, processors: object = None, size: object = None
) -> Figure:
    chosen = choice.the_loop(data, size, processors, schedule, loop)
    table = chunks.load(chosen.run, chosen.loop)
    names = [f"processor {number}" for number in table["processor"]]
    plot = cause_words.ranked(table.head(_MOST), names[:_MOST], _WORDS, Axis("time in the loop", "s"))
    used = [name for name in _COUNTS if table[name].any()]
    columns = (
        Column("processor"),
        *(Column(_COUNTS[name], "", "muted") for name in used),
        *(Column(text, "s", role) for text, role in _WORDS.values()),
    )
    rows = tuple(
        Row((int(row["processor"]), *(int(row[name]) for name in used), *(float(row[name]) for name in _WORDS)))
        for row in table.to_dict("records")
    )
    body = numbers(table, "working_s") + numbers(table, "stall_s")
    mean = float(body.mean()) if len(body) else 0.0
    taken = sum(float(table[name].sum()) for name in _COUNTS if name.endswith("iterations"))
    said = f"The busiest processor works {percent(float(body.max()) / mean - 1)} longer than the mean" if mean else ""
    moved = float(table["other_iterations"].sum()) / max(taken, 1.0)
    return Figure(
        f"{_TITLE}: {choice.words(chosen)}",
        f"{said}; {percent(moved)} of the iterations were taken from another's share." if said else "No work is seen.",
        (plot, Table(columns, rows)),
        notes=(
            f"{choice.note(chosen)} Over all executions of the loop.",
            *((f"The first {_MOST} processors are drawn; the table has all.",) if len(names) > _MOST else ()),
            *common.run_notes(data),
        ),
        meta={"run": chosen.run.point.key},
    )


VIEW = View(
    "loop-load",
    _TITLE,
    "Time and iterations of each processor in a loop: own share, share of others, obtaining chunks, uneven end.",
    _make,
    (choice.SCHEDULE, choice.LOOP, common.PROCESSORS, common.SIZE),
    needs=(choice.LOOPS_NEED,),
)
