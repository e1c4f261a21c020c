"""The record of a run: its coordinates before it starts, and all results once it has ended.

Every layer uses these types, so they are in the lowest one. A *run table* (one row per run, see ``row``) is the input
of analysis; a column says whether a row was simulated, measured or imported. In files the cycles by category have their
former name ``leaves``.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from scalegraph.base.delays import Delay
from scalegraph.base.links import LinkLoads
from scalegraph.base.loops import LoopCost
from scalegraph.base.messages import MessageCosts
from scalegraph.base.points import AS_WRITTEN as AS_WRITTEN
from scalegraph.base.points import IDEAL_NAMES as IDEAL_NAMES
from scalegraph.base.points import IDEALS as IDEALS
from scalegraph.base.points import SIMULATED as SIMULATED
from scalegraph.base.points import Ideal as Ideal
from scalegraph.base.points import RunPoint as RunPoint
from scalegraph.base.points import Value as Value
from scalegraph.base.points import Variant as Variant
from scalegraph.base.points import target_words as target_words
from scalegraph.base.resource_costs import ResourceCosts
from scalegraph.base.sampling import Sampled
from scalegraph.base.source_regions import LIBRARY as LIBRARY
from scalegraph.base.usage import Usage

# Far beyond any real value, yet sums and ratios of such numbers stay finite.
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=-1e19, le=1e19)]
Count: TypeAlias = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Hertz: TypeAlias = Annotated[float, Field(allow_inf_nan=False, ge=1e-3, le=1e19)]
Source: TypeAlias = Literal["simulated", "measured", "imported", "predicted"]
Status: TypeAlias = Literal[
    "ok",
    "deadlock",
    "crashed",
    "stack_overflow",
    "out_of_memory",
    "timeout",
    "unsupported",
    "internal",
    "failed",
    "cancelled",
]


# Scalars measured besides categories and counters: columns of the run table and fields of JSON documents.
RUN_SCALARS = (
    "time_cycles",
    "time_s",
    "work_ops",
    "work_flops",
    "busy_s",
    "memory_stall_s",
    "idle_s",
    "primitive_s",
    "references",
    "misses",
    "invalidations",
)


# cause -> quantity -> count: reference counters, and cycles by memory_stall category; missing quantities are 0
Causes: TypeAlias = dict[str, dict[str, Count]]
# charged cause -> category of waiting -> cycles; `runtime.format.BLAMES` lists the causes
Blames: TypeAlias = dict[str, dict[str, Count]]
# cause -> copies invalidated by one write -> number of writes
Widths: TypeAlias = dict[str, dict[int, Count]]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Region(_Frozen):
    """A place in the program that costs are attributed to; id 0 is the whole program."""

    id: int
    # program, function, loop, parallel, for, sections, single, master, critical, ordered, task, barrier, phase, LIBRARY
    kind: str
    name: str
    file: str = ""
    line: int = 0
    end_line: int = 0
    parent: int | None = None  # lexically enclosing region
    schedule: str = ""  # of a static worksharing loop, as in the source: ``static,100``
    iterations: Count | None = None  # of such a loop, if constant in the source

    @property
    def is_loop(self) -> bool:
        """Whether it is a worksharing loop: ``for`` or ``do``, possibly combined with ``parallel``."""
        return self.kind in ("for", "do") or self.name.startswith(("parallel for", "parallel do"))


# known to be valid: validation would build the model in every process
PROGRAM = Region.model_construct(id=0, kind="program", name="program")
"""The region that contains all others."""


class RegionCost(_Frozen):
    """Exclusive cost of a region, summed over processors (cycles; counts)."""

    region: int
    categories: dict[str, Count] = Field(  # cycles summed over processors
        default_factory=dict, validation_alias=AliasChoices("categories", "leaves"), serialization_alias="leaves"
    )
    counters: dict[str, Count] = Field(default_factory=dict)
    busy_max: Count = 0  # busy cycles of the busiest processor here, for load imbalance
    useful_max: Count = 0  # the same including memory stalls
    causes: Causes = Field(default_factory=dict)
    widths: Widths = Field(default_factory=dict)
    classes: dict[str, Count] = Field(default_factory=dict)  # misses by class, if collected
    waited: Blames = Field(default_factory=dict)  # part of the idle categories whose cause is known
    # cause -> cycles that all processors waited for work done here
    caused: dict[str, Count] = Field(default_factory=dict)
    elapsed: Count | None = None  # cycles of the main thread in the region and everything it calls


class LineCost(_Frozen):
    """Cost of a source line, summed over processors (cycles by group; counts)."""

    file: str
    line: int
    executions: Count = 0
    references: Count = 0
    misses: Count = 0
    busy: Count = 0
    memory_stall: Count = 0
    idle: Count = 0
    primitive: Count = 0
    remote: Count = 0  # reads and writes served over the network
    upgrades: Count = 0
    invalidations: Count = 0
    causes: dict[str, Count] = Field(default_factory=dict)  # misses by cause
    classes: dict[str, Count] = Field(default_factory=dict)  # misses by class, if collected
    waited: Count = 0  # part of *idle* whose cause is known
    # cause -> cycles that all processors waited for work done here
    caused: dict[str, Count] = Field(default_factory=dict)


class VariableCost(_Frozen):
    """What happened to a variable, summed over processors (counts; cycles).

    *kind* and the meaning of *name*: ``global`` a symbol; ``heap`` what the allocation is assigned to (at *file*,
    *line*), or its location; ``stack``; ``runtime`` data of the simulated runtime; ``other``.
    """

    kind: str
    name: str
    file: str = ""
    line: int = 0
    function: str = ""
    bytes: Count = 0  # maximum in use at the same time
    blocks: Count = 0  # allocated
    references: Count | None = None  # if classes are collected
    misses: Count = 0
    remote: Count = 0
    upgrades: Count = 0
    invalidations: Count = 0
    stall: Count = 0  # cycles of the references that missed the private caches
    classes: dict[str, Count] = Field(default_factory=dict)


class LinePart(_Frozen):
    """A part of a cache line belonging to one variable; offsets and sizes in bytes."""

    at: int  # from the start of the line
    bytes: int
    variable: str
    kind: str
    file: str = ""
    line: int = 0
    offset: Count = 0  # from the start of the variable
    element: str = ""  # what is there, in source notation: ``[3].hits``


class LineUser(_Frozen):
    """One processor's use of a cache line: spans of (first byte, bytes), and the last places that accessed it.

    *wrote* and *used* are in source notation: ``counts[3]``; *used* is what was only read.
    """

    processor: int
    wrote: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    read: tuple[tuple[int, int], ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    reader: str = ""  # file:line
    writer: str = ""


class SharedLine(_Frozen):
    """A cache line with false sharing: the variables on it, and who used which bytes."""

    address: Count
    bytes: int
    classes: dict[str, Count] = Field(default_factory=dict)
    parts: tuple[LinePart, ...] = ()
    users: tuple[LineUser, ...] = ()
    more_users: int = 0


class Wait(_Frozen):
    """What a thread, or a processor that never had one, was doing when a run ended abnormally."""

    processor: int
    doing: str
    place: str = ""  # file:line
    holder: int | None = None  # a thread
    thread: int | None = None

    @property
    def who(self) -> tuple[str, int]:
        """``thread`` or ``processor``, and its number."""
        return ("processor", self.processor) if self.thread is None else ("thread", self.thread)


class ClockRead(_Frozen):
    """A place where the main thread reads a clock: *places* are ``file:line`` of the call and its callers.

    *first*, *last*: elapsed cycles; *first_work*, *last_work*: cycles until then of the other threads, and of the main
    thread in parallel regions.
    """

    places: tuple[str, ...]
    count: Count
    first: Count
    first_work: Count
    last: Count
    last_work: Count


class TraceFile(_Frozen):
    """The trace written by a run. *path* is relative to the study's directory, absolute for a study in memory.

    *asked* is the requested content: a trace with a different request cannot be reused.
    """

    path: str
    bytes: Count = 0
    counts: dict[str, Count] = Field(default_factory=dict)  # rows by kind
    asked: str = ""


class RunRecord(_Frozen):
    """Everything known about one run. Missing values are ``None``, never 0.

    Times are summed over processors, except ``time_s`` and ``time_cycles`` (elapsed, T_para), ``host_s`` (elapsed on
    the host) and ``host_cpu_s`` (processor time on the host).
    """

    source: Source
    program: str
    machine: str
    point: RunPoint
    status: Status = "ok"
    message: str = ""
    exit_code: int | None = None
    signal: int | None = None
    warnings: tuple[str, ...] = ()
    time_s: Number | None = None
    time_cycles: Count | None = None
    clock_hz: Hertz | None = None
    work_ops: Count | None = None
    work_flops: Count | None = None
    busy_s: Number | None = None
    memory_stall_s: Number | None = None
    idle_s: Number | None = None
    primitive_s: Number | None = None
    references: Count | None = None
    misses: Count | None = None
    invalidations: Count | None = None
    host_s: Number | None = None
    host_cpu_s: Number | None = None
    processes: Count | None = None  # of an MPI program, and the threads per process
    threads_per_process: Count | None = None
    categories: dict[str, Count] = Field(  # cycles summed over processors
        default_factory=dict, validation_alias=AliasChoices("categories", "leaves"), serialization_alias="leaves"
    )
    counters: dict[str, Count] = Field(default_factory=dict)
    # category -> cycles of processor 0, 1, ..
    processor_categories: dict[str, list[Count]] = Field(
        default_factory=dict,
        validation_alias=AliasChoices("processor_categories", "processor_leaves"),
        serialization_alias="processor_leaves",
    )
    regions: tuple[RegionCost, ...] = ()
    lines: tuple[LineCost, ...] = ()
    waits: tuple[Wait, ...] = ()
    causes: Causes = Field(default_factory=dict)
    widths: Widths = Field(default_factory=dict)
    collected: tuple[str, ...] = ()  # what was collected on request: "classes", "samples"
    sampled: Sampled | None = None  # None: the whole run was simulated and nothing is estimated
    left_out: tuple[str, ...] = ()  # what the run had but did not keep, as it was not requested: "lines"
    classes: Causes = Field(default_factory=dict)  # misses: cause -> class -> count
    variables: tuple[VariableCost, ...] = ()  # most expensive first
    shared_lines: tuple[SharedLine, ...] = ()  # with false sharing, worst first
    resources: ResourceCosts = ResourceCosts()
    links: LinkLoads | None = None  # of an interconnect, over time
    messages: MessageCosts | None = None  # of an MPI program, by rank, communicator and partner
    loops: tuple[LoopCost, ...] = ()  # those that got chunks from the runtime, by schedule
    blame: Blames = Field(default_factory=dict)  # over all regions; empty if not recorded
    delays: tuple[Delay, ...] = ()  # what made others wait, and messages by call; empty if not recorded
    readings: tuple[ClockRead, ...] = ()
    trace: TraceFile | None = None
    usage: Usage | None = None  # of a measured command
    stdout: str = ""
    stderr: str = ""
    stdout_ranks: tuple[tuple[int, Count], ...] = ()  # of an MPI program: rank and bytes of each piece of stdout

    @property
    def rank_output(self) -> tuple[str, ...] | None:
        """The output of each rank of an MPI program; None if unknown, and for other programs.

        It is known if everything was written through C library streams and nothing was truncated.
        """
        if self.processes is None:
            return None
        if self.processes == 1:
            return (self.stdout,)
        text, at = self.stdout.encode(), 0
        parts: list[list[bytes]] = [[] for _ in range(self.processes)]
        for rank, count in self.stdout_ranks:
            parts[rank].append(text[at : at + count])
            at += count
        return tuple(b"".join(some).decode(errors="replace") for some in parts) if at == len(text) else None

    @property
    def ok(self) -> bool:
        """Whether the run succeeded and has a time."""
        return self.status == "ok" and self.time_s is not None

    @property
    def processor_cycles(self) -> float:
        """Processor time of the run in cycles, N x T_para, including waiting: the base of all shares.

        Computed from the elapsed cycles, or else the elapsed time and the clock, or else the accounts; NaN without any.
        """
        if self.time_cycles:
            return float(self.point.processors * self.time_cycles)
        if self.time_s and self.clock_hz:
            return self.point.processors * self.time_s * self.clock_hz
        return float(sum(self.categories.values())) or math.nan

    @property
    def estimated(self) -> bool:
        """Whether numbers are estimates from sampled phases."""
        return self.sampled is not None and self.sampled.skipped > 0

    @property
    def time_error(self) -> float:
        """Relative half width of the 95 % interval of an estimated time; 0 if the whole run was simulated."""
        if self.sampled is None or not self.estimated or not self.time_cycles:
            return 0.0
        return self.sampled.time_error(self.time_cycles)

    @property
    def time_interval_s(self) -> tuple[float, float] | None:
        """95 % interval of an estimated time, in s; None if the whole run was simulated."""
        if not self.estimated or self.time_s is None:
            return None
        return (max(0.0, self.time_s * (1 - self.time_error)), self.time_s * (1 + self.time_error))

    def indistinct(self, other: RunRecord) -> bool:
        """Return whether the times of both runs differ by less than the 95 % interval of their difference.

        Independent errors add in quadrature (JCGM 100:2008, 5.1.2). False if both were simulated in full, as they are
        exact, or if a time is missing.
        """
        if self.time_s is None or other.time_s is None or not (self.estimated or other.estimated):
            return False
        reach = math.hypot(self.time_s * self.time_error, other.time_s * other.time_error)
        return abs(self.time_s - other.time_s) <= reach

    def _interval_columns(self) -> dict[str, Value | None]:
        if self.sampled is None or not self.estimated:
            return {}
        return {
            "sampled": 1,
            "time_error": self.time_error,
            **{f"interval.{name}": width for name, width in self.sampled.intervals.items()},
        }

    def row(self) -> dict[str, Value | None]:
        """Return one row of the run table.

        Scalars, categories as ``leaf.*`` and counters as ``count.*`` (sums over processors, cycles and events),
        parameters as ``param.*``, quantities by cause as ``cause.<cause>.<quantity>``, waiting whose cause is known as
        ``blame.<cause>.<category>`` (cycles, sums over processors). Estimated runs have ``sampled`` = 1, their
        ``time_error``, and half the width of the 95 % interval of each number as ``interval.<name>``
        (`Sampled.intervals`).
        """
        named = {"source", "program", "machine", "status", "clock_hz", "host_s"}
        scalars = self.model_dump(include=named.union(RUN_SCALARS))
        return {
            "key": self.point.key,
            "processors": self.point.processors,
            "repetition": self.point.repetition,
            **({"variant": self.point.variant.name} if self.point.variant else {}),
            **self._interval_columns(),
            **(self.usage.row() if self.usage is not None else {}),
            **scalars,
            **{f"param.{k}": v for k, v in self.point.parameters.items()},
            **{f"leaf.{k}": v for k, v in self.categories.items()},
            **{f"count.{k}": v for k, v in self.counters.items()},
            **{f"cause.{cause}.{k}": v for cause, part in self.causes.items() for k, v in part.items()},
            **{f"blame.{cause}.{k}": v for cause, part in self.blame.items() for k, v in part.items()},
        }
