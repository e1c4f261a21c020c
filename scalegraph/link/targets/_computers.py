"""Ranks on several computers: which, the directory that they share, and what the time stamps of each mean on another.

Every rank compares its clock with that of rank 0 when MPI begins and when it ends (runtime/monitor/sgm_mpi_clock.c).
A line through both gives the time of rank 0 for every time stamp, to half of the shortest exchange of messages. Where
these are too close together for that, the better one and the measured frequencies give it. Ranks on one computer share
its time stamp and need none of that.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason
from scalegraph.base.units import si
from scalegraph.link.accounting import computer, foreign

if TYPE_CHECKING:
    from scalegraph.link.job import Job
    from scalegraph.runtime.results import Result
    from scalegraph.traces.kinds import Array

VARIABLE: Final = "SCALEGRAPH_COMPUTERS"  # of the monitor: processes may be on several
_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9_][\w.-]*)(:(?P<slots>[1-9]\d{0,4}))?")
_LINE: Final = re.compile(r"(?P<name>\S+)(\s+slots\s*=\s*(?P<slots>[1-9]\d{0,4}))?(\s.*)?")
_FREQUENCY: Final = 5e-5  # relative error of the frequency that the monitor measures in 2 ms
_NODES: Final = "SLURM_JOB_NUM_NODES"  # of a batch job that this process is in


def several(settings: Mapping[str, str]) -> bool:
    """Whether the ranks of a run with *settings* may be on other computers than this one."""
    return bool(settings.get("hosts") or settings.get("hostfile")) or in_batch_job()


def in_batch_job() -> bool:
    """Whether this process is in a batch job of several nodes, which MPI's ``mpirun`` then uses by itself."""
    nodes = os.environ.get(_NODES, "1")
    return nodes.isdecimal() and int(nodes) > 1


def hosts(settings: Mapping[str, str], processes: int) -> list[tuple[str, int]]:
    """Return (computer, ranks at most) in order; none where the batch job decides.

    A computer without a number gets its even share of *processes*. Raises `InputError` for what is no computer.
    """
    found: list[tuple[str, str]] = []
    if listed := settings.get("hosts", ""):
        for text in listed.split(","):
            if (one := _HOST.fullmatch(text.strip())) is None:
                raise InputError(
                    Fault(f"'{text}' is no host; expected hosts=NODE1,NODE2:4", key="target.settings.hosts")
                )
            found.append((one["name"], one["slots"] or ""))
    elif file := settings.get("hostfile", ""):
        found = list(_of_file(Path(file)))
    share = -(-processes // max(len(found), 1))
    return [(name, int(slots or share)) for name, slots in found]


def _of_file(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what a file of hosts lists, in the form of MPICH (``node1:4``) or of Open MPI (``node1 slots=4``)."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else "is no text"
        raise InputError(Fault(f"cannot be read: {why}", file=str(path))) from error
    count = 0
    for number, line in enumerate(lines, 1):
        if not (text := line.partition("#")[0].strip()):
            continue
        row = _LINE.fullmatch(text)
        one = _HOST.fullmatch(row["name"]) if row else None
        if row is None or one is None:
            message = f"'{text[:80]}' is no host; expected 'node1', 'node1:4' or 'node1 slots=4'"
            raise InputError(Fault(message, file=str(path), line=number))
        count += 1
        yield one["name"], row["slots"] or one["slots"] or ""
    if not count:
        raise InputError(Fault("lists no hosts", file=str(path)))


@contextmanager
def shared_place(job: Job) -> Iterator[tuple[Path, Job]]:
    """Yield a directory for results that all computers share, and *job* with its program in it."""
    above = Path(job.settings.get("directory") or job.cwd or Path.cwd()).absolute()
    try:
        place = tempfile.TemporaryDirectory(prefix=".scalegraph-mpi-", dir=above, ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(Fault(f"cannot be written: {reason(error)}", file=str(above))) from error
    with place as name:
        program = Path(name) / "program"
        results = Path(name) / "results"
        results.mkdir()
        shutil.copy2(job.build.executable, program)
        yield results, replace(job, build=replace(job.build, executable=program))


@dataclass(frozen=True)
class Clock:
    """How time stamps of one process become those of rank 0. *error*: of that, in ticks of rank 0."""

    own: float = 0.0
    there: float = 0.0
    rate: float = 1.0
    error: float = 0.0
    foreign: bool = False

    def converted(self, ticks: Array) -> Array:
        """Return *ticks* of the process as ticks of rank 0. Shape: that of *ticks*."""
        if not self.foreign:
            return ticks
        since = ticks.astype(np.int64) - np.int64(self.own)
        made: Array = (np.int64(self.there) + np.rint(since * self.rate).astype(np.int64)).astype(ticks.dtype)
        return made


def clocks(results: Sequence[Result]) -> tuple[list[Clock], str]:
    """Return the clock of each process, and a remark where they are on several computers.

    *results*: of all processes by rank.
    """
    if not results or not foreign(results, results[0]):
        return [Clock() for _ in results], ""
    hertz = float(results[0].meta["frequency_hz"])
    found = [_clock(result, results[0], hertz) for result in results]
    number = len({computer(result) for result in results})
    if any(clock is None for clock in found):
        return [clock or Clock() for clock in found], f"ranks on {number} computers, whose clocks were not compared"
    made = [clock for clock in found if clock is not None]
    error = max(clock.error for clock in made) / hertz
    return made, f"ranks on {number} computers; their clocks were compared by messages, to {si(error, 's')}"


def _clock(result: Result, first: Result, hertz: float) -> Clock | None:
    """Return how the clock of *result* compares with that of *first*, None if nobody compared them."""
    if computer(result) == computer(first):
        return Clock()
    compared = [tuple(map(int, result.meta[name].split())) for name in ("clock.0", "clock.1") if name in result.meta]
    if not compared:
        return None
    (own, there, error), (later, then, less) = compared[0], compared[-1]
    rate = hertz / float(result.meta["frequency_hz"])
    if error + less <= _FREQUENCY * (later - own):
        return Clock(own, there, (then - there) / (later - own), max(error, less) * rate, foreign=True)
    if less < error:
        own, there, error, later = later, then, less, own
    return Clock(own, there, rate, (error + _FREQUENCY * abs(later - own)) * rate, foreign=True)
