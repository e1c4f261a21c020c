"""Additions to a request's runs: what-if runs, virtual speedups, traces. Each value is declared once."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import field_validator, model_validator

from scalegraph.base import amounts
from scalegraph.base.asked import asked, option
from scalegraph.base.run import Ideal, Variant
from scalegraph.link import loops, scale
from scalegraph.request.model.basics import Processors, Strict
from scalegraph.request.model.parts import texts
from scalegraph.runtime import schedules

ALL = "all"  # schedules
_TIME = "as in 20ms, 0.5s or 2e6cycles of simulated time"


def _factor(value: Any) -> str:
    """Return a factor in its text form, the same for 2, 2.0 and "2"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f'a factor was expected: a number above 0 or "inf", got {value!r}')  # noqa: TRY004 - pydantic's
    number = scale.factor_of(str(value))
    return "inf" if number is None else f"{float(number):.12g}"


class WhatIf(Strict):
    """Changes in a second set of runs: ideal switches, virtual speedups, values of the machine."""

    ideal: tuple[Ideal, ...] = asked(
        default=(),
        label="Ideals",
        short="Ideal",
        choices={
            "contention": "Every transaction takes as long as if it were alone on the machine: nobody waits for a"
            " ring slot, link, directory, memory module or line. Latency remains.",
            "network": "In addition, a network access costs as much as a fetch from the node's own memory.",
            "cache": "Caches lose lines to other processors only: first references and coherence misses remain.",
            "sync": "Barriers, locks, forks, atomics, chunks and tasks take no time themselves. Time spent waiting for"
            " others still counts.",
            "balance": "Work between two barriers is evenly divided: nobody waits at a barrier or for tasks. Computed"
            " from the run, without another one.",
            "messages": "Messages of MPI programs take no time, and sending and receiving costs nothing. Time spent"
            " waiting for a late partner still counts.",
        },
        help="What to make ideal: contention, network, cache, sync, balance, messages",
        option=option(
            "--what-if",
            metavar="LIST",
            help="Run again with ideals: contention, network, cache, sync, balance, messages, or all; "
            "names joined by + count together",
            repeat=True,
        ),
    )
    speedup: dict[str, str] = asked(
        default_factory=dict,
        max_length=64,
        label="Virtual speedups",
        short="Faster code",
        hint="line:solve.c:88, region:NAME, lock:NAME ..",
        help="How many times faster to make code, target = factor: line:FILE:LINE, region:NAME, within:NAME (with all"
        " that it calls), lock:NAME (its operations), held:NAME (code while it is held), data:NAME (misses of a"
        " variable); append /compute or /memory for one part of code",
        option=option(
            "--speedup",
            metavar="TARGET=FACTOR",
            help="Run again with a virtual speedup, as in line:solve.c:88=2 or lock:m=inf",
            repeat=True,
        ),
    )
    schedule: str = asked(
        default="",
        max_length=2000,
        label="Loop schedule",
        short="Schedule",
        help="Worksharing loops under another schedule, as in EA,alpha=32",
    )
    machine: dict[str, str] = asked(
        default_factory=dict,
        label="Machine values",
        short="Machine",
        help="Values of the machine, over those of [machine]",
    )
    processors: tuple[Processors, ...] = asked(
        default=(),
        max_length=1024,
        label="Processors of the what-if runs",
        short="Runs on",
        unit="processors",
        help="Processor counts of the what-if runs; those of the request if empty",
    )

    @field_validator("speedup", mode="before")
    @classmethod
    def _factors(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for target in value:
            scale.parse(str(target))
        return {str(target): _factor(factor) for target, factor in value.items()}

    @field_validator("schedule")
    @classmethod
    def _schedules(cls, value: str) -> str:
        loops.parse(value)
        return value

    @field_validator("machine", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return texts(value)

    @field_validator("processors")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(value)))

    @model_validator(mode="after")
    def _something(self) -> WhatIf:
        if not self.variant:
            raise ValueError("something different was expected: 'ideal', 'speedup', 'schedule' or 'machine'")
        return self

    @property
    def variant(self) -> Variant:
        """The variant coordinate of its runs."""
        return Variant(ideal=self.ideal, speedup=self.speedup, machine=self.machine, schedule=self.schedule)


class Speedups(Strict):
    """Virtual speedups of the most expensive code, found in the actual runs: a curve for each."""

    lines: int = asked(
        default=0,
        ge=0,
        le=50,
        label="Lines",
        short="hottest lines",
        unit="lines",
        help="How many of the most expensive lines get virtual speedups",
    )
    regions: int = asked(
        default=0,
        ge=0,
        le=50,
        label="Regions",
        unit="regions",
        help="How many of the most expensive regions get virtual speedups",
    )
    factors: tuple[str, ...] = asked(
        default=("1.5", "2", "4", "inf"),
        min_length=1,
        max_length=32,
        label="Factors",
        help="How many times faster each of them is made in turn; inf takes no time",
    )
    processors: tuple[Processors, ...] = asked(
        default=(),
        max_length=1024,
        label="Processors of the speedups",
        unit="processors",
        help="Processor counts of the virtual speedups; the largest of the request if empty",
    )

    @field_validator("factors", mode="before")
    @classmethod
    def _factors(cls, value: Any) -> Any:
        return tuple(_factor(item) for item in value) if isinstance(value, list | tuple) else value


