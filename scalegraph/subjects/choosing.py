"""The answer to "which point should I choose?": the point, its cost, what limits it, and how certain the choice is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scalegraph.analyze import culprits, verdicts
from scalegraph.analyze.choosing.choice import Choice, Wishes, choose
from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.base.errors import InputError
from scalegraph.base.measures import percent
from scalegraph.base.run import Value
from scalegraph.base.units import counted, si, significant
from scalegraph.subjects import judgement, space
from scalegraph.subjects.study import StudyData

_LEAST = {"time": "fastest", "processors": "smallest"}


@dataclass(frozen=True)
class Answer:
    """A choice in words: *limits*: sentences on what limits the point; *certainty*: how certain the choice is."""

    choice: Choice
    wishes: Wishes
    limits: tuple[str, ...]
    certainty: str
    remarks: tuple[str, ...]

    @property
    def limit(self) -> str:
        """What limits the point, in sentences."""
        return " ".join(self.limits)

    @property
    def sentence(self) -> str:
        """The answer in sentences: the point, its cost, why it was chosen, what limits it, how certain that is."""
        return " ".join(filter(None, (taken(self.choice, self.wishes), self.limit, self.certainty)))

    def document(self) -> dict[str, Any]:
        """Return the document of ``choose --json``."""
        second = self.choice.second
        return {
            "choice": self.choice.point.document(),
            "frontier": [point.document() for point in self.choice.frontier],
            "sentence": self.sentence,
            "minimise": self.wishes.minimise,
            "within": self.wishes.within,
            "limit": self.limit,
            "certainty": self.certainty,
            "next": None if second is None else second.document(),
            "points": len(self.choice.points),
            "allowed": self.choice.allowed,
            "remarks": list(self.remarks),
        }


def answer(data: StudyData, wishes: Wishes, sizes: Mapping[str, Value] | None = None) -> Answer:
    """Return the point of a study to choose under *wishes*; *sizes* select one of several.

    Raises `InputError` if no point is allowed, or the quantity to minimise is unknown.
    """
    every = space.points(data)
    bad = space.failed(data)
    if not every and bad:
        raise InputError(f"no run of the study ended well and has a time: {counted(bad, 'run')} failed")
    points, said = space.one_size(every, sizes or {})
    choice = choose(points, wishes)
    remarks = [said] if said else []
    if bad:
        remarks.append(f"{counted(bad, 'run')} that failed {'is' if bad == 1 else 'are'} not compared")
    if isinstance(searched := data.manifest.get("searched"), str) and len(choice.points) > 1:
        remarks.append(searched)
    return Answer(
        choice, wishes, limited_by(data, choice.point), certainty(choice, wishes), (*remarks, *choice.dropped)
    )


def taken(choice: Choice, wishes: Wishes) -> str:
    """Return a sentence with the point, its cost, and the reason for the choice."""
    point = choice.point
    costs: list[Objective] = ["time", "core_hours", "energy", "price"]
    amounts = ", ".join(point.amount(name) for name in costs if point.cost(name) is not None)
    queue = f", {si(point.queue_s, 's')} of them in the queue" if point.queue_s else ""
    if len(choice.points) == 1:
        return f"Take {point.words()}: {amounts}{queue}. It is the only point of the study."
    least = _LEAST.get(wishes.minimise, f"one that needs the least {OBJECTIVES[wishes.minimise]}")
    if wishes.minimise == "core_hours":
        least = "one that needs the fewest core-hours"
    among = f"of {counted(choice.allowed, 'point')}"
    if choice.allowed < len(choice.points):
        among = f"of the {choice.allowed} of {counted(len(choice.points), 'point')} that are allowed"
    if wishes.within is not None and wishes.minimise != "time":
        fastest = si(choice.fastest.elapsed_s, "s")
        among += f", within {significant(wishes.within)} times the fastest time, {fastest} ({choice.fastest.words()})"
    elif wishes.minimise not in ("time", "processors"):
        among += "; nothing bounds its time (--within 1.2 would)"
    return f"Take {point.words()}: {amounts}{queue}. It is the {least} {among}."


def limited_by(data: StudyData, point: Point) -> tuple[str, ...]:
    """Return what limits *point*, from the loss of its run relative to the fewest processors."""
    if point.processors == 1:
        return ("On one processor nothing parallel limits it.",)
    part = (data.choices or (data,))[point.member]
    run = next((part.by_key[key] for key in point.keys if key in part.by_key), None)
    if run is None:
        return ()
    same = [
        one
        for one in part.runs
        if one.ok and one.point.parameters == run.point.parameters and one.point.processors <= run.point.processors
    ]
    same = [one for one in same if one.point.processors < run.point.processors or one is run]
    found = culprits.of_largest(same, part.regions, part.variants)
    parts = found[1] if found is not None else None
    if parts is None and part.imported is not None and part.main_series is not None:
        parts = judgement.parts(part, part.main_series, point.processors)
    if parts is None or not len(parts):
        return ("What limits it there is not known: its runs have no costs by place.",)
    return tuple(item.text for item in verdicts.lost(parts, point.processors))


def certainty(choice: Choice, wishes: Wishes) -> str:
    """Return how certain the choice is, from the spread of its runs and the distance to the next best point."""
    point, second = choice.point, choice.second
    said = _spread(point)
    if second is None:
        return f"{said}."
    best, next_best = point.cost(wishes.minimise) or 0.0, second.cost(wishes.minimise) or 0.0
    if not best:
        return f"{said}."
    more = next_best / best - 1
    if wishes.minimise != "processors" and _overlap(point, second, best, next_best):
        return f"{said}; {second.words()} is as good as that spread can tell."
    far = "as good" if more < 5e-4 else f"{percent(more, 1)} more"
    return f"{said}; the next best, {second.words()}, {'is' if more < 5e-4 else 'needs'} {far}."


def _spread(point: Point) -> str:
    if point.source == "simulated":
        if point.low_s is None or point.high_s is None:
            return "Simulated: the same every time, the error of the model aside"
        return f"Simulated from samples, {si(point.low_s, 's')} to {si(point.high_s, 's')} with 95 % confidence"
    word = point.source.capitalize()
    if point.low_s is None or point.high_s is None:
        return f"{word} once, so how much its time varies is not known"
    return f"{word} {point.repetitions} times, its median between {si(point.low_s, 's')} and {si(point.high_s, 's')}"


def _overlap(point: Point, second: Point, best: float, next_best: float) -> bool:
    """Whether the intervals of two points' needs overlap; costs vary as times do."""
    if point.high_s is None or not point.time_s or not second.time_s:
        return False
    high = best * point.high_s / point.time_s
    low = next_best * (second.low_s if second.low_s is not None else second.time_s) / second.time_s
    return low <= high
