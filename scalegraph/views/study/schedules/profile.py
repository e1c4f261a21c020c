"""Iteration times over the index space and over a loop's executions; the loop's type and locality."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from scalegraph.analyze.loops import chunks
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import exact, percent
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Bars, Figure, Line, Plot
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.schedules import choice
from scalegraph.views.view import View

_TITLE = "Iteration times of a loop"
_CURVES = 8
_CLASSES = 6
_NEED = needs.simulated(
    "No loop has all chunks of an execution on record: only its first 2,048 are kept. Run it under a schedule with"
    " larger chunks, such as ML.",
    lambda data, **_: any(
        chunks.whole_executions(loop) for run in (*data.runs, *data.variants) for loop in run.loops if loop.iterations
    ),
)


def _make(
    data: StudyData, schedule: object = None, loop: object = None, processors: object = None, size: object = None
) -> Figure:
    chosen = choice.the_loop(data, size, processors, schedule, loop)
    table = chunks.profile(chosen.run, chosen.loop)
    lines = []
    executions = list(dict.fromkeys(table["execution"]))
    shown = executions if len(executions) <= _CURVES else [executions[i] for i in _spread(len(executions))]
    for at, number in enumerate(shown):
        rows = table[table["execution"] == number]
        x, y = tuple(map(float, rows["first"])), tuple(map(float, rows["time_s"]))
        tips = tuple(
            f"execution {number + 1}, iterations {first} to {last}: {exact(value, 's')}"
            for first, last, value in zip(rows["first"], rows["last"], y, strict=True)
        )
        name, role = f"execution {number + 1}", f"count:{at}/{len(shown)}"
        lines.append(Line(name, x, y, role, markers=False, tips=tips))
    times = numbers(table, "time_s")
    kind, found = chunks.loop_type(chosen.run, chosen.loop), chunks.locality(chosen.loop)
    said = f"{kind.words[0].upper()}{kind.words[1:]}."
    if math.isfinite(found.rate):
        said += f" Locality rate {percent(found.rate)} of the iterations stay on their processor"
        said += f" (affinity strength {found.strength} of {significant(found.mean)} iterations)."
    data_of = chunks.line_locality(chosen.loop)
    if math.isfinite(data_of.rate):
        said += f" {percent(data_of.rate)} of the lines that a processor uses were used by it in the previous execution"
        said += f" ({data_of.strength} of {significant(data_of.mean)} lines)."
    return Figure(
        f"{_TITLE}: {choice.words(chosen)}",
        said,
        (
            Plot(Axis("iteration"), Axis("time of an iteration", "s"), tuple(lines)),
            _histogram(times[np.isfinite(times)]),
        ),
        notes=(
            f"{choice.note(chosen)} An iteration's time is its chunk's time divided by the chunk's iterations.",
            f"Balanced: a deviation of at most {percent(chunks.BALANCED)} of the mean; here {percent(kind.spread)}.",
            f"Predictable: profiles of consecutive executions correlate by {chunks.ALIKE} or more.",
            *common.run_notes(data),
        ),
        meta={"run": chosen.run.point.key},
    )


def _spread(count: int) -> list[int]:
    return sorted({round(i * (count - 1) / (_CURVES - 1)) for i in range(_CURVES)})


def _histogram(times: npt.NDArray[np.float64]) -> Plot:
    """Return a histogram of iteration times, counting parts of the index space and executions."""
    counts, edges = np.histogram(times, bins=_CLASSES) if len(times) else (np.zeros(1), np.zeros(2))
    labels = tuple(si(float(value), "s") for value in (edges[1:] + edges[:-1]) / 2)
    tips = tuple(
        f"{int(count)} parts: {exact(float(low), 's')} to {exact(float(high), 's')}"
        for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    )
    places = tuple(map(float, range(len(labels))))
    bars = Bars(places, (("parts of the index space", "busy", tuple(map(float, counts))),), (tips,))
    return Plot(Axis("time of an iteration", scale="category", categories=labels), Axis("parts"), bars=bars)


VIEW = View(
    "iteration-times",
    _TITLE,
    "Time of an iteration over the index space and over the executions; the loop's type and locality in words.",
    _make,
    (choice.SCHEDULE, choice.LOOP, common.PROCESSORS, common.SIZE),
    needs=(choice.LOOPS_NEED, _NEED),
)
