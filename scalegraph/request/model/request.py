"""The request: everything a user requests, as one validated object and as one TOML file.

    title = "Billiard balls on the KSR-1"        # optional
    processors = [1, 2, 4, 8, 16, 32]
    repetitions = 1                              # runs of every point; the simulator needs one
    reference = true                             # each size on one processor too: speedup and latency need it
    schedule = "dynamic,4"                       # for schedule(runtime), in OMP_SCHEDULE syntax
    timed = "loop main:40"                       # a part shown too: clock, a region, FILE:LINE or a phase

    [program]                                    # a shipped program ..
    name = "billiard"
    # sources = ["mine.c", "more.cpp"]           # .. or sources in C, C++ or Fortran, beside the request file
    # executable = "./prog"                      # .. or what scalegraph-cc, scalegraph-c++ or scalegraph-fc linked
    # build = "make CC=scalegraph-cc"            # and the command that builds it, run in the directory first
    # args = ["{n}", "-t", "{N}"]                # {name} is replaced by the parameter, {N} by the processors
    # accept_exit = [1]                          # exit codes besides 0 with which the results count
    # cflags = ["-O3"]; ldflags = ["-lm"]; include = ["inc"]; stdin = "input.txt"
    # directory = "."; cwd = "data"             # where all names are relative to; where the runs work
    # env = { KEY = "value", THREADS = "{N}" }

    [parameters]                                 # base values; a list sweeps (problem-size bound only)
    num_balls = 1000
    num_steps = 20

    [scaling]                                    # what grows when the machine grows
    method = "IV"                                # one of the program's methods ..
    # grow = { num_balls = "N", num_steps = "sqrt(N)" }   # .. or factors of the base values

    [machine]                                    # server-2x32 for a program of your own, ksr1 for a shipped one
    name = "ksr1"                                # or path = "mine.toml"
    overrides = { "clock_mhz" = "40" }

    [[bound]]                                    # any number of them; one may be written [bound]
    kind = "efficiency"                          # problem_size | growth | memory | time | efficiency | speed
    value = 0.5                                  # E; seconds; bytes per processor
    tolerance = 0.03                             # of the value: 0.485 to 0.515 is near enough
    max_runs = 10                                # sizes tried for one N before the search gives up
    # processors = [2, 4, 8]                     # counts for this bound, if not those of the request

    [collect]
    regions = true
    lines = true
    detail = "outer"                             # which loops get probes: outer | all | functions
    classes = false                              # misses by class (cold, capacity, ..); up to ten times slower
    monitor = "none"                             # none | software | hardware: the latter two cost simulated time

    [trace]                                      # each run writes what happened when beside the study; docs/TRACES.md
    what = ["regions", "waits", "locks"]         # regions waits locks tasks chunks shares counters; all but chunks
    processors = [4, 16]                         # counts whose runs are traced; all of the request if not given
    sizes = "base"                               # only the size of [parameters]; all sizes if not given
    begin = "2 ms"; end = "2e6 cycles"           # of the run, in simulated time; the whole run if not given
    region = "solve"                             # only what happens inside: NAME, FILE:LINE or #ID
    interval = "10 us"                           # shares and counters are added up over so long; chosen if not given
    limit = "512 MiB"                            # of one trace, which then ends there; 1 GiB

    [[what_if]]                                  # any number of them: the runs once more, with something different
    ideal = ["contention", "cache"]              # contention, network, cache, sync, balance
    speedup = { "line:solve.c:88" = 2, "lock:m" = "inf" }
    machine = { clock_mhz = "40" }
    # processors = [16, 32]                      # the counts to examine, if not all of the request

    [speedups]                                   # "if this line were x times as fast": the most expensive ones
    lines = 5
    factors = [1.5, 2, 4, "inf"]
    # processors = [32]                          # the largest count of the request if not given

    [limits]                                     # of one run
    time_s = 600
    memory_bytes = 4_294_967_296
    output_bytes = 10_000_000

Bounds: ``problem_size`` runs the base parameters on every processor count (strong scaling; scaling method I of
scale-graph.txt 5.3); ``growth`` runs each N with the parameters grown for N; ``memory`` chooses the size with
M = N B (eq. 14); ``time`` searches the size with T_para = T (6.4.1); ``efficiency`` searches the size with
E = T_seq/(N T_para) (latency-metric.txt Fig. 11); ``speed`` searches the size with W/(N T_para) = S, where W are the
operations of the one-processor run (isospeed.txt IV.A, approach 1).

What-if runs are made of the points that the bounds request, and of the sizes that searches found; they are in the
study beside the actual runs. docs/WHATIF.md says what each switch and each target of a speedup means.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from scalegraph.base import amounts
from scalegraph.base.run import Ideal, Value, Variant
from scalegraph.base.units import as_read, plain
from scalegraph.link import scale
from scalegraph.request.model import defaults, writing
from scalegraph.request.model.origin import HERE, Origin

Monitor: TypeAlias = Literal["none", "software", "hardware"]
BoundKind: TypeAlias = Literal["problem_size", "growth", "memory", "time", "efficiency", "speed"]
SEARCHED: frozenset[str] = frozenset({"time", "efficiency", "speed"})

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Text = Annotated[str, Field(max_length=4096)]
Processors = Annotated[int, Field(ge=1, le=65536)]
ExitCode = Annotated[int, Field(ge=1, le=255)]


class Strict(BaseModel):
    """Base of the request's parts: frozen, unknown keys refused, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False, defer_build=True)


