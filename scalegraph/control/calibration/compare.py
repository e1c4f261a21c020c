"""Predicted against measured times: programs with one or more threads on this host and on its machine model.

A native program is timed and predicted twice: as the user would build it (``-O2`` and the flags of its description),
and without vectorisation; the difference between the two errors is due to vectorisation. The prediction is for the
fastest run, at the clock that the processor had then, which changes within seconds on some hosts. Both are whole
processes; the time of an empty program, which the simulated time does not include, is subtracted. A program that does
not compile, or a run that fails, gives a row with the reason; a nonzero exit status is accepted if both have it.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import BuildError, InputError, RunError, WorkError
from scalegraph.base.run import RunPoint
from scalegraph.base.units import counted
from scalegraph.control.build import build
from scalegraph.control.calibration.native import Run, Runs, Stopwatch, is_met_again, spread
from scalegraph.link import Build, Job, Limits, Simulated
from scalegraph.machine import Machine
from scalegraph.runtime.compiler import Compiler, find_compiler
from scalegraph.runtime.languages import language_of
from scalegraph.toolchain.complaints import of_linker
from scalegraph.toolchain.linking import driver, libraries
from scalegraph.toolchain.objects import first_error

SCALAR: Final = ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")
_OPTIMISED: Final = ("-O2", "-g", "-fopenmp")
_EMPTY: Final = "int main(void)\n{\n    return 0;\n}\n"
_SIMULATION_LIMIT_S = 900.0
_TURNS: Final = 3  # of native runs
_MORE_TURNS: Final = 9  # for programs whose best time was not confirmed


@dataclass(frozen=True)
class Subject:
    """A program to compare: *args* are its arguments; *cflags*, *ldflags* and *include* are from its description."""

    name: str
    sources: tuple[Path, ...]
    args: tuple[str, ...] = ()
    cflags: tuple[str, ...] = ()
    ldflags: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One program with one number of threads; in seconds, measured times are the minimum of several runs.

    *optimised_s*, *predicted_optimised_s*: built as by the user; *scalar_s*, *predicted_s*: without vectorisation.
    *spread_optimised*, *spread*: interquartile range of the native runs over their median. *clock_mhz*: of the host,
    median over the valid runs of both builds (`native`); *as_calibrated*: how many of them had the machine's clock and
    the core to themselves.

    *failure* is a sentence saying why there are no times, which are then all NaN.
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
    clock_mhz: float = math.nan
    as_calibrated: int = 0

    @classmethod
    def failed(cls, program: str, threads: int, failure: str) -> Self:
        """Return the row of a program that could not be compared."""
        nothing = math.nan
        return cls(program, threads, nothing, nothing, nothing, nothing, failure)

    @property
    def error(self) -> float:
        """Relative error of the prediction without vectorisation: 0.1 is 10 % too slow."""
        return self.predicted_s / self.scalar_s - 1 if self.scalar_s > 0 else math.nan

    @property
    def error_optimised(self) -> float:
        """The same for the program as built by the user."""
        return self.predicted_optimised_s / self.optimised_s - 1 if self.optimised_s > 0 else math.nan


@dataclass(frozen=True)
class Summary:
    """Summary over all rows with times: geometric mean of predicted to measured, and mean size of the error, as ratios.

    *worst* is the largest error, *worst_program* its program; *failed* counts the rows without times. Names ending in
    *optimised* are for programs as built by the user, the others without vectorisation.
    """

    ratio: float
    size: float
    speedup_size: float  # of the speedups with several threads, predicted to measured
    worst: float
    worst_program: str
    failed: int
    ratio_optimised: float
    size_optimised: float
    speedup_size_optimised: float
    worst_optimised: float
    worst_program_optimised: str


def summary(rows: Sequence[Row]) -> Summary:
    """Return a summary of the errors in *rows*; NaN if nothing can be compared."""
    scalar = _errors([(row, row.predicted_s, row.scalar_s) for row in rows])
    optimised = _errors([(row, row.predicted_optimised_s, row.optimised_s) for row in rows])
    return Summary(*scalar, sum(bool(row.failure) for row in rows), *optimised)


def _errors(rows: Sequence[tuple[Row, float, float]]) -> tuple[float, float, float, float, str]:
    """Return ratio, size, size for speedups, and the worst, of *rows* with predicted and measured seconds."""
    timed = [(row, predicted / measured) for row, predicted, measured in rows if min(predicted, measured) > 0]
    ratios = [ratio for _, ratio in timed]
    alone = {row.program: ratio for row, ratio in timed if row.threads == 1}
    speedups = [alone[row.program] / ratio for row, ratio in timed if row.threads > 1 and row.program in alone]
    worst, culprit = max(((_size(ratio), row.program) for row, ratio in timed), default=(math.nan, ""))
    return _mean(ratios), _mean(list(map(_size, ratios))), _mean(list(map(_size, speedups))), worst, culprit


def _size(ratio: float) -> float:
    """Return the deviation of *ratio* from 1, as a factor of at least 1."""
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
    """Yield a row for each of *subjects* and *threads*; they take turns, with *repeat* native runs each.

    If the three fastest valid runs are not within 2 %, or another program shared the core in the fastest, as on a
    shared host, up to three times as many runs are added. Thread counts beyond the processors of *machine* are left
    out. A failing subject yields rows that say why. Raises `BuildError` if not even an empty program compiles,
    `Cancelled`.
    """
    counts = [count for count in threads if count <= machine.max_processors]
    with tempfile.TemporaryDirectory(prefix="scalegraph-compare-", ignore_cleanup_errors=True) as place:
        empty = Path(place) / "empty.c"
        empty.write_text(_EMPTY, encoding="utf-8")
        command = _native(compiler, Subject("empty", (empty,)), (), place, cancel)
        watch = Stopwatch(compiler, place, cancel)
        start = min(run.taken_s for run in watch.measure(command, 1, 4 * repeat, cancel).all)
        cases: list[_Case] = []
        for subject in subjects:
            progress(f"{subject.name}: building")
            cases += _cases(compiler, subject, counts, place, cancel)
        for turn in range(_TURNS):
            for case in cases:
                progress(f"{case.subject.name}: {counted(case.threads, 'thread')}, turn {turn + 1} of {_TURNS}")
                case.take_turn((repeat + _TURNS - 1 - turn) // _TURNS, watch, cancel)
        for turn in range(_MORE_TURNS):
            for case in (case for case in cases if not case.is_confirmed(machine, watch.alone)):
                progress(f"{case.subject.name}: {counted(case.threads, 'thread')}, more runs {turn + 1}")
                case.take_turn(repeat // _TURNS, watch, cancel)
        for case in cases:
            progress(f"{case.subject.name}: {counted(case.threads, 'thread')}, simulated")
            yield case.row(start, machine, watch.alone, cancel)


@dataclass(frozen=True)
class _Builds:
    """A subject built as by the user, and without vectorisation: for this host and for the simulator."""

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
    return _Builds(optimised, scalar, simulated, simulated_scalar)


class _Case:
    """A subject with one number of threads, and its results so far.

    Its native runs are spread over the whole comparison: a host shared with other virtual machines may be slow for
    minutes.
    """

    def __init__(self, subject: Subject, threads: int, builds: _Builds | None, failure: str = "") -> None:
        self.subject, self.threads, self.failure = subject, threads, failure
        self._builds = builds
        self._optimised = self._scalar = Runs()

    def take_turn(self, repeat: int, watch: Stopwatch, cancel: CancelToken) -> None:
        """Measure *repeat* native runs of each build. A failure is kept as a sentence."""
        if self._builds is None or self.failure or not repeat:
            return
        try:
            self._optimised += watch.measure(self._builds.optimised, self.threads, repeat, cancel)
            self._scalar += watch.measure(self._builds.scalar, self.threads, repeat, cancel)
        except (InputError, WorkError) as error:
            self.failure = _sentence(error)

    def is_confirmed(self, machine: Machine, alone: float) -> bool:
        """Whether `is_met_again` holds for both builds, or more runs would not help."""
        few = min(len(self._optimised.all), len(self._scalar.all)) < _TURNS
        return bool(self.failure) or few or all(is_met_again(runs, alone) for runs in self._counting(machine))

    def _counting(self, machine: Machine) -> tuple[tuple[Run, ...], ...]:
        """Return the valid runs of the two builds."""
        return tuple(found.counting(machine.clock_hz) for found in (self._optimised, self._scalar))

    def row(self, start: float, machine: Machine, alone: float, cancel: CancelToken) -> Row:
        """Simulate each build once; return the results, or the reason why that failed.

        *start*: the time to start a process, in seconds; *alone*: `Stopwatch.alone`.
        """
        name, builds = self.subject.name, self._builds
        if builds is None or self.failure:
            return Row.failed(name, self.threads, self.failure)
        runs = self._counting(machine)
        try:
            (predicted, status), (predicted_scalar, status_scalar) = (
                _predict(program, at_clock_of(found, machine), self.threads, self.subject, cancel)
                for program, found in zip((builds.simulated, builds.simulated_scalar), runs, strict=True)
            )
        except (InputError, WorkError) as error:
            return Row.failed(name, self.threads, _sentence(error))
        fast, slow = self._optimised, self._scalar
        if len({fast.status, slow.status, status, status_scalar}) > 1:
            native = f"{fast.status} on this host, {slow.status} there without vectorisation"
            return Row.failed(name, self.threads, f"{name}: ended with status {status} in the simulation, but {native}")
        optimised, scalar = (sorted(max(0.0, run.taken_s - start) for run in found) for found in runs)
        return Row(
            name,
            self.threads,
            optimised[0],
            scalar[0],
            spread(scalar),
            predicted_scalar,
            predicted_optimised_s=predicted,
            spread_optimised=spread(optimised),
            clock_mhz=statistics.median(run.clock_hz for found in runs for run in found) / 1e6,
            as_calibrated=sum(run.is_quiet(machine.clock_hz, alone) for found in runs for run in found),
        )


def at_clock_of(runs: Sequence[Run], machine: Machine) -> Machine:
    """Return *machine* with the clock that this host had in the fastest of *runs*."""
    clock_mhz = round(min(runs, key=lambda run: run.taken_s).clock_hz / 1e6, 1)
    return machine.model_copy(update={"processor": machine.processor.model_copy(update={"clock_mhz": clock_mhz})})


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
    """Return the message of *error* in one line."""
    return " ".join(str(error).split())


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
    """Build *subject* natively; return its command. *compiler* compiles C; other compilers are looked up."""
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
        why = of_linker(result.stderr) if "-c" not in options else first_error(result.stderr, subject.name)
        raise BuildError(f"{subject.name} does not compile for this host: {why}", result.stderr)
