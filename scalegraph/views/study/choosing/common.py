"""Shared parts of views of a study's space: axes, points of one size, options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from scalegraph.analyze.choosing.point import Point
from scalegraph.base.units import counted
from scalegraph.subjects import space
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import CHOOSE

GROUP: Final = CHOOSE
SEVERAL: Final = needs.counts(
    "This compares points of a study; run the program on several processor counts, machines, splits or schedules.",
    lambda data, **_: len(space.points(data)) > 1,
)
AXIS: Final[dict[str, tuple[str, Callable[[Point], str]]]] = {
    "machine": ("machine", lambda one: one.machine),
    "processors": ("N", lambda one: str(one.processors)),
    "threads_per_process": ("threads a process", lambda one: str(one.threads_per_process or "–")),
    "schedule": ("schedule", lambda one: one.schedule or "as written"),
    "affinity": ("affinity", lambda one: one.affinity or "–"),
    "cflags": ("flags", lambda one: one.cflags or "–"),
}
MEASURES: Final = {"time": "time", "core_hours": "core-hours", "energy": "energy", "price": "price"}
COST = Option(
    "minimise",
    "Minimise",
    "choice",
    "time",
    ("time", "core_hours", "energy", "price", "processors"),
    words=("least time", "fewest core-hours", "least energy", "lowest price", "fewest processors"),
    description="What to minimise.",
)
WITHIN = Option(
    "within",
    "Within",
    "float",
    None,
    minimum=1,
    description="Only points at most this many times slower than the fastest.",
)
EFFICIENCY = Option(
    "efficiency",
    "Efficiency at least",
    "float",
    None,
    minimum=0,
    maximum=1,
    description="Only points with at least this efficiency.",
)


def points(data: StudyData) -> tuple[list[Point], tuple[str, ...]]:
    """Return the points of one size, and notes on the size and on failures."""
    found, said = space.one_size(space.points(data), {})
    bad = space.failed(data)
    notes = [f"{said[:1].upper()}{said.partition('; --select')[0][1:]}."] if said else []
    if bad:
        notes.append(f"{bad} that failed {'is' if bad == 1 else 'are'} left out.")
    return found, tuple(notes)


def axes(found: Sequence[Point]) -> list[str]:
    """Return the axes along which the points differ, in the order of `AXIS`."""
    return [name for name, (_, value) in AXIS.items() if len({value(one) for one in found}) > 1]


def values(found: Sequence[Point], axis: str) -> list[str]:
    """Return an axis's values: numbers ascending, words in their original order."""
    every = list(dict.fromkeys(AXIS[axis][1](one) for one in found))
    return sorted(every, key=int) if all(one.isdecimal() for one in every) else every


def rest(one: Point, without: Sequence[str], varied: Sequence[str]) -> str:
    """Return the position of *one* on the axes *varied*, except *without*, as text."""
    said = []
    for name in varied:
        if name not in without:
            text = AXIS[name][1](one)
            threads = name == "threads_per_process" and text.isdecimal()
            said.append(counted(int(text), "thread") if threads else text)
    return ", ".join(said)


def title(what: str, data: StudyData, found: Sequence[Point]) -> str:
    """Return a view's title with the program, and the machine if there is only one."""
    machines = values(found, "machine")
    if len(machines) == 1:
        return f"{what}: {common.study_title(data)}"
    return f"{what}: {data.manifest.get('program') or data.name} on {len(machines)} machines"