class ProgramChoice(Strict):
    """Which program, and how it is compiled and started. Paths are relative to the request file."""

    name: str = Field(default="", max_length=200, description="a shipped program, or the path of a program's TOML file")
    sources: tuple[Text, ...] = Field(default=(), description="sources, if no program is named: C, C++, Fortran")
    executable: str = Field(default="", description="a program that ScaleGraph's compilers linked, in place of sources")
    build: str = Field(default="", description="command that builds the executable, run in the directory by a shell")
    args: tuple[Text, ...] | None = Field(default=None, description="{name}: a parameter, {N}: processors")
    cflags: tuple[Text, ...] = Field(default=(), description="for the compiler, after ScaleGraph's own")
    ldflags: tuple[Text, ...] = Field(default=(), description="for the linker, after the objects")
    include: tuple[Text, ...] = Field(default=(), description="directories searched for headers")
    env: dict[str, str] = Field(default_factory=dict, description="added to the program's environment")
    stdin: str = Field(default="", description="file given to the program as standard input")
    accept_exit: tuple[ExitCode, ...] = Field(default=(), description="exit codes besides 0 that count as success")
    directory: str = Field(default="", description="what names are relative to; working directory of the runs")
    cwd: str = Field(default="", description="working directory of the runs, if it is another one")

    @model_validator(mode="after")
    def _one_of(self) -> ProgramChoice:
        given = sum(map(bool, (self.name, self.sources, self.executable)))
        if given != 1:
            raise ValueError(
                "either 'name' (a shipped program), 'sources' or 'executable' was expected"
                + (", not more than one of them" if given else "")
            )
        texts = (self.build, self.executable, self.stdin, self.directory, self.cwd, *self.sources, *(self.args or ()))
        texts = (*texts, *self.cflags, *self.ldflags, *self.include, *self.env, *self.env.values())
        if any("\0" in text for text in texts):
            raise ValueError("a zero byte cannot be in a name, an argument or the environment")
        if wrong := [name for name in self.env if not name or "=" in name]:
            raise ValueError(f"'{wrong[0]}' cannot be the name of a variable of the environment")
        if self.build and not self.executable:
            raise ValueError("'build' needs 'executable': the program that the command builds")
        return self


class Scaling(Strict):
    """What grows when the machine grows: a method of the program, or factors of the base values over N."""

    method: str = Field(default="", max_length=40, description="one of the program's scaling methods, I to IV")
    grow: dict[Name, Text] = Field(default_factory=dict, description="parameter = factor as a formula in N")

    @model_validator(mode="after")
    def _not_both(self) -> Scaling:
        if self.method and self.grow:
            raise ValueError("either 'method' or 'grow' was expected, not both")
        return self


