"""The data that a request collects from its runs, and the known runs that lack some of it."""

from __future__ import annotations

from scalegraph.base.errors import Fault
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.sampling import SAMPLES, SAMPLES_WHEN_LONG
from scalegraph.request.model.parts import Sampling
from scalegraph.request.model.request import Request

LINES = "lines"  # in `RunRecord.left_out`


def machine_values(request: Request) -> dict[str, str]:
    """Return the machine values that *request* sets, by key: its own, and the monitor's (``monitor.kind``)."""
    monitor = request.collect.monitor
    return {**request.machine.overrides, **({} if monitor == "none" else {"monitor.kind": monitor})}


def faults(request: Request) -> list[Fault]:
    """Return a fault if one thing that *request* wants excludes another.

    A monitor observes regions; misses by class and traces need the whole run, which excludes sampling from the
    beginning.
    """
    if request.collect.sample == "always" and (request.collect.classes or request.trace is not None):
        key = "collect.classes" if request.collect.classes else "trace"
        return [Fault("needs the whole run, and the request samples it (collect.sample)", key=key)]
    if request.collect.monitor == "none" or request.collect.regions:
        return []
    text = f"{request.collect.monitor} monitoring observes regions, and the request plants no region probes"
    return [Fault(text, key="collect.monitor")]


def lacks(request: Request, record: RunRecord) -> bool:
    """Return whether *record*, a successful actual run, lacks data that *request* collects.

    Runs with something ideal are compared only by their times, and need none of it.
    """
    if not record.ok:
        return False
    if record.estimated and sampling(request, record.point) == "never":
        return True
    if record.point.variant:
        return False
    used = record.usage
    if request.program.stacks and not record.point.repetition and used is not None and not used.stacks:
        return True
    classes = request.collect.classes and "classes" not in record.collected
    return classes or (request.collect.lines and LINES in record.left_out)


def sampling(request: Request, point: RunPoint) -> Sampling:
    """Return when the run at *point* is sampled.

    Unless the request samples from the beginning, runs with virtual speedups are exact, and so are the runs that these
    are compared with: a gain may be smaller than the interval of an estimate.
    """
    wanted = request.collect.sample
    if wanted != "automatic" or point.variant.speedup:
        return "never" if point.variant.speedup else wanted
    if point.variant:
        return wanted
    every = request.every_count()
    compared = [what.processors or every for what in request.what_ifs() if what.speedup]
    if request.speedups.lines or request.speedups.regions:
        compared.append(request.speedups.processors or (max(every),))
    return "never" if any(point.processors in counts for counts in compared) else wanted


def collected(request: Request, point: RunPoint, before: RunRecord | None, *, exact: bool = False) -> tuple[str, ...]:
    """Return the optional data that a run collects: what is requested, and what *before*, an earlier run, has.

    *exact*: the run is not sampled, whatever the request says; nor is one in place of an exact run.
    """
    there = before is not None and before.ok and "classes" in before.collected
    wanted = "never" if exact else sampling(request, point)
    if wanted == "always":
        return (SAMPLES,)
    whole = before is not None and before.ok and not before.estimated
    when_long = () if wanted == "never" or whole else (SAMPLES_WHEN_LONG,)
    return ("classes", *when_long) if request.collect.classes or there else when_long


def kept(request: Request, record: RunRecord, before: RunRecord | None) -> RunRecord:
    """Return *record* as a study keeps it: with data of *before*, an earlier run of the point, that it lacks."""
    had = before is not None and before.ok
    if before is not None and had and record.trace is None and before.trace is not None:
        record = record.model_copy(update={"trace": before.trace})  # repeated runs are identical
    if request.collect.lines or (before is not None and had and before.lines):
        return record
    return record.model_copy(update={"lines": (), "left_out": (LINES,) if record.lines else ()})
