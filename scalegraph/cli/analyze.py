"""``scalegraph analyze``: any quantity of a study."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.cli.asserting import assert_options, check_given, outcome
from scalegraph.cli.output import echo, print_json, print_rows
from scalegraph.cli.pairs import pairs
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.spreadsheets import for_spreadsheets, spreadsheet_option
from scalegraph.cli.study_input import mapping_option, open_input, work_option
from scalegraph.cli.trace_input import are_traces, open_traces
from scalegraph.request import Session

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.figures.figure import Figure
    from scalegraph.store import Study


@click.command("analyze")
@click.argument("source", metavar="INPUT", required=False, type=click.Path(path_type=Path))
@mapping_option
@work_option
@click.option("--what", "name", metavar="NAME", help="The quantity; --list names all.")
@click.option("-p", "--processors", type=click.IntRange(min=1), metavar="N", help="Only runs on N processors.")
@click.option(
    "--option",
    "--set",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of a quantity of a trace, as in begin=0.01; repeatable.",
)
@click.option("--partial", is_flag=True, help="Read as much of a damaged trace as possible.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITTEN_FILE,
    help="Write it to a file: .csv .tex .md .json .parquet; .tex and .md are rounded.",
)
@spreadsheet_option
@click.option("--list", "list_names", is_flag=True, help="List the quantities.")
@assert_options
@click.pass_context
def analyze(
    ctx: click.Context,
    source: Path | None,
    name: str | None,
    processors: int | None,
    options: tuple[str, ...],
    output: Path | None,
    statements: tuple[str, ...],
    junit: Path | None,
    *,
    partial: bool,
    as_json: bool,
    list_names: bool,
) -> None:
    """Compute a quantity of the study, measurement set or trace INPUT, or check statements about a study."""
    from scalegraph.figures import render

    if list_names:
        _list()
        return
    if source is None or (name is None and not statements):
        wanted = "a study or a trace" if source is None else "--what NAME or --assert STATEMENT"
        raise InputError(Fault(f"{wanted} was expected; --list names every quantity"))
    if output is not None and output.suffix.lower().removeprefix(".") not in render.DATA:
        known = " ".join(f".{ending}" for ending in render.DATA)
        raise InputError(Fault(f"'{output.name}': an ending of {known} was expected", key="-o"))
    check_given(statements, junit)
    if are_traces([source]):
        if name is None or statements or processors is not None:
            raise InputError(
                Fault("of a trace, --what NAME was expected; --assert and -p are for studies", file=str(source))
            )
        _trace(source, name, options, output, partial=partial, as_json=as_json)
        return
    if options or partial:
        given = "--option is for traces" if options else "--partial is for traces"
        raise InputError(Fault(f"{given}, and this is not one", file=str(source)))
    with open_input(source) as study:
        held = outcome(Session(), study, statements, junit, source.name)
        if name is not None:
            _compute(study, source, name, processors, output, as_json=as_json)
    if not held:
        ctx.exit(1)


def _list() -> None:
    from scalegraph.request.results import quantities, trace_quantities

    known = [*quantities.QUANTITIES, *trace_quantities.TRACE_QUANTITIES]
    width = max(map(len, known))
    echo("Of a study:")
    for quantity in quantities.QUANTITIES.values():
        echo(f"{quantity.name:<{width}}  {quantity.description}")
    echo("Of a trace:")
    for one in trace_quantities.TRACE_QUANTITIES.values():
        echo(f"{one.name:<{width}}  {one.description}")


def _trace(
    source: Path, name: str, options: tuple[str, ...], output: Path | None, *, partial: bool, as_json: bool
) -> None:
    """Compute a quantity of a trace."""
    from scalegraph.figures import render
    from scalegraph.request.results import trace_quantities

    trace_quantities.check(name)
    chosen = pairs("--option", options)
    with open_traces(Session(), [source], partial=partial) as (data,):
        table = trace_quantities.compute(data, name, chosen)
    figure = render.numbers.of_table(name, f"{name} of {source.stem}", table)
    if output is not None and not table.empty:
        render.save(figure, output, for_spreadsheets=for_spreadsheets())
    if as_json:
        print_json({"trace": str(source), "what": name, "rows": _documents(table)})
    elif output is None and not table.empty:
        show(figure)
    if table.empty:
        what = "what could be read of the trace" if data.trace.meta.damage else "the trace"
        raise WorkError(f"{source}: nothing to show: {what} has no such events in that time")


def _compute(
    study: Study, source: Path, name: str, processors: int | None, output: Path | None, *, as_json: bool
) -> None:
    from scalegraph.figures import render
    from scalegraph.request.results import quantities

    data = Session().study_data(study)
    table = quantities.compute(data, name, processors)
    blank = quantities.blank(table)
    notes = [] if blank else quantities.notes(data, name)
    figure = render.numbers.of_table(name, f"{name} of {source.stem}", table)
    if output is not None and not blank:
        estimated = data.estimated() if data.estimated() in notes else ""
        render.save(replace(figure, estimated=estimated), output, for_spreadsheets=for_spreadsheets())
    if as_json:
        more = {"notes": notes} if notes else {}
        print_json({"study": str(source), "what": name, "rows": _documents(table), **more})
    elif output is None and not blank:
        show(in_words(figure))
        for note in notes:
            echo(f"note: {note}", err=True)
    if blank and (lacks := quantities.lacks(data, name)):
        raise InputError(Fault(lacks, file=str(source), key="--what"))
    if blank:
        raise WorkError(f"{source}: nothing to show: {quantities.why_blank(data, name)}")


def _documents(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON with full precision; missing and infinite values are null."""
    rows = table.astype(object).to_dict("records")
    return [{str(name): _json(cell) for name, cell in row.items()} for row in rows]


def _json(cell: Any) -> Any:
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and not math.isfinite(value) else value


def in_words(figure: Figure) -> Figure:
    """Return *figure* with columns named as in the window; files and JSON keep the names of the counters."""
    from scalegraph.figures.figure import Table

    panels = tuple(
        replace(panel, columns=tuple(replace(column, name=_in_words(column.name)) for column in panel.columns))
        if isinstance(panel, Table)
        else panel
        for panel in figure.panels
    )
    return replace(figure, panels=panels)


def _in_words(name: str) -> str:
    from scalegraph.views.common import CATEGORY_WORDS

    if name == "p_x":
        return "fastest N"
    cause, _, category = name.rpartition(".")
    word = CATEGORY_WORDS.get(category)
    if word is None:
        return name
    return word if cause in ("", "leaf") else f"{word}, by {cause.removeprefix('blame.').replace('_', ' ')}"


def show(figure: Figure) -> None:
    """Print the table of *figure* with the same texts as reports and Markdown."""
    from scalegraph.figures.render import numbers

    header, rows = numbers.readable(figure)
    _, values = numbers.header_and_rows(figure)
    words = [i for i in range(len(header)) if any(isinstance(row[i], str) for row in values)]
    print_rows(header, [[cell or "–" for cell in row] for row in rows], left=words)
