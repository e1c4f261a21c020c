"""Runs a planted program and has its culprits checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scalegraph.analyze import culprits
from scalegraph.request import Session
from scalegraph.request.model.parts import Collect
from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request
from tests.planted import headers, messages, openmp, threads

PROCESSORS = 8
SHARED = ("ksr1", "server-2x32", "mesh-manycore")
CLUSTERS = ("cluster-hdr", "cm5", "dragonfly")
ON_OTHERS = {
    "hybrid_serial.c": ("cluster-hdr", "dragonfly", "cluster-slingshot")
}  # a node of the CM-5 has one processor
_CREATED = {"synchronisation.create_cycles": "0", "threads.thread_cycles": "0"}


@dataclass(frozen=True)
class Planted:
    """A program with one planted reason to lose time, and the machines on which it must be found."""

    name: str
    text: str
    machines: tuple[str, ...]


def programs() -> list[Planted]:
    """Return all of them."""
    shared = {**openmp.texts(), **threads.texts(), **headers.texts()}
    found = [Planted(name, text, SHARED) for name, text in shared.items()]
    return found + [Planted(name, text, ON_OTHERS.get(name, CLUSTERS)) for name, text in messages.texts().items()]


def planted_lines(text: str) -> range:
    """Return the lines from the one with ``<<`` to the one with ``>>``."""
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines, 1) if "// <<" in line)
    last = next(number for number, line in enumerate(lines, 1) if ">>" in line and "//" in line and number >= first)
    return range(first, last + 1)


def request_of(source: Path, machine: str, processors: int = PROCESSORS) -> Request:
    """Return the request for one planted program."""
    return Request(
        program=ProgramChoice(
            sources=(source.name,),
            directory=str(source.parent),
            args=("{N}",),
            cflags=() if "reduction" not in source.read_text(encoding="utf-8") else ("-fopenmp",),
            ldflags=("-pthread",),
            threads_per_process=2 if source.name.startswith("hybrid") else 1,
        ),
        # otherwise thread creation would be most of the loss of such a short program
        machine=MachineChoice(name=machine, overrides={} if source.stem == "creation" else _CREATED),
        processors=(1, processors),
        verify=True,
        collect=Collect(sample="never"),
    )


def verified(name: str, text: str, machine: str, place: Path) -> list[culprits.Culprit]:
    """Return the checked culprits of a program, the one with the largest gain first."""
    source = place / name
    source.write_text(text, encoding="utf-8")
    for file, content in headers.FILES.items() if name.startswith("header") else ():
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(content, encoding="utf-8")
    with Session().submit(request_of(source, machine), None) as study:
        records, others = study.runs(), study.variants()
        assert all(record.ok for record in (*records, *others)), [one.message for one in (*records, *others)]
        found = culprits.of_largest(records, study.manifest.regions)
    assert found is not None
    return culprits.verified(found[1], found[0], others)
