"""What limits a program on many processors, and from which N on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from scalegraph.predict.predicting import Predicted
from scalegraph.predict.regions import Values

EVENTS = "starts of parallel regions, barriers and locks"
WAITING = "waiting for slower threads"


@dataclass(frozen=True)
class Limit:
    """The part of the time that is the largest on the most *processors*, where it has the *share*, at a size.

    *since*: the least N from which on it is the largest; *before*: the largest part on the N below, empty if none is.
    """

    values: Values
    part: str
    share: float
    processors: int
    since: int
    before: str = ""


def limits(points: Iterable[Predicted]) -> list[Limit]:
    """Return the limit of every size that was predicted on two or more N."""
    found = []
    ordered = sorted(points, key=lambda point: (sorted(point.values.items()), point.processors))
    for _, group in groupby(ordered, key=lambda point: sorted(point.values.items())):
        rising = list(group)
        last = rising[-1]
        if len(rising) < 2:
            continue
        part, time_s = largest(last)
        names = [largest(point)[0] for point in rising]
        others = [at for at, name in enumerate(names) if name != part]
        first = others[-1] + 1 if others else 0
        before = names[first - 1] if first else ""
        found.append(Limit(last.values, part, time_s / last.time_s, last.processors, rising[first].processors, before))
    return found


def largest(point: Predicted) -> tuple[str, float]:
    """Return the part of the time that is the largest, and that time in s."""
    parts = [(one.name, one.time_s) for one in point.regions]
    return max([*parts, (EVENTS, point.events_s), (WAITING, point.waiting_s)], key=lambda pair: pair[1])
