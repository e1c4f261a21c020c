"""Builds and runs the micro-benchmark in ``csrc`` and reads its measurements."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, WorkError
from scalegraph.control.calibration.host import Host
from scalegraph.control.calibration.many import cores, pairs, team_sizes
from scalegraph.runtime.compiler import Compiler

SOURCES: Final = Path(__file__).parent / "csrc"
_FLAGS: Final = ("-std=gnu11", "-O2", "-fno-math-errno", "-fopenmp", "-D_GNU_SOURCE", "-Wall", "-Wextra")
_POLL_S = 0.1
_LARGEST = 512 * 2**20
_DEFAULT_SIZES: Final = (16 * 2**10, 256 * 2**10, 8 * 2**20)  # used if the system does not describe its caches

Progress = Callable[[str, int], None]
"""Called after each measurement with its name and how many are done."""


@dataclass(frozen=True)
class Sample:
    """A measurement: median and quartiles, in *unit* (ns or GB/s).

    *cycle_ns*: the time of a dependent addition measured alongside, if the value scales with it; otherwise 0.
    """

    unit: str
    median: float
    low: float
    high: float
    count: int
    cycle_ns: float = 0.0

    @property
    def spread(self) -> float:
        """Interquartile range over the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    def is_better(self, other: Sample) -> bool:
        """Return whether this sample was less disturbed than *other*: fewer cycles, less time, or more bandwidth."""
        if self.cycle_ns and other.cycle_ns:
            return self.median / self.cycle_ns < other.median / other.cycle_ns
        return self.median > other.median if self.unit == "GB/s" else self.median < other.median

    def at_clock(self, cycle_ns: float) -> Sample:
        """Return this sample converted to a cycle time of *cycle_ns*, if it scales with the processor's clock."""
        if not self.cycle_ns:
            return self
        scale = cycle_ns / self.cycle_ns
        return replace(
            self, median=scale * self.median, low=scale * self.low, high=scale * self.high, cycle_ns=cycle_ns
        )


@dataclass(frozen=True)
class Effort:
    """How much to measure: *samples* of each quantity, each about *microseconds* long, in *rounds* rounds.

    *quick* is only a trial.
    """

    samples: int = 21
    microseconds: float = 200.0
    rounds: int = 3
    quick: bool = False


QUICK: Final = Effort(samples=5, microseconds=1.0, rounds=1, quick=True)


