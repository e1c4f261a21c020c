"""``scalegraph schedules``: the schedules of worksharing loops that there are."""

from __future__ import annotations

import click

from scalegraph.cli.output import print_json, print_rows
from scalegraph.runtime import schedules as known


@click.command("schedules")
@click.option("--list", "listing", is_flag=True, help="List the schedules that there are; also what it does alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
def schedules(*, listing: bool, as_json: bool) -> None:
    """List the schedules that a worksharing loop can have: names for --schedule, their parameters and origin."""
    del listing
    found = known.shipped()
    if as_json:
        print_json({"schedules": [one.document() for one in found]})
        return
    rows = [
        [one.name, one.title, ", ".join(f"{p.name}={p.default}" for p in one.parameters), one.reference]
        for one in found
    ]
    print_rows(("name", "what it does", "parameters", "reference"), rows, left=(0, 1, 2, 3))
