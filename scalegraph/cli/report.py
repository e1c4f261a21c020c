"""``scalegraph report``: a study as one file, HTML or PDF."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import click

from scalegraph.base.files import check_replaceable
from scalegraph.cli.asserting import assert_options, check_given, outcomes
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo
from scalegraph.cli.places import WRITTEN_FILE
from scalegraph.cli.progress import share_bar
from scalegraph.cli.study_input import mapping_option, open_input, work_option
from scalegraph.request import Session


def _name(name: str, source: Path) -> str:
    """Return the name of a study; for one in memory, that of its source file."""
    return source.stem if source.suffix.lower() != ".sgstudy" else name


@click.command("report")
@click.argument("sources", metavar="INPUT [INPUT ...]", nargs=-1, required=True, type=click.Path(path_type=Path))
@mapping_option
@work_option
@click.option(
    "-o",
    "--output",
    metavar="FILE.html|.pdf",
    type=WRITTEN_FILE,
    help="The output file, HTML or PDF by its extension; by default INPUT.html.",
)
@click.option("--views", default="", metavar="NAME,..", help="Only these views; by default all that are not empty.")
@click.option("--title", default="", metavar="TEXT", help="The title, by default the study's.")
@click.option("--author", default="", metavar="TEXT", help="The author, shown below the title.")
@click.option("--machine", default="", metavar="TEXT", help="What the times were measured on, if INPUT does not say.")
@click.option("--note", default="", metavar="TEXT", help="A note shown before the verdicts.")
@assert_options
@click.pass_context
def report(
    ctx: click.Context,
    /,
    sources: tuple[Path, ...],
    output: Path | None,
    views: str,
    statements: tuple[str, ...],
    junit: Path | None,
    **about: str,
) -> None:
    """Write a report of INPUT, a study or measurements: what ran, times, verdicts, pictures and numbers in one file.

    FILE.pdf has pages to hand in; FILE.html loads nothing from elsewhere. Further INPUTs are compared with the first.
    """
    path = output or Path(sources[0].with_suffix(".html").name)
    from scalegraph.request.results import report as made

    made.check_ending(path, "-o")
    check_given(statements, junit)
    check_replaceable(path)
    session = Session()
    with contextlib.ExitStack() as stack:
        studies = [stack.enter_context(open_input(source)) for source in sources]
        found = outcomes(session, studies[0], statements, junit, sources[0].name)
        first, *others = (session.study_data(study) for study in studies)
        data = replace(first, name=_name(first.name, sources[0]), others=tuple(others))
        cancel = stack.enter_context(interruptible())
        bar = stack.enter_context(share_bar(f"writing {path.name}"))
        made.write(
            data,
            path,
            [name.strip() for name in views.split(",") if name.strip()],
            outcomes=found,
            request=session.request_text(studies[0]),
            about=made.About(**about),
            cancel=cancel,
            progress=lambda _view, done, whole: bar(done / whole),
        )
    echo(str(path))
    if not all(item.passed for item in found):
        ctx.exit(1)
