"""Predicted beside measured: programs with one and more threads on this host and on its machine.

A native program is timed and predicted twice: as the user would build it (``-O2`` and the flags of its description),
and without vectorisation; the difference of the two is what vectorisation explains. Both are whole processes; the time
of an empty program, which the simulated time does not contain, is taken off. A program that does not compile, or a run
that fails, leaves a row with the reason; a program may end with an exit status of its own if both ways have it.
"""

from __future__ import annotations

import math
import os
import select
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, InputError, RunError, WorkError
from scalegraph.base.run import RunPoint
from scalegraph.base.units import as_read, counted
from scalegraph.control.build import build
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.machine import Machine
from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.languages import language_of
from scalegraph.toolchain.linking import driver, libraries

SCALAR: Final = ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")
_OPTIMISED: Final = ("-O2", "-g", "-fopenmp")
_EMPTY: Final = "int main(void)\n{\n    return 0;\n}\n"
_POLL_S = 0.1
_LIMIT_S = 120.0
_SIMULATION_LIMIT_S = 900.0
_TURNS: Final = 3  # of native runs
_MORE_TURNS: Final = 9  # for programs whose least time was not confirmed
_CONFIRMED: Final = 0.02  # so near are the three fastest runs then


@dataclass(frozen=True)
class Subject:
    """A program to compare: *args* are its arguments; *cflags*, *ldflags* and *include* as its description has them."""

    name: str
    sources: tuple[Path, ...]
    args: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One program with one number of threads; seconds, measured ones the least of several runs.

    *optimised_s*, *predicted_optimised_s*: of the program as the user builds it; *scalar_s*, *predicted_s*: without
    vectorisation. *spread_optimised*, *spread*: distance of the quartiles of the native runs, of their median.

    *failure* is why there are no times, in a sentence; all times are NaN then.
    """

    program: str
    threads: int
    optimised_s: float
    scalar_s: float
    spread: float
    predicted_s: float
    failure: str = ""
    predicted_optimised_s: float = math.nan
    spread_optimised: float = math.nan

    @classmethod
    def failed(cls, program: str, threads: int, failure: str) -> Self:
        """Return the row of a program that could not be compared."""
        nothing = math.nan
        return cls(program, threads, nothing, nothing, nothing, nothing, failure)

    @property
    def error(self) -> float:
        """How far the prediction without vectorisation is from that native program: 0.1 is 10 % too slow."""
        return self.predicted_s / self.scalar_s - 1 if self.scalar_s > 0 else math.nan

    @property
    def error_optimised(self) -> float:
        """The same of the program as the user builds it."""
        return self.predicted_optimised_s / self.optimised_s - 1 if self.optimised_s > 0 else math.nan


@dataclass(frozen=True)
class Summary:
    """Over all rows with times: geometric mean of predicted to measured, and the mean size of the error, as ratios.

    *worst* is the largest size of an error, *worst_program* whose it is; *failed* counts the rows without times. The
    names that end in *optimised* are of the programs as the user builds them, the others without vectorisation.
    """

    ratio: float
    size: float
    speedup_size: float  # of the speedups of several threads, predicted to measured
    worst: float
    worst_program: str
    failed: int
    ratio_optimised: float
    size_optimised: float
    speedup_size_optimised: float
    worst_optimised: float
    worst_program_optimised: str


def summary(rows: Sequence[Row]) -> Summary:
    """Return the errors of *rows* in a few numbers; NaN where nothing can be compared."""
    scalar = _errors([(row, row.predicted_s, row.scalar_s) for row in rows])
    optimised = _errors([(row, row.predicted_optimised_s, row.optimised_s) for row in rows])
    return Summary(*scalar, sum(bool(row.failure) for row in rows), *optimised)


def _errors(rows: Sequence[tuple[Row, float, float]]) -> tuple[float, float, float, float, str]:
    """Return ratio, size, size of speedups, and the worst, of *rows* with predicted and measured seconds."""
    timed = [(row, predicted / measured) for row, predicted, measured in rows if min(predicted, measured) > 0]
    ratios = [ratio for _, ratio in timed]
    alone = {row.program: ratio for row, ratio in timed if row.threads == 1}
    speedups = [alone[row.program] / ratio for row, ratio in timed if row.threads > 1 and row.program in alone]
    worst, culprit = max(((_size(ratio), row.program) for row, ratio in timed), default=(math.nan, ""))
    return _mean(ratios), _mean(list(map(_size, ratios))), _mean(list(map(_size, speedups))), worst, culprit


def _size(ratio: float) -> float:
    """Return how far *ratio* is from 1, as a factor of at least 1."""
    return max(ratio, 1 / ratio)


def _mean(ratios: Sequence[float]) -> float:
    return statistics.geometric_mean(ratios) if ratios else math.nan


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
    """Yield one row for each of *subjects* and *threads*, all measured by turns; *repeat* native runs of each.

    Where the three fastest runs are not within 2 %, as on a host that others use, too, up to three times as many come
    besides.
    Numbers of threads that *machine* has no processors for are left out. A subject that fails yields rows that say why.
    Raises `BuildError` when not even an empty program compiles, `Cancelled`.
    """
    counts = [count for count in threads if count <= machine.max_processors]
    with tempfile.TemporaryDirectory(prefix="scalegraph-compare-", ignore_cleanup_errors=True) as place:
        empty = Path(place) / "empty.c"
        empty.write_text(_EMPTY, encoding="utf-8")
        command = _native(compiler, Subject("empty", (empty,)), (), place, cancel)
        start = min(_measure(command, 1, 4 * repeat, cancel).times)
        cases: list[_Case] = []
        for subject in subjects:
            progress(f"{subject.name}: building")
            cases += _cases(compiler, subject, counts, place, cancel)
        for turn in range(_TURNS):
            for case in cases:
                progress(f"{case.subject.name}: {counted(case.threads, 'thread')}, turn {turn + 1} of {_TURNS}")
                case.take_turn(machine, (repeat + _TURNS - 1 - turn) // _TURNS, cancel)
        for turn in range(_MORE_TURNS):
            for case in (case for case in cases if not case.is_confirmed):
                progress(f"{case.subject.name}: {counted(case.threads, 'thread')}, more runs {turn + 1}")
                case.take_turn(machine, repeat // _TURNS, cancel)
        yield from (case.row(start) for case in cases)


@dataclass(frozen=True)
class _Builds:
    """A subject as the user would build it, and without vectorisation: for this host and for the simulator."""

    optimised: tuple[str, ...]
    scalar: tuple[str, ...]
    simulated: Build
    simulated_scalar: Build


def _builds(compiler: Compiler, subject: Subject, place: str, cancel: CancelToken) -> _Builds:
    simulated, simulated_scalar = (
        build(
            subject.sources,
            cflags=[*subject.cflags, *more],
            ldflags=subject.ldflags,
            include=subject.include,
            cancel=cancel,
        )
        for more in ((), SCALAR)
    )
    optimised, scalar = (_native(compiler, subject, more, place, cancel) for more in ((), SCALAR))
    return _Builds(optimised, scalar, simulated, replace(simulated_scalar, plain=None))


class _Case:
    """A subject with one number of threads, and what is known of it so far.

    Its native runs are spread over the whole comparison: a host that other virtual machines share is slow for minutes.
    """

    def __init__(self, subject: Subject, threads: int, builds: _Builds | None, failure: str = "") -> None:
        self.subject, self.threads, self.failure = subject, threads, failure
        self._builds = builds
        self._optimised = self._scalar = _Measured((), None)
        self._predicted: list[tuple[float, int]] = []  # seconds, exit status; optimised, scalar

    def take_turn(self, machine: Machine, repeat: int, cancel: CancelToken) -> None:
        """Measure *repeat* native runs of each build; simulate each once. What fails is kept as a sentence."""
        if self._builds is None or self.failure:
            return
        try:
            if repeat:
                self._optimised += _measure(self._builds.optimised, self.threads, repeat, cancel)
                self._scalar += _measure(self._builds.scalar, self.threads, repeat, cancel)
            if not self._predicted:
                programs = self._builds.simulated, self._builds.simulated_scalar
                self._predicted = [_predict(one, machine, self.threads, self.subject, cancel) for one in programs]
        except (InputError, WorkError) as error:
            self.failure = _sentence(error)

    @property
    def is_confirmed(self) -> bool:
        """Whether two more runs are near the least time of both builds; also where more runs would not help."""
        few = min(len(self._optimised.times), len(self._scalar.times)) < _TURNS
        return bool(self.failure) or few or all(map(_is_met_again, (self._optimised.times, self._scalar.times)))

    def row(self, start: float) -> Row:
        """Return what was found; *start* is what starting a process takes, in seconds."""
        name, fast, slow = self.subject.name, self._optimised, self._scalar
        if self.failure or not self._predicted:
            return Row.failed(name, self.threads, self.failure)
        (predicted, status), (predicted_scalar, status_scalar) = self._predicted
        if len({fast.status, slow.status, status, status_scalar}) > 1:
            native = f"{fast.status} on this host, {slow.status} there without vectorisation"
            return Row.failed(name, self.threads, f"{name}: ended with status {status} in the simulation, but {native}")
        optimised, scalar = (sorted(max(0.0, taken - start) for taken in found.times) for found in (fast, slow))
        return Row(
            name,
            self.threads,
            optimised[0],
            scalar[0],
            _spread(scalar),
            predicted_scalar,
            predicted_optimised_s=predicted,
            spread_optimised=_spread(optimised),
        )


def _is_met_again(times: Sequence[float]) -> bool:
    """Return whether the least of *times*, of which there are three or more, is near the two next to it."""
    least = sorted(times)
    return least[2] <= (1 + _CONFIRMED) * least[0]


def _cases(
    compiler: Compiler, subject: Subject, counts: Sequence[int], place: str, cancel: CancelToken
) -> Iterator[_Case]:
    """Yield *subject* with each number of threads in *counts*, built in *place*."""
    builds, failure = None, ""
    try:
        builds = _builds(compiler, subject, place, cancel)
    except (InputError, WorkError) as error:
        failure = _sentence(error)
    for count in counts:
        yield _Case(subject, count, builds, failure)


def _sentence(error: Exception) -> str:
    """Return what *error* says, in one line."""
    return " ".join(str(error).split())


def _spread(values: Sequence[float]) -> float:
    """Return the distance of the quartiles of sorted *values*, of their median."""
    middle = statistics.median(values)
    return (values[-1 - len(values) // 4] - values[len(values) // 4]) / middle if middle else 0.0


def _predict(program: Build, machine: Machine, count: int, subject: Subject, cancel: CancelToken) -> tuple[float, int]:
    """Return the simulated time of *subject* on *count* processors, in seconds, and its exit status."""
    limits = Limits(time_s=_SIMULATION_LIMIT_S)
    record = Simulated().run(Job(program, machine, RunPoint(processors=count), subject.args, limits=limits), cancel)
    cancel.check()
    if record.status not in ("ok", "failed") or record.time_s is None or record.exit_code is None:
        raise RunError(f"{subject.name}: {counted(count, 'processor')}: {record.message}")
    return record.time_s, record.exit_code


def _native(
    compiler: Compiler, subject: Subject, more: Sequence[str], place: str, cancel: CancelToken
) -> tuple[str, ...]:
    """Build *subject* natively; return its command. *compiler* compiles C; those of other languages are found."""
    program = str(Path(place) / f"{subject.name}-{len(more)}")
    options = [*_OPTIMISED, *subject.cflags, *more, *(f"-I{directory}" for directory in subject.include)]
    languages = {language_of(source.name) or "c" for source in subject.sources}
    compilers = {one: compiler if one == compiler.language else find_compiler(one) for one in languages}
    parts: list[str] = []
    for number, source in enumerate(subject.sources):
        language = language_of(source.name)
        if language is None:  # assembler, objects, archives
            parts.append(str(source))
            continue
        parts.append(f"{program}-{number}.o")
        _compile(compilers[language], [*options, "-c", str(source), "-o", parts[-1]], subject, cancel)
    linked = [*options, *parts, "-o", program, *subject.ldflags, *libraries(languages)]
    _compile(compilers[driver(languages)], linked, subject, cancel)
    return (program, *subject.args)


def _compile(compiler: Compiler, options: Sequence[str], subject: Subject, cancel: CancelToken) -> None:
    result = compiler.run(options, cancel=cancel)
    if result.returncode != 0:
        raise BuildError(f"{subject.name} does not compile for this host", result.stderr)


@dataclass(frozen=True)
class _Measured:
    """Native runs of a program: their times in seconds, and the exit status that all of them had; None: no run yet."""

    times: tuple[float, ...]
    status: int | None

    def __add__(self, more: _Measured) -> _Measured:
        """Return the runs of both; raises `RunError` if they ended with different statuses."""
        if self.status not in (None, more.status):
            raise RunError(f"ended with different statuses on this host: {self.status}, {more.status}")
        return _Measured(self.times + more.times, more.status)


def _measure(command: Sequence[str], threads: int, repeat: int, cancel: CancelToken) -> _Measured:
    """Return the times of *repeat* runs with so many *threads*.

    One thread: processor time, which other work on the host disturbs less; several: wall time, since they wait for
    each other. Raises `RunError` when a run does not end by itself, or runs end with different statuses.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    env |= {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false"}
    taken = [_time(command, env, cancel) for _ in range(repeat)]
    statuses = sorted({status for _, _, status in taken})
    name = Path(command[0]).name
    if statuses[0] < 0:
        raise RunError(f"{name}: ended by signal {-statuses[0]} on this host")
    if len(statuses) > 1:
        raise RunError(f"{name}: ended with different statuses on this host: {', '.join(map(str, statuses))}")
    return _Measured(tuple(processor_s if threads == 1 else wall_s for wall_s, processor_s, _ in taken), statuses[0])


def _time(command: Sequence[str], env: dict[str, str], cancel: CancelToken) -> tuple[float, float, int]:
    """Return wall time and processor time of one run in seconds, and its exit status, negative for a signal."""
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
    return taken, used.ru_utime + used.ru_stime, child.returncode
