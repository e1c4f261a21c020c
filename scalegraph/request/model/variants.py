"""The what-if runs of a request: which points, on which machine, and the targets of the sweep of virtual speedups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scalegraph import machine as machines
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import AS_WRITTEN, LineCost, Region, RegionCost, RunPoint, RunRecord, Variant
from scalegraph.link import Build
from scalegraph.link.scale import scale_file
from scalegraph.request.model.collecting import machine_values
from scalegraph.request.model.request import Request, Speedups
from scalegraph.subjects import loop_schedules

_STALLS = "stall_"
_BUSY = "busy_"


def asked(request: Request, points: Iterable[RunPoint]) -> list[RunPoint]:
    """Return the what-if runs that *request* wants of the actual *points*, each once."""
    found: dict[str, RunPoint] = {}
    actual = list(points)
    for what in request.what_ifs():
        counts = what.processors or request.every_count()
        for point in actual:
            if point.processors in counts:
                made = point.model_copy(update={"variant": what.variant})
                found.setdefault(made.key, made)
    return list(found.values())


def swept(request: Request, records: Iterable[RunRecord], build: Build) -> list[RunPoint]:
    """Return the runs of the sweep of virtual speedups: each factor for the most expensive code in *records*."""
    sweep = request.speedups
    counts = sweep.processors or (max(request.every_count()),)
    found: dict[str, RunPoint] = {}
    for record in records:
        if not record.ok or record.point.variant or record.point.repetition or record.point.processors not in counts:
            continue
        for target in targets(record, sweep, build):
            for factor in sweep.factors:
                variant = Variant(speedup={target: factor})
                made = record.point.model_copy(update={"variant": variant})
                found.setdefault(made.key, made)
    return list(found.values())


def advised(request: Request, records: Iterable[RunRecord], regions: Iterable[Region]) -> list[RunPoint]:
    """Return the runs with each loop under the schedule that was best for it in *records*, which have all schedules.

    Empty if that is one of the schedules for all loops, or the program as it is.
    """
    if not request.schedules.compare or not request.schedules.advise:
        return []
    known = list(records)
    found: dict[str, RunPoint] = {}
    for written in known:
        if not written.ok or written.point.variant or written.point.repetition:
            continue
        under = compared(request, written, known)
        best = loop_schedules.together(loop_schedules.loop_times(regions, under))
        if best:
            made = written.point.model_copy(update={"variant": Variant(schedule=best)})
            found.setdefault(made.key, made)
    return list(found.values())


def checked(request: Request, records: Iterable[RunRecord], build: Build) -> list[RunPoint]:
    """Return the runs that verify the main losses on the most processors, if *request* wants that."""
    if not request.verify:
        return []
    from scalegraph.analyze import culprits  # imports pandas, which other requests do not need

    found = culprits.of_largest([one for one in records if one.source == "simulated"], build.regions)
    if found is None:
        return []
    return [point for point in culprits.points(*found) if not faults(build, (point.variant,))]


def doubtful(records: Iterable[RunRecord]) -> list[RunPoint]:
    """Return the estimated runs whose interval contains the time of a run with a virtual speedup of the same point."""
    known = {record.point.key: record for record in records if record.ok}
    found: dict[str, RunPoint] = {}
    for record in known.values():
        actual = known.get(record.point.actual().key)
        if record.point.variant.speedup and actual is not None and actual.indistinct(record):
            found[actual.point.key] = actual.point
    return list(found.values())


def counted(request: Request, records: Iterable[RunRecord], build: Build) -> list[RunPoint]:
    """Return the run in which loops with a large loss call the runtime for iterations, so that these are counted.

    These are static loops with variable bounds, whose iterations nothing else counts. The program needs a special
    build.
    """
    if not request.verify or request.program.executable:
        return []
    from scalegraph.analyze import culprits  # imports pandas, which other requests do not need
    from scalegraph.analyze.loops import dealing

    found = culprits.of_largest([one for one in records if one.source == "simulated"], build.regions)
    if found is None or found[1].attrs["whole"].is_little:
        return []
    run, parts = found
    asked = dealing.uncounted(parts, culprits.LEAST)
    return [run.point.model_copy(update={"variant": Variant(schedule=AS_WRITTEN)})] if asked else []


def compared(request: Request, written: RunRecord, records: Iterable[RunRecord]) -> dict[str, RunRecord]:
    """Return the run as *written* and its point's run under each schedule that *request* compares, by schedule."""
    names = request.schedules.names
    keys = {written.point.model_copy(update={"variant": Variant(schedule=name)}).key: name for name in names}
    return {
        loop_schedules.WRITTEN: written,
        **{keys[one.point.key]: one for one in records if one.ok and one.point.key in keys},
    }


