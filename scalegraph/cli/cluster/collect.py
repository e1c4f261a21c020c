"""``scalegraph collect``: the results of batch jobs; and the output of ``run --write-jobs``."""

from __future__ import annotations

from pathlib import Path

import click

from scalegraph.base.units import counted
from scalegraph.cli.output import echo, print_json
from scalegraph.cli.places import WRITTEN_FILE


@click.command("collect")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="STUDY",
    type=WRITTEN_FILE,
    help="The study; by default the one that the jobs were written for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
@click.pass_context
def collect(ctx: click.Context, directory: Path, output: Path | None, *, as_json: bool) -> None:
    """Put the results of the batch jobs in DIR into their study.

    DIR was written by 'scalegraph run REQUEST.toml --write-jobs DIR'. Results already in the study are kept; jobs that
    have not run yet are counted. Collect as often as you like.
    """
    from scalegraph.request.run.batches import collect as put

    done = put(directory, output)
    if as_json:
        print_json(
            {
                "study": str(done.study),
                "collected": done.fresh,
                "known": done.known,
                "missing": done.missing,
                "failures": done.failures,
            }
        )
    else:
        for failure in done.failures:
            echo(failure, err=True)
        parts = [f"{counted(done.fresh, 'run')} collected into {done.study}"]
        parts += [f"{done.known} already there"] if done.known else []
        parts += [f"{done.missing} not run yet"] if done.missing else []
        echo(", ".join(parts))
    if done.failures:
        ctx.exit(1)
