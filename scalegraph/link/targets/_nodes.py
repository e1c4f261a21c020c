"""The Slurm batch job around this process: its nodes, and the launcher that starts ranks on them."""

from __future__ import annotations

import os
import re
import shutil
import socket
from collections.abc import Mapping
from typing import Final

from scalegraph.base.errors import Fault, InputError, MissingTool
from scalegraph.link.cluster.sentences import Sentences
from scalegraph.link.targets.base import Setting
from scalegraph.toolchain.host_mpi import HostMpi

LAUNCHER: Final = Setting(
    "launcher", "", "Program that starts the ranks in a Slurm batch job: mpirun, or srun if there is none"
)
PMI: Final = Setting(
    "pmi", "", "Interface of srun and the MPI library: pmi2 (MPICH), pmix (Open MPI); 'srun --mpi=list'"
)
_LAUNCHERS: Final = ("mpirun", "srun")
_PMI: Final = re.compile(r"[A-Za-z][\w.-]*")
_JOB, _NODES, _COUNT, _HERE = "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURMD_NODENAME"


def elsewhere() -> bool:
    """Whether ranks in the surrounding batch job, if any, may be on other computers.

    A command of ``salloc`` runs where salloc was called, which in general is not a node of the job.
    """
    nodes = os.environ.get(_COUNT, "1")
    if nodes.isdecimal() and int(nodes) > 1:
        return True
    here = os.environ.get(_HERE) or socket.gethostname().partition(".")[0]
    return bool(os.environ.get(_JOB)) and os.environ.get(_NODES, here) != here


def names() -> str:
    """Return the nodes of the batch job as Slurm writes them, ``node[1-4]``; empty if the ranks are here."""
    return os.environ.get(_NODES, "") if elsewhere() else ""


def variables() -> dict[str, str]:
    """Return the variables by which a launcher knows the batch job; it must not bind ranks: the monitor does."""
    job = {name: value for name, value in os.environ.items() if name.startswith("SLURM")}
    return {**job, "SLURM_CPU_BIND": "none"}


SENTENCES: Final = Sentences(
    refused=re.compile(
        "Requested (node|partition) configuration|Requested time limit|More processors requested"
        "|Node count spec|violates"
    ),
    hopeless=re.compile("Requested partition configuration not available"),
    progress=re.compile(
        "^salloc: (Granted|Pending) job allocation|queued and waiting|has been allocated resources"
        "|^salloc: Nodes .* ready"
    ),
    ended=re.compile("revoked|CANCELLED|DUE TO TIME LIMIT"),
)
"""Messages of Slurm's commands."""


def launcher(settings: Mapping[str, str]) -> str:
    """Return the launcher that *settings* name, if any; raise `InputError` for an invalid launcher or PMI."""
    given, spoken = settings.get(LAUNCHER.name, ""), settings.get(PMI.name, "")
    if given and given not in _LAUNCHERS:
        raise InputError(Fault(f"'{given}' is not a launcher; expected mpirun or srun", key="target.settings.launcher"))
    if spoken and not _PMI.fullmatch(spoken):
        raise InputError(Fault(f"'{spoken}' is not an interface between srun and MPI", key="target.settings.pmi"))
    return given


def is_srun(settings: Mapping[str, str], mpi: HostMpi) -> bool:
    """Return whether ``srun`` starts the ranks; raise `InputError` for an invalid launcher, or outside a batch job."""
    given = launcher(settings)
    job = bool(os.environ.get(_JOB))
    if given == "srun" and not job:
        text = "srun starts ranks in a batch job of Slurm only; expected target 'slurm', or salloc before the command"
        raise InputError(Fault(text, key="target.settings.launcher"))
    return given == "srun" or (not given and job and mpi.mpirun is None)


def srun(processes: int, threads: int, settings: Mapping[str, str], mpi: HostMpi) -> list[str]:
    """Return the ``srun`` command that starts *processes* of *threads* processors each in the batch job."""
    spoken = settings.get(PMI.name, "") or ("pmix" if mpi.open_mpi else "pmi2")
    found = shutil.which("srun")
    if found is None:
        raise MissingTool("'srun' was not found; the launcher mpirun may do")
    share = [f"--ntasks={processes}", f"--cpus-per-task={threads}"]
    return [found, "--quiet", *share, f"--mpi={spoken}", "--cpu-bind=none", "--kill-on-bad-exit=1"]
