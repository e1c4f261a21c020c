"""``scalegraph machines calibrate``: this host as a machine, and predictions beside measured times."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from scalegraph import machine
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.files import check_replaceable, write_atomic
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, si, significant
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, on_terminal, print_json, print_rows, replace_line
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.processors import parse_processors
from scalegraph.control.calibration import (
    QUICK,
    Effort,
    Row,
    Sample,
    Subject,
    compare,
    derive,
    measure,
    summary,
    this_host,
)
from scalegraph.machine import Machine
from scalegraph.request.model import programs
from scalegraph.runtime.compiler import find_compiler

# Shipped programs and arguments that run long enough for process start not to matter, and short enough to wait for.
PROGRAMS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("ge1-owner", ("500",)),
    ("ge2-owner", ("700",)),
    ("billiard", ("20000", "3000")),
    ("qs1", ("300000", "5000")),
    ("apsp1", ("170", "parallel")),
    ("jacobi", ("512", "40")),
    ("sor", ("512", "40")),
    ("closure", ("300", "random")),
    ("matmul", ("220",)),
    ("adjoint", ("90",)),
    ("cholesky", ("111",)),
    ("rarefied", ("20000", "10")),
    ("water", ("343", "4")),
)
_THREADS: Final = (1, 2)
_NOISY = 0.25  # spread of measurements above which the host counts as busy


@click.command("calibrate")
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FILE,
    metavar="FILE",
    help="Write the machine file here instead of standard output.",
)
@click.option("--name", default="this-host", show_default=True, help="Name of the machine.")
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Compare predicted and measured times of programs: shipped ones, and those of --also.",
)
@click.option("--machine", "given", metavar="FILE", help="With --compare: use this machine instead of measuring.")
@click.option("--program", "chosen", multiple=True, metavar="NAME", help="With --compare: only these; repeatable.")
@click.option(
    "--also",
    "others",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.toml",
    help="With --compare: the program that this file describes, too; repeatable.",
)
@click.option("--threads", metavar="LIST", help="With --compare: thread counts; by default 1,2.")
@click.option("--quick", is_flag=True, help="Trial run only: the values are meaningless.")
@click.option("--json", "as_json", is_flag=True, help="With --compare: print one JSON document instead of the table.")
def calibrate(
    output: Path | None,
    name: str,
    *,
    comparing: bool,
    given: str | None,
    chosen: tuple[str, ...],
    others: tuple[Path, ...],
    threads: str | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Measure this host and write its machine file; it takes a minute or two on an otherwise idle host.

    A small C program, built by your compiler on the spot, measures operations, caches, memory, communication between
    two processors and the OpenMP primitives, and with growing numbers of cores what depends on that: clock, bandwidth,
    barriers, locks, page faults. Every value states its origin; nothing identifies the host or its user. Use the file
    with `scalegraph simulate ... --machine FILE`.

    With --compare a table shows each program's measured and predicted times: with its own flags, and without
    vectorisation. A file for --also has the form of the descriptions of shipped programs; title and sources are enough,
    and arguments come from its parameters' defaults.
    """
    if given is not None and not comparing:
        raise click.UsageError("--machine goes with --compare; it names a machine that was calibrated before")
    if others and not comparing:
        raise click.UsageError("--also goes with --compare; it describes a program to compare")
    subjects = _subjects(chosen, others)
    known = machine.load(given) if given else None
    counts = _counts(threads, known)
    if output is not None:
        check_replaceable(output)
    with interruptible() as cancel:
        found = known or _calibrated(name, QUICK if quick else Effort(), cancel)
        if output is not None:
            write_atomic(output, found.to_toml())
            echo(f"{output}: {found.title}; use it with --machine {output}", err=comparing)
        elif not comparing:
            echo(found.to_toml(), nl=False, exact=True)
        if comparing:
            _compare(found, subjects, counts, cancel, repeat=1 if quick else 25, as_json=as_json)


def _calibrated(name: str, effort: Effort, cancel: CancelToken) -> Machine:
    """Measure this host and return its machine."""
    compiler = find_compiler()
    host = this_host()
    with _told() as report:
        report("building the micro-benchmark")
        measured = measure(
            compiler, host, effort, cancel=cancel, progress=lambda what, done: report(f"measured {done}: {what}")
        )
    if not effort.quick:
        _warn_of_noise(measured)
    return derive(host, measured, name)


def _warn_of_noise(measured: dict[str, Sample]) -> None:
    noisy = [name for name, sample in measured.items() if sample.spread > _NOISY]
    if len(noisy) > len(measured) // 10:
        names = ", ".join(noisy[:4]) + (", .." if len(noisy) > 4 else "")
        echo(f"the host is busy: {len(noisy)} measurements scatter ({names}); measure again when it is idle", err=True)


@contextlib.contextmanager
def _told() -> Iterator[Callable[[str], None]]:
    """Yield a progress reporter for standard error: one updated line on a terminal, otherwise a line each."""
    changing = on_terminal(err=True)
    try:
        yield replace_line if changing else lambda text: echo(text, err=True)
    finally:
        if changing:
            replace_line("")


def _counts(threads: str | None, known: Machine | None) -> list[int]:
    """Return the thread counts to compare: those of the machine, or of this host, which is about to become one."""
    if threads is None:
        return list(_THREADS)
    most, whose = (
        (known.max_processors, f"machine '{known.name}'") if known else (len(this_host().processors), "this host")
    )
    return parse_processors(threads, most, whose)


