"""The link to the simulated target: the built program runs here as a child process, on simulated processors."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError, RunError
from scalegraph.base.files import reason
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.link import process, tracing
from scalegraph.link.balance import balanced
from scalegraph.link.build import Build, Limits
from scalegraph.link.record import RunContext, make_record
from scalegraph.link.scale import scale_file
from scalegraph.link.tracing import TraceOrder
from scalegraph.machine import Machine
from scalegraph.runtime.results import Result, ResultError, read_result, write_config

# What the program sees of the user's environment, besides what the request sets: enough to find its files, and no more,
# so that the same request means the same run in another shell.
_ENVIRONMENT = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH")


# How far a processor may run ahead of the others on hits alone; one that spins gives way to them then.
_QUANTUM_CYCLES = 1000
_STACK_LEAST, _STACK_MOST = 2**16, 2**36
_LIMIT_REACHED = "the trace has reached its limit"  # as the runtime says it; a trace that is kept says it with more


class Simulated:
    """Runs built programs on simulated machines; stateless, so one may serve many threads."""

    def run(
        self,
        build: Build,
        machine: Machine,
        processors: int,
        args: Sequence[str] = (),
        *,
        stdin: Path | bytes | None = None,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        schedule: str = "",
        collect: Sequence[str] = (),
        cancel: CancelToken | None = None,
        point: RunPoint | None = None,
        program: str = "",
        accept_exit: Sequence[int] = (),
        trace: TraceOrder | None = None,
    ) -> RunRecord:
        """Run *build* with *args* on *processors* of *machine* and return everything known about it.

        However the program ends, the outcome is in the record's status and message; see `Limits` for the limits.
        *cwd*: the program's working directory (the caller's if ``None``); *env*: set besides a few variables of the
        user (PATH, HOME, locale, ..), OMP_STACKSIZE and OMP_SCHEDULE are heeded; *schedule*: for
        ``schedule(runtime)``, in OMP_SCHEDULE syntax; *collect*: what is collected besides and costs host time
        (``classes``: misses by class); *point*, *program*: the run's coordinates and name in the record.
        *accept_exit*: exit codes besides 0 with which the run counts as a success, with a remark.
        *trace*: a trace is written of it; nothing else of the record is different then, but the host's time.
        What the point's variant says is done here, but for its machine values: *machine* has them already.

        Raises `InputError` when *processors* is not between 1 and the machine's maximum, `RunError` when the program
        cannot be started at all.
        """
        if not 1 <= processors <= machine.max_processors:
            raise InputError(f"{processors} processors: machine '{machine.name}' has 1 to {machine.max_processors}")
        context = RunContext(
            build,
            machine,
            point or RunPoint(processors=processors),
            program or build.program,
            limits or Limits(),
            tuple(collect),
            tuple(accept_exit),
        )
        try:
            _sweep()
            with contextlib.ExitStack() as stack:
                place = stack.enter_context(
                    tempfile.TemporaryDirectory(prefix=f"scalegraph-{os.getpid()}-", ignore_cleanup_errors=True)
                )
                traced = None if trace is None else (trace, stack.enter_context(tracing.workplace(trace)))
                command = process.Command(
                    launcher=build.launcher,
                    executable=build.executable,
                    arguments=[context.program, *args],
                    env=_environment(Path(place), env or {}),
                    cwd=cwd,
                    stdin=stdin,
                )
                return self._run(context, command, Path(place), schedule, cancel or CancelToken(), traced)
        except OSError as error:
            raise RunError(f"{context.program}: cannot be started: {reason(error)}") from error

    def _run(
        self,
        context: RunContext,
        command: process.Command,
        place: Path,
        schedule: str,
        cancel: CancelToken,
        traced: tuple[TraceOrder, Path] | None,
    ) -> RunRecord:
        result_path = place / "result"
        limits = context.limits
        values = {
            **context.machine.runtime_config(),
            "run.processors": str(context.point.processors),
            "run.arena_bytes": str(limits.memory_bytes),
            "run.stack_bytes": str(_stack_bytes(command.env, limits)),
            "run.quantum_cycles": str(_QUANTUM_CYCLES),
            "run.result_path": str(result_path),
            "run.blocks_path": str(context.build.blocks),
        }
        variant = context.point.variant
        if switches := [name for name in variant.ideal if name != "balance"]:
            values["run.ideal"] = ",".join(switches)
        if scale := scale_file(context.build, variant):
            (place / "scale").write_text(scale, encoding="utf-8")
            values["run.scale_path"] = str(place / "scale")
        if schedule := schedule or "".join(command.env.get("OMP_SCHEDULE", "").split()):
            values["run.schedule"] = schedule
        if context.collect:
            values["run.collect"] = ",".join(context.collect)
        if traced is not None:
            values |= traced[0].config(traced[1] / tracing.RAW)
        write_config(place / "config", values)
        outcome = process.run(command, time_s=limits.time_s, output_bytes=limits.output_bytes, cancel=cancel)
        result, remarks = _result(result_path)
        record = make_record(context, outcome, result, remarks)
        if traced is not None and record.status != "cancelled":
            record = _with_trace(record, context, traced, result, cancel)
        return balanced(record) if "balance" in variant.ideal else record


def _with_trace(
    record: RunRecord,
    context: RunContext,
    traced: tuple[TraceOrder, Path],
    result: Result | None,
    cancel: CancelToken,
) -> RunRecord:
    """Return *record* with the trace that the run left, or cancelled if there was a request to stop meanwhile."""
    machine, program = context.machine.name, context.program
    try:
        kept, remarks = tracing.keep(
            *traced, context.build, result=result, machine=machine, program=program, cancel=cancel
        )
    except Cancelled:
        return record.model_copy(update={"status": "cancelled", "message": "stopped by the user"})
    told = [text for text in record.warnings if not (remarks and text.startswith(_LIMIT_REACHED))]
    return record.model_copy(update={"trace": kept, "warnings": (*told, *remarks)})


def _sweep() -> None:
    """Remove the directories of runs whose ScaleGraph was killed before it could do so."""
    for path in Path(tempfile.gettempdir()).glob("scalegraph-[0-9]*-*"):
        number = path.name.split("-")[1]
        if number.isdecimal() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(path, ignore_errors=True)


def _stack_bytes(env: Mapping[str, str], limits: Limits) -> int:
    """Return the stack of each processor: as OMP_STACKSIZE says (OpenMP's syntax, K without a unit), else the limit."""
    match = re.fullmatch(r"\s*(\d{1,12})\s*([BKMG]?)\s*", env.get("OMP_STACKSIZE", ""), re.IGNORECASE)
    if match is None:
        return limits.stack_bytes
    asked = int(match[1]) * {"B": 1, "K": 2**10, "M": 2**20, "G": 2**30}[match[2].upper() or "K"]
    return min(max(asked, _STACK_LEAST), _STACK_MOST)


def _result(path: Path) -> tuple[Result | None, tuple[str, ...]]:
    try:
        return read_result(path), ()
    except FileNotFoundError:
        return None, ()
    except ResultError as error:
        return None, (str(error),)


def _environment(place: Path, extra: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in os.environ if name in _ENVIRONMENT or name.startswith("LC_")}
    return {**kept, **extra, "SCALEGRAPH_CONFIG": str(place / "config")}
