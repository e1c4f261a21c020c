"""What limits a program on many processors, and from which N."""

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
    """The largest part of the time on the most *processors*, with its *share*, at one size.

    *since*: the least N from which it is the largest; *before*: the largest part below that N, empty if there is none.
    """

    values: Values
    part: str
    share: float
    processors: int
    since: int
    before: str = ""


def limits(points: Iterable[Predicted]) -> list[Limit]:
    """Return the limit for every size that was predicted on two or more N."""
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
    """Return the largest part of the time, and its time in s."""
    parts = [(one.name, one.time_s) for one in point.regions]
    return max([*parts, (EVENTS, point.events_s), (WAITING, point.waiting_s)], key=lambda pair: pair[1])
