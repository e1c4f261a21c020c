"""One part of every run: a region, a phase, or the section that the program times with a clock.

Set-up and self-checks hide how a kernel scales; its own time and speedup do not. The section that a program times is
found by one rule (docs/METRICS.md): of all stretches between the first read of a clock at one place and the last read
at another, by the main thread, it is the shortest that contains nine tenths of the parallel work between the very first
read and the last. The run on the fewest processors with such a stretch decides (one process of an MPI program has no
parallel work); the same two places are used for all other runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.run import ClockRead, Region, RunPoint, RunRecord
from scalegraph.base.units import significant

CLOCK = "clock"
KEY = "timed"  # value in a request
_WORK = 0.9  # share of the parallel work between the first and the last read of a clock
_OF_RUN = 0.1  # share of the run's parallel work: with less, the program does not time itself
_DIFFERS = 0.05  # relative difference from which speedups count as different


@dataclass(frozen=True)
class Part:
    """A part of the runs of one problem. *times*: seconds by the key of the point, for runs that have the part."""

    what: str  # CLOCK, or the region as the user named it
    label: str  # in words: ``solve.c:40 to solve.c:80``, ``loop main:40``
    times: dict[str, float]


@dataclass(frozen=True)
class Ratio:
    """Time (s), speedup and efficiency of a part in a run; ``None`` without the part in a one-processor run."""

    time_s: float
    speedup: float | None
    efficiency: float | None


def clock_part(runs: Sequence[RunRecord]) -> Part | None:
    """Return the section that the program of *runs*, of one problem, times itself; ``None`` if there is none.

    Unit: as in `Part`. Source: ScaleGraph.
    """
    good = sorted((run for run in runs if run.ok and run.clock_hz), key=lambda run: run.point.processors)
    places = next(filter(None, map(_stretch, good)), None)
    if places is None:
        return None
    times: dict[str, float] = {}
    for run in good:
        reads = by_place(run.readings)
        if run.clock_hz and all(place in reads for place in places):
            cycles = reads[places[1]].last - reads[places[0]].first
            if cycles > 0:
                times[run.point.key] = cycles / run.clock_hz
    return Part(CLOCK, _label(*places), times)


def deciding(points: Iterable[RunPoint], *, mpi: bool) -> list[RunPoint]:
    """Return those of *points* whose runs decide which section the program times, in the order they are run.

    Normally the one with fewest processors; one process of an *mpi* program has no parallel work, so the next count may
    be needed, too.

    Shape: up to two points. Unit: none. Source: ScaleGraph.
    """
    rising = sorted(points, key=lambda point: (bool(point.variant), point.processors))
    return rising[: 2 if mpi else 1]


def by_place(reads: Iterable[ClockRead]) -> dict[str, ClockRead]:
    """Return clock reads by place: the line of the call, or of the call of a function that wraps the clock.

    A function that reads the clock on one line and is called from several wraps the clock.

    Shape: one entry for each place. Unit: as in `ClockRead`. Source: ScaleGraph.
    """
    chains = {read: read.places for read in reads}
    for level in range(2):
        callers: dict[tuple[str, ...], set[str]] = {}
        for places in chains.values():
            if len(places) > level + 1:
                callers.setdefault(places[: level + 1], set()).add(places[level + 1])
        for read, places in chains.items():
            if len(callers.get(places[: level + 1], ())) < 2 and len(places) > level + 1:
                chains[read] = places[: level + 1]
    found: dict[str, ClockRead] = {}
    for read, places in chains.items():
        if not places:
            continue
        before = found.get(places[-1])
        found[places[-1]] = read if before is None else _together(before, read)
    return found


def _together(one: ClockRead, other: ClockRead) -> ClockRead:
    first, last = min(one, other, key=lambda read: read.first), max(one, other, key=lambda read: read.last)
    return ClockRead(
        places=one.places,
        count=one.count + other.count,
        first=first.first,
        first_work=first.first_work,
        last=last.last,
        last_work=last.last_work,
    )


def _stretch(run: RunRecord) -> tuple[str, str] | None:
    """Return the two places between which *run* times itself, by the rule of this module."""
    reads = by_place(run.readings)
    if len(reads) < 1 or not run.time_cycles:
        return None
    work = max(read.last_work for read in reads.values()) - min(read.first_work for read in reads.values())
    if work < _OF_RUN * run.time_cycles:
        return None
    found = [
        (end.last - begin.first, first, last)
        for first, begin in reads.items()
        for last, end in reads.items()
        if end.last > begin.first and end.last_work - begin.first_work >= _WORK * work
    ]
    return min(found)[1:] if found else None


def _label(first: str, last: str) -> str:
    """Return the stretch between two places as text, naming the file once."""
    file, _, line = last.rpartition(":")
    if first == last:
        return f"{first} (first to last time)"
    return f"{first} to {line if file == first.rpartition(':')[0] else last}"


def region_part(runs: Sequence[RunRecord], regions: Sequence[Region], name: str) -> Part:
    """Return the region or phase *name* of *runs*: elapsed time of the main thread in it, including calls.

    *name*: as in tables (``loop main:40``), a phase's own name, or ``FILE:LINE`` where it begins. Raises `InputError`
    if there is no such region, or no run's main thread was ever in it.

    Unit: as in `Part`. Source: ScaleGraph.
    """
    found = named_region(regions, name)
    times = {
        run.point.key: cost.elapsed / run.clock_hz
        for run in runs
        for cost in run.regions
        if run.ok and run.clock_hz and cost.region == found.id and cost.elapsed
    }
    if not times:
        raise InputError(Fault(f"the main thread was never in '{found.name}'", key=KEY))
    return Part(name, found.name, times)


def named_region(regions: Sequence[Region], name: str) -> Region:
    """Return the region or phase *name* as for `region_part`; raise `InputError` if there is none.

    Source: ScaleGraph.
    """
    found = [region for region in regions if name in _names(region)]
    if not found:
        known = sorted({region.name for region in regions if region.id})
        raise InputError(Fault(f"no region '{name}'; expected clock, a region or a phase{near(name, known)}", key=KEY))
    return found[0]


def chosen_part(runs: Sequence[RunRecord], regions: Sequence[Region], name: str) -> Part | None:
    """Return the part of *runs*, of one problem, selected by *name*; None if it is empty or no run succeeded.

    Raises `InputError` for an unknown name, see `region_part`, and for ``clock`` if the program times nothing.

    Unit: as in `Part`. Source: ScaleGraph.
    """
    if not name or not any(run.ok for run in runs):
        return None
    if name != CLOCK:
        return region_part(runs, regions, name)
    found = clock_part(runs)
    if found is None:
        text = "the main thread does not read a clock before and after parallel work; name a region"
        raise InputError(Fault(text, key=KEY))
    return found


def _names(region: Region) -> set[str]:
    words = region.name.partition(" ")[2] if region.kind == "phase" else ""
    place = f"{region.file}:{region.line}" if region.file else ""
    return {region.name, words, place} - {""}


def ratios(part: Part, runs: Sequence[RunRecord]) -> dict[str, Ratio]:
    """Return time, speedup and efficiency of *part* by the key of the run's point.

    Shape: one entry for each run. Unit: s; speedup and efficiency have none. Source: latency-metric.txt 2.1.
    """
    alone = (part.times.get(run.point.key) for run in runs if run.point.processors == 1)
    one = next((time for time in alone if time), None)
    found = {}
    for run in runs:
        time = part.times.get(run.point.key)
        if time:
            speedup = one / time if one is not None else None
            found[run.point.key] = Ratio(time, speedup, speedup / run.point.processors if speedup is not None else None)
    return found


def sentence(part: Part | None, runs: Sequence[RunRecord]) -> str:
    """Return a sentence if the section the program times scales differently from the whole run, otherwise "".

    Source: ScaleGraph.
    """
    good = sorted((run for run in runs if run.ok), key=lambda run: run.point.processors)
    if part is None or len(good) < 2 or good[0].point.processors != 1 or part.what != CLOCK:
        return ""
    most, one = good[-1], good[0]
    ratio = ratios(part, good).get(most.point.key)
    if ratio is None or not ratio.speedup or not most.time_s or not one.time_s:
        return ""
    whole = one.time_s / most.time_s
    if abs(ratio.speedup / whole - 1) < _DIFFERS:
        return ""
    return (
        f"The program times {part.label} itself: there the speedup is {significant(ratio.speedup)} on "
        f"{most.point.processors} processors, and {significant(whole)} for the whole run."
    )
