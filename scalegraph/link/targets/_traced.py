"""One more run of a measured program, for which the monitor writes a trace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.errors import WorkError
from scalegraph.base.units import si
from scalegraph.link import process, tracing
from scalegraph.link.targets import _one_clock, _records, _traces
from scalegraph.link.targets._computers import several
from scalegraph.runtime.format import TRACED
from scalegraph.runtime.results import Result, ResultError, read_result

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import TraceFile
    from scalegraph.link.job import Job
    from scalegraph.link.targets.base import Place

_MONITOR, _RECORDS = "monitor", "records"
_READINGS = 2000  # of counters in a run, approximately
_SHORTEST_S = 1e-4  # between readings, each of which takes about a microsecond


def traced_run(
    job: Job,
    command: process.Command,
    place: Place,
    elapsed_s: float,
    cancel: CancelToken,
    shared: Path | None = None,
) -> tuple[TraceFile | None, tuple[str, ...]]:
    """Run *command*, that of *job*, once more with a trace; return the trace and remarks for the run's record.

    *elapsed_s*: of the run without a trace; *shared*: a new directory that processes on all computers can write.

    Raises `Cancelled`.
    """
    assert job.trace is not None
    with tracing.workplace(job.trace) as work:
        raw = shared or work
        what = sum(1 << bit for bit, name in enumerate(TRACED) if name in job.trace.what)
        variables = {
            "SCALEGRAPH_MONITOR": str((raw / _MONITOR).absolute()),
            "SCALEGRAPH_TRACE": str((raw / _RECORDS).absolute()),
            "SCALEGRAPH_TRACE_WHAT": str(what),
            **part_variables(job, elapsed_s),
            "SCALEGRAPH_TRACE_LIMIT": str(job.trace.limit // max(job.processes, 1)),
        }
        traced = replace(command, env={**command.env, **variables})
        outcome = process.run(traced, time_s=job.limits.time_s, output_bytes=0, cancel=cancel)
        cancel.check()
        try:
            results = _results(raw, job)
            each = max(job.point.processors // job.processes, 1) if job.processes else 0
            parts = _records.processes(raw / _RECORDS, results, each)
            compared = _one_clock.convert(parts, results)
            events = _traces.merge(parts, work / tracing.RAW, what, job.trace.regions)
        except WorkError as error:
            return None, (f"no trace was kept: {error}",)
        kept, remarks = tracing.keep(
            job.trace,
            work,
            job.build,
            result=None,
            machine=place.name,
            program=job.name,
            ranks=job.processes,
            measured=True,
            cancel=cancel,
        )
        if kept is None:
            return None, remarks
        return kept, (*remarks, *compared, _cost(results, events), *_uncounted(job, results), *_ended(outcome))


def part_variables(job: Job, elapsed_s: float) -> dict[str, str]:
    """Return the monitor's variables for the part of the run that *job* is to trace; *elapsed_s*: of the whole run."""
    order, hertz = job.trace, job.machine.clock_hz
    assert order is not None
    interval = order.interval / hertz if order.interval else max(elapsed_s / _READINGS, _SHORTEST_S)
    found = {"SCALEGRAPH_TRACE_INTERVAL": str(round(interval * 1e9))}
    if order.begin:
        found["SCALEGRAPH_TRACE_BEGIN"] = str(round(order.begin / hertz * 1e9))
    if order.end is not None:
        found["SCALEGRAPH_TRACE_END"] = str(round(order.end / hertz * 1e9))
    if order.regions:
        found["SCALEGRAPH_TRACE_REGIONS"] = ",".join(map(str, order.regions))
    return found


def _results(work: Path, job: Job) -> list[Result]:
    """Return the results of *job*'s processes, by rank; for a program without MPI only the longest-running one."""
    found = []
    for path in work.glob(f"{_MONITOR}.*"):
        try:
            found.append(read_result(path))
        except ResultError as error:
            raise WorkError(str(error)) from error
    if not found:
        raise WorkError("the traced run left no result of the monitor")
    if job.processes:
        if len(found) < job.processes:
            said = f"only {len(found)} of {job.processes} ranks left a result of the traced run in {work}"
            raise WorkError(f"{said}: all hosts have to share it" if several(job.settings) else said)
        return sorted(found, key=lambda one: int(one.meta["rank"]))
    return [max(found, key=lambda one: int(one.meta["time_cycles"]))]


def _cost(results: list[Result], events: int) -> str:
    hertz = float(results[0].meta["frequency_hz"])
    each = max(float(result.meta["event_ticks"]) for result in results) / hertz
    time = max(int(result.meta["time_cycles"]) for result in results) / hertz
    return f"the trace is from a separate run, which took {si(time, 's')}; {events} records, {si(each, 's')} an event"


def _uncounted(job: Job, results: list[Result]) -> tuple[str, ...]:
    """Return why the trace lacks the processor counters that it was to have; empty if it has them."""
    why = results[0].meta.get("hardware", "counted")
    if job.trace is None or "counters" not in job.trace.what or why == "counted":
        return ()
    return (f"the trace has the kernel's counters only, none of the processor: {why}",)


def _ended(outcome: process.Outcome) -> tuple[str, ...]:
    return (f"the traced run ended with exit code {outcome.exit_code}",) if outcome.exit_code else ()