def targets(record: RunRecord, sweep: Speedups, build: Build | None = None) -> list[str]:
    """Return the targets with most computation and memory stalls in *record*, the most expensive first.

    A target that *build* cannot scale (a line of a library) is left out.
    """
    by_line = sorted(record.lines, key=lambda cost: (-_line_cycles(cost), cost.file, cost.line))
    by_region = sorted(record.regions, key=lambda cost: (-_region_cycles(cost), cost.region))
    lines = (f"line:{cost.file}:{cost.line}" for cost in by_line if _line_cycles(cost) > 0)
    regions = (f"region:#{cost.region}" for cost in by_region if cost.region and _region_cycles(cost) > 0)
    return [*_first(lines, sweep.lines, build), *_first(regions, sweep.regions, build)]


def _first(names: Iterator[str], count: int, build: Build | None) -> list[str]:
    found: list[str] = []
    for name in names:
        if len(found) == count:
            break
        if build is None or not faults(build, (Variant(speedup={name: "2"}),)):
            found.append(name)
    return found


def _line_cycles(cost: LineCost) -> int:
    return cost.busy + cost.memory_stall


def _region_cycles(cost: RegionCost) -> int:
    return sum(cycles for category, cycles in cost.categories.items() if category.startswith((_BUSY, _STALLS)))


def faults(build: Build, variants: Sequence[Variant]) -> list[Fault]:
    """Return a fault for each target of a virtual speedup that the program does not have."""
    found: dict[str, Fault] = {}
    for variant in variants:
        try:
            scale_file(build, variant)
        except InputError as error:
            found |= {fault.message: fault for fault in error.faults}
    return list(found.values())


def machine_faults(request: Request, reference: str) -> list[Fault]:
    """Return the faults of the machines and counts of the request's what-if runs; *reference*: its machine."""
    found: list[Fault] = []
    known = request.every_count()
    for index, what in enumerate(request.what_if):
        strange = [str(count) for count in what.processors if count not in known]
        if strange:
            text = f"{', '.join(strange)}: not among the processor counts of the request, nothing to compare with"
            found.append(Fault(text, key=f"what_if.{index}.processors"))
        try:
            machine = machine_of(request, reference, what.variant)
        except InputError as error:
            for fault in error.faults:
                place = f"what_if.{index}.machine.{fault.key}" if fault.key else f"what_if.{index}.machine"
                found.append(Fault(fault.message, key=place))
            continue
        above = [str(count) for count in what.processors or known if count > machine.max_processors]
        if above:
            text = f"{', '.join(above)}: the changed machine has 1 to {machine.max_processors} processors"
            found.append(Fault(text, key=f"what_if.{index}.machine"))
    strange = [str(count) for count in request.speedups.processors if count not in known]
    if strange:
        found.append(Fault(f"{', '.join(strange)}: not among the processor counts of the request", key="speedups"))
    return found


def machine_of(request: Request, reference: str, variant: Variant) -> machines.Machine:
    """Return the machine of *variant*; raise `InputError` with the faults of its values."""
    return machines.load(reference, {**machine_values(request), **variant.machine})
