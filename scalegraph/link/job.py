"""A job: one run to be done, as a single object that all layers between a request and the target pass on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from scalegraph.base.run import RunRecord
from scalegraph.link.build import AsItIs, Build, Measuring
from scalegraph.link.options import Limits, RunOptions

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunPoint
    from scalegraph.link.tracing import TraceOrder
    from scalegraph.machine import Machine


@dataclass(frozen=True)
class Job:
    """A run: *build* with *args* on *point.processors* of *machine*.

    *point*: the run's coordinates in a study, including its variant; *machine* already has the values of that variant.
    *stdin*: a file or its content, empty input if None. *cwd*: the program's working directory, the caller's if
    None. *env*: added to a few of the user's variables (PATH, HOME, locale, ..); OMP_STACKSIZE and OMP_SCHEDULE are
    respected. *schedule*: for ``schedule(runtime)``, in OMP_SCHEDULE's syntax. *collect*: extra data that costs
    host time (``classes``: misses by class). *sample_after*: with `SAMPLES_WHEN_LONG`, the simulated work before
    sampling begins, in ns of the host by fixed weights; the runtime's own value if None. *program*: its name in the
    record, the build's if empty. *options*: what the request says about the run. *trace*: the trace to write; but
    for host time, the rest of the record stays the same. *estimate_s*: expected host seconds, if known; used only
    for the time left. *command*: set if a command is measured as it is. *measuring*, *settings*: of real targets,
    see `link.targets.base`.
    """

    build: Build
    machine: Machine
    point: RunPoint
    args: tuple[str, ...] = ()
    stdin: Path | bytes | None = None
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    schedule: str = ""
    collect: tuple[str, ...] = ()
    sample_after: int | None = None
    program: str = ""
    options: RunOptions = field(default_factory=RunOptions)
    trace: TraceOrder | None = None
    estimate_s: float | None = None
    command: AsItIs | None = None
    measuring: Measuring = field(default_factory=Measuring)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def processes(self) -> int:
        """How many MPI processes share the processors; 0 for any other program."""
        return self.options.processes(self.point.processors) if self.build.mpi else 0

    @property
    def name(self) -> str:
        """The program's name in the record."""
        return self.program or self.build.program


def cancelled(job: Job) -> RunRecord:
    """Return the record of *job* that was stopped or never begun."""
    return RunRecord(
        source="simulated",
        program=job.name,
        machine=job.machine.name,
        point=job.point,
        status="cancelled",
        message="stopped by the user",
    )


class Link(Protocol):
    """A target that can run jobs; see `link.Simulated.run`."""

    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Run once; the record has the outcome."""


Placed: TypeAlias = Callable[[str], None]
"""Takes the name of the worker on which a run has begun."""


@runtime_checkable
class QueuedLink(Link, Protocol):
    """A target with workers of its own, for which a job waits; see `link.cluster`.

    *at_once*: jobs that may wait there. `run` calls *placed* whenever a worker has begun the job, so again if that
    worker is lost and another takes over.
    """

    at_once: int

    def run(self, job: Job, cancel: CancelToken | None = None, placed: Placed = ...) -> RunRecord:
        """Run once; the record has the outcome."""
