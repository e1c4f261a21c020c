"""A long search with random programs that must print the same simulated as natively; its parts may run side by side.

    python benchmarks/random_programs.py --threads 500 --openmp 250 --mpi 250 --first 0

In the threads programs, threads communicate by conditions, semaphores, pipes, sockets, events and signals. OpenMP
programs use nested teams, tasks, pipes, events and signals. In MPI programs, every rank has threads and teams that do
all of this between messages; they need a native MPI (pip install mpich). The exit code is 1 if any output differs. The
test suite runs a few programs of each kind.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.parent


def searched(words: list[str]) -> bool:
    """Run one search; return whether it found no fault."""
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    return subprocess.run([sys.executable, *words], cwd=HERE, env=environment, check=False).returncode == 0


def main() -> int:
    """Run the requested searches; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, many in (("threads", 500), ("openmp", 250), ("mpi", 250), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=many, metavar="N")
    options = parser.parse_args()
    script = ["-m", "tests.runtime.run_random_programs"]
    mpiexec = Path(sys.executable).with_name("mpiexec")
    searches = (
        (options.threads, [*script, "--threads"]),
        (options.openmp, script),
        (
            options.mpi,
            ["-m", "tests.mpi.random_programs", "--parts", "threads", "--ranks", "3", "--simulate"]
            + (["--against", str(mpiexec)] if mpiexec.exists() else []),
        ),
    )
    right = [
        searched([*words, "--first", str(options.first), "--count", str(count)]) for count, words in searches if count
    ]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
