"""Processes of MPI programs: N processors are N / T processes of T threads; faults for counts that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scalegraph.base.errors import Fault, InputError
from scalegraph.link import Build
from scalegraph.machine import Machine
from scalegraph.machine.active import RANKS_PER_NODE
from scalegraph.request.model.request import Request

KEY = "program.threads_per_process"


def faults(request: Request) -> list[Fault]:
    """Return a fault for each list of processor counts in *request* with a count that whole processes do not fill.

    One processor is always valid: the reference, one process of one thread.
    """
    threads = request.program.threads_per_process
    found = []
    for key, counts in _places(request).items():
        if wrong := _not_filled(counts, threads):
            text = f"{', '.join(map(str, wrong))}: processes of {threads} threads need a multiple of {threads}"
            found.append(Fault(f"{text} processors", key=key))
    return found


def of_machine(request: Request, machine: Machine) -> list[Fault]:
    """Return a fault for each list of processor counts in *request* with a count not available on *machine*."""
    program = request.program
    ranks = program.ranks_per_node
    try:
        placed = program.placed(machine)
    except InputError as error:
        return list(error.faults)
    if placed is not machine:
        most, what = placed.max_processors, "rank" if ranks == 1 else "ranks"
        text = f"machine '{machine.name}' with {ranks} {what} a node has 1 to {most} processors for them"
        return _refused(request, lambda count: "" if 1 <= count <= most else text)
    return _refused(request, lambda count: machine.refusal(count, program.processes(count)))


def of_build(request: Request, build: Build, machine: Machine) -> list[Fault]:
    """Return the faults of *request* for a single-process program, which runs within a node of *machine*."""
    threads = request.program.threads_per_process
    if build.mpi:
        return []
    if request.program.ranks_per_node:
        text = f"'{build.program}' is one process, as it is not an MPI program; leave out its ranks a node"
        return [Fault(text, key=RANKS_PER_NODE)]
    if threads == 1:
        return _refused(request, machine.refusal)
    text = f"'{build.program}' is one process, as it is not an MPI program; leave out its {threads} threads a process"
    return [Fault(text, key=KEY)]


def _places(request: Request) -> dict[str, tuple[int, ...]]:
    """Return the lists of processor counts in *request* by their keys."""
    bounds = {f"bound.{index}.processors": bound.processors for index, bound in enumerate(request.bound)}
    predicted = {"predict.processors": request.predict.processors} if request.predict is not None else {}
    return {"processors": request.processors, **bounds, **predicted}


def _refused(request: Request, refusal: Callable[[int], str]) -> list[Fault]:
    found = []
    for key, counts in _places(request).items():
        refused = {count: text for count in counts if (text := refusal(count))}
        for text in dict.fromkeys(refused.values()):
            which = ", ".join(str(count) for count in refused if refused[count] == text)
            found.append(Fault(f"{which}: {text}", key=key))
    return found


def identity(request: Request) -> dict[str, str]:
    """Return what distinguishes runs of *request* from those with other processes; empty for one thread each."""
    threads, ranks = request.program.threads_per_process, request.program.ranks_per_node
    found = {"processes": str(threads)} if threads > 1 else {}
    return found | ({"ranks": str(ranks)} if ranks else {})


def words(processors: Iterable[int], threads: int) -> str:
    """Return processes x threads for each count: ``1 x 1, 2 x 4, 4 x 4``; counts that do not fit are left out."""
    pairs = [(max(n // threads, 1), min(n, threads)) for n in processors if not _not_filled((n,), threads)]
    return ", ".join(f"{processes} x {each}" for processes, each in pairs)


def _not_filled(counts: Iterable[int], threads: int) -> list[int]:
    return [count for count in counts if count > 1 and count % threads]
