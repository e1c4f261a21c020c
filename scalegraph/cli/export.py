"""``scalegraph export``: any view as a picture or its data."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scalegraph.base.errors import Fault, InputError, WorkError, near
from scalegraph.cli.output import echo
from scalegraph.cli.pairs import pairs
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.spreadsheets import for_spreadsheets, spreadsheet_option
from scalegraph.cli.study_input import known_endings, mapping_option, open_choices, open_input, work_option
from scalegraph.cli.trace_input import are_traces, open_traces
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.figures.figure import Figure
    from scalegraph.views import View
    from scalegraph.views.view import Subject

_SUBJECTS: tuple[tuple[str, Subject], ...] = (("Views of a study:", "study"), ("Views of a trace:", "trace"))


@click.command("export")
@click.argument("sources", metavar="INPUT..", nargs=-1, type=click.Path(path_type=Path))
@mapping_option
@work_option
@click.option("--view", "name", metavar="NAME", help="The view; --list names all.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=WRITTEN_FILE,
    help="The extension selects the format: .png .svg .pdf .csv .tex .md .json .parquet .folded",
)
@spreadsheet_option
@click.option(
    "--option",
    "--set",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the view, as in begin=0.01; repeatable.",
)
@click.option("--size", metavar="WxH", help="Size of the picture in cm, as in 16x10.")
@click.option("--theme", type=click.Choice(["light", "dark", "print"]), default="print", show_default=True)
@click.option("--partial", is_flag=True, help="Read as much of a damaged trace as possible.")
@click.option("--list", "list_views", is_flag=True, help="List the views with their options.")
def export(
    sources: tuple[Path, ...],
    name: str | None,
    output: Path | None,
    options: tuple[str, ...],
    size: str | None,
    theme: str,
    *,
    partial: bool,
    list_views: bool,
) -> None:
    """Write a view of INPUT, a study or a trace, to a file: as a picture or as the numbers behind it.

    Views of several take more than one INPUT.
    """
    session = Session()
    if list_views:
        show_views()
        return
    faults = [
        Fault(f"{what} was expected{hint}")
        for what, given, hint in (
            ("a study or a trace", sources or None, ""),
            ("--view NAME", name, "; --list names all"),
            ("-o FILE", output, ""),
        )
        if given is None
    ]
    if not sources or name is None or output is None:
        raise InputError(faults)
    check_ending(output)
    chosen, size_wanted = pairs("--option", options), size_cm(size)
    if are_traces(sources):
        _check_view(name, "trace", sources)
        with open_traces(session, sources, partial=partial) as traces:
            figure = session.trace_view(traces[0], name, others=traces[1:], **chosen)
            check_shows(figure, sources[0])
            session.write(figure, output, size_cm=size_wanted, theme=theme, for_spreadsheets=for_spreadsheets())
            _say_what_is_left_out(figure, output)
        return
    _check_view(name, "study", sources)
    from scalegraph import views
    from scalegraph.views.study.choosing.common import GROUP as CHOOSE  # its views show all choices of a study

    with contextlib.ExitStack() as stack:
        opened = open_choices if views.get(name).group == CHOOSE else open_input
        study, *others = (stack.enter_context(opened(source)) for source in sources)
        figure = session.view(study, name, others=others, **chosen)
        check_shows(figure, sources[0])
        session.write(figure, output, size_cm=size_wanted, theme=theme, for_spreadsheets=for_spreadsheets())
        _say_what_is_left_out(figure, output)


def _say_what_is_left_out(figure: Figure, output: Path) -> None:
    """Say that the view has several tables, if the output format holds only one."""
    from scalegraph.figures.render import numbers

    if output.suffix.lower() in (".csv", ".parquet") and (count := len(numbers.parts(figure))) > 1:
        echo(f"{output.name} holds the first of {count} tables of this view; .md, .tex and .json hold all", err=True)


def check_shows(figure: Figure, source: Path) -> None:
    """Refuse to write an empty view, saying what is missing: no file is better than an empty one."""
    if figure.empty:
        raise WorkError(f"{source}: nothing to show: {figure.told}")


def _check_view(name: str, subject: Subject, sources: Sequence[Path]) -> None:
    """Reject an unknown view, or one for another kind of input, before anything is read."""
    from scalegraph import views

    view = views.get(name)
    if view.subject != subject:
        if lacking := [Fault("no such file", file=str(source)) for source in sources if not source.exists()]:
            raise InputError(lacking)
        many = {"study": "studies", "trace": "traces"}
        there = ", ".join(views.registry(subject))
        raise InputError(
            Fault(
                f"'{name}' is a view of {many[view.subject]}, not of a {subject}; those of a {subject}: {there}",
                file=str(sources[0]),
                key="--view",
            )
        )
    if len(sources) > 1 and not view.several:
        raise InputError(Fault(f"'{name}' shows one {subject}; {len(sources)} were given", key="--view"))


def show_views() -> None:
    """Print every view with its options: those of studies, then those of traces; a family with all its views."""
    from scalegraph import views
    from scalegraph.views.families import SHOW_AS

    for heading, subject in _SUBJECTS:
        echo(heading)
        for view in views.listed(subject).values():
            echo(f"{view.name}: {view.title} ({view.group}). {view.description}")
            for member in view.members:
                if view.family is not None:
                    echo(f"  {member.name}: {SHOW_AS}={view.family.choice_of(member.name)}. {member.description}")
                _show_options(member)


def _show_options(view: View) -> None:
    for option in view.options:
        among = f", one of {', '.join(option.choices)}" if option.choices else ""
        echo(f"    {option.name}: {option.title}{among}" + (f" ({option.unit})" if option.unit else ""))
    for text in view.conditions:
        echo(f"    if empty: {text}")


def size_cm(text: str | None) -> tuple[float, float] | None:
    """Return width and height in cm from ``16x10``; raise `InputError` for anything else."""
    if text is None:
        return None
    width, cross, height = text.lower().partition("x")
    try:
        size = float(width), float(height)
    except ValueError:
        cross = ""
        size = (0.0, 0.0)
    if not cross or not all(1 <= side <= 200 for side in size):
        raise InputError(Fault(f"'{text}': a size in cm as in 16x10 was expected, each side 1 to 200", key="--size"))
    return size


def check_ending(path: Path, *, key: str = "-o") -> None:
    """Reject an unknown file extension."""
    endings = known_endings()
    if path.suffix.lower() not in endings:
        hint = near(path.suffix.lower(), endings) or f"; one of {' '.join(endings)} was expected"
        raise InputError(Fault(f"'{path.name}' has no known extension{hint}", key=key))
