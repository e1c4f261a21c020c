"""Workers in batch jobs: one whose time is up is resubmitted; jobs that end before their workers begin end the run."""

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

_EVERY: Final = 5  # the batch jobs are listed once per this many counts of the workers
_COUNT_S: Final = 1.0
_LISTING_S: Final = 60.0
# Commands that list the user's queued and running batch jobs, with the number first in each line.
_LISTS: Final = {
    "slurm": ("squeue", "--noheader", "--format=%i", "--user={user}"),
    "pbs": ("qstat", "-u", "{user}"),
    "sge": ("qstat", "-u", "{user}"),
    "lsf": ("bjobs", "-noheader", "-o", "jobid", "-u", "{user}"),
}
_DELETES: Final = {"slurm": "scancel", "pbs": "qdel", "sge": "qdel", "lsf": "bkill"}
_NONE: Final = "No unfinished job"  # LSF's message for an empty list, which comes with a failing exit code
_READ: Final = 2000  # bytes from the end of a batch job's output
_SHOWN: Final = 300
OWN_LOGS: Final = ".scalegraph-batch"  # log directory where the user names none


async def keep(cluster: Any, where: Where, number: int) -> str:
    """Keep *number* batch jobs of a dask-jobqueue *cluster* going; return a sentence when that is hopeless.

    A batch job that ends, by its time limit, the batch system or its user, is replaced. It is hopeless if jobs end
    before their workers begin: the only job, or one more than there should be.
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
            with contextlib.suppress(OSError, RuntimeError):  # the batch system may be down; try again next time
                cluster.scale(jobs=number)
                await cluster


def living(kind: str) -> set[str] | None:
    """Return the numbers of the user's queued and running batch jobs; None if the batch system does not answer."""
    words = [word.format(user=getpass.getuser()) for word in _LISTS[kind]]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=_LISTING_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode and _NONE not in done.stderr:
        return None
    return set(re.findall(r"^\s*(\d+)", done.stdout, re.MULTILINE))


def delete(kind: str, numbers: Iterable[str]) -> None:
    """Delete the batch jobs *numbers* that are queued or running, so that none outlives its cluster."""
    left = set(numbers) & (living(kind) or set())
    if left:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            words = [_DELETES[kind], *sorted(left)]
            subprocess.run(words, capture_output=True, timeout=_LISTING_S, check=False)


def printed(where: Where, job: Any) -> str:
    """Return the last output of the batch *job*; empty if its log directory has none."""
    place = Path(where.settings.get("log-directory", "."))
    lines = [line for file in _logs(place, str(job.job_id)) for line in _end(file).splitlines() if line.strip()]
    if lines:
        return f": {lines[-1].strip()[-_SHOWN:]}"
    own = place.name.startswith(OWN_LOGS)
    return "; log-directory=DIR keeps its output" if own else f"; its output is in {place.absolute()}"


def _logs(place: Path, number: str) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        found = (file for file in place.iterdir() if re.search(rf"(?<!\d){number}(?!\d)", file.name))
        yield from sorted(found, key=lambda file: (file.suffix.startswith(".e"), file.name))  # errors last


def _end(file: Path) -> str:
    with contextlib.suppress(OSError), file.open("rb") as stream:
        stream.seek(max(file.stat().st_size - _READ, 0))
        return stream.read().decode("utf-8", "replace")
    return ""
