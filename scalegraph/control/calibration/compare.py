"""Predicted beside measured: programs with one and two threads on this host and on its machine.

A native program is timed as the user would build it (``-O2``) and without vectorisation, because the hooks of the
simulated program prevent it; the difference of the two is what vectorisation explains. Both are whole processes; the
time of an empty program, which the simulated time does not contain, is taken off.
"""

from __future__ import annotations

import os
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, RunError
from scalegraph.base.run import RunPoint
from scalegraph.base.units import as_read, counted
from scalegraph.control.build import build
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.machine import Machine
from scalegraph.runtime.compiler import Compiler

SCALAR: Final = ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")
_OPTIMISED: Final = ("-O2", "-g", "-fopenmp")
_EMPTY: Final = "int main(void)\n{\n    return 0;\n}\n"
_POLL_S = 0.1
_LIMIT_S = 120.0


@dataclass(frozen=True)
class Subject:
    """A C program to compare: *args* are its arguments, *ldflags* and *cflags* as its description has them."""

    name: str
    sources: tuple[Path, ...]
    args: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One program with one number of threads; seconds. *spread*: distance of the quartiles of *scalar_s*, of it."""

    program: str
    threads: int
    optimised_s: float
    scalar_s: float
    spread: float
    predicted_s: float

    @property
    def error(self) -> float:
        """How far the prediction is from the scalar native program, of the latter: 0.1 is 10 % too slow."""
        return self.predicted_s / self.scalar_s - 1 if self.scalar_s > 0 else float("nan")

    @property
    def error_optimised(self) -> float:
        """The same against the native program as ``-O2`` makes it."""
        return self.predicted_s / self.optimised_s - 1 if self.optimised_s > 0 else float("nan")


@dataclass(frozen=True)
class Summary:
    """Over all rows: geometric mean of predicted to measured, and the mean size of the error, as ratios."""

    ratio: float
    size: float
    speedup_size: float  # of the two-thread speedups, predicted to measured


def summary(rows: Sequence[Row]) -> Summary:
    """Return the errors of *rows* in three numbers; all NaN where nothing can be compared."""
    ratios = [row.predicted_s / row.scalar_s for row in rows if row.scalar_s > 0 and row.predicted_s > 0]
    alone = {row.program: row for row in rows if row.threads == 1}
    speedups = [
        (alone[row.program].predicted_s / row.predicted_s) / (alone[row.program].scalar_s / row.scalar_s)
        for row in rows
        if row.threads > 1 and row.program in alone and min(row.predicted_s, row.scalar_s) > 0
    ]
    return Summary(_mean(ratios), _mean([max(r, 1 / r) for r in ratios]), _mean([max(r, 1 / r) for r in speedups]))


def _mean(ratios: Sequence[float]) -> float:
    return statistics.geometric_mean(ratios) if ratios else float("nan")


def compare(
    compiler: Compiler,
    machine: Machine,
    subjects: Sequence[Subject],
    *,
    threads: Sequence[int] = (1, 2),
    repeat: int = 5,
    cancel: CancelToken,
    progress: Callable[[str], None] = lambda _text: None,
) -> Iterator[Row]:
    """Yield one row for each of *subjects* and *threads*, as it is measured; *repeat* native runs of each.

    Raises `BuildError` when a program does not compile, `RunError` when a run fails, `Cancelled`.
    """
    counts = [count for count in threads if count <= machine.max_processors]
    with tempfile.TemporaryDirectory(prefix="scalegraph-compare-", ignore_cleanup_errors=True) as place:
        empty = Path(place) / "empty.c"
        empty.write_text(_EMPTY, encoding="utf-8")
        start = min(_times(_native(compiler, Subject("empty", (empty,)), (), place, cancel), 1, 4 * repeat, cancel))
        for subject in subjects:
            progress(f"{subject.name}: building")
            optimised = _native(compiler, subject, (), place, cancel)
            scalar = _native(compiler, subject, SCALAR, place, cancel)
            flags = [*subject.cflags, *SCALAR]
            simulated = build(subject.sources, cflags=flags, ldflags=subject.ldflags, cancel=cancel)
            for count in counts:
                progress(f"{subject.name}: {counted(count, 'thread')}")
                fast = [max(0.0, t - start) for t in _times(optimised, count, repeat, cancel)]
                slow = sorted(max(0.0, t - start) for t in _times(scalar, count, repeat, cancel))
                predicted = _predict(simulated, machine, count, subject, cancel)
                middle = statistics.median(slow)
                yield Row(subject.name, count, statistics.median(fast), middle, _spread(slow), predicted)


def _spread(values: Sequence[float]) -> float:
    """Return the distance of the quartiles of sorted *values*, of their median."""
    middle = statistics.median(values)
    return (values[-1 - len(values) // 4] - values[len(values) // 4]) / middle if middle else 0.0


def _predict(program: Build, machine: Machine, count: int, subject: Subject, cancel: CancelToken) -> float:
    """Return the simulated time of *subject* on *count* processors, in seconds."""
    record = Simulated().run(
        Job(program, machine, RunPoint(processors=count), tuple(subject.args), limits=Limits(time_s=_LIMIT_S)), cancel
    )
    cancel.check()
    if record.status != "ok" or record.time_s is None:
        raise RunError(f"{subject.name}: {count} processors: {record.message}")
    return record.time_s


def _native(
    compiler: Compiler, subject: Subject, more: Sequence[str], place: str, cancel: CancelToken
) -> tuple[str, ...]:
    """Build *subject* natively; return its command."""
    program = str(Path(place) / f"{subject.name}-{len(more)}")
    flags = [*_OPTIMISED, *subject.cflags, *more]
    result = compiler.run([*flags, *map(str, subject.sources), "-o", program, *subject.ldflags], cancel=cancel)
    if result.returncode != 0:
        raise BuildError(f"{subject.name} does not compile for this host", result.stderr)
    return (program, *subject.args)


def _times(command: Sequence[str], threads: int, repeat: int, cancel: CancelToken) -> list[float]:
    """Return the times of *repeat* runs with so many *threads*, in seconds.

    One thread: processor time, which other work on the host disturbs less; several: wall time, since they wait for
    each other.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    env |= {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    taken = [_time(command, env, cancel) for _ in range(repeat)]
    return [processor_s if threads == 1 else wall_s for wall_s, processor_s in taken]


def _time(command: Sequence[str], env: dict[str, str], cancel: CancelToken) -> tuple[float, float]:
    """Return wall time and processor time of one run."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    handle = os.pidfd_open(child.pid)  # reports the end at once; Popen.wait with a limit polls
    try:
        while not select.select([handle], [], [], _POLL_S)[0]:
            cancel.check()
            if time.perf_counter() - start > _LIMIT_S:
                raise RunError(f"{Path(command[0]).name}: took longer than {as_read(_LIMIT_S)} s on this host")
        taken = time.perf_counter() - start
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    finally:
        os.close(handle)
        if child.returncode is None:
            child.kill()
            child.wait()
    if child.returncode != 0:
        raise RunError(f"{Path(command[0]).name}: ended with status {child.returncode} on this host")
    return taken, used.ru_utime + used.ru_stime
