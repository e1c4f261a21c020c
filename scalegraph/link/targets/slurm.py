"""Nodes of a cluster, by Slurm: each run has a node of its own, and is measured there."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from scalegraph.base.errors import Fault, InputError
from scalegraph.link.targets.base import Finding, Place, Setting, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job

_VALUE: Final = re.compile(r"[\w.,:+-]+")
_TESTED_S: Final = 30
_SHARED: Final = "measured on a node that other jobs could use at the same time"


class _Slurm(Target):
    """Runs a program by ``srun`` on a whole node; its processors need the same architecture and ScaleGraph."""

    name = "slurm"
    title = "Nodes of Slurm"
    help = "Each run gets a whole node of a cluster by srun, and is measured there"
    settings = (
        Setting("partition", "", "Partition"),
        Setting("account", "", "Account that is charged"),
        Setting("time", "", "Time limit of each run's job, as Slurm writes it"),
        Setting("constraint", "", "Features that the node must have"),
        Setting("shared", "no", "yes: other jobs may use the node at the same time; the runs have a remark then"),
    )
    elsewhere = True
    order = 21

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Return the record of one run that is measured on a node; raises as `Target.run` says."""
        from scalegraph.link.cluster import piped

        shared = job.settings.get("shared", "no") == "yes"
        record = piped.measured_there(
            [*self._srun(job.settings, job.point.processors), *piped.python()], job, cancel, "Slurm"
        )
        return record.model_copy(update={"warnings": (*record.warnings, _SHARED)}) if shared else record

    def _srun(self, settings: Mapping[str, str], processors: int) -> list[str]:
        """Return the words of ``srun`` that start one task, which may use all processors that it gets."""
        words = ["srun", "--quiet", "--nodes=1", "--ntasks=1", "--job-name=scalegraph", f"--cpus-per-task={processors}"]
        words += [] if settings.get("shared", "no") == "yes" else ["--exclusive"]
        for name in ("partition", "account", "time", "constraint"):
            if value := settings.get(name, ""):
                if not _VALUE.fullmatch(value):
                    raise InputError(Fault(f"'{value}' is no {name} of Slurm", key=f"target.settings.{name}"))
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
        """Return the nodes; each run's record has the name of its own."""
        return Place("slurm", "nodes of Slurm", {})


TARGET = _Slurm()
