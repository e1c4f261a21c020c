"""``scalegraph simulate``: an unmodified program on a simulated machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import click

from scalegraph.analyze.timed import chosen_part, clock_part
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, InputError
from scalegraph.base.events import EventSink
from scalegraph.base.patterns import pattern
from scalegraph.base.run import Region, RunRecord
from scalegraph.cli.asked import request_options
from scalegraph.cli.asserting import assert_options, check_given, outcome
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.measuring.options import place_of, shown_runs
from scalegraph.cli.openmp import openmp_options, openmp_variables
from scalegraph.cli.output import echo, print_json
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.progress import Unrecorded, progress
from scalegraph.cli.run_table import document, print_losses, print_table, verified_documents
from scalegraph.cli.simulating import lists
from scalegraph.cli.simulating.choices import (
    beside_machine,
    chosen_parts,
    print_schedules,
    search_document,
    together,
    with_choice,
)
from scalegraph.cli.simulating.request import make_request
from scalegraph.cli.tracing import TraceGiven, option, print_traces, trace_given, trace_options, with_value
from scalegraph.cli.what_if import print_what_if
from scalegraph.request import Session
from scalegraph.request.model.request import (
    Request,
)
from scalegraph.request.run.automatic import without_tries
from scalegraph.store import Study

_KEYS = pattern(r"^program\.\w+(\.\d+)?$")
_Found = TypeVar("_Found")
Printed: TypeAlias = Literal["", "whole", "ranks"]  # of a program's output


class ProgramArguments(click.Command):
    """A command that passes everything after ``--`` to the user's program unchanged."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remove everything after the first ``--`` from *args*."""
        if "--" in args:
            split = args.index("--")
            ctx.meta["program_arguments"] = tuple(args[split + 1 :])
            args = args[:split]
        return super().parse_args(ctx, with_value(args))

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Mention the program's arguments, which click does not know about."""
        formatter.write_usage(ctx.command_path, "SRC...|EXECUTABLE [OPTIONS] [-- ARGS]")


@click.command("simulate", cls=ProgramArguments)
@click.argument("sources", metavar="SRC...|EXECUTABLE", nargs=-1)
@request_options(lists.OPTIONS)
@openmp_options
@click.option("--show-output", is_flag=True, help="Print the program's output, run by run.")
@click.option("--output-by-rank", is_flag=True, help="The same for an MPI program, one rank after the other.")
@click.option(
    "--ideal-network",
    is_flag=True,
    help="Run again with messages that take no time: serialisation and transfer of the POP efficiencies are"
    " exact then.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option("-o", "--output", "study", type=WRITTEN_FILE, metavar="STUDY", help="Keep the runs in a study file.")
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
    show_output: bool,
    output_by_rank: bool,
    as_json: bool,
    statements: tuple[str, ...],
    junit: Path | None,
    program_env: tuple[str, ...],
    **given: Any,
) -> None:
    """Run an unmodified parallel program on a simulated machine.

    SRC are sources in C, C++ or Fortran (possibly with objects and archives), EXECUTABLE is a program linked by
    scalegraph-cc, scalegraph-c++ or scalegraph-fc. The program is run once for each processor count with ARGS; in
    these, and in the values of --env, {N} stands for that count. Speedup and latency need the one-processor run, so it
    is made even if -p does not name it, unless --no-reference is given. SRC may also be the name of a shipped program
    (such as billiard, ge1, qs1), which gets its default arguments if there are no ARGS.
    """
    traced = trace_given(ctx, study)
    given["program_env"] = (*openmp_variables(openmp, task_queue), *program_env)
    request, shown = make_request(given, ctx.meta.get("program_arguments", ()), traced)
    check_given(statements, junit)
    with interruptible() as cancel, progress() as bar:
        emit = Unrecorded(bar)
        kept = submit(request, study, emit, cancel, traced)
    with kept:
        printed: Printed = "ranks" if output_by_rank else "whole" if show_output else ""
        done = _show(kept, shown, request, as_json=as_json, printed=printed)
        held = outcome(Session(), kept, statements, junit, kept.manifest.program)
    if cancel.cancelled:
        raise Cancelled("interrupted; finished runs are kept")
    if not held or not done or emit.count:
        ctx.exit(1)


def _show(kept: Study, shown: tuple[int, ...], request: Request, *, as_json: bool, printed: Printed) -> bool:
    """Print the runs of the request's target in a study; return whether all succeeded."""
    parts, left_out = chosen_parts(kept, request)
    documents = []
    done = True
    for part in parts:
        mine = request.target.point_name
        every = part.runs(output=True, target=mine)
        records = shown_runs(every)
        others = part.variants(output=as_json, target=mine)
        done = done and all(record.ok for record in (*records, *others))
        others = without_tries(part, others)
        place = place_of(part, request.target.name)
        if request.space.varies:
            place = (place[0], ", ".join(filter(None, (place[1], beside_machine(part.choice)))))
        made = report(
            part.manifest.program,
            place,
            records,
            shown,
            others,
            as_json=as_json,
            printed=printed,
            place=part.path,
            regions=part.manifest.regions,
            timed_part=request.timed,
            every=every,
            verify=request.verify,
        )
        documents.append(with_choice(made, part))
        if not as_json:
            print_schedules(part, records)
    if as_json:
        searched = search_document(kept) if request.space.budget else {}
        print_json(together(documents, left_out) | searched if request.space.varies else documents[0])
    else:
        print_traces(kept)
    return done


def submit(
    request: Request, study: Path | None, emit: EventSink, cancel: CancelToken, traced: TraceGiven | None
) -> Study:
    """Carry out the request; faults name sources as the user did, not by their path in the request."""
    return as_typed(lambda: Session().submit(request, study, emit, cancel, traces=traced.directory if traced else None))


def as_typed(work: Callable[[], _Found]) -> _Found:
    """Return the result of *work*; its faults name options instead of keys of a request."""
    try:
        return work()
    except InputError as error:
        faults = [replace(fault, key=option(_KEYS.sub("", fault.key))) for fault in error.faults]
        raise InputError(faults) from error


def _print_output(record: RunRecord, *, by_rank: bool) -> None:
    ranks = record.rank_output if by_rank else None
    if by_rank and ranks is None:
        echo("(which rank printed what is unknown: some of it was not written through C library streams)")
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
) -> dict[str, Any]:
    """Print the runs on the processor counts *shown*, and failed ones; then *others*, the what-if runs.

    *machine* is its name and title, *place* the study's file, *regions* those of the loss, *timed_part* the part shown
    beside the whole run, as named by ``--timed``, *every* all repetitions. With *as_json* nothing is printed: the
    document is returned.
    """
    ordered = sorted(records, key=lambda record: record.point.processors)
    part = as_typed(lambda: chosen_part(ordered, regions, timed_part))
    keys = [record.point.key for record in ordered if record.point.processors in shown or not record.ok]
    if as_json:
        made = document(program, machine[0], ordered, keys, others, place, part or clock_part(ordered), every)
        return made | {"verified": verified_documents(ordered, others, regions)} if verify else made
    if printed:
        for record in ordered:
            if record.point.key in keys:
                echo(f"--- output of {record.point.label()}")
                _print_output(record, by_rank=printed == "ranks")
    told = [record for record in ordered if record.point.key in keys or record.point.processors == 1]
    print_losses(told, regions, others)
    print_table(f"{program} on {machine[1]}", ordered, keys, part)
    print_what_if(ordered, others, regions)
    return {}
