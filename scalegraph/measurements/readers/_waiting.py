"""Recognises communication and synchronisation among call paths: the rest is a program's useful time."""

from __future__ import annotations

import re

BUSY, BUSIEST, ELAPSED = "busy", "busiest", "elapsed"  # metrics computed from the times of processes
BUSY_WORDS = "time outside of communication and synchronisation"

_WAITING = re.compile(
    r"p?mpi_|p?shmem_|gaspi_|pthread_|sem_wait|"
    r"!\$omp .*(barrier|critical(?! sblock)|ordered(?! sblock)|taskwait|flush)|omp_(set|test)_(nest_)?lock|"
    r"<omp (.* wait|idle)>",  # HPCToolkit
    re.IGNORECASE,
)


def is_waiting(name: str) -> bool:
    """Whether a call path with this name is communication or synchronisation, not the program's own work."""
    return _WAITING.match(name) is not None
