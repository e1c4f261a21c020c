"""Which memory level holds the data of a run: a sample on smaller caches behaves like a larger run.

For a run whose data are f times as large as a sample's, the memory hierarchy is relatively f times as small. The sample
on a machine with caches smaller by f sees the same hierarchy, so its stalls are in proportion. Source: ScaleGraph; the
paper requires samples to be in the same level as the predicted run (section 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scalegraph.base.run import RunRecord
from scalegraph.base.units import assigned, si
from scalegraph.machine import Machine
from scalegraph.machine.model import Cache
from scalegraph.predict.counts import CannotTellError, Sample, fit_count
from scalegraph.predict.forms import best_form
from scalegraph.predict.lower import fit_times
from scalegraph.predict.regions import Values, values_of

LEAST_GROWTH = 1.05  # data that grow less stay in the same caches
_PAGES = "page_misses"
_HALF = 0.5
_NEAR = 0.02  # cache sizes that differ by less count as equal
Place = tuple[tuple[tuple[str, int], ...], int]
Memory = Callable[[Values], float | None]
"""The bytes of a program's data at given parameters, None if unknown."""


def place_of(values: Values, processors: int) -> Place:
    """Return the identity of a point: its parameters and N. Unit: none. Source: ScaleGraph."""
    return tuple(sorted(values.items())), processors


def touched(run: RunRecord) -> int:
    """Return the number of pages touched by *run*, 0 if unknown. Unit: pages. Source: ScaleGraph."""
    return run.counters.get(_PAGES, 0)


def pages(runs: Sequence[RunRecord], values: Values) -> float | None:
    """Return the pages touched by a run at *values*, from those of *runs* on one N; None if unknown.

    Unit: pages. Source: ScaleGraph.
    """
    counts = [touched(run) for run in runs]
    if not runs or not all(counts):
        return None
    processors = runs[0].point.processors
    places = [(values_of(run), processors) for run in runs]
    try:
        exact = fit_count([Sample(*at, count) for at, count in zip(places, counts, strict=True)])
        found = float(exact(values, processors))
    except CannotTellError:
        every = [*(known for known, _ in places), values]
        varied = tuple(sorted(name for name in values if len({known[name] for known in every}) > 1))
        if not varied:
            return float(counts[-1])
        if len(varied) == 1 and len(runs) > 1:
            return _power(varied[0], places, counts, values)
        terms = best_form(places, counts, varied, divided=False).terms()
        found = fit_times(terms, places, counts).at(values, processors).time_s
    return found


def _power(name: str, places: Sequence[tuple[Values, int]], counts: Sequence[int], values: Values) -> float:
    """Extrapolate a count to *values* by a power of *name*, through the largest sample and one at most half as large.

    This keeps the influence of data of constant size small.
    """
    known = sorted((at[name], count) for (at, _), count in zip(places, counts, strict=True))
    large, more = known[-1]
    small, fewer = next((one for one in reversed(known) if 2 * one[0] <= large), known[0])
    power = max(0.0, math.log(more / fewer) / math.log(large / small)) if large > small > 0 else 1.0
    return float(more * (values[name] / large) ** power)


def base(
    runs: Sequence[RunRecord], values: Values, processors: int, memory: Memory | None = None
) -> tuple[RunRecord, float] | None:
    """Return the largest of *runs* on N = *processors* not at *values*, and the factor by which the data grow from it.

    Uses the *memory* declared by the program, or else touched pages, which are less reliable: those of a small run
    hardly exceed an empty run's. None if unknown. Unit: none (ratio). Source: ScaleGraph.
    """
    own = [run for run in runs if run.point.processors == processors and values_of(run) != values]
    own.sort(key=touched)
    if own and memory is not None and (before := memory(values_of(own[-1]))) and (after := memory(values)):
        return own[-1], after / before
    found = pages(own, values) if own else None
    if found is None:
        return None
    return own[-1], found / touched(own[-1])


def data_bytes(run: RunRecord, machine: Machine, memory: Memory | None = None) -> float:
    """Return the size of the data of *run*: as declared by the program, or else by touched pages. Unit: B.

    Source: ScaleGraph.
    """
    known = memory(values_of(run)) if memory is not None else None
    return known or touched(run) * machine.memory.page_bytes


