"""All searches of a request in parallel: which runs they need next, given the runs so far."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, cast

from scalegraph.analyze import workload
from scalegraph.base import expression
from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.base.units import assigned, counted, plain, significant
from scalegraph.request.model import targeting
from scalegraph.request.model.request import Bound
from scalegraph.request.model.resolve import Resolved
from scalegraph.request.planning.plan import PlannedSearch, points_of, start_knob
from scalegraph.request.planning.search import Found, Goal, Search

Records = Mapping[str, RunRecord]  # by RunPoint.key; including failed ones
_NEAR = 0.25  # octaves of work not worth another size


@dataclass
class _Task:
    """One search with its requested sizes."""

    planned: PlannedSearch
    search: Search
    goal: Goal
    new_runs: set[str] = field(default_factory=set)


class Searches:
    """The searches of *found*, fed from *records*, which the caller keeps up to date.

    `wanted` is called again after every round of runs until it returns nothing.
    """

    def __init__(self, found: Resolved, records: Records, searches: tuple[PlannedSearch, ...]) -> None:
        self._found = found
        self._records = records
        self._measured = not targeting.is_simulated(found.request)
        numeric = frozenset(name for name, value in found.family.base.items() if not isinstance(value, str))
        self._formula = None if found.work in workload.NAMES else expression.parse(found.work, numeric)
        self._tasks = [self._task(planned) for planned in searches]
        self._seed()

    def wanted(self) -> list[RunPoint]:
        """Return the runs that the searches need next, each once; empty when all have ended."""
        points: dict[str, RunPoint] = {}
        for task in self._tasks:
            for point in self._advance(task):
                if point.key not in points:
                    points[point.key] = point
                    task.new_runs.add(point.key)
        return list(points.values())

    def outcomes(self) -> list[dict[str, Any]]:
        """Return how every search ended, as JSON: kept in the study, and shown as reasons for empty cells."""
        return [self._outcome(task) for task in self._tasks]

    def running(self) -> list[tuple[PlannedSearch, int]]:
        """Return the searches in progress, with the number of sizes that each may still try."""
        return [
            (task.planned, task.planned.bound.max_runs - task.search.tries)
            for task in self._tasks
            if task.search.result is None
        ]

    def _task(self, planned: PlannedSearch) -> _Task:
        family, bound = self._found.family, planned.bound
        kind = cast("Any", bound.kind)
        goal = Goal(kind, bound.value or 0.0, bound.tolerance)
        limits = (math.log2(family.work(family.lowest)), math.log2(family.work(family.highest)))
        start = math.log2(family.work(start_knob(self._found, planned.processors)))
        search = Search(goal, lambda x: family.key(family.knob_for_work(2.0**x)), limits, start, bound.max_runs)
        return _Task(planned, search, goal)

    def _seed(self) -> None:
        """Give every search the sizes run earlier on its own processor count."""
        family = self._found.family
        sizes: dict[int, dict[float, dict[str, Value]]] = {}
        for record in self._records.values():
            knob = family.knob_of(record.point.parameters)
            if knob is not None and record.ok:
                sizes.setdefault(record.point.processors, {})[math.log2(family.work(knob))] = record.point.parameters
        for task in self._tasks:
            for x, size in sizes.get(task.planned.processors, {}).items():
                if not self._missing(task, size):
                    task.search.observe(x, self._value(task, size))

    def _advance(self, task: _Task) -> list[RunPoint]:
        """Feed *task* everything that is known; return the runs it lacks for its next size."""
        family = self._found.family
        while (x := self._next(task)) is not None:
            size = family.at(family.knob_for_work(2.0**x))
            missing = self._missing(task, size)
            if missing:
                return missing
            task.search.observe(self._place(x, size), self._value(task, size))
        return []

    def _next(self, task: _Task) -> float | None:
        """Return x for the next size of *task*; on a real target never one that takes longer than is wanted."""
        if self._measured and (known := list(self._sequential())):
            longest = self._found.request.target.longest
            x, seconds = max(known)
            room = math.log2(longest / seconds)
            where = f"the largest size that takes no longer than {plain(longest)} s on one processor"
            task.search.limit(x + room if room > _NEAR else x, where)
        return task.search.next()

    def _sequential(self) -> Iterator[tuple[float, float]]:
        """Yield x and time in s of every size run on one processor."""
        family = self._found.family
        for record in self._records.values():
            knob = family.knob_of(record.point.parameters)
            if record.point.processors == 1 and record.ok and record.time_s and knob is not None:
                yield math.log2(family.work(knob)), record.time_s

    def _place(self, x: float, size: Mapping[str, Value]) -> float:
        """Return the x of *size* itself, requested at x, where a resumed search sees it."""
        family = self._found.family
        knob = family.knob_of(size)
        exact = x if knob is None else math.log2(family.work(knob))
        return exact if family.key(family.knob_for_work(2.0**exact)) == family.key(family.knob_for_work(2.0**x)) else x

    def _missing(self, task: _Task, size: Mapping[str, Value]) -> list[RunPoint]:
        points = points_of(self._found, size, sorted({1, task.planned.processors}))
        return [point for point in points if point.key not in self._records]

    def _value(self, task: _Task, size: Mapping[str, Value]) -> float | None:
        """Return E, T_para or the unit speed of *size* (medians over repetitions), None if a run of it failed."""
        sequential, parallel = self._time(size, 1), self._time(size, task.planned.processors)
        if sequential is None or parallel is None:
            return None
        if task.goal.kind == "time":
            return parallel
        if parallel <= 0:
            return None
        if task.goal.kind == "speed":
            work = self._work(size)
            return None if work is None else work / (task.planned.processors * parallel)
        return sequential / (task.planned.processors * parallel)

    def _work(self, size: Mapping[str, Value]) -> float | None:
        """Return W as defined in the request: by a formula, or counted in the one-processor run."""
        if self._formula is not None:
            return self._formula({name: float(size[name]) for name in self._formula.names})
        records = [self._records[point.key] for point in points_of(self._found, size, (1,))]
        name = "work_flops" if self._found.work == workload.FLOPS else "work_ops"
        counted = [own for record in records if record.ok and (own := getattr(record, name)) is not None]
        return float(median(counted)) if counted else None

    def _time(self, size: Mapping[str, Value], processors: int) -> float | None:
        records = [self._records[point.key] for point in self._repetitions(size, processors)]
        times = [record.time_s for record in records if record.ok and record.time_s is not None]
        return median(times) if times else None

    def _repetitions(self, size: Mapping[str, Value], processors: int) -> Iterator[RunPoint]:
        """Yield the points of *size* with all repetitions made."""
        points = points_of(self._found, size, (processors,))
        yield from points
        for repetition in itertools.count(len(points)):
            point = points[0].model_copy(update={"repetition": repetition})
            if point.key not in self._records:
                return
            yield point

    def _outcome(self, task: _Task) -> dict[str, Any]:
        bound, found = task.planned.bound, task.search.result
        family = self._found.family
        best = found.best if found else None
        size = family.at(family.knob_for_work(2.0**best.x)) if best else None
        return {
            "bound": bound.kind,
            "value": bound.value,
            "tolerance": bound.tolerance,
            "processors": task.planned.processors,
            "met": bool(found and found.met),
            "why": found.why if found else "stopped",
            "parameters": size,
            "got": best.value if best else None,
            "tries": task.search.tries,
            "runs": len(task.new_runs),
            "sentence": _sentence(bound, task, found, size),
        }


def _sentence(bound: Bound, task: _Task, found: Found | None, size: Mapping[str, Value] | None) -> str:
    symbol, unit = {"time": ("T", " s"), "speed": ("unit speed", " op/s")}.get(bound.kind, ("E", ""))
    what = f"N = {task.planned.processors}, {symbol} = {plain(bound.value)}{unit}"
    cost = f"{counted(len(task.new_runs), 'new run')} for {task.search.tries} size"
    cost += "s" if task.search.tries != 1 else ""
    if found is None:
        return f"{what}: stopped before a size was found; {cost}"
    if found.best is None or size is None:
        return f"{what}: {found.sentence}; {cost}"
    where = assigned(size.items())
    got = f"{symbol} = {significant(found.best.value or 0.0)}{unit}"
    if found.met:
        return f"{what}: {where} gives {got}; {cost}"
    return f"{what}: not reached: {found.sentence}; the nearest size, {where}, gives {got}; {cost}"