def _subjects(chosen: tuple[str, ...], others: tuple[Path, ...]) -> list[Subject]:
    """Return the programs to compare: the *chosen* ones, or the installed shipped ones, and *others*."""
    known = programs.names()
    also = {described.name: described for path in others for described in [programs.load(str(path.absolute()))]}
    shipped = {name: arguments for name, arguments in PROGRAMS if name in known}
    if both := sorted(set(also) & set(shipped)):
        raise click.UsageError(f"--also: there is a shipped program '{both[0]}'; give the file another name")
    wanted = dict.fromkeys((*(chosen or shipped), *also))
    for name in wanted:
        if name not in shipped and name not in also:
            raise click.UsageError(f"no program '{name}' to compare; expected one of {', '.join([*shipped, *also])}")
    return [_subject(also[name]) if name in also else _subject(programs.load(name), shipped[name]) for name in wanted]


def _subject(described: programs.Described, arguments: tuple[str, ...] | None = None) -> Subject:
    """Return the program to compare, with *arguments*, or else those in its description."""
    program = described.program
    if arguments is None:
        if any(programs.COUNT in argument for argument in program.args):
            text = f"'{programs.COUNT}' cannot be used in the arguments of a program to compare"
            raise InputError(Fault(text, str(described.path), key="args"))
        arguments = programs.fill(program.args, program.parameters(), 1)
    include = tuple(str(described.path.parent / directory) for directory in program.include)
    return Subject(described.name, described.sources(), arguments, program.cflags, program.ldflags, include)


def _compare(
    found: Machine, subjects: list[Subject], counts: list[int], cancel: CancelToken, *, repeat: int, as_json: bool
) -> None:
    rows: list[Row] = []
    try:
        with _told() as report:
            for row in compare(
                find_compiler(), found, subjects, threads=counts, repeat=repeat, cancel=cancel, progress=report
            ):
                rows.append(row)  # noqa: PERF402 - what is finished is kept
    finally:
        if rows:
            _print(found, rows, as_json=as_json)
    if not rows:
        raise WorkError("there is no program to compare with")
    if all(row.failure for row in rows):
        raise WorkError("no program could be compared")


def _print(found: Machine, rows: list[Row], *, as_json: bool) -> None:
    total = summary(rows)
    if as_json:
        print_json({"machine": found.name, "rows": [_entry(row) for row in rows], "summary": _plain(asdict(total))})
        return
    headers = ("program", "threads", "native", "spread", "predicted", "error", "scalar", "predicted", "error")
    print_rows(headers, [_cells(row) for row in rows], title=f"{found.title}: measured and predicted", left=(0,))
    optimised = (
        total.ratio_optimised,
        total.size_optimised,
        total.speedup_size_optimised,
        total.worst_optimised,
        total.worst_program_optimised,
    )
    scalar = total.ratio, total.size, total.speedup_size, total.worst, total.worst_program
    failed = f"; {counted(total.failed, 'row')} failed" if total.failed else ""
    echo(f"\npredicted / native, geometric mean: {_sentence(*optimised)}{failed}")
    echo(f"without vectorisation (scalar): {_sentence(*scalar)}")
    if words := _not_as_calibrated(found, rows):
        echo(words)


def _not_as_calibrated(found: Machine, rows: list[Row]) -> str:
    """Return a note on rows without a native run that had a core to itself at the clock of *found*."""
    others = [row for row in rows if not row.failure and not row.as_calibrated]
    if not others:
        return ""
    low, high = (si(1e6 * bound(row.clock_mhz for row in others), "Hz") for bound in (min, max))
    clocks = low if low == high else f"{low} to {high}"
    names = ", ".join(dict.fromkeys(row.program for row in others))
    return (
        f"no native run of {names} had the machine's clock of {si(found.clock_hz, 'Hz')} and a core to itself "
        f"(the host's was {clocks}): calibrate again, or when the host is idle"
    )


def _sentence(ratio: float, size: float, speedup_size: float, worst: float, culprit: str) -> str:
    speedups = f", of the speedups {significant(speedup_size)}" if math.isfinite(speedup_size) else ""
    last = f"; worst: {culprit}, a factor of {significant(worst)}" if culprit else ""
    return f"{significant(ratio)}; mean error a factor of {significant(size)}{speedups}{last}"


def _signed(share: float) -> str:
    return f"{'+' * (share >= 0.005)}{percent(share, 0)}"


def _entry(row: Row) -> dict[str, object]:
    return _plain(asdict(row) | {"error": row.error, "error_optimised": row.error_optimised})


def _plain(values: dict[str, object]) -> dict[str, object]:
    """Return *values* with null for anything that is not a number."""
    return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()}


def _cells(row: Row) -> list[str]:
    if row.failure:
        return [row.program, str(row.threads), f"failed: {row.failure}"]
    return [
        row.program,
        str(row.threads),
        si(row.optimised_s, "s"),
        percent(row.spread_optimised, 0),
        si(row.predicted_optimised_s, "s"),
        _signed(row.error_optimised),
        si(row.scalar_s, "s"),
        si(row.predicted_s, "s"),
        _signed(row.error),
    ]
