"""The record of a measured run, from the outcome of its process."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.base.run import RunRecord, Status
from scalegraph.link.job import Job
from scalegraph.link.process import Outcome
from scalegraph.link.targets.base import Place
from scalegraph.link.words import failure_message


def make_measured(job: Job, outcome: Outcome, place: Place, remarks: Iterable[str] = ()) -> RunRecord:
    """Return the record of a measured run of *job* at *place*; what was not measured is ``None``.

    ``time_s`` is the elapsed time of the process, in seconds.
    """
    status = _status(job, outcome)
    timed = status in ("ok", "failed")
    return RunRecord(
        source="measured",
        program=job.name,
        machine=place.name,
        point=job.point,
        status=status,
        message=failure_message(status, "", outcome, (), job.limits.time_s),
        exit_code=outcome.exit_code if timed else None,
        signal=outcome.signal,
        warnings=(*remarks, *_remarks(job, outcome)),
        time_s=outcome.host_s if timed else None,
        host_s=outcome.host_s,
        processes=job.processes or None,
        threads_per_process=job.point.processors // job.processes if job.processes else None,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
    )


def _status(job: Job, outcome: Outcome) -> Status:
    if outcome.cancelled:
        return "cancelled"
    if outcome.timed_out:
        return "timeout"
    if outcome.signal is not None:
        return "crashed"
    return "failed" if outcome.exit_code and outcome.exit_code not in job.accept_exit else "ok"


def _remarks(job: Job, outcome: Outcome) -> Iterable[str]:
    if outcome.exit_code and outcome.exit_code in job.accept_exit:
        yield f"ended with exit code {outcome.exit_code}, which is accepted"
    for name in outcome.truncated:
        yield f"{name} truncated at {job.limits.output_bytes} bytes"
