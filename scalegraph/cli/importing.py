"""``scalegraph import``: measurements of other tools, and tables, become studies."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli import mapping_words
from scalegraph.cli.import_report import describe, no_runs, report, show_formats, show_preview
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import print_json
from scalegraph.cli.pairs import pairs
from scalegraph.cli.places import WRITTEN_FILE, as_argument
from scalegraph.cli.progress import share_bar
from scalegraph.store import Study

if TYPE_CHECKING:
    from scalegraph.measurements.table import TableChoices

_SUFFIX = ".sgstudy"


@click.command("import")
@click.argument("sources", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="STUDY",
    type=WRITTEN_FILE,
    help="The study file; by default FILE.sgstudy next to the first FILE.",
)
@click.option("--format", "name", metavar="NAME", default="", help="The format; detected by default.")
@click.option("--list-formats", is_flag=True, help="List the formats.")
@click.option("--processors", metavar="P", help="The parameter that counts the processors, or none.")
@click.option("--time", metavar="METRIC", help="The metric that is the elapsed time, or none.")
@click.option(
    "--rate",
    metavar="COLUMN",
    help="The metric that is work per second; larger is better, and times are computed from it.",
)
@click.option("--unit", metavar="UNIT", help="Its unit: s, ms, us, ns, min, h, cycles; 1/s of a rate.")
@click.option(
    "--clock",
    "clock_hz",
    metavar="HZ",
    type=click.FloatRange(min=0, min_open=True),
    help="Clock rate in Hz, if the unit is cycles.",
)
@click.option("--total", metavar="PATH", help="The call path that is the whole program; * for all together.")
@click.option("--summed/--elapsed", default=None, help="Whether times are sums over the processors.")
@click.option(
    "--values",
    "extent",
    type=click.Choice(["inclusive", "exclusive"]),
    help="Whether values of a call path include those below it, if the file does not say.",
)
@click.option(
    "--scaling",
    type=click.Choice(["strong", "weak"]),
    help="Whether the problem grows with the processors, if no size shows it.",
)
@click.option("--sizes", metavar="A,B,..", help="The parameters that are problem sizes, or none.")
@click.option(
    "--as",
    "columns",
    multiple=True,
    metavar="COLUMN=METRIC",
    help="A metric for a column of the run table, as in work_flops=PAPI_DP_OPS; repeatable.",
)
@click.option("--names", metavar="A,B,..", help="For a table: its column names, if no line has them.")
@click.option("--header", type=click.IntRange(min=0), metavar="LINE", help="For a table: the line with names; 0: none.")
@click.option(
    "--column",
    "roles",
    multiple=True,
    metavar="NAME=ROLE",
    help="For a table: the role of a column: parameter, metric, region, metric_name, value, unit, repetition, "
    "wide, skip; repeatable.",
)
@click.option(
    "--cell",
    "cells",
    multiple=True,
    metavar="LINE:COLUMN=none",
    help="For a table: a cell without a value; LINE=skip leaves out its row; repeatable.",
)
@click.option(
    "--across",
    metavar="NAME",
    help="For a table: the parameter whose values its columns are, repetition, or none; variant: of the program.",
)
@click.option("--delimiter", metavar="C", default="", help="For a table: the delimiter; tab, space, or a character.")
@click.option("--decimal", type=click.Choice([".", ","]), help="For a table: the decimal separator.")
@click.option("--comment", metavar="C", default="", help="For a table: the prefix of comment lines.")
@click.option("--encoding", metavar="NAME", default="", help="For a table: utf-8, latin-1, ..")
@click.option("--preview", is_flag=True, help="Say how FILE would be read and what is uncertain; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of sentences.")
def import_(
    sources: tuple[Path, ...],
    output: Path | None,
    name: str,
    *,
    list_formats: bool,
    preview: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Make a study from measurements: one from each FILE, all with the same parameters, or from a directory.

    Formats are detected (--list-formats lists them); the meaning of the names in a file is guessed, and where that is
    not safe, one line per question says which option answers it. A table of runs with ScaleGraph's own columns
    (`scalegraph analyze --what runs`) and a study (.sgstudy, copied) are accepted, too.
    """
    if list_formats:
        show_formats()
        return
    if not sources:
        raise InputError(Fault("a file or directory with measurements was expected; --list-formats says which"))
    missing = [Fault("no such file", file=str(source)) for source in sources if not source.exists()]
    if missing:
        raise InputError(missing)
    choices = _choices(said)
    answers = _answers(said)
    if preview:
        show_preview(sources, name, choices, answers, as_json=as_json)
        return
    target = output or sources[0].absolute().with_name(f"{sources[0].absolute().stem}{_SUFFIX}")
    if target.exists():
        raise InputError(Fault("exists already; choose another name with -o", file=str(target)))
    with _study(sources, name, choices, answers) as study:
        if target.exists():
            raise InputError(Fault("exists already; choose another name with -o", file=str(target)))
        study.save_as(target)
        if as_json:
            print_json(describe(study, target))
        else:
            report(study, target)
        if not len(study):
            no_runs(study)
            raise SystemExit(1)


def _study(sources: tuple[Path, ...], name: str, choices: TableChoices, answers: dict[str, Any]) -> Study:
    from scalegraph.measurements.mapping import Unanswered
    from scalegraph.request.imports import sets as imports

    try:
        with interruptible() as token, share_bar("reading") as progress:
            return imports.opened(sources, name=name, choices=choices, said=answers, cancel=token, progress=progress)
    except Unanswered as error:
        if not error.together:
            raise
        line = Fault(f"to take every guess: {_again()} {error.together}", severity="remark")
        raise InputError([*error.points(), line]) from None


def _again() -> str:
    """Return the running command as it was typed, for one more option behind it."""
    context = click.get_current_context()
    words: list[str] = []
    for one in context.command.params:
        value = context.params.get(str(one.name))
        if context.get_parameter_source(str(one.name)) is not ParameterSource.COMMANDLINE:
            continue
        several = value if isinstance(value, tuple) else (value,)
        if isinstance(one, click.Argument):
            words[:0] = [as_argument(each) for each in several]
        elif isinstance(value, bool):
            words.append((one.opts if value else one.secondary_opts)[-1])
        else:
            words += [f"{one.opts[-1]} {quote(str(each))}" for each in several]
    return " ".join([context.command_path, *words])


def _answers(said: dict[str, Any]) -> dict[str, Any]:
    """Return the mapping fields set by the options."""
    known = ("processors", "time", "rate", "unit", "clock_hz", "total", "summed", "scaling", "extent", "sizes")
    made = {key: said[key] for key in known if said[key] is not None}
    if said["columns"]:
        made["columns"] = pairs("--as", said["columns"], "COLUMN=METRIC", last=True)
    return made


def _choices(said: dict[str, Any]) -> TableChoices:
    from scalegraph.measurements.table import TableChoices

    roles = pairs("--column", said["roles"], "NAME=ROLE", last=True)
    try:
        delimiter = mapping_words.character(said["delimiter"])
    except ValueError as error:
        raise InputError(Fault(str(error), key="--delimiter")) from None
    return TableChoices(
        encoding=said["encoding"],
        delimiter=delimiter,
        decimal=said["decimal"] or "",
        comment=said["comment"],
        header=said["header"],
        names=tuple(part.strip() for part in said["names"].split(",")) if said["names"] else (),
        columns=roles,
        across=said["across"] or "",
        cells=pairs("--cell", said["cells"], "LINE:COLUMN=none", last=True),
    )
