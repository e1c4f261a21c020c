"""The request: everything a user requests, as one validated object and as one TOML file.

    title = "Billiard balls on the KSR-1"        # optional
    processors = [1, 2, 4, 8, 16, 32]
    verify = true                                # run again with each main loss removed, to show the gain
    repetitions = 1                              # runs of every point; the simulator needs one
    reference = true                             # run each size on one processor too, for speedup and latency
    schedule = "dynamic,4"                       # for all worksharing loops; runtime=..: for schedule(runtime) only
    timed = "loop main:40"                       # also show a part: clock, a region, FILE:LINE or a phase
    work = "2 * n ** 3 / 3"                      # definition of W: flops, or a formula in the parameters

    [program]                                    # a shipped program ..
    name = "billiard"
    # sources = ["mine.c", "more.cpp"]           # .. or sources in C, C++ or Fortran, next to the request file
    # executable = "./prog"                      # .. or what scalegraph-cc, scalegraph-c++ or scalegraph-fc linked
    # build = "make CC=scalegraph-cc"            # and the command that builds it, run in the directory first
    # command = "mpirun -np {N} ./app {n}"       # .. or a command that is measured as it is; {threads}, {nodes}, ..
    # shell = true                               # of a command: a shell runs it
    # time_from = "Elapsed: ([0-9.]+) s"         # its time, or rate_from its rate, from its output
    # args = ["{n}", "-t", "{N}"]                # {name} is replaced by the parameter, {N} by the processors
    # accept_exit = [1]                          # exit codes besides 0 with which the results count
    # threads_per_process = 4                    # of an MPI program: N processors are N / 4 processes
    # cflags = ["-O3"]; ldflags = ["-lm"]; include = ["inc"]; stdin = "input.txt"
    # directory = "."; cwd = "data"             # base directory of all names; working directory of runs
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

    [space]                                      # several of each in one study: every combination that can run
    machine = ["epyc-7763", "xeon-8480"]         # instead of [machine] name
    threads_per_process = [1, 4, 16]             # of an MPI program
    schedule = ["static", "dynamic,4"]
    # affinity = ["close", "spread"]; cflags = ["-O2", "-O3"]

    [target]                                     # where the programs run; the simulated machine if not given
    name = "host"                                # 'scalegraph doctor' lists the targets
    # pin = "spread"                             # threads on processors: close | spread | none
    # warm_up = 1                                # runs before each measured one
    # settings = { partition = "batch" }         # of the target

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
    sample = "automatic"                         # sample repeated phases: once a run is long | always | never
    monitor = "none"                             # none | software | hardware: the latter two cost simulated time

    [trace]                                      # each run writes a trace next to the study; docs/TRACES.md
    what = ["regions", "waits", "locks"]         # regions waits locks tasks chunks shares counters; all but chunks
    processors = [4, 16]                         # counts whose runs are traced; all of the request if not given
    sizes = "base"                               # only the size of [parameters]; all sizes if not given
    begin = "2 ms"; end = "2e6 cycles"           # of the run, in simulated time; the whole run if not given
    region = "solve"                             # only what happens inside: NAME, FILE:LINE or #ID
    interval = "10 us"                           # over which shares and counters are summed; chosen if not given
    limit = "512 MiB"                            # of one trace, which then ends there; 1 GiB

    [[what_if]]                                  # any number of them: runs repeated with changes
    ideal = ["contention", "cache"]              # contention, network, cache, sync, balance
    speedup = { "line:solve.c:88" = 2, "lock:m" = "inf" }
    machine = { clock_mhz = "40" }
    # processors = [16, 32]                      # processor counts, if not all of the request

    [speedups]                                   # "if this line were x times as fast": the most expensive ones
    lines = 5
    factors = [1.5, 2, 4, "inf"]
    # processors = [32]                          # the largest count of the request if not given

    [schedules]                                  # all worksharing loops under each, then each loop under its best one
    compare = ["static", "guided", "EA,alpha=32"]   # or "all"
    # advise = false                             # without the run of the best ones together

    [predict]                                    # predict larger sizes; the runs are samples of two or more sizes
    at = { n = [800, 1600] }                     # or "n=800,1600"; their names sweep in [parameters]
    processors = [64, 128]                       # those of the samples if not given
    # counting = false                           # without further small runs for exact counts
    # verify = true                              # run the predicted sizes too, and compare

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
study next to the actual runs. docs/WHATIF.md explains each switch and each target of a speedup.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import PrivateAttr, field_validator, model_validator

from scalegraph.base.asked import asked, option
from scalegraph.base.run import Value
from scalegraph.link import loops
from scalegraph.link.options import Limits
from scalegraph.request.model import defaults, writing
from scalegraph.request.model.basics import Name, Processors, Strict, Text
from scalegraph.request.model.extras import (
    TRACE_KINDS,
    USUAL_TRACE,
    Schedules,
    Speedups,
    TraceChoice,
    TraceKind,
    WhatIf,
)
from scalegraph.request.model.origin import HERE, Origin
from scalegraph.request.model.parts import (
    SEARCHED,
    Bound,
    BoundKind,
    Collect,
    MachineChoice,
    Monitor,
    Scaling,
    TargetChoice,
)
from scalegraph.request.model.prediction import Prediction
from scalegraph.request.model.program_choice import ProgramChoice
from scalegraph.request.model.space import Space, with_first

__all__ = [
    "SEARCHED",
    "TRACE_KINDS",
    "USUAL_TRACE",
    "Bound",
    "BoundKind",
    "Collect",
    "Limits",
    "MachineChoice",
    "Monitor",
    "Name",
    "Prediction",
    "Processors",
    "ProgramChoice",
    "Request",
    "RequestBody",
    "Scaling",
    "Schedules",
    "Space",
    "Speedups",
    "Strict",
    "TargetChoice",
    "Text",
    "TraceChoice",
    "TraceKind",
    "WhatIf",
]


class RequestBody(Strict):
    """A request without its program: also the defaults that a program file may state."""

    title: str = asked(
        default="",
        max_length=200,
        label="Title",
        hint="made of program and machine",
        help="Name of the request and its study, for people",
    )
    parameters: dict[Name, Value | tuple[Value, ...]] = asked(
        default_factory=dict,
        label="Parameters",
        help="Values at the base size; several, separated by commas, are a sweep",
        option=option(
            "--parameter",
            metavar="NAME=VALUE,..",
            note="{NAME} among the arguments stands for it; predictions from the study need no request then.",
            repeat=True,
        ),
    )
    scaling: Scaling = asked(
        default_factory=Scaling, label="What grows with N", help="What grows when the machine grows"
    )
    machine: MachineChoice = asked(default_factory=MachineChoice, label="Machine", help="The simulated machine")
    space: Space = asked(
        default_factory=Space, label="Space", help="Several machines, splits, schedules, affinities or flags at once"
    )
    target: TargetChoice = asked(default_factory=TargetChoice, label="Target", help="Where the request is carried out")
    processors: tuple[Processors, ...] = asked(
        default=(1, 2, 4, 8, 16, 32),
        max_length=1024,
        label="Processors N",
        unit="processors",
        hint="1, 2, 4, 8, 16, 32",
        help="Processor counts to run on, with commas, and ranges as in 1-8",
        option=option(
            "-p",
            "--processors",
            metavar="LIST",
            note="1..64 doubles. Without the option 1..64, as far as the machine goes.",
        ),
    )
    bound: tuple[Bound, ...] = asked(
        default=(Bound(),),
        max_length=16,
        label="What is held constant",
        help="Each bound is a scalability question of its own",
    )
    collect: Collect = asked(
        default_factory=Collect, label="Collect", help="What each run records in addition to its totals"
    )
    trace: TraceChoice | None = asked(
        default=None,
        label="write what happened when",
        help="Each run writes a trace file next to the study; times and counts of the run stay the same",
    )
    what_if: tuple[WhatIf, ...] = asked(default=(), max_length=256, label="What if", help="Run again with changes")
    speedups: Speedups = asked(
        default_factory=Speedups,
        label="Virtual speedups",
        help="Run again with the most expensive lines and regions faster",
    )
    schedules: Schedules = asked(
        default_factory=Schedules,
        label="Schedules of loops",
        help="Run again with worksharing loops under other schedules",
    )
    predict: Prediction | None = asked(
        default=None,
        label="predict larger runs",
        help="The runs are samples; the times of larger sizes and on more processors are predicted from them",
    )
    verify: bool = asked(
        default=False,
        label="Check the culprits",
        help="Run the largest N again with each of the largest losses removed, and show the gain",
        option=option("--verify"),
    )
    limits: Limits = asked(default_factory=Limits, label="Limits", help="Limits of one run")
    repetitions: int = asked(
        default=1,
        ge=1,
        le=1000,
        label="Repetitions",
        unit="runs",
        help="Runs of every point; the simulator needs one",
        option=option("--repeat", metavar="K"),
    )
    reference: bool = asked(
        default=True,
        label="Reference",
        help="Run each size on one processor too, whether named or not: speedup and latency need it",
        option=option(
            "--no-reference", help="Leave out the one-processor run unless -p names it; there is no speedup then"
        ),
    )
    schedule: str = asked(
        default="",
        max_length=2000,
        label="Loop schedule",
        hint="as written in the program",
        help="Of all worksharing loops: a schedule with its parameters, as in dynamic,4 or EA,alpha=32; of one loop: "
        "solve.c:88=ML; of loops with schedule(runtime) only: runtime=guided. Several with semicolons between them",
        option=option("--schedule", metavar="NAME", note="'scalegraph schedules' has the names."),
    )
    timed: str = asked(
        default="",
        max_length=400,
        label="Timed part",
        hint="the whole run only",
        help="Show time, speedup and efficiency of a part too: a region (`loop main:40`, FILE:LINE "
        "or a phase's name), or `clock`, what the program times itself",
        option=option("--timed", metavar="PART"),
    )

    work: str = asked(
        default="",
        max_length=400,
        label="Work W",
        hint="all operations",
        help="What the work W of a problem is: flops, a formula of the parameters such as 2*n**3/3, or operations, "
        "which are all that the one-processor run executes",
        option=option("--work", metavar="FORMULA", note="Burg and SLALOM count as their paper does."),
    )

    @field_validator("schedule")
    @classmethod
    def _schedules(cls, value: str) -> str:
        """Refuse unknown schedules; parameters and loops are looked up before a run."""
        return loops.written_or_automatic(value)

    @field_validator("bound", mode="before")
    @classmethod
    def _one_bound(cls, value: Any) -> Any:
        """Accept one ``[bound]`` table instead of an array of them."""
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
        """Return every processor count that the request names, ascending."""
        return tuple(sorted({*self.processors, *(count for bound in self.bound for count in bound.processors)}))

    def what_ifs(self) -> tuple[WhatIf, ...]:
        """Return the second sets of runs that are known beforehand: `what_if`, and schedules to compare."""
        return (*self.what_if, *(WhatIf(schedule=name) for name in self.schedules.names))

    def base(self) -> dict[str, Value]:
        """Return the base parameters: the first value of each list that sweeps."""
        return {name: item[0] if isinstance(item, tuple) else item for name, item in self.parameters.items()}


class Request(RequestBody):
    """A user's complete request."""

    program: ProgramChoice = asked(
        label="Program", help="Sources of your own, what your own build makes, or a shipped program"
    )
    _origin: Origin = PrivateAttr(default=HERE)

    @model_validator(mode="after")
    def _some_machine(self) -> Self:
        with_first(self)
        return defaults.with_machine(self)

    @property
    def origin(self) -> Origin:
        """Where the request came from; this decides which consent is needed before code runs. Copies keep it."""
        return self._origin

    def with_origin(self, origin: Origin) -> Self:
        """Return the request marked as coming from *origin*."""
        made = self.model_copy()
        made._origin = origin
        return made

    def to_toml(self) -> str:
        """Return the request as a TOML file that reads back equal; values at their default are omitted."""
        return writing.toml_text(self)
