"""Processes of an MPI program on this computer or several, started by the ``mpirun`` of its MPI library."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from scalegraph.base.errors import InputError, MissingTool, RunError, ScaleGraphError
from scalegraph.link.targets import _computers, _nodes
from scalegraph.link.targets.base import Finding, Place, Setting
from scalegraph.link.targets.host import Host, openmp_variables
from scalegraph.runtime.format import TRACED
from scalegraph.toolchain.host_mpi import INSTALL, host_mpi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.accounting import Operating
    from scalegraph.link.job import Job
    from scalegraph.link.process import Command
    from scalegraph.runtime.results import Result


_OURS = ("SCALEGRAPH_MONITOR", "SCALEGRAPH_TRACE", "SCALEGRAPH_PIN")
_REACHED_S = 30
_COLLECTIVES = 1 << TRACED.index("messages")
_PROGRAM = re.compile(rf"(?P<place>[^\s:'\"]*)/{re.escape(_computers.PLACE)}[^/\s]*/program\b")
_ABSENT = re.compile(r"No such file|not found|could not (access|find)")  # as srun, MPICH and Open MPI put it
_MOST_BYTES = 2**26  # of each process's records of collective operations


class _Mpi(Host):
    """Runs an MPI program with this computer's MPI library."""

    name = "mpi"
    title = "MPI on this computer, or on hosts"
    help = "The processes of an MPI program run with this computer's MPI library, here or on hosts, and are measured"
    builds = "mpi"
    measures = ("time", "regions", "waits", "messages", "counters", "trace", "schedules")
    settings = (
        Setting("hosts", "", "Computers that SSH reaches without a password: node1,node2:4 (ranks at most)"),
        Setting("hostfile", "", "File that lists them, a computer a line"),
        Setting("directory", "", "Directory that all hosts share, if not the program's working directory"),
        _nodes.LAUNCHER,
        _nodes.PMI,
    )
    order = 2

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one measured run; raises as `Target.run` does."""
        if refusal := job.options.refusal(job.point.processors):
            raise InputError(refusal)
        record = super().run(job, cancel)
        said = record.stderr or ""
        if not record.ok and _ABSENT.search(said) and (lost := _PROGRAM.search(said)):
            above = lost["place"] or "/"
            raise RunError(
                f"{job.name}: the nodes do not find the program in {above}, which all hosts have to share; name such a "
                "directory with the setting 'directory'"
            )
        return record

    def command(self, job: Job) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return the words that start the program, and variables for them."""
        found = host_mpi()
        processes = max(job.processes, 1)
        share = max(job.point.processors // processes, 1)
        records = {"SCALEGRAPH_TRACE_WHAT": str(_COLLECTIVES), "SCALEGRAPH_TRACE_LIMIT": str(_MOST_BYTES)}
        more = {**found.env, **records, "SCALEGRAPH_PIN_EACH": str(share)}
        by_srun = _nodes.is_srun(job.settings, found)
        listed = _computers.hosts(job.settings, processes)
        if not _computers.several(job.settings) and not by_srun:
            return found.start(processes), more
        more[_computers.VARIABLE] = "1"
        if job.measuring.pin == "close":
            more["SCALEGRAPH_PIN"] = "own"  # processors are numbered differently there
        elif job.measuring.pin == "spread":
            more["SCALEGRAPH_PIN"] = ""
        names = sorted({*more, *_OURS, *openmp_variables(job), *job.env})
        if not listed:
            more |= _nodes.variables()
        if by_srun:
            return _nodes.srun(processes, share, job.settings, found), more
        return found.start(processes, listed, names), more

    @contextmanager
    def workplace(self, job: Job) -> Iterator[tuple[Path, Job]]:
        """Yield a directory for the monitor's files, which all computers of the run share, and the placed *job*."""
        with _computers.shared_place(job) if _computers.several(job.settings) else super().workplace(job) as found:
            yield found

    def results(self, job: Job, result: Path) -> tuple[list[Result], list[str]]:
        """Return the monitor's results; none if a rank on another computer wrote to a directory of its own."""
        found, remarks = super().results(job, result)
        if len(found) > 1 and all(one.meta.get("rank") == "0" for one in found):
            raise RunError(
                f"{job.name}: its {len(found)} processes are an MPI program of one each: what started them does not "
                f"know the MPI library; expected another setting '{_nodes.PMI.name}' for srun, else the mpirun of that "
                "library"
            )
        if _computers.several(job.settings) and 0 < len(found) < job.processes:
            said = f"{len(found)} of {job.processes} ranks left accounts in {result.parent.parent.parent}: "
            return [], [*remarks, f"{said}all hosts have to share that directory (setting 'directory')"]
        return found, remarks

    def stolen_s(self, job: Job) -> float:
        """Return steal time as `Host.stolen_s` does; 0 for the nodes of a batch job, where it is unknown."""
        return 0.0 if _nodes.elsewhere() else super().stolen_s(job)

    def traced(self, record: RunRecord, job: Job, command: Command, place: Path, cancel: CancelToken) -> RunRecord:
        """Return *record* with a trace; ranks on several computers record in *place*, which they share."""
        from scalegraph.link.targets._traced import part_variables, traced_run

        if not _computers.several(job.settings):
            return super().traced(record, job, command, place, cancel)
        elapsed = record.time_s or 0.0
        passed = command.arguments
        if not _nodes.is_srun(job.settings, host_mpi()):  # which passes on all variables
            passed = host_mpi().passing(passed, sorted(part_variables(job, elapsed)))
        (shared := place / "traced").mkdir()
        kept, remarks = traced_run(job, replace(command, arguments=passed), self.place(), elapsed, cancel, shared)
        return record.model_copy(update={"trace": kept, "warnings": (*record.warnings, *remarks)})

    def away(self, settings: Mapping[str, str]) -> bool:
        """Whether the settings put ranks on other computers."""
        return bool(settings.get("hosts") or settings.get("hostfile"))

    def refusal(self, processors: int, settings: Mapping[str, str] | None = None) -> str:
        """Return why no run can have that many *processors*; with hosts any number is allowed."""
        return "" if _computers.several(settings or {}) else super().refusal(processors)

    def reached(self, settings: Mapping[str, str]) -> Finding:
        """Return whether the MPI library starts a process on each of the hosts."""
        found = self.check()
        named = _computers.hosts(settings, 1)
        if found.state != "ok" or not named:
            return found
        mpi = host_mpi()
        words = [*mpi.start(len(named), [(name, 1) for name, _ in named]), "hostname"]
        try:
            env = {**os.environ, **mpi.env}
            done = subprocess.run(words, capture_output=True, text=True, timeout=_REACHED_S, check=False, env=env)
        except subprocess.TimeoutExpired:
            return Finding("missing", f"no answer of all hosts in {_REACHED_S} s: {' '.join(words)}")
        if done.returncode:
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]  # the rest is a backtrace
            return Finding(
                "missing", f"{mpi.name} starts no processes on {settings.get('hosts') or 'the hosts'}: {said}"
            )
        return Finding("ok", f"{mpi.name} starts processes on {', '.join(done.stdout.split())}")

    def operating(self, job: Job, result: Path, found: Sequence[Result]) -> tuple[Operating, Sequence[str]]:
        """Return the time in collective operations that was not waiting, and remarks."""
        from scalegraph.link.targets._collectives import separated

        return separated(result.with_name("records"), found) if job.processes > 1 else ({}, ())

    def begin(self, settings: Mapping[str, str], cancel: CancelToken) -> None:  # noqa: ARG002 - nothing is waited for
        """Read the computers that *settings* name, so that a wrong one is reported before the build."""
        _computers.hosts(settings, 1)

    def check(self) -> Finding:
        """Return the MPI library found, and whether programs can be compiled."""
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
        """Return the computer, or the nodes of the batch job, with the MPI library."""
        here = super().place()
        try:
            name = host_mpi().name
        except MissingTool:
            return Place("mpi", here.title, here.values)
        if _nodes.elsewhere():
            return Place("mpi", f"nodes of Slurm, {name}", {"mpi": name})
        return Place("mpi", f"{here.title}, {name}", {**here.values, "mpi": name})


TARGET = _Mpi()
