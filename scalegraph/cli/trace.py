"""``scalegraph trace``: what is in a trace, whether it is consistent, and conversion to other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted, si, thousands
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.places import WRITTEN
from scalegraph.cli.progress import share_bar
from scalegraph.cli.trace_input import warn_of_damage
from scalegraph.traces.kinds import KINDS
from scalegraph.traces.model import Trace

_FILE = click.argument("file", type=click.Path(path_type=Path))
_FORMAT = click.option("--format", "name", metavar="NAME", default="", help="The format of FILE; detected by default.")
_PARTIAL = click.option("--partial", is_flag=True, help="Read as much of a damaged file as possible.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of sentences.")


@click.group("trace", invoke_without_command=True)
@click.option("--list-formats", is_flag=True, help="List the readable and writable formats.")
@click.pass_context
def trace(ctx: click.Context, *, list_formats: bool) -> None:
    """Show what is in a trace, check it, or convert it to another format."""
    if list_formats:
        from scalegraph.traces.formats import readers, writers

        rows = [
            [reader.name, "yes" if reader.name in writers() else "", " ".join(reader.endings), reader.title]
            for reader in readers().values()
        ]
        print_rows(("format", "written", "endings", "title"), rows, left=(0, 1, 2, 3))
    elif ctx.invoked_subcommand is None:
        echo(ctx.get_help())


@trace.command("info")
@_FILE
@_FORMAT
@_PARTIAL
@_JSON
def info(file: Path, name: str, *, partial: bool, as_json: bool) -> None:
    """Show what trace FILE contains: locations, events of each kind, the clock, and data that was not understood."""
    with _read(file, name, partial=partial) as found:
        if as_json:
            print_json(_summary(found))
            return
        _tell(file, found)


@trace.command("check")
@_FILE
@_FORMAT
@_PARTIAL
@_JSON
@click.pass_context
def check(ctx: click.Context, file: Path, name: str, *, partial: bool, as_json: bool) -> None:
    """Check that trace FILE is consistent; exit code 1 if it is not.

    Enters and leaves nest, time does not go back, messages are received after they are sent, everything is inside the
    run and refers to existing definitions.
    """
    from scalegraph.traces import checking

    with _read(file, name, partial=partial, bounded=False) as found:
        with interruptible() as token, share_bar("checking") as progress:
            report = checking.check(found, token, progress)
        if as_json:
            rows = [
                {
                    "rule": v.rule,
                    "kind": v.kind,
                    "count": v.count,
                    "location": v.location,
                    "time": v.time,
                    "row": v.row,
                    "sentence": v.sentence(),
                }
                for v in report.violations
            ]
            print_json(
                {
                    "file": str(file),
                    "holds": report.holds,
                    "checked": report.checked,
                    "damage": found.meta.damage,
                    "violations": rows,
                }
            )
        else:
            warn_of_damage(found)
            for violation in report.violations:
                echo(violation.sentence())
            count, broken = sum(report.checked.values()), len(report.violations)
            verdict = f"{broken} rule{' does' if broken == 1 else 's do'} not hold" if broken else "no contradiction"
            echo(f"{counted(count, 'row')} checked: {verdict}")
        if not report.holds or found.meta.damage:
            ctx.exit(1)


@trace.command("convert")
@_FILE
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=WRITTEN,
    help="The output file; its extension gives the format.",
)
@click.option("--to", "target", metavar="NAME", default="", help="The format of OUT.")
@_FORMAT
@_PARTIAL
@_JSON
def convert(file: Path, output: Path, target: str, name: str, *, partial: bool, as_json: bool) -> None:
    """Write trace FILE as OUT; data that the format of OUT cannot hold is counted and reported."""
    from scalegraph.traces.formats import Writing, writer_for

    writer = writer_for(output, target)
    if output.exists() and file.exists() and output.samefile(file):
        raise InputError(Fault("would be overwritten while it is read; choose another name", file=str(output)))
    with _read(file, name, partial=partial) as found, interruptible() as token, share_bar("writing") as progress:
        writing = Writing(found, output, token, progress)
        writer.write(writing)
        if as_json:
            print_json(
                {
                    "file": str(output),
                    "format": writer.name,
                    "counts": found.counts(),
                    "lost": writing.lost,
                    "damage": found.meta.damage,
                }
            )
            return
        warn_of_damage(found)
    for what, count in writing.lost.items():
        echo(f"scalegraph: not written, as {writer.title} cannot hold them: {thousands(count)} {what}", err=True)
    echo(f"{output}: written as {writer.title}")


def _read(file: Path, name: str, *, partial: bool, bounded: bool = True) -> Trace:
    from scalegraph.request.imports.kinds import refuse_no_trace
    from scalegraph.traces.reading import anchor, read

    if not name:
        refuse_no_trace(anchor(file))
    with interruptible() as token, share_bar("reading") as progress:
        return read(file, name=name, partial=partial, cancel=token, progress=progress, bounded=bounded)


def _summary(found: Trace) -> dict[str, Any]:
    meta, definitions = found.meta, found.definitions
    return {
        "source": meta.source,
        "format": meta.format,
        "program": meta.program,
        "creator": meta.creator,
        "ticks_per_second": meta.ticks_per_second,
        "offset": meta.offset,
        "begin": meta.begin,
        "end": meta.end,
        "seconds": found.seconds,
        "definitions": {table: len(rows) for table, rows in definitions.as_data().items()},
        "counts": {kind: found.count(kind) for kind in KINDS},
        "notes": [{"what": note.what, "count": note.count} for note in meta.notes],
        "damage": meta.damage,
        "properties": meta.properties,
    }


def _tell(file: Path, found: Trace) -> None:
    meta, definitions = found.meta, found.definitions
    warn_of_damage(found)
    echo(f"{file.name}: {meta.format}" + (f", of {meta.program}" if meta.program else ""))
    echo(f"run: {si(found.seconds, 's')}, ticks {meta.begin} to {meta.end} of {si(meta.ticks_per_second, 'Hz')}")
    tables = [f"{thousands(len(rows))} {table}" for table, rows in definitions.as_data().items() if rows]
    echo("with " + (", ".join(tables) or "no definitions"))
    rows = [[kind, thousands(count), KINDS[kind].text] for kind, count in found.counts().items()]
    if rows:
        print_rows(("events", "count", ""), rows, left=(0, 2))
    for note in meta.notes:
        echo(f"{'not understood' if note.count else 'note'}: {note.words}")
