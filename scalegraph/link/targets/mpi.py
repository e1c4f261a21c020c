"""Processes of an MPI program on this computer, started by the ``mpirun`` of its MPI library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.base.errors import InputError, MissingTool, ScaleGraphError
from scalegraph.link.targets.base import Finding, Place
from scalegraph.link.targets.host import Host
from scalegraph.runtime.format import TRACED
from scalegraph.toolchain.host_mpi import INSTALL, host_mpi

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.accounting import Operating
    from scalegraph.link.job import Job
    from scalegraph.runtime.results import Result


_COLLECTIVES = 1 << TRACED.index("messages")
_MOST_BYTES = 2**26  # of the records of collective operations, of each process


class _Mpi(Host):
    """Runs an MPI program with the MPI library of this computer."""

    name = "mpi"
    title = "MPI on this computer"
    help = "The processes of an MPI program run on this computer, with its own MPI library, and are measured"
    builds = "mpi"
    measures = ("time", "regions", "waits", "messages", "counters", "trace")
    order = 2

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one measured run; raises as `Target.run` says."""
        threads = job.threads_per_process
        if job.point.processors > 1 and job.point.processors % threads:
            raise InputError(f"{job.point.processors} processors: no multiple of {threads} threads a process")
        return super().run(job, cancel)

    def command(self, job: Job) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return the words that start the program, and variables for them."""
        found = host_mpi()
        share = max(job.point.processors // max(job.processes, 1), 1)
        records = {"SCALEGRAPH_TRACE_WHAT": str(_COLLECTIVES), "SCALEGRAPH_TRACE_LIMIT": str(_MOST_BYTES)}
        return found.start(max(job.processes, 1)), {**found.env, **records, "SCALEGRAPH_PIN_EACH": str(share)}

    def operating(self, job: Job, result: Path, found: Sequence[Result]) -> tuple[Operating, Sequence[str]]:
        """Return what of the time in collective operations was no waiting, and remarks."""
        from scalegraph.link.targets._collectives import separated

        return separated(result.with_name("records"), found) if job.processes > 1 else ({}, ())

    def check(self) -> Finding:
        """Return which MPI library there is, and whether programs can be compiled."""
        finding = super().check()
        if finding.state != "ok":
            return finding
        try:
            found = host_mpi()
            found.options("c")
        except MissingTool as error:
            return Finding("remark", str(error).partition(";")[0], INSTALL)
        except ScaleGraphError as error:
            return Finding("missing", str(error), INSTALL)
        return Finding("ok", f"{found.name}, {found.mpirun}; {finding.found}")

    def place(self) -> Place:
        """Return the computer with its MPI library."""
        here = super().place()
        try:
            name = host_mpi().name
        except MissingTool:
            return Place("mpi", here.title, here.values)
        return Place("mpi", f"{here.title}, {name}", {**here.values, "mpi": name})


TARGET = _Mpi()
