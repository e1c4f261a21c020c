"""The point to take among those of a space, under what is asked of it; and the frontier of time against cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, significant

EFFICIENT: Final = 0.7
"""The efficiency that centres ask for, as a rule."""


@dataclass(frozen=True)
class Wishes:
    """What is asked of the point besides being least in *minimise*.

    *within*: its time is at most so many times the fastest. *efficiency*: it has at least this one. *whole_nodes*: it
    fills nodes. *queue_s*: (processors, seconds in the queue), for jobs of at least so many processors.
    """

    minimise: Objective = "time"
    within: float | None = None
    efficiency: float | None = None
    whole_nodes: bool = False
    queue_s: Sequence[tuple[int, float]] = ()

    @property
    def against(self) -> Objective:
        """What the frontier has against time.

        Source: ScaleGraph.
        """
        return "core_hours" if self.minimise in ("time", "processors") else self.minimise


@dataclass(frozen=True)
class Choice:
    """The point to take, the next best one of those that were allowed, the frontier, and how many there were.

    *fastest* is the one that *within* is measured by; *dropped* are sentences about points that the wishes left out.
    """

    point: Point
    second: Point | None
    fastest: Point
    frontier: Sequence[Point]
    allowed: int
    points: Sequence[Point]
    dropped: Sequence[str] = ()


def queued(points: Sequence[Point], queue_s: Sequence[tuple[int, float]]) -> list[Point]:
    """Return *points* with the time that a job of their size waits: that of the largest count not above it.

    Shape: one for each point. Unit: s. Source: ScaleGraph.
    """
    steps = sorted(queue_s)
    waits = [max(((n, wait) for n, wait in steps if n <= point.processors), default=(0, 0.0))[1] for point in points]
    return [replace(point, queue_s=wait) for point, wait in zip(points, waits, strict=True)]


def frontier(points: Sequence[Point], against: Objective) -> list[Point]:
    """Return the points that none is both faster and cheaper than, the fastest first.

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
    """Return the point that is least in what is minimised among those that the wishes allow.

    Of equal ones the faster, then that on fewer processors. Source: ScaleGraph.

    Raises:
        InputError: there is no point, what is minimised is not known of one, or none is allowed.

    """
    if not points:
        raise InputError("no run ended well and has a time; run some points first")
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
    """Raise `InputError` with one sentence where *minimise* is not known of every point. Source: ScaleGraph."""
    lacking = [point for point in points if point.cost(minimise) is None]
    currencies = sorted({point.currency for point in points if point.currency})
    if minimise == "price" and len(currencies) > 1:
        text = f"prices are in {' and '.join(currencies)}, which cannot be compared; --select machine=.. takes one"
        raise InputError(Fault(text, key="--minimise"))
    if not lacking:
        return
    why = lacking[0].why_no_energy if minimise == "energy" else lacking[0].why_no_price
    text = why or f"the {OBJECTIVES[minimise]} of {lacking[0].words()} is not known"
    known = sorted({point.machine for point in points} - {point.machine for point in lacking})
    more = f"; --select machine={known[0]} takes one that does" if known else ""
    raise InputError(Fault(f"{text}{more}", key="--minimise"))


def _allowed(points: Sequence[Point], wishes: Wishes) -> tuple[list[Point], list[str]]:
    """Return the points that fill nodes and are efficient enough, if that is asked; and what was left out."""
    left, said = list(points), []
    if wishes.whole_nodes:
        whole = [one for one in left if one.node_processors and one.processors % one.node_processors == 0]
        if not whole:
            sizes = sorted({one.node_processors for one in left if one.node_processors})
            what = f"nodes have {', '.join(map(str, sizes))} processors" if sizes else "the size of a node is not known"
            raise InputError(Fault(f"no point fills whole nodes: {what}", key="--whole-nodes"))
        if len(whole) < len(left):
            said.append(f"{counted(len(left) - len(whole), 'point')} that fill no whole nodes are left out")
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
