"""Native runs of a program on this host, with the processor speed measured before and after each.

On a shared host the clock changes within seconds, and another virtual machine's program, invisible to this system, may
use the other half of a core. Neither shows in processor time. Both only slow a program down, so the minimum time
counts, among runs whose clock did not exceed the machine's. The number of runs with the machine's clock and an
undisturbed core tells how reliable that time is.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import RunError
from scalegraph.control.calibration.host import this_host
from scalegraph.control.calibration.measure import build, pace
from scalegraph.control.ending import await_end
from scalegraph.runtime.compiler import Compiler

_LIMIT_S = 120.0
_CONFIRMED: Final = 0.02  # maximum relative difference of the three fastest runs
_SAME_CLOCK: Final = 0.03  # relative difference up to which a clock equals the machine's
_CROWDED: Final = 1.15  # multiple of the minimum cycles per addition from which the core is shared with another program


@dataclass(frozen=True)
class Pace:
    """A processor's speed at a moment: its clock, and the cycles per addition with many independent ones."""

    clock_hz: float
    addition_cycles: float


@dataclass(frozen=True)
class Run:
    """One native run: *taken_s*, and the processor's speed before and after it."""

    taken_s: float
    paces: tuple[Pace, Pace]

    @property
    def clock_hz(self) -> float:
        """The mean of the clocks before and after."""
        return sum(pace.clock_hz for pace in self.paces) / 2

    def is_faster(self, clock_hz: float) -> bool:
        """Whether the clock was above *clock_hz* by more than a few percent."""
        return any(pace.clock_hz > (1 + _SAME_CLOCK) * clock_hz for pace in self.paces)

    def is_quiet(self, clock_hz: float, alone: float) -> bool:
        """Whether the clock was *clock_hz* and the core undisturbed, before and after; *alone*: `Stopwatch.alone`."""
        return self.is_alone(alone) and all(abs(pace.clock_hz / clock_hz - 1) <= _SAME_CLOCK for pace in self.paces)

    def is_alone(self, alone: float) -> bool:
        """Whether the core was undisturbed before and after the run; *alone*: `Stopwatch.alone`."""
        return all(pace.addition_cycles <= _CROWDED * alone for pace in self.paces)


@dataclass(frozen=True)
class Runs:
    """Native runs of a program, and their common exit status; None: no run yet."""

    all: tuple[Run, ...] = ()
    status: int | None = None

    def __add__(self, more: Runs) -> Runs:
        """Return the runs of both; raises `RunError` if their exit statuses differ."""
        if self.status not in (None, more.status):
            raise RunError(f"ended with different statuses on this host: {self.status}, {more.status}")
        return Runs(self.all + more.all, more.status)

    def counting(self, clock_hz: float) -> tuple[Run, ...]:
        """Return the runs whose clock did not exceed *clock_hz*; all if there are none."""
        return tuple(run for run in self.all if not run.is_faster(clock_hz)) or self.all


def is_met_again(runs: Sequence[Run], alone: float) -> bool:
    """Return whether the minimum time is confirmed: close to the next two, with the core undisturbed.

    There are three or more runs; *alone*: `Stopwatch.alone`.
    """
    least = sorted(runs, key=lambda run: run.taken_s)
    return len(least) > 2 and least[2].taken_s <= (1 + _CONFIRMED) * least[0].taken_s and least[0].is_alone(alone)


def spread(values: Sequence[float]) -> float:
    """Return the interquartile range of sorted *values* over their median."""
    middle = statistics.median(values)
    return (values[-1 - len(values) // 4] - values[len(values) // 4]) / middle if middle else 0.0


class Stopwatch:
    """Times native runs, measuring the processor's speed before and after each."""

    def __init__(self, compiler: Compiler, place: str, cancel: CancelToken) -> None:
        self._program = Path(place) / "pace"
        self._processor = this_host().processors[0]
        self._additions: list[float] = []  # cycles
        build(compiler, self._program, cancel)

    @property
    def alone(self) -> float:
        """Cycles per independent addition on an undisturbed core: the first decile of all measurements."""
        return sorted(self._additions)[len(self._additions) // 10]

    def pace(self, cancel: CancelToken) -> Pace:
        """Return the current speed of the first processor; takes a few milliseconds."""
        cycle_ns, addition_ns = pace(self._program, self._processor, cancel)
        seen = Pace(1e9 / cycle_ns, addition_ns / cycle_ns)
        self._additions.append(seen.addition_cycles)
        return seen

    def measure(self, command: Sequence[str], threads: int, repeat: int, cancel: CancelToken) -> Runs:
        """Return *repeat* runs with *threads* threads.

        With one thread it is processor time on the first processor, which other work disturbs less; with several it is
        wall time, since they wait for each other. Raises `RunError` if a run does not end by itself, or exit statuses
        differ.
        """
        env = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
        env |= {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
        runs: list[Run] = []
        statuses: set[int] = set()
        before = self.pace(cancel)
        for _ in range(repeat):
            with _on(self._processor) if threads == 1 else contextlib.nullcontext():
                wall_s, processor_s, status = _time(command, env, cancel)
            after = self.pace(cancel)
            runs.append(Run(processor_s if threads == 1 else wall_s, (before, after)))
            statuses.add(status)
            before = after
        name, first, *others = Path(command[0]).name, *sorted(statuses)
        if first < 0:
            raise RunError(f"{name}: ended by signal {-first} on this host")
        if others:
            listed = ", ".join(map(str, [first, *others]))
            raise RunError(f"{name}: ended with different statuses on this host: {listed}")
        return Runs(tuple(runs), first)


@contextlib.contextmanager
def _on(processor: int) -> Iterator[None]:
    """Run child processes started here on *processor*."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _time(command: Sequence[str], env: dict[str, str], cancel: CancelToken) -> tuple[float, float, int]:
    """Return wall time and processor time of a run in seconds, and its exit status, negative for a signal."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    try:
        await_end(child, command[0], _LIMIT_S, cancel)
        taken = time.perf_counter() - start
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if child.returncode is None:
            child.kill()
            child.wait()
    return taken, used.ru_utime + used.ru_stime, child.returncode
