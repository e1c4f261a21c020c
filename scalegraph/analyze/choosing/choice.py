"""The best point of a space under the user's constraints, and the Pareto frontier of time against cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, significant

EFFICIENT: Final = 0.7
"""The efficiency that computing centres usually ask for."""


@dataclass(frozen=True)
class Wishes:
    """Constraints on the point that minimises *minimise*.

    *within*: its time is at most this multiple of the fastest. *efficiency*: its efficiency is at least this.
    *whole_nodes*: it fills nodes. *queue_s*: pairs (processors, seconds in the queue) for jobs of at least that size.
    """

    minimise: Objective = "time"
    within: float | None = None
    efficiency: float | None = None
    whole_nodes: bool = False
    queue_s: Sequence[tuple[int, float]] = ()

    @property
    def against(self) -> Objective:
        """The objective that the frontier plots against time.

        Source: ScaleGraph.
        """
        return "core_hours" if self.minimise in ("time", "processors") else self.minimise


@dataclass(frozen=True)
class Choice:
    """The chosen point, the runner-up among the allowed points, the frontier, and how many points there were.

    *fastest* is the reference of *within*; *dropped* says in sentences which points the constraints excluded.
    """

    point: Point
    second: Point | None
    fastest: Point
    frontier: Sequence[Point]
    allowed: int
    points: Sequence[Point]
    dropped: Sequence[str] = ()


def queued(points: Sequence[Point], queue_s: Sequence[tuple[int, float]]) -> list[Point]:
    """Return *points* with the queue time for their size: that of the largest listed count not above it.

    Shape: one for each point. Unit: s. Source: ScaleGraph.
    """
    steps = sorted(queue_s)
    waits = [max(((n, wait) for n, wait in steps if n <= point.processors), default=(0, 0.0))[1] for point in points]
    return [replace(point, queue_s=wait) for point, wait in zip(points, waits, strict=True)]


def frontier(points: Sequence[Point], against: Objective) -> list[Point]:
    """Return the Pareto-optimal points (no other point is both faster and cheaper), fastest first.

    Shape: one for each point. Unit: as of `Point`. Source: Pareto's definition.
    """
    found: list[Point] = []
    least = float("inf")
    for point in sorted(points, key=lambda one: (one.elapsed_s, one.cost(against) or 0.0, one.processors)):
        cost = point.cost(against)
        if cost is not None and cost < least:
            found.append(point)
            least = cost
    return found


def choose(points: Sequence[Point], wishes: Wishes) -> Choice:
    """Return the point with the least value of the objective among those that the constraints allow.

    Ties go to the faster point, then to the one on fewer processors. Source: ScaleGraph.

    Raises:
        InputError: there are no points, the objective is unknown for one of them, or none is allowed.

    """
    if not points:
        raise InputError("no run has succeeded with a time; run some points first")
    check_known(points, wishes.minimise)
    waiting = queued(points, wishes.queue_s)
    allowed, dropped = _allowed(waiting, wishes)
    fastest = min(allowed, key=lambda one: one.elapsed_s)
    if wishes.within is not None:
        allowed = [one for one in allowed if one.elapsed_s <= wishes.within * fastest.elapsed_s]
    ordered = sorted(allowed, key=lambda one: (one.cost(wishes.minimise) or 0.0, one.elapsed_s, one.processors))
    second = ordered[1] if len(ordered) > 1 else None
    edge = frontier(waiting, wishes.against) if all(one.cost(wishes.against) is not None for one in waiting) else []
    return Choice(ordered[0], second, fastest, edge, len(allowed), waiting, dropped)


def check_known(points: Sequence[Point], minimise: Objective) -> None:
    """Raise `InputError` if the objective *minimise* is unknown for any point. Source: ScaleGraph."""
    lacking = [point for point in points if point.cost(minimise) is None]
    currencies = sorted({point.currency for point in points if point.currency})
    if minimise == "price" and len(currencies) > 1:
        text = f"prices are in {' and '.join(currencies)}, which cannot be compared; --select machine=.. picks one"
        raise InputError(Fault(text, key="--minimise"))
    if not lacking:
        return
    why = lacking[0].why_no_energy if minimise == "energy" else lacking[0].why_no_price
    text = why or f"the {OBJECTIVES[minimise]} of {lacking[0].words()} is not known"
    known = sorted({point.machine for point in points} - {point.machine for point in lacking})
    more = f"; --select machine={known[0]} picks one that does" if known else ""
    raise InputError(Fault(f"{text}{more}", key="--minimise"))


def _allowed(points: Sequence[Point], wishes: Wishes) -> tuple[list[Point], list[str]]:
    """Return the points that meet the requirements on whole nodes and efficiency, and sentences on the others."""
    left, said = list(points), []
    if wishes.whole_nodes:
        whole = [one for one in left if one.node_processors and one.processors % one.node_processors == 0]
        if not whole:
            sizes = sorted({one.node_processors for one in left if one.node_processors})
            what = f"nodes have {', '.join(map(str, sizes))} processors" if sizes else "the size of a node is not known"
            raise InputError(Fault(f"no point fills whole nodes: {what}", key="--whole-nodes"))
        if len(whole) < len(left):
            said.append(f"{counted(len(left) - len(whole), 'point')} that do not fill whole nodes are left out")
        left = whole
    if wishes.efficiency is not None:
        enough = [one for one in left if one.efficiency is not None and one.efficiency >= wishes.efficiency]
        if not enough:
            best = max(
                (one for one in left if one.efficiency is not None), key=lambda one: one.efficiency or 0.0, default=None
            )
            what = f"the best is {significant(best.efficiency or 0.0)}, {best.words()}" if best else "none is known"
            text = f"no point has an efficiency of {percent(wishes.efficiency)} or more: {what}"
            raise InputError(Fault(text, key="--efficiency"))
        if len(enough) < len(left):
            rest = counted(len(left) - len(enough), "point")
            said.append(f"{rest} with an efficiency below {percent(wishes.efficiency)} are left out")
        left = enough
    return left, said
