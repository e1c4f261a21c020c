"""Workers that are batch jobs: one whose time is over is submitted again, one that never begins ends the request."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from scalegraph.link.cluster.places import Where

_EVERY: Final = 5  # counts of the workers from one list of batch jobs to the next
_COUNT_S: Final = 1.0
_LISTING_S: Final = 60.0
# The user's batch jobs that wait or run, their numbers first in each line.
_LISTS: Final = {
    "slurm": ("squeue", "--noheader", "--format=%i", "--user={user}"),
    "pbs": ("qstat", "-u", "{user}"),
    "sge": ("qstat", "-u", "{user}"),
    "lsf": ("bjobs", "-noheader", "-o", "jobid", "-u", "{user}"),
}
_DELETES: Final = {"slurm": "scancel", "pbs": "qdel", "sge": "qdel", "lsf": "bkill"}
_NONE: Final = "No unfinished job"  # what LSF says of an empty list, with an exit code of a failure
_READ: Final = 2000  # bytes at the end of what a batch job printed
_SHOWN: Final = 300
OWN_LOGS: Final = ".scalegraph-batch"  # the directory of logs where the user names none


async def keep(cluster: Any, where: Where, number: int) -> str:
    """Keep *number* batch jobs of a dask-jobqueue *cluster*; return a sentence when there is no use in going on.

    A batch job ends when its time is over, or when the batch system or its user ends it. Then another is submitted.
    There is no use where jobs end before their workers begin: the only one, or as many as shall be there and one more.
    """
    joined: set[str] = set()
    early = 0
    while True:
        for _ in range(_EVERY):
            await asyncio.sleep(_COUNT_S)
            present = {str(worker["name"]) for worker in cluster.scheduler_info["workers"].values()}
            joined |= present
        missing = {name: job for name, job in dict(cluster.workers).items() if str(name) not in present and job.job_id}
        live = await asyncio.to_thread(living, where.kind) if missing else None
        if live is not None:
            over = {name: job for name, job in missing.items() if str(job.job_id) not in live}
            for name, job in over.items():
                cluster.workers.pop(name, None)
                if str(name) in joined:
                    continue
                early += 1
                if early > number or (not present and len(over) == len(missing)):
                    return f"{where.name}: batch job {job.job_id} ended before its worker began{printed(where, job)}"
        if len(cluster.workers) < number:
            with contextlib.suppress(OSError, RuntimeError):  # the batch system may be away: the next time
                cluster.scale(jobs=number)
                await cluster


def living(kind: str) -> set[str] | None:
    """Return the numbers of the user's batch jobs that wait or run, None where the batch system does not answer."""
    words = [word.format(user=getpass.getuser()) for word in _LISTS[kind]]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=_LISTING_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode and _NONE not in done.stderr:
        return None
    return set(re.findall(r"^\s*(\d+)", done.stdout, re.MULTILINE))


def delete(kind: str, numbers: Iterable[str]) -> None:
    """Delete those of the batch jobs *numbers* that wait or run: none goes on when its cluster has ended."""
    left = set(numbers) & (living(kind) or set())
    if left:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            words = [_DELETES[kind], *sorted(left)]
            subprocess.run(words, capture_output=True, timeout=_LISTING_S, check=False)


def printed(where: Where, job: Any) -> str:
    """Return what the batch *job* printed last, empty if it printed nothing into the directory of its logs."""
    place = Path(where.settings.get("log-directory", "."))
    lines = [line for file in _logs(place, str(job.job_id)) for line in _end(file).splitlines() if line.strip()]
    if lines:
        return f": {lines[-1].strip()[-_SHOWN:]}"
    own = place.name.startswith(OWN_LOGS)
    return "; log-directory=DIR keeps what it prints" if own else f"; what it printed is in {place.absolute()}"


def _logs(place: Path, number: str) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        found = (file for file in place.iterdir() if re.search(rf"(?<!\d){number}(?!\d)", file.name))
        yield from sorted(found, key=lambda file: (file.suffix.startswith(".e"), file.name))  # its errors last


def _end(file: Path) -> str:
    with contextlib.suppress(OSError), file.open("rb") as stream:
        stream.seek(max(file.stat().st_size - _READ, 0))
        return stream.read().decode("utf-8", "replace")
    return ""
