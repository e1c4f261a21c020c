"""``scalegraph simulate``: an unmodified program on a simulated machine."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from scalegraph import machine as machines
from scalegraph.analyze.timed import chosen_part, clock_part
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.events import EventSink
from scalegraph.base.patterns import pattern
from scalegraph.base.run import SIMULATED, Region, RunRecord
from scalegraph.cli.asked import Amount, request_option
from scalegraph.cli.asserting import assert_options, check_given, outcome
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.measuring.options import most_processors, place_of, shown_runs, target_options
from scalegraph.cli.openmp import openmp_options, openmp_variables
from scalegraph.cli.output import echo, print_json
from scalegraph.cli.pairs import pairs
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.processors import parse_processors
from scalegraph.cli.progress import Unrecorded, progress
from scalegraph.cli.run_table import document, print_losses, print_table, verified_documents
from scalegraph.cli.standard_input import redirected
from scalegraph.cli.tracing import TraceGiven, option, print_traces, trace_given, trace_options, with_value
from scalegraph.cli.what_if import print_what_if, what_ifs
from scalegraph.link import loops
from scalegraph.request import Session
from scalegraph.request.model import programs
from scalegraph.request.model.defaults import OWN_PROCESSORS
from scalegraph.request.model.parts import Pin
from scalegraph.request.model.prediction import read_sizes
from scalegraph.request.model.request import (
    Collect,
    MachineChoice,
    Monitor,
    ProgramChoice,
    Request,
    RunLimits,
    TargetChoice,
)
from scalegraph.request.model.values import request_value
from scalegraph.runtime.languages import is_executable
from scalegraph.store import Study

_KEYS = pattern(r"^program\.\w+(\.\d+)?$")
_Found = TypeVar("_Found")
Printed: TypeAlias = Literal["", "whole", "ranks"]  # of what a program printed


class ProgramArguments(click.Command):
    """A command that passes everything after ``--`` to the user's program, untouched."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what follows the first ``--`` out of *args*."""
        if "--" in args:
            split = args.index("--")
            ctx.meta["program_arguments"] = tuple(args[split + 1 :])
            args = args[:split]
        return super().parse_args(ctx, with_value(args))

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the program's arguments, which click does not know of."""
        formatter.write_usage(ctx.command_path, "SRC...|EXECUTABLE [OPTIONS] [-- ARGS]")


@dataclass(frozen=True)
class Given:
    """The options as they were given, most under their own names."""

    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    machine: str
    processors: str | None
    overrides: tuple[str, ...]
    cflags: str
    ldflags: str
    include: tuple[str, ...]
    schedule: str
    env: tuple[str, ...]
    stdin: Path | None
    cwd: Path | None
    executable: str
    build: str
    limits: RunLimits
    regions: bool
    ideals: tuple[str, ...] = ()
    ideal_network: bool = False
    speedups: tuple[str, ...] = ()
    collect: tuple[str, ...] = ()
    monitor: Monitor = "none"
    sample: bool = False
    reference: bool = True
    accept_exit: tuple[int, ...] = ()
    trace: TraceGiven | None = None
    timed: str = ""
    work: str = ""
    threads_per_process: int = 1
    ranks_per_node: int = 0
    target: str = SIMULATED
    target_set: tuple[str, ...] = ()
    pin: Pin = "close"
    warm_up: int = 1
    until: float = 0.0
    most_runs: int = 30
    disturbed: float = 10.0
    parameters: tuple[str, ...] = ()
    repeat: int = 1
    verify: bool = False
    args_at: tuple[str, ...] = ()


