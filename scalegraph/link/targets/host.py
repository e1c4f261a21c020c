"""The user's computer itself: the program runs natively, its threads on the processors."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from scalegraph.base.errors import InputError, RunError, ScaleGraphError
from scalegraph.base.files import reason
from scalegraph.base.workplaces import workplace
from scalegraph.link import loops, process
from scalegraph.link.accounting import Operating
from scalegraph.link.job import cancelled
from scalegraph.link.measured import make_measured
from scalegraph.link.simulated import program_environment, thread_variables
from scalegraph.link.targets._quiet import Disturbance, disturbance, stolen_s
from scalegraph.link.targets.base import Finding, Place, Target
from scalegraph.runtime.results import Result, ResultError, read_result

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

_CPUINFO = Path("/proc/cpuinfo")
_ATTEMPTS = 3  # runs of which the least disturbed is kept


class Host(Target):
    """Runs a program built for this computer, timed from its start to its end."""

    name = "host"
    title = "This computer"
    help = "The program runs on this computer itself and is measured"
    measures: ClassVar[tuple[str, ...]] = ("time", "regions", "waits", "counters", "trace", "schedules")
    order = 1

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one measured run; raises as `Target.run` does."""
        from scalegraph.base.cancel import CancelToken

        if job.command is None and (refusal := self.refusal(job.point.processors, job.settings)):
            raise InputError(f"{job.point.processors} processors: {refusal}")
        stop = cancel or CancelToken()
        if job.command is not None:
            from scalegraph.link.commands import measured

            return measured.run(job, self.place().name, stop)
        try:
            with self.workplace(job) as (place, placed):
                return self._run(placed, place / "result", stop)
        except OSError as error:
            raise RunError(f"{job.name}: cannot be started: {reason(error)}") from error

    @contextmanager
    def workplace(self, job: Job) -> Iterator[tuple[Path, Job]]:
        """Yield a directory for the monitor's files, and *job* with its program where the processes find it."""
        with workplace("scalegraph-host") as place:
            yield place, job

    def _run(self, job: Job, result: Path, cancel: CancelToken) -> RunRecord:
        starter, more = self.command(job)
        env = {**thread_variables(job), **openmp_variables(job), **monitor_variables(job, result), **more, **job.env}
        command = process.Command(
            launcher=job.build.launcher,
            executable=Path(starter[0]) if starter else job.build.executable,
            arguments=[*starter, str(job.build.executable), *job.args] if starter else [job.name, *job.args],
            env=program_environment(env),
            cwd=job.cwd,
            stdin=job.stdin,
        )
        limits = job.limits
        for _ in range(job.measuring.warm_up):
            process.run(command, time_s=limits.time_s, output_bytes=0, cancel=cancel)
        if cancel.cancelled:
            return cancelled(job)
        runs: list[tuple[Disturbance, RunRecord]] = []
        while len(runs) < _ATTEMPTS:
            clear_results(result)
            before = self.stolen_s(job)
            outcome = process.run(command, time_s=limits.time_s, output_bytes=limits.output_bytes, cancel=cancel)
            found, remarks = self.results(job, result)
            operating, unsure = self.operating(job, result, found)
            noticed = disturbance(found, job.point.processors, outcome.host_s, self.stolen_s(job) - before)
            runs.append((noticed, make_measured(job, outcome, self.place(), found, [*remarks, *unsure], operating)))
            if noticed.share <= job.measuring.disturbed or not runs[-1][1].ok:
                break
        record = _least_disturbed(runs, job.measuring.disturbed)
        return (
            record if job.trace is None or not record.ok else self.traced(record, job, command, result.parent, cancel)
        )

    def stolen_s(self, job: Job) -> float:  # noqa: ARG002
        """Return the seconds of steal time on the processors that *job* runs on."""
        return stolen_s()

    def traced(
        self,
        record: RunRecord,
        job: Job,
        command: process.Command,
        place: Path,  # noqa: ARG002 - targets on top of it have
        cancel: CancelToken,
    ) -> RunRecord:
        """Return *record* with a trace from a separate run: *record* keeps the times without it.

        *place*: the run's `workplace`.
        """
        from scalegraph.link.targets._traced import traced_run

        kept, remarks = traced_run(job, command, self.place(), record.time_s or 0.0, cancel)
        return record.model_copy(update={"trace": kept, "warnings": (*record.warnings, *remarks)})

    def command(self, job: Job) -> tuple[Sequence[str], Mapping[str, str]]:  # noqa: ARG002 - targets on top of it have
        """Return the words before the program's name that start it, and variables for them; none here."""
        return (), {}

    def results(self, job: Job, result: Path) -> tuple[list[Result], list[str]]:  # noqa: ARG002
        """Return the monitor's results, one per process, and remarks on any that cannot be used."""
        return read_results(result)

    def operating(self, job: Job, result: Path, found: Sequence[Result]) -> tuple[Operating, Sequence[str]]:  # noqa: ARG002
        """Return the time in collective operations that was not waiting, and remarks; none here."""
        return {}, ()

    def check(self) -> Finding:
        """Return whether programs can be compiled here, and the number of processors."""
        from scalegraph.runtime.compiler import INSTALL, find_compiler

        try:
            found = find_compiler()
        except ScaleGraphError as error:
            return Finding("missing", str(error), INSTALL)
        if found.clang:
            said = f"'{' '.join(found.command)}' is clang, whose OpenMP runtime is not observed"
            return Finding("remark", said, "set SCALEGRAPH_CC=gcc")
        return Finding("ok", f"{self.processors()} processors of {self.place().title}")

    def processors(self) -> int:
        """Return the number of processors that this process may use."""
        return len(os.sched_getaffinity(0))

    def place(self) -> Place:
        """Return this computer: its processor's name, and facts from the kernel."""
        model = processor_name()
        values: dict[str, str | int | float] = {
            "processors": os.cpu_count() or 1,
            "usable": self.processors(),
            "architecture": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
        }
        return Place("host", f"this computer: {model}", values)


