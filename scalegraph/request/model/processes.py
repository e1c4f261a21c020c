"""Processes of MPI programs: N processors are N / T processes of T threads; what does not fit is said."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.base.errors import Fault
from scalegraph.link import Build
from scalegraph.request.model.request import Request

KEY = "program.threads_per_process"


def faults(request: Request) -> list[Fault]:
    """Return a fault for each list of processor counts of *request* with one that whole processes do not fill.

    One processor is always right: the reference, one process of one thread.
    """
    threads = request.program.threads_per_process
    places = {"processors": request.processors}
    places |= {f"bound.{index}.processors": bound.processors for index, bound in enumerate(request.bound)}
    found = []
    for key, counts in places.items():
        if wrong := _not_filled(counts, threads):
            text = f"{', '.join(map(str, wrong))}: processes of {threads} threads need a multiple of {threads}"
            found.append(Fault(f"{text} processors", key=key))
    return found


def of_build(request: Request, build: Build) -> list[Fault]:
    """Return a fault if *request* shares out the processors of a program that has one process."""
    threads = request.program.threads_per_process
    if threads == 1 or build.mpi:
        return []
    text = f"'{build.program}' is one process, as it is no MPI program; leave out its {threads} threads a process"
    return [Fault(text, key=KEY)]


def identity(request: Request) -> dict[str, str]:
    """Return what distinguishes runs of *request* from those with other processes; nothing for one thread each."""
    threads = request.program.threads_per_process
    return {"processes": str(threads)} if threads > 1 else {}


def words(processors: Iterable[int], threads: int) -> str:
    """Return processes x threads of each count: ``1 x 1, 2 x 4, 4 x 4``; counts that are not filled are left out."""
    pairs = [(max(n // threads, 1), min(n, threads)) for n in processors if not _not_filled((n,), threads)]
    return ", ".join(f"{processes} x {each}" for processes, each in pairs)


def _not_filled(counts: Iterable[int], threads: int) -> list[int]:
    return [count for count in counts if count > 1 and count % threads]
