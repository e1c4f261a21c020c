"""Simulated counterparts of measured tables: our kernels and third-party programs on the machines of the tables."""

from __future__ import annotations

import itertools
import random
import re
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import reality_tables as tables

from scalegraph import control
from scalegraph.base.errors import RunError, WorkError
from scalegraph.base.run import RunPoint
from scalegraph.link import Job, Limits, RunOptions, Simulated
from scalegraph.link.build import Build
from scalegraph.machine import Machine

KERNELS: Final = tables.TABLES / "kernels"
# vectors of 32 bytes on every host; the last option keeps copy loops from becoming calls of memcpy
_FLAGS: Final = ("-O3", "-mavx2", "-mfma", "-fopenmp", "-fno-tree-loop-distribute-patterns")
_LIMIT_S: Final = 1800.0
_PAIRS: Final = 2016  # maximum number of core pairs: all pairs of 64 cores; of more cores, a random sample
_ROUNDS: Final = 20  # round trips of a pair
_CALLS: Final = 10  # calls of an MPI operation


@dataclass(frozen=True)
class Point:
    """One value of a table in *unit*; *series* and *at* (an N, a size or a quantile) identify it."""

    series: str
    at: str
    measured: float
    simulated: float
    unit: str

    @property
    def error(self) -> float:
        """Relative error: simulated / measured - 1."""
        return self.simulated / self.measured - 1


Report = Callable[[str], None]
Few = Callable[[list[int]], list[int]]


