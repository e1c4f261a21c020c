"""Nodes of a cluster, by Slurm: each run is measured on a node of its own, or on several for MPI."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.link.targets import _nodes
from scalegraph.link.targets.base import IS_MPI, Finding, Place, Setting, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job, Link

_VALUE: Final = re.compile(r"[\w.,:+-]+")
_TESTED_S: Final = 30
_MOST: Final = 10**6
_OF_RANKS: Final = ("nodes", "ranks_per_node")
_THERE: Final = ("directory", "launcher", "pmi")  # settings of target ``mpi``, which measures ranks in the batch job
_SHARED: Final = "measured on a node that other jobs could use at the same time"


class _Slurm(Target):
    """Runs a program on whole nodes, which need the same architecture.

    A single process is measured where ``srun`` starts ScaleGraph, which the node needs. MPI ranks are started from here
    in a job of ``salloc``: their nodes need the MPI library and a directory shared with this computer.
    """

    name = "slurm"
    title = "Nodes of Slurm"
    help = "Each run gets whole nodes of a cluster, one for a process, several for ranks of MPI, and is measured there"
    settings = (
        Setting("partition", "", "Partition"),
        Setting("account", "", "Account to charge"),
        Setting("time", "", "Time limit of each run's job, in Slurm's format"),
        Setting("constraint", "", "Features that the node must have"),
        Setting("shared", "no", "yes: other jobs may use the node at the same time; the runs then carry a remark"),
        IS_MPI,
        Setting("nodes", "", "Nodes of a run of MPI, if not as many as its ranks need"),
        Setting("ranks_per_node", "", "Ranks on each node, if not as many as it has room for"),
        Setting("directory", "", "Directory that all nodes and this computer share, if not the working directory"),
        _nodes.LAUNCHER,
        _nodes.PMI,
        Setting("allocation", "each", "Of a command: each (a batch job for each N), or one for all runs"),
    )
    takes_mpi = True
    holds_nodes = True
    measures = ("time", "regions", "waits", "messages", "counters", "trace")
    elsewhere = True
    order = 21

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one run measured on a node; raises as `Target.run` does."""
        from scalegraph.link.cluster import piped

        if job.command is not None:
            with self.session([job]) as held:
                return held.run(job, cancel)
        shared = job.settings.get("shared", "no") == "yes"
        if job.build.mpi:
            there = {name: job.settings[name] for name in _THERE if job.settings.get(name)}
            words = [*self._salloc(job), *piped.python_here()]
        else:
            there = None
            words = [*self._srun(job.settings, job.point.processors), *piped.python()]
        record = piped.measured_there(words, job, cancel, "Slurm", settings=there, sentences=_nodes.SENTENCES)
        return record.model_copy(update={"warnings": (*record.warnings, _SHARED)}) if shared else record

    def _srun(self, settings: Mapping[str, str], processors: int) -> list[str]:
        """Return the ``srun`` command that starts one task, which may use all its processors."""
        for name in _OF_RANKS:
            if settings.get(name):
                text = "is for programs of MPI; this one has one process, which uses one node"
                raise InputError(Fault(text, key=f"target.settings.{name}"))
        words = ["srun", "--quiet", "--nodes=1", "--ntasks=1", f"--cpus-per-task={processors}"]
        return [*words, *self._wanted(settings)]

    def _salloc(self, job: Job) -> list[str]:
        """Return the ``salloc`` command that gets nodes for the ranks of *job*; the command to run follows it.

        When the job ends, so does the command (``--kill-command``), and vice versa.
        """
        settings, ranks = job.settings, job.processes
        threads = job.options.threads_per_process
        if job.command is not None:
            ranks, threads = job.command.processes, job.command.threads
        _nodes.launcher(settings)
        nodes, each = (_number(settings, name) for name in _OF_RANKS)
        if nodes and each and ranks > nodes * each:
            text = f"{ranks} ranks: nodes={nodes} with ranks_per_node={each} have room for {nodes * each}"
            raise InputError(Fault(text, key="target.settings.ranks_per_node"))
        if nodes:  # distributed evenly, on fewer nodes if there are fewer ranks
            nodes, each = min(nodes, ranks), each or -(-ranks // min(nodes, ranks))
        words = ["salloc", "--kill-command=TERM", f"--ntasks={ranks}", f"--cpus-per-task={threads}"]
        words += [f"--nodes={nodes}"] if nodes else []
        words += [f"--ntasks-per-node={min(each, ranks)}"] if each else []
        return [*words, *self._wanted(settings)]

    @contextmanager
    def session(self, jobs: Sequence[Job]) -> Iterator[Link]:
        """Yield a runner for commands on nodes that it holds: a batch job for each N, or one for all of *jobs*."""
        from scalegraph.link.targets import _allocations

        settings = jobs[0].settings if jobs else {}
        one = _allocations.kind(settings) == _allocations.ONE
        largest = max(jobs, key=lambda job: job.point.processors) if one else None
        held = _allocations.Allocations(settings, self._salloc, largest)
        try:
            yield held
        finally:
            held.close()

    def _wanted(self, settings: Mapping[str, str]) -> list[str]:
        """Return the options common to all jobs."""
        words = ["--job-name=scalegraph"]
        words += [] if settings.get("shared", "no") == "yes" else ["--exclusive"]
        for name in ("partition", "account", "time", "constraint"):
            if value := settings.get(name, ""):
                if not _VALUE.fullmatch(value):
                    raise InputError(Fault(f"'{value}' is not a valid {name} of Slurm", key=f"target.settings.{name}"))
                words.append(f"--{name}={value}")
        return words

    def reached(self, settings: Mapping[str, str]) -> Finding:
        """Return when Slurm would start a job with *settings*; none is submitted."""
        try:
            words = [*self._srun(settings, 1), "--test-only", "true"]
            words.remove("--quiet")
            done = subprocess.run(words, capture_output=True, text=True, timeout=_TESTED_S, check=False)
        except OSError:
            return self.check()
        except subprocess.TimeoutExpired:
            return Finding("missing", f"Slurm does not answer in {_TESTED_S} s")
        said = "".join(done.stderr.strip().splitlines()[-1:]).removeprefix("srun: ")
        return Finding("missing" if done.returncode else "ok", said or f"'srun' ended with exit code {done.returncode}")

    def check(self) -> Finding:
        """Return whether there is Slurm."""
        found = shutil.which("srun")
        if found is None:
            return Finding("remark", "'srun' was not found: this computer submits to no Slurm", "nothing to install")
        return Finding("ok", found)

    def processors(self) -> int | None:
        """Return ``None``: the nodes decide."""
        return None

    def place(self) -> Place:
        """Return the nodes; each run's record names its own."""
        return Place("slurm", "nodes of Slurm", {})


def _number(settings: Mapping[str, str], name: str) -> int:
    """Return a numeric setting (from 1), 0 if it is not given."""
    text = settings.get(name, "")
    if text and not (text.isdecimal() and 0 < int(text) < _MOST):
        raise InputError(Fault(f"'{text}' is not a number of {name}", key=f"target.settings.{name}"))
    return int(text or 0)


TARGET = _Slurm()
