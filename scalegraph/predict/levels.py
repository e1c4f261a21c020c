"""Which level of the memory holds the data of a run: a sample on smaller caches sees what a larger run sees.

A run whose data are f times as large as those of a sample meets a memory hierarchy that is f times as small beside
them. The same sample on a machine whose caches are smaller by f meets it, too: its stalls are in proportion.
Source: ScaleGraph; the paper's samples have to be in the same level as the predicted run (section 5).
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

LEAST_GROWTH = 1.05  # data that grow less see the same caches
_PAGES = "page_misses"
_HALF = 0.5
_NEAR = 0.02  # sizes of a cache that differ by so much are the same
Place = tuple[tuple[tuple[str, int], ...], int]
Memory = Callable[[Values], float | None]
"""The bytes of a program's data at parameters, None where that is not known."""


def place_of(values: Values, processors: int) -> Place:
    """Return what identifies a point: its parameters, and N. Unit: none. Source: ScaleGraph."""
    return tuple(sorted(values.items())), processors


def touched(run: RunRecord) -> int:
    """Return the pages that *run* touched, 0 where that is not known. Unit: pages. Source: ScaleGraph."""
    return run.counters.get(_PAGES, 0)


def pages(runs: Sequence[RunRecord], values: Values) -> float | None:
    """Return the pages that a run at *values* touches, from those of *runs* on one N; None where that is not known.

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
    """Return a count at *values* by the power of the parameter *name* through the largest sample and one of half that.

    What does not grow with the data is the least part of these.
    """
    known = sorted((at[name], count) for (at, _), count in zip(places, counts, strict=True))
    large, more = known[-1]
    small, fewer = next((one for one in reversed(known) if 2 * one[0] <= large), known[0])
    power = max(0.0, math.log(more / fewer) / math.log(large / small)) if large > small > 0 else 1.0
    return float(more * (values[name] / large) ** power)


def base(
    runs: Sequence[RunRecord], values: Values, processors: int, memory: Memory | None = None
) -> tuple[RunRecord, float] | None:
    """Return the largest of *runs* on N = *processors* but that at *values*, and by which factor data grow from it.

    By the *memory* that the program declares, otherwise by touched pages, of which a small run has hardly more than
    an empty one. None where that is not known. Unit: none (ratio). Source: ScaleGraph.
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
    """Return the size of the data of *run*: what the program declares, else the touched pages. Unit: B.

    Source: ScaleGraph.
    """
    known = memory(values_of(run)) if memory is not None else None
    return known or touched(run) * machine.memory.page_bytes


def room(level: Cache, processors: int) -> int:
    """Return what the caches of a *level* hold that N = *processors* use together. Unit: B. Source: ScaleGraph."""
    return level.size_kib * 1024 * -(-processors // level.shared_by)


def smaller_caches(machine: Machine, factor: float, data: float, processors: int) -> dict[str, str]:
    """Return the values of *machine* whose caches are smaller by *factor*, as near as their sets allow.

    Levels that hold less than half of the *data* (bytes) of the sample on N = *processors* stay as they are: what is
    used again there may be rows and tiles, which grow less than the data; with *data* 0 all are smaller. Unit: none.
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
    """Return KiB and ways nearest to *size* bytes: sets are a power of two, the size is whole KiB."""
    possible: list[tuple[float, int, int]] = []
    for ways in range(1, level.ways + 1):
        least = 1024 // math.gcd(1024, level.line_bytes * ways)  # sets of a size of whole KiB: a power of two, too
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
    """Return how far the stalls of *larger* are from those of a sample on *smaller* caches, by computation of regions.

    Unit: none (part of computation and stalls). Source: ScaleGraph.
    """
    rates = {region: stall / busy for region, (busy, stall) in stall_rates(smaller).items() if busy}
    known = stall_rates(larger)
    off = sum(rates.get(region, 0.0) * busy - stall for region, (busy, stall) in known.items() if region in rates)
    whole = sum(busy + stall for busy, stall in known.values())
    return abs(off) / whole if whole else 0.0


@dataclass(frozen=True)
class Levels:
    """The caches of a machine, and what samples on smaller ones showed.

    *shrunk*: by the point that is predicted, the largest sample but that on caches smaller by the growth of the data.
    *others*: runs that showed how caches are made smaller. *memory*: bytes of the data at parameters, where the
    program declares them.
    """

    machine: Machine | None = None
    shrunk: Mapping[Place, RunRecord] | None = None
    others: tuple[RunRecord, ...] = ()
    memory: Memory | None = None

    def run(self, values: Values, processors: int) -> RunRecord | None:
        """Return the sample on smaller caches for the point at *values* on N = *processors*, if there is one."""
        return (self.shrunk or {}).get(place_of(values, processors))

    def warning(self, runs: Sequence[RunRecord], values: Values, processors: int) -> str:
        """Return a sentence where data leave a level that holds those of the samples on N = *processors*.

        Empty where they do not, or where a sample on smaller caches shows what happens.
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
            f"{where}: the data grow from {si(data, 'B')} to {si(data * factor, 'B')} and leave {left[-1]}; no sample "
            "shows what that costs"
        )
