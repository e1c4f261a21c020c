"""A worker's answers, and the checks before one is accepted: they are data, never objects of the worker's choosing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError

from scalegraph.base.errors import RunError
from scalegraph.base.run import RunRecord, Source, TraceFile
from scalegraph.link import tracing
from scalegraph.link.build import Build
from scalegraph.link.cluster import frames
from scalegraph.link.job import Job
from scalegraph.runtime.checked import accounts_fault, categories_fault

_LONGEST_RECORD: Final = 512 * 2**20  # bytes; the most that a study reads
_LONGEST_SENTENCE: Final = 2000  # characters of a worker's message
_TRACE_SLACK: Final = 1.5  # a trace file may be this much larger than its limit, which counts what the runtime wrote


def answer(host: str, record: RunRecord, trace: bytes | None = None) -> bytes:
    """Return the answer of *host*: the *record* of a run, and its trace if it has one."""
    text = record.model_dump_json(exclude_defaults=True, by_alias=True).encode()
    return frames.pack({"host": host}, text, *([] if trace is None else [trace]))


def refused(host: str, sentence: str, *, of_run: bool = False) -> bytes:
    """Return the answer of *host* that refuses a run because of *sentence*.

    *of_run*: the run is at fault, and any other worker would refuse it too; otherwise it may succeed elsewhere.
    """
    return frames.pack({"host": host, "refused": sentence, **({"of_run": True} if of_run else {})})


def is_good(data: bytes) -> bool:
    """Whether the answer *data* holds the record of a successful run."""
    try:
        head, blobs = frames.unpack(data)
        return "refused" not in head and RunRecord.model_validate_json(blobs[0]).ok
    except (ValueError, TypeError, IndexError):
        return False


def accepted(data: object, job: Job, source: Source = "simulated") -> RunRecord:
    """Return the record in the answer *data* to *job*, with its trace published where the job wants it.

    The machine of a measured run is the name of the computer that answers.

    Whatever a worker sends, this returns a record of that run that a study can keep, or raises `RunError` with one
    sentence: a refusal, not an answer of ScaleGraph, the record of another run, or accounts that do not add up.
    """
    if not isinstance(data, bytes):
        raise RunError(f"a worker answered with a value of type {type(data).__name__}; bytes were expected")
    try:
        head, blobs = frames.unpack(data)
    except (ValueError, RecursionError) as error:
        raise RunError(f"the answer of a worker {_clipped(str(error))}") from None
    host = _clipped(head.get("host"), 100) or "a worker"
    if "refused" in head:
        raise RunError(_clipped(head["refused"]) or f"{host} refused the run and did not say why")
    if not 1 <= len(blobs) <= 2 or len(blobs[0]) > _LONGEST_RECORD:
        raise RunError(f"the answer of {host} has no record of a run that could be kept")
    record = _record(blobs[0], host)
    if source != "simulated":
        record = record.model_copy(update={"machine": host})
    if fault := _mismatch(record, job, source) or _impossible(record, job.build):
        raise RunError(f"the answer of {host} was refused: {fault}")
    if job.trace is None:
        return record.model_copy(update={"trace": None})
    return _with_trace(record, blobs[1] if len(blobs) > 1 else None, job)


def _record(text: bytes, host: str) -> RunRecord:
    try:
        return RunRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc'])) or 'record'}: {first['msg']}"
        raise RunError(f"the answer of {host} is not a record of a run: {_clipped(fault)}") from None
    except RecursionError:
        raise RunError(f"the answer of {host} is not a record of a run") from None


def _mismatch(record: RunRecord, job: Job, source: Source) -> str:
    """Return a sentence if *record* does not belong to *job*, otherwise an empty string."""
    pairs: Iterable[tuple[str, object, object]] = (
        ("run", record.point.label(), job.point.label()),
        ("run", record.point.key, job.point.key),
        ("program", record.program, job.name),
        ("source", record.source, source),
        ("number of processes", record.processes or 0, job.processes),
        *(_machine(record, job) if source == "simulated" else ()),
    )
    for what, got, wanted in pairs:
        if got != wanted:
            return f"its {what} is {_clipped(got, 200)}; {_clipped(wanted, 200)} was expected"
    return "it was stopped there" if record.status == "cancelled" else ""


def _machine(record: RunRecord, job: Job) -> tuple[tuple[str, object, object], ...]:
    machine = job.machine
    return ("machine", record.machine, machine.name), ("clock", record.clock_hz, machine.clock_hz)


def _impossible(record: RunRecord, build: Build) -> str:
    """Return a sentence if *record* holds what no run of *build* can produce, otherwise an empty string."""
    if fault := accounts_fault(record) if record.source == "simulated" else categories_fault(record):
        return fault
    unknown = {cost.region for cost in record.regions}.difference({0, *(region.id for region in build.regions)})
    if unknown:
        return f"it has costs of region {min(unknown)}, which the program does not have"
    ranks = record.processes or 0
    if any(not 0 <= rank < ranks or size < 0 for rank, size in record.stdout_ranks if ranks):
        return "it has output of ranks that the run does not have"
    return ""


def _with_trace(record: RunRecord, data: bytes | None, job: Job) -> RunRecord:
    """Return *record* with its trace, checked and moved to where *job* wants it; unchanged if there is no trace."""
    order = job.trace
    assert order is not None
    kept = record.trace
    if data is None or kept is None:
        return record.model_copy(update={"trace": None})
    if len(data) > max(order.limit, 2**20) * _TRACE_SLACK:
        raise RunError(f"a worker sent a trace of {len(data)} bytes; at most {order.limit} were requested")
    with tracing.workplace(order) as place:
        fresh = place / f"trace{tracing.SUFFIX}"
        fresh.write_bytes(data)
        if not tracing.is_of(fresh, order.identity):
            raise RunError("the trace that a worker sent is not of this run")
        path = tracing.publish(fresh, order)
    trace = TraceFile(path=str(path), bytes=len(data), counts=kept.counts, asked=order.asked)
    return record.model_copy(update={"trace": trace})


def _clipped(value: object, most: int = _LONGEST_SENTENCE) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text if len(text) <= most else f"{text[:most]}.."
