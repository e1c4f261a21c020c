"""``scalegraph simulate``: an unmodified program on a simulated machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from scalegraph import machine as machines
from scalegraph.base import events
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import print_json
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.progress import progress
from scalegraph.cli.run_table import document, print_table
from scalegraph.cli.sizes import SIZE
from scalegraph.control import Job, build, execute
from scalegraph.link import Build, Limits
from scalegraph.machine import Machine

_STANDARD = Limits()


class ProgramArguments(click.Command):
    """A command that passes everything after ``--`` to the user's program, untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what follows the first ``--`` out of *args*."""
        if "--" in args:
            split = args.index("--")
            ctx.meta["program_arguments"] = tuple(args[split + 1 :])
            args = args[:split]
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the program's arguments, which click does not know of."""
        formatter.write_usage(ctx.command_path, "SRC... [OPTIONS] [-- ARGS]")


@dataclass(frozen=True)
class Options:
    """What was asked for, checked as far as it can be before anything is built."""

    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    machine: Machine
    shown: tuple[int, ...]  # processor counts that were named
    cflags: str
    ldflags: str
    include: tuple[str, ...]
    schedule: str
    env: dict[str, str]
    stdin: Path | None
    limits: Limits
    instrument: bool

    @property
    def points(self) -> tuple[RunPoint, ...]:
        """The runs; one processor is among them, since speedup and latency need it."""
        return tuple(RunPoint(processors=count) for count in sorted({1, *self.shown}))


@click.command("simulate", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option("-m", "--machine", "machine_name", default="ksr1", show_default=True, metavar="M",
              help="A shipped machine (see `scalegraph machines`) or a machine file.")  # fmt: skip
@click.option("-p", "--processors", default="1,2,4,8", show_default=True, metavar="LIST",
              help="Processor counts: 1,2,4 or 1-8 (every one) or 1..64 (doubling).")  # fmt: skip
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a value of the machine; repeatable."
)
@click.option(
    "--cflags", default="", metavar="S", help="Flags for the compiler, after ScaleGraph's own (-O2 -g -fopenmp)."
)
@click.option("--ldflags", default="", metavar="S", help="Flags for the linker.")
@click.option("--include", "-I", multiple=True, metavar="DIR", help="A directory for headers; repeatable.")
@click.option(
    "--schedule", default="", metavar="NAME", help="For schedule(runtime): static, dynamic or guided, with ,CHUNK."
)
@click.option("--env", multiple=True, metavar="K=V", help="Set a variable for the program; repeatable.")
@click.option(
    "--stdin", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The program's standard input."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=_STANDARD.time_s, show_default=True,
              metavar="S", help="Seconds of this host that one run may take.")  # fmt: skip
@click.option("--memory", type=SIZE, default=_STANDARD.memory_bytes, metavar="SIZE",
              help="Memory the program may allocate, as in 512M or 8G (default 4G).")  # fmt: skip
@click.option("--no-instrument", is_flag=True, help="Plant no region probes.")
@click.option("--show-output", is_flag=True, help="Print what the program printed, run by run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", "study", type=click.Path(dir_okay=False, path_type=Path), metavar="STUDY",
              help="Keep the runs in a study file.")  # fmt: skip
@click.pass_context
def simulate(
    ctx: click.Context,
    sources: tuple[str, ...],
    machine_name: str,
    processors: str,
    overrides: tuple[str, ...],
    cflags: str,
    ldflags: str,
    include: tuple[str, ...],
    schedule: str,
    env: tuple[str, ...],
    stdin: Path | None,
    timeout: float,
    memory: int,
    no_instrument: bool,
    show_output: bool,
    as_json: bool,
    study: Path | None,
) -> None:
    """Run an unmodified C program with OpenMP on a simulated machine.

    The program is compiled as it is and run once for each processor count; ARGS go to it. For speedup and latency
    the one-processor run is needed, so it is made even if -p does not name it.
    """
    machine = machines.load(machine_name, pairs("--set", overrides))
    options = Options(
        sources=sources,
        arguments=ctx.meta.get("program_arguments", ()),
        machine=machine,
        shown=tuple(parse_processors(processors, machine.max_processors, machine.name)),
        cflags=cflags,
        ldflags=ldflags,
        include=include,
        schedule=schedule,
        env=pairs("--env", env),
        stdin=stdin,
        limits=Limits(time_s=timeout, memory_bytes=memory),
        instrument=not no_instrument,
    )
    with interruptible() as cancel, progress() as emit:
        built, records = carry_out(options, emit, cancel)
    report(options, built, records, as_json=as_json, show_output=show_output)
    if cancel.cancelled:
        raise Cancelled("interrupted; what was finished is kept")
    if any(not record.ok for record in records):
        ctx.exit(1)


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """Return ``KEY=VALUE`` words as a mapping; raise `InputError` with all that are none."""
    faults = [Fault(f"'{word}': expected KEY=VALUE", key=option) for word in given if not word.partition("=")[1]]
    faults += [Fault(f"'{word}': the key is missing", key=option) for word in given if word.startswith("=")]
    if faults:
        raise InputError(faults)
    return {key: value for key, _, value in (word.partition("=") for word in given)}


def carry_out(options: Options, emit: events.EventSink, cancel: CancelToken) -> tuple[Build, list[RunRecord]]:
    """Build the program and run every point."""
    built = build(
        options.sources,
        cflags=options.cflags,
        ldflags=options.ldflags,
        include=options.include,
        instrument=options.instrument,
        emit=emit,
        cancel=cancel,
    )
    for remark in built.remarks:
        emit(events.Note(remark))
    points = options.points
    emit(events.Planned(points))
    jobs = [
        Job(
            point,
            built,
            options.machine,
            options.arguments,
            stdin=options.stdin,
            env=options.env,
            limits=options.limits,
            schedule=options.schedule,
        )
        for point in points
    ]
    records = execute(jobs, emit=emit, cancel=cancel)
    failed = sum(not record.ok for record in records)
    emit(events.Done(len(records), failed, cancel.cancelled))
    return built, records


def report(options: Options, built: Build, records: Sequence[RunRecord], *, as_json: bool, show_output: bool) -> None:
    """Print the runs that were asked for."""
    shown = {RunPoint(processors=count).key for count in options.shown}
    shown |= {record.point.key for record in records if not record.ok}
    ordered = [key for record in records if (key := record.point.key) in shown]
    if as_json:
        print_json(document(built.program, options.machine.name, records, ordered))
        return
    if show_output:
        for record in records:
            if record.point.key in shown:
                click.echo(f"--- output of {record.point.label()}")
                click.echo(record.stdout, nl=not record.stdout.endswith("\n"))
    print_table(f"{built.program} on {options.machine.title or options.machine.name}", records, ordered)
