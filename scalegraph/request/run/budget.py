"""The runs of a large space within a budget of runs or minutes: rounds of successive halving (`choosing.halving`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from scalegraph.base.cancel import Deadline
from scalegraph.base.measures import percent
from scalegraph.base.points import AXES
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import counted
from scalegraph.request.model.space import MINIMISED, Minimised

if TYPE_CHECKING:
    from scalegraph.analyze.choosing.halving import Left

_AT_LEAST = 2  # runs per round: a single run teaches little
_NOUNS = {"time": "time", "core_hours": "core-hours", "energy": "energy", "price": "money"}


def _time(record: RunRecord) -> float | None:
    return record.time_s


@dataclass
class Search:
    """A search among the runs of *points*: `rounds` gives the next runs, `note` takes the results.

    *runs*: the most to make, None for no such limit; *deadline*: when it ends, None for no such limit. *cost*: the
    quantity to minimise, of a run; None if unknown.
    """

    points: Sequence[RunPoint]
    runs: int | None
    deadline: Deadline | None
    workers: int = 1
    cost: Callable[[RunRecord], float | None] = _time
    minimise: Minimised = "time"
    known: dict[int, float] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    made: int = 0

    def __post_init__(self) -> None:
        """Create the places."""
        from scalegraph.analyze.choosing.halving import Place  # imports numpy

        self.places = [
            Place(
                (*(point.setting.get(axis, "") for axis in AXES), str(sorted(point.parameters.items()))),
                point.processors,
            )
            for point in self.points
        ]
        self._at = {point.key: at for at, point in enumerate(self.points)}
        self._taken: dict[int, float] = {}  # host seconds
        self._begun: set[int] = set()

    def note(self, record: RunRecord) -> None:
        """Record a finished run."""
        at = self._at.get(record.point.key)
        if at is None:
            return
        value = self.cost(record) if record.ok else None
        if value:
            self.known[at] = value
        else:
            self.bad.add(at)
        if at in self._begun:
            self.made += 1
        self._taken[at] = record.host_s or 0.0

    def next(self) -> list[RunPoint]:
        """Return the runs of the next round, none if the budget is spent or nothing is left."""
        from scalegraph.analyze.choosing import halving  # imports numpy

        over = self.known.keys() | self.bad | self._begun
        rest = [at for at in range(len(self.places)) if at not in over]
        begun = len(self._begun)
        bound = len(self.places) if self.runs is None else self.runs
        if self.deadline is not None:
            bound = min(bound, begun + self._in_time())
        left = min(len(rest), bound - begun)
        if left <= 0:
            return []
        most = max(_AT_LEAST, self.workers, left // 3)
        spread = halving.opening(min(bound, len(self.places)), len(self.places))
        if begun < spread and len(self.known) < max(_AT_LEAST, spread):  # a point with runs counts from the beginning
            count = left if self.deadline is None else most
            chosen = [at for at in halving.first(self.places, spread) if at not in over][: min(left, count)]
        else:
            chosen = halving.following(self.places, self.known, sorted(self.bad | self._begun), left, most)
        chosen = chosen or rest[: min(left, most)]
        self._begun |= {*chosen}
        return [self.points[at] for at in chosen]

    def _in_time(self) -> int:
        """Return how many more runs the time allows, judged by the runs so far."""
        assert self.deadline is not None
        left = self.deadline.left_s
        if not left:
            return 0
        if not self._taken:
            return self.workers  # the first runs show how long they take
        return int(left * self.workers / max(1e-3, sum(self._taken.values()) / len(self._taken)))

    def carry_out(self, run: Callable[[Sequence[RunPoint]], object], stopped: Callable[[], bool]) -> None:
        """Make one round after the other until the budget is spent, or *stopped*."""
        while not stopped() and (chosen := self.next()):
            run(chosen)

    @cached_property
    def _left(self) -> Left:
        """The points left out, after the search."""
        from scalegraph.analyze.choosing import halving  # imports numpy

        return halving.left_out(self.places, self.known, sorted(self.bad))

    def said(self) -> str:
        """Return sentences on the points left out, and what that may cost."""
        found = self._left
        if not found.count:
            return "every point of the space was run"
        left = f"{counted(self.made, 'run')} of a space of {counted(len(self.places), 'point')}"
        were = "was" if found.count == 1 else "were"
        text = f"{left}, in search of {MINIMISED[self.minimise]}: {found.count} {were} left out"
        if stopped := len(self._begun) - self.made:
            text += f", {stopped} of them when the time was up"
        if found.likeliest is None:
            return f"{text}; too few runs are known to say what that may cost"
        point = self.points[found.likeliest]
        return (
            f"{text}; the risk that one of them needs 5 % less {_NOUNS[self.minimise]} than the best is "
            f"{_chance(found.risk)}, as far as the model of those that were run can tell; the likeliest is "
            f"{point.label()} ({_chance(found.chance)})"
        )

    def document(self) -> Mapping[str, object]:
        """Return what was searched and left out, as JSON."""
        found = self._left
        likeliest = None if found.likeliest is None else self.points[found.likeliest].label()
        known = found.likeliest is not None
        return {
            "points": len(self.places),
            "runs": self.made,
            "minimise": self.minimise,
            "left_out": found.count,
            "likeliest": likeliest,
            "chance": found.chance if known else None,
            "risk": found.risk if known else None,
            "sentence": self.said(),
        }


def _chance(value: float) -> str:
    return "below 1 %" if value < 0.01 else f"about {percent(value)}"
