"""The split of processors into processes and threads, judged by parameter names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

PROCESSES: Final = frozenset(("ranks", "processes", "mpi_ranks", "nprocs", "np", "ntasks", "tasks", "mpi", "procs"))
THREADS: Final = frozenset(
    (
        "threads",
        "threads_per_process",
        "threads_per_rank",
        "omp_threads",
        "omp_num_threads",
        "nthreads",
        "omp",
        "cpus_per_task",
    )
)


def splits_names(names: Sequence[str]) -> tuple[str, str] | tuple[()]:
    """Return which of *names* counts processes and which the threads of each, None if unclear."""
    processes = [name for name in names if name.lower() in PROCESSES]
    threads = [name for name in names if name.lower() in THREADS]
    return (processes[0], threads[0]) if len(processes) == len(threads) == 1 else ()
