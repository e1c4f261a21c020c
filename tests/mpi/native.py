"""A native MPI (MPICH's PyPI wheel, or any other) that compiles and runs programs on this computer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.kept import kept

WARNINGS = ("-Wall", "-Wextra", "-Werror")
MISSING = "no mpicc and mpiexec beside Python or on PATH: pip install mpich (the extra 'mpi')"


@dataclass(frozen=True)
class Native:
    """Compiler wrapper and launcher of one MPI library."""

    mpicc: Path
    mpiexec: Path

    def compiled(self, source: Path, binary: Path, *flags: str) -> Path:
        """Return *binary*, made from *source*; any warning raises `AssertionError` with the compiler's message."""
        words = ["-O2", "-g", *WARNINGS, *flags]
        folders = [source.parent, *(Path(flag[2:]) for flag in flags if flag.startswith("-I"))]
        headers = [header for folder in folders for header in sorted(folder.glob("*.h"))]

        def make(target: Path) -> None:
            command = [self.mpicc, *words, source, "-o", target, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        return kept(binary, [self.mpicc, str(self.mpicc), source, *headers, *words], make)

    def run(
        self, binary: Path, ranks: int, *arguments: str, timeout: float = 120.0
    ) -> subprocess.CompletedProcess[str]:
        """Return the finished run of *binary* on *ranks*; raises `subprocess.TimeoutExpired` if it hangs."""
        # there are many more ranks than processors: a waiting rank must yield its processor
        environment = os.environ | {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
        command = [self.mpiexec, "-n", str(ranks), binary, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, env=environment)


def find(mpiexec: str = "") -> Native | None:
    """Return the MPI library with the launcher *mpiexec*, else that of this Python or in PATH; None without one."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    starter = mpiexec or shutil.which("mpiexec", path=places)
    if not starter or not Path(starter).exists():
        return None
    compiler = Path(starter).with_name("mpicc")
    return Native(compiler, Path(starter)) if compiler.exists() else None
