"""One measured run of a command as it is: warm-up, the run, and its record."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.errors import RunError
from scalegraph.base.files import reason
from scalegraph.base.run import RunRecord
from scalegraph.base.units import counted
from scalegraph.base.usage import HostState, Usage
from scalegraph.link.commands import reported, started, words
from scalegraph.link.job import cancelled
from scalegraph.link.measured import end_remarks, status_of
from scalegraph.link.targets._counters import refused
from scalegraph.link.words import failure_message

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.link.build import AsItIs
    from scalegraph.link.job import Job

_LINE_SIZE: Final = Path("/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size")
_USUAL_LINE: Final = 64


def run(job: Job, machine: str, cancel: CancelToken, more: Mapping[str, str] | None = None) -> RunRecord:
    """Run *job*'s command once on this computer, called *machine*; return the record.

    The command sees all environment variables here, those of the job, and *more*. Raises `RunError` if it cannot be
    started.
    """
    command = job.command
    assert command is not None
    usable = sorted(os.sched_getaffinity(0))
    start = started.Start(
        words=job.args,
        env={**os.environ, **(more or {}), **job.env},
        cwd=job.cwd,
        stdin=job.stdin,
        processors=processors(job.measuring.pin, job.point.processors, usable),
    )
    limits = job.limits
    try:
        for _ in range(job.measuring.warm_up):
            if not cancel.cancelled:
                started.run(start, time_s=limits.time_s, output_bytes=0, cancel=cancel)
        if cancel.cancelled:
            return cancelled(job).model_copy(update={"source": "measured", "machine": machine})
        ended = started.run(start, time_s=limits.time_s, output_bytes=limits.output_bytes, cancel=cancel)
    except OSError as error:
        raise RunError(f"{job.name}: '{job.args[0]}' cannot be started: {reason(error)}") from error
    record = _record(job, command, ended, machine, list(_observations(job, len(usable))))
    return _with_stacks(record, start, job, cancel) if command.stacks and record.ok else record


def _with_stacks(record: RunRecord, start: started.Start, job: Job, cancel: CancelToken) -> RunRecord:
    """Return *record* with the call paths from one more run, or a remark on why there are none."""
    from scalegraph.link.commands import stacks

    found, why = stacks.sampled(start, job.point.processors, job.limits, cancel)
    if why or record.usage is None:
        return record.model_copy(update={"warnings": (*record.warnings, f"call paths were not sampled: {why}")})
    return record.model_copy(update={"usage": record.usage.model_copy(update={"stacks": found})})


def processors(pin: str, count: int, usable: Sequence[int]) -> list[int]:
    """Return the processors of *usable* that a command on *count* may use; empty where the system chooses.

    ``close``: the first ones; ``spread``: as far apart as possible.
    """
    from scalegraph.link.targets.host import pinned

    return sorted(pinned(pin, usable)[:count])


@dataclass(frozen=True)
class _Own:
    """The program's own time: fields of `Usage`, the time, and remarks, or why it reports none."""

    usage: Mapping[str, Any]
    time_s: float | None
    remarks: tuple[str, ...] = ()
    fault: str = ""


def _record(job: Job, command: AsItIs, ended: started.Ended, machine: str, remarks: list[str]) -> RunRecord:
    outcome, found = ended.outcome, ended.found
    status = status_of(job, outcome)
    message = failure_message(status, "", outcome, (), job.limits.time_s)
    own = _Own({}, found["wall_s"])
    if status == "ok" and (command.time_from or command.rate_from):
        own = _own(command, outcome.stdout + "\n" + outcome.stderr)
        if own.fault:
            status, message = "failed", own.fault
    timed = status in ("ok", "failed")
    away = words.outside(job.args, command.nodes)
    spent = {} if away else {name: found[name] for name in ("user_s", "system_s", "peak_memory_bytes")}
    return RunRecord(
        source="measured",
        program=job.name,
        machine=machine,
        point=job.point,
        status=status,
        message=message,
        exit_code=outcome.exit_code if timed else None,
        signal=outcome.signal,
        warnings=(*remarks, *end_remarks(job, outcome), *own.remarks, *((away,) if away else ())),
        time_s=own.time_s if timed else None,
        host_s=outcome.host_s,
        host_cpu_s=outcome.host_cpu_s,
        counters={} if away else _counters(found["counters"]),
        usage=Usage(
            wall_s=found["wall_s"],
            started=found["started"],
            processes=command.processes,
            threads=command.threads,
            nodes=command.nodes,
            uncounted=refused(found["uncounted"]) if found["uncounted"] else "",
            host=HostState(**{**found["host"], "pinned": tuple(found["host"]["pinned"])}),
            **spent,
            **own.usage,
        ),
        stdout=outcome.stdout,
        stderr=outcome.stderr,
    )


def _own(command: AsItIs, output: str) -> _Own:
    """Return the time that the program reports, or computes from the rate it reports."""
    try:
        if command.time_from:
            said = reported.time(command.time_from, output)
            return _Own({"reported": said.text}, said.seconds, said.remarks)
        said = reported.rate(command.rate_from, output)
    except (ValueError, re.error) as error:
        option = "--time-from" if command.time_from else "--rate-from"
        return _Own({}, None, fault=f"{error} ({option})")
    assert said.rate is not None
    usage = {"reported": said.text, "rate": said.rate, "rate_unit": said.unit}
    return _Own(usage, command.work / said.rate, said.remarks)


def _counters(found: Mapping[str, int]) -> dict[str, int]:
    """Return hardware counters with the bytes moved from memory by last-level misses, one line each."""
    if (misses := found.get("hw_cache_misses")) is None:
        return dict(found)
    try:
        line = int(_LINE_SIZE.read_text(encoding="ascii"))
    except (OSError, ValueError):
        line = _USUAL_LINE
    return {**found, "hw_memory_bytes": misses * line}


def _observations(job: Job, usable: int) -> Iterator[str]:
    if job.point.processors > usable:
        yield f"N is more than the {counted(usable, 'processor')} of this computer, which the command shares out"