def _texts(value: Any) -> Any:
    """Return a mapping with its numbers as text."""
    if isinstance(value, dict):
        return {k: str(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for k, v in value.items()}
    return value


class MachineChoice(Strict):
    """The target: a shipped machine or a machine file, and values changed for this request."""

    name: str = Field(default="", max_length=200, description="a shipped machine; that of the program if empty")
    path: str = Field(default="", description="a machine file of your own; taken instead of the name")
    overrides: dict[str, str] = Field(default_factory=dict, description="machine keys set for this request")

    @field_validator("overrides", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Accept numbers where the machine's own reader expects text."""
        return _texts(value)

    @property
    def reference(self) -> str:
        """What `machine.load` takes."""
        return self.path or self.name


class Bound(Strict):
    """What is held constant while the machine grows."""

    kind: BoundKind = Field(default="problem_size", description="what is held constant")
    value: float | None = Field(
        default=None, description="E (0 to 1), seconds, bytes per processor, operations per second and processor"
    )
    tolerance: float = Field(default=0.03, gt=0, le=0.5, description="how near is near enough, as a share of the value")
    max_runs: int = Field(default=10, ge=2, le=100, description="sizes tried for one N before the search gives up")
    processors: tuple[Processors, ...] = Field(
        default=(), max_length=1024, description="counts for this bound; those of the request if empty"
    )

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _value_fits(self) -> Bound:
        needs = {
            "memory": "bytes per processor",
            "time": "seconds",
            "efficiency": "an efficiency between 0 and 1",
            "speed": "operations per second and processor",
        }
        if self.kind in needs and self.value is None:
            raise ValueError(f"the {self.kind} bound needs a value: {needs[self.kind]}")
        if self.kind not in needs and self.value is not None:
            raise ValueError(f"the {self.kind.replace('_', '-')} bound takes no value, got {as_read(self.value)}")
        if self.value is not None and (self.value <= 0 or not math.isfinite(self.value)):
            raise ValueError(f"the value of the {self.kind} bound must be greater than 0, got {as_read(self.value)}")
        if self.kind == "efficiency" and self.value is not None and self.value >= 1:
            raise ValueError(f"an efficiency between 0 and 1 was expected, got {as_read(self.value)}")
        return self

    def said(self) -> str:
        """Return the bound in words."""
        match self.kind:
            case "problem_size":
                return "fixed problem size"
            case "growth":
                return "size grown with N"
            case "memory":
                return f"memory bound of {plain(self.value)} bytes a processor"
            case "time":
                return f"time bound of {plain(self.value)} s"
            case "efficiency":
                return f"efficiency held at {plain(self.value)}"
            case "speed":
                return f"average unit speed held at {plain(self.value)} operations per second"


class Collect(Strict):
    """What each run records in addition to its totals."""

    regions: bool = Field(default=True, description="costs by function, loop and construct")
    lines: bool = Field(default=True, description="costs by source line")
    detail: Literal["outer", "all", "functions"] = Field(
        default="outer", description="which loops are regions of their own"
    )
    classes: bool = Field(
        default=False, description="misses as cold, capacity, conflict, true and false sharing; makes runs slower"
    )
    monitor: Monitor = Field(default="none", description="who observes regions; all but none cost simulated time")


def _factor(value: Any) -> str:
    """Return a factor as the text that names it, the same for 2, 2.0 and "2"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f'a factor was expected: a number above 0 or "inf", got {value!r}')  # noqa: TRY004 - pydantic's
    number = scale.factor_of(str(value))
    return "inf" if number is None else f"{float(number):.12g}"


class WhatIf(Strict):
    """What shall be different in a second set of runs: ideal switches, virtual speedups, values of the machine."""

    ideal: tuple[Ideal, ...] = Field(default=(), description="contention, network, cache, sync, balance")
    speedup: dict[str, str] = Field(default_factory=dict, max_length=64, description="target = factor")
    machine: dict[str, str] = Field(default_factory=dict, description="machine keys, over those of [machine]")
    processors: tuple[Processors, ...] = Field(
        default=(), max_length=1024, description="counts to search; those of the request if empty"
    )

    @field_validator("speedup", mode="before")
    @classmethod
    def _factors(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for target in value:
            scale.parse(str(target))
        return {str(target): _factor(factor) for target, factor in value.items()}

    @field_validator("machine", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return _texts(value)

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _something(self) -> WhatIf:
        if not self.variant:
            raise ValueError("something different was expected: 'ideal', 'speedup' or 'machine'")
        return self

    @property
    def variant(self) -> Variant:
        """The coordinate of its runs."""
        return Variant(ideal=self.ideal, speedup=self.speedup, machine=self.machine)


class Speedups(Strict):
    """Virtual speedups of what costs most, found in the actual runs: a curve for each."""

    lines: int = Field(default=0, ge=0, le=50, description="the most expensive lines")
    regions: int = Field(default=0, ge=0, le=50, description="the most expensive regions")
    factors: tuple[str, ...] = Field(default=("1.5", "2", "4", "inf"), min_length=1, max_length=32)
    processors: tuple[Processors, ...] = Field(
        default=(), max_length=1024, description="counts to look at; the largest of the request if empty"
    )

    @field_validator("factors", mode="before")
    @classmethod
    def _factors(cls, value: Any) -> Any:
        return tuple(_factor(item) for item in value) if isinstance(value, list | tuple) else value


TraceKind: TypeAlias = Literal["regions", "waits", "locks", "tasks", "chunks", "shares", "counters"]
TRACE_KINDS: dict[TraceKind, str] = {
    "regions": "entering and leaving functions, loops and constructs",
    "waits": "waiter and holder, where, and how long",
    "locks": "acquiring and releasing locks",
    "tasks": "creating, switching to and ending tasks",
    "chunks": "the iterations that a processor obtained of a loop, each time",
    "shares": "the accounts (computing, stalls, idle, overhead) interval by interval",
    "counters": "operations, references and misses interval by interval",
}
USUAL_TRACE: tuple[TraceKind, ...] = tuple(kind for kind in TRACE_KINDS if kind != "chunks")
_TRACE_LEAST = 2**16


class TraceChoice(Strict):
    """What the traced runs write down, of which time and place, and how much at most."""

    what: tuple[TraceKind, ...] = Field(default=USUAL_TRACE, max_length=32, description="what is collected")
    processors: tuple[Processors, ...] = Field(
        default=(), max_length=1024, description="counts whose runs are traced; those of the request if empty"
    )
    sizes: Literal["all", "base"] = Field(
        default="all", description="all: every size that is run; base: that of the parameters only"
    )
    runs: Literal["actual", "all"] = Field(
        default="actual", description="actual ones, once; all: what-if runs and repetitions too"
    )
    begin: Annotated[str, Field(max_length=40)] = Field(
        default="", description="simulated time at which it begins, as in 20 ms or 2e6 cycles"
    )
    end: Annotated[str, Field(max_length=40)] = Field(default="", description="simulated time at which it ends")
    region: str = Field(default="", max_length=400, description="collect inside it only: NAME, FILE:LINE or #ID")
    interval: Annotated[str, Field(max_length=40)] = Field(
        default="", description="length over which shares and counters are added up; chosen if empty"
    )
    limit: int = Field(default=2**30, ge=_TRACE_LEAST, le=2**44, description="bytes of events in one trace at most")

    @field_validator("what")
    @classmethod
    def _in_order(cls, value: tuple[TraceKind, ...]) -> tuple[TraceKind, ...]:
        if not value:
            raise ValueError(f"one at least of {', '.join(TRACE_KINDS)} was expected")
        return tuple(kind for kind in TRACE_KINDS if kind in value)

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @field_validator("begin", "end", "interval", mode="before")
    @classmethod
    def _time(cls, value: Any) -> Any:
        """Accept a number of seconds; refuse what is no time."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value} s"
        if isinstance(value, str):
            value = value.strip()
            if value:
                amounts.cycles(value, 1.0)
        return value

    @field_validator("limit", mode="before")
    @classmethod
    def _size(cls, value: Any) -> Any:
        return amounts.size(value) if isinstance(value, str) else value


class RunLimits(Strict):
    """Limits of one run; the run is stopped and reported when it meets one."""

    time_s: float = Field(default=600.0, gt=0, le=30 * 86400, description="host seconds")
    memory_bytes: int = Field(default=4 * 2**30, ge=64 * 2**20, description="that the program may allocate")
    output_bytes: int = Field(default=16 * 2**20, ge=0, description="of the program's output that is kept")


class RequestBody(Strict):
    """A request without its program: also the defaults that a program file may state."""

    title: str = Field(default="", max_length=200, description="a name for people")
    parameters: dict[Name, Value | tuple[Value, ...]] = Field(
        default_factory=dict, description="base values; a list sweeps"
    )
    scaling: Scaling = Field(default_factory=Scaling)
    machine: MachineChoice = Field(default_factory=MachineChoice)
    processors: tuple[Processors, ...] = Field(default=(1, 2, 4, 8, 16, 32), max_length=1024)
    bound: tuple[Bound, ...] = Field(default=(Bound(),), max_length=16)
    collect: Collect = Field(default_factory=Collect)
    trace: TraceChoice | None = Field(default=None, description="write a trace of the runs")
    what_if: tuple[WhatIf, ...] = Field(default=(), max_length=256)
    speedups: Speedups = Field(default_factory=Speedups)
    limits: RunLimits = Field(default_factory=RunLimits)
    repetitions: int = Field(default=1, ge=1, le=1000, description="runs of every point")
    reference: bool = Field(default=True, description="run each size on one processor too, whether named or not")
    schedule: str = Field(
        default="",
        max_length=60,
        pattern=r"^((static|dynamic|guided|auto)(,[1-9][0-9]{0,8})?)?$",
        description="for schedule(runtime), in OMP_SCHEDULE syntax",
    )
    timed: str = Field(
        default="", max_length=400, description="a part shown beside the run: clock, a region, FILE:LINE or a phase"
    )

    @field_validator("bound", mode="before")
    @classmethod
    def _one_bound(cls, value: Any) -> Any:
        """Accept one ``[bound]`` table in place of an array of them."""
        return (value,) if isinstance(value, dict | Bound) else value

    @field_validator("processors", mode="before")
    @classmethod
    def _one_count(cls, value: Any) -> Any:
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("processors")
    @classmethod
    def _sorted(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if not value:
            raise ValueError("one processor count at least was expected")
        return tuple(sorted(set(value)))

    @field_validator("bound")
    @classmethod
    def _some_bound(cls, value: tuple[Bound, ...]) -> tuple[Bound, ...]:
        if not value:
            raise ValueError("one bound at least was expected")
        return value

    @model_validator(mode="after")
    def _compared(self) -> Self:
        searched = [bound.kind for bound in self.bound if bound.kind in SEARCHED]
        if searched and not self.reference:
            raise ValueError(f"the bound '{searched[0]}' compares with one processor; 'reference = true' was expected")
        return self

    @field_validator("parameters")
    @classmethod
    def _not_empty(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name, item in value.items():
            if item == ():
                raise ValueError(f"the list of '{name}' is empty; one value at least was expected")
        return value

    def counts(self, bound: Bound) -> tuple[int, ...]:
        """Return the processor counts of *bound*."""
        return bound.processors or self.processors

    def every_count(self) -> tuple[int, ...]:
        """Return every processor count that the request names, rising."""
        return tuple(sorted({*self.processors, *(count for bound in self.bound for count in bound.processors)}))

    def base(self) -> dict[str, Value]:
        """Return the base parameters: the first value where a list sweeps."""
        return {name: item[0] if isinstance(item, tuple) else item for name, item in self.parameters.items()}


class Request(RequestBody):
    """All that a user requests."""

    program: ProgramChoice
    _origin: Origin = PrivateAttr(default=HERE)

    @model_validator(mode="after")
    def _some_machine(self) -> Self:
        return defaults.with_machine(self)

    @property
    def origin(self) -> Origin:
        """Where the request came from; it decides which consent is needed before code runs. Copies keep it."""
        return self._origin

    def with_origin(self, origin: Origin) -> Self:
        """Return the request marked as coming from *origin*."""
        made = self.model_copy()
        made._origin = origin
        return made

    def to_toml(self) -> str:
        """Return the request as a TOML file that reads back equal; values left at their default are omitted."""
        return writing.toml_text(self)
