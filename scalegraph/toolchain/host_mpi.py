"""The MPI library of this computer: its compilers' options and its launcher."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from scalegraph.base.errors import MissingTool
from scalegraph.runtime.languages import Language

INSTALL: Final = "pip install 'scalegraph[mpi]' (MPICH), or apt-get install libopenmpi-dev openmpi-bin"
_COMPILERS: Final[dict[Language, str]] = {"c": "mpicc", "c++": "mpicxx", "fortran": "mpifort"}
_LIMIT_S: Final = 20.0
_NO_MPIRUN: Final = f"the MPI library of this computer has no 'mpirun'; install one with: {INSTALL}"


@dataclass(frozen=True)
class HostMpi:
    """An MPI library: its *name* and version, the command *mpirun* if it has one, and options by language."""

    name: str
    mpirun: Path | None
    open_mpi: bool

    def start(self, processes: int, hosts: Sequence[tuple[str, int]] = (), variables: Sequence[str] = ()) -> list[str]:
        """Return the words that start *processes* processes of the program that follows them.

        *hosts*: computers, reached by SSH, and the most processes on each; *variables*: names of those that remote
        processes need. MPICH passes on all. Raises `MissingTool` without ``mpirun``.
        """
        if self.mpirun is None:
            raise MissingTool(_NO_MPIRUN)
        more = ["--oversubscribe", "--bind-to", "none"] if self.open_mpi else []
        if hosts:
            listed = ",".join(f"{name}:{slots}" for name, slots in hosts)
            more += ["--host", listed] if self.open_mpi else ["-launcher", "ssh", "-hosts", listed]
        return [str(self.mpirun), *more, *self._passed(variables), "-n", str(processes)]

    def passing(self, words: Sequence[str], variables: Sequence[str]) -> list[str]:
        """Return *words*, which start processes, extended so that processes on other computers get *variables*, too."""
        return [words[0], *self._passed(variables), *words[1:]]

    def _passed(self, variables: Sequence[str]) -> list[str]:
        return [word for name in variables for word in ("-x", name)] if self.open_mpi else []

    @property
    def env(self) -> dict[str, str]:
        """Variables without which it refuses to start processes as root, as in containers."""
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if self.open_mpi else {}

    def options(self, language: Language) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the options for compiling and for linking a source of *language*; raise `MissingTool` if it has none.

        A library without a Fortran compiler may still work for C.
        """
        words = _shown(_COMPILERS[language], self.open_mpi)
        compiling = tuple(word for word in words if word.startswith(("-I", "-D")))
        linking = tuple(word for word in words if word.startswith(("-L", "-l", "-Wl,")))
        return compiling, linking


def _find(name: str) -> Path | None:
    """Find the command *name*: next to this Python, where a wheel puts it, or in the path."""
    beside = Path(sys.prefix) / "bin" / name
    if beside.exists():
        return beside
    found = shutil.which(name)
    return Path(found) if found else None


@cache
def host_mpi() -> HostMpi:
    """Return the MPI library of this computer; raise `MissingTool`, saying what to install, if there is none."""
    compiler, mpirun = _find("mpicc"), _find("mpirun")
    if compiler is None or (mpirun is None and _find("srun") is None):
        raise MissingTool(f"no MPI library was found (mpicc, mpirun); install one with: {INSTALL}")
    if mpirun is None:  # Slurm sites may have only srun
        open_mpi = "Open MPI" in _output([str(compiler), "--showme:version"])
        return HostMpi("Open MPI" if open_mpi else "MPICH", None, open_mpi)
    said = _output([str(mpirun), "--version"])
    if "Open MPI" in said or "OpenRTE" in said:
        return HostMpi(said.splitlines()[0].strip(), mpirun, open_mpi=True)
    versions = (line.partition(":")[2].strip() for line in said.splitlines() if line.strip().startswith("Version:"))
    return HostMpi(f"MPICH {next(versions, '')}".strip(), mpirun, open_mpi=False)


@cache
def _shown(name: str, open_mpi: bool) -> tuple[str, ...]:
    compiler = _find(name)
    if compiler is None:
        raise MissingTool(f"the MPI library of this computer has no '{name}'; install one with: {INSTALL}")
    return tuple(shlex.split(_output([str(compiler), "--showme" if open_mpi else "-show"])))


def _output(command: list[str]) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingTool(f"'{command[0]}' cannot be run: {error}; install an MPI library with: {INSTALL}") from error
    return ran.stdout + ran.stderr
