"""The thread graph of a program, derived from the regions of its sample runs.

It has the main thread and a class for each parallel region; inside, the regions in source order, with their barriers
and critical sections. Regions of functions called by a team belong to the parallel region that takes longest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scalegraph.base.run import Region, RunRecord
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.graph import Graph, Step, ThreadClass
from scalegraph.predict.regions import (
    EventCount,
    RegionSamples,
    RegionTime,
    Values,
    event_count,
    region_time,
    samples_of,
)

REST = "waiting for slower threads"


@dataclass(frozen=True)
class EventCosts:
    """Cycles of events on N processors, measured in a separate run: without imbalance, locks taken in turn.

    *first*: start of the first parallel region, which creates the threads; *fork*: start and end of a later one.
    """

    first: float = 0.0
    fork: float = 0.0
    barrier: float = 0.0
    lock: float = 0.0


@dataclass(frozen=True)
class Structure:
    """What was derived from runs on one N. *teams*: parallel region -> regions that its threads execute."""

    processors: int
    times: Mapping[int, RegionTime]
    barriers: Mapping[int, EventCount]
    locks: Mapping[int, EventCount]
    forks: Mapping[int, EventCount]
    teams: Mapping[int, tuple[Region, ...]]
    serial: tuple[Region, ...]


def derive(
    runs: Sequence[RunRecord], regions: Sequence[Region], targets: Sequence[Values], *, counted: bool = True
) -> Structure:
    """Return the structure of a program from *runs* on one N, and how the times of its regions grow.

    *counted*: use exact counts where possible. Raises `CannotTellError` with a sentence if the runs do not determine
    how often threads reach an event.
    """
    found = samples_of(runs, regions)
    processors = runs[0].point.processors
    times = {one.region.id: region_time(one, targets, counted=counted) for one in found if any(one.summed)}
    barriers: dict[int, EventCount] = {}
    locks: dict[int, EventCount] = {}
    forks: dict[int, EventCount] = {}
    for one in found:
        starts = one.region.name.startswith("parallel")
        events = {
            "fork": event_count(one, one.visits, 1) if starts else None,
            "barrier": event_count(one, _own_barriers(one, starts=starts), processors),
            "lock": event_count(one, one.visits, processors) if one.exclusive else None,
        }
        for kind, into in (("fork", forks), ("barrier", barriers), ("lock", locks)):
            if (event := events[kind]) is not None:
                into[one.region.id] = event
    teams, serial = _teams(found, regions, runs[-1])
    return Structure(processors, times, barriers, locks, forks, teams, serial)


def _own_barriers(samples: RegionSamples, *, starts: bool) -> list[int]:
    """Return the barriers of a region except the one that ends a parallel region: the region's cost includes it."""
    ends = [visits * samples.processors if starts else 0 for visits in samples.visits]
    return [max(0, total - end) for total, end in zip(samples.barriers, ends, strict=True)]


def _teams(
    found: Sequence[RegionSamples], regions: Sequence[Region], largest: RunRecord
) -> tuple[dict[int, tuple[Region, ...]], tuple[Region, ...]]:
    """Return the regions executed by each parallel region's threads, and those of the main thread alone."""
    parents = {region.id: region for region in regions}
    elapsed = {cost.region: cost.elapsed or 0 for cost in largest.regions}
    starting = [one.region for one in found if one.region.name.startswith("parallel")]
    teams: dict[int, list[Region]] = {region.id: [] for region in starting}
    main = max(starting, key=lambda region: elapsed.get(region.id, 0)) if starting else None
    serial = []
    for one in found:
        around: Region | None = one.region
        while around is not None and around.id not in teams:
            around = parents.get(around.parent) if around.parent is not None else None
        if around is not None:
            teams[around.id].append(one.region)
        elif main is not None and (one.shared or any(one.barriers) or one.exclusive):
            teams[main.id].append(one.region)
        else:
            serial.append(one.region)
    return {number: tuple(sorted(team, key=_place)) for number, team in teams.items()}, tuple(serial)


def _place(region: Region) -> tuple[str, int, int]:
    return (region.file, region.line, region.id)


def graph_at(
    structure: Structure, values: Values, processors: int, costs: EventCosts, clock_hz: float, rest_s: float = 0.0
) -> Graph:
    """Return the thread graph at *values* on N = *processors*, with times in seconds as numbers.

    One thread stands for a whole team (eq. 2.5). *rest_s*: time of all threads outside the regions. Raises
    `CannotTellError` if a count is not determined.
    """
    return _Building(structure, values, processors, costs, clock_hz).graph(rest_s)


