"""``scalegraph compare``: studies side by side, one matrix minus another."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.export import check_ending, check_shows, size_cm
from scalegraph.cli.output import echo, echo_json
from scalegraph.cli.pairs import pairs
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.spreadsheets import for_spreadsheets, spreadsheet_option
from scalegraph.cli.study_input import mapping_option, open_input
from scalegraph.request import Session


@click.command("compare")
@click.argument("sources", metavar="INPUT INPUT [...]", nargs=-1, type=click.Path(path_type=Path))
@mapping_option
@click.option(
    "--view",
    "name",
    metavar="NAME",
    default="compare",
    show_default=True,
    help="compare: curves and a table; compare-matrix: the second's matrix minus the first's.",
)
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the view; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITTEN_FILE,
    help="Write it to a file: .png .svg .pdf .csv .tex .md .json .parquet",
)
@spreadsheet_option
@click.option("--size", metavar="WxH", help="Size of the picture in cm, as in 16x10.")
def compare(
    sources: tuple[Path, ...],
    name: str,
    options: tuple[str, ...],
    output: Path | None,
    size: str | None,
    *,
    as_json: bool,
) -> None:
    """Compare two or more studies or measurement sets: curves, and differences from the first.

    `--option quantity=efficiency` compares efficiencies; speedup, time, latency and unit-speed are the others.
    """
    session = Session()
    if len(sources) < 2:
        raise InputError(Fault(f"two or more studies were expected, got {len(sources)}"))
    from scalegraph.request.results.data import check_several

    check_several(name)
    if output is not None:
        check_ending(output)
    chosen, size_wanted = pairs("--option", options), size_cm(size)
    with contextlib.ExitStack() as stack:
        first, *others = (stack.enter_context(open_input(path)) for path in sources)
        figure = session.view(first, name, others=others, **chosen)
    check_shows(figure, sources[0])
    if output is not None:
        session.write(figure, output, size_cm=size_wanted, for_spreadsheets=for_spreadsheets())
    if as_json or output is None:
        _print(figure, as_json=as_json)


def _print(figure: object, *, as_json: bool) -> None:
    from scalegraph.cli.analyze import show
    from scalegraph.figures.figure import Figure
    from scalegraph.figures.render import numbers

    assert isinstance(figure, Figure)
    if as_json:
        echo_json(numbers.as_json(figure), nl=False)
        return
    echo(figure.title)
    show(figure)
    echo(figure.sentence)
    if figure.estimated:
        echo(figure.estimated)