def _least_disturbed(runs: Sequence[tuple[Disturbance, RunRecord]], limit: float) -> RunRecord:
    """Return the least disturbed of *runs*, with a remark on repetitions; if the last one failed, that one."""
    best = runs[-1] if not runs[-1][1].ok else min(runs, key=lambda run: run[0].share)
    if len(runs) == 1:
        return best[1] if best[0].share <= limit else _remarked(best[1], best[0].words)
    others = "; ".join(noticed.words for noticed, record in runs if record is not best[1])
    said = f"repeated: {others}"
    if best[0].share > limit:
        said += f"; the least disturbed of {len(runs)} runs is kept: {best[0].words}"
    return _remarked(best[1], said)


def _remarked(record: RunRecord, said: str) -> RunRecord:
    return record.model_copy(update={"warnings": (*record.warnings, said)})


def processor_name() -> str:
    """Return the kernel's name of this computer's processors, else the architecture."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(filter(None, named), platform.machine())


def monitor_variables(job: Job, result: Path) -> dict[str, str]:
    """Return the environment for the monitor in a run of *job*; it writes ``RESULT.PID`` when a process ends."""
    pins = pinned(job.measuring.pin, sorted(os.sched_getaffinity(0)))
    records = {"SCALEGRAPH_TRACE": str(result.with_name("records"))}
    return {
        **records,
        "SCALEGRAPH_MONITOR": str(result),
        **({"SCALEGRAPH_PIN": ",".join(map(str, pins))} if pins else {}),
    }


def pinned(policy: str, processors: Sequence[int]) -> list[int]:
    """Return the processors of the threads, in order, under a pinning *policy*; empty for ``none``.

    ``spread`` takes the first processor of each half, then of each quarter, and so on.
    """
    if policy == "none":
        return []
    if policy == "close":
        return list(processors)
    width = max(len(processors) - 1, 1).bit_length()
    order = sorted(range(2**width), key=lambda number: int(f"{number:0{width}b}"[::-1], 2))
    return [processors[at] for at in order if at < len(processors)]


def clear_results(result: Path) -> None:
    """Remove the results of an earlier run of the same job."""
    for path in result.parent.iterdir():
        path.unlink(missing_ok=True)


def read_results(result: Path) -> tuple[list[Result], list[str]]:
    """Return the monitor's results, one per process, and remarks on any that cannot be read."""
    found, remarks = [], []
    for path in sorted(result.parent.glob(f"{result.name}.*")):
        try:
            found.append(read_result(path))
        except ResultError as error:
            remarks.append(str(error))
    return found, remarks


def openmp_variables(job: Job) -> Mapping[str, str]:
    """Return OpenMP's variables of the run, unless the user sets them."""
    threads = job.point.processors // job.processes if job.processes else job.point.processors
    return {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", **loops.library_variables(job.schedule)}


TARGET = Host()
