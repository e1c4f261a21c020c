"""The link to the simulated target: the built program runs here as a child process, on simulated processors."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from scalegraph.base.asked import every
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, Cancelled, InputError, RunError
from scalegraph.base.files import reason
from scalegraph.base.run import RunRecord
from scalegraph.base.sampling import SAMPLES
from scalegraph.base.workplaces import workplace
from scalegraph.link import loops, process, tracing
from scalegraph.link.balance import balanced
from scalegraph.link.job import Job
from scalegraph.link.record import make_record
from scalegraph.link.rows import asked_rows, may_ask
from scalegraph.link.scale import scale_file
from scalegraph.link.timing import timed_blocks
from scalegraph.machine.active import active
from scalegraph.runtime.results import Result, ResultError, read_result, write_config

# The user's variables that the program sees besides the request's: enough to find its files, and no more, so that the
# same request means the same run in another shell.
_ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")


# How far a processor may run ahead of the others on cache hits alone; a spinning one then yields to them.
_QUANTUM_CYCLES = 1000
_STACK_LEAST, _STACK_USUAL, _STACK_MOST = 2**16, 2**24, 2**36  # bytes; only the used part occupies memory
_NO_PLAIN = "no build without hooks came with the program"
_LIMIT_REACHED = "the trace has reached its limit"  # the runtime's own wording; the remark about a kept trace says more


class Simulated:
    """Runs built programs on simulated machines; stateless, so threads may share one."""

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Run *job*; return everything known about the run. `Job` documents its fields.

        However the program ends, the outcome is in the record's status and message; see `Limits`. The
        point's variant is applied here, except for machine values, which the job's machine already has.

        Raises `InputError` if the number of processors is not between 1 and the machine's maximum or not a multiple of
        the threads per process, `RunError` if the program cannot be started at all.
        """
        processors = job.point.processors
        if job.build.mpi:
            job = replace(job, machine=job.options.placed(job.machine))
        if refusal := job.machine.refusal(processors, job.processes or 1):
            raise InputError(f"{processors} processors: {refusal}")
        if refusal := job.options.refusal(processors):
            raise InputError(refusal)
        job = replace(job, machine=active(job.machine, processors))
        try:
            with contextlib.ExitStack() as stack:
                place = stack.enter_context(workplace("scalegraph-simulated"))
                traced = None if job.trace is None else stack.enter_context(tracing.workplace(job.trace))
                return self._run(job, place, traced, cancel or CancelToken())
        except OSError as error:
            raise RunError(f"{job.name}: cannot be started: {reason(error)}") from error

    def _run(self, job: Job, place: Path, traced: Path | None, cancel: CancelToken) -> RunRecord:
        """Run *job* with its files in *place* and its trace, if any, in *traced*."""
        env = program_environment({**thread_variables(job), **job.env})
        env["SCALEGRAPH_CONFIG"] = str(place / "config")
        result_path = place / "result"
        config = _config(job, place, env, result_path)
        command = process.Command(
            launcher=job.build.launcher,
            executable=job.build.executable,
            arguments=[job.name, *job.args],
            env=env,
            cwd=job.cwd,
            stdin=job.stdin,
        )
        limits = job.limits
        with _blocks(job, place, "run.scale_path" in config, cancel) as (blocks, unplain):
            write_config(place / "config", config | blocks | _trace_config(job, traced))
            outcome = process.run(command, time_s=limits.time_s, output_bytes=limits.output_bytes, cancel=cancel)
        result, remarks = _result(result_path)
        record = make_record(job, outcome, result, (*unplain, *remarks))
        asked = SAMPLES in job.collect
        if result is not None and record.ok and (asked or result.rows("SAMPLED_PHASES")):
            from scalegraph.link import sampled  # imports modules that other runs do not need

            record = sampled.noted(record, job.build, result, unasked=not asked)
        if traced is not None and record.status != "cancelled":
            record = _with_trace(record, job, traced, result, cancel)
        return balanced(record) if "balance" in job.point.variant.ideal else record


