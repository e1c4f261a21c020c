"""Time over N as small multiples: a panel per value of one axis, a curve per combination of the others."""

from __future__ import annotations

from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.choosing.common import AXIS, SEVERAL, axes, points, rest, title, values
from scalegraph.views.view import View

_TITLE = "Curves by choice"
_MOST = 6  # panels
_PANELS = tuple(name for name in AXIS if name != "processors")
_Y = ("time", "core_hours", "energy", "price", "efficiency", "speedup")


def _make(data: StudyData, panels: str | None = None, value: str = "time") -> Figure:
    found, notes = points(data)
    if all(_amount(one, value) is None for one in found):
        notes = (f"No point's {_label(value)} is known; shown is the time instead.", *notes)
        value = "time"
    varied = [name for name in axes(found) if name != "processors"]
    by = panels or (varied[0] if varied else "machine")
    shown = values(found, by)
    every = sorted({one.processors for one in found})
    names = list(dict.fromkeys(rest(one, (by, "processors"), varied) for one in found))
    amounts = [amount for one in found if (amount := _amount(one, value)) is not None and amount > 0]
    limits = (min(amounts) / 1.15, max(amounts) * 1.15) if amounts and len(shown) > 1 else None
    made = []
    for text in shown[:_MOST]:
        part = [one for one in found if AXIS[by][1](one) == text]
        lines = [
            _line(name, at, [one for one in part if rest(one, (by, "processors"), varied) == name], value)
            for at, name in enumerate(names)
        ]
        label = f"{_label(value)}: {text}" if len(shown) > 1 else _label(value)
        kept = tuple(line for line in lines if line.x)
        made.append(Plot(common.processors_axis(every), Axis(label, _unit(value), "log10", limits=limits), kept))
    if len(shown) > _MOST:
        notes = (*notes, f"The first {_MOST} of {len(shown)} panels are shown.")
    fastest = min(found, key=lambda one: one.elapsed_s)
    return Figure(
        title(_TITLE, data, found),
        f"The fastest is {fastest.words()}: {fastest.amount('time')}.",
        tuple(made),
        notes=notes,
    )


def _amount(one: Point, value: str) -> float | None:
    if value in ("efficiency", "speedup"):
        found: float | None = getattr(one, value)
        return found
    costs: dict[str, Objective] = {"time": "time", "core_hours": "core_hours", "energy": "energy", "price": "price"}
    return one.cost(costs[value])


def _label(value: str) -> str:
    return {name: words for name, words in OBJECTIVES.items() if name == value}.get(value, value)  # type: ignore[call-overload, no-any-return]


def _unit(value: str) -> str:
    return {"time": "s", "energy": "J"}.get(value, "")


def _line(name: str, at: int, found: list[Point], value: str) -> Line:
    ordered = sorted((one for one in found if _amount(one, value) is not None), key=lambda one: one.processors)
    return Line(
        name or _label(value),
        tuple(float(one.processors) for one in ordered),
        tuple(_amount(one, value) or 0.0 for one in ordered),
        f"series:{at}",
        common.origin_of(*(one.source for one in ordered)) if ordered else "simulated",
        tips=tuple(f"{one.words()}: {one.amount('time')}" for one in ordered),
        processors=tuple(one.processors for one in ordered),
    )


VIEW = View(
    "choice-curves",
    _TITLE,
    "Time, cost or efficiency over N in small multiples by machine, split, schedule, affinity or flags.",
    _make,
    (
        Option(
            "panels",
            "Panels",
            "choice",
            None,
            _PANELS,
            words=tuple(AXIS[name][0] for name in _PANELS),
            description="The axis that separates the panels; by default the first that varies.",
        ),
        Option(
            "value",
            "Value",
            "choice",
            "time",
            _Y,
            words=("time", "core-hours", "energy", "price", "efficiency", "speedup"),
            description="What is drawn.",
        ),
    ),
    needs=(SEVERAL,),
)
