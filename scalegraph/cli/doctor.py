"""``scalegraph doctor``: what works here, and what to install."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from scalegraph.cli.checks import Check, all_checks
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.progress import progress

_WORDS = {"ok": "ok", "missing": "MISSING", "remark": "note"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> None:
    """Check what works on this computer and say what to install.

    Ends with exit code 1 if simulations cannot run here. Studies can be opened in any case.
    """
    with progress():  # the first check of the simulator builds it
        checks = list(all_checks())
    broken = [check for check in checks if check.state == "missing" and check.needed]
    if as_json:
        print_json({"usable": not broken, "checks": [asdict(check) for check in checks]})
    else:
        print_rows(("check", "", "found"), [_row(check) for check in checks], left=(0, 1, 2))
        _advise(checks, broken)
    if broken:
        ctx.exit(1)


def _row(check: Check) -> tuple[str, str, str]:
    return check.name, _WORDS[check.state], check.found


def _advise(checks: Sequence[Check], broken: Sequence[Check]) -> None:
    echo()
    for check in checks:
        if check.advice and check.state != "ok" and not check.advice.startswith("nothing"):
            echo(f"{check.name}: {check.advice}")
    if broken:
        echo("Simulations cannot run here yet; studies can be opened all the same.")
    else:
        echo("Simulations can run here.")