def room(level: Cache, processors: int) -> int:
    """Return the capacity of a cache *level* for N = *processors* together. Unit: B. Source: ScaleGraph."""
    return level.size_kib * 1024 * -(-processors // level.shared_by)


def smaller_caches(machine: Machine, factor: float, data: float, processors: int) -> dict[str, str]:
    """Return settings for *machine* with caches smaller by *factor*, as nearly as their geometry allows.

    Levels that hold less than half of the sample's *data* (bytes) on N = *processors* are not changed: what is reused
    there may be rows and tiles, which grow more slowly than the data; with *data* 0 all are changed. Unit: none.
    Source: ScaleGraph.
    """
    found = {}
    for level in machine.cache:
        if room(level, processors) < _HALF * data:
            continue
        size_kib, ways = _geometry(level, level.size_kib * 1024 / factor)
        if size_kib != level.size_kib:
            found[f"cache.{level.name}.size_kib"] = str(size_kib)
        if ways != level.ways:
            found[f"cache.{level.name}.ways"] = str(ways)
    return found


def _geometry(level: Cache, size: float) -> tuple[int, int]:
    """Return the KiB and ways nearest to *size* bytes: sets are a power of two, the size is whole KiB."""
    possible: list[tuple[float, int, int]] = []
    for ways in range(1, level.ways + 1):
        least = 1024 // math.gcd(1024, level.line_bytes * ways)  # fewest sets that give whole KiB: a power of two, too
        total = level.line_bytes * ways * least
        while True:
            off = abs(math.log(total / size))
            possible.append((max(off, _NEAR), -ways, total // 1024))
            if total > size:
                break
            total *= 2
    _, ways, kib = min(possible)
    return kib, -ways


def stall_rates(run: RunRecord) -> dict[int, tuple[int, int]]:
    """Return busy and stall cycles of all processors by region. Unit: cycles. Source: ScaleGraph."""
    return {
        cost.region: (
            sum(cycles for name, cycles in cost.categories.items() if name.startswith("busy")),
            sum(cycles for name, cycles in cost.categories.items() if name.startswith("stall")),
        )
        for cost in run.regions
    }


def stall_error(smaller: RunRecord, larger: RunRecord) -> float:
    """Return the error of predicting the stalls of *larger* from the sample on *smaller* caches, scaled by computation.

    Unit: none (share of computation and stalls). Source: ScaleGraph.
    """
    rates = {region: stall / busy for region, (busy, stall) in stall_rates(smaller).items() if busy}
    known = stall_rates(larger)
    off = sum(rates.get(region, 0.0) * busy - stall for region, (busy, stall) in known.items() if region in rates)
    whole = sum(busy + stall for busy, stall in known.values())
    return abs(off) / whole if whole else 0.0


@dataclass(frozen=True)
class Levels:
    """The caches of a machine, and the samples run on smaller ones.

    *shrunk*: by predicted point, the largest other sample run on caches reduced by the growth of the data. *others*:
    runs used to decide how caches are reduced. *memory*: bytes of the data at given parameters, if the program declares
    them.
    """

    machine: Machine | None = None
    shrunk: Mapping[Place, RunRecord] | None = None
    others: tuple[RunRecord, ...] = ()
    memory: Memory | None = None

    def run(self, values: Values, processors: int) -> RunRecord | None:
        """Return the sample on smaller caches for the point at *values* on N = *processors*, if there is one."""
        return (self.shrunk or {}).get(place_of(values, processors))

    def warning(self, runs: Sequence[RunRecord], values: Values, processors: int) -> str:
        """Return a warning if the data outgrow a level that holds those of the samples on N = *processors*.

        Empty if they do not, or if a sample on smaller caches covers it.
        """
        known = base(runs, values, processors, self.memory) if self.machine is not None else None
        if known is None or self.machine is None or self.run(values, processors) is not None:
            return ""
        largest, factor = known
        data = data_bytes(largest, self.machine, self.memory)
        left = [level.name for level in self.machine.cache if data <= room(level, processors) < data * factor]
        if not left:
            return ""
        where = assigned([("N", processors), *sorted(values.items())])
        return (
            f"{where}: the data grow from {si(data, 'B')} to {si(data * factor, 'B')} and no longer fit in {left[-1]}; "
            "no sample shows what that costs"
        )
