"""The format of benchmarks/reality/*.toml: measured tables of real machines, each with its source.

A file has one `kind`: ``bandwidth``, ``latency``, ``core_to_core``, ``barrier``, ``messages``, or ``program``, the
published scaling of a third-party program. Files contain facts only: a program's repository and commit, never its
source code.
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
    """The keys of all tables: the simulated machine, its changed settings, and who measured what."""

    title: str = Field(min_length=1, max_length=120)
    machine: str = Field(min_length=1)
    settings: dict[str, str] = Field(default_factory=dict)  # as for --set
    source: str = Field(min_length=1)
    doubts: str = ""

    def described(self) -> Machine:
        """Return the machine with the table's settings."""
        return machines.load(self.machine, self.settings)


class Curve(_Part):
    """GB/s of *kernel* with the data in *level*, on 1, 2, .. cores or on the numbers of cores in *cores*."""

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
    """Bandwidth by level, kernel and number of cores, one thread per core, filling the cores from the first."""

    kind: Literal["bandwidth"]
    measured: tuple[Curve, ...] = Field(min_length=1, strict=False)


class Chased(_Part):
    """Latency *ns* of dependent loads from *kib* of data (0: a size that fits the level).

    The order is random within windows of *window_kib*, or within all data (0), where address translation counts, too.
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
    """Quantiles of the one-way latencies between pairs, in ns."""

    tenth: Positive
    median: Positive
    ninetieth: Positive


class CoreToCore(Table):
    """One-way latency of a cache line that two threads write in turn, over all pairs of *cores* cores."""

    kind: Literal["core_to_core"]
    cores: Count
    measured: Spread


class Barriers(Table):
    """Time of an OpenMP barrier by the number of threads."""

    kind: Literal["barrier"]
    cores: tuple[Count, ...] = Field(min_length=1, strict=False)
    us: tuple[Positive, ...] = Field(min_length=1, strict=False)


class Calls(_Part):
    """Times of an MPI operation in microseconds (for bandwidth: MB/s), by *ranks* and *bytes*.

    A single value of *ranks* or *bytes* holds for all times. latency and bandwidth are between the first and last rank.
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
                raise ValueError(f"expected one or {len(self.us)} values of {name}, as many as of us; got {len(found)}")
        return self

    def points(self) -> list[tuple[int, int, float]]:
        """Return (ranks, bytes, value) of each time."""
        count = len(self.us)
        ranks = self.ranks * count if len(self.ranks) == 1 else self.ranks
        sizes = self.bytes * count if len(self.bytes) == 1 else self.bytes
        return list(zip(ranks, sizes, self.us, strict=True))


class Messages(Table):
    """MPI operations, as timed by the OSU micro-benchmarks; one rank per core, filling the cores from the first."""

    kind: Literal["messages"]
    measured: tuple[Calls, ...] = Field(min_length=1, strict=False)


class Source(_Part):
    """A program: where its source is, and how to build it. Paths are relative to its repository."""

    repository: str = Field(min_length=1)  # as for `git fetch`
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    sources: tuple[str, ...] = Field(min_length=1, strict=False)
    include: tuple[str, ...] = Field(default=(), strict=False)
    cflags: str = ""
    ldflags: str = ""


class Picture(_Part):
    """An input picture (binary PGM) of *side* x *side* cells, each randomly 0 or *most*."""

    path: str = Field(min_length=1)
    side: int = Field(ge=1, le=30_000)
    most: int = Field(ge=1, le=255)


class Run(_Part):
    """How to run the program: ``{N}`` in an argument stands for the number of processors.

    - *threads_per_process*: splits the processors into MPI processes with this many threads.
    - *processes*: with it, N is the number of threads in each of this many processes.
    - *ranks_per_node*: as for `simulate`.
    - *arguments_at*: different arguments for some N.
    - *time_from*: a regular expression whose group is the time, in units of *time_unit_s* seconds; its last match in
      the output, or in the file *time_in* that the program writes, counts. By default, the time is that of the whole
      run.
    - *before*: commands, as lists of words, that run in the program's directory before the first run to make input
      files; *pictures* are input files, too.
    - *scale*: the factor by which the time is multiplied if a smaller problem stands for the measured one (*doubts*
      says why that is valid); automatic NUMA balancing is sped up by the same factor (`reality_runs.hastened`).
    - *at*: the N to compare; with --all-cores, all are compared.
    """

    arguments: tuple[str, ...] = Field(default=(), strict=False)
    arguments_at: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    stdin: str = ""
    before: tuple[Annotated[tuple[str, ...], Field(min_length=1, strict=False)], ...] = Field(default=(), strict=False)
    pictures: tuple[Picture, ...] = Field(default=(), strict=False)
    threads_per_process: int = Field(default=1, ge=0)  # 0: all threads in one process
    processes: int = Field(default=0, ge=0)  # 0: follows from threads_per_process
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
            raise ValueError("expected processors in increasing order")
        return self


class Program(Table):
    """The published scaling of a third-party program, which is fetched for the comparison.

    *unfit*: why the program cannot be simulated here, such as many gigabytes of data; the table is printed anyway.
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
            raise ValueError(f"expected measured numbers of processors, got {unknown[0]}")
        return self


AnyTable = Bandwidth | Latency | CoreToCore | Barriers | Messages | Program


class _File(RootModel[Annotated[AnyTable, Field(discriminator="kind")]]):
    pass


def read(path: Path) -> AnyTable:
    """Return the table in the file *path*; raise `InputError` with all its faults."""
    return toml.load_model(_File, toml.read_text(path), str(path)).root


def chosen(names: Iterable[str], kinds: Iterable[str] = (), levels: Iterable[str] = ()) -> dict[str, AnyTable]:
    """Return the tables *names* (names in benchmarks/reality, or paths; all if empty), by name.

    *kinds* selects kinds of tables; *levels* selects rows of bandwidth and latency tables.
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
    """Return *table* with only the rows measured in *levels*; None if there are none."""
    if not levels or not isinstance(table, Bandwidth | Latency):
        return table
    kept = tuple(row for row in table.measured if row.level in levels)
    return table.model_copy(update={"measured": kept}) if kept else None