@click.command("simulate", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...|EXECUTABLE", nargs=-1)
@request_option("parameters", "parameters", default=())
@request_option("program.build")
@request_option("program.executable", "executable")
@request_option("machine.name")
@request_option("processors")
@request_option("program.threads_per_process")
@request_option("program.ranks_per_node")
@request_option("machine.overrides", "overrides")
@request_option("program.cflags", default="")
@request_option("program.ldflags", default="")
@request_option("program.include")
@request_option("schedule", "schedules", multiple=True, default=())
@openmp_options
@request_option("program.env")
@request_option("program.args_at", "args_at")
@request_option("program.stdin", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=None)
@request_option("program.cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=None)
@target_options
@request_option("repetitions", "repeat")
@request_option("limits.time_s", "timeout")
@request_option("limits.memory_bytes", "memory")
@request_option("program.accept_exit", type=Amount(request_value("program.accept_exit")))
@request_option("reference", "no_reference")
@request_option("collect.regions", "no_instrument")
@request_option("collect.classes", is_flag=False, type=click.Choice(["classes"]))
@request_option("collect.sample", "sample")
@request_option("collect.monitor")
@click.option("--show-output", is_flag=True, help="Print what the program printed, run by run.")
@click.option("--output-by-rank", is_flag=True, help="The same of an MPI program, one rank after the other.")
@request_option("what_if.ideal", "ideals")
@click.option("--ideal-network", is_flag=True,
              help="Run again with messages that take no time: serialisation and transfer of the POP efficiencies are"
              " exact then.")  # fmt: skip
@request_option("what_if.speedup", "speedups")
@request_option("verify")
@request_option("timed", "part")
@request_option("work")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", "study", type=WRITTEN_FILE, metavar="STUDY",
              help="Keep the runs in a study file.")  # fmt: skip
@trace_options
@assert_options
@click.pass_context
def simulate(
    ctx: click.Context,
    /,
    *,
    study: Path | None,
    openmp: str,
    task_queue: str | None,
    timeout: float,
    memory: int,
    no_reference: bool,
    no_instrument: bool,
    show_output: bool,
    output_by_rank: bool,
    part: str,
    as_json: bool,
    statements: tuple[str, ...],
    junit: Path | None,
    env: tuple[str, ...],
    schedules: tuple[str, ...],
    **given: Any,
) -> None:
    """Run an unmodified parallel program on a simulated machine.

    SRC are sources in C, C++ or Fortran (objects and archives may be among them), EXECUTABLE a program that was
    linked by scalegraph-cc, scalegraph-c++ or scalegraph-fc. The program is run once for each processor count; ARGS go
    to it; in them, and in the values of --env, {N} stands for that count. For speedup and latency the one-processor run
    is needed, so it is made even if -p does not name it, unless --no-reference is given. SRC may also be the name of a
    shipped program (as billiard, ge1, qs1), which then gets its default arguments if there are no ARGS.
    """
    traced = trace_given(ctx, study)
    request, shown = make_request(
        Given(
            **given,
            arguments=ctx.meta.get("program_arguments", ()),
            env=(*openmp_variables(openmp, task_queue), *env),
            limits=RunLimits(time_s=timeout, memory_bytes=memory),
            regions=not no_instrument,
            reference=not no_reference,
            trace=traced,
            timed=part,
            schedule=";".join(schedules),
        )
    )
    check_given(statements, junit)
    with interruptible() as cancel, progress() as bar:
        emit = Unrecorded(bar)
        kept = submit(request, study, emit, cancel, traced)
    with kept:
        printed: Printed = "ranks" if output_by_rank else "whole" if show_output else ""
        done = _show(kept, shown, request, as_json=as_json, printed=printed)
        held = outcome(Session(), kept, statements, junit, kept.manifest.program)
    if cancel.cancelled:
        raise Cancelled("interrupted; what was finished is kept")
    if not held or not done or emit.count:
        ctx.exit(1)


def _show(kept: Study, shown: tuple[int, ...], request: Request, *, as_json: bool, printed: Printed) -> bool:
    """Print the runs of the request's target in a study; return whether all ended well."""
    target = request.target
    mine = target.point_name
    every = kept.runs(output=True, target=mine)
    records = shown_runs(every)
    others = kept.variants(output=as_json, target=mine)
    report(
        kept.manifest.program,
        place_of(kept, target.name),
        records,
        shown,
        others,
        as_json=as_json,
        printed=printed,
        place=kept.path,
        regions=kept.manifest.regions,
        timed_part=request.timed,
        every=every,
        verify=request.verify,
    )
    if not as_json:
        print_traces(kept)
    return all(record.ok for record in (*records, *others))


def submit(
    request: Request, study: Path | None, emit: EventSink, cancel: CancelToken, traced: TraceGiven | None
) -> Study:
    """Carry the request out; name sources in its faults as the user did, not by their place in a request."""
    return as_typed(lambda: Session().submit(request, study, emit, cancel, traces=traced.directory if traced else None))


def as_typed(work: Callable[[], _Found]) -> _Found:
    """Return what *work* returns; its faults name options in place of keys of a request."""
    try:
        return work()
    except InputError as error:
        faults = [replace(fault, key=option(_KEYS.sub("", fault.key))) for fault in error.faults]
        raise InputError(faults) from error


def make_request(given: Given) -> tuple[Request, tuple[int, ...]]:
    """Return the request and the processor counts to show; raise `InputError` with every fault of the options."""
    faults: list[Fault] = _not_utf8(given)
    overrides = _collect(faults, lambda: pairs("--set", given.overrides)) or {}
    env = _collect(faults, lambda: pairs("--env", given.env)) or {}
    settings = _collect(faults, lambda: pairs("--target-set", given.target_set)) or {}
    parameters = _collect(faults, lambda: _parameters(given.parameters)) or {}
    wanted = given.machine or programs.machine_for(() if given.executable else given.sources)
    machine = _collect(faults, lambda: machines.load(wanted, overrides))
    counts = [] if machine is None else _collect(faults, lambda: _chosen_counts(given, machine, settings)) or []
    try:
        loops.parse(given.schedule)
    except ValueError as error:
        faults.append(Fault(str(error), key="--schedule"))
    args_at = _collect(faults, lambda: _arguments_at(given)) or {}
    cflags = _collect(faults, lambda: _words("--cflags", given.cflags)) or ()
    ldflags = _collect(faults, lambda: _words("--ldflags", given.ldflags)) or ()
    variants = _collect(faults, lambda: what_ifs(_ideals(given), given.speedups)) or ()
    if faults := [*faults, *_contradictions(given)]:
        raise InputError(faults)
    request = Request(
        program=ProgramChoice(
            **_which(given, cflags, ldflags),
            env=env,
            args_at=args_at,
            stdin=_input(given),
            directory=str(Path.cwd()),  # a study that is opened elsewhere finds its sources again
            cwd=str(given.cwd or ""),
            accept_exit=given.accept_exit,
            threads_per_process=given.threads_per_process,
            ranks_per_node=given.ranks_per_node,
        ),
        parameters=parameters,
        machine=MachineChoice(**{_named_by(wanted): wanted}, overrides=overrides),
        target=TargetChoice(
            name=given.target,
            settings=settings,
            pin=given.pin,
            warm_up=given.warm_up,
            until=given.until,
            most_runs=given.most_runs,
            disturbed=given.disturbed,
        ),
        processors=tuple({1, *counts} if given.reference else counts),
        repetitions=given.repeat,
        reference=given.reference,
        schedule=given.schedule,
        collect=_what_to_collect(given),
        what_if=tuple(what.model_copy(update={"processors": tuple(sorted(counts))}) for what in variants),
        limits=given.limits,
        timed=given.timed,
        work=given.work,
        verify=given.verify,
        trace=given.trace.choice.model_copy(update={"processors": tuple(sorted(counts))}) if given.trace else None,
    )
    return request, tuple(counts)


def _chosen_counts(given: Given, machine: machines.Machine, settings: dict[str, str]) -> list[int]:
    return parse_processors(_counts(given, machine), *most_processors(given.target, machine, settings))


def _what_to_collect(given: Given) -> Collect:
    return Collect(
        regions=given.regions, classes="classes" in given.collect, sample=given.sample, monitor=given.monitor
    )


def _contradictions(given: Given) -> list[Fault]:
    """Return a fault for each option that wants what another one leaves out."""
    whole = (("--collect", "classes" in given.collect), ("--trace", given.trace is not None))
    text = "needs the whole run, and --sample leaves most of it out"
    faults = [Fault(text, key=key) for key, wanted in whole if wanted and given.sample]
    if given.monitor != "none" and not given.regions:
        faults.append(Fault("monitoring observes regions, and --no-instrument leaves them out", key="--monitor"))
    return faults


def _not_utf8(given: Given) -> list[Fault]:
    """Return a fault for each name or argument that a request, which is text, cannot hold."""
    words = [
        given.machine,
        given.cflags,
        given.ldflags,
        given.executable,
        given.build,
        str(given.stdin),
        str(given.cwd),
    ]
    words += [*given.sources, *given.arguments, *given.overrides, *given.include, *given.env, str(Path.cwd())]
    return [
        Fault("a name in UTF-8 was expected; rename it, or link to it", file=word)
        for word in words
        if not word.isascii() and word != word.encode("utf-8", "replace").decode()
    ]


def _counts(given: Given, machine: machines.Machine) -> str:
    """Return the counts that were requested, else those that show how a program scales on *machine*."""
    if given.processors is not None:
        return given.processors
    return f"1..{min(max(OWN_PROCESSORS), most_processors(given.target, machine)[0])}"


def _named_by(machine: str) -> str:
    """Return the field of a request that takes the machine: its file, or its name."""
    return "path" if machine.endswith(".toml") or "/" in machine else "name"


def _parameters(given: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters by name, several for a sweep; raise `InputError` if that is not what they are."""
    try:
        found = read_sizes(";".join(given)) if given else {}
    except ValueError as error:
        raise InputError(Fault(str(error), key="--parameter")) from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _which(given: Given, cflags: tuple[str, ...], ldflags: tuple[str, ...]) -> dict[str, Any]:
    """Return the program as a request names it: sources, or a shipped program by its name; with arguments and flags."""
    plain: dict[str, tuple[str, ...]] = {"include": given.include, "cflags": cflags, "ldflags": ldflags}
    arguments = given.arguments if given.parameters else programs.verbatim(given.arguments)
    if executable := _executable(given):
        return plain | {"executable": executable, "build": given.build, "args": arguments}
    return programs.chosen(given.sources, arguments, **plain)


def _input(given: Given) -> str:
    return str(given.stdin or redirected([given.executable] if given.executable else given.sources) or "")


def _arguments_at(given: Given) -> dict[int, str]:
    """Return the arguments by number of processors; braces that stand for nothing stay, as in those behind ``--``."""
    found = {}
    for count, words in pairs("--args-at", given.args_at).items():
        if not count.strip().isdecimal():
            raise InputError(
                Fault(f"'{count}={words}': a number of processors was expected before the '='", key="--args-at")
            )
        found[int(count)] = words if given.parameters else programs.verbatim((words,))[0]
    return found


def _executable(given: Given) -> str:
    """Return the executable that is to run, "" if there are sources; raise `InputError` when it is both or neither."""
    if given.executable and given.sources:
        raise InputError("sources and --exe were given; expected one of them")
    if given.build and not given.executable:
        raise InputError(Fault("the program that the command builds must be named: --exe FILE", key="--build"))
    if given.executable:
        return given.executable
    if not given.sources:
        raise InputError("nothing to simulate was named; expected sources, an executable, or a shipped program")
    only = given.sources[0]
    return only if len(given.sources) == 1 and is_executable(Path(only)) else ""


def _ideals(given: Given) -> tuple[str, ...]:
    """Return the requested ideals, those that the POP efficiencies of an MPI program need among them."""
    if not given.ideal_network:
        return given.ideals
    return (*given.ideals, "sync+messages" if given.threads_per_process > 1 else "messages")


def _words(option: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(Fault(f"cannot be split into words ({str(error).lower()}): {text}", key=option)) from error


def _collect(faults: list[Fault], read: Callable[[], _Found]) -> _Found | None:
    """Return what *read* returns, or add its faults."""
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None


def _print_output(record: RunRecord, *, by_rank: bool) -> None:
    ranks = record.rank_output if by_rank else None
    if by_rank and ranks is None:
        echo("(which rank printed what is not known: not all of it was written with streams of the C library)")
    if ranks is None:
        echo(record.stdout, nl=not record.stdout.endswith("\n"), exact=True)
    for rank, text in enumerate(ranks or ()):
        if text:
            echo(f"--- rank {rank}")
            echo(text, nl=not text.endswith("\n"), exact=True)


def report(
    program: str,
    machine: tuple[str, str],
    records: Sequence[RunRecord],
    shown: Sequence[int],
    others: Sequence[RunRecord] = (),
    *,
    as_json: bool,
    printed: Printed = "",
    place: Path | None = None,
    regions: Sequence[Region] = (),
    timed_part: str = "",
    every: Sequence[RunRecord] = (),
    verify: bool = False,
) -> None:
    """Print the runs of the processor counts *shown*, and those that failed; then *others*, the what-if runs.

    *machine* is its name and title, *place* the study's file, *regions* what the loss is attributed to, *timed_part*
    what is shown beside the whole run, as ``--timed`` names it, *every* all repetitions.
    """
    ordered = sorted(records, key=lambda record: record.point.processors)
    part = as_typed(lambda: chosen_part(ordered, regions, timed_part))
    keys = [record.point.key for record in ordered if record.point.processors in shown or not record.ok]
    if as_json:
        made = document(program, machine[0], ordered, keys, others, place, part or clock_part(ordered), every)
        print_json(made | {"verified": verified_documents(ordered, others, regions)} if verify else made)
        return
    if printed:
        for record in ordered:
            if record.point.key in keys:
                echo(f"--- output of {record.point.label()}")
                _print_output(record, by_rank=printed == "ranks")
    told = [record for record in ordered if record.point.key in keys or record.point.processors == 1]
    print_losses(told, regions, others)
    print_table(f"{program} on {machine[1]}", ordered, keys, part)
    print_what_if(ordered, others, regions)