class Schedules(Strict):
    """Schedules of worksharing loops to compare: all loops under each, then each loop under its best."""

    compare: tuple[str, ...] = asked(
        default=(),
        max_length=200,
        label="Compare schedules",
        short="Schedules",
        hint="all, or as in static; EA,alpha=32; guided",
        help="Run again with all worksharing loops under each of these schedules; all: every schedule",
    )
    advise: bool = asked(
        default=True,
        label="Run the best of each loop",
        help="Run once more with the schedule that was best for each loop",
    )

    @field_validator("compare", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        """Accept one text, as typed: separated by semicolons, or by commas if no schedule has parameters."""
        if not isinstance(value, str):
            return value
        separator = ";" if ";" in value or "=" in value else ","
        return tuple(part.strip() for part in value.split(separator) if part.strip())

    @field_validator("compare")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name != ALL and [choice.loop in ("", loops.RUNTIME) for choice in loops.parse(name)] != [True]:
                raise ValueError(f"'{name}': one schedule for all loops was expected")
        return tuple(dict.fromkeys(value))

    @property
    def names(self) -> tuple[str, ...]:
        """The schedules to compare, `ALL` expanded to their names."""
        named = (schedules.names() if name == ALL else (name,) for name in self.compare)
        return tuple(dict.fromkeys(name for part in named for name in part))


TraceKind: TypeAlias = Literal["regions", "waits", "locks", "tasks", "chunks", "shares", "counters", "messages"]
TRACE_KINDS: dict[TraceKind, str] = {
    "regions": "entering and leaving functions, loops and constructs",
    "waits": "waiter and holder, where, and how long",
    "locks": "acquiring and releasing locks",
    "tasks": "creating, switching to and ending tasks",
    "chunks": "the iterations that a processor obtained of a loop, each time",
    "shares": "the accounts (computing, stalls, idle, overhead) interval by interval",
    "counters": "operations, references and misses interval by interval",
    "messages": "messages between ranks, with sender, receiver, bytes and tag",
}
USUAL_TRACE: tuple[TraceKind, ...] = tuple(kind for kind in TRACE_KINDS if kind != "chunks")
_TRACE_LEAST = 2**16


class TraceChoice(Strict):
    """What the traced runs record, when and where, and the size limit."""

    what: tuple[TraceKind, ...] = asked(
        default=USUAL_TRACE,
        max_length=32,
        label="Contents",
        choices=TRACE_KINDS,
        help="What a trace contains",
        option=option(
            "--trace",
            metavar="[=LIST]",
            help=f"Write a trace of each run: {', '.join(TRACE_KINDS)} or all (default: all but chunks)",
        ),
    )
    processors: tuple[Processors, ...] = asked(
        default=(),
        max_length=1024,
        label="Processors",
        unit="processors",
        hint="those of the request",
        help="Processor counts whose runs are traced; those of the request if empty",
    )
    sizes: Literal["all", "base"] = asked(
        default="all",
        label="Sizes",
        choices={"all": "all that are run", "base": "that of the parameters"},
        help="Which problem sizes are traced, where several are run",
    )
    runs: Literal["actual", "all"] = asked(
        default="actual",
        label="Runs",
        choices={"actual": "actual ones", "all": "what-if runs and repetitions too"},
        help="Which runs are traced: actual, once each, or all: what-if runs and repetitions too",
        option=option("--trace-runs", metavar="WHICH"),
    )
    begin: str = asked(
        default="",
        max_length=40,
        label="From",
        hint="beginning",
        help=f"When the trace begins, {_TIME}",
        option=option("--trace-from", metavar="T"),
    )
    end: str = asked(
        default="",
        max_length=40,
        label="To",
        short="to",
        hint="end of the run",
        help=f"When the trace ends, {_TIME}",
        option=option("--trace-to", metavar="T"),
    )
    region: str = asked(
        default="",
        max_length=400,
        label="Inside",
        hint="everywhere",
        help="Trace only what happens inside this region: its name, FILE:LINE or #ID",
        option=option("--trace-region", metavar="NAME"),
    )
    interval: str = asked(
        default="",
        max_length=40,
        label="Sampling",
        hint="chosen",
        help=f"Length over which shares and counters are summed, {_TIME}",
        option=option("--trace-interval", metavar="T"),
    )
    limit: int = asked(
        default=2**30,
        ge=_TRACE_LEAST,
        le=2**44,
        label="Size limit",
        unit="B",
        help="Largest size of the events in one trace; the trace ends there",
        option=option("--trace-limit", metavar="SIZE"),
    )

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
        """Accept a number of seconds; refuse anything that is not a time."""
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
