"""``scalegraph machines``: the available targets, their values and the origin of each."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from scalegraph import machine
from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.calibrate import calibrate
from scalegraph.cli.output import echo, print_json, print_rows

_PROSE = ("title", "summary")  # keys of the texts around the table


@click.group("machines", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.pass_context
def machines(ctx: click.Context, *, as_json: bool) -> None:
    """List the shipped machines; show all values of one, check a machine file, or measure this host."""
    if ctx.invoked_subcommand is not None:
        return
    known = machine.available()
    if as_json:
        print_json(
            [
                {
                    "name": item.name,
                    "title": item.title,
                    "processors": item.processors_max,
                    "processors_of_a_process": item.process_max,
                    "threads_of_a_run": item.processors_max,
                    "path": str(item.path),
                }
                for item in known
            ]
        )
        return
    rows = [[item.name, f"1 to {item.processors_max}", str(item.process_max), item.title] for item in known]
    print_rows(("name", "processors", "of a process", "title"), rows, left=(0, 3))
    echo("\nA process without MPI has the processors of one node at most.")


@machines.command("show")
@click.argument("name")
@click.option("--toml", "as_toml", is_flag=True, help="Print it as a machine file, as a template for your own.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
def show(name: str, *, as_toml: bool, as_json: bool) -> None:
    """Show every value of machine NAME (or of a machine file): its unit, meaning and origin."""
    found = machine.load(name)
    if as_toml:
        echo(found.to_toml(), nl=False, exact=True)
        return
    fields = machine.describe(found)
    if as_json:
        rows = [
            {"key": f.key, "value": f.value, "unit": f.unit, "description": f.description, "origin": f.origin}
            for f in fields
        ]
        print_json({"name": found.name, "title": found.title, "values": rows})
        return
    cells = [[f.key, str(f.value), f.unit, f.origin, f.description] for f in fields if f.key not in _PROSE]
    print_rows(("key", "value", "unit", "origin", "meaning"), cells, title=found.title, left=(0, 2, 3, 4))
    echo("\n" + textwrap.fill(found.summary, 100))


@machines.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(files: tuple[Path, ...]) -> None:
    """Check machine files: prints every fault with its line, and `ok` for a file without faults."""
    faults: list[Fault] = []
    for file in files:
        try:
            found = machine.load(str(file.absolute()))  # a path, even if it equals a shipped machine's name
        except InputError as error:
            faults += error.faults
        else:
            echo(f"{file}: ok: {found.title}, 1 to {found.max_processors} processors")
    if faults:
        raise InputError(faults)


machines.add_command(calibrate)