class _Building:
    """A graph under construction."""

    def __init__(
        self, structure: Structure, values: Values, processors: int, costs: EventCosts, clock_hz: float
    ) -> None:
        self.found = structure
        self.values = values
        self.processors = processors
        self.costs = costs
        self.clock_hz = clock_hz

    def graph(self, rest_s: float) -> Graph:
        steps = [self._segment(region, 1) for region in self.found.serial if region.id in self.found.times]
        classes = []
        for number, (start, team) in enumerate(self.found.teams.items()):
            times = self.found.forks[start].at(self.values, self.processors)
            if times == 0:
                continue
            region = next(one for one in team if one.id == start)
            name = f"team of {region.name}"
            fork = Step(cluster=name, cost="0", place=_said(region))
            if number == 0 and self.costs.first:
                steps.append(Step(segment="threads are made", time=self._number(self.costs.first, 1)))
            own = Step(segment=f"starting {region.name}", time=self._number(self.costs.fork, 1), place=_said(region))
            steps += _repeated(region.name, times, (own, fork))
            inside = tuple(self._steps(region, team, times))
            classes.append(ThreadClass(name=name, count="N", alike=True, steps=inside))
        if rest_s > 0:
            steps.append(Step(segment=REST, time=repr(rest_s)))
        main = ThreadClass(name="main", steps=tuple(steps))
        barrier, lock = (self._number(cost, 1) for cost in (self.costs.barrier, self.costs.lock))
        return Graph.model_validate({"costs": {"barrier": barrier, "lock": lock}, "class": (main, *classes)})

    def _number(self, cycles: float, passes: int) -> str:
        return repr(cycles / passes / self.clock_hz)

    def _cycles(self, region: Region) -> float:
        busy, stall = self.found.times[region.id].at(self.values, self.processors)
        return busy.time_s + stall.time_s

    def _segment(self, region: Region, passes: int) -> Step:
        return Step(segment=region.name, time=self._number(self._cycles(region), passes), place=_said(region))

    def _turns(self, region: Region) -> int:
        """Return how often a thread reaches the events of *region*, 0 if it has none."""
        events = [self.found.barriers.get(region.id), self.found.locks.get(region.id)]
        return max((event.at(self.values, self.processors) for event in events if event is not None), default=0)

    def _steps(self, around: Region, team: Sequence[Region], passes: int) -> list[Step]:
        """Return the steps of *around* and of the *team*'s regions inside it, which are executed *passes* times."""
        found = [self._segment(around, passes)] if around.id in self.found.times else []
        known = {region.id for region in team}
        for region in team:
            outside = region.parent not in known and around.name.startswith("parallel")
            if region.id == around.id or (region.parent != around.id and not outside):
                continue
            if any(other.parent == region.id for other in team):
                found += self._nest(region, team, passes)
            else:
                found += self._leaf(region, passes)
        return found

    def _nest(self, region: Region, team: Sequence[Region], passes: int) -> tuple[Step, ...]:
        inner = max((self._turns(one) for one in team if _inside(one, region, team)), default=0)
        times = inner // passes if inner and inner % passes == 0 else 1
        return _repeated(region.name, times, tuple(self._steps(region, team, passes * times)))

    def _leaf(self, region: Region, passes: int) -> tuple[Step, ...]:
        """Return the steps of a region without inner regions: its time, then its event, as often as it happens."""
        turns = self._turns(region)
        timed = region.id in self.found.times
        if not turns:
            return (self._segment(region, passes),) if timed else ()
        more, rest = divmod(turns, passes)
        if rest:
            raise CannotTellError(f"{region.name}: {turns} events in {passes} passes are not a regular pattern")
        segment = (self._segment(region, turns),) if timed else ()
        place = _said(region)
        if region.id in self.found.locks:
            return _repeated(region.name, more, (Step(critical=region.name, place=place, steps=segment),))
        return _repeated(region.name, more, (*segment, Step(barrier=f"end of {region.name}", place=place)))


def _inside(region: Region, around: Region, team: Sequence[Region]) -> bool:
    parents = {one.id: one.parent for one in team}
    here: int | None = region.parent
    while here is not None and here != around.id:
        here = parents.get(here)
    return here == around.id


def _repeated(name: str, times: int, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return *steps* in a loop of *times* passes, without the loop if there is one pass."""
    return steps if times == 1 else (Step(loop=name, iterations=str(times), steps=steps),)


def _said(region: Region) -> str:
    return f"{region.file}:{region.line}" if region.line else ""