def working_sets(host: Host, effort: Effort) -> list[int]:
    """Return the working set sizes (bytes) for latencies: some in every cache level, then doubling into memory."""
    if effort.quick:
        return [16 * 2**10, 256 * 2**10]
    sizes: set[int] = set()
    before = 4096
    for level in host.caches:
        sizes |= {size for size in (level.size_bytes // 4, level.size_bytes // 2) if size > before}
        before = level.size_bytes
    if not sizes:
        sizes = set(_DEFAULT_SIZES)
    size = 2 * (host.caches[-2].size_bytes if len(host.caches) > 1 else max(sizes))
    while size <= largest(host, effort):
        sizes.add(size)
        size *= 2
    return sorted(size for size in sizes if size <= largest(host, effort))


def largest(host: Host, effort: Effort) -> int:
    """Return the largest working set in bytes: a share of free memory."""
    return 2**20 if effort.quick else max(2**22, min(_LARGEST, host.available_bytes // 8))


def measure(
    compiler: Compiler,
    host: Host,
    effort: Effort,
    *,
    cancel: CancelToken,
    progress: Progress = lambda _name, _done: None,
) -> dict[str, Sample]:
    """Return everything measured by the micro-benchmark on *host*, by name.

    Each quantity comes from the round with the smallest median (or the largest bandwidth): other users of the core or
    the memory cause delays for seconds, and never make anything faster. The clock changes as well: values that scale
    with it are counted in cycles at the time, and reported in ns at the clock of the measurement ``clock``.

    Raises `BuildError` if it does not compile, `WorkError` if it fails, `Cancelled`.
    """
    first, *others = host.processors
    arguments = [
        f"samples={effort.samples}",
        f"us={effort.microseconds}",
        f"first={first}",
        f"second={others[0] if others else -1}",
        f"far={host.far}",
        f"beside={host.beside}",
        f"large={largest(host, effort)}",
        f"near={max((level.size_bytes for level in host.caches[:-1]), default=0)}",
        *(f"size={size}" for size in working_sets(host, effort)),
    ]
    with tempfile.TemporaryDirectory(prefix="scalegraph-calibrate-", ignore_cleanup_errors=True) as place:
        program = Path(place) / "calibrate"
        build(compiler, program, cancel)
        found: dict[str, Sample] = {}
        done = 0
        for _ in range(effort.rounds):
            for words in (arguments, *_of_many(host, effort)):
                for line in _lines([str(program), *words], cancel):
                    name, sample = read_line(line)
                    if name not in found or sample.is_better(found[name]):
                        found[name] = sample
                    done += 1
                    progress(name, done)
    clock = found["clock"].median
    return {name: sample.at_clock(clock) for name, sample in found.items()}


def _of_many(host: Host, effort: Effort) -> Iterator[list[str]]:
    """Yield the arguments of the runs that depend on the number of cores, or on their distance."""
    common = [f"samples={effort.samples}", f"us={effort.microseconds}", f"large={largest(host, effort)}"]
    team = cores(host)
    for size in [len(team)] if effort.quick else team_sizes(host):
        yield [*common, *(f"team={place.number}" for place in team[:size])]
    for first, second in pairs(host).values():
        yield [*common, "pair=1", f"first={first}", f"second={second}"]


def build(compiler: Compiler, program: Path, cancel: CancelToken) -> None:
    """Compile the micro-benchmark to *program*; raise `BuildError` if that fails."""
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    result = compiler.run([*_FLAGS, *sources, "-o", str(program), "-lm", "-lpthread"], cancel=cancel)
    if result.returncode != 0:
        raise BuildError(
            f"ScaleGraph's own micro-benchmark does not compile with {compiler.command[0]} {compiler.version}; "
            "it needs OpenMP (libgomp)",
            result.stderr,
        )


def pace(program: Path, processor: int, cancel: CancelToken) -> tuple[float, float]:
    """Return the current time of an addition on *processor* in ns: in a dependent chain, and among independent ones.

    *program* is the built micro-benchmark; it takes a millisecond. Raises `WorkError` if it fails, `Cancelled`.
    """
    found = dict(map(read_line, _lines([str(program), "pace=1", f"first={processor}"], cancel)))
    return found["clock"].median, found["int_add_free"].median


def read_line(line: str) -> tuple[str, Sample]:
    """Return name and sample from a line ``name unit value value .. @cycle``; raise `WorkError` for anything else.

    The last field is present for values that scale with the processor's clock: its cycle time in ns.
    """
    name, *rest = line.split()
    try:
        cycle_ns = float(rest.pop()[1:]) if rest[-1].startswith("@") else 0.0
        values = sorted(map(float, rest[1:]))
        quarter = len(values) // 4
        median, low, high = statistics.median(values), values[quarter], values[-1 - quarter]
        return name, Sample(rest[0], median, low, high, len(values), cycle_ns)
    except (ValueError, IndexError, statistics.StatisticsError):
        raise WorkError(
            f"the micro-benchmark printed '{line[:80]}'; a name, a unit and numbers were expected"
        ) from None


def _lines(command: Sequence[str], cancel: CancelToken) -> Iterator[str]:
    """Yield the lines of a child's output as they come; the child is ended when the caller stops iterating."""
    # OpenMP's environment variables would affect the measurements.
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, env=env, start_new_session=True
        )
        try:
            assert child.stdout is not None
            yield from _follow(child.stdout, cancel)
            if child.wait() != 0:
                errors.seek(0)
                said = errors.read(400).decode("utf-8", "replace").strip()
                raise WorkError(f"the micro-benchmark failed: {said or f'exit status {child.returncode}'}")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()


def _follow(pipe: IO[bytes], cancel: CancelToken) -> Iterator[str]:
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            cancel.check()
            if not selector.select(_POLL_S):
                continue
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                cancel.check()
                yield line.decode("utf-8", "replace")
