"""The runs of a large space under a bound of runs or minutes: rounds of successive halving (`choosing.halving`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scalegraph.base.measures import percent
from scalegraph.base.points import AXES
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import counted

_AT_LEAST = 2  # runs of a round: one more run teaches little


@dataclass
class Search:
    """A search in the runs of *points*: `rounds` says which to make next, `note` takes what came.

    *runs*: how many at most, None for no such bound; *seconds*: after which no round begins, None for no such bound.
    """

    points: Sequence[RunPoint]
    runs: int | None
    seconds: float | None
    workers: int = 1
    known: dict[int, float] = field(default_factory=dict)
    bad: set[int] = field(default_factory=set)
    made: int = 0

    def __post_init__(self) -> None:
        """Name the places."""
        from scalegraph.analyze.choosing.halving import Place  # loads numpy

        self.places = [
            Place(
                (*(point.setting.get(axis, "") for axis in AXES), str(sorted(point.parameters.items()))),
                point.processors,
            )
            for point in self.points
        ]
        self._at = {point.key: at for at, point in enumerate(self.points)}
        self._begun = time.monotonic()

    def note(self, record: RunRecord) -> None:
        """Take note of a run that has ended."""
        at = self._at.get(record.point.key)
        if at is None:
            return
        if record.ok and record.time_s:
            self.known[at] = record.time_s
        else:
            self.bad.add(at)

    def next(self) -> list[RunPoint]:
        """Return the runs of the next round, none where the bound is met or nothing is left."""
        from scalegraph.analyze.choosing import halving  # loads numpy

        rest = [at for at in range(len(self.places)) if at not in self.known and at not in self.bad]
        bound = len(self.places) if self.runs is None else self.runs
        left = min(len(rest), bound - self.made)
        if left <= 0 or (self.seconds is not None and time.monotonic() - self._begun >= self.seconds):
            return []
        if not self.made and len(self.known) < _AT_LEAST:  # a study that has runs teaches from the beginning
            spread = halving.opening(bound if self.runs is not None else len(self.places) // 5, len(self.places))
            chosen = [at for at in halving.first(self.places, spread) if at in set(rest)][:left]
        else:
            most = max(_AT_LEAST, self.workers, left // 3)
            chosen = halving.following(self.places, self.known, sorted(self.bad), left, most)
        if not chosen:
            chosen = rest[:left]
        self.made += len(chosen)
        return [self.points[at] for at in chosen]

    def carry_out(self, run: Callable[[Sequence[RunPoint]], object], stopped: Callable[[], bool]) -> None:
        """Make the rounds one after the other until the bound is met, or *stopped*."""
        while not stopped() and (chosen := self.next()):
            run(chosen)

    def said(self) -> str:
        """Return in sentences what was left out, and what that may cost."""
        from scalegraph.analyze.choosing import halving  # loads numpy

        found = halving.left_out(self.places, self.known, sorted(self.bad))
        if not found.count:
            return "every point of the space was run"
        left = f"{counted(self.made, 'run')} of a space of {counted(len(self.places), 'point')}"
        text = f"{left}: {found.count} {'was' if found.count == 1 else 'were'} left out"
        if found.likeliest is None:
            return f"{text}; too few runs are known to say what that may cost"
        point = self.points[found.likeliest]
        chance = "less than 1 %" if found.chance < 0.01 else f"about {percent(found.chance)}"
        return (
            f"{text}; by the model of those that were run the likeliest of them to be more than 5 % faster than the "
            f"fastest is {point.label()}, with a chance of {chance}"
        )

    def document(self) -> Mapping[str, object]:
        """Return what was searched and left out, as JSON."""
        from scalegraph.analyze.choosing import halving  # loads numpy

        found = halving.left_out(self.places, self.known, sorted(self.bad))
        likeliest = None if found.likeliest is None else self.points[found.likeliest].label()
        chance = None if found.likeliest is None else found.chance
        return {
            "points": len(self.places), "runs": self.made, "left_out": found.count, "likeliest": likeliest,
            "chance": chance, "sentence": self.said(),
        }  # fmt: skip
