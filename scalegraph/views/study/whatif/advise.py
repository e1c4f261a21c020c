"""The best next run: the point that narrows the prediction most for its cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalegraph.analyze import advise
from scalegraph.analyze.advise import Advice, Model
from scalegraph.base.units import assigned, si
from scalegraph.figures.figure import PREDICTED_TIME, Axis, Column, Figure, Line, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.next_run import found, run_words, target_of, unimproved
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.counts("Advice needs a law first, which needs one problem on three or more processor counts.")
_TITLE = "What to run next"
_SHOWN = 12
_UNITS = {"elapsed": "elapsed time", "processor": "processor time", "host": "time of this computer"}


def _make(
    data: StudyData,
    at: int | None = None,
    size: float | None = None,
    cost: object = "elapsed",
    most: int | None = None,
) -> Figure | Need:
    model = advise.model_of(data.table, data.scaling)
    if model is None:
        return _NEED
    goal = target_of(model, at, size)
    kind = next(known for known in advise.COSTS if known == cost)
    entries = found(data, model, goal, kind, most)
    where = _place(model, goal)
    seconds = model.time(goal)
    if not entries:
        said = f"The predicted time on {where} is {si(seconds, 's')}, {unimproved(model, goal)}"
        return Figure(f"{_TITLE}: {common.study_title(data)}", said, (_curve(model, goal),))
    best = entries[0]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{_words(best)}: it narrows the predicted time on {where} from {advise.half_width(best.now)} to "
        f"{advise.half_width(best.then)} and takes {si(best.cost, 's')} of {_UNITS[kind]}.",
        (_table(model, entries), _curve(model, goal, best)),
        notes=(
            f"Law: {model.best.formula} ({model.best.title}).",
            *((model.best.doubt,) if model.best.doubt else ()),
            "Interval: 95 %, including rival laws that the points allow.",
        ),
    )


def _words(entry: Advice) -> str:
    return f"{'Repeat' if entry.again else 'Run'} {run_words(entry)} next"


def _place(model: Model, goal: Sequence[float]) -> str:
    text = f"{int(goal[0])} processors"
    return f"{text} with {assigned([(model.size, goal[1])])}" if model.size else text


def _table(model: Model, entries: Sequence[Advice]) -> Table:
    columns = [Column("N")]
    if model.size:
        columns.append(Column(model.size))
    columns += [
        Column("predicted time", "s"),
        Column("cost", "s"),
        Column("interval then", PREDICTED_TIME),
        Column("narrowed per second", "% of predicted time/s", "mark"),
        Column("tells rivals", "sd"),
        Column("run before"),
    ]
    rows = []
    for entry in entries[:_SHOWN]:
        cells: list[float | int | str | None] = [entry.processors]
        if model.size:
            cells.append(float(entry.parameters[model.size]))  # type: ignore[arg-type]
        cells += [
            entry.seconds,
            entry.cost,
            50 * entry.then,
            50 * entry.worth,
            entry.tells or None,
            "yes" if entry.again else "no",
        ]
        rows.append(Row(tuple(cells)))
    return Table(tuple(columns), tuple(rows))


def _curve(model: Model, goal: Sequence[float], best: Advice | None = None) -> Plot:
    """Return the law with its band over N, at the target's size."""
    counts = np.unique([*model.points[:, 0], goal[0], *([best.processors] if best else [])])
    rows = np.column_stack([counts, *([np.full(len(counts), goal[1])] if model.size else [])])
    low, high = model.band(rows)
    value = model.best.predict(rows)
    line = Line(
        "predicted",
        tuple(counts.tolist()),
        tuple(value.tolist()),
        "time",
        "predicted",
        tuple(np.maximum(low, 0.0).tolist()),
        tuple(high.tolist()),
        "dashed",
        tips=tuple(f"N = {int(n)}\npredicted: {common.exact(t, 's')}" for n, t in zip(counts, value, strict=True)),
        processors=tuple(int(n) for n in counts),
    )
    marks = [Mark("to be known", x=goal[0])]
    if best is not None:
        marks.append(Mark("run next", x=float(best.processors)))
    return Plot(
        common.processors_axis([int(n) for n in counts]),
        Axis("elapsed time", "s", scale="log10"),
        (line,),
        marks=tuple(marks),
    )


VIEW = View(
    "advise",
    _TITLE,
    "The run that narrows the predicted time most for its cost, including uncertainty about the law.",
    _make,
    (
        Option("at", "Predict at N", "int", description="processors to predict; otherwise twice the most", minimum=1),
        Option("size", "Predict at size", "float", description="size to predict; otherwise the largest", minimum=0),
        Option("cost", "Cost", "choice", "elapsed", advise.COSTS, description="what a run costs"),
        Option("most", "At most N", "int", description="the most processors that can be run", minimum=1),
    ),
    group="Models",
    order=60,
    needs=(_NEED,),
)
