"""A loop's chunks over time: processor, origin and size."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.loops import chunks
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import exact, percent
from scalegraph.base.units import counted, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.palette import rivals
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.schedules import choice
from scalegraph.views.view import View

_TITLE = "Chunk history"
_MANY = 100  # chunks
_LANES = 16  # up to which each has a tick
_CURVES = 8  # processors whose chunk sizes are drawn
_ORIGINS = (("own share", "busy"), ("share of another", "idle"), ("central queue", "primitive"))


def _make(
    data: StudyData,
    execution: object = None,
    colour: object = "origin",
    schedule: object = None,
    loop: object = None,
    processors: object = None,
    size: object = None,
) -> Figure:
    chosen = choice.the_loop(data, size, processors, schedule, loop)
    table = chunks.history(chosen.run, chosen.loop)
    number = _execution(chosen, execution)
    if number is not None:
        table = table[table["execution"] == number - 1]
    rows = table.sort_values(["begin_s", "processor"], kind="stable")
    helped = int(rows["from"].str.startswith("member").sum())
    share = helped / max(1, len(rows))
    mean = significant(float(rows["size"].mean()) if len(rows) else 0.0)
    text = f"{counted(len(rows), 'chunk')} of {mean} iterations on average"
    text += f"; {percent(share)} came from another's share." if helped else "; none came from another's share."
    kept, made = len(chosen.loop.history.first), chosen.loop.chunk_count
    groups = _by_origin(rows) if colour == "origin" else _by_size(rows)
    last = max(chosen.loop.processor, default=0)
    ticks = tuple(map(float, range(last + 1))) if last < _LANES else ()
    lanes = Axis("processor", ticks=ticks, limits=(-0.7, last + 0.7))
    return Figure(
        f"{_TITLE}: {choice.words(chosen)}",
        text,
        (
            Plot(Axis("time", "s"), lanes, groups),
            Plot(Axis("time", "s"), Axis("chunk", "iterations", scale="log2"), _sizes(rows)),
        ),
        notes=(
            f"{choice.note(chosen)} {_which(number, chosen.loop.executions)}",
            *((f"The first {kept} of {made} chunks are kept.",) if kept < made else ()),
            *common.run_notes(data),
        ),
        meta={"run": chosen.run.point.key},
    )


def _which(number: int | None, executions: int) -> str:
    return f"{f'Execution {number}' if number else 'All'} of {counted(executions, 'execution')}."


def _execution(chosen: choice.Chosen, asked: object) -> int | None:
    """Return the execution to show, from 1; with many chunks the last complete one; None: all."""
    whole = chunks.whole_executions(chosen.loop)
    if asked is not None:
        return int(str(asked))
    return whole[-1] + 1 if whole and len(chosen.loop.history.first) > _MANY else None


def _tip(row: dict[str, object]) -> str:
    control = f", k = {row['k']}" if row["k"] else ""
    state = f", load {row['state']}" if row["state"] and row["k"] else ""
    last = int(str(row["first"])) + (int(str(row["size"])) - 1) * int(str(row["step"]))
    size = counted(int(str(row["size"])), "iteration")
    return (
        f"processor {row['processor']}: {size}, {row['first']} to {last}, of {row['from']}{control}"
        f"{state}\n{exact(float(str(row['begin_s'])), 's')} to {exact(float(str(row['end_s'])), 's')}"
    )


def _spans(rows: pd.DataFrame, name: str, role: str) -> Line:
    x: list[float] = []
    y: list[float] = []
    tips: list[str] = []
    for row in rows.to_dict("records"):
        x += [float(row["begin_s"]), float(row["end_s"]), float("nan")]
        y += [float(row["processor"]), float(row["processor"]), float("nan")]
        tips += [tip := _tip({str(key): value for key, value in row.items()}), tip, ""]
    return Line(name, tuple(x), tuple(y), role, markers=False, tips=tuple(tips))


def _by_origin(rows: pd.DataFrame) -> tuple[Line, ...]:
    own, central = rows["from"] == "own", rows["from"] == "central"
    parts = (rows[own], rows[~own & ~central], rows[central])
    return tuple(_spans(part, name, role) for part, (name, role) in zip(parts, _ORIGINS, strict=True) if not part.empty)


def _by_size(rows: pd.DataFrame) -> tuple[Line, ...]:
    sizes = numbers(rows, "size")
    classes = np.floor(np.log2(np.maximum(sizes, 1)) / 2).astype(int)
    known = sorted(set(classes.tolist()))
    return tuple(
        _spans(rows[classes == number], f"{4**number} to {4 ** (number + 1) - 1}", f"count:{at}/{len(known)}")
        for at, number in enumerate(known)
    )


def _sizes(rows: pd.DataFrame) -> tuple[Line, ...]:
    found: list[Line] = []
    for role, (processor, mine) in zip(rivals("ink"), rows.groupby("processor"), strict=False):
        if len(found) == _CURVES:
            break
        tips = tuple(_tip({str(key): value for key, value in row.items()}) for row in mine.to_dict("records"))
        x, y = tuple(map(float, mine["begin_s"])), tuple(map(float, mine["size"]))
        found.append(Line(f"processor {processor}", x, y, role, tips=tips))
    return tuple(found)


VIEW = View(
    "chunk-history",
    _TITLE,
    "Chunks of a loop over time by processor, coloured by owner of the share or by size; and chunk sizes over time.",
    _make,
    (
        Option(
            "execution",
            "Execution",
            "int",
            description="of the loop, from 1 on; otherwise all, or of many chunks the last",
            minimum=1,
        ),
        Option("colour", "Colour", "choice", "origin", ("origin", "size"), description="what the colours mean"),
        choice.SCHEDULE,
        choice.LOOP,
        common.PROCESSORS,
        common.SIZE,
    ),
    needs=(choice.LOOPS_NEED,),
)
