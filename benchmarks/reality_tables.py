"""What benchmarks/reality/*.toml says: measured tables of real machines, each with its source.

A file has one `kind`: ``bandwidth``, ``latency``, ``core_to_core``, ``barrier``, or ``program``, the measured scaling
of somebody's program. Facts only: of a program its repository and commit, never its text.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from scalegraph import machine as machines
from scalegraph.base import toml
from scalegraph.machine import Machine

TABLES: Final = Path(__file__).with_name("reality")
Level = Literal["L1", "L2", "L3", "memory"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1, le=16_384)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Table(_Part):
    """What all tables say: which machine stands for the real one, with what changed, and who measured what."""

    title: str = Field(min_length=1, max_length=120)
    machine: str = Field(min_length=1)
    settings: dict[str, str] = Field(default_factory=dict)  # as --set
    source: str = Field(min_length=1)
    doubts: str = ""

    def described(self) -> Machine:
        """Return the machine, as this table has it."""
        return machines.load(self.machine, self.settings)


class Curve(_Part):
    """GB/s of *kernel* with the data in *level*, on 1, 2, .. cores, or on those of *cores*."""

    level: Level
    kernel: Literal["load", "copy", "update", "daxpy", "triad"]
    gb_s: tuple[Positive, ...] = Field(min_length=1, strict=False)
    cores: tuple[Count, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if self.cores and len(self.cores) != len(self.gb_s):
            raise ValueError(f"expected as many cores as values of gb_s ({len(self.gb_s)}), got {len(self.cores)}")
        return self

    def points(self) -> dict[int, float]:
        """Return GB/s by the number of cores."""
        return dict(zip(self.cores or range(1, len(self.gb_s) + 1), self.gb_s, strict=True))


class Bandwidth(Table):
    """Bandwidth by level, kernel and cores of one socket, one thread a core, first cores first."""

    kind: Literal["bandwidth"]
    measured: tuple[Curve, ...] = Field(min_length=1, strict=False)


class Chased(_Part):
    """Latency of loads that depend on each other, *ns*, from data of *kib* (0: as fits the level).

    *window_kib*: the order is random within so much, 0: within all, so that translation of addresses counts.
    """

    level: Level
    ns: Positive
    kib: int = Field(default=0, ge=0, le=2**21)
    window_kib: int = Field(default=64, ge=0)


class Latency(Table):
    """Latency of each level on one core."""

    kind: Literal["latency"]
    measured: tuple[Chased, ...] = Field(min_length=1, strict=False)


class Spread(_Part):
    """Quantiles of the latencies of pairs, ns one way."""

    tenth: Positive
    median: Positive
    ninetieth: Positive


class CoreToCore(Table):
    """A line that two threads change in turn, over all pairs of so many *cores*."""

    kind: Literal["core_to_core"]
    cores: Count
    measured: Spread


class Barriers(Table):
    """Time of a barrier of OpenMP by the number of threads."""

    kind: Literal["barrier"]
    cores: tuple[Count, ...] = Field(min_length=1, strict=False)
    us: tuple[Positive, ...] = Field(min_length=1, strict=False)


class Calls(_Part):
    """Times of an operation of MPI, microseconds (MB/s of a bandwidth), by *ranks* and *bytes*.

    One of either stands for all. latency and bandwidth are those between the first rank and the last one.
    """

    operation: Literal["latency", "bandwidth", "bcast", "allreduce", "barrier"]
    ranks: tuple[Count, ...] = Field(min_length=1, strict=False)
    bytes: tuple[Annotated[int, Field(ge=0, le=2**26)], ...] = Field(default=(0,), min_length=1, strict=False)
    us: tuple[Positive, ...] = Field(min_length=1, strict=False)
    ranks_per_node: int = Field(default=0, ge=0)  # 0: as many as fit

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        for name, found in (("ranks", self.ranks), ("bytes", self.bytes)):
            if len(found) not in (1, len(self.us)):
                raise ValueError(f"expected one or {len(self.us)} {name}, as there are values of us; got {len(found)}")
        return self

    def points(self) -> list[tuple[int, int, float]]:
        """Return ranks, bytes and the value of each."""
        count = len(self.us)
        ranks = self.ranks * count if len(self.ranks) == 1 else self.ranks
        sizes = self.bytes * count if len(self.bytes) == 1 else self.bytes
        return list(zip(ranks, sizes, self.us, strict=True))


class Messages(Table):
    """Operations of MPI, as the OSU micro-benchmarks time them, a rank on each core, first cores first."""

    kind: Literal["messages"]
    measured: tuple[Calls, ...] = Field(min_length=1, strict=False)


class Source(_Part):
    """A program: where its text is, and how it is built. Paths are those of its repository."""

    repository: str = Field(min_length=1)  # what `git fetch` takes
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    sources: tuple[str, ...] = Field(min_length=1, strict=False)
    include: tuple[str, ...] = Field(default=(), strict=False)
    cflags: str = ""
    ldflags: str = ""


class Picture(_Part):
    """A square picture (PGM, binary) of *side* x *side* cells that a program reads, each 0 or *most* by chance."""

    path: str = Field(min_length=1)
    side: int = Field(ge=1, le=30_000)
    most: int = Field(ge=1, le=255)


class Run(_Part):
    """How it runs: ``{N}`` in an argument stands for the processors, *threads_per_process* makes them MPI processes.

    *processes*: N counts the threads of each of this many processes. *ranks_per_node*: as `simulate` has
    it. *arguments_at*: other arguments at that N. *time_from*: a regular expression whose group is the time in the
    program's output, or in the file *time_in* that it writes (its last match), in seconds times *time_unit_s*; without
    it the time is that of the whole run. *before*: commands, word by word, in the program's directory before the first
    run, for files that it reads, and *pictures*. *scale*: factor of the time, where a smaller problem stands
    for the measured one (*doubts* says why that is right); automatic NUMA balancing is sped up by the same factor
    (`reality_runs.hastened`). *at*: the N that are compared; with --all-cores, all are.
    """

    arguments: tuple[str, ...] = Field(default=(), strict=False)
    arguments_at: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    stdin: str = ""
    before: tuple[Annotated[tuple[str, ...], Field(min_length=1, strict=False)], ...] = Field(default=(), strict=False)
    pictures: tuple[Picture, ...] = Field(default=(), strict=False)
    threads_per_process: int = Field(default=1, ge=0)  # 0: all threads are of one process
    processes: int = Field(default=0, ge=0)  # 0: as threads_per_process says
    ranks_per_node: int = Field(default=0, ge=0)  # 0: as many as fit
    at: tuple[Count, ...] = Field(default=(), strict=False)
    time_from: str = ""
    time_in: str = ""
    time_unit_s: Positive = 1.0
    scale: Positive = 1.0
    limit_s: Positive = 600.0


class Times(_Part):
    """Seconds by the number of processors."""

    processors: tuple[Count, ...] = Field(min_length=1, strict=False)
    time_s: tuple[Positive, ...] = Field(min_length=1, strict=False)

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if len(self.processors) != len(self.time_s):
            raise ValueError(f"expected a time for each of {len(self.processors)} processors, got {len(self.time_s)}")
        if list(self.processors) != sorted(set(self.processors)):
            raise ValueError("expected processors that rise")
        return self


class Program(Table):
    """The scaling of a program, measured by somebody; whoever compares fetches the program.

    *unfit*: why it cannot be compared here, such as data of many gigabytes; its table is printed all the same.
    """

    kind: Literal["program"]
    program: Source
    run: Run = Field(default_factory=Run)
    measured: Times
    unfit: str = ""

    @model_validator(mode="after")
    def _measured_there(self) -> Self:
        unknown = sorted({*self.run.at, *map(int, self.run.arguments_at)} - set(self.measured.processors))
        if unknown:
            raise ValueError(f"expected numbers of processors that were measured, got {unknown[0]}")
        return self


AnyTable = Bandwidth | Latency | CoreToCore | Barriers | Messages | Program


class _File(RootModel[Annotated[AnyTable, Field(discriminator="kind")]]):
    pass


def read(path: Path) -> AnyTable:
    """Return the table of the file at *path*; raise `InputError` with every fault of it."""
    return toml.load_model(_File, toml.read_text(path), str(path)).root


def chosen(names: Iterable[str], kinds: Iterable[str] = (), levels: Iterable[str] = ()) -> dict[str, AnyTable]:
    """Return tables by name: those of *names* (of benchmarks/reality, or paths), all without one.

    Of *kinds* only, and of bandwidths and latencies what is measured in *levels*, if there are any.
    """
    shipped = {path.stem: path for path in sorted(TABLES.glob("*.toml"))}
    paths = {name: shipped.get(name, Path(name)) for name in names} or shipped
    found = {Path(name).stem: read(path) for name, path in paths.items()}
    wanted, inside = set(kinds), set(levels)
    return {
        name: cut
        for name, table in found.items()
        if (not wanted or table.kind in wanted) and (cut := _in_levels(table, inside)) is not None
    }


def _in_levels(table: AnyTable, levels: set[str]) -> AnyTable | None:
    """Return *table* with what is measured in *levels*; None if that is nothing."""
    if not levels or not isinstance(table, Bandwidth | Latency):
        return table
    kept = tuple(row for row in table.measured if row.level in levels)
    return table.model_copy(update={"measured": kept}) if kept else None
