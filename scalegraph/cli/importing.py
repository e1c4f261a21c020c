"""``scalegraph import``: tables of runs become studies."""

from __future__ import annotations

from pathlib import Path

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.request.tables import read_runs
from scalegraph.store import Study


@click.command("import")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="STUDY", type=click.Path(dir_okay=False, path_type=Path),
              help="The study file; FILE.sgstudy beside it if not given.")  # fmt: skip
def import_(source: Path, output: Path | None) -> None:
    """Make a study of FILE: a table of runs (.csv) in ScaleGraph's columns, or a copy of another study.

    The table needs the columns `processors` and `time_s` (seconds); `param.NAME` columns hold the program's
    parameters, and any column of `scalegraph analyze --what runs` may be there.
    """
    if not source.exists():
        raise InputError(Fault("no such file", file=str(source)))
    target = output or source.with_suffix(".sgstudy")
    ending = source.suffix.lower()
    if ending == ".csv":
        study = read_runs(source)
    elif ending == ".sgstudy":
        study = Study.open(source)
    else:
        raise InputError(
            Fault(
                f"'{ending or source.name}' is not a format that can be imported; this version reads tables of runs "
                "(.csv) and studies (.sgstudy)",
                file=str(source),
            )
        )
    with study:
        if target.exists():
            raise InputError(Fault("exists already; choose another name with -o", file=str(target)))
        study.save_as(target)
        click.echo(f"{len(study)} runs in {target}")