def _config(job: Job, place: Path, env: Mapping[str, str], result_path: Path) -> dict[str, str]:
    """Return the runtime's configuration of *job*, without blocks and trace; write the scale file that it names."""
    values = {
        **job.machine.runtime_config(),
        "run.processors": str(job.point.processors),
        "run.stack_bytes": str(_stack_bytes(env)),
        "run.quantum_cycles": str(_QUANTUM_CYCLES),
        "run.result_path": str(result_path),
        **_declared(job.options),
        **_declared(job.limits),
        **({"run.ranks": str(job.processes)} if job.processes else {}),
    }
    variant = job.point.variant
    if switches := [name for name in variant.ideal if name != "balance"]:
        values["run.ideal"] = ",".join(switches)
    if scale := scale_file(job.build, variant):
        (place / "scale").write_text(scale, encoding="utf-8")
        values["run.scale_path"] = str(place / "scale")
    choices = loops.parse(variant.schedule or job.schedule)
    if schedule := loops.of_runtime(choices) or "".join(env.get("OMP_SCHEDULE", "").split()):
        values["run.schedule"] = schedule
    if text := loops.loops_file(job.build, choices):
        (place / "loops").write_text(text, encoding="utf-8")
        values["run.loops_path"] = str(place / "loops")
    if job.collect:
        values["run.collect"] = ",".join(job.collect)
    if job.sample_after is not None:
        values["run.sample_after"] = str(job.sample_after)
    return values


def _declared(model: BaseModel) -> dict[str, str]:
    """Return the values of *model* that are declared for the simulator."""
    known = [(key, said.runtime) for key, said in every(type(model)) if said is not None and said.runtime]
    return {f"run.{name}": str(getattr(model, key)) for key, name in known}


@contextlib.contextmanager
def _blocks(
    job: Job, place: Path, is_scaled: bool, cancel: CancelToken
) -> Iterator[tuple[dict[str, str], tuple[str, ...]]]:
    """Give the configuration of the block table of *job*: the build's, or one with block times; and a remark.

    The remark says that loops are charged as the code with hooks, if a build without hooks is not available. A run of
    a large program asks for block times as it needs them, in *place*; not if it *is_scaled*, as all costs change then.
    """
    build, machine = job.build, job.machine
    if not machine.times_blocks:
        yield {"run.blocks_path": str(build.blocks)}, ()
        return
    remarks: tuple[str, ...] = ()
    plain = None
    if machine.processor.pipeline.is_given:
        if build.plain is None:
            remarks = (f"{job.name}: loops are charged as the code with hooks: {_NO_PLAIN}",)
        else:
            try:
                plain = build.plain(cancel)
            except BuildError as error:
                remarks = (f"{job.name}: loops are charged as the code with hooks: without hooks, {error}",)
    if is_scaled or job.point.variant.ideal or not may_ask(build, machine, plain, place):
        yield {"run.blocks_path": str(timed_blocks(build, machine, plain))}, remarks
        return
    with asked_rows(build, machine, plain, place) as rows:
        yield rows, remarks


def _trace_config(job: Job, traced: Path | None) -> dict[str, str]:
    return {} if job.trace is None or traced is None else job.trace.config(traced / tracing.RAW)


def _with_trace(record: RunRecord, job: Job, traced: Path, result: Result | None, cancel: CancelToken) -> RunRecord:
    """Return *record* with the run's trace, or as cancelled if there was a request to stop meanwhile."""
    assert job.trace is not None
    try:
        kept, remarks = tracing.keep(
            job.trace,
            traced,
            job.build,
            result=result,
            machine=job.machine.name,
            program=job.name,
            ranks=job.processes,
            cancel=cancel,
        )
    except Cancelled:
        return record.model_copy(update={"status": "cancelled", "message": "stopped by the user"})
    reported = [text for text in record.warnings if not (remarks and text.startswith(_LIMIT_REACHED))]
    return record.model_copy(update={"trace": kept, "warnings": (*reported, *remarks)})


def _stack_bytes(env: Mapping[str, str]) -> int:
    """Return each processor's stack size: from OMP_STACKSIZE (OpenMP's syntax, K without a unit), else the usual."""
    match = re.fullmatch(r"\s*(\d{1,12})\s*([BKMG]?)\s*", env.get("OMP_STACKSIZE", ""), re.IGNORECASE)
    if match is None:
        return _STACK_USUAL
    asked = int(match[1]) * {"B": 1, "K": 2**10, "M": 2**20, "G": 2**30}[match[2].upper() or "K"]
    return min(max(asked, _STACK_LEAST), _STACK_MOST)


def _result(path: Path) -> tuple[Result | None, tuple[str, ...]]:
    try:
        return read_result(path), ()
    except FileNotFoundError:
        return None, ()
    except ResultError as error:
        return None, (str(error),)


def thread_variables(job: Job) -> dict[str, str]:
    """Return the number of OpenMP threads per process, unless the user sets it: an MPI program's share."""
    return {"OMP_NUM_THREADS": str(job.point.processors // job.processes)} if job.processes else {}


def program_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the user's environment that a program sees, with *extra* added."""
    kept = {name: os.environ[name] for name in os.environ if name in _ENVIRONMENT or name.startswith("LC_")}
    return {**kept, **extra}
