"""The parts of a request. Each value is declared once: type, label, unit, range, help and option."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic import field_validator, model_validator

from scalegraph.base.asked import asked, option
from scalegraph.base.run import SIMULATED
from scalegraph.base.units import as_read, plain
from scalegraph.link.build import Measuring
from scalegraph.request.model.basics import Name, Processors, Strict, Text
from scalegraph.request.model.defaults import OWN_MACHINE, SHIPPED_MACHINE

Monitor: TypeAlias = Literal["none", "software", "hardware"]
Sampling: TypeAlias = Literal["automatic", "always", "never"]
BoundKind: TypeAlias = Literal["problem_size", "growth", "memory", "time", "efficiency", "speed"]
SEARCHED: frozenset[str] = frozenset({"time", "efficiency", "speed"})
Pin: TypeAlias = Literal["close", "spread", "none"]
PINS: dict[Pin, str] = {
    "close": "close: the first processors, one after the other",
    "spread": "spread: as far apart as possible",
    "none": "none: the system chooses",
}
SAMPLINGS: dict[Sampling, str] = {
    "automatic": "automatic: once a run has been long",
    "always": "always: from the beginning",
    "never": "never: all runs are exact",
}
MONITORS: dict[Monitor, str] = {
    "none": "none: free of cost",
    "software": "software: inserted probes",
    "hardware": "hardware: event counters",
}


class BoundWords(NamedTuple):
    """The name and effect of a kind of bound; the meaning of its value and an example, both empty if it has none."""

    title: str
    help: str
    value: str = ""
    start: str = ""


BOUNDS: dict[BoundKind, BoundWords] = {
    "problem_size": BoundWords("Fixed problem size", "Every N runs the base parameters (strong scaling)"),
    "growth": BoundWords("Size grown with N", "Every N runs the parameters grown for it, once"),
    "memory": BoundWords(
        "Memory per processor",
        "The size is chosen so that every processor has this much memory of the problem (M = N B)",
        "bytes per processor",
        "1 MiB",
    ),
    "time": BoundWords(
        "Execution time held", "For every N, search for the size that takes this long", "seconds", "10 ms"
    ),
    "speed": BoundWords(
        "Unit speed held",
        "For every N, search for the size at which a processor does this many operations per second (isospeed)",
        "operations per second and processor",
        "10e6",
    ),
    "efficiency": BoundWords(
        "Efficiency held",
        "For every N, search for the size that runs at this efficiency (E = T1 / (N T))",
        "an efficiency between 0 and 1",
        "0.5",
    ),
}


class Scaling(Strict):
    """What grows when the machine grows: a scaling method of the program, or factors of the base values over N."""

    method: str = asked(
        default="",
        max_length=40,
        label="Scaling method",
        help="One of the program's scaling methods: which parameters grow, and how, with N",
    )
    grow: dict[Name, Text] = asked(
        default_factory=dict, label="Factors", help="Factor of the base value of each parameter, as a formula in N"
    )

    @model_validator(mode="after")
    def _not_both(self) -> Scaling:
        if self.method and self.grow:
            raise ValueError("either 'method' or 'grow' was expected, not both")
        return self


def texts(value: Any) -> Any:
    """Return a mapping with its numbers converted to text."""
    if isinstance(value, dict):
        return {k: str(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for k, v in value.items()}
    return value


class MachineChoice(Strict):
    """The machine: a shipped one or a machine file, with values changed for this request."""

    name: str = asked(
        default="",
        max_length=200,
        label="Machine",
        help="A shipped machine (see `scalegraph machines`) or a machine file",
        option=option(
            "-m",
            "--machine",
            metavar="M",
            note=f"simulate takes several. Without it: {OWN_MACHINE}, and {SHIPPED_MACHINE} for a shipped program.",
        ),
    )
    path: str = asked(
        default="", label="Machine file", help="A machine file of your own, in place of a shipped machine"
    )
    overrides: dict[str, str] = asked(
        default_factory=dict,
        label="Overrides",
        help="Values of the machine that this request changes",
        option=option("--set", metavar="KEY=VALUE", help="Change a value of the machine", repeat=True),
    )

    @field_validator("overrides", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Accept numbers where the machine's own reader expects text."""
        return texts(value)

    @property
    def reference(self) -> str:
        """The argument for `machine.load`."""
        return self.path or self.name


