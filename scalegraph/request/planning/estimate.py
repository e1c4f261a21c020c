"""Estimates of run times on this host: at first from the program's description, later from runs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median

from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.request.model.family import Family

_OVERHEAD_S = 0.05  # of starting any run
_OPERATIONS_PER_S = 200e6  # simulated, before anything is measured; typical hosts do 100 to 1,200 million


class HostTime:
    """Host seconds per unit of estimated work, by processor count."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._rates: dict[int, list[float]] = defaultdict(list)

    def learn(self, records: Iterable[RunRecord], *, of_base: bool = False) -> None:
        """Learn from finished runs; *of_base*: parameters that they lack have their base values."""
        for record in records:
            parameters = {**(self._family.base if of_base else {}), **record.point.parameters}
            if record.ok and record.host_s is not None and self._given(parameters):
                work = self._family.work_of(parameters)
                self._rates[record.point.processors].append(max(record.host_s - _OVERHEAD_S, 1e-4) / work)

    @property
    def learned(self) -> bool:
        """Whether it has learnt from runs; until then, times follow from the description, within a factor of a few."""
        return bool(self._rates)

    def seconds(self, point: RunPoint) -> float | None:
        """Return the host seconds that *point* will take, or None if nothing is known yet."""
        if not self._known(point):
            return None
        if not self._rates:
            described = self._family.work_formula is not None
            return _OVERHEAD_S + self._family.work_of(point.parameters) / _OPERATIONS_PER_S if described else None
        octave = math.log2(point.processors)
        nearest = min(self._rates, key=lambda count: abs(math.log2(count) - octave))
        return _OVERHEAD_S + median(self._rates[nearest]) * self._family.work_of(point.parameters)

    def total(self, points: Iterable[RunPoint], workers: int) -> float | None:
        """Return the host seconds of all *points*, with *workers* runs at a time; None if nothing is known yet."""
        times = [self.seconds(point) for point in points]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return None
        return max(sum(known) / max(1, workers), max(known, default=0.0))

    def _known(self, point: RunPoint) -> bool:
        return self._given(point.parameters)

    def _given(self, parameters: Mapping[str, Value]) -> bool:
        formula = self._family.work_formula
        needed = {*self._family.grow, *(formula.names if formula is not None else ())}
        return all(name in parameters and not isinstance(parameters[name], str) for name in needed)