def few(counts: list[int]) -> list[int]:
    """Return the first, middle and last of *counts*: one core, half of them, and all."""
    return sorted({counts[0], counts[(len(counts) - 1) // 2], counts[-1]})


@cache
def _kernel(name: str) -> Build:
    return control.build([KERNELS / f"{name}.c"], cflags=_FLAGS)


def run(machine: Machine, processors: int, name: str, *arguments: object, ranks_per_node: int = 0) -> list[list[str]]:
    """Simulate the kernel *name* on *machine*; return the rows that it prints, split at semicolons."""
    job = Job(
        _kernel(name),
        machine,
        RunPoint(processors=processors),
        tuple(map(str, arguments)),
        limits=Limits(time_s=_LIMIT_S),
        options=RunOptions(ranks_per_node=ranks_per_node),
    )
    return [line.split(";") for line in _output(job).splitlines() if ";" in line]


def _output(job: Job) -> str:
    record = Simulated().run(job)
    if record.status != "ok":
        raise RunError(f"{job.name} on {job.machine.name}, N = {job.point.processors}: {record.message}")
    return record.stdout


# ---- sizes ----


def level_kib(machine: Machine, level: str, cores: int, *, streams: bool = False) -> int:
    """Return the KiB of data per core that fit *level* on the first *cores* cores; for memory, that fit no cache."""
    private = [cache.size_kib for cache in machine.cache if cache.shared_by == 1]
    shared = [cache for cache in machine.cache if cache.shared_by > 1]
    number = {"L1": 0, "L2": 1, "L3": 2}.get(level)
    if number is not None and number < len(private):
        before = private[number - 1] if number else 0
        return max((before + private[number]) // 2, before * 5 // 4) if before else private[0] // 2
    if not shared:
        return 4 * private[-1]
    last = shared[-1]
    of_one = last.size_kib // min(cores, last.shared_by)  # the cores fill one instance after the other
    if level == "memory":
        return max(3 * of_one if streams else 4 * of_one, 8 * private[-1])
    return private[-1] + (of_one - private[-1]) // 2 if of_one > 2 * private[-1] else private[-1] + of_one // 2


# ---- the kinds of tables ----


def bandwidth(table: tables.Bandwidth, counts: Few, report: Report) -> Iterator[Point]:
    """Yield measured and simulated GB/s."""
    machine = table.described()
    by_level: dict[str, list[tables.Curve]] = {}
    for curve in table.measured:
        by_level.setdefault(curve.level, []).append(curve)
    for level, curves in by_level.items():
        for cores in counts(sorted(set().union(*(curve.points() for curve in curves)))):
            here = [curve for curve in curves if cores in curve.points()]
            kib = level_kib(machine, level, cores, streams=True)
            rounds = 1 if level == "memory" else max(2, 2048 // kib)
            report(f"{table.machine}: {level}, {cores} cores, {kib} KiB each")
            rows = run(machine, cores, "stream", kib, rounds, *(curve.kernel for curve in here))
            found = {kernel: float(gb_s) for kernel, gb_s in rows}
            for curve in here:
                series = f"{level} {curve.kernel}"
                yield Point(series, str(cores), curve.points()[cores], found[curve.kernel], "GB/s")


def latency(table: tables.Latency, _counts: Few, report: Report) -> Iterator[Point]:
    """Yield measured and simulated latencies."""
    machine = table.described()
    for row in table.measured:
        kib = row.kib or level_kib(machine, row.level, 1)
        report(f"{table.machine}: latency of {row.level}, {kib} KiB")
        ((_, ns),) = run(machine, 1, "chase", machine.coherence.line_bytes, row.window_kib, kib)
        yield Point(row.level, f"{kib} KiB", row.ns, float(ns), "ns")


def core_to_core(table: tables.CoreToCore, _counts: Few, report: Report) -> Iterator[Point]:
    """Yield measured and simulated quantiles of the core-to-core latencies."""
    report(f"{table.machine}: cache line transfers between at most {_PAIRS} pairs of {table.cores} cores")
    values = sorted(pairs(table.described(), table.cores).values())
    cuts = statistics.quantiles(values, n=10, method="inclusive")
    simulated = {"tenth": cuts[0], "median": statistics.median(values), "ninetieth": cuts[-1]}
    for name, ns in simulated.items():
        yield Point("one way", name, getattr(table.measured, name), ns, "ns")


def pairs(machine: Machine, cores: int, most: int = _PAIRS) -> dict[tuple[int, int], float]:
    """Return the one-way time of a cache line in ns, by pair of the first *cores* processors; at most *most* pairs."""
    known = list(itertools.combinations(range(cores), 2))
    drawn = known if len(known) <= most else random.Random(1).sample(known, most)
    rows = run(machine, cores, "pingpong", _ROUNDS, *itertools.chain.from_iterable(drawn))
    return {(int(first), int(second)): float(ns) for first, second, ns in rows}


def barrier(table: tables.Barriers, counts: Few, report: Report) -> Iterator[Point]:
    """Yield measured and simulated times of a barrier."""
    measured = dict(zip(table.cores, table.us, strict=True))
    for cores in counts(list(table.cores)):
        report(f"{table.machine}: barrier of {cores} threads")
        ((_, us),) = run(table.described(), cores, "barrier", 50)
        yield Point("barrier", str(cores), measured[cores], float(us), "us")


def messages(table: tables.Messages, _counts: Few, report: Report) -> Iterator[Point]:
    """Yield measured and simulated times of MPI operations."""
    machine = table.described()
    for calls in table.measured:
        by_ranks: dict[int, dict[int, float]] = {}
        for ranks, size, value in calls.points():
            by_ranks.setdefault(ranks, {})[size] = value
        for ranks, sizes in by_ranks.items():
            report(f"{table.machine}: {calls.operation}, {ranks} ranks")
            each = calls.ranks_per_node
            rows = run(machine, ranks, "messages", calls.operation, _CALLS, *sizes, ranks_per_node=each)
            for size, value in rows:
                at = f"{ranks} ranks" + (f", {size} bytes" if calls.operation != "barrier" else "")
                unit = "MB/s" if calls.operation == "bandwidth" else "us"
                yield Point(calls.operation, at, sizes[int(size)], float(value), unit)


# ---- third-party programs ----


def fetched(program: tables.Source, directory: Path) -> Path:
    """Return the checkout of *program* below *directory*; fetch it with git if it is missing."""
    place = directory / f"{Path(program.repository).stem}-{program.commit[:12]}"
    if not (place / ".git").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        _git(place, "init", "-q")
    if not all(any(place.glob(name)) for name in program.sources):
        _git(place, "fetch", "-q", "--depth", "1", program.repository, program.commit)
        _git(place, "checkout", "-q", "--force", program.commit)
    return place


def _git(place: Path, *words: str) -> None:
    _done(("git", *words), place)


def _done(command: Sequence[str], place: Path) -> None:
    try:
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    except OSError as error:
        raise WorkError(f"cannot start {command[0]} in {place}: {error.strerror}") from error
    if done.returncode != 0:
        raise WorkError(f"'{' '.join(command)}' failed in {place}: {done.stderr.strip()}")


def program(table: tables.Program, counts: Few, report: Report, directory: Path) -> Iterator[Point]:
    """Yield measured and simulated times, and the speedups over the smallest N."""
    if table.unfit:
        raise WorkError(table.unfit)
    place, machine = fetched(table.program, directory), hastened(table.described(), table.run.scale)
    sources = sorted({path for name in table.program.sources for path in place.glob(name)})
    if not sources:
        raise WorkError(f"{place}: no file matches {' or '.join(table.program.sources)}")
    for command in table.run.before:
        _done(command, place)
    for picture in table.run.pictures:
        _draw(place / picture.path, picture)
    include = [place / name for name in table.program.include]
    build = control.build(sources, cflags=table.program.cflags, ldflags=table.program.ldflags, include=include)
    measured = dict(zip(table.measured.processors, table.measured.time_s, strict=True))
    times: dict[int, float] = {}
    for count in compared_at(table, counts):
        report(f"{table.title}: N = {count}")
        times[count] = _time(table.run, _job(table.run, build, machine, count, place))
        yield Point("time", str(count), measured[count], times[count], "s")
    first = min(times)
    for count, time_s in times.items():
        if count > first:
            yield Point("speedup", str(count), measured[first] / measured[count], times[first] / time_s, "")


def hastened(machine: Machine, scale: float) -> Machine:
    """Return *machine* with automatic NUMA balancing *scale* times as fast, for a run that does 1/*scale* of the work.

    The operating system marks and moves pages at a rate per second. With a clock *scale* times as fast, and each action
    *scale* times cheaper, it moves as many pages in the short run as in the full one, for the same share of the time.
    The part before the first parallel region is not shortened, so there the clock keeps its normal pace.
    """
    pace = max(1, round(scale))
    return machine.model_copy(update={"balancing": machine.balancing.model_copy(update={"pace": pace})})


def _draw(path: Path, picture: tables.Picture) -> None:
    """Write *picture* with random cells, always the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    either = bytes(picture.most * (value % 2) for value in range(256))
    cells = random.Random(1).randbytes(picture.side**2).translate(either)
    path.write_bytes(f"P5\n{picture.side} {picture.side}\n{picture.most}\n".encode() + cells)


def compared_at(table: tables.Program, counts: Few) -> list[int]:
    """Return the N of *table* to compare: all, or the few that the table names or *counts* selects."""
    there = list(table.measured.processors)
    return there if counts(there) == there else list(table.run.at) or counts(there)


def _job(how: tables.Run, build: Build, machine: Machine, count: int, place: Path) -> Job:
    processors = count * max(how.processes, 1)
    return Job(
        build,
        machine,
        RunPoint(processors=processors),
        tuple(word.replace("{N}", str(count)) for word in how.arguments_at.get(str(count), how.arguments)),
        env={"OMP_NUM_THREADS": str(count)} | dict(how.environment),
        stdin=(place / how.stdin).read_bytes() if how.stdin else None,
        cwd=place,
        options=RunOptions(
            threads_per_process=count if how.processes else how.threads_per_process or count,
            ranks_per_node=how.ranks_per_node,
        ),
        limits=Limits(time_s=how.limit_s),
    )


def _time(how: tables.Run, job: Job) -> float:
    written = Path(job.cwd or ".", how.time_in) if how.time_in else None
    if written is not None:
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_bytes(b"")
    record = Simulated().run(job)
    if record.status != "ok":
        raise RunError(f"{job.name} on {job.machine.name}, N = {job.point.processors}: {record.message}")
    if not how.time_from:
        return record.time_s * how.scale
    text = record.stdout if written is None else written.read_text(encoding="utf-8", errors="replace")
    found = re.findall(how.time_from, text, re.MULTILINE)
    if not found:
        raise RunError(f"{job.name}: nothing in the output matches time_from = {how.time_from!r}")
    return float(found[-1]) * how.time_unit_s * how.scale


def compared(table: tables.AnyTable, counts: Few, report: Report, directory: Path | None) -> Iterator[Point]:
    """Yield the points of *table*; a program's source is fetched into *directory*."""
    if isinstance(table, tables.Program):
        if directory is None:
            raise WorkError(f"{table.title}: third-party program; name a directory for it with --programs DIRECTORY")
        yield from program(table, counts, report, directory)
    elif isinstance(table, tables.Bandwidth):
        yield from bandwidth(table, counts, report)
    elif isinstance(table, tables.Latency):
        yield from latency(table, counts, report)
    elif isinstance(table, tables.CoreToCore):
        yield from core_to_core(table, counts, report)
    elif isinstance(table, tables.Messages):
        yield from messages(table, counts, report)
    else:
        yield from barrier(table, counts, report)


def summary(points: Iterable[Point]) -> Mapping[str, float]:
    """Return the mean and the largest absolute error, and the shares within 10, 15 and 20 %."""
    sizes = [abs(point.error) for point in points]
    within = {f"within {p} %": sum(size <= p / 100 for size in sizes) / len(sizes) for p in (10, 15, 20)}
    return {"mean": statistics.mean(sizes), "worst": max(sizes), **within}