class TargetChoice(Strict):
    """Where the request is carried out, and how real runs are measured."""

    name: str = asked(
        default=SIMULATED,
        max_length=64,
        label="Target",
        help="Where the programs run: the simulated machine, this computer, or what a target of yours offers",
        option=option("--target", metavar="NAME", note="'scalegraph doctor' lists the targets."),
    )
    settings: dict[str, str] = asked(
        default_factory=dict,
        label="Settings of the target",
        help="Values of the target itself, by name",
        option=option("--target-set", metavar="NAME=VALUE", help="Give a setting to the target", repeat=True),
    )
    until: float = asked(
        default=0.0,
        ge=0,
        le=100,
        label="Interval wanted",
        unit="%",
        hint="as many runs as repetitions",
        help="Repeat measured runs until their median is known to plus or minus this share, with 95 % confidence",
        option=option("--until", metavar="PERCENT", note="2 or 2%; 0: as many runs as repetitions."),
    )
    most_runs: int = asked(
        default=30,
        ge=1,
        le=1000,
        label="Runs of a point at most",
        unit="runs",
        help="Measured runs of one point after which the wanted interval is given up",
        option=option("--most-runs", metavar="K"),
    )
    pin: Pin = asked(
        default="close",
        label="Threads on processors",
        choices=PINS,
        help="Which processor of the target each thread is bound to in a measured run",
        option=option("--affinity", "--pin"),
    )
    warm_up: int = asked(
        default=1,
        ge=0,
        le=100,
        label="Warm-up",
        unit="runs",
        help="Warm-up runs before each measured one",
        option=option("--warm-up", metavar="K"),
    )
    disturbed: float = asked(
        default=10.0,
        gt=0,
        le=100,
        label="Disturbance accepted",
        unit="%",
        help="A measured run is repeated, twice at most, if other programs took more of a processor's time than this, "
        "or if the processor's frequency changed by more",
        option=option("--disturbed", metavar="PERCENT"),
    )
    longest: float = asked(
        default=10.0,
        gt=0,
        le=86400,
        label="Longest run of a search",
        unit="s",
        help="Searches on a real target try no size that is expected to take longer on one processor",
    )

    @field_validator("settings", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Accept numbers where a target expects text."""
        return texts(value)

    @property
    def point_name(self) -> str:
        """The target in the coordinates of a run: empty for the simulated machine."""
        return "" if self.name == SIMULATED else self.name

    @property
    def measuring(self) -> Measuring:
        """How each real run is measured."""
        return Measuring(self.pin, self.warm_up, disturbed=self.disturbed / 100)


class Bound(Strict):
    """What is held constant while the machine grows."""

    kind: BoundKind = asked(
        default="problem_size",
        label="Bound",
        choices={kind: words.title for kind, words in BOUNDS.items()},
        help="What is held constant while N grows",
    )
    value: float | None = asked(
        default=None,
        label="Value",
        help="What is held: bytes per processor, seconds, an efficiency between 0 and 1, "
        "or operations per second and processor",
    )
    tolerance: float = asked(
        default=0.03,
        gt=0,
        le=0.5,
        label="Tolerance",
        short="±",
        help="Accepted relative difference from the value: 0.05 is 5 %",
    )
    max_runs: int = asked(
        default=10,
        ge=2,
        le=100,
        label="Tries",
        unit="runs",
        short="tries",
        help="Sizes tried for one N before the search gives up",
    )
    processors: tuple[Processors, ...] = asked(
        default=(),
        max_length=1024,
        label="Processors of the bound",
        unit="processors",
        help="Processor counts for this bound; those of the request if empty",
    )

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _value_fits(self) -> Bound:
        needs = BOUNDS[self.kind].value
        if needs and self.value is None:
            raise ValueError(f"the {self.kind} bound needs a value: {needs}")
        if not needs and self.value is not None:
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

    regions: bool = asked(
        default=True,
        label="costs by region",
        help="Costs by function, loop and construct",
        option=option("--no-instrument", help="Plant no region probes"),
    )
    lines: bool = asked(default=True, label="costs by source line", help="Costs by source line")
    detail: Literal["outer", "all", "functions"] = asked(
        default="outer",
        label="Which loops become regions",
        choices={"outer": "outer loops", "all": "all loops", "functions": "functions only"},
        help="Which loops are regions of their own",
    )
    classes: bool = asked(
        default=False,
        label="misses by class",
        help="Misses as cold, capacity, conflict, true and false sharing; runs take up to ten times longer",
        option=option(
            "--collect",
            help="Collect besides: classes (misses as cold, capacity, conflict, sharing; slower)",
            repeat=True,
        ),
    )
    sample: Sampling = asked(
        default="automatic",
        label="Sampling",
        choices=SAMPLINGS,
        help="When to simulate only some visits of phases that repeat, and estimate the others; "
        "estimated numbers have an interval of 95 %",
        option=option(
            "--sample",
            values={
                "always": "Sample repeated phases from the beginning; without it sampling begins once a run has been "
                "long. Estimates have an interval of 95 %",
                "never": "No sampling: simulate every visit of every phase, however long it takes",
            },
            switches={"always": "--sample", "never": "--exact"},
        ),
    )

    @field_validator("sample", mode="before")
    @classmethod
    def _as_switch(cls, value: Any) -> Any:
        """Read the switch that this was in earlier requests: whether to sample from the beginning."""
        return {True: "always", False: "never"}[value] if isinstance(value, bool) else value

    monitor: Monitor = asked(
        default="none",
        label="Monitoring",
        choices=MONITORS,
        help="What monitors regions on the simulated machine itself. "
        "Software and hardware monitoring take simulated time at the beginning and end of every region "
        "(monitor.probe_cycles and monitor.counter_cycles of the machine)",
        option=option(
            "--monitor",
            help="Let the simulated machine monitor regions by inserted instructions or by hardware counters; "
            "this costs simulated time",
        ),
    )
