"""``scalegraph instrument``: what the preprocessor inserts into a source."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.files import reason, write_atomic
from scalegraph.base.run import Region
from scalegraph.cli.output import echo, print_json
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.instrument import Detail, Instrumented, instrument_source
from scalegraph.instrument.headers import working


@click.command("instrument")
@click.argument("source", metavar="SRC", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=WRITTEN_FILE,
    help="Write the instrumented source to a file instead of standard output.",
)
@click.option(
    "--detail",
    type=click.Choice(get_args(Detail)),
    default="outer",
    show_default=True,
    help="Which loops become regions.",
)
@click.option("--regions", is_flag=True, help="List the regions instead of the source.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: source, regions, remarks.")
@click.pass_context
def instrument(
    ctx: click.Context, source: Path, output: Path | None, detail: Detail, *, regions: bool, as_json: bool
) -> None:
    """Show SRC with the region probes that ScaleGraph inserts before it compiles a program.

    Line numbers and the program's result do not change; SRC itself is never modified.
    """
    text = _text(source)
    made = instrument_source(text, str(source), detail=detail, working=working(source, text))
    if output is not None:
        _write(source, output, made)
    if as_json:
        print_json(
            {
                "file": str(source),
                "detail": detail,
                "regions": [region.model_dump() for region in made.regions],
                "remarks": [str(fault) for fault in made.faults],
                "text": _printable(made.text),
            }
        )
    elif regions:
        _list(made.regions)
    elif output is None:
        echo(_printable(made.text), nl=not made.text.endswith("\n"), exact=True)
    for fault in made.faults:
        echo(str(fault), err=True)
    if made.errors:
        ctx.exit(InputError.exit_code)


def _text(source: Path) -> str:
    try:
        if source.is_dir():
            raise InputError(Fault("is a directory; a C source was expected", file=str(source)))
        return source.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError as error:
        raise InputError(Fault("no such file", file=str(source))) from error
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(source))) from error


def _write(source: Path, output: Path, made: Instrumented) -> None:
    if output.exists() and output.samefile(source):
        raise InputError(Fault("is the source itself; another name was expected for the output", file=str(output)))
    write_atomic(output, made.text.encode("utf-8", "surrogateescape"))


def _printable(text: str) -> str:
    """Return *text* with bytes that are not UTF-8 replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _list(regions: list[Region]) -> None:
    """Print the regions as a tree, one per line."""
    inside: dict[int | None, list[Region]] = {}
    for region in regions:
        inside.setdefault(region.parent, []).append(region)

    def show(parent: int | None, depth: int) -> None:
        for region in inside.get(parent, []):
            lines = f"{region.line}-{region.end_line}" if region.line else ""
            echo(f"{region.id:>4}  {lines:>11}  {'  ' * depth}{region.kind} {region.name}".rstrip())
            show(region.id, depth + 1)

    echo("  id        lines  region")
    show(None, 0)
