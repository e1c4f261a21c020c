"""The computer itself: the program runs natively, its threads on the processors."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.errors import InputError, RunError, ScaleGraphError
from scalegraph.base.files import reason
from scalegraph.link import process
from scalegraph.link.measured import make_measured
from scalegraph.link.simulated import program_environment, thread_variables
from scalegraph.link.targets.base import Finding, Place, Target

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

_CPUINFO = Path("/proc/cpuinfo")


class _Host(Target):
    """Runs a program built for this computer, timed from its start to its end."""

    name = "host"
    title = "This computer"
    help = "The program runs on this computer itself and is measured"
    measures = ("time",)
    order = 1

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one measured run; raises as `Target.run` says."""
        from scalegraph.base.cancel import CancelToken

        if refusal := self.refusal(job.point.processors):
            raise InputError(f"{job.point.processors} processors: {refusal}")
        command = process.Command(
            launcher=job.build.launcher,
            executable=job.build.executable,
            arguments=[job.name, *job.args],
            env=program_environment({**thread_variables(job), **_openmp(job), **job.env}),
            cwd=job.cwd,
            stdin=job.stdin,
        )
        limits, stop = job.limits, cancel or CancelToken()
        try:
            for _ in range(job.measuring.warm_up):
                process.run(command, time_s=limits.time_s, output_bytes=0, cancel=stop)
            outcome = process.run(command, time_s=limits.time_s, output_bytes=limits.output_bytes, cancel=stop)
        except OSError as error:
            raise RunError(f"{job.name}: cannot be started: {reason(error)}") from error
        return make_measured(job, outcome, self.place())

    def check(self) -> Finding:
        """Return whether programs can be compiled here, and on how many processors they run."""
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
        """Return the computer: its processor's name, and what the kernel says of it."""
        model = processor_name()
        values: dict[str, str | int | float] = {
            "processors": os.cpu_count() or 1,
            "usable": self.processors(),
            "architecture": platform.machine(),
            "system": f"{platform.system()} {platform.release()}",
        }
        return Place("host", f"this computer: {model}", values)


def processor_name() -> str:
    """Return the name of this computer's processors as the kernel has it, else the architecture."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model")))
    return next(filter(None, named), platform.machine())


def _openmp(job: Job) -> Mapping[str, str]:
    """Return OpenMP's variables of the run, if the user does not set them."""
    threads = job.point.processors // job.processes if job.processes else job.point.processors
    schedule = {"OMP_SCHEDULE": job.schedule} if job.schedule else {}
    return {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", **schedule}


TARGET = _Host()
