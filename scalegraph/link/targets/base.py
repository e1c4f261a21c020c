"""The interface of targets: how each describes itself, runs a `Job` and returns a record.

A target is one module of `scalegraph.link.targets` with a `TARGET`, an instance of a class derived from `Target`.
Option ``--target``, the request's table ``[target]``, the request panel and ``scalegraph doctor`` are built from it.

To add a target:

- `Target.run` gets a `Job`: the build, the arguments, the environment, the limits and the point (`RunPoint`), whose
  ``target`` is the target's name. ``job.measuring`` says how a real run is measured, ``job.settings`` has the target's
  own settings by name (`Target.settings` declares them; they are already validated).
- It returns a `RunRecord` for every outcome of the program: a crash, a time limit and a request to stop are statuses
  with a sentence in ``message``, never exceptions. It raises `InputError` for a number of processors that the target
  does not have and `RunError` when the program cannot be started at all. ``record.source`` is `Target.source`,
  ``record.point`` is ``job.point`` unchanged: the study keeps the record under its key.
- What was not measured is ``None`` in the record, never 0.
- `run` may be called from several threads at once if `Target.side_by_side`; a target keeps no state between runs.
- `Target.builds` names what ``job.build`` is: ``simulated`` a program linked with the simulator (`control.build`),
  ``host`` one with the user's own flags for this computer, with the monitor (`control.host_build`), ``mpi`` the same
  with the MPI library of this computer. Of a target with `Target.takes_mpi` that is ``mpi`` for MPI programs.
- A target that hands its runs to another one (to a worker on another computer) calls that one's `run` there and
  returns its record. `targets.named("host")` is the target that measures one program here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, TypeAlias

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.run import Source

if TYPE_CHECKING:
    from scalegraph.base.cancel import CancelToken
    from scalegraph.base.run import RunRecord
    from scalegraph.link.job import Job, Link

Builds: TypeAlias = Literal["simulated", "host", "mpi"]
# What a target may measure, in words.
MEASURES: Mapping[str, str] = {
    "time": "elapsed time",
    "work": "operations, floating-point operations",
    "regions": "time by region and thread",
    "waits": "waiting at barriers, locks, tasks, forks and joins",
    "messages": "messages and collective operations",
    "memory": "references, misses and invalidations",
    "counters": "hardware counters, where the kernel allows them",
    "trace": "what happened when",
    "schedules": "static loops under any schedule",
    "what_if": "what-if runs: ideal parts, virtual speedups, changed machine values",
}

# How a request names its workers.
WORKERS: Final = "scalegraph run REQUEST --on ADDRESS, or a cluster under 'Runs on'"


@dataclass(frozen=True)
class Finding:
    """A result of `Target.check`. *advice*: what to install or set if *state* is not ``ok``."""

    state: Literal["ok", "missing", "remark"]
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Setting:
    """A setting of a target: its name, its default and what it does."""

    name: str
    default: str
    help: str


# For targets that take both MPI programs and others.
IS_MPI: Final = Setting("mpi", "", "yes or no: whether this is an MPI program; by default its sources decide")


@dataclass(frozen=True)
class Place:
    """Where a target's runs happen: a name for the run table, a title for display, and facts by name."""

    name: str
    title: str
    values: Mapping[str, str | int | float]


class Target(ABC):
    """A place where requests are carried out; the module's docstring says how one works.

    *source*: kind of the records; *builds*: what the program is built for; *measures*: keys of `MEASURES`;
    *side_by_side*: whether runs may overlap without distorting each other; *elsewhere*: whether the program leaves this
    computer, which needs consent if the request came in a file; *on_workers*: whether workers of a cluster carry out
    its runs, so that ``--on`` is needed; *takes_mpi*: whether MPI programs are measured as by target ``mpi``, built
    with this computer's MPI library; it then has the setting `IS_MPI`; *holds_nodes*: whether its `session` holds nodes
    for all runs of commands on the same N.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    source: ClassVar[Source] = "measured"
    builds: ClassVar[Builds] = "host"
    measures: ClassVar[tuple[str, ...]] = ("time",)
    settings: ClassVar[tuple[Setting, ...]] = ()
    side_by_side: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = False
    on_workers: ClassVar[bool] = False
    takes_mpi: ClassVar[bool] = False
    holds_nodes: ClassVar[bool] = False
    order: ClassVar[int] = 100

    @abstractmethod
    def run(self, job: Job, cancel: CancelToken | None = None) -> RunRecord:
        """Run *job* once and return its record; the module's docstring lists the exceptions."""

    @abstractmethod
    def check(self) -> Finding:
        """Return whether the target can be used here, within a second; for ``doctor`` and the request panel."""

    def reached(self, settings: Mapping[str, str]) -> Finding:  # noqa: ARG002 - targets elsewhere use them
        """Return whether runs with *settings* can be carried out, within half a minute; for the button *Test*.

        A target elsewhere connects. Raises `InputError` for invalid settings.
        """
        return self.check()

    def begin(self, settings: Mapping[str, str], cancel: CancelToken) -> None:  # noqa: B027 - those elsewhere do
        """Raise before the build if no run with *settings* can be carried out, as far as a quick check shows.

        Raises `InputError` for invalid settings, `LinkLost` for a place that does not answer, and `Cancelled`.
        """

    @abstractmethod
    def processors(self) -> int | None:
        """Return the largest number of processors, ``None`` where the request's machine or the site decides."""

    def place(self) -> Place | None:
        """Return where the runs happen, ``None`` where the request's machine says it."""
        return None

    def away(self, settings: Mapping[str, str]) -> bool:  # noqa: ARG002 - for some targets a setting decides
        """Whether the program leaves this computer in runs with *settings*."""
        return self.elsewhere

    def built_for(self, settings: Mapping[str, str], uses_mpi: Callable[[], bool]) -> Builds:
        """Return what a program is built for; *uses_mpi* finds out whether it is an MPI program.

        Raises `InputError` if the setting `IS_MPI` is neither yes nor no.
        """
        if not self.takes_mpi:
            return self.builds
        said = settings.get(IS_MPI.name, "")
        if said not in ("", "yes", "no"):
            raise InputError(Fault(f"'{said}' is neither yes nor no", key=f"target.settings.{IS_MPI.name}"))
        return "mpi" if said == "yes" or (not said and uses_mpi()) else self.builds

    def refusal(self, processors: int, settings: Mapping[str, str] | None = None) -> str:  # noqa: ARG002
        """Return why no run with *settings* can have that many *processors*; empty if one can."""
        most = self.processors()
        if most is None or 1 <= processors <= most:
            return ""
        return f"expected 1 to {most}, which is what target '{self.name}' has"

    @contextmanager
    def session(self, jobs: Sequence[Job]) -> Iterator[Link]:  # noqa: ARG002 - a batch system holds nodes for them
        """Yield a runner for the *jobs*, commands measured as they are; give back the nodes it holds at the end."""
        yield self

    def capabilities(self) -> tuple[str, ...]:
        """Return in words what the target measures."""
        return tuple(MEASURES[name] for name in self.measures)
